//! The C library's functions, as programs call them: what is compared is what they say. `unsafe` here, and nowhere else in these
//! tests.
#![allow(unsafe_code, reason = "system calls, as programs make them")]

use std::ffi::{c_int, c_void};
use std::mem::{size_of, zeroed};
use std::ptr::{null, null_mut};

use libc::{
    epoll_event, fd_set, iovec, mmsghdr, msghdr, pollfd, size_t, sockaddr_storage, socklen_t,
    ssize_t,
};

use crate::script::{
    DupForm, EpollChange, Family, Outcome, PollForm, Question, ReceiveForm, SendForm, Setting, hash,
};

unsafe extern "C" {
    fn __read_chk(fd: c_int, buffer: *mut c_void, bytes: size_t, size: size_t) -> ssize_t;
    fn __recv_chk(
        fd: c_int,
        buffer: *mut c_void,
        bytes: size_t,
        size: size_t,
        flags: c_int,
    ) -> ssize_t;
    fn __recvfrom_chk(
        fd: c_int,
        buffer: *mut c_void,
        bytes: size_t,
        size: size_t,
        flags: c_int,
        address: *mut libc::sockaddr,
        length: *mut socklen_t,
    ) -> ssize_t;
}

/// The error of the last call.
fn errno() -> i32 {
    // SAFETY: the location is this thread's, and always there.
    unsafe { *libc::__errno_location() }
}

fn outcome(result: i64) -> Outcome {
    let errno = if result < 0 { errno() } else { 0 };
    Outcome { result, errno, hash: 0, more: Vec::new() }
}

fn with_bytes(result: i64, buffer: &[u8]) -> Outcome {
    let read = buffer.get(..usize::try_from(result).unwrap_or(0)).unwrap();
    Outcome { hash: hash(read), ..outcome(result) }
}

fn iovecs(buffer: &mut [u8]) -> [iovec; 2] {
    let (one, other) = buffer.split_at_mut(buffer.len() / 3);
    [one, other].map(|part| iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() })
}

/// A header over buffers, which have to live as long.
fn header(parts: &mut [iovec]) -> msghdr {
    // SAFETY: all zeroes is an empty header.
    let mut header: msghdr = unsafe { zeroed() };
    header.msg_iov = parts.as_mut_ptr();
    header.msg_iovlen = parts.len() as _;
    header
}

pub(crate) fn send(fd: c_int, form: SendForm, buffer: &mut [u8], flags: c_int) -> Outcome {
    let (start, length) = (buffer.as_mut_ptr().cast::<c_void>(), buffer.len());
    let mut parts = iovecs(buffer);
    // SAFETY: the buffer lives until the call returns, and lengths are its own or those of its parts.
    let result = unsafe {
        match form {
            SendForm::Write => libc::write(fd, start, length),
            SendForm::Writev => libc::writev(fd, parts.as_ptr(), 2),
            SendForm::Send => libc::send(fd, start, length, flags),
            SendForm::SendTo => libc::sendto(fd, start, length, flags, null(), 0),
            SendForm::SendMsg => libc::sendmsg(fd, &header(&mut parts), flags),
            SendForm::SendMmsg => {
                let (one, other) = parts.split_at_mut(1);
                let mut messages =
                    [one, other].map(|part| mmsghdr { msg_hdr: header(part), msg_len: 0 });
                let sent = libc::sendmmsg(fd, messages.as_mut_ptr(), 2, flags as _);
                if sent < 0 { -1 } else { sum(&messages, sent) }
            }
            SendForm::Stdio => by_stdio(fd, start, length),
            SendForm::SendFile => from_file(fd, start, length),
            SendForm::Splice => from_pipe(fd, start, length),
        }
    };
    outcome(result as i64)
}

fn sum(messages: &[mmsghdr], count: c_int) -> ssize_t {
    let count = usize::try_from(count).unwrap();
    messages[..count].iter().map(|message| message.msg_len as ssize_t).sum()
}

// SAFETY of the next ones: who calls them has a buffer of that length.

unsafe fn by_stdio(fd: c_int, start: *const c_void, length: usize) -> ssize_t {
    // SAFETY: the stream is closed before this returns, and has a descriptor of its own.
    unsafe {
        let stream = libc::fdopen(libc::dup(fd), c"w".as_ptr());
        if stream.is_null() {
            return -1;
        }
        let written = libc::fwrite(start, 1, length, stream);
        let ended = libc::fclose(stream);
        if ended == 0 { written as ssize_t } else { -1 }
    }
}

