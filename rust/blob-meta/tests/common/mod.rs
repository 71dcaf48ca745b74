//! A store of blobs for tests.

#![allow(unreachable_pub, reason = "all of the program sees it")]

pub mod disk;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_format::BlobId;
use afterbay_blob_meta::BlobDeleter;
use async_trait::async_trait;

/// Blobs that are stored. Deleting one that is not there is no error.
#[derive(Debug, Default)]
pub struct Blobs {
    stored: Mutex<BTreeSet<BlobId>>,
    fail_every: AtomicU64,
    asked: AtomicU64,
}

impl Blobs {
    pub fn put(&self, id: BlobId) {
        self.stored.lock().unwrap().insert(id);
    }

    pub fn remove(&self, id: BlobId) {
        self.stored.lock().unwrap().remove(&id);
    }

    pub fn has(&self, id: BlobId) -> bool {
        self.stored.lock().unwrap().contains(&id)
    }

    pub fn all(&self) -> Vec<BlobId> {
        self.stored.lock().unwrap().iter().copied().collect()
    }

    /// From now on, each n-th delete fails; 0: none.
    pub fn fail_every(&self, n: u64) {
        self.fail_every.store(n, Ordering::Relaxed);
    }
}

#[async_trait]
impl BlobDeleter for Blobs {
    async fn delete(&self, id: BlobId) -> Result<(), String> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        match self.fail_every.load(Ordering::Relaxed) {
            n if n > 0 && asked.is_multiple_of(n) => Err("no".to_owned()),
            _ => {
                self.remove(id);
                Ok(())
            }
        }
    }
}
