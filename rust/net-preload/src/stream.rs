//! Streams of the C library (`FILE`) on connections with rings: made of our functions, so that they read and write where the bytes
//! are.

use std::ffi::{c_char, c_int, c_void};

use afterbay_net_core::Errno;
use afterbay_net_core::sys::set_last_error;
use libc::{FILE, off64_t, size_t, ssize_t};

use crate::close::close;
use crate::recv::read;
use crate::send::write;

/// Of `fopencookie`.
#[repr(C)]
struct Functions {
    read: unsafe extern "C" fn(*mut c_void, *mut c_char, size_t) -> ssize_t,
    write: unsafe extern "C" fn(*mut c_void, *const c_char, size_t) -> ssize_t,
    seek: unsafe extern "C" fn(*mut c_void, *mut off64_t, c_int) -> c_int,
    close: unsafe extern "C" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut FILE;
}

/// Where a stream of glibc says what its descriptor is, in bytes from its beginning: behind its flags, eleven pointers and two more.
const DESCRIPTOR: usize = 112;
/// What it says there of a stream that is made of functions.
const NONE: c_int = -2;

fn descriptor(cookie: *mut c_void) -> c_int {
    cookie.addr() as c_int
}

unsafe extern "C" fn read_some(cookie: *mut c_void, bytes: *mut c_char, length: size_t) -> ssize_t {
    // SAFETY: as the C library calls it.
    unsafe { read(descriptor(cookie), bytes.cast(), length) }
}

/// All of it, as a stream does on a descriptor.
unsafe extern "C" fn write_all(
    cookie: *mut c_void,
    bytes: *const c_char,
    length: size_t,
) -> ssize_t {
    let mut written = 0;
    while written < length {
        // SAFETY: as the C library calls it; the rest of its bytes.
        let more =
            unsafe { write(descriptor(cookie), bytes.add(written).cast(), length - written) };
        match usize::try_from(more) {
            Ok(more) => written += more,
            Err(_) => break,
        }
    }
    written as ssize_t
}

unsafe extern "C" fn seek(_cookie: *mut c_void, _offset: *mut off64_t, _whence: c_int) -> c_int {
    set_last_error(Errno::SPIPE);
    -1
}

unsafe extern "C" fn close_it(cookie: *mut c_void) -> c_int {
    // SAFETY: the stream has the descriptor.
    unsafe { close(descriptor(cookie)) }
}

/// As `fdopen`.
///
/// # Safety
/// `mode` ends with zero.
pub(crate) unsafe fn open(fd: c_int, mode: *const c_char) -> *mut FILE {
    let functions = Functions { read: read_some, write: write_all, seek, close: close_it };
    let cookie = std::ptr::without_provenance_mut(fd as usize);
    // SAFETY: the functions are there as long as the process.
    let stream = unsafe { fopencookie(cookie, mode, functions) };
    if stream.is_null() {
        return stream;
    }
    // So that `fileno` knows it.
    // SAFETY: a stream of glibc is longer, and has a number there which nobody else sees yet.
    unsafe {
        let place = stream.cast::<u8>().add(DESCRIPTOR).cast::<c_int>();
        if place.read() == NONE {
            place.write(fd);
        }
    }
    stream
}
