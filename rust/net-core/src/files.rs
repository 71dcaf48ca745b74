//! Calls on descriptors as such: `close`, `dup`, `shutdown`, and what takes a descriptor out of the library's sight.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use afterbay_net_proto::Reason;
use afterbay_net_ring::{Route, Source};
use libc::pollfd;
use rustix::io::{Errno, write};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::conn::{Conn, Input};
use crate::slot::{self, Ref};
use crate::sys::{self, Result};
use crate::{agent, descriptors, epoll, process, relay, service};

/// How long a connection that goes back is waited for.
const PATIENCE_NS: u64 = 2_000_000_000;
/// How often a call that waits for the other end looks.
const LOOKS_NS: u64 = 1_000_000;
/// Bytes that are spliced at once: a pipe has room for them, and the stack.
const SPLICED_MAX: usize = 16 << 10;

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
        if at.lingers().load(SeqCst) {
            // Not before: with this one, the library's own is not the only one, and all may be sent by now.
            service::nudge();
        }
        return None;
    };
    end(&first, fd);
    Some(first)
}

/// As [`before_close`], where another file comes over the descriptor.
pub fn before_replace(fd: i32) -> Option<Ref> {
    if let Some(at) = slot::get(fd) {
        at.is_replaced().store(true, SeqCst);
    }
    before_close(fd)
}

/// The system has given out a descriptor. If it was a connection's, something has closed that past our functions, and it is no
/// longer.
pub fn after_open(fd: i32) {
    if slot::is_ours(fd) && !process::is_foreign() {
        forget_closed(fd);
    }
}

#[cold]
fn forget_closed(fd: i32) {
    let Some(at) = slot::get(fd) else { return };
    epoll::forget(fd);
    let Some(last) = slot::detach(fd) else { return };
    service::forget(&last, fd);
    let conn = at.conn();
    if conn.is_only() {
        // TCP has said its end.
        if let Ok(mut input) = conn.input() {
            let _ = input.path.demote();
        }
        if let Ok(mut out) = conn.out() {
            out.path.end();
        }
    }
}

/// The last descriptor of this process is closed.
fn end(at: &Ref, fd: i32) {
    let conn = at.conn();
    if conn.is_plain.load(SeqCst) && !conn.is_offered.load(SeqCst) {
        // It is TCP's, and has nothing that has to be given back.
        return epoll::close(at, fd);
    }
    let is_only = conn.is_only() && !conn.is_handed_on.load(Relaxed);
    let is_claimed = conn.out().is_ok_and(|out| out.is_attached());
    if conn.is_offered.load(Relaxed) && !is_claimed {
        // The agent has its descriptor until it hears of this.
        if is_only && readable_bytes(at, fd).unwrap_or(0) == 0 {
            let _ = sys::shutdown(fd, libc::SHUT_WR);
        } else if is_only {
            reset_at_close(fd);
        }
        agent::withdraw(conn.id.load(Relaxed));
    }
    if is_only {
        end_as_tcp(at, fd);
    }
    epoll::close(at, fd);
    service::forget(at, fd);
}

/// TCP resets a connection that is closed with bytes that nobody has read. So does this.
fn end_as_tcp(at: &Ref, fd: i32) {
    let conn = at.conn();
    // What comes later is sent by TCP, which says that nobody is there.
    let unread = conn.input().map_or(0, |mut input| {
        let unread = unread_in_ring(&mut input, fd);
        let _ = input.path.demote();
        unread
    });
    let on_tcp = sys::ioctl_number(fd, libc::FIONREAD).unwrap_or(0);
    if unread > 0 {
        reset_at_close(fd);
    } else if on_tcp > 0 {
        // The kernel resets it.
    } else if let Ok(mut out) = conn.out() {
        out.path.end();
    }
}

fn reset_at_close(fd: i32) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_LINGER, linger);
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
    at.lingers().store(true, SeqCst);
    slot::copy(fd, copy.as_raw_fd());
    // Closed by the service.
    std::mem::forget(copy);
}

