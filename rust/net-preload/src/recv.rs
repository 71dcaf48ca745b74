//! `read`, `recv` and all that is like them.

use std::ffi::{c_int, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use afterbay_net_core::iov::Buffers;
use afterbay_net_core::slot::{Ref, get, is_ours};
use afterbay_net_core::{Errno, io};
use libc::{iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};

use crate::real::{guard, real, size};

/// What TCP has beside the stream.
const BESIDE: c_int = libc::MSG_OOB | libc::MSG_ERRQUEUE;
const BUFFERS_MAX: c_int = 1024;

fn receive(at: &Ref, fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
    // SAFETY: the program's buffers, which it hands over for this call.
    size(guard(|| io::receive(at, fd, unsafe { Buffers::new(buffers) }, flags)))
}

fn receive_one(at: &Ref, fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    receive(at, fd, &[iovec { iov_base: bytes, iov_len: length }], flags)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn read(fd: c_int, bytes: *mut c_void, length: size_t) -> ssize_t {
    if let Some(at) = get(fd) {
        return receive_one(&at, fd, bytes, length, 0);
    }
    let real = real!(c"read" as unsafe extern "C" fn(c_int, *mut c_void, size_t) -> ssize_t, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __read_chk(
    fd: c_int,
    bytes: *mut c_void,
    length: size_t,
    room: size_t,
) -> ssize_t {
    if length <= room
        && let Some(at) = get(fd)
    {
        return receive_one(&at, fd, bytes, length, 0);
    }
    type Real = unsafe extern "C" fn(c_int, *mut c_void, size_t, size_t) -> ssize_t;
    let real = real!(c"__read_chk" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length, room) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readv(fd: c_int, buffers: *const iovec, count: c_int) -> ssize_t {
    if (1..=BUFFERS_MAX).contains(&count)
        && let Some(at) = get(fd)
    {
        // SAFETY: as the program calls it.
        return receive(&at, fd, unsafe { from_raw_parts(buffers, count as usize) }, 0);
    }
    type Real = unsafe extern "C" fn(c_int, *const iovec, c_int) -> ssize_t;
    let real = real!(c"readv" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, buffers, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    if flags & BESIDE == 0
        && let Some(at) = get(fd)
    {
        return receive_one(&at, fd, bytes, length, flags);
    }
    type Real = unsafe extern "C" fn(c_int, *mut c_void, size_t, c_int) -> ssize_t;
    let real = real!(c"recv" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __recv_chk(
    fd: c_int,
    bytes: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    if length <= room && flags & BESIDE == 0 && is_ours(fd) {
        // SAFETY: as the program calls it.
        return unsafe { recv(fd, bytes, length, flags) };
    }
    type Real = unsafe extern "C" fn(c_int, *mut c_void, size_t, size_t, c_int) -> ssize_t;
    let real = real!(c"__recv_chk" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length, room, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    bytes: *mut c_void,
    length: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    if flags & BESIDE == 0
        && let Some(at) = get(fd)
    {
        let received = receive_one(&at, fd, bytes, length, flags);
        if received >= 0 && !address.is_null() && !address_length.is_null() {
            // A stream says no address with its bytes.
            // SAFETY: as the program calls it.
            unsafe { *address_length = 0 };
        }
        return received;
    }
    type Real = unsafe extern "C" fn(
        c_int,
        *mut c_void,
        size_t,
        c_int,
        *mut sockaddr,
        *mut socklen_t,
    ) -> ssize_t;
    let real = real!(c"recvfrom" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length, flags, address, address_length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __recvfrom_chk(
    fd: c_int,
    bytes: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    if length <= room && flags & BESIDE == 0 && is_ours(fd) {
        // SAFETY: as the program calls it.
        return unsafe { recvfrom(fd, bytes, length, flags, address, address_length) };
    }
    type Real = unsafe extern "C" fn(
        c_int,
        *mut c_void,
        size_t,
        size_t,
        c_int,
        *mut sockaddr,
        *mut socklen_t,
    ) -> ssize_t;
    let real = real!(c"__recvfrom_chk" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length, room, flags, address, address_length) }
}

fn receive_message(at: &Ref, fd: c_int, message: &mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the program's message, which it hands over for this call.
    match guard(|| unsafe { io::receive_message(at, fd, message, flags) }) {
        // There are rings.
        Ok(None) => {}
        received => return size(received.map(Option::unwrap_or_default)),
    }
    let count = message.msg_iovlen;
    let buffers = if count == 0 {
        &[]
    } else {
        // SAFETY: the program's buffers, which it hands over for this call.
        unsafe { from_raw_parts(message.msg_iov, count) }
    };
    let received = receive(at, fd, buffers, flags);
    if received >= 0 {
        // A stream says no address with its bytes, and nothing beside them.
        message.msg_namelen = 0;
        message.msg_controllen = 0;
        message.msg_flags = 0;
    }
    received
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    if flags & BESIDE == 0
        && !message.is_null()
        && let Some(at) = get(fd)
    {
        // SAFETY: as the program calls it.
        return receive_message(&at, fd, unsafe { &mut *message }, flags);
    }
    type Real = unsafe extern "C" fn(c_int, *mut msghdr, c_int) -> ssize_t;
    let real = real!(c"recvmsg" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, message, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: libc::c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    if flags & BESIDE == 0
        && count > 0
        && let Some(at) = get(fd)
    {
        // SAFETY: as the program calls it.
        let messages = unsafe { from_raw_parts_mut(messages, count as usize) };
        return receive_messages(&at, fd, messages, flags);
    }
    type Real =
        unsafe extern "C" fn(c_int, *mut mmsghdr, libc::c_uint, c_int, *mut timespec) -> c_int;
    let real = real!(c"recvmmsg" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, messages, count, flags, timeout) }
}

/// As the kernel does: each waits, or only the first one; and the end of the stream is a message of no bytes.
fn receive_messages(at: &Ref, fd: c_int, messages: &mut [mmsghdr], flags: c_int) -> c_int {
    let waits_for_one = flags & libc::MSG_WAITFORONE != 0;
    let mut flags = flags & !libc::MSG_WAITFORONE;
    let mut received = 0;
    for message in messages {
        let length = receive_message(at, fd, &mut message.msg_hdr, flags);
        if length < 0 {
            return if received == 0 { -1 } else { received };
        }
        message.msg_len = length as libc::c_uint;
        received += 1;
        if waits_for_one {
            flags |= libc::MSG_DONTWAIT;
        }
    }
    received
}

#[unsafe(no_mangle)]
unsafe extern "C" fn preadv2(
    fd: c_int,
    buffers: *const iovec,
    count: c_int,
    offset: libc::off_t,
    flags: c_int,
) -> ssize_t {
    if offset == -1
        && (1..=BUFFERS_MAX).contains(&count)
        && let Some(at) = get(fd)
    {
        let flags = if flags & libc::RWF_NOWAIT != 0 { libc::MSG_DONTWAIT } else { 0 };
        // SAFETY: as the program calls it.
        return receive(&at, fd, unsafe { from_raw_parts(buffers, count as usize) }, flags);
    }
    type Real = unsafe extern "C" fn(c_int, *const iovec, c_int, libc::off_t, c_int) -> ssize_t;
    let real = real!(c"preadv2" as Real, size(Err(Errno::NOSYS)));
    // SAFETY: as the program calls it.
    unsafe { real(fd, buffers, count, offset, flags) }
}
