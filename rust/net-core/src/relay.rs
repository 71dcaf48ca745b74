//! A process that goes on with a connection for a program that cannot: one without the library, which inherits the descriptor or
//! gets it from another process, while bytes are in memory that TCP will not bring.
//!
//! ```text
//!   other end ==== rings and TCP ==== relay ---- TCP on the loopback interface ---- program
//! ```
//!
//! The relay is a child of nobody here, has nothing of the program but this connection, and ends with it. What each side says of
//! the stream's end or of a reset, the other one hears.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::Ordering::SeqCst;

use libc::iovec;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, accept_with, bind,
    connect, getpeername, getsockname, listen, recv, send, shutdown, socket_with, socketpair,
    sockopt,
};

use crate::iov::Buffers;
use crate::slot::{self, Ref};
use crate::sys;
use crate::{epoll, files, io, memory, service};

/// Bytes that are passed on at once.
const CHUNK: usize = 64 << 10;

/// A relay goes on with the connection; all descriptors that this process has of it lead to the relay from now on.
pub(crate) fn take_over(at: &Ref, fd: i32) {
    let Some(near) = start(at, fd) else { return };
    let mut last = None;
    for own in (0..slot::limit()).filter(|&own| at.is_at(own)) {
        let registered = epoll::take_out(at, own);
        service::forget(at, own);
        last = last.or(slot::detach(own));
        replace(&near, own, own);
        for (epoll, event) in registered {
            let _ = epoll::control(epoll, libc::EPOLL_CTL_ADD, own, Some(event));
        }
    }
    if last.is_some() {
        memory::give_back_of(at.conn());
    }
}

/// As [`take_over`], for `to`, which is a copy of the descriptor: between `vfork` and `exec`, where nothing may be noted.
pub(crate) fn stand_in(at: &Ref, fd: i32, to: i32) {
    if let Some(near) = start(at, fd) {
        replace(&near, to, to);
    }
}

/// `to` becomes `near`, with the flags of `like`.
fn replace(near: &OwnedFd, like: i32, to: i32) {
    let flags = sys::fcntl(like, libc::F_GETFL, 0).unwrap_or(0);
    let closes = sys::fcntl(like, libc::F_GETFD, 0).unwrap_or(0) & libc::FD_CLOEXEC as usize != 0;
    for timeout in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
        let name = match timeout {
            sockopt::Timeout::Recv => libc::SO_RCVTIMEO,
            sockopt::Timeout::Send => libc::SO_SNDTIMEO,
        };
        let nanoseconds = sys::socket_timeout(like, name);
        let time = (nanoseconds > 0).then(|| std::time::Duration::from_nanos(nanoseconds));
        let _ = sockopt::set_socket_timeout(near, timeout, time);
    }
    let _ = sys::duplicate_over(near.as_raw_fd(), to, closes);
    let _ = sys::fcntl(to, libc::F_SETFL, flags);
}

/// Starts a relay. The program's end of the connection to it.
fn start(at: &Ref, fd: i32) -> Option<OwnedFd> {
    let (near, far) = pair(fd)?;
    let relays = || {
        // The child of a child that ends: nobody has to wait for it.
        if sys::fork() != Some(0) {
            sys::exit();
        }
        serve(at, fd, &far)
    };
    match sys::fork()? {
        0 => relays(),
        child => sys::wait_for(child),
    }
    Some(near)
}

/// Two ends of a connection within this host. By TCP, so that options of the socket are what they were; where the loopback interface
/// is down, by a Unix socket.
fn pair(fd: i32) -> Option<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    by_tcp(loopback_of(fd))
        .or_else(|_| socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None))
        .ok()
}

