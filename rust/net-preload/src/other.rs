//! Calls that use a socket in ways that rings do not have: it goes back to TCP first.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

use afterbay_net_core::slot::{get, is_ours};
use afterbay_net_core::{Why, begin_io_uring, files, sys};
use libc::{FILE, off_t, size_t, ssize_t};

use crate::close::{close, close_range};
use crate::dup::{dup, dup2, dup3};
use crate::real::{guard, real, size};
use crate::recv::read;
use crate::send::write;
use crate::stream;

/// Streams of the C library read and write past our functions. Those on connections do so by them.
#[unsafe(no_mangle)]
unsafe extern "C" fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
    if is_ours(fd) {
        // SAFETY: as the program calls it.
        return unsafe { stream::open(fd, mode) };
    }
    type Real = unsafe extern "C" fn(c_int, *const c_char) -> *mut FILE;
    let real = real!(c"fdopen" as Real, std::ptr::null_mut());
    // SAFETY: as the program calls it.
    unsafe { real(fd, mode) }
}

type Sendfile = unsafe extern "C" fn(c_int, c_int, *mut off_t, size_t) -> ssize_t;

fn before_sendfile(to: c_int, from: c_int) {
    if is_ours(to) {
        files::leave_out(to, Why::OtherCalls);
    }
    if is_ours(from) {
        files::leave(from, Why::OtherCalls);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    before_sendfile(to, from);
    let real = real!(c"sendfile" as Sendfile, -1);
    // SAFETY: as the program calls it.
    unsafe { real(to, from, offset, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile64(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    before_sendfile(to, from);
    let real = real!(c"sendfile64" as Sendfile, -1);
    // SAFETY: as the program calls it.
    unsafe { real(to, from, offset, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut off_t,
    to: c_int,
    to_offset: *mut off_t,
    length: size_t,
    flags: c_uint,
) -> ssize_t {
    type Real =
        unsafe extern "C" fn(c_int, *mut off_t, c_int, *mut off_t, size_t, c_uint) -> ssize_t;
    let real = real!(c"splice" as Real, -1);
    before_sendfile(to, -1);
    match get(from) {
        // An offset of a socket is an error, and the kernel's to say.
        Some(at) if from_offset.is_null() => size(guard(|| {
            files::splice(&at, from, length, flags, to, |from, length, flags| {
                // SAFETY: as the program calls it, from this descriptor or from a pipe.
                let moved =
                    unsafe { real(from, std::ptr::null_mut(), to, to_offset, length, flags) };
                usize::try_from(moved).map_err(|_| sys::last_error())
            })
        })),
        // SAFETY: as the program calls it.
        _ => unsafe { real(from, from_offset, to, to_offset, length, flags) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn vmsplice(
    fd: c_int,
    buffers: *const libc::iovec,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    before_sendfile(fd, -1);
    type Real = unsafe extern "C" fn(c_int, *const libc::iovec, size_t, c_uint) -> ssize_t;
    let real = real!(c"vmsplice" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, buffers, count, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn vdprintf(fd: c_int, format: *const c_char, arguments: *mut c_void) -> c_int {
    if is_ours(fd) {
        files::leave_out(fd, Why::OtherCalls);
    }
    type Real = unsafe extern "C" fn(c_int, *const c_char, *mut c_void) -> c_int;
    let real = real!(c"vdprintf" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, format, arguments) }
}

/// System calls by number. What they do on sockets is not seen, but for the end of a descriptor (libuv's way to close), copies of it,
/// reading and writing; a program that sets up `io_uring` stays on TCP.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    match number {
        // Without entries it makes no ring, and only asks: as the library does, by this function.
        libc::SYS_io_uring_setup if a != 0 => begin_io_uring(),
        // SAFETY: as the program calls it.
        libc::SYS_close => return unsafe { close(a as c_int) }.into(),
        libc::SYS_close_range => {
            // SAFETY: as the program calls it.
            return unsafe { close_range(a as c_uint, b as c_uint, c as c_int) }.into();
        }
        // SAFETY: as the program calls it.
        libc::SYS_dup => return unsafe { dup(a as c_int) }.into(),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as the program calls it.
        libc::SYS_dup2 => return unsafe { dup2(a as c_int, b as c_int) }.into(),
        // SAFETY: as the program calls it.
        libc::SYS_dup3 => return unsafe { dup3(a as c_int, b as c_int, c as c_int) }.into(),
        libc::SYS_read if is_ours(a as c_int) => {
            // SAFETY: as the program calls it.
            return unsafe { read(a as c_int, b as *mut c_void, c as size_t) } as c_long;
        }
        libc::SYS_write if is_ours(a as c_int) => {
            // SAFETY: as the program calls it.
            return unsafe { write(a as c_int, b as *const c_void, c as size_t) } as c_long;
        }
        _ => {}
    }
    let real = real!(c"syscall" as unsafe extern "C" fn(c_long, ...) -> c_long, -1);
    // SAFETY: as the program calls it.
    unsafe { real(number, a, b, c, d, e, f) }
}
