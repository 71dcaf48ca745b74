//! `dup` and its like, and `fcntl`.

use std::ffi::c_int;
use std::ops::RangeInclusive;

use afterbay_net_core::slot::{is_ours, is_own};
use afterbay_net_core::sys::set_last_error;
use afterbay_net_core::{Errno, Why, config, files, is_foreign};

use crate::real::real;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup(fd: c_int) -> c_int {
    let real = real!(c"dup" as unsafe extern "C" fn(c_int) -> c_int, -1);
    // SAFETY: as the program calls it.
    copied(fd, unsafe { real(fd) })
}

fn copied(from: c_int, to: c_int) -> c_int {
    if to >= 0 && config().is_some() {
        files::after_copy(from, to);
    }
    to
}

/// The C library has streams on them, which read and write past our functions.
const STANDARD: RangeInclusive<c_int> = libc::STDIN_FILENO..=libc::STDERR_FILENO;

/// `to` becomes `from`, by `real`.
fn replace(from: c_int, to: c_int, real: impl FnOnce() -> c_int) -> c_int {
    if config().is_none() || from == to {
        return real();
    }
    if is_foreign() {
        // Another program will have it, in the place of `to`.
        let copied = real();
        if copied >= 0 && is_ours(from) {
            files::after_copy(from, to);
        }
        return copied;
    }
    // SAFETY: it only asks.
    if unsafe { libc::fcntl(from, libc::F_GETFD) } < 0 {
        return real();
    }
    if is_own(to) {
        set_last_error(Errno::BADF);
        return -1;
    }
    if STANDARD.contains(&to) && is_ours(from) {
        files::hand_on(from, Why::OtherCalls);
    }
    let held = files::before_replace(to);
    let copied = copied(from, real());
    drop(held);
    copied
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup2(from: c_int, to: c_int) -> c_int {
    let real = real!(c"dup2" as unsafe extern "C" fn(c_int, c_int) -> c_int, -1);
    // SAFETY: as the program calls it.
    replace(from, to, || unsafe { real(from, to) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    let real = real!(c"dup3" as unsafe extern "C" fn(c_int, c_int, c_int) -> c_int, -1);
    // SAFETY: as the program calls it.
    replace(from, to, || unsafe { real(from, to, flags) })
}

type Fcntl = unsafe extern "C" fn(c_int, c_int, ...) -> c_int;

fn control(real: Fcntl, fd: c_int, command: c_int, argument: usize) -> c_int {
    // Signals tell of TCP's bytes only.
    let is_async = command == libc::F_SETFL && argument & libc::O_ASYNC as usize != 0;
    if is_async && is_ours(fd) {
        files::leave(fd, Why::OtherCalls);
    }
    // SAFETY: as the program calls it.
    let result = unsafe { real(fd, command, argument) };
    if result < 0 || config().is_none() {
        return result;
    }
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => return copied(fd, result),
        libc::F_SETFL if is_ours(fd) => {
            files::set_nonblocking(fd, argument & libc::O_NONBLOCK as usize != 0);
        }
        _ => {}
    }
    result
}

/// The last argument is of any type that fits, or is not there: it is led on as it is.
#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    control(real!(c"fcntl" as Fcntl, -1), fd, command, argument)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    control(real!(c"fcntl64" as Fcntl, -1), fd, command, argument)
}
