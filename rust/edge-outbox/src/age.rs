//! How long ago something was written, whatever somebody sets the clock to.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// 2026-01-01, ms since 1970: a clock that shows less has never been set.
pub const CLOCK_MIN_MS: u64 = 1_767_225_600_000;

/// An age that grows. Of what this process has written, it is right; of what was there before, it is the least that can be believed:
/// sites without a battery begin with 1970, and are told later what time it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    since: Instant,
    before: Duration,
}

impl Age {
    /// Of what is written now.
    pub(crate) fn zero() -> Self {
        Self { since: Instant::now(), before: Duration::ZERO }
    }

    /// Of a file, by the time that it has; zero if a clock that was never set has said that, or one that is ahead of this one.
    pub(crate) fn of_file(written: SystemTime) -> Self {
        let was_set = written >= UNIX_EPOCH + Duration::from_millis(CLOCK_MIN_MS);
        let before = written.elapsed().ok().filter(|_| was_set);
        Self { before: before.unwrap_or_default(), ..Self::zero() }
    }

    /// How old it is by now.
    pub fn elapsed(&self) -> Duration {
        self.before + self.since.elapsed()
    }
}
