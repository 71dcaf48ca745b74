//! Which processes live, of those that share memory since one of them has forked the others. Process ids do not say: they are used
//! again, and those of another namespace are none here.
//!
//! Each process has a number, which no other one of its family ever has, and holds the kernel's lock on the byte of this number in
//! a file of the family's. The lock ends with the process, however it ends. Nobody reads or writes the file.

use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32};

use rustix::fs::{MemfdFlags, memfd_create};

use crate::{descriptors, slot, sys};

/// A process of a family; never 0.
pub(crate) type Number = u32;

/// The family's file.
static LIVES: AtomicI32 = AtomicI32::new(-1);
/// The highest number that was given out. In memory that the family shares.
static LAST: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());
static OWN: AtomicU32 = AtomicU32::new(0);

/// A family of one. Once, before anything is shared.
pub(crate) fn begin() -> Result<(), String> {
    let refused = |error| format!("no file for locks of processes: {error}");
    let lives = memfd_create("afterbay-lives", MemfdFlags::CLOEXEC).map_err(refused)?;
    let lives = descriptors::lift(lives).ok_or("too few descriptors (ulimit -n)")?;
    let last = sys::map_shared(size_of::<AtomicU32>()).ok_or("no memory to share")?;
    slot::set_own(lives.as_raw_fd());
    LIVES.store(lives.into_raw_fd(), Release);
    LAST.store(last.cast(), Release);
    enter().map(drop).ok_or_else(|| "the kernel refuses a lock of a file".to_owned())
}

/// In a child. Its number, if others will know that it lives.
pub(crate) fn enter() -> Option<Number> {
    let number = next();
    OWN.store(number, Release);
    sys::lock_byte(LIVES.load(Acquire), number.into()).ok().map(|_| number)
}

#[allow(unsafe_code, reason = "memory that processes share")]
fn next() -> Number {
    let last = LAST.load(Acquire);
    // SAFETY: mapped when the library began, for good; the memory was zero then.
    unsafe { last.as_ref() }.map_or(0, |last| last.fetch_add(1, AcqRel) + 1)
}

/// The family's file, which stays open as long as the process lives.
pub(crate) fn descriptor() -> i32 {
    LIVES.load(Acquire)
}

/// This process.
pub(crate) fn own() -> Number {
    OWN.load(Relaxed)
}

/// Whether a process of the family lives.
pub(crate) fn lives(number: Number) -> bool {
    number == own() || any_lives(number, number)
}

/// Whether another process with one of these numbers lives.
pub(crate) fn any_lives(low: Number, high: Number) -> bool {
    let length = u64::from(high - low) + 1;
    // What cannot be asked may be so.
    sys::is_locked(LIVES.load(Acquire), low.into(), length).unwrap_or(true)
}

#[cfg(test)]
#[allow(unsafe_code, clippy::unwrap_used, reason = "tests")]
pub(crate) mod testing {
    use std::io::{Read, Write};
    use std::sync::Once;

    use super::*;

    /// This process's number.
    pub(crate) fn begin() -> Number {
        static BEGUN: Once = Once::new();
        BEGUN.call_once(|| super::begin().unwrap());
        own()
    }

    /// A process of the family that waits for its death.
    pub(crate) struct Relative {
        process: i32,
        number: Number,
    }

    impl Relative {
        pub(crate) fn start() -> Self {
            let (mut output, mut input) = std::io::pipe().unwrap();
            // SAFETY: the child makes system calls only.
            let process = unsafe { libc::fork() };
            if process == 0 {
                let number = enter();
                let _ = input.write(&number.unwrap_or(0).to_ne_bytes());
                while number.is_some() {
                    // SAFETY: it waits for a signal.
                    unsafe { libc::pause() };
                }
                sys::exit();
            }
            let mut number = [0; 4];
            output.read_exact(&mut number).unwrap();
            Relative { process, number: Number::from_ne_bytes(number) }
        }

        pub(crate) fn number(&self) -> Number {
            self.number
        }

        /// Returns when it is dead, and nobody has asked yet how it ended.
        pub(crate) fn kill(&self) {
            // SAFETY: it is this process's child, until it is dropped; nothing is written.
            unsafe {
                libc::kill(self.process, libc::SIGKILL);
                let mut info = std::mem::zeroed();
                let options = libc::WEXITED | libc::WNOWAIT;
                libc::waitid(libc::P_PID, self.process as u32, &raw mut info, options);
            }
        }
    }

    impl Drop for Relative {
        fn drop(&mut self) {
            self.kill();
            sys::wait_for(self.process);
        }
    }

    #[test]
    fn a_process_lives_until_it_ends() {
        let me = begin();
        assert!(lives(me));
        let child = Relative::start();
        assert!(child.number() != me && lives(child.number()));
        assert!(any_lives(0, Number::MAX));
        child.kill();
        assert!(!lives(child.number()));
        assert!(!lives(Number::MAX));
    }
}
