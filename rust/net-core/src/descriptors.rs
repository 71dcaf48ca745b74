//! The library's own descriptors, out of the program's way: programs get the lowest that is free, and some count on that.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};

/// The library's descriptors begin here at the latest: the kernel's table of them is as long as the highest.
const BASE_MAX: u64 = 8192;

/// Where the library's descriptors begin: in the middle of what a program may have. Half of them are left for it.
static BASE: AtomicI32 = AtomicI32::new(0);

fn base() -> i32 {
    if BASE.load(Relaxed) == 0 {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        BASE.store((limit / 2).min(BASE_MAX) as i32, Relaxed);
    }
    BASE.load(Relaxed)
}

/// Moves a descriptor out of the program's way, if there is room.
pub(crate) fn lift(fd: OwnedFd) -> Option<OwnedFd> {
    if fd.as_raw_fd() >= base() {
        return Some(fd);
    }
    fcntl_dupfd_cloexec(fd.as_fd(), base()).ok()
}

/// Takes a descriptor that a system call has returned.
#[allow(unsafe_code, reason = "a number becomes a descriptor")]
pub(crate) fn own(fd: usize) -> OwnedFd {
    // SAFETY: the kernel returned it just now, and nobody else has it.
    unsafe { OwnedFd::from_raw_fd(fd as i32) }
}
