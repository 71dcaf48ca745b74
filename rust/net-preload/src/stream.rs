//! Streams of the C library (`FILE`) on connections: made of our functions, so that they read and write where the bytes
//! are.

use std::ffi::{CStr, c_char, c_int, c_void};

use afterbay_net_core::sys::set_last_error;
use afterbay_net_core::{Errno, streams};
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
    fn __fpurge(stream: *mut FILE);
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

/// Of a socket it is an error, which the C library knows; after `freopen` it may be a file.
unsafe extern "C" fn seek(cookie: *mut c_void, offset: *mut off64_t, whence: c_int) -> c_int {
    // SAFETY: as the C library calls it.
    unsafe {
        let moved = libc::lseek64(descriptor(cookie), *offset, whence);
        if moved < 0 {
            return -1;
        }
        *offset = moved;
    }
    0
}

unsafe extern "C" fn close_it(cookie: *mut c_void) -> c_int {
    // SAFETY: the stream has the descriptor.
    unsafe { close(descriptor(cookie)) }
}

/// Whether a stream is one of these.
pub(crate) fn is_ours(stream: *mut FILE) -> bool {
    streams::is_ours(stream.addr())
}

/// It is about to be closed.
pub(crate) fn forget(stream: *mut FILE) {
    streams::forget(stream.addr());
}

/// As `freopen`, whose own work ends a program if the stream is made of functions: they go on, with the descriptor of another file.
///
/// # Safety
/// As for `freopen`; the stream is one of these, has the descriptor, and nothing to write.
pub(crate) unsafe fn reopen(
    stream: *mut FILE,
    fd: c_int,
    path: *const c_char,
    mode: *const c_char,
) -> *mut FILE {
    if path.is_null() {
        set_last_error(Errno::BADF);
        return std::ptr::null_mut();
    }
    // SAFETY: so says the caller.
    unsafe {
        let mode = CStr::from_ptr(mode).to_bytes();
        let both = mode.contains(&b'+');
        let (one, more) = match mode.first() {
            Some(b'r') => (libc::O_RDONLY, 0),
            Some(b'w') => (libc::O_WRONLY, libc::O_CREAT | libc::O_TRUNC),
            Some(b'a') => (libc::O_WRONLY, libc::O_CREAT | libc::O_APPEND),
            _ => {
                set_last_error(Errno::INVAL);
                return std::ptr::null_mut();
            }
        };
        let file = libc::open(path, if both { libc::O_RDWR } else { one } | more, 0o666);
        if file < 0 || libc::dup2(file, fd) < 0 {
            return std::ptr::null_mut();
        }
        if file != fd {
            libc::close(file);
        }
        __fpurge(stream);
        libc::clearerr(stream);
    }
    stream
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
    streams::add(stream.addr());
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
