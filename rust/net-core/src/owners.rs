//! Which processes have a connection: so that one that has died does not count.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::family::{self, Number};

/// Processes that are known one by one. Of more it is known how many there were, and between which numbers.
const KNOWN: usize = 8;
const NOBODY: u32 = 0;

/// The processes of a connection. In memory that they share.
#[derive(Debug)]
pub(crate) struct Owners {
    known: [AtomicU32; KNOWN],
    others: AtomicU32,
    /// The lowest and the highest number of the others, in one word.
    between: AtomicU64,
    /// Children that are being made.
    reserved: AtomicU32,
}

impl Owners {
    /// Of the process that made it.
    pub(crate) fn new(process: Number) -> Self {
        let known = [const { AtomicU32::new(NOBODY) }; KNOWN];
        known[0].store(process, Release);
        let zero = || AtomicU32::new(0);
        Owners { known, others: zero(), between: AtomicU64::new(0), reserved: zero() }
    }

    /// Before a fork: there will be one more.
    pub(crate) fn reserve(&self) {
        self.reserved.fetch_add(1, AcqRel);
    }

    /// There was no fork.
    pub(crate) fn unreserve(&self) {
        count_down(&self.reserved);
    }

    /// In the child; what was reserved for it is no longer.
    pub(crate) fn enter(&self, process: Number) {
        // Those that have died make room.
        let is_known = self.put(process) || (self.has_other_than(process) && self.put(process));
        if !is_known {
            let wider = |between: u64| Some(widened(between, process));
            let _ = self.between.fetch_update(AcqRel, Acquire, wider);
            self.others.fetch_add(1, AcqRel);
        }
    }

    fn put(&self, process: Number) -> bool {
        let take = |known: &AtomicU32| known.compare_exchange(NOBODY, process, AcqRel, Acquire);
        self.known.iter().any(|known| take(known).is_ok())
    }

    /// A process does not have it any more. Whether nobody has it then.
    pub(crate) fn leave(&self, process: Number) -> bool {
        let free = |known: &AtomicU32| known.compare_exchange(process, NOBODY, AcqRel, Acquire);
        if !self.known.iter().any(|known| free(known).is_ok()) {
            count_down(&self.others);
        }
        !self.has_other_than(process)
    }

    /// Whether another process has it, and lives.
    pub(crate) fn has_other_than(&self, process: Number) -> bool {
        let has_it = |known: &AtomicU32| {
            let found = known.load(Acquire);
            if found == NOBODY || found == process {
                return false;
            }
            let lives = family::lives(found);
            if !lives {
                let _ = known.compare_exchange(found, NOBODY, AcqRel, Acquire);
            }
            lives
        };
        self.known.iter().filter(|known| has_it(known)).count() > 0
            || self.reserved.load(Acquire) > 0
            || self.has_others(process)
    }

    /// One of them that lives, or a process with a number between theirs.
    fn has_others(&self, process: Number) -> bool {
        if self.others.load(Acquire) == 0 {
            return false;
        }
        let (low, high) = ends(self.between.load(Acquire));
        // The kernel says nothing of the process that asks.
        family::any_lives(low, high) || process == NOBODY && (low..=high).contains(&family::own())
    }

    /// Whether nobody has it that lives.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_other_than(NOBODY)
    }
}

fn count_down(count: &AtomicU32) {
    let _ = count.fetch_update(AcqRel, Acquire, |count| count.checked_sub(1));
}

fn ends(between: u64) -> (Number, Number) {
    ((between >> 32) as Number, between as Number)
}

fn widened(between: u64, process: Number) -> u64 {
    let (low, high) = ends(between);
    let low = if between == 0 { process } else { low.min(process) };
    u64::from(low) << 32 | u64::from(high.max(process))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::family::testing::Relative;

    #[test]
    fn who_has_died_does_not_count() {
        let me = family::testing::begin();
        let owners = Owners::new(me);
        owners.reserve();
        assert!(owners.has_other_than(me));
        let child = Relative::start();
        owners.enter(child.number());
        owners.unreserve();
        assert!(owners.has_other_than(me));
        // Nobody has asked yet how it ended.
        child.kill();
        assert!(!owners.has_other_than(me));
        assert!(owners.leave(me));
        assert!(owners.is_empty());
    }

    #[test]
    fn a_fork_that_fails_leaves_nothing() {
        let me = family::testing::begin();
        let owners = Owners::new(me);
        owners.reserve();
        owners.unreserve();
        assert!(owners.leave(me));
    }

    #[test]
    fn more_than_are_known_one_by_one() {
        let me = family::testing::begin();
        let owners = Owners::new(me);
        let children: Vec<_> = (0..KNOWN + 3).map(|_| Relative::start()).collect();
        children.iter().for_each(|child| owners.enter(child.number()));
        assert!(!owners.leave(me));
        let (last, first) = children.split_last().unwrap();
        first.iter().for_each(Relative::kill);
        assert!(!owners.is_empty(), "one of those that are counted lives");
        last.kill();
        assert!(owners.is_empty());
    }

    #[test]
    fn more_that_leave() {
        let me = family::testing::begin();
        let owners = Owners::new(me);
        let children: Vec<_> = (0..KNOWN + 3).map(|_| Relative::start()).collect();
        children.iter().for_each(|child| owners.enter(child.number()));
        children.iter().for_each(|child| assert!(!owners.leave(child.number())));
        assert!(owners.leave(me));
    }
}