/// The loopback interface's address, of the kind that a socket has.
#[allow(unsafe_code, reason = "a number becomes a borrowed descriptor")]
fn loopback_of(fd: i32) -> IpAddr {
    // SAFETY: the program has it open during its call.
    let socket = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
    let local = getsockname(socket).ok().and_then(|local| SocketAddr::try_from(local).ok());
    match local.map(|local| local.ip()) {
        Some(IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_some() => {
            Ipv4Addr::LOCALHOST.to_ipv6_mapped().into()
        }
        Some(IpAddr::V6(_)) => Ipv6Addr::LOCALHOST.into(),
        _ => Ipv4Addr::LOCALHOST.into(),
    }
}

fn by_tcp(ip: IpAddr) -> Result<(OwnedFd, OwnedFd), Errno> {
    let family = if ip.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = || socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let (listener, near) = (socket()?, socket()?);
    bind(&listener, &SocketAddr::new(ip, 0))?;
    listen(&listener, 1)?;
    connect(&near, &getsockname(&listener)?)?;
    let own = SocketAddr::try_from(getsockname(&near)?).map_err(|_| Errno::INVAL)?;
    loop {
        let far = accept_with(&listener, SocketFlags::CLOEXEC)?;
        // Anybody may connect to a port.
        let peer = getpeername(&far).ok().flatten().map(SocketAddr::try_from);
        if peer == Some(Ok(own)) {
            return Ok((near, far));
        }
    }
}

/// What the process does that is a relay, until the connection ends.
fn serve(at: &Ref, fd: i32, far: &OwnedFd) -> ! {
    begin(at, fd, far);
    let conn = at.conn();
    conn.nonblocking.store(false, SeqCst);
    conn.receive_timeout.store(0, SeqCst);
    conn.send_timeout.store(0, SeqCst);
    std::thread::scope(|scope| {
        scope.spawn(|| to_peer(at, fd, far));
        to_program(at, fd, far);
    });
    sys::exit()
}

/// Gives back all that is the program's: its descriptors, its terminal, its signal handlers.
fn begin(at: &Ref, fd: i32, far: &OwnedFd) {
    for other in (0..slot::limit()).filter(|&other| other != fd) {
        drop(slot::detach(other));
    }
    let mut keep: Vec<i32> = at.bells().iter().map(|bell| bell.as_raw_fd()).collect();
    keep.extend([fd, far.as_raw_fd()]);
    sys::close_all_but(&mut keep);
    // Nothing of ours takes the numbers that are input and output everywhere.
    for _ in 0..3 {
        match open("/dev/null", OFlags::RDWR, Mode::empty()) {
            Ok(nothing) if nothing.as_raw_fd() <= libc::STDERR_FILENO => {
                let _ = nothing.into_raw_fd();
            }
            _ => {}
        }
    }
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
    sys::begin_anew(c"afterbay-net");
}

/// From the connection.
fn to_program(at: &Ref, fd: i32, far: &OwnedFd) {
    let mut bytes = vec![0; CHUNK];
    loop {
        match receive(at, fd, &mut bytes) {
            Ok(0) => {
                let _ = shutdown(far, Shutdown::Write);
                return;
            }
            Ok(length) => {
                if send_all(far, &bytes[..length]).is_err() {
                    // It reads no more: as by TCP, the other end is told at once.
                    return reset(fd);
                }
            }
            Err(_) => return reset(far.as_raw_fd()),
        }
    }
}

/// From the program. If the other end takes nothing more, what it has sent is still on its way to the program, and its end says so.
fn to_peer(at: &Ref, fd: i32, far: &OwnedFd) {
    let mut bytes = vec![0; CHUNK];
    loop {
        match recv(far.as_fd(), &mut bytes[..], RecvFlags::empty()) {
            Ok((0, _)) => {
                let _ = files::shutdown(at, fd, libc::SHUT_WR);
                return;
            }
            Ok((length, _)) => {
                if send_to_peer(at, fd, &mut bytes[..length]).is_err() {
                    return;
                }
            }
            Err(Errno::INTR) => {}
            Err(_) => return reset(fd),
        }
    }
}

#[allow(unsafe_code, reason = "buffers of a call")]
fn receive(at: &Ref, fd: i32, bytes: &mut [u8]) -> sys::Result<usize> {
    let buffer = [iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }];
    // SAFETY: the bytes are this function's until it returns.
    io::receive(at, fd, unsafe { Buffers::new(&buffer) }, 0)
}

#[allow(unsafe_code, reason = "buffers of a call")]
fn send_to_peer(at: &Ref, fd: i32, bytes: &mut [u8]) -> sys::Result<usize> {
    let buffer = [iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }];
    // SAFETY: the bytes are this function's until it returns. It blocks until all of them are sent.
    io::send(at, fd, unsafe { Buffers::new(&buffer) }, libc::MSG_NOSIGNAL)
}

fn send_all(far: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match send(far, bytes, SendFlags::NOSIGNAL) {
            Ok(length) => bytes = &bytes[length..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Resets a connection, and ends this process.
fn reset(fd: i32) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_LINGER, linger);
    sys::exit();
}