unsafe fn from_file(fd: c_int, start: *const c_void, length: usize) -> ssize_t {
    // SAFETY: as said above; the file is closed before this returns.
    unsafe {
        let file = libc::memfd_create(c"file".as_ptr(), libc::MFD_CLOEXEC);
        assert_eq!(libc::write(file, start, length), length as ssize_t);
        let mut offset = 0;
        let sent = libc::sendfile(fd, file, &mut offset, length);
        keeping_errno(|| {
            libc::close(file);
        });
        sent
    }
}

unsafe fn from_pipe(fd: c_int, start: *const c_void, length: usize) -> ssize_t {
    let mut ends = [0; 2];
    // SAFETY: as said above; the pipe is closed before this returns.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        assert_eq!(libc::write(ends[1], start, length), length as ssize_t);
        let sent = libc::splice(ends[0], null_mut(), fd, null_mut(), length, 0);
        keeping_errno(|| close_both(ends));
        sent
    }
}

fn close_both(ends: [c_int; 2]) {
    for end in ends {
        close(end);
    }
}

fn keeping_errno(work: impl FnOnce()) {
    let kept = errno();
    work();
    // SAFETY: the location is this thread's, and always there.
    unsafe { *libc::__errno_location() = kept };
}

pub(crate) fn receive(fd: c_int, form: ReceiveForm, bytes: usize, flags: c_int) -> Outcome {
    let mut buffer = vec![0xEE_u8; bytes];
    let start = buffer.as_mut_ptr().cast::<c_void>();
    let mut parts = iovecs(&mut buffer);
    let mut more = Vec::new();
    // SAFETY: the buffer lives until the call returns, and lengths are its own or those of its parts.
    let result = unsafe {
        match form {
            ReceiveForm::Read => libc::read(fd, start, bytes),
            ReceiveForm::ReadChk => __read_chk(fd, start, bytes, bytes),
            ReceiveForm::Readv => libc::readv(fd, parts.as_ptr(), 2),
            ReceiveForm::Recv => libc::recv(fd, start, bytes, flags),
            ReceiveForm::RecvChk => __recv_chk(fd, start, bytes, bytes, flags),
            ReceiveForm::RecvFrom | ReceiveForm::RecvFromChk => {
                let mut address: sockaddr_storage = zeroed();
                let mut length = size_of::<sockaddr_storage>() as socklen_t;
                let to = (&raw mut address).cast();
                let result = match form {
                    ReceiveForm::RecvFrom => {
                        libc::recvfrom(fd, start, bytes, flags, to, &mut length)
                    }
                    _ => __recvfrom_chk(fd, start, bytes, bytes, flags, to, &mut length),
                };
                if result >= 0 {
                    more.push(i64::from(length));
                }
                result
            }
            ReceiveForm::RecvMsg => {
                let mut header = header(&mut parts);
                let result = libc::recvmsg(fd, &mut header, flags);
                if result >= 0 {
                    more.extend([i64::from(header.msg_flags), i64::from(header.msg_namelen)]);
                }
                result
            }
            ReceiveForm::RecvMmsg => {
                let (one, other) = parts.split_at_mut(1);
                let mut messages =
                    [one, other].map(|part| mmsghdr { msg_hdr: header(part), msg_len: 0 });
                let received = libc::recvmmsg(fd, messages.as_mut_ptr(), 2, flags as _, null_mut());
                if received < 0 {
                    -1
                } else {
                    let said = messages[..received as usize].iter();
                    more.extend(
                        said.flat_map(|m| [m.msg_len.into(), i64::from(m.msg_hdr.msg_flags)]),
                    );
                    // The bytes of the second follow those of the first only if that is full.
                    let first = messages[0].msg_len as usize;
                    let (at, second) = (bytes / 3, sum(&messages, received) as usize - first);
                    buffer.copy_within(at..at + second, first);
                    (first + second) as ssize_t
                }
            }
            ReceiveForm::Stdio => to_stdio(fd, start, bytes),
            ReceiveForm::Splice => to_pipe(fd, start, bytes),
            ReceiveForm::Exec => return by_program(fd, bytes),
        }
    };
    // Bytes that are thrown away do not come.
    if flags & libc::MSG_TRUNC != 0 && takes_flags(form) {
        return Outcome { more, ..outcome(result as i64) };
    }
    Outcome { more, ..with_bytes(result as i64, &buffer) }
}

