//! A process that goes on with a connection for a program that cannot: one without the library, which inherits the descriptor or
//! gets it from another process, while bytes are in memory that TCP will not bring.
//!
//! ```text
//!   other end ==== rings and TCP ==== relay ---- TCP on the loopback interface ---- program
//! ```
//!
//! The relay is a child of nobody here, has nothing of the program but this connection, and ends with it. What each side says of
//! the stream's end or of a reset, the other one hears. Where there can be no relay, the connection is reset: who reads there finds
//! an error, and not the end of a stream that has no end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use libc::pollfd;
use rustix::io::{Errno, read};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, accept_with, bind, connect, getpeername, getsockname,
    listen, socket_with, socketpair, sockopt,
};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::relaying::serve;
use crate::slot::{self, Ref};
use crate::{epoll, service, status, sys};

/// After so long without a word, the relay asks the kernel whether the program has its end still; and how often, and how many times.
const QUIET: Duration = Duration::from_secs(4);
const ASKS_EVERY: Duration = Duration::from_secs(1);
const ASKS: u32 = 3;
/// Seconds until the kernel forgets the program's end once nobody has it.
const FORGETS_S: i32 = 4;

/// A relay goes on with the connection; all descriptors that this process has of it lead to the relay from now on.
pub(crate) fn take_over(at: &Ref, fd: i32) {
    let Some(near) = start(at, fd) else { return lose(at, fd) };
    // The connection is in use until the last one is replaced.
    let mut last = None;
    for own in (0..slot::limit()).filter(|&own| at.is_at(own)) {
        let registered = epoll::take_out(at, own);
        last = last.or(slot::detach(own));
        service::forget(at, own);
        replace(&near, own, own);
        for (epoll, event) in registered {
            let _ = epoll::control(epoll, libc::EPOLL_CTL_ADD, own, Some(event));
        }
    }
    drop(last);
}

/// As [`take_over`], for `to`, which is a copy of the descriptor: between `vfork` and `exec`, where nothing may be noted.
pub(crate) fn stand_in(at: &Ref, fd: i32, to: i32) {
    match start(at, fd) {
        Some(near) => replace(&near, to, to),
        None => lose(at, fd),
    }
}

/// What is in memory reaches nobody: both ends find a reset.
fn lose(at: &Ref, fd: i32) {
    at.conn().note_lost();
    status::note_lost(at, fd);
    let _ = sys::disconnect(fd);
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
    let (begun, begins) = pipe_with(PipeFlags::CLOEXEC).ok()?;
    let relays = || {
        // The child of a child that ends: nobody has to wait for it.
        if sys::fork() != Some(0) {
            sys::exit();
        }
        serve(at, fd, &far, &begins)
    };
    match sys::fork()? {
        0 => relays(),
        child => sys::wait_for(child),
    }
    drop(begins);
    // Whoever was forked by another thread meanwhile has the other end of the pipe too.
    let mut waited = [pollfd { fd: begun.as_raw_fd(), events: libc::POLLIN, revents: 0 }];
    let patience = Some(crate::patience().as_nanos() as u64);
    let has_begun =
        sys::poll(&mut waited, patience, None) == Ok(1) && read(&begun, &mut [0]) == Ok(1);
    has_begun.then_some(near)
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
            // An end that nobody has any more may say nothing.
            sockopt::set_socket_keepalive(&far, true)?;
            sockopt::set_tcp_keepidle(&far, QUIET)?;
            sockopt::set_tcp_keepintvl(&far, ASKS_EVERY)?;
            sockopt::set_tcp_keepcnt(&far, ASKS)?;
            // Closed by its program, it takes nothing more; the kernel answers for it as long as this.
            let _ =
                sys::set_option(near.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_LINGER2, FORGETS_S);
            return Ok((near, far));
        }
    }
}
