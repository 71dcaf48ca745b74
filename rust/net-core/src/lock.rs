//! A lock that processes share after a fork, and that a signal handler does not hang in.

#![allow(unsafe_code, reason = "a lock in shared memory is none of the standard library's")]

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::{family, sys};

const WAITERS: u64 = 1 << 31;
/// Looks before a thread sleeps. Locks are held for the copy of some bytes.
const LOOKS: u32 = 200;
/// How long until it is looked whether the owner is still there.
const OWNER_CHECK_MS: u32 = 200;

/// A value that one thread of one process uses at a time, in memory that processes may share.
#[derive(Debug)]
pub(crate) struct Lock<T> {
    /// The thread that has it ([`me`]), and whether others wait. 0: nobody.
    word: AtomicU64,
    /// A fork holds it.
    is_held: AtomicBool,
    /// How often somebody who waits has looked whether the owner is there.
    #[cfg(test)]
    checks: std::sync::atomic::AtomicU32,
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

/// After a fork, the thread has another number. The name that it had. Before the process is another one of its family.
pub(crate) fn forget_thread() -> u64 {
    let before = me();
    THREAD.with(|thread| thread.set(0));
    before
}

/// This thread's name, among all that may have the same lock: its process and its number there. Numbers of threads alone are not
/// the same in all namespaces.
fn me() -> u64 {
    let thread = THREAD.with(|thread| {
        if thread.get() == 0 {
            thread.set(sys::thread_id());
        }
        thread.get()
    });
    u64::from(family::own()) << 32 | u64::from(thread)
}

/// Whether a thread lives.
fn lives(name: u64) -> bool {
    let (process, thread) = ((name >> 32) as u32, (name & !WAITERS) as u32);
    if process == family::own() { sys::is_thread(thread) } else { family::lives(process) }
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Lock {
            word: AtomicU64::new(0),
            is_held: AtomicBool::new(false),
            #[cfg(test)]
            checks: std::sync::atomic::AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until nobody has it.
    pub(crate) fn lock(&self) -> Result<Guard<'_, T>, Reentered> {
        let me = me();
        if self.word.compare_exchange(0, me, Acquire, Relaxed).is_err() {
            self.wait(me)?;
        }
        Ok(Guard { lock: self })
    }

    /// Takes it for a fork, and prepares the value. Not if the thread has it already: then the fork is a signal handler's, which
    /// interrupted it.
    pub(crate) fn hold(&self, prepare: impl FnOnce(&mut T)) {
        if let Ok(mut guard) = self.lock() {
            prepare(&mut guard);
            self.is_held.store(true, Relaxed);
            std::mem::forget(guard);
        }
    }

    /// After a fork, on both sides: what was held for it is free again. In the child, what the forking thread has is that of the
    /// thread which goes on there.
    pub(crate) fn let_go(&self, parents_thread: Option<u64>) {
        if self.is_held.swap(false, Relaxed) {
            self.free();
        } else if let Some(parent) = parents_thread
            && self.word.load(Relaxed) & !WAITERS == parent
        {
            self.word.store(me(), Relaxed);
        }
    }

    fn free(&self) {
        if self.word.swap(0, Release) & WAITERS != 0 {
            sys::futex_wake(&self.word);
        }
    }

    #[cold]
    fn wait(&self, me: u64) -> Result<(), Reentered> {
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
            let is_late = sys::futex_wait(&self.word, next as u32, OWNER_CHECK_MS);
            #[cfg(test)]
            self.checks.fetch_add(is_late.into(), Relaxed);
            // A process that was killed does not give it back.
            if is_late && !lives(next) {
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
        self.lock.free();
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Whether a thread sleeps, or is about to, until the lock is free.
    pub(crate) trait Waited {
        fn is_waited_for(&self) -> bool;
    }

    impl<T> Waited for Lock<T> {
        fn is_waited_for(&self) -> bool {
            self.word.load(Relaxed) & WAITERS != 0
        }
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

    /// As in a signal handler that interrupts who has it.
    #[test]
    fn a_fork_leaves_it_to_the_thread_that_has_it() {
        let lock = Lock::new(());
        let guard = lock.lock().unwrap();
        lock.hold(|_| {});
        lock.let_go(None);
        assert_eq!(lock.lock().unwrap_err(), Reentered);
        // In the child, by the number that the thread has there.
        let parents = me() + 1;
        lock.word.store(parents, Relaxed);
        lock.let_go(Some(parents));
        assert_eq!(lock.lock().unwrap_err(), Reentered);
        drop(guard);
        lock.hold(|_| {});
        assert_eq!(lock.lock().unwrap_err(), Reentered);
        lock.let_go(Some(parents));
        assert!(lock.lock().is_ok());
    }

    #[test]
    fn it_is_taken_from_who_is_gone() {
        let lock = Lock::new(7);
        // No thread has this number.
        lock.word.store((me() >> 32) << 32 | 0x3FFF_FFFF, Relaxed);
        assert_eq!(*lock.lock().unwrap(), 7);
    }

    /// As a process of another namespace, whose threads have numbers that mean nothing here, or another thread.
    #[test]
    fn another_process_has_it_until_it_ends() {
        family::testing::begin();
        let other = family::testing::Relative::start();
        for thread in [0x3FFF_FFFF, me() & 0x7FFF_FFFF] {
            let lock = Lock::new(7);
            let has_it = u64::from(other.number()) << 32 | thread;
            lock.word.store(has_it, Relaxed);
            std::thread::scope(|scope| {
                let waits = scope.spawn(|| lock.lock().is_ok());
                while lock.word.load(Relaxed) != has_it | WAITERS {
                    std::thread::yield_now();
                }
                // The first look is over when the second one begins.
                while lock.checks.load(Relaxed) < 2 && !waits.is_finished() {
                    std::thread::yield_now();
                }
                assert!(!waits.is_finished());
                lock.free();
                assert!(waits.join().unwrap());
            });
        }
        let lock = Lock::new(7);
        lock.word.store(u64::from(other.number()) << 32 | 1, Relaxed);
        other.kill();
        assert_eq!(*lock.lock().unwrap(), 7);
    }
}