/// By `recv`, into a buffer.
pub(crate) fn receive_into(fd: c_int, buffer: &mut [u8]) -> Outcome {
    // SAFETY: the buffer lives until the call returns, and has that length.
    outcome(unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) } as i64)
}

pub(crate) fn takes_flags(form: ReceiveForm) -> bool {
    use ReceiveForm::{Recv, RecvChk, RecvFrom, RecvFromChk, RecvMmsg, RecvMsg};
    matches!(form, Recv | RecvChk | RecvFrom | RecvFromChk | RecvMsg | RecvMmsg)
}

unsafe fn to_stdio(fd: c_int, start: *mut c_void, bytes: usize) -> ssize_t {
    // SAFETY: the stream is closed before this returns, and has a descriptor of its own; who calls this has a buffer of that length.
    unsafe {
        let stream = libc::fdopen(libc::dup(fd), c"r".as_ptr());
        if stream.is_null() {
            return -1;
        }
        libc::setvbuf(stream, null_mut(), libc::_IONBF, 0);
        let read = libc::fread(start, 1, bytes, stream);
        let failed = libc::ferror(stream) != 0;
        keeping_errno(|| {
            libc::fclose(stream);
        });
        if read == 0 && failed { -1 } else { read as ssize_t }
    }
}

unsafe fn to_pipe(fd: c_int, start: *mut c_void, bytes: usize) -> ssize_t {
    let mut ends = [0; 2];
    // SAFETY: who calls this has a buffer of that length; the pipe is closed before this returns.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        let moved = libc::splice(fd, null_mut(), ends[1], null_mut(), bytes, 0);
        keeping_errno(|| {
            if moved > 0 {
                assert_eq!(libc::read(ends[0], start, bytes), moved);
            }
            close_both(ends);
        });
        moved
    }
}

/// By `dd`, which reads exactly so many bytes.
fn by_program(fd: c_int, bytes: usize) -> Outcome {
    use std::os::fd::{FromRawFd, OwnedFd};
    // SAFETY: the copy is nobody else's.
    let input = unsafe { OwnedFd::from_raw_fd(libc::dup(fd)) };
    let said = std::process::Command::new("dd")
        .args([&format!("bs={bytes}"), "count=1", "iflag=fullblock", "status=none"])
        .stdin(input)
        .output()
        .unwrap();
    let mut outcome = with_bytes(said.stdout.len() as i64, &said.stdout);
    outcome.more.push(i64::from(said.status.code().unwrap_or(-1)));
    outcome
}

pub(crate) fn shutdown(fd: c_int, how: c_int) -> Outcome {
    // SAFETY: the call has no memory of ours.
    outcome(unsafe { libc::shutdown(fd, how) }.into())
}

pub(crate) fn close(fd: c_int) -> Outcome {
    // SAFETY: the player alone has this descriptor, and forgets it.
    outcome(unsafe { libc::close(fd) }.into())
}

/// A copy of a descriptor; `over` is one that it replaces.
pub(crate) fn dup(fd: c_int, form: DupForm, over: Option<c_int>) -> i32 {
    // SAFETY: the player alone has these descriptors.
    unsafe {
        match (form, over) {
            (DupForm::Dup2, Some(over)) => libc::dup2(fd, over),
            (DupForm::Dup3, Some(over)) => libc::dup3(fd, over, libc::O_CLOEXEC),
            (DupForm::Fcntl, _) => libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3),
            (DupForm::Passed, _) => passed(fd),
            _ => libc::dup(fd),
        }
    }
}

