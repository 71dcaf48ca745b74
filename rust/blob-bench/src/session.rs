//! A client of a server: one connection, one request at a time, whatever the protocol.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::acknowledged::Stored;
use crate::content::{Check, Object};
use crate::error::{Error, Result};
use crate::native::Native;
use crate::s3::S3;
use crate::sign::{Identity, Signer};

/// Where the key and its secret are: other users of the machine see arguments, and not these.
const KEY: &str = "AFTERBAY_BENCH_KEY";
const SECRET: &str = "AFTERBAY_BENCH_SECRET";

const RETRY: Duration = Duration::from_millis(100);

/// How clients talk to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    Native,
    S3,
}

/// Which server, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct Connect {
    /// How clients talk to it. Key and secret are AFTERBAY_BENCH_KEY and AFTERBAY_BENCH_SECRET.
    #[arg(long)]
    protocol: Protocol,

    /// Host and port; of a cluster, those of several nodes, with commas: sessions are at each of them in turn.
    #[arg(long, required = true, value_delimiter = ',')]
    address: Vec<String>,

    #[arg(long, default_value = "bench")]
    bucket: String,

    #[arg(long, default_value = "us-east-1")]
    region: String,

    /// How long to wait until the server answers.
    #[arg(long, default_value_t = 30)]
    wait_s: u64,
}

/// Opens sessions that do not differ.
#[derive(Debug, Clone)]
pub(crate) struct Sessions {
    connect: Connect,
    key: String,
    secret: String,
    /// One for each address.
    signers: Vec<Arc<Signer>>,
    /// Sessions so far.
    opened: Arc<AtomicUsize>,
}

/// One of several clients.
pub(crate) enum Session {
    Native(Native),
    S3(S3),
}

impl Sessions {
    pub(crate) fn new(connect: &Connect) -> Self {
        let of_environment = |name| env::var(name).unwrap_or_else(|_| "bench".to_owned());
        let (key, secret) = (of_environment(KEY), of_environment(SECRET));
        let signer = |host: &String| {
            let of = Identity { host, region: &connect.region, key: &key, secret: &secret };
            Arc::new(Signer::new(&of))
        };
        let signers = connect.address.iter().map(signer).collect();
        Sessions { connect: connect.clone(), key, secret, signers, opened: Arc::default() }
    }

    /// Returns when all servers answer, and have the bucket.
    pub(crate) async fn wait_until_ready(&self) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(self.connect.wait_s);
        for at in 0..self.connect.address.len() {
            self.wait_for(at, end).await?;
        }
        Ok(())
    }

    async fn wait_for(&self, at: usize, end: Instant) -> Result<()> {
        loop {
            let problem = match self.try_prepare(at).await {
                Ok(()) => return Ok(()),
                Err(problem) => problem,
            };
            if Instant::now() >= end {
                return Err(Error::NotReady {
                    address: self.connect.address[at].clone(),
                    seconds: self.connect.wait_s,
                    last: problem.to_string(),
                });
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn try_prepare(&self, at: usize) -> Result<()> {
        match self.open_at(at).await? {
            Session::Native(mut session) => session.ping().await,
            Session::S3(mut session) => session.make_bucket().await,
        }
    }

    /// Connects: to the address behind that of the session before.
    pub(crate) async fn open(&self) -> Result<Session> {
        let opened = self.opened.fetch_add(1, Ordering::Relaxed);
        self.open_at(opened % self.connect.address.len()).await
    }

    async fn open_at(&self, at: usize) -> Result<Session> {
        let Connect { protocol, address, bucket, .. } = &self.connect;
        let address = &address[at];
        match protocol {
            Protocol::Native => Ok(Session::Native(Native::new(address, &self.key, &self.secret))),
            Protocol::S3 => {
                let s3 = S3::connect(address, bucket, self.signers[at].clone()).await?;
                Ok(Session::S3(s3))
            }
        }
    }
}

impl Session {
    /// Stores object number `index`.
    pub(crate) async fn put(&mut self, index: u64, object: Object) -> Result<Stored> {
        match self {
            Session::Native(session) => session.put(index, object).await,
            Session::S3(session) => session.put(index, object).await,
        }
    }

    /// Reads an object to its end.
    pub(crate) async fn get(&mut self, stored: Stored, check: &mut Check) -> Result<()> {
        match self {
            Session::Native(session) => session.get(stored, check).await,
            Session::S3(session) => session.get(stored, check).await,
        }
    }
}
