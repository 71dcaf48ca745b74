//! When a connection is worth rings. They cost both programs an agent's answer, a mapping and five descriptors: as much as some
//! dozens of operations by TCP. A connection that ends before that never pays for them.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::config::DEFAULT_AFTER;
use crate::family::{self, Number};

/// Bytes that count as much as an operation. Many bytes at once gain less by rings than many calls.
const BYTES_OF_OPERATION: u64 = 4096;
/// Who has accepted asks when there is something to claim: at so much more than what the other end offers after.
const LATER: fn(u32) -> u32 = |after| after + after / 4 + 1;
const BYTES_LATER: u64 = 2;
const NOBODY: Number = 0;

/// What a connection without rings has carried, both ways.
#[derive(Debug)]
pub(crate) struct Worth {
    operations: AtomicU32,
    bytes: AtomicU64,
    /// Operations after which it is tried next.
    next: AtomicU32,
    bytes_of_operation: u64,
    /// The process that tries. Of several that have the connection, one may be killed meanwhile.
    tried_by: AtomicU32,
}

impl Worth {
    /// Of a connection that gets rings after so many operations. After none, it is tried when the connection begins, and again as if
    /// it were [`DEFAULT_AFTER`].
    pub(crate) fn new(after: u32, is_connector: bool) -> Self {
        let (after, times) = if is_connector { (after, 1) } else { (LATER(after), BYTES_LATER) };
        Worth {
            operations: AtomicU32::new(0),
            bytes: AtomicU64::new(0),
            next: AtomicU32::new(after),
            bytes_of_operation: BYTES_OF_OPERATION * times,
            tried_by: AtomicU32::new(NOBODY),
        }
    }

    /// Counts an operation. Whether it is time to try.
    pub(crate) fn count(&self, bytes: usize) -> bool {
        let operations = self.operations.fetch_add(1, Relaxed).saturating_add(1);
        let bytes = self.bytes.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        let next = self.next.load(Relaxed);
        operations >= next || bytes >= u64::from(next) * self.bytes_of_operation
    }

    /// Begins to try, unless somebody does: the next time is when it has carried twice as much.
    pub(crate) fn begin(&self) -> Option<Trying<'_>> {
        let tried_by = self.tried_by.load(Acquire);
        if tried_by != NOBODY && family::lives(tried_by) {
            return None;
        }
        self.tried_by.compare_exchange(tried_by, family::own(), Acquire, Relaxed).ok()?;
        let operations = u64::from(self.operations.load(Relaxed));
        let so_far = operations.max(self.bytes.load(Relaxed) / self.bytes_of_operation);
        let next = u32::try_from(2 * so_far).unwrap_or(u32::MAX).max(DEFAULT_AFTER);
        self.next.store(next, Relaxed);
        Some(Trying(self))
    }
}

/// One thread tries at a time.
#[derive(Debug)]
pub(crate) struct Trying<'a>(&'a Worth);

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        self.0.tried_by.store(NOBODY, Release);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// After how many operations of so many bytes it is tried, for the first three times.
    fn tries(worth: &Worth, bytes: usize) -> Vec<u32> {
        let due = (1..=1000).filter(|_| {
            let is_due = worth.count(bytes);
            if is_due {
                drop(worth.begin().unwrap());
            }
            is_due
        });
        due.take(3).collect()
    }

    #[test]
    fn it_is_tried_after_some_operations_and_after_twice_as_many() {
        assert_eq!(tries(&Worth::new(32, true), 64), [32, 64, 128]);
        assert_eq!(tries(&Worth::new(32, false), 64), [41, 82, 164]);
    }

    #[test]
    fn many_bytes_count_as_more_operations() {
        assert_eq!(tries(&Worth::new(32, true), 16 << 10), [8, 16, 32]);
        assert_eq!(tries(&Worth::new(32, true), 1 << 20), [1, 2, 4]);
        assert_eq!(tries(&Worth::new(32, false), 41 << 10), [8, 16, 32]);
        // What was tried at once is not tried again and again.
        assert_eq!(tries(&Worth::new(0, true), 64), [1, 32, 64]);
    }

    #[test]
    fn one_tries_at_a_time() {
        family::testing::begin();
        let worth = Worth::new(1, true);
        let first = worth.begin().unwrap();
        assert!(worth.begin().is_none());
        drop(first);
        assert!(worth.begin().is_some());
    }

    #[test]
    fn who_was_killed_does_not_try() {
        family::testing::begin();
        let worth = Worth::new(1, true);
        let other = family::testing::Relative::start();
        worth.tried_by.store(other.number(), Relaxed);
        assert!(worth.begin().is_none());
        other.kill();
        assert!(worth.begin().is_some());
    }
}
