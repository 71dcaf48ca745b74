//! A lock that processes share after a fork, and that a signal handler does not hang in.

#![allow(unsafe_code, reason = "a lock in shared memory is none of the standard library's")]

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::sys;

const WAITERS: u32 = 1 << 31;
/// Looks before a thread sleeps. Locks are held for the copy of some bytes.
const LOOKS: u32 = 200;
/// How long until it is looked whether the owner is still there.
const OWNER_CHECK_MS: u32 = 200;

/// A value that one thread of one process uses at a time, in memory that processes may share.
#[derive(Debug)]
pub(crate) struct Lock<T> {
    /// The thread that has it, and whether others wait. 0: nobody.
    word: AtomicU32,
    value: UnsafeCell<T>,
}

/// The calling thread has the lock already: it is in a signal handler that interrupted itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reentered;

// SAFETY: the value is used by who has the lock.
unsafe impl<T: Send> Sync for Lock<T> {}

thread_local! {
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// After a fork, the thread has another number.
pub(crate) fn forget_thread() {
    THREAD.with(|thread| thread.set(0));
}

fn thread() -> u32 {
    THREAD.with(|thread| {
        if thread.get() == 0 {
            thread.set(sys::thread_id());
        }
        thread.get()
    })
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Lock { word: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Waits until nobody has it.
    pub(crate) fn lock(&self) -> Result<Guard<'_, T>, Reentered> {
        let me = thread();
        if self.word.compare_exchange(0, me, Acquire, Relaxed).is_err() {
            self.wait(me)?;
        }
        Ok(Guard { lock: self })
    }

    /// Takes it for a fork, whoever asks for it.
    pub(crate) fn hold(&self) {
        if let Ok(guard) = self.lock() {
            std::mem::forget(guard);
        }
    }

    /// After a fork, on both sides.
    pub(crate) fn let_go(&self) {
        if self.word.swap(0, Release) & WAITERS != 0 {
            sys::futex_wake(&self.word);
        }
    }

    #[cold]
    fn wait(&self, me: u32) -> Result<(), Reentered> {
        for _ in 0..LOOKS {
            if self.word.load(Relaxed) == 0
                && self.word.compare_exchange(0, me, Acquire, Relaxed).is_ok()
            {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        loop {
            let word = self.word.load(Relaxed);
            if word & !WAITERS == me {
                return Err(Reentered);
            }
            let (next, is_taken) =
                if word == 0 { (me | WAITERS, true) } else { (word | WAITERS, false) };
            if self.word.compare_exchange(word, next, Acquire, Relaxed).is_err() {
                continue;
            }
            if is_taken {
                return Ok(());
            }
            let is_late = sys::futex_wait(&self.word, next, OWNER_CHECK_MS);
            // A process that was killed does not give it back.
            if is_late && !sys::is_thread(next & !WAITERS) {
                let stolen = self.word.compare_exchange(next, me | WAITERS, Acquire, Relaxed);
                if stolen.is_ok() {
                    return Ok(());
                }
            }
        }
    }
}

/// Who has the lock.
#[derive(Debug)]
pub(crate) struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock, and the guard is borrowed once.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.let_go();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time() {
        let lock = Lock::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|_| *lock.lock().unwrap() += 1));
            }
        });
        assert_eq!(*lock.lock().unwrap(), 80_000);
    }

    #[test]
    fn a_thread_that_has_it_is_told() {
        let lock = Lock::new(());
        let _first = lock.lock().unwrap();
        assert_eq!(lock.lock().unwrap_err(), Reentered);
    }

    #[test]
    fn it_is_taken_from_who_is_gone() {
        let lock = Lock::new(7);
        // No thread has this number.
        lock.word.store(0x3FFF_FFFF, Relaxed);
        assert_eq!(*lock.lock().unwrap(), 7);
    }
}
