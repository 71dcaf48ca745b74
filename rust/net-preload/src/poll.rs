//! `poll` and `ppoll`.

use std::ffi::c_int;
use std::slice::from_raw_parts_mut;

use afterbay_net_core::poll as core;
use libc::{nfds_t, pollfd, sigset_t, size_t, timespec};

use crate::real::{guard, number, real};

/// The program's descriptors, if any of them is a connection.
///
/// # Safety
/// There are `count` of them.
unsafe fn ours<'a>(fds: *mut pollfd, count: nfds_t) -> Option<&'a mut [pollfd]> {
    if fds.is_null() || count == 0 {
        return None;
    }
    // SAFETY: so says the caller.
    let fds = unsafe { from_raw_parts_mut(fds, count as usize) };
    core::concerns(fds).then_some(fds)
}

/// Nanoseconds, or for ever.
pub(crate) fn nanoseconds(time: &timespec) -> u64 {
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout_ms: c_int) -> c_int {
    // SAFETY: as the program calls it.
    if let Some(fds) = unsafe { ours(fds, count) } {
        let timeout = u64::try_from(timeout_ms).ok().map(|timeout| timeout * 1_000_000);
        return number(guard(|| core::poll(fds, timeout, None)));
    }
    let real = real!(c"poll" as unsafe extern "C" fn(*mut pollfd, nfds_t, c_int) -> c_int, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fds, count, timeout_ms) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __poll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout_ms: c_int,
    room: size_t,
) -> c_int {
    if room / size_of::<pollfd>() >= count as usize {
        // SAFETY: as the program calls it.
        return unsafe { poll(fds, count, timeout_ms) };
    }
    type Real = unsafe extern "C" fn(*mut pollfd, nfds_t, c_int, size_t) -> c_int;
    let real = real!(c"__poll_chk" as Real, -1);
    // SAFETY: as the program calls it: it ends the program.
    unsafe { real(fds, count, timeout_ms, room) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as the program calls it.
    if let Some(fds) = unsafe { ours(fds, count) } {
        // SAFETY: as the program calls it.
        let (timeout, mask) = unsafe { (timeout.as_ref().map(nanoseconds), mask.as_ref()) };
        return number(guard(|| core::poll(fds, timeout, mask)));
    }
    type Real =
        unsafe extern "C" fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t) -> c_int;
    let real = real!(c"ppoll" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fds, count, timeout, mask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    if room / size_of::<pollfd>() >= count as usize {
        // SAFETY: as the program calls it.
        return unsafe { ppoll(fds, count, timeout, mask) };
    }
    type Real = unsafe extern "C" fn(
        *mut pollfd,
        nfds_t,
        *const timespec,
        *const sigset_t,
        size_t,
    ) -> c_int;
    let real = real!(c"__ppoll_chk" as Real, -1);
    // SAFETY: as the program calls it: it ends the program.
    unsafe { real(fds, count, timeout, mask, room) }
}
