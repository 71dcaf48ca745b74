//! What happens before the program begins.

use std::ffi::{CStr, c_int, c_void};

use libc::{dl_phdr_info, size_t};

/// Whether a library is the one of `io_uring`, which makes its system calls by itself: nothing of ours sees them.
unsafe extern "C" fn is_io_uring(
    library: *mut dl_phdr_info,
    _length: size_t,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the C library hands over a library that is loaded, whose name ends with zero if there is one.
    let name = unsafe { library.as_ref() }.filter(|library| !library.dlpi_name.is_null());
    // SAFETY: as said.
    let name = name.map(|library| unsafe { CStr::from_ptr(library.dlpi_name) });
    name.is_some_and(|name| name.to_bytes().windows(8).any(|part| part == b"liburing")).into()
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    let begun = std::panic::catch_unwind(afterbay_net_core::begin);
    // SAFETY: the function is there, and takes no data.
    if unsafe { libc::dl_iterate_phdr(Some(is_io_uring), std::ptr::null_mut()) } != 0 {
        afterbay_net_core::begin_io_uring();
    }
    if let Ok(Err(wrong)) = begun {
        let line = format!("afterbay: {wrong}; this program uses plain TCP\n");
        // SAFETY: the bytes are there until it returns.
        let _ = unsafe { libc::syscall(libc::SYS_write, 2, line.as_ptr(), line.len()) };
    }
}
