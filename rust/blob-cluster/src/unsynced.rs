//! Bounds how long what was acknowledged at `fast` stays in memory.
//!
//! A replica acknowledges such a write when the operating system has it: it outlives the process, and a loss of power only when it
//! is synced. Most are synced soon, since others pull them, which are told of what is on the disk; those of a node that nobody
//! reaches are not.

use crate::core::Core;

/// Which writes of a replica may not be synced. Times are of the monotonic clock, in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Unsynced {
    /// When the first one was acknowledged of those after which no flush began.
    since_ms: Option<u64>,
    /// The same of those that are being synced: one flush at a time.
    flushing_ms: Option<u64>,
    /// When the next flush is to begin.
    due_ms: Option<u64>,
}

impl Unsynced {
    /// A write is acknowledged now.
    pub(crate) fn add(&mut self, core: &Core) {
        self.since_ms.get_or_insert(core.now.mono_ms);
        self.plan(core);
    }

    fn plan(&mut self, core: &Core) {
        let interval_ms = core.options.flush_interval_ms;
        if core.rules.flush && interval_ms > 0 {
            self.due_ms.get_or_insert(core.now.mono_ms + interval_ms);
        }
    }

    /// When a flush is to begin.
    pub(crate) fn wake_ms(&self) -> Option<u64> {
        self.due_ms.filter(|_| self.flushing_ms.is_none())
    }

    /// Whether that is now; it has begun then.
    pub(crate) fn begin(&mut self, core: &Core) -> bool {
        let is_due = self.wake_ms().is_some_and(|wake_ms| wake_ms <= core.now.mono_ms);
        if is_due {
            self.flushing_ms = self.since_ms.take();
            self.due_ms = None;
        }
        is_due
    }

    /// The flush has ended.
    pub(crate) fn end(&mut self, core: &Core, is_synced: bool) {
        let flushing_ms = self.flushing_ms.take();
        if !is_synced {
            self.since_ms = flushing_ms.or(self.since_ms);
            self.plan(core);
        }
    }

    /// For how long something has not been synced.
    pub(crate) fn age_ms(&self, core: &Core) -> u64 {
        let oldest_ms = self.flushing_ms.or(self.since_ms);
        oldest_ms.map_or(0, |oldest_ms| core.now.mono_ms.saturating_sub(oldest_ms))
    }
}
