//! Deletes what no name stands for.
//!
//! A piece of garbage leaves the queue after its blob is deleted: a crash in between deletes twice, which does no harm. One
//! that cannot be deleted is tried again later and holds up none behind it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use afterbay_blob_format::BlobId;
use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::command::Command;
use crate::error::{NamesError, Result};
use crate::model::Garbage;
use crate::names::Names;
use crate::now_ms;

/// Pieces that are read, and deleted blobs that are forgotten, in one transaction.
const PAGE: usize = 256;

/// Deletes blobs.
#[async_trait]
pub trait BlobDeleter: Send + Sync + 'static {
    /// Deletes a blob and all it consists of. One that was never written or is deleted already is no error. An error is
    /// told as text, and the blob is tried again later.
    async fn delete(&self, id: BlobId) -> std::result::Result<(), String>;
}

/// Settings of a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorOptions {
    /// How long a blob stays after its name is gone, so that who looked it up can read it.
    pub grace: Duration,
    /// How often the queue is looked at.
    pub interval: Duration,
    /// Blobs that are deleted at once.
    pub parallel: usize,
    /// After a failure, the time until the next try; twice as long after each, up to 64 times.
    pub retry: Duration,
}

impl Default for CollectorOptions {
    fn default() -> Self {
        CollectorOptions {
            grace: Duration::from_secs(60),
            interval: Duration::from_secs(5),
            parallel: 16,
            retry: Duration::from_secs(1),
        }
    }
}

/// Works through the garbage queue.
pub struct Collector {
    names: Arc<dyn Names>,
    blobs: Arc<dyn BlobDeleter>,
    options: CollectorOptions,
    failed: HashMap<u64, Failure>,
}

#[derive(Debug, Clone, Copy)]
struct Failure {
    count: u32,
    until: Instant,
}

impl Collector {
    /// A collector that has not begun.
    pub fn new(
        names: Arc<dyn Names>,
        blobs: Arc<dyn BlobDeleter>,
        options: CollectorOptions,
    ) -> Self {
        Collector { names, blobs, options, failed: HashMap::new() }
    }

    /// Collects until `shutdown` becomes true or its sender is gone.
    pub async fn run(mut self, mut shutdown: watch::Receiver<bool>) {
        loop {
            let work = self.collect();
            tokio::select! {
                done = work => {
                    if let Err(error) = done {
                        tracing::warn!(%error, "garbage was not collected; trying again");
                    }
                }
                _ = shutdown.wait_for(|stop| *stop) => return,
            }
            tokio::select! {
                () = tokio::time::sleep(self.options.interval) => {}
                _ = shutdown.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Goes through the queue once. How many blobs were deleted.
    pub async fn collect(&mut self) -> Result<usize> {
        // Else the same blobs would be deleted again and again.
        self.names.writable()?;
        let grace_ms = u64::try_from(self.options.grace.as_millis()).unwrap_or(u64::MAX);
        let before_ms = now_ms().saturating_sub(grace_ms).saturating_add(1);
        let (mut from, mut deleted) = (0, 0);
        loop {
            let page = self.names.garbage(from, before_ms, PAGE).await?;
            let Some((last, _)) = page.last() else {
                return Ok(deleted);
            };
            from = last + 1;
            deleted += self.collect_page(page).await?;
        }
    }

    async fn collect_page(&mut self, page: Vec<(u64, Garbage)>) -> Result<usize> {
        let now = Instant::now();
        let mut blobs = Vec::new();
        for (number, garbage) in page {
            match garbage {
                Garbage::Blob(id) => {
                    if self.failed.get(&number).is_none_or(|f| f.until <= now) {
                        blobs.push((number, id));
                    }
                }
                // Its pieces come later in the queue. A large one needs several turns.
                Garbage::Parts(_) | Garbage::Uploads { .. } => {
                    self.names.apply(Command::Expand { number, max: PAGE }).await?;
                }
            }
        }
        let numbers = self.delete(blobs).await?;
        let count = numbers.len();
        if count > 0 {
            self.names.apply(Command::Collected { numbers }).await?;
        }
        Ok(count)
    }

    /// The numbers of those that are deleted.
    async fn delete(&mut self, blobs: Vec<(u64, BlobId)>) -> Result<Vec<u64>> {
        let slots = Arc::new(Semaphore::new(self.options.parallel.max(1)));
        let mut running = JoinSet::new();
        for (number, id) in blobs {
            let (blobs, slots) = (self.blobs.clone(), slots.clone());
            running.spawn(async move {
                let _slot = slots.acquire().await;
                (number, id, blobs.delete(id).await)
            });
        }
        let mut deleted = Vec::new();
        let (mut stay, mut why) = (0, None);
        while let Some(done) = running.join_next().await {
            let (number, id, done) = done.map_err(|_| NamesError::Closed)?;
            match done {
                Ok(()) => {
                    metrics::counter!("afterbay_blob_names_collected_total").increment(1);
                    self.failed.remove(&number);
                    deleted.push(number);
                }
                Err(error) => {
                    metrics::counter!("afterbay_blob_names_collect_failures_total").increment(1);
                    self.defer(number);
                    stay += 1;
                    why.get_or_insert((id, error));
                }
            }
        }
        if let Some((id, error)) = why {
            // Of many that are on a disk which is away, one tells enough.
            tracing::warn!(stay, %id, error, "blobs that no name stands for stay; trying again");
        }
        Ok(deleted)
    }

    fn defer(&mut self, number: u64) {
        let count = self.failed.get(&number).map_or(0, |f| f.count + 1).min(6);
        let until = Instant::now() + self.options.retry * (1 << count);
        self.failed.insert(number, Failure { count, until });
    }
}
