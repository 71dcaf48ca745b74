//! The clock of a simulated machine: it goes wrong, and it jumps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use afterbay_blob_store::Clock;

/// The time at which simulations begin, in milliseconds since 1970.
pub(crate) const BEGIN_MS: u64 = 1_800_000_000_000;

/// The clock of a machine. Clones are the same clock: one is the node's, which reads it, another one the world's, which sets it
/// before each step of the node. It stands while the node works.
#[derive(Debug, Clone)]
pub(crate) struct WallClock {
    shown_ms: Arc<AtomicU64>,
    /// How far it is off, in milliseconds.
    offset_ms: i64,
    /// By how many millionths it goes too fast.
    drift_per_million: i64,
}

impl WallClock {
    /// A clock that is right.
    pub(crate) fn new() -> Self {
        WallClock {
            shown_ms: Arc::new(AtomicU64::new(BEGIN_MS)),
            offset_ms: 0,
            drift_per_million: 0,
        }
    }

    /// Shows what it shows at this time of the simulation.
    pub(crate) fn show(&self, now: Duration) {
        let passed = now.as_millis() as i64;
        let drifted = passed + passed * self.drift_per_million / 1_000_000 + self.offset_ms;
        self.shown_ms.store(BEGIN_MS.saturating_add_signed(drifted), Ordering::Relaxed);
    }

    /// From now on it goes so many millionths too fast, or too slow.
    pub(crate) fn drift(&mut self, per_million: i64) {
        self.drift_per_million = per_million;
    }

    /// It jumps, so that it is so many milliseconds ahead, or behind, but for its drift.
    pub(crate) fn jump_to(&mut self, offset_ms: i64) {
        self.offset_ms = offset_ms;
    }

    /// It is right again.
    pub(crate) fn set_right(&mut self) {
        (self.offset_ms, self.drift_per_million) = (0, 0);
    }
}

impl Default for WallClock {
    fn default() -> Self {
        WallClock::new()
    }
}

impl Clock for WallClock {
    fn now_ms(&self) -> u64 {
        self.shown_ms.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_drifts_jumps_and_is_set_right() {
        let mut clock = WallClock::new();
        let read = clock.clone();
        let mut after = |seconds, change: fn(&mut WallClock)| {
            change(&mut clock);
            clock.show(Duration::from_secs(seconds));
            read.now_ms() as i64 - BEGIN_MS as i64
        };
        assert_eq!(after(0, |_| {}), 0);
        assert_eq!(after(10, |clock| clock.drift(100_000)), 11_000);
        assert_eq!(after(10, |clock| clock.jump_to(-20_000)), -9_000);
        assert_eq!(after(10, WallClock::set_right), 10_000);
    }
}
