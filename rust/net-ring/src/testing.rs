//! A ring on the heap of one process, for tests of what is built on rings.

use std::boxed::Box;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::vec::Vec;

use crate::layout::{Capacity, Field};
use crate::shared::{Bell, Shared};

/// A ring on the heap. An access outside of it is a panic.
#[derive(Debug)]
pub struct HeapRing {
    capacity: Capacity,
    first: Capacity,
    words: [AtomicU64; Field::ALL.len()],
    data: Box<[AtomicU8]>,
}

impl HeapRing {
    /// An empty one.
    pub fn new(capacity: Capacity) -> Self {
        Self::growing(capacity.first(), capacity)
    }

    /// An empty one, of which at first only a part is used.
    pub fn growing(first: Capacity, capacity: Capacity) -> Self {
        HeapRing {
            capacity,
            first,
            words: Field::ALL.map(|field| AtomicU64::new(field.initial())),
            data: (0..capacity.as_usize()).map(|_| AtomicU8::new(0)).collect(),
        }
    }

    /// All bytes of the data.
    pub fn data(&self) -> Vec<u8> {
        self.data.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

impl Shared for HeapRing {
    type Word = AtomicU64;

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn first_capacity(&self) -> Capacity {
        self.first
    }

    fn word(&self, field: Field) -> &AtomicU64 {
        let at = Field::ALL.iter().position(|&other| other == field);
        &self.words[at.unwrap_or(usize::MAX)]
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        for (byte, &value) in self.data[at..at + bytes.len()].iter().zip(bytes) {
            byte.store(value, Ordering::Relaxed);
        }
    }

    fn get(&self, at: usize, out: &mut [u8]) {
        let bytes = &self.data[at..at + out.len()];
        for (value, byte) in out.iter_mut().zip(bytes) {
            *value = byte.load(Ordering::Relaxed);
        }
    }
}

/// A bell that threads of this process wait on.
#[derive(Debug, Default)]
pub struct ThreadBell {
    rings: Mutex<bool>,
    rang: Condvar,
}

impl ThreadBell {
    /// Returns when it rings. It goes on ringing.
    pub fn wait(&self) {
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rings {
            rings = self.rang.wait(rings).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether it rings.
    pub fn rings(&self) -> bool {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, rings: bool) {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner) = rings;
        self.rang.notify_all();
    }
}

impl Bell for ThreadBell {
    fn ring(&self) {
        self.set(true);
    }

    fn silence(&self) {
        self.set(false);
    }
}
