//! The pace of compaction: a token bucket, and the end of it when the server stops.

use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use afterbay_blob_store::Pacer;

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

/// Lets `bytes_per_s` pass on average, and what one second brings at once.
#[derive(Debug)]
pub(crate) struct TokenBucket<'a> {
    bytes_per_s: u64,
    bucket: Mutex<Bucket>,
    stop: &'a Stop,
}

#[derive(Debug)]
struct Bucket {
    /// Negative: what was taken in advance.
    bytes: f64,
    filled: Instant,
}

impl<'a> TokenBucket<'a> {
    pub(crate) fn new(bytes_per_s: u64, stop: &'a Stop) -> Self {
        let bucket = Bucket { bytes: bytes_per_s as f64, filled: Instant::now() };
        TokenBucket { bytes_per_s, bucket: Mutex::new(bucket), stop }
    }

    /// Takes tokens, and how long to wait until they are there.
    fn take(&self, bytes: u64, now: Instant) -> Duration {
        let rate = self.bytes_per_s.max(1) as f64;
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(bucket.filled).as_secs_f64();
        bucket.bytes = (bucket.bytes + since * rate).min(rate) - bytes as f64;
        bucket.filled = now;
        Duration::from_secs_f64((-bucket.bytes / rate).max(0.0))
    }
}

impl Pacer for TokenBucket<'_> {
    fn pace(&self, bytes: u64) -> ControlFlow<()> {
        let wait = self.take(bytes, Instant::now());
        if self.stop.wait(wait) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_bytes_a_second() {
        let stop = Stop::default();
        let bucket = TokenBucket::new(1000, &stop);
        let start = Instant::now();
        assert_eq!(bucket.take(1000, start), Duration::ZERO, "a second's worth at once");
        assert_eq!(bucket.take(500, start), Duration::from_millis(500));
        assert_eq!(
            bucket.take(500, start + Duration::from_millis(500)),
            Duration::from_millis(500)
        );
        let later = start + Duration::from_secs(3600);
        assert_eq!(bucket.take(2000, later), Duration::from_secs(1), "no more is saved up");
    }

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
