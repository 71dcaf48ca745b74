//! Rings and bells as a connection uses them, which lies in memory that processes share after a fork: a ring is mapped at the same
//! address in all of them, and a bell has the same descriptor.

#![allow(unsafe_code, reason = "references from memory that processes share")]

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicI32, AtomicU64};

use afterbay_net_ring::{Bell, Capacity, Field, Shared};
use afterbay_net_shm::MappedRing;

use crate::sys;

/// A ring of the connection's slot, or a blank one. Used by who has a reference to the slot only.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RingLink {
    /// Stays where it is as long as the connection is used.
    Mapped(*const MappedRing),
    /// Lies in the connection itself.
    Blank(*const Blank),
}

// SAFETY: a mapped ring may be used by any thread, and so may the words of a blank one.
unsafe impl Send for RingLink {}

/// What a connection has in the place of a ring that nobody has made: the words of one whose other end never came. No byte goes
/// through it.
#[derive(Debug)]
pub(crate) struct Blank([AtomicU64; Field::ALL.len()]);

impl Blank {
    pub(crate) fn new() -> Self {
        Blank(Field::ALL.map(|field| AtomicU64::new(field.initial())))
    }
}

impl RingLink {
    /// A word, for a look from outside.
    pub(crate) fn value(&self, field: Field) -> u64 {
        self.word(field).load(SeqCst)
    }

    fn mapped(&self) -> Option<&MappedRing> {
        match self {
            // SAFETY: it lies in a slot, which is never freed, and is emptied only when nobody refers to the slot.
            RingLink::Mapped(ring) => Some(unsafe { &**ring }),
            RingLink::Blank(_) => None,
        }
    }
}

impl Shared for RingLink {
    type Word = AtomicU64;

    fn capacity(&self) -> Capacity {
        const LEAST: Capacity = match Capacity::new(1) {
            Ok(least) => least,
            Err(_) => Capacity::MAX,
        };
        self.mapped().map_or(LEAST, Shared::capacity)
    }

    fn word(&self, field: Field) -> &AtomicU64 {
        match self {
            // SAFETY: as in `mapped`.
            RingLink::Mapped(ring) => unsafe { (**ring).word(field) },
            // SAFETY: it lies in the connection, whose memory is never unmapped.
            RingLink::Blank(blank) => unsafe { &(**blank).0[field as usize] },
        }
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        if let Some(ring) = self.mapped() {
            ring.put(at, bytes);
        }
    }

    fn get(&self, at: usize, out: &mut [u8]) {
        if let Some(ring) = self.mapped() {
            ring.get(at, out);
        }
    }
}

/// A bell of the connection's slot, by its descriptor; negative where there is none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BellLink(pub(crate) i32);

impl BellLink {
    /// Where there is no ring.
    pub(crate) const NONE: BellLink = BellLink(-1);
}

impl Bell for BellLink {
    fn ring(&self) {
        if self.0 >= 0 {
            sys::ring(self.0);
        }
    }

    fn silence(&self) {
        if self.0 >= 0 {
            sys::silence(self.0);
        }
    }
}

/// A bell of a connection that gets one with its rings.
#[derive(Debug)]
pub(crate) struct BellPlace(AtomicI32);

impl BellPlace {
    pub(crate) fn new(bell: BellLink) -> Self {
        BellPlace(AtomicI32::new(bell.0))
    }

    pub(crate) fn set(&self, bell: BellLink) {
        self.0.store(bell.0, SeqCst);
    }

    /// Its descriptor; negative where there is none, as `poll` leaves it out.
    pub(crate) fn fd(&self) -> i32 {
        self.0.load(SeqCst)
    }

    pub(crate) fn ring(&self) {
        BellLink(self.fd()).ring();
    }
}
