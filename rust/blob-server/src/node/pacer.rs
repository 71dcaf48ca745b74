//! The pace of compaction: a token bucket, and the end of it when the server stops.

use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use afterbay_blob_store::{ByteRate, Pacer};

/// Tells threads in the background to stop, and wakes them.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits; true if it is time to stop.
    pub(crate) fn wait(&self, duration: Duration) -> bool {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(stopped, duration, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Lets `bytes_per_s` pass on average, and what one second brings at once, until it is time to stop.
#[derive(Debug)]
pub(crate) struct TokenBucket<'a> {
    rate: ByteRate,
    stop: &'a Stop,
}

impl<'a> TokenBucket<'a> {
    pub(crate) fn new(bytes_per_s: u64, stop: &'a Stop) -> Self {
        TokenBucket { rate: ByteRate::new(bytes_per_s), stop }
    }
}

impl Pacer for TokenBucket<'_> {
    fn pace(&self, bytes: u64) -> ControlFlow<()> {
        let wait = self.rate.take(bytes, Instant::now());
        if self.stop.wait(wait) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_the_server() {
        let stop = Stop::default();
        let bucket = TokenBucket::new(1, &stop);
        std::thread::scope(|scope| {
            let paced = scope.spawn(|| bucket.pace(1 << 40));
            stop.stop();
            assert!(paced.join().unwrap().is_break());
        });
    }
}
