//! A mapping of shared memory: the only module that uses `unsafe`.

#![allow(unsafe_code, reason = "memory that another process writes has no safe interface")]

use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, copy_nonoverlapping, null_mut};
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::error::{Result, system};

/// Memory that is mapped, or lies on the heap, as words and bytes. Never as a slice: another process writes it meanwhile.
#[derive(Debug)]
pub(crate) struct Map {
    base: NonNull<u8>,
    length: usize,
    owner: Owner,
}

/// Who gives the memory back.
#[derive(Debug)]
enum Owner {
    Mapping,
    #[cfg(test)]
    Heap(std::alloc::Layout),
}

// SAFETY: all access is by atomic words and by copies of bytes; who copies which bytes when is agreed by those words. A peer
// that does not keep to it changes bytes while they are copied, and any byte is a valid one.
unsafe impl Send for Map {}

// SAFETY: as for `Send`.
unsafe impl Sync for Map {}

impl Map {
    /// Of the first `length` bytes of a file, which is so long and sealed against becoming shorter.
    pub(crate) fn of_file(file: BorrowedFd<'_>, length: usize) -> Result<Map> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the system chooses an address at which nothing else lies.
        let base = unsafe { mmap(null_mut(), length, access, flags, file, 0) };
        let base = base.map_err(system("map shared memory"))?.cast();
        let base = NonNull::new(base).ok_or(crate::ShmError::NotMemory)?;
        Ok(Map { base, length, owner: Owner::Mapping })
    }

    /// The word at an offset, which is a multiple of 8.
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        self.check(offset, 8);
        assert!(offset.is_multiple_of(8), "a word at {offset}");
        // SAFETY: the eight bytes are within the mapping, which outlives the reference and begins at a page; all use of them,
        // here and in other processes, is atomic.
        unsafe { AtomicU64::from_ptr(self.base.add(offset).cast().as_ptr()) }
    }

    /// Copies bytes to an offset.
    pub(crate) fn put(&self, offset: usize, bytes: &[u8]) {
        self.check(offset, bytes.len());
        // SAFETY: the target is within the mapping, and `bytes` are not: no reference to the mapping's bytes is ever made.
        unsafe { copy_nonoverlapping(bytes.as_ptr(), self.base.add(offset).as_ptr(), bytes.len()) }
    }

    /// Copies bytes from an offset.
    pub(crate) fn get(&self, offset: usize, out: &mut [u8]) {
        self.check(offset, out.len());
        // SAFETY: as in `put`, the other way round.
        unsafe { copy_nonoverlapping(self.base.add(offset).as_ptr(), out.as_mut_ptr(), out.len()) }
    }

    fn check(&self, offset: usize, length: usize) {
        let fits = offset.checked_add(length).is_some_and(|end| end <= self.length);
        assert!(fits, "{length} bytes at {offset} of {} bytes of shared memory", self.length);
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        match self.owner {
            Owner::Mapping => {
                // SAFETY: nothing refers to the mapping any more; it is unmapped once.
                let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
            }
            #[cfg(test)]
            // SAFETY: allocated in `on_heap` with this layout.
            Owner::Heap(layout) => unsafe { std::alloc::dealloc(self.base.as_ptr(), layout) },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use std::alloc::{Layout, alloc_zeroed};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::Ordering::{Acquire, Release};

    use super::*;

    impl Map {
        /// What Miri can run.
        pub(crate) fn on_heap(length: usize) -> Map {
            let layout = Layout::from_size_align(length, 4096).unwrap();
            // SAFETY: the layout has a size.
            let base = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap();
            Map { base, length, owner: Owner::Heap(layout) }
        }
    }

    #[test]
    fn bytes_are_handed_over_between_threads() {
        let map = Map::on_heap(4096);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                map.put(100, b"basin");
                map.word(8).store(5, Release);
            });
            while map.word(8).load(Acquire) == 0 {
                std::thread::yield_now();
            }
            let mut out = [0; 5];
            map.get(100, &mut out);
            assert_eq!(&out, b"basin");
        });
    }

    #[test]
    fn nothing_outside_is_touched() {
        let map = Map::on_heap(4096);
        let refused = |access: &dyn Fn()| catch_unwind(AssertUnwindSafe(access)).is_err();
        assert!(refused(&|| map.put(4092, b"basin")));
        assert!(refused(&|| map.get(usize::MAX, &mut [0; 2])));
        assert!(refused(&|| map.word(4096).store(1, Release)));
        assert!(refused(&|| map.word(4).store(1, Release)));
        map.put(4091, b"basin");
        map.put(4096, b"");
        map.word(4088).store(1, Release);
    }
}
