//! `ioctl` and `setsockopt`, as far as they say how a socket waits or what it has.

use std::ffi::{c_int, c_ulong, c_void};

use afterbay_net_core::slot::{get, is_ours};
use afterbay_net_core::{Errno, Why, files};
use libc::socklen_t;

use crate::real::{guard, number, real};

/// The last argument is of any type that fits, or is not there: it is led on as it is.
#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int {
    type Real = unsafe extern "C" fn(c_int, c_ulong, ...) -> c_int;
    let real = real!(c"ioctl" as Real, -1);
    let Some(at) = get(fd) else {
        // SAFETY: as the program calls it.
        return unsafe { real(fd, request, argument) };
    };
    let counts = |count: Result<i32, Errno>| {
        count.map(|count| {
            // SAFETY: the request's argument is a pointer to a number.
            unsafe { (argument as *mut c_int).write(count) };
            0
        })
    };
    match request {
        libc::FIONREAD => number(guard(|| counts(files::readable_bytes(&at, fd)))),
        libc::TIOCOUTQ => number(guard(|| counts(files::unsent_bytes(&at, fd)))),
        _ => {
            if request == libc::FIOASYNC {
                // Signals tell of TCP's bytes only.
                files::leave(fd, Why::OtherCalls);
            }
            // SAFETY: as the program calls it.
            let result = unsafe { real(fd, request, argument) };
            if request == libc::FIONBIO && result == 0 {
                // SAFETY: the request's argument is a pointer to a number, which the kernel has read.
                files::set_nonblocking(fd, unsafe { (argument as *const c_int).read() } != 0);
            }
            result
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    type Real = unsafe extern "C" fn(c_int, c_int, c_int, *const c_void, socklen_t) -> c_int;
    let real = real!(c"setsockopt" as Real, -1);
    // SAFETY: as the program calls it.
    let result = unsafe { real(fd, level, name, value, length) };
    if result == 0 && is_ours(fd) {
        let is_number = length as usize >= size_of::<c_int>();
        // SAFETY: the kernel has read as many bytes.
        let is_on = is_number && unsafe { value.cast::<c_int>().read_unaligned() } != 0;
        files::after_option(fd, level, name, is_on);
    }
    result
}
