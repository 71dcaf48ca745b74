//! Work of all kinds that is interrupted, and what must be found after it: shared by the tests that kill the process and
//! those that take the power away.

#![allow(unreachable_pub, reason = "all of the program sees it")]

pub mod audit;
pub mod check;
pub mod ledger;
pub mod multipart;
pub mod s3;
pub mod work;

use std::sync::Arc;

use afterbay_blob_client::Client;
use afterbay_blob_server::AccessKey;
use ledger::Ledger;
use s3::{Ask, S3, Unanswered};

/// A server, as its clients reach it.
#[derive(Debug, Clone)]
pub struct Server {
    pub endpoint: String,
    pub key: AccessKey,
    pub client: Client,
    /// Whether parts that are not the last one may be small.
    pub small_parts: bool,
}

impl Server {
    pub fn s3(&self) -> S3 {
        S3::new(&self.endpoint, &self.key)
    }

    pub async fn make_bucket(&self) -> Result<(), Unanswered> {
        let answer = self.s3().ask(Ask::new("PUT", format!("/{}", ledger::BUCKET))).await?;
        assert!([200, 409].contains(&answer.status), "{answer:?}");
        Ok(())
    }
}

/// Numbers from a seed.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % below
    }
}

/// Work of all kinds at once. Each ends when the server does not answer any more.
pub fn start_work(
    server: &Server,
    ledger: &Arc<Ledger>,
    seed: u64,
) -> Vec<tokio::task::JoinHandle<()>> {
    let worker = |number: u64| work::Worker::new(server, ledger, number, seed);
    vec![
        tokio::spawn(work::objects(worker(0))),
        tokio::spawn(work::objects(worker(1))),
        tokio::spawn(work::races(worker(2))),
        tokio::spawn(multipart::uploads(worker(3))),
        tokio::spawn(multipart::uploads(worker(4))),
        tokio::spawn(work::native_names(worker(5))),
        tokio::spawn(work::native_blobs(worker(6))),
        tokio::spawn(work::native_blobs(worker(7))),
        tokio::spawn(work::readers(worker(8))),
    ]
}
