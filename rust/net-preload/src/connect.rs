//! `connect`.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use afterbay_net_core::sys::{last_error, set_last_error};
use afterbay_net_core::{Errno, config, is_foreign, open};
use libc::{sockaddr, socklen_t};

use crate::real::{guard, real};

/// Whether it is an address of TCP.
///
/// # Safety
/// `address` has `length` bytes.
unsafe fn is_inet(address: *const sockaddr, length: socklen_t) -> bool {
    if address.is_null() || (length as usize) < size_of::<libc::sa_family_t>() {
        return false;
    }
    // SAFETY: so says the caller.
    let family = c_int::from(unsafe { (&raw const (*address).sa_family).read_unaligned() });
    matches!(family, libc::AF_INET | libc::AF_INET6)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    type Real = unsafe extern "C" fn(c_int, *const sockaddr, socklen_t) -> c_int;
    let real = real!(c"connect" as Real, -1);
    // SAFETY: as the program calls it.
    let config = config().filter(|_| fd >= 0 && unsafe { is_inet(address, length) });
    let Some(config) = config.filter(|_| !is_foreign()) else {
        // SAFETY: as the program calls it.
        return unsafe { real(fd, address, length) };
    };
    let _ = guard(|| {
        // SAFETY: if it is no open descriptor, the kernel says so.
        open::before_connect(config, unsafe { BorrowedFd::borrow_raw(fd) });
        Ok(0)
    });
    // SAFETY: as the program calls it.
    let connected = unsafe { real(fd, address, length) };
    if connected < 0 {
        let errno = last_error();
        let goes_on =
            [Errno::INPROGRESS, Errno::INTR, Errno::ALREADY, Errno::ISCONN].contains(&errno);
        if !goes_on {
            open::after_failed_connect(config, fd);
        }
        set_last_error(errno);
    }
    connected
}
