//! Calls on descriptors as such: `close`, `dup`, `shutdown`, and what takes a descriptor out of the library's sight.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use afterbay_net_proto::Reason;
use afterbay_net_ring::Route;
use libc::pollfd;

use crate::slot::{self, Ref};
use crate::sys::{self, Result};
use crate::{agent, descriptors, epoll, open, service};

/// How long a connection that goes back is waited for.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Before a descriptor is closed or replaced. What is returned is to be dropped after that.
pub fn before_close(fd: i32) -> Option<Ref> {
    slot::forget_note(fd);
    let Some(at) = slot::get(fd) else {
        epoll::forget(fd);
        return None;
    };
    if at.descriptors() == 1 && has_backlog(&at, fd) {
        linger(&at, fd);
    }
    let Some(first) = slot::detach(fd) else {
        epoll::close(&at, fd);
        service::move_on(&at, fd);
        return None;
    };
    end(&first, fd);
    Some(first)
}

/// The last descriptor of this process is closed.
fn end(at: &Ref, fd: i32) {
    let conn = at.conn();
    let is_only = conn.processes.load(Acquire) == 1;
    let is_claimed = conn.out().is_ok_and(|out| out.is_attached());
    if conn.is_offered.load(Relaxed) && !is_claimed {
        // The agent has its descriptor until it hears of this.
        if is_only {
            let _ = sys::shutdown(fd, libc::SHUT_WR);
        }
        agent::withdraw(conn.id.load(Relaxed));
    }
    if is_only {
        end_as_tcp(at, fd);
    }
    epoll::close(at, fd);
    service::forget(at, fd);
    if conn.is_connector
        && let Some(config) = crate::config()
    {
        open::give_back(config);
    }
}

/// TCP resets a connection that is closed with bytes that nobody has read. So does this.
fn end_as_tcp(at: &Ref, fd: i32) {
    let conn = at.conn();
    // What comes later is sent by TCP, which says that nobody is there.
    let unread = conn.input().map_or(0, |mut input| {
        let unread = input.path.unread().unwrap_or(0);
        let _ = input.path.demote();
        unread
    });
    if unread > 0 {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_LINGER, linger);
    } else if let Ok(mut out) = conn.out() {
        out.path.end();
    }
}

fn has_backlog(at: &Ref, fd: i32) -> bool {
    let Ok(mut out) = at.conn().out() else { return false };
    match out.path.route() {
        Ok(Route::Backlog(_)) => at.conn().send_backlog(&mut out, fd) == Ok(false),
        _ => false,
    }
}

/// The rest has to be sent, as TCP does after a close: by a descriptor that is the library's.
fn linger(at: &Ref, fd: i32) {
    let Ok(copy) = sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) else { return };
    let Some(copy) = descriptors::lift(descriptors::own(copy)) else { return };
    at.conn().is_closing.store(true, SeqCst);
    slot::copy(fd, copy.as_raw_fd());
    // Closed by the service.
    std::mem::forget(copy);
    service::nudge();
}

/// The rest is sent.
pub(crate) fn end_linger(fd: i32) {
    let first = before_close(fd);
    let _ = sys::close(fd);
    drop(first);
}

/// After `dup` and its like.
pub fn after_copy(from: i32, to: i32) {
    if service::is_foreign() {
        // Of a process that will be another program: it reads and writes TCP.
        leave(from, Reason::Inherited);
    } else {
        slot::copy(from, to);
    }
}

/// `shutdown`.
pub fn shutdown(at: &Ref, fd: i32, how: i32) -> Result<usize> {
    at.conn().shut(fd, how)
}

/// The descriptor is about to be used by what the library does not see: the connection goes back to TCP, and this waits until what
/// was written is in order.
pub fn leave(fd: i32, reason: Reason) {
    let Some(at) = slot::get(fd) else { return };
    let unread = readable_bytes(&at, fd).unwrap_or(0);
    wait_until(&at, || at.conn().go_back(fd, reason).unwrap_or(true));
    // What was in the ring, the other end sends once more.
    let has_come = |bytes| bytes >= unread;
    wait_until(&at, || {
        at.conn().hung_up.load(Acquire)
            || sys::ioctl_number(fd, libc::FIONREAD).map_or(true, has_come)
    });
}

/// As [`leave`], for what is written only.
pub fn leave_out(fd: i32, reason: Reason) {
    let Some(at) = slot::get(fd) else { return };
    wait_until(&at, || at.conn().out_goes_back(fd, reason).unwrap_or(true));
}

fn wait_until(at: &Ref, mut is: impl FnMut() -> bool) {
    let end = sys::now() + PATIENCE_NS;
    while !is() && sys::now() < end {
        let mut fds = [pollfd { fd: at.conn().write_bell.0, events: libc::POLLIN, revents: 0 }];
        let _ = sys::poll(&mut fds, Some(1_000_000), None);
    }
}

/// Before this process becomes another program: connections whose descriptors stay open go back to TCP.
pub fn before_exec() {
    for (at, fd) in slot::all() {
        let stays = |fd: i32| {
            at.is_at(fd)
                && sys::fcntl(fd, libc::F_GETFD, 0)
                    .is_ok_and(|flags| flags & libc::FD_CLOEXEC as usize == 0)
        };
        let stays = if at.descriptors() == 1 { stays(fd) } else { (0..slot::limit()).any(stays) };
        if stays {
            leave(fd, Reason::Inherited);
        }
    }
}

/// `O_NONBLOCK` was set or cleared.
pub fn set_nonblocking(fd: i32, is_nonblocking: bool) {
    if let Some(at) = slot::get(fd) {
        at.conn().nonblocking.store(is_nonblocking, SeqCst);
    }
}

/// An option of the socket was set, which may be a timeout.
pub fn after_option(fd: i32, level: i32, name: i32) {
    if level != libc::SOL_SOCKET {
        return;
    }
    if let Some(at) = slot::get(fd) {
        let timeout = match name {
            libc::SO_RCVTIMEO => &at.conn().receive_timeout,
            libc::SO_SNDTIMEO => &at.conn().send_timeout,
            _ => return,
        };
        timeout.store(sys::socket_timeout(fd, name), SeqCst);
    }
}

/// Bytes that reads would find now, by `FIONREAD`: before and after a move, some are in the ring and some on TCP.
pub fn readable_bytes(at: &Ref, fd: i32) -> Result<i32> {
    let mut input = at.conn().input()?;
    let in_ring = i32::try_from(input.path.unread().unwrap_or(0)).unwrap_or(i32::MAX);
    Ok(in_ring.saturating_add(sys::ioctl_number(fd, libc::FIONREAD)?))
}

/// Bytes that the other end has not taken, by `SIOCOUTQ`.
pub fn unsent_bytes(at: &Ref, fd: i32) -> Result<i32> {
    let on_tcp = sys::ioctl_number(fd, libc::TIOCOUTQ)?;
    let mut out = at.conn().out()?;
    let unread = if out.is_ring() { out.unread() } else { 0 };
    Ok(on_tcp.saturating_add(i32::try_from(unread).unwrap_or(i32::MAX)))
}
