//! Aborts uploads that nobody finishes: the parts that they have would take room for ever.
//!
//! As the rule `AbortIncompleteMultipartUpload` of S3's life cycles, it counts from when an upload was begun, also if parts still come.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::command::Command;
use crate::error::{NamesError, Result};
use crate::listing::{ListRequest, Row};
use crate::model::Upload;
use crate::names::Names;
use crate::now_ms;

/// Uploads that are read at once.
const PAGE: usize = 256;

/// All uploads are looked at as often as that, and more often if they are aborted sooner.
const INTERVAL_MAX: Duration = Duration::from_secs(3600);
const INTERVAL_MIN: Duration = Duration::from_millis(20);
const LOOKS_PER_AGE: u32 = 8;

/// Aborts old uploads.
pub struct UploadSweeper {
    names: Arc<dyn Names>,
    age: Duration,
}

impl UploadSweeper {
    /// For uploads that were begun `age` ago. [`Duration::MAX`]: none.
    pub fn new(names: Arc<dyn Names>, age: Duration) -> Self {
        UploadSweeper { names, age }
    }

    /// Sweeps until `shutdown` becomes true or its sender is gone.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let interval = (self.age / LOOKS_PER_AGE).clamp(INTERVAL_MIN, INTERVAL_MAX);
        loop {
            tokio::select! {
                done = self.sweep(now_ms()) => {
                    if let Err(error) = done {
                        tracing::warn!(%error, "old uploads were not aborted; trying again");
                    }
                }
                _ = shutdown.wait_for(|stop| *stop) => return,
            }
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                _ = shutdown.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Looks at all uploads once. How many were aborted. `now_ms` is in milliseconds since 1970.
    pub async fn sweep(&self, now_ms: u64) -> Result<usize> {
        let age_ms = u64::try_from(self.age.as_millis()).unwrap_or(u64::MAX);
        let Some(until_ms) = now_ms.checked_sub(age_ms) else { return Ok(0) };
        let mut aborted = 0;
        for (bucket, _) in self.names.buckets() {
            match self.sweep_bucket(&bucket, until_ms, now_ms).await {
                Ok(count) => aborted += count,
                // Deleted meanwhile, with its uploads.
                Err(NamesError::NoSuchBucket { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(aborted)
    }

    async fn sweep_bucket(&self, bucket: &str, until_ms: u64, now_ms: u64) -> Result<usize> {
        let mut request = ListRequest { max: PAGE, ..ListRequest::default() };
        let mut aborted = 0;
        loop {
            let page = self.names.list_uploads(bucket, request.clone()).await?;
            for row in page.rows.iter().filter(|row| row.value.begun_ms <= until_ms) {
                let done = abort_unfinished(&*self.names, bucket, row, now_ms).await?;
                aborted += usize::from(done);
            }
            if !page.truncated {
                return Ok(aborted);
            }
            request.after = page.next;
            request.after_upload = page.next_upload;
        }
    }
}

/// Aborts an upload that nobody finished. `false` if it was completed or aborted meanwhile. `now_ms` is in milliseconds since 1970.
pub async fn abort_unfinished(
    names: &dyn Names,
    bucket: &str,
    row: &Row<Upload>,
    now_ms: u64,
) -> Result<bool> {
    let abort = Command::AbortUpload {
        bucket: bucket.to_owned(),
        key: row.key.clone(),
        upload: row.upload.clone(),
        now_ms,
    };
    match names.apply(abort).await {
        Ok(_) => {
            metrics::counter!("afterbay_blob_names_uploads_aborted_total").increment(1);
            tracing::info!(bucket, key = row.key, "an upload that nobody finished is aborted");
            Ok(true)
        }
        Err(NamesError::NoSuchUpload { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
