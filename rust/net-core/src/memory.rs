//! What the rings of this process may take. A ring is counted as large as it is, whether its bytes were ever used or not.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// Bytes of rings that this process has offered, and of those that it has made larger.
static USED: AtomicU64 = AtomicU64::new(0);

/// Bytes of a connection that offers rings: of two that have not grown.
pub(crate) fn of_offer() -> u64 {
    crate::config().map_or(0, |config| 2 * config.ring.first().bytes())
}

/// What a connection has taken of it. Of this process: a child has its own, which begins as its parent's.
#[derive(Debug)]
pub(crate) struct Account(AtomicU64);

impl Account {
    pub(crate) const fn new() -> Self {
        Account(AtomicU64::new(0))
    }

    /// Takes so many bytes more. Whether there are as many.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let most = crate::config().map_or(0, |config| config.memory);
        let more = |used: u64| used.checked_add(bytes).filter(|&used| used <= most);
        let is_taken = USED.fetch_update(SeqCst, SeqCst, more).is_ok();
        if is_taken {
            self.0.fetch_add(bytes, SeqCst);
        }
        is_taken
    }

    /// So many are free again.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.0.fetch_sub(bytes, SeqCst);
        USED.fetch_sub(bytes, SeqCst);
    }

    /// All are free again: nobody uses the connection any more.
    pub(crate) fn close(&self) {
        USED.fetch_sub(self.0.swap(0, SeqCst), SeqCst);
    }
}

#[cfg(test)]
pub(crate) fn used() -> u64 {
    USED.load(SeqCst)
}
