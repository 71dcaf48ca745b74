//! Whether this is the process that the library began in, or one that shares its memory and is on its way to another program.
//!
//! Between `vfork` and `exec`, a child writes into its parent's memory, and has descriptors of its own: what it closes and opens
//! says nothing of the parent's.

use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};

use crate::sys;

/// The process, as it was when the library began, or after the last fork.
static CURRENT: AtomicU32 = AtomicU32::new(0);
/// A process beside this one may use its memory at any time. So it is where nothing tells of `vfork`.
static IS_SHARED: AtomicBool =
    AtomicBool::new(!cfg!(any(target_arch = "x86_64", target_arch = "aarch64")));

thread_local! {
    /// This thread has called `vfork`, and it has not been looked yet who goes on.
    static HAS_FORKED: Cell<bool> = const { Cell::new(false) };
}

/// Notes which process this is.
pub(crate) fn note() {
    CURRENT.store(sys::process_id(), SeqCst);
}

/// Its number, as it was noted.
pub(crate) fn current() -> u32 {
    CURRENT.load(Acquire)
}

/// Whether this is a process that shares its memory with the one that it comes from: between `vfork` and `exec`. What it does
/// with descriptors is not this one's.
pub fn is_foreign() -> bool {
    current() != sys::process_id()
}

/// As [`is_foreign`], for calls that have no time to ask the kernel: it is asked after a `vfork` only.
pub(crate) fn is_foreign_after_vfork() -> bool {
    (HAS_FORKED.get() || IS_SHARED.load(Relaxed)) && look()
}

#[cold]
fn look() -> bool {
    let is_foreign = is_foreign();
    if !is_foreign {
        // The child has gone: its parent goes on after that.
        HAS_FORKED.set(false);
    }
    is_foreign
}

/// This thread is about to call `vfork`: the child goes on in its place, and then it does.
pub fn before_vfork() {
    HAS_FORKED.set(true);
}

/// A process beside this one is about to use its memory.
pub fn before_sharing() {
    IS_SHARED.store(true, Relaxed);
}