/// Through a Unix socket, as servers hand connections to their workers.
fn passed(fd: c_int) -> c_int {
    let mut ends = [0; 2];
    let mut byte = [b'!'];
    let mut part = [iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 }];
    let mut control = [0_u64; 8];
    // SAFETY: all buffers live until the calls return; the control buffer is aligned and has room for one descriptor.
    unsafe {
        assert_eq!(
            libc::socketpair(
                libc::AF_UNIX,
                libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
                0,
                ends.as_mut_ptr()
            ),
            0
        );
        let mut message = header(&mut part);
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as _;
        let first = libc::CMSG_FIRSTHDR(&message);
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as _;
        libc::CMSG_DATA(first).cast::<c_int>().write_unaligned(fd);
        assert_eq!(libc::sendmsg(ends[0], &message, 0), 1);
        message.msg_controllen = size_of_val(&control) as _;
        assert_eq!(libc::recvmsg(ends[1], &mut message, libc::MSG_CMSG_CLOEXEC), 1);
        let first = libc::CMSG_FIRSTHDR(&message);
        assert!(!first.is_null());
        let passed = libc::CMSG_DATA(first).cast::<c_int>().read_unaligned();
        close_both(ends);
        passed
    }
}

pub(crate) fn set_nonblocking(fd: c_int, on: bool, by_ioctl: bool) -> Outcome {
    // SAFETY: the calls read one number at most, which lives until they return.
    outcome(i64::from(unsafe {
        if by_ioctl {
            let mut on = c_int::from(on);
            libc::ioctl(fd, libc::FIONBIO, &raw mut on)
        } else {
            let flags = libc::fcntl(fd, libc::F_GETFL);
            let flags = if on { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
            libc::fcntl(fd, libc::F_SETFL, flags)
        }
    }))
}

fn set_option<T>(fd: c_int, level: c_int, name: c_int, value: &T) -> c_int {
    // SAFETY: the value lives until the call returns, and has that length.
    unsafe {
        libc::setsockopt(fd, level, name, (&raw const *value).cast(), size_of::<T>() as socklen_t)
    }
}

pub(crate) fn set(fd: c_int, setting: Setting, value: c_int) -> Outcome {
    let milliseconds =
        libc::timeval { tv_sec: (value / 1000).into(), tv_usec: (value % 1000 * 1000).into() };
    let linger = libc::linger { l_onoff: c_int::from(value >= 0), l_linger: value.max(0) };
    outcome(i64::from(match setting {
        Setting::NoDelay => set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, &value),
        Setting::Cork => set_option(fd, libc::IPPROTO_TCP, libc::TCP_CORK, &value),
        Setting::KeepAlive => set_option(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, &value),
        Setting::ReceiveLowWater => set_option(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, &value),
        Setting::ReceiveTimeout => {
            set_option(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, &milliseconds)
        }
        Setting::SendTimeout => set_option(fd, libc::SOL_SOCKET, libc::SO_SNDTIMEO, &milliseconds),
        Setting::Linger => set_option(fd, libc::SOL_SOCKET, libc::SO_LINGER, &linger),
    }))
}

pub(crate) fn ask(fd: c_int, question: Question) -> Outcome {
    let (level, name) = match question {
        Question::Error => (libc::SOL_SOCKET, libc::SO_ERROR),
        Question::Type => (libc::SOL_SOCKET, libc::SO_TYPE),
        Question::Domain => (libc::SOL_SOCKET, libc::SO_DOMAIN),
        Question::Protocol => (libc::SOL_SOCKET, libc::SO_PROTOCOL),
        Question::IsListening => (libc::SOL_SOCKET, libc::SO_ACCEPTCONN),
        Question::ReceiveLowWater => (libc::SOL_SOCKET, libc::SO_RCVLOWAT),
        Question::ReceiveTimeout => (libc::SOL_SOCKET, libc::SO_RCVTIMEO),
        Question::KeepAlive => (libc::SOL_SOCKET, libc::SO_KEEPALIVE),
        Question::NoDelay => (libc::IPPROTO_TCP, libc::TCP_NODELAY),
    };
    let mut value = [0_i64; 2];
    let mut length = size_of_val(&value) as socklen_t;
    // SAFETY: the value lives until the call returns, and has that length.
    let result =
        unsafe { libc::getsockopt(fd, level, name, value.as_mut_ptr().cast(), &mut length) };
    Outcome { more: vec![value[0], value[1], length.into()], ..outcome(result.into()) }
}

pub(crate) fn available(fd: c_int) -> Outcome {
    let mut bytes: c_int = -1;
    // SAFETY: the number lives until the call returns.
    let result = unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut bytes) };
    Outcome { more: vec![bytes.into()], ..outcome(result.into()) }
}

