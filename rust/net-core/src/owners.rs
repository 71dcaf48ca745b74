//! Which processes have a connection: by their numbers, so that one that has died does not count.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use crate::sys;

/// Processes that are known by their numbers. Of more it is only known how many there were.
const KNOWN: usize = 6;

/// The processes of a connection. In memory that they share.
#[derive(Debug)]
pub(crate) struct Owners {
    /// 0: nobody.
    known: [AtomicU32; KNOWN],
    others: AtomicU32,
}

impl Owners {
    /// Of the process that made it.
    pub(crate) fn new(process: u32) -> Self {
        let known = [const { AtomicU32::new(0) }; KNOWN];
        known[0].store(process, std::sync::atomic::Ordering::Release);
        Owners { known, others: AtomicU32::new(0) }
    }

    /// Before a fork: there will be one more.
    pub(crate) fn reserve(&self) {
        self.others.fetch_add(1, AcqRel);
    }

    /// In the child.
    pub(crate) fn enter(&self, process: u32) {
        // Those that have died make room.
        if self.put(process) || (self.has_other_than(process) && self.put(process)) {
            self.count_down();
        }
    }

    fn count_down(&self) {
        let _ = self.others.fetch_update(AcqRel, Acquire, |others| others.checked_sub(1));
    }

    fn put(&self, process: u32) -> bool {
        self.known.iter().any(|known| known.compare_exchange(0, process, AcqRel, Acquire).is_ok())
    }

    /// A process does not have it any more. Whether nobody has it then.
    pub(crate) fn leave(&self, process: u32) -> bool {
        let is_known = self
            .known
            .iter()
            .any(|known| known.compare_exchange(process, 0, AcqRel, Acquire).is_ok());
        if !is_known {
            self.count_down();
        }
        !self.has_other_than(process)
    }

    /// Whether another process has it, and lives.
    pub(crate) fn has_other_than(&self, process: u32) -> bool {
        let has_it = |known: &AtomicU32| {
            let found = known.load(Acquire);
            if found == 0 || found == process {
                return false;
            }
            let lives = sys::is_process(found);
            if !lives {
                let _ = known.compare_exchange(found, 0, AcqRel, Acquire);
            }
            lives
        };
        self.known.iter().filter(|known| has_it(known)).count() > 0 || self.others.load(Acquire) > 0
    }

    /// Whether nobody has it that lives.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_other_than(0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn who_has_died_does_not_count() {
        let owners = Owners::new(sys::process_id());
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        owners.reserve();
        assert!(owners.has_other_than(sys::process_id()));
        owners.enter(child.id());
        assert!(owners.has_other_than(sys::process_id()));
        drop(child.stdin.take());
        // It has ended, and is there until somebody asks how.
        while owners.has_other_than(sys::process_id()) {
            std::thread::yield_now();
        }
        assert!(child.wait().unwrap().success());
        assert!(owners.leave(sys::process_id()));
        assert!(owners.is_empty());
    }

    #[test]
    fn many_are_counted() {
        let owners = Owners::new(1);
        let process = sys::process_id();
        // All of them live.
        for _ in 0..10 {
            owners.reserve();
            owners.enter(process);
        }
        assert!(!owners.leave(1));
        for _ in 0..9 {
            owners.leave(process);
        }
        assert!(!owners.is_empty());
        assert!(owners.leave(process));
    }
}
