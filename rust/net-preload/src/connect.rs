//! `connect`.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use afterbay_net_core::{config, is_foreign, open, sys};
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
    let errno = sys::errno();
    let goes_on = [libc::EINPROGRESS, libc::EINTR, libc::EALREADY, libc::EISCONN];
    if connected == 0 || goes_on.contains(&errno) {
        open::after_connect(fd);
    } else {
        open::after_failed_connect(fd);
    }
    sys::set_errno(errno);
    connected
}
