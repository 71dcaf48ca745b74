//! A token bucket: how fast work in the background may go.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets so many bytes pass in a second on average, and what one second brings at once.
#[derive(Debug)]
pub struct ByteRate {
    bytes_per_s: u64,
    bucket: Mutex<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    /// Negative: what was taken in advance.
    bytes: f64,
    filled: Instant,
}

impl ByteRate {
    /// At least one byte in a second.
    pub fn new(bytes_per_s: u64) -> Self {
        let bytes_per_s = bytes_per_s.max(1);
        let bucket = Bucket { bytes: bytes_per_s as f64, filled: Instant::now() };
        ByteRate { bytes_per_s, bucket: Mutex::new(bucket) }
    }

    /// Takes `bytes`, and says how long to wait until they may pass.
    pub fn take(&self, bytes: u64, now: Instant) -> Duration {
        let rate = self.bytes_per_s as f64;
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(bucket.filled).as_secs_f64();
        bucket.bytes = (bucket.bytes + since * rate).min(rate) - bytes as f64;
        bucket.filled = now;
        Duration::from_secs_f64((-bucket.bytes / rate).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_bytes_a_second() {
        let rate = ByteRate::new(1000);
        let start = Instant::now();
        assert_eq!(rate.take(1000, start), Duration::ZERO, "a second's worth at once");
        assert_eq!(rate.take(500, start), Duration::from_millis(500));
        let half = start + Duration::from_millis(500);
        assert_eq!(rate.take(500, half), Duration::from_millis(500));
        let later = start + Duration::from_secs(3600);
        assert_eq!(rate.take(2000, later), Duration::from_secs(1), "no more is saved up");
    }
}
