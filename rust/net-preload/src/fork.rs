//! `fork`: whether there was one.

use std::ffi::c_int;

use afterbay_net_core::fork::failed;
use afterbay_net_core::sys;

use crate::real::real;

/// The C library calls the same handlers of the library's if it fails.
#[unsafe(no_mangle)]
unsafe extern "C" fn fork() -> c_int {
    let real = real!(c"fork" as unsafe extern "C" fn() -> c_int, -1);
    // SAFETY: as the program calls it.
    let child = unsafe { real() };
    if child < 0 {
        let errno = sys::errno();
        failed();
        sys::set_errno(errno);
    }
    child
}