/// A name of a socket, as bytes; or the error.
pub(crate) fn name(fd: c_int, peer: bool) -> Result<Vec<u8>, i32> {
    // SAFETY: all zeroes is an empty address.
    let mut address: sockaddr_storage = unsafe { zeroed() };
    let mut length = size_of::<sockaddr_storage>() as socklen_t;
    let ask = if peer { libc::getpeername } else { libc::getsockname };
    // SAFETY: the address lives until the call returns, and has that length.
    if unsafe { ask(fd, (&raw mut address).cast(), &mut length) } != 0 {
        return Err(errno());
    }
    // SAFETY: the kernel has written so many bytes.
    Ok(unsafe { std::slice::from_raw_parts((&raw const address).cast::<u8>(), length as usize) }
        .to_vec())
}

/// What is ready of descriptors: how many, and what of each.
pub(crate) fn poll(fds: &[c_int], form: PollForm, events: i16, timeout_ms: c_int) -> Outcome {
    let seconds = timeout_ms / 1000;
    let rest = timeout_ms % 1000;
    let time = libc::timespec { tv_sec: seconds.into(), tv_nsec: (rest * 1_000_000).into() };
    match form {
        PollForm::Poll | PollForm::Ppoll => {
            let mut waited: Vec<_> =
                fds.iter().map(|fd| pollfd { fd: *fd, events, revents: 0 }).collect();
            let count = waited.len() as libc::nfds_t;
            // SAFETY: the list and the time live until the call returns.
            let result = unsafe {
                match form {
                    PollForm::Poll => libc::poll(waited.as_mut_ptr(), count, timeout_ms),
                    _ => {
                        let time = if timeout_ms < 0 { null() } else { &raw const time };
                        libc::ppoll(waited.as_mut_ptr(), count, time, null())
                    }
                }
            };
            Outcome {
                more: waited.iter().map(|fd| fd.revents.into()).collect(),
                ..outcome(result.into())
            }
        }
        PollForm::Select | PollForm::Pselect => select(fds, form, events, timeout_ms, &time),
    }
}

fn select(
    fds: &[c_int],
    form: PollForm,
    events: i16,
    timeout_ms: c_int,
    time: &libc::timespec,
) -> Outcome {
    let highest = fds.iter().max().map_or(0, |fd| fd + 1);
    // SAFETY: all zeroes is an empty set; all descriptors are below its size; sets and times live until the calls return.
    unsafe {
        let mut sets: [fd_set; 3] = zeroed();
        for fd in fds {
            assert!(*fd < libc::FD_SETSIZE as c_int);
            if events & libc::POLLIN != 0 {
                libc::FD_SET(*fd, &mut sets[0]);
            }
            if events & libc::POLLOUT != 0 {
                libc::FD_SET(*fd, &mut sets[1]);
            }
            libc::FD_SET(*fd, &mut sets[2]);
        }
        let [read, write, except] = &mut sets;
        let result = match form {
            PollForm::Select => {
                let mut time = libc::timeval { tv_sec: time.tv_sec, tv_usec: time.tv_nsec / 1000 };
                let time = if timeout_ms < 0 { null_mut() } else { &raw mut time };
                libc::select(highest, read, write, except, time)
            }
            _ => {
                let time = if timeout_ms < 0 { null() } else { &raw const *time };
                libc::pselect(highest, read, write, except, time, null())
            }
        };
        let is = |fd: c_int, set: &fd_set| i64::from(libc::FD_ISSET(fd, set));
        let of = |fd: &c_int| is(*fd, read) | (is(*fd, write) << 1) | (is(*fd, except) << 2);
        Outcome {
            more: if result < 0 { Vec::new() } else { fds.iter().map(of).collect() },
            ..outcome(result.into())
        }
    }
}

pub(crate) fn epoll_create() -> c_int {
    // SAFETY: the call has no memory of ours.
    unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }
}

pub(crate) fn epoll_ctl(
    epoll: c_int,
    fd: c_int,
    slot: u8,
    change: EpollChange,
    events: u32,
) -> Outcome {
    let operation = match change {
        EpollChange::Add => libc::EPOLL_CTL_ADD,
        EpollChange::Modify => libc::EPOLL_CTL_MOD,
        EpollChange::Delete => libc::EPOLL_CTL_DEL,
    };
    let mut event = epoll_event { events, u64: slot.into() };
    // SAFETY: the event lives until the call returns.
    outcome(unsafe { libc::epoll_ctl(epoll, operation, fd, &mut event) }.into())
}

