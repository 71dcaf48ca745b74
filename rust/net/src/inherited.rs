//! Descriptors that this process was started with: a program that goes on by itself must not hold its starter's pipes open.
#![allow(unsafe_code, reason = "close_range, which the crates at hand have as unsafe only")]

/// Lets no descriptor but the standard ones pass on to what this process starts. Linux 5.11; before, they pass on.
pub(crate) fn keep_to_ourselves() {
    let flags = libc::CLOSE_RANGE_CLOEXEC.cast_signed();
    // SAFETY: the call reads no memory. It closes nothing, and sets a flag that each descriptor of Rust's library has anyway.
    unsafe { libc::close_range(3, libc::c_uint::MAX, flags) };
}
