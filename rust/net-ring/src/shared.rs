//! What a ring needs of the place where it lies. Models replace it: loom's words, or a fence that is left out.

use core::sync::atomic::{AtomicU64, Ordering, fence};

use crate::layout::{Capacity, Field};

/// A word that both sides use.
pub trait Word {
    /// Reads it.
    fn load(&self, ordering: Ordering) -> u64;
    /// Writes it.
    fn store(&self, value: u64, ordering: Ordering);
    /// Writes it and returns what it was; acquires and releases.
    fn swap(&self, value: u64) -> u64;
    /// Writes `new` if it is `current`, else returns what it is; acquires and releases.
    fn compare_exchange(&self, current: u64, new: u64) -> Result<(), u64>;
}

impl Word for AtomicU64 {
    fn load(&self, ordering: Ordering) -> u64 {
        AtomicU64::load(self, ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        AtomicU64::store(self, value, ordering);
    }

    fn swap(&self, value: u64) -> u64 {
        AtomicU64::swap(self, value, Ordering::AcqRel)
    }

    fn compare_exchange(&self, current: u64, new: u64) -> Result<(), u64> {
        let (both, read) = (Ordering::AcqRel, Ordering::Acquire);
        AtomicU64::compare_exchange(self, current, new, both, read).map(drop)
    }
}

/// Between which two accesses a fence stands. Each has its partner on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FenceSite {
    /// The writer: between publishing and looking whether the reader waits. Partner: [`FenceSite::ReaderWaits`].
    Published,
    /// The reader: between saying that it waits and looking for the last time.
    ReaderWaits,
    /// The reader: between freeing and looking whether the writer waits. Partner: [`FenceSite::WriterWaits`].
    Freed,
    /// The writer: between saying that it waits and looking for the last time.
    WriterWaits,
}

/// One ring: its control block and its data. Each side has its own view of it.
pub trait Shared {
    /// How its words are accessed.
    type Word: Word;

    /// How large it may become: of this process, not from shared memory.
    fn capacity(&self) -> Capacity;

    /// How large it is before it grows.
    fn first_capacity(&self) -> Capacity {
        self.capacity().first()
    }

    /// A word of the control block.
    fn word(&self, field: Field) -> &Self::Word;

    /// Writes into the data from index `at`. `at + bytes.len()` is at most the capacity.
    fn put(&self, at: usize, bytes: &[u8]);

    /// Reads the data from index `at`. `at + out.len()` is at most the capacity.
    fn get(&self, at: usize, out: &mut [u8]);

    /// A sequentially consistent fence.
    fn fence(&self, _site: FenceSite) {
        fence(Ordering::SeqCst);
    }
}

impl<S: Shared> Shared for &S {
    type Word = S::Word;

    fn capacity(&self) -> Capacity {
        (**self).capacity()
    }

    fn first_capacity(&self) -> Capacity {
        (**self).first_capacity()
    }

    fn word(&self, field: Field) -> &Self::Word {
        (**self).word(field)
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        (**self).put(at, bytes);
    }

    fn get(&self, at: usize, out: &mut [u8]) {
        (**self).get(at, out);
    }

    fn fence(&self, site: FenceSite) {
        (**self).fence(site);
    }
}

/// What a side waits on. An eventfd, in the end.
pub trait Bell {
    /// From now on, who waits on it does not wait.
    fn ring(&self);

    /// From now on, who waits on it waits until it rings again.
    fn silence(&self);
}

impl<B: Bell> Bell for &B {
    fn ring(&self) {
        (**self).ring();
    }

    fn silence(&self) {
        (**self).silence();
    }
}

/// Copies into a ring of this capacity at a position of the stream, around its end.
pub(crate) fn put_at<S: Shared>(shared: &S, capacity: Capacity, position: u64, bytes: &[u8]) {
    let at = capacity.index(position);
    let (first, rest) = bytes.split_at(bytes.len().min(capacity.as_usize() - at));
    shared.put(at, first);
    shared.put(0, rest);
}

/// Copies out of a ring of this capacity from a position of the stream, around its end.
pub(crate) fn get_at<S: Shared>(shared: &S, capacity: Capacity, position: u64, out: &mut [u8]) {
    let at = capacity.index(position);
    let (first, rest) = out.split_at_mut(out.len().min(capacity.as_usize() - at));
    shared.get(at, first);
    shared.get(0, rest);
}
