//! `epoll_ctl` and `epoll_wait`.

use std::ffi::c_int;
use std::slice::from_raw_parts_mut;

use afterbay_net_core::{config, epoll, is_foreign};
use libc::{epoll_event, sigset_t, timespec};

use crate::poll::nanoseconds;
use crate::real::{guard, number, real};

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // Between `vfork` and `exec`, too: the epoll is the same one.
    if config().is_some() {
        // SAFETY: as the program calls it.
        let event = (!event.is_null()).then(|| unsafe { event.read_unaligned() });
        return number(guard(|| epoll::control(epoll, operation, fd, event).map(|()| 0)));
    }
    type Real = unsafe extern "C" fn(c_int, c_int, c_int, *mut epoll_event) -> c_int;
    let real = real!(c"epoll_ctl" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(epoll, operation, fd, event) }
}

/// Waits, in milliseconds, if a connection is in an epoll.
///
/// # Safety
/// There is room for `count` events.
unsafe fn wait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
    mask: *const sigset_t,
) -> Option<c_int> {
    if count <= 0 || events.is_null() || !epoll::is_used() {
        return None;
    }
    // SAFETY: so says the caller.
    let (events, mask) = unsafe { (from_raw_parts_mut(events, count as usize), mask.as_ref()) };
    Some(number(guard(|| epoll::wait(epoll, events, timeout_ms, mask))))
}

/// After a wait of the kernel's that began without connections: another thread may have put one into the epoll meanwhile.
///
/// # Safety
/// As for [`wait`]; there are `said` events.
unsafe fn after(
    said: c_int,
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    if said <= 0 || config().is_none() || is_foreign() {
        return said;
    }
    // SAFETY: so says the caller.
    let (events, happened) = unsafe { (from_raw_parts_mut(events, count as usize), said as usize) };
    // SAFETY: so says the caller.
    let mask = unsafe { mask.as_ref() };
    number(guard(|| match epoll::translate(&mut events[..happened]) {
        // What happened was a bell's. The wait begins anew.
        0 => epoll::wait(epoll, events, timeout_ms, mask),
        said => Ok(said),
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
) -> c_int {
    // SAFETY: as the program calls it.
    if let Some(said) = unsafe { wait(epoll, events, count, timeout_ms, std::ptr::null()) } {
        return said;
    }
    type Real = unsafe extern "C" fn(c_int, *mut epoll_event, c_int, c_int) -> c_int;
    let real = real!(c"epoll_wait" as Real, -1);
    // SAFETY: as the program calls it.
    let said = unsafe { real(epoll, events, count, timeout_ms) };
    // SAFETY: as the program calls it.
    unsafe { after(said, epoll, events, count, timeout_ms, std::ptr::null()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as the program calls it.
    if let Some(said) = unsafe { wait(epoll, events, count, timeout_ms, mask) } {
        return said;
    }
    type Real =
        unsafe extern "C" fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int;
    let real = real!(c"epoll_pwait" as Real, -1);
    // SAFETY: as the program calls it.
    let said = unsafe { real(epoll, events, count, timeout_ms, mask) };
    // SAFETY: as the program calls it.
    unsafe { after(said, epoll, events, count, timeout_ms, mask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as the program calls it.
    let given = unsafe { timeout.as_ref() };
    let timeout_ms = given
        .map_or(-1, |time| nanoseconds(time).div_ceil(1_000_000).try_into().unwrap_or(c_int::MAX));
    // SAFETY: as the program calls it.
    if let Some(said) = unsafe { wait(epoll, events, count, timeout_ms, mask) } {
        return said;
    }
    type Real = unsafe extern "C" fn(
        c_int,
        *mut epoll_event,
        c_int,
        *const timespec,
        *const sigset_t,
    ) -> c_int;
    let real = real!(c"epoll_pwait2" as Real, -1);
    // SAFETY: as the program calls it.
    let said = unsafe { real(epoll, events, count, timeout, mask) };
    // SAFETY: as the program calls it.
    unsafe { after(said, epoll, events, count, timeout_ms, mask) }
}
