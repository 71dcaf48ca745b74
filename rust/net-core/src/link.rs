//! Rings and bells as a connection uses them, which lies in memory that processes share after a fork: a ring is mapped at the same
//! address in all of them, and a bell has the same descriptor.

#![allow(unsafe_code, reason = "references from memory that processes share")]

use std::sync::atomic::AtomicU64;

use afterbay_net_ring::{Bell, Capacity, Field, Shared};
use afterbay_net_shm::MappedRing;

use crate::sys;

/// A ring of the connection's slot. Used by who has a reference to the slot only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingLink(*const MappedRing);

// SAFETY: a mapped ring may be used by any thread.
unsafe impl Send for RingLink {}

impl RingLink {
    /// Of a ring that stays where it is as long as the connection is used.
    pub(crate) fn new(ring: &MappedRing) -> Self {
        RingLink(ring)
    }

    /// A word, for a look from outside.
    pub(crate) fn value(&self, field: Field) -> u64 {
        self.ring().value(field)
    }

    fn ring(&self) -> &MappedRing {
        // SAFETY: it lies in a slot, which is never freed, and is emptied only when nobody refers to the slot.
        unsafe { &*self.0 }
    }
}

impl Shared for RingLink {
    type Word = AtomicU64;

    fn capacity(&self) -> Capacity {
        self.ring().capacity()
    }

    fn word(&self, field: Field) -> &AtomicU64 {
        self.ring().word(field)
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        self.ring().put(at, bytes);
    }

    fn get(&self, at: usize, out: &mut [u8]) {
        self.ring().get(at, out);
    }
}

/// A bell of the connection's slot, by its descriptor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BellLink(pub(crate) i32);

impl Bell for BellLink {
    fn ring(&self) {
        sys::ring(self.0);
    }

    fn silence(&self) {
        sys::silence(self.0);
    }
}
