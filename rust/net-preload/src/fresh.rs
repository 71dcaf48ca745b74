//! Calls that return a new descriptor. What the library knows of its number is of one that was closed past our functions, if it
//! knows anything.

use std::ffi::{c_char, c_int, c_uint};

use afterbay_net_core::files::after_open;
use libc::mode_t;

use crate::real::real;

/// A function that returns a descriptor.
macro_rules! opens {
    ($($symbol:literal $name:ident($($argument:ident: $type:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            let real = real!($symbol as unsafe extern "C" fn($($type),*) -> c_int, -1);
            // SAFETY: as the program calls it.
            let fd = unsafe { real($($argument),*) };
            after_open(fd);
            fd
        }
    )* };
}

// The last argument of `open` and its like is there if a file is made: it is led on as it is.
opens! {
    c"socket" socket(domain: c_int, kind: c_int, protocol: c_int);
    c"eventfd" eventfd(count: c_uint, flags: c_int);
    c"epoll_create" epoll_create(size: c_int);
    c"epoll_create1" epoll_create1(flags: c_int);
    c"timerfd_create" timerfd_create(clock: c_int, flags: c_int);
    c"inotify_init" inotify_init();
    c"inotify_init1" inotify_init1(flags: c_int);
    c"memfd_create" memfd_create(name: *const c_char, flags: c_uint);
    c"creat" creat(path: *const c_char, mode: mode_t);
    c"creat64" creat64(path: *const c_char, mode: mode_t);
    c"open" open(path: *const c_char, flags: c_int, mode: mode_t);
    c"open64" open64(path: *const c_char, flags: c_int, mode: mode_t);
    c"openat" openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t);
    c"openat64" openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t);
}

/// After a call that returns two.
///
/// # Safety
/// If it succeeded, they are there.
unsafe fn after_pair(result: c_int, fds: *const c_int) -> c_int {
    if result == 0 && !fds.is_null() {
        for at in 0..2 {
            // SAFETY: so says the caller.
            after_open(unsafe { fds.add(at).read() });
        }
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe(fds: *mut c_int) -> c_int {
    let real = real!(c"pipe" as unsafe extern "C" fn(*mut c_int) -> c_int, -1);
    // SAFETY: as the program calls it.
    unsafe { after_pair(real(fds), fds) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe2(fds: *mut c_int, flags: c_int) -> c_int {
    let real = real!(c"pipe2" as unsafe extern "C" fn(*mut c_int, c_int) -> c_int, -1);
    // SAFETY: as the program calls it.
    unsafe { after_pair(real(fds, flags), fds) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    fds: *mut c_int,
) -> c_int {
    type Real = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_int) -> c_int;
    let real = real!(c"socketpair" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { after_pair(real(domain, kind, protocol, fds), fds) }
}
