//! The functions that come after ours.

use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_core::Errno;
use afterbay_net_core::sys::set_last_error;
use libc::ssize_t;

/// Looks a function up, once.
pub(crate) fn find(cell: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = cell.load(Relaxed);
    if !found.is_null() {
        return found;
    }
    // SAFETY: the name ends with zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    cell.store(found, Relaxed);
    found
}

/// The next function of this name; `$missing` if there is none.
macro_rules! real {
    ($name:literal as $type:ty, $missing:expr) => {{
        static CELL: std::sync::atomic::AtomicPtr<std::ffi::c_void> =
            std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
        let found = $crate::real::find(&CELL, $name);
        if found.is_null() {
            afterbay_net_core::sys::set_last_error(afterbay_net_core::Errno::NOSYS);
            return $missing;
        }
        // SAFETY: the C library's function of this name has this type.
        unsafe { std::mem::transmute::<*mut std::ffi::c_void, $type>(found) }
    }};
}
pub(crate) use real;

/// As C has it.
pub(crate) fn size(result: Result<usize, Errno>) -> ssize_t {
    match result {
        Ok(size) => size as ssize_t,
        Err(errno) => {
            set_last_error(errno);
            -1
        }
    }
}

/// As C has it.
pub(crate) fn number(result: Result<usize, Errno>) -> c_int {
    size(result) as c_int
}

/// A fault of ours is an error of the call, and does not end the program.
pub(crate) fn guard<T>(f: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(Err(Errno::IO))
}