/// The rest is sent. A program that closes all numbers may have closed this one: then it is no longer the library's to close.
pub(crate) fn end_linger(slot: u32, fd: i32) {
    if let Some(at) = slot::get(fd)
        && at.slot() == slot
        && let Some(last) = slot::detach(fd)
    {
        end(&last, fd);
        let _ = sys::close(fd);
    }
}

/// After `dup` and its like.
pub fn after_copy(from: i32, to: i32) {
    if process::is_foreign() {
        // Of a process that will be another program: it reads and writes TCP. What is left in memory is for it.
        if !leave_for_good(from, Reason::Inherited, deadline())
            && let Some(at) = slot::get(from)
        {
            relay::stand_in(&at, from, to);
        }
    } else {
        after_open(to);
        slot::copy(from, to);
    }
}

/// `shutdown`.
pub fn shutdown(at: &Ref, fd: i32, how: i32) -> Result<usize> {
    at.conn().shut(fd, how)
}

/// The connection goes back to TCP, and this waits until what was written is in order, as far as the other end can send it again.
pub fn leave(fd: i32, reason: Reason) {
    let Some(at) = slot::get(fd) else { return };
    let conn = at.conn();
    wait_until(deadline(), || conn.go_back(fd, reason).unwrap_or(true));
    wait_for_rest(&at, fd);
}

/// What was in the ring, the other end sends once more.
fn wait_for_rest(at: &Ref, fd: i32) {
    wait_until(deadline(), || {
        let Ok(mut input) = at.conn().input() else { return true };
        let can_come = input.path.waits_for_producer() && !sys::peer_has_ended(fd);
        !can_come || unread_in_ring(&mut input, fd) == 0
    });
}

/// The connection goes back to TCP, since somebody will read there whom the library does not see. Whether it is so: not if the other
/// end cannot send again what is in the ring, or does not until then.
fn leave_for_good(fd: i32, reason: Reason, end: u64) -> bool {
    let Some(at) = slot::get(fd) else { return true };
    let conn = at.conn();
    if conn.is_lost() {
        return true;
    }
    conn.is_handed_on.store(true, Relaxed);
    let mut is_sent = false;
    wait_until(end, || {
        is_sent = conn.go_back(fd, reason).unwrap_or(true);
        is_sent
    });
    let mut is_there = false;
    wait_until(end, || {
        let Ok(mut input) = conn.input() else { return true };
        // First: what it has sent before its end has come then.
        let has_ended = sys::peer_has_ended(fd);
        let on_tcp = sys::ioctl_number(fd, libc::FIONREAD).unwrap_or(0).unsigned_abs() as usize;
        is_there = input.path.end_ring(on_tcp, has_ended).unwrap_or(true);
        is_there || has_ended || !input.path.waits_for_producer()
    });
    is_sent && is_there
}

/// As [`leave`], before the descriptor is used by what the library does not see. If something is left in memory, a relay takes the
/// connection, and the descriptor is that of another one, to the relay.
pub fn hand_on(fd: i32, reason: Reason) {
    hand_on_until(fd, reason, deadline());
}

/// As [`hand_on`], of several descriptors that are waited for together.
pub fn hand_on_until(fd: i32, reason: Reason, end: u64) {
    if !leave_for_good(fd, reason, end)
        && let Some(at) = slot::get(fd)
    {
        if process::is_foreign() {
            relay::stand_in(&at, fd, fd);
        } else {
            relay::take_over(&at, fd);
        }
    }
}

/// As [`leave`], for what is written only.
pub fn leave_out(fd: i32, reason: Reason) {
    let Some(at) = slot::get(fd) else { return };
    wait_until(deadline(), || at.conn().out_goes_back(fd, reason).unwrap_or(true));
}

/// Until when a call waits for connections that go back, all of them together.
pub fn deadline() -> u64 {
    sys::now() + PATIENCE_NS
}

