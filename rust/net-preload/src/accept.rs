//! `accept`.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use afterbay_net_core::sys;
use afterbay_net_core::{config, is_foreign, open};
use libc::{sockaddr, socklen_t};

use crate::real::{guard, real};

/// A connection was accepted: are there rings for it?
fn claim(fd: c_int) -> c_int {
    if fd >= 0
        && let Some(config) = config()
        && !is_foreign()
    {
        let errno = sys::errno();
        let _ = guard(|| {
            // SAFETY: the program has it from the kernel just now, and does not know of it yet.
            open::after_accept(config, unsafe { BorrowedFd::borrow_raw(fd) });
            Ok(0)
        });
        sys::set_errno(errno);
    }
    fd
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    type Real = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;
    let real = real!(c"accept" as Real, -1);
    // SAFETY: as the program calls it.
    claim(unsafe { real(fd, address, length) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept4(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    type Real = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int;
    let real = real!(c"accept4" as Real, -1);
    // SAFETY: as the program calls it.
    claim(unsafe { real(fd, address, length, flags) })
}
