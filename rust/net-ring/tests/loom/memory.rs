//! A ring whose words and bytes loom watches, and one of whose orderings may be missing.

#![allow(unsafe_code, reason = "loom's cells are accessed by pointers")]

use std::sync::atomic::Ordering;

use afterbay_net_ring::{Bell, Capacity, FenceSite, Field, Shared, Word};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU64;
use loom::sync::{Condvar, Mutex};

/// What is wrong with a ring, on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weakened {
    Nothing,
    /// A fence is not there.
    Fence(FenceSite),
    /// What is written to a word releases nothing.
    Release(Field),
    /// What is read from a word acquires nothing.
    Acquire(Field),
    /// A word is read and then written, instead of compared and exchanged.
    Exchange,
}

pub(crate) struct WatchedWord {
    value: AtomicU64,
    field: Field,
    weakened: Weakened,
}

impl Word for WatchedWord {
    fn load(&self, ordering: Ordering) -> u64 {
        let is_weak = self.weakened == Weakened::Acquire(self.field);
        self.value.load(if is_weak { Ordering::Relaxed } else { ordering })
    }

    fn store(&self, value: u64, ordering: Ordering) {
        let is_weak = self.weakened == Weakened::Release(self.field);
        self.value.store(value, if is_weak { Ordering::Relaxed } else { ordering });
    }

    fn swap(&self, value: u64) -> u64 {
        self.value.swap(value, Ordering::AcqRel)
    }

    fn compare_exchange(&self, current: u64, new: u64) -> Result<(), u64> {
        if self.weakened != Weakened::Exchange {
            let (both, read) = (Ordering::AcqRel, Ordering::Acquire);
            return self.value.compare_exchange(current, new, both, read).map(drop);
        }
        let found = self.value.load(Ordering::Acquire);
        if found != current {
            return Err(found);
        }
        self.value.store(new, Ordering::Release);
        Ok(())
    }
}

pub(crate) struct WatchedRing {
    capacity: Capacity,
    words: [WatchedWord; Field::ALL.len()],
    data: Vec<UnsafeCell<u8>>,
    weakened: Weakened,
}

// SAFETY: the cells are what two threads share on purpose; loom reports an access that is not ordered after the last one.
unsafe impl Sync for WatchedRing {}

// SAFETY: bytes and atomic words may be dropped by any thread.
unsafe impl Send for WatchedRing {}

impl WatchedRing {
    pub(crate) fn new(bytes: u64, weakened: Weakened) -> Self {
        let word =
            |field: Field| WatchedWord { value: AtomicU64::new(field.initial()), field, weakened };
        WatchedRing {
            capacity: Capacity::new(bytes).unwrap(),
            words: Field::ALL.map(word),
            data: (0..bytes).map(|_| UnsafeCell::new(0)).collect(),
            weakened,
        }
    }
}

impl Shared for WatchedRing {
    type Word = WatchedWord;

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn word(&self, field: Field) -> &WatchedWord {
        &self.words[Field::ALL.iter().position(|&other| other == field).unwrap()]
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        for (cell, &byte) in self.data[at..].iter().zip(bytes) {
            // SAFETY: the pointer is that of the cell, and loom has checked that nobody else uses it.
            cell.with_mut(|cell| unsafe { *cell = byte });
        }
    }

    fn get(&self, at: usize, out: &mut [u8]) {
        for (cell, byte) in self.data[at..].iter().zip(out) {
            // SAFETY: the pointer is that of the cell, and loom has checked that nobody writes it.
            *byte = cell.with(|cell| unsafe { *cell });
        }
    }

    fn fence(&self, site: FenceSite) {
        if self.weakened != Weakened::Fence(site) {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
    }
}

/// A bell that loom's threads wait on.
pub(crate) struct WatchedBell {
    rings: Mutex<bool>,
    rang: Condvar,
}

impl WatchedBell {
    pub(crate) fn new() -> Self {
        WatchedBell { rings: Mutex::new(false), rang: Condvar::new() }
    }

    /// Returns when it rings. It goes on ringing.
    pub(crate) fn wait(&self) {
        let mut rings = self.rings.lock().unwrap();
        while !*rings {
            rings = self.rang.wait(rings).unwrap();
        }
    }
}

impl Bell for WatchedBell {
    fn ring(&self) {
        *self.rings.lock().unwrap() = true;
        self.rang.notify_all();
    }

    fn silence(&self) {
        *self.rings.lock().unwrap() = false;
    }
}