/// By looking: the bells of a connection that goes back may ring for good.
fn wait_until(end: u64, mut is: impl FnMut() -> bool) {
    while !is() && sys::now() < end {
        sys::sleep(LOOKS_NS);
    }
}

/// Before another program begins with the descriptors of this process that stay open: their connections go back to TCP. If this
/// process `becomes` it, what is left in memory is for the other program. A process that others share the connection with leaves it
/// to them, but for what is its standard input or output.
pub fn before_exec(becomes: bool) {
    let stay = |(at, fd): (Ref, i32)| {
        let stays = |&fd: &i32| {
            at.is_at(fd)
                && sys::fcntl(fd, libc::F_GETFD, 0)
                    .is_ok_and(|flags| flags & libc::FD_CLOEXEC as usize == 0)
        };
        let first = if at.descriptors() == 1 {
            Some(fd).filter(stays)
        } else {
            (0..slot::limit()).find(stays)
        };
        first.map(|first| (at, first))
    };
    let stay: Vec<(Ref, i32)> = slot::all().into_iter().filter_map(stay).collect();
    // The other ends go along at the same time.
    let end = deadline();
    for (at, first) in &stay {
        let _ = at.conn().go_back(*first, Reason::Inherited);
    }
    for (at, first) in stay {
        if !leave_for_good(first, Reason::Inherited, end)
            && becomes
            && !process::is_foreign()
            && (first <= libc::STDERR_FILENO || at.conn().is_only())
        {
            relay::take_over(&at, first);
        }
    }
}

/// `splice` from a connection, by the kernel's `move_on(from, length, flags)`. What TCP does not bring is copied.
pub fn splice(
    at: &Ref,
    fd: i32,
    length: usize,
    flags: u32,
    to: i32,
    mut move_on: impl FnMut(i32, usize, u32) -> Result<usize>,
) -> Result<usize> {
    let conn = at.conn();
    if conn.is_plain.load(SeqCst) {
        // It gets no rings.
        conn.go_back(fd, Reason::OtherCalls)?;
        if let Some(moved) = conn.receive_plainly(0, || move_on(fd, length, flags)) {
            return moved;
        }
    }
    leave(fd, Reason::OtherCalls);
    loop {
        let (source, copied) = {
            let mut input = conn.input()?;
            let source = input.path.source().map_err(|_| conn.is_broken(fd))?;
            (source, splice_ring(conn, &mut input, fd, length, flags, &mut move_on))
        };
        match copied {
            Ok(0) => {}
            // Whoever reads the pipe makes room.
            Err(Errno::AGAIN) if flags & libc::SPLICE_F_NONBLOCK == 0 => {
                let mut fds = [pollfd { fd: to, events: libc::POLLOUT, revents: 0 }];
                sys::poll(&mut fds, None, None)?;
                continue;
            }
            copied => return copied,
        }
        let room = match source {
            Source::Tcp { limit: Some(limit) } => length.min(limit as usize),
            _ => length,
        };
        let moved = move_on(fd, room, flags);
        let mut input = conn.input()?;
        match moved {
            Ok(bytes) if bytes > 0 => {
                input.path.received(bytes);
                return moved;
            }
            Ok(_) if room > 0 && conn.has_rest(&mut input, fd)? => {}
            Err(error) if error != Errno::AGAIN && conn.has_rest(&mut input, fd)? => {}
            moved => return moved,
        }
    }
}