pub(crate) fn epoll_wait(epoll: c_int, timeout_ms: c_int) -> Outcome {
    let mut events = [epoll_event { events: 0, u64: u64::MAX }; 8];
    // SAFETY: the list lives until the call returns, and has that length.
    let result = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), 8, timeout_ms) };
    let mut said: Vec<_> =
        events[..usize::try_from(result).unwrap_or(0)].iter().map(|e| (e.u64, e.events)).collect();
    said.sort_unstable();
    let more = said.iter().flat_map(|(slot, events)| [*slot as i64, i64::from(*events)]).collect();
    Outcome { more, ..outcome(result.into()) }
}

/// What `work` says in a child of this process, which ends.
pub(crate) fn in_child(work: impl FnOnce() -> Outcome) -> Outcome {
    use std::io::{Read, Write};
    let (mut said, mut says) = std::io::pipe().unwrap();
    // SAFETY: the child runs `work`, writes, and ends without running anything of this process's end.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let text = serde_json::to_vec(&work()).unwrap_or_default();
        let _ = says.write_all(&text);
        // SAFETY: ends this process.
        unsafe { libc::_exit(0) };
    }
    drop(says);
    let mut text = Vec::new();
    said.read_to_end(&mut text).unwrap();
    let mut status = 0;
    // SAFETY: the number lives until the call returns.
    unsafe { libc::waitpid(child, &mut status, 0) };
    let mut outcome: Outcome = serde_json::from_slice(&text).unwrap_or_else(|_| Outcome {
        result: -2,
        errno: 0,
        hash: 0,
        more: Vec::new(),
    });
    outcome.more.push(status.into());
    outcome
}

/// A socket and its family's address of the loopback interface, as bytes.
pub(crate) fn socket(family: Family) -> c_int {
    let domain = if family == Family::V4 { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: the call has no memory of ours.
    let fd = unsafe { libc::socket(domain, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    assert!(fd >= 0, "socket: {}", errno());
    fd
}

/// Calls with the address of the loopback interface and a port.
fn with_address(
    family: Family,
    port: u16,
    call: impl FnOnce(*const libc::sockaddr, socklen_t) -> c_int,
) -> c_int {
    // SAFETY: all zeroes is an empty address.
    let mut v4: libc::sockaddr_in = unsafe { zeroed() };
    v4.sin_family = libc::AF_INET as _;
    v4.sin_port = port.to_be();
    v4.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
    // SAFETY: as above.
    let mut v6: libc::sockaddr_in6 = unsafe { zeroed() };
    v6.sin6_family = libc::AF_INET6 as _;
    v6.sin6_port = port.to_be();
    let ip = match family {
        Family::Mapped => std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped(),
        _ => std::net::Ipv6Addr::LOCALHOST,
    };
    v6.sin6_addr.s6_addr = ip.octets();
    match family {
        Family::V4 => call((&raw const v4).cast(), size_of_val(&v4) as socklen_t),
        _ => call((&raw const v6).cast(), size_of_val(&v6) as socklen_t),
    }
}

/// Whether the machine has such addresses.
pub(crate) fn bind(fd: c_int, family: Family) -> bool {
    // SAFETY: the address lives until the call returns.
    with_address(family, 0, |address, length| unsafe { libc::bind(fd, address, length) }) == 0
}

pub(crate) fn listen(fd: c_int) {
    // SAFETY: the call has no memory of ours.
    assert_eq!(unsafe { libc::listen(fd, 16) }, 0);
}

pub(crate) fn connect(fd: c_int, family: Family, port: u16) -> Outcome {
    // SAFETY: the address lives until the call returns.
    outcome(
        with_address(family, port, |address, length| unsafe { libc::connect(fd, address, length) })
            .into(),
    )
}

pub(crate) fn accept(listener: c_int, nonblocking: bool) -> c_int {
    // SAFETY: the calls get no memory of ours.
    unsafe {
        if nonblocking {
            libc::accept4(
                listener,
                null_mut(),
                null_mut(),
                libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
            )
        } else {
            libc::accept(listener, null_mut(), null_mut())
        }
    }
}
