//! The cookie of a socket's network namespace.

#![allow(unsafe_code, reason = "no library that we have asks for SO_NETNS_COOKIE")]

use std::os::fd::{AsFd, AsRawFd};

/// Which network namespace a socket is in: a number that the kernel gives to no other one until it restarts. Linux 5.14.
pub(crate) fn netns_cookie(socket: impl AsFd) -> Option<u64> {
    let mut cookie = 0_u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `cookie`, and to `length`; both live until the call returns.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut length,
        )
    };
    (result == 0 && length as usize == size_of::<u64>()).then_some(cookie)
}

/// As on all machines but alpha, mips, parisc and sparc.
const SO_NETNS_COOKIE: libc::c_int = 71;