/// Bytes of the ring, by way of a pipe of the library's. 0 if there are none.
fn splice_ring(
    conn: &Conn,
    input: &mut Input,
    fd: i32,
    length: usize,
    flags: u32,
    move_on: &mut impl FnMut(i32, usize, u32) -> Result<usize>,
) -> Result<usize> {
    let mut bytes = [0; SPLICED_MAX];
    let room = length.min(SPLICED_MAX);
    let length = input.path.peek(0, &mut bytes[..room]).map_err(|_| conn.is_broken(fd))?;
    if length == 0 {
        return Ok(0);
    }
    let (from, into) = pipe_with(PipeFlags::CLOEXEC)?;
    let length = write(&into, &bytes[..length])?;
    let moved = move_on(from.as_raw_fd(), length, flags | libc::SPLICE_F_NONBLOCK)?;
    // They were there.
    input.path.read(&mut bytes[..moved]).map_err(|_| conn.is_broken(fd))
}

/// `O_NONBLOCK` was set or cleared.
pub fn set_nonblocking(fd: i32, is_nonblocking: bool) {
    if let Some(at) = slot::get(fd) {
        at.conn().nonblocking.store(is_nonblocking, SeqCst);
    }
}

/// From now on the library has nothing to do with a connection: the kernel does what rings cannot, and no call is seen. It goes back
/// to TCP first. Not if something is left in memory for good.
fn let_go(fd: i32, reason: Reason) {
    if !leave_for_good(fd, reason, deadline()) || process::is_foreign() {
        return;
    }
    let Some(at) = slot::get(fd) else { return };
    for own in (0..slot::limit()).filter(|&own| at.is_at(own)) {
        let last = slot::detach(own);
        slot::note(own, reason);
        service::forget(&at, own);
        epoll::release(&at, own);
        if last.is_some() && at.conn().is_offered.load(SeqCst) {
            agent::withdraw(at.conn().id.load(Relaxed));
        }
    }
}

/// An option of the socket was set: to something else than 0, if `is_on`.
pub fn after_option(fd: i32, level: i32, name: i32, is_on: bool) {
    let is_tls = level == libc::IPPROTO_TCP && name == libc::TCP_ULP;
    let tells_times = level == libc::SOL_SOCKET && is_on && sys::TIMES.contains(&name);
    if is_tls || tells_times {
        return let_go(fd, Reason::OtherCalls);
    }
    if level != libc::SOL_SOCKET {
        return;
    }
    if let Some(at) = slot::get(fd) {
        let timeout = match name {
            libc::SO_RCVTIMEO => &at.conn().receive_timeout,
            libc::SO_SNDTIMEO => &at.conn().send_timeout,
            libc::SO_RCVLOWAT => {
                at.conn().set_low_water(fd);
                return wait_for_rest(&at, fd);
            }
            _ => return,
        };
        timeout.store(sys::socket_timeout(fd, name), SeqCst);
    }
}

/// Bytes that reads would find now, by `FIONREAD`: before and after a move, some are in the ring and some on TCP.
pub fn readable_bytes(at: &Ref, fd: i32) -> Result<i32> {
    let mut input = at.conn().input()?;
    // What the other end sends once more is on its way.
    let comes = input.path.waits_for_producer() && !sys::peer_has_ended(fd);
    let in_ring = if comes { 0 } else { unread_in_ring(&mut input, fd) };
    let in_ring = i32::try_from(in_ring).unwrap_or(i32::MAX);
    Ok(in_ring.saturating_add(sys::ioctl_number(fd, libc::FIONREAD)?))
}

/// Those of them that are in the ring, and will not come by TCP, or have not yet.
fn unread_in_ring(input: &mut Input, fd: i32) -> usize {
    let on_tcp = sys::ioctl_number(fd, libc::FIONREAD).unwrap_or(0);
    input.path.unread(on_tcp.unsigned_abs() as usize).unwrap_or(0)
}

/// Bytes that the other end has not taken, by `SIOCOUTQ`.
pub fn unsent_bytes(at: &Ref, fd: i32) -> Result<i32> {
    let on_tcp = sys::ioctl_number(fd, libc::TIOCOUTQ)?;
    let mut out = at.conn().out()?;
    let unread = if out.is_ring() { out.unread() } else { 0 };
    Ok(on_tcp.saturating_add(i32::try_from(unread).unwrap_or(i32::MAX)))
}
