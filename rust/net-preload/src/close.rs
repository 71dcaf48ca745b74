//! `close` and its like, and `shutdown`.

use std::ffi::{c_char, c_int, c_uint};

use afterbay_net_core::slot::{get, is_ours, is_own, limit};
use afterbay_net_core::sys::set_last_error;
use afterbay_net_core::{Errno, config, files, is_foreign, sys};

use libc::FILE;

use crate::real::{guard, number, real};
use crate::stream;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn close(fd: c_int) -> c_int {
    let real = real!(c"close" as unsafe extern "C" fn(c_int) -> c_int, -1);
    if config().is_none() || is_foreign() {
        // SAFETY: as the program calls it.
        return unsafe { real(fd) };
    }
    if is_own(fd) {
        // Of programs that close all that might be open.
        set_last_error(Errno::BADF);
        return -1;
    }
    let held = files::before_close(fd);
    // SAFETY: as the program calls it.
    let closed = unsafe { real(fd) };
    drop(held);
    closed
}

/// The C library closes a stream's descriptor by itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn fclose(stream: *mut FILE) -> c_int {
    let real = real!(c"fclose" as unsafe extern "C" fn(*mut FILE) -> c_int, libc::EOF);
    // SAFETY: as the program calls it.
    let fd = if stream.is_null() { -1 } else { unsafe { libc::fileno(stream) } };
    stream::forget(stream);
    if config().is_none() || is_foreign() || !is_ours(fd) {
        // SAFETY: as the program calls it.
        return unsafe { real(stream) };
    }
    // What the stream has yet to write comes before the end.
    // SAFETY: as the program calls it.
    let flushed = unsafe { libc::fflush(stream) };
    let errno = sys::errno();
    let held = files::before_close(fd);
    // SAFETY: as the program calls it.
    let closed = unsafe { real(stream) };
    drop(held);
    if flushed == 0 {
        return closed;
    }
    sys::set_errno(errno);
    flushed
}

/// The C library gives a stream's descriptor to another file by itself.
///
/// # Safety
/// As for `freopen`.
unsafe fn reopen(
    path: *const c_char,
    mode: *const c_char,
    stream: *mut FILE,
    real: impl FnOnce() -> *mut FILE,
) -> *mut FILE {
    // SAFETY: as the program calls it.
    let fd = if stream.is_null() { -1 } else { unsafe { libc::fileno(stream) } };
    if config().is_none() || is_foreign() || !is_ours(fd) && !stream::is_ours(stream) {
        return real();
    }
    // SAFETY: as the program calls it.
    let _ = unsafe { libc::fflush(stream) };
    let held = files::before_close(fd);
    let reopened = if stream::is_ours(stream) {
        // SAFETY: as the program calls it; it has this descriptor.
        unsafe { stream::reopen(stream, fd, path, mode) }
    } else {
        real()
    };
    drop(held);
    reopened
}

type Freopen = unsafe extern "C" fn(*const c_char, *const c_char, *mut FILE) -> *mut FILE;

#[unsafe(no_mangle)]
unsafe extern "C" fn freopen(
    path: *const c_char,
    mode: *const c_char,
    stream: *mut FILE,
) -> *mut FILE {
    let real = real!(c"freopen" as Freopen, std::ptr::null_mut());
    // SAFETY: as the program calls it.
    unsafe { reopen(path, mode, stream, || real(path, mode, stream)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn freopen64(
    path: *const c_char,
    mode: *const c_char,
    stream: *mut FILE,
) -> *mut FILE {
    let real = real!(c"freopen64" as Freopen, std::ptr::null_mut());
    // SAFETY: as the program calls it.
    unsafe { reopen(path, mode, stream, || real(path, mode, stream)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    type Real = unsafe extern "C" fn(c_uint, c_uint, c_int) -> c_int;
    let real = real!(c"close_range" as Real, -1);
    let closes = flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0;
    if config().is_none() || is_foreign() || !closes || first > last {
        // SAFETY: as the program calls it.
        return unsafe { real(first, last, flags) };
    }
    // The library's own stay: what is between them is closed.
    let mut from = first;
    let known = last.min(limit().unsigned_abs());
    let mut held = Vec::new();
    for fd in first..=known {
        if is_own(fd as c_int) {
            if from < fd {
                // SAFETY: as the program calls it, for a part.
                unsafe { real(from, fd - 1, flags) };
            }
            from = fd + 1;
        } else {
            held.push(files::before_close(fd as c_int));
        }
    }
    if from > last {
        return 0;
    }
    // SAFETY: as the program calls it, for a part.
    unsafe { real(from, last, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn closefrom(first: c_int) {
    // SAFETY: any numbers may be given.
    unsafe { close_range(first.max(0) as c_uint, c_uint::MAX, 0) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    if let Some(at) = get(fd) {
        return number(guard(|| files::shutdown(&at, fd, how)));
    }
    let real = real!(c"shutdown" as unsafe extern "C" fn(c_int, c_int) -> c_int, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, how) }
}
