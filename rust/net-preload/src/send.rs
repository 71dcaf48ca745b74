//! `write`, `send` and all that is like them.

use std::ffi::{c_int, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use afterbay_net_core::iov::Buffers;
use afterbay_net_core::slot::{Ref, get, is_ours};
use afterbay_net_core::{Why, config, files, io};
use libc::{iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use crate::real::{guard, real, size};

const BUFFERS_MAX: c_int = 1024;

fn send_all(at: &Ref, fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
    // SAFETY: the program's buffers, which it hands over for this call.
    size(guard(|| io::send(at, fd, unsafe { Buffers::new(buffers) }, flags)))
}

fn send_one(at: &Ref, fd: c_int, bytes: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    send_all(at, fd, &[iovec { iov_base: bytes.cast_mut(), iov_len: length }], flags)
}

/// What only TCP does. Whether it is that: what is written goes by TCP from now on.
fn is_for_tcp(fd: c_int, flags: c_int) -> bool {
    let reason = match flags {
        _ if flags & libc::MSG_OOB != 0 => Why::Urgent,
        _ if flags & (libc::MSG_ZEROCOPY | libc::MSG_FASTOPEN) != 0 => Why::OtherCalls,
        _ => return false,
    };
    if is_ours(fd) {
        files::leave_out(fd, reason);
    }
    true
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
    if let Some(at) = get(fd) {
        return send_one(&at, fd, bytes, length, 0);
    }
    let real = real!(c"write" as unsafe extern "C" fn(c_int, *const c_void, size_t) -> ssize_t, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, buffers: *const iovec, count: c_int) -> ssize_t {
    if (1..=BUFFERS_MAX).contains(&count)
        && let Some(at) = get(fd)
    {
        // SAFETY: as the program calls it.
        return send_all(&at, fd, unsafe { from_raw_parts(buffers, count as usize) }, 0);
    }
    type Real = unsafe extern "C" fn(c_int, *const iovec, c_int) -> ssize_t;
    let real = real!(c"writev" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, buffers, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwritev2(
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
        return send_all(&at, fd, unsafe { from_raw_parts(buffers, count as usize) }, flags);
    }
    type Real = unsafe extern "C" fn(c_int, *const iovec, c_int, libc::off_t, c_int) -> ssize_t;
    let real = real!(c"pwritev2" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, buffers, count, offset, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send(
    fd: c_int,
    bytes: *const c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    if !is_for_tcp(fd, flags)
        && let Some(at) = get(fd)
    {
        return send_one(&at, fd, bytes, length, flags);
    }
    type Real = unsafe extern "C" fn(c_int, *const c_void, size_t, c_int) -> ssize_t;
    let real = real!(c"send" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendto(
    fd: c_int,
    bytes: *const c_void,
    length: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> ssize_t {
    if !is_for_tcp(fd, flags)
        && let Some(at) = get(fd)
    {
        return send_one(&at, fd, bytes, length, flags);
    }
    type Real = unsafe extern "C" fn(
        c_int,
        *const c_void,
        size_t,
        c_int,
        *const sockaddr,
        socklen_t,
    ) -> ssize_t;
    let real = real!(c"sendto" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, bytes, length, flags, address, address_length) }
}

/// As [`is_for_tcp`], of a message: what it says beside its bytes is for the kernel.
fn is_message_for_tcp(fd: c_int, message: &msghdr, flags: c_int) -> bool {
    if message.msg_controllen == 0 {
        return is_for_tcp(fd, flags);
    }
    if is_ours(fd) {
        files::leave_out(fd, Why::OtherCalls);
    }
    true
}

fn send_message(at: &Ref, fd: c_int, message: &msghdr, flags: c_int) -> ssize_t {
    let count = message.msg_iovlen;
    let buffers = if count == 0 {
        &[]
    } else {
        // SAFETY: the program's buffers, which it hands over for this call.
        unsafe { from_raw_parts(message.msg_iov, count) }
    };
    send_all(at, fd, buffers, flags)
}

/// Descriptors that are sent away go back to TCP: who gets them has no rings.
fn let_go_of(message: &msghdr) {
    if config().is_none() || message.msg_controllen == 0 || message.msg_control.is_null() {
        return;
    }
    let end = files::deadline();
    // SAFETY: the program's message, whose parts the macros of the C library find.
    unsafe {
        let mut part = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = part.as_ref() {
            if header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_RIGHTS {
                let data = libc::CMSG_DATA(part).cast::<c_int>();
                let bytes = header.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
                for at in 0..bytes / size_of::<c_int>() {
                    files::hand_on_until(data.add(at).read_unaligned(), Why::Passed, end);
                }
            }
            part = libc::CMSG_NXTHDR(message, part);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: as the program calls it.
    if let Some(message) = unsafe { message.as_ref() } {
        match get(fd) {
            Some(at) if !is_message_for_tcp(fd, message, flags) => {
                return send_message(&at, fd, message, flags);
            }
            Some(_) => {}
            None => let_go_of(message),
        }
    }
    type Real = unsafe extern "C" fn(c_int, *const msghdr, c_int) -> ssize_t;
    let real = real!(c"sendmsg" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, message, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: libc::c_uint,
    flags: c_int,
) -> c_int {
    if count > 0 && !messages.is_null() {
        // SAFETY: as the program calls it.
        let messages = unsafe { from_raw_parts_mut(messages, count as usize) };
        match get(fd) {
            Some(at) if !messages.iter().any(|m| is_message_for_tcp(fd, &m.msg_hdr, flags)) => {
                return send_messages(&at, fd, messages, flags);
            }
            Some(_) => {}
            None => messages.iter().for_each(|message| let_go_of(&message.msg_hdr)),
        }
    }
    type Real = unsafe extern "C" fn(c_int, *mut mmsghdr, libc::c_uint, c_int) -> c_int;
    let real = real!(c"sendmmsg" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, messages, count, flags) }
}

fn send_messages(at: &Ref, fd: c_int, messages: &mut [mmsghdr], flags: c_int) -> c_int {
    let mut sent = 0;
    for message in messages {
        let length = send_message(at, fd, &message.msg_hdr, flags);
        if length < 0 {
            return if sent == 0 { -1 } else { sent };
        }
        message.msg_len = length as libc::c_uint;
        sent += 1;
    }
    sent
}
