//! Reading and writing, as the program's calls do: what a blocking call waits for, how long, and what a signal does to it.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use libc::{
    MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, POLLERR, POLLHUP, POLLIN, POLLRDHUP, msghdr, pollfd,
};
use rustix::io::Errno;

use crate::conn::Step;
use crate::iov::Buffers;
use crate::slot::Ref;
use crate::sys::{self, Result};
use crate::transport::Room;
use crate::{open, service, spin};

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    Bytes,
    Room,
}

/// `recv` and all that is like it, other than urgent data and errors.
pub fn receive(at: &Ref, fd: i32, mut to: Buffers<'_>, flags: i32) -> Result<usize> {
    service::ensure();
    let conn = at.conn();
    if to.is_empty() {
        return Ok(0);
    }
    let waits = flags & MSG_DONTWAIT == 0 && !conn.nonblocking.load(Relaxed);
    if waits && conn.low_water.load(Relaxed) > 0 && conn.is_read_by_tcp() {
        // The kernel knows how many bytes to wait for, whatever they are waited for with.
        let received = sys::receive(fd, to.some(usize::MAX).as_slice(), flags);
        match received {
            Ok(bytes) if bytes > 0 => {
                let is_peek = flags & MSG_PEEK != 0;
                conn.received(if is_peek { 0 } else { bytes });
                if !is_peek {
                    count(at, fd, bytes);
                }
                return received;
            }
            Err(Errno::AGAIN | Errno::INTR) => return received,
            // The end: there may be something left in the ring.
            Ok(_) | Err(_) => {}
        }
    }
    if waits
        && to.fits()
        && let Some(received) = receive_plainly(at, fd, flags, || {
            sys::receive(fd, to.some(usize::MAX).as_slice(), flags)
        })
    {
        return received;
    }
    let wants_all = flags & MSG_WAITALL != 0 && flags & MSG_PEEK == 0;
    let mut total = 0;
    let mut wait = Wait { option: libc::SO_RCVTIMEO };
    loop {
        match conn.try_receive(fd, &mut to, flags) {
            Ok(Step::Moved(length)) => {
                total += length;
                if flags & MSG_PEEK == 0 {
                    count(at, fd, length);
                }
                if !wants_all || to.is_empty() {
                    return Ok(total);
                }
            }
            Ok(Step::End) => return Ok(total),
            Ok(Step::Nothing) if !waits && total > 0 => return Ok(total),
            Ok(Step::Nothing) if !waits => return Err(Errno::AGAIN),
            Ok(Step::Nothing) => match wait.once(at, fd, For::Bytes) {
                Err(_) if total > 0 => return Ok(total),
                waited => waited?,
            },
            Err(error) if total > 0 => {
                // The next call says it.
                conn.keep_error(error);
                return Ok(total);
            }
            Err(error) => return Err(error),
        }
    }
}

/// As the kernel does it, by `receive`, on a connection that has no rings. Nothing if it has some.
fn receive_plainly(
    at: &Ref,
    fd: i32,
    flags: i32,
    receive: impl FnOnce() -> Result<usize>,
) -> Option<Result<usize>> {
    let received = at.conn().receive_plainly(flags, receive)?;
    if let Ok(bytes) = received
        && flags & MSG_PEEK == 0
    {
        count(at, fd, bytes);
    }
    Some(received)
}

/// `recvmsg` on a connection that has no rings: what the kernel says beside the bytes is the program's too. Nothing if it has some.
///
/// # Safety
/// The message's parts can be written until this returns.
#[allow(unsafe_code, reason = "a program's message has no safe interface")]
pub unsafe fn receive_message(
    at: &Ref,
    fd: i32,
    message: &mut msghdr,
    flags: i32,
) -> Result<Option<usize>> {
    service::ensure();
    // SAFETY: so says the caller.
    let receive = || unsafe { sys::receive_message(fd, message, flags) };
    receive_plainly(at, fd, flags, receive).transpose()
}

/// `send` and all that is like it, other than urgent data and descriptors.
pub fn send(at: &Ref, fd: i32, mut from: Buffers<'_>, flags: i32) -> Result<usize> {
    service::ensure();
    let conn = at.conn();
    let waits = flags & MSG_DONTWAIT == 0 && !conn.nonblocking.load(Relaxed);
    let mut total = 0;
    let mut wait = Wait { option: libc::SO_SNDTIMEO };
    loop {
        match conn.try_send(fd, &mut from, flags) {
            Ok(Step::Moved(length)) => {
                total += length;
                count(at, fd, length);
                if from.is_empty() {
                    return Ok(total);
                }
            }
            Ok(Step::End | Step::Nothing) if !waits && total > 0 => return Ok(total),
            Ok(Step::End | Step::Nothing) if !waits => return Err(Errno::AGAIN),
            Ok(Step::End | Step::Nothing) => match wait.once(at, fd, For::Room) {
                Err(_) if total > 0 => return Ok(total),
                waited => waited?,
            },
            Err(_) if total > 0 => return Ok(total),
            Err(error) => return Err(error),
        }
    }
}

/// Bytes have moved: it may be time for rings.
fn count(at: &Ref, fd: i32, bytes: usize) {
    if at.conn().counts(bytes) {
        open::move_up(at, fd);
    }
}

/// The waits of one call.
struct Wait {
    /// The socket's option that says how long.
    option: i32,
}

impl Wait {
    /// Until something may have changed.
    fn once(&mut self, at: &Ref, fd: i32, what: For) -> Result<()> {
        let conn = at.conn();
        let spins = what == For::Bytes && !conn.is_plain.load(Relaxed);
        if spins && spin::until(|| conn.is_readable()) {
            return Ok(());
        }
        if what == For::Room {
            return self.until_ready(at, fd, what, -1);
        }
        match conn.begin_wait() {
            Some(bell) => self.until_ready(at, fd, what, bell),
            None => {
                let waited = self.until_ready(at, fd, what, -1);
                conn.end_blind(0);
                waited
            }
        }
    }

    fn until_ready(&self, at: &Ref, fd: i32, what: For, bell: i32) -> Result<()> {
        let conn = at.conn();
        conn.waits.fetch_add(1, Relaxed);
        let room = (what == For::Room).then(|| conn.room());
        let (tcp, bell) = room.map_or((POLLIN, bell), |room| (room.events, room.bell));
        let mut fds = [
            pollfd { fd, events: tcp, revents: 0 },
            pollfd { fd: bell, events: POLLIN, revents: 0 },
        ];
        let timeout = Some(conn.timeout(fd, self.option)).filter(|timeout| *timeout > 0);
        match sys::poll(&mut fds, timeout, None) {
            Ok(0) => Err(Errno::AGAIN),
            Ok(_) => {
                let ends = POLLRDHUP | POLLHUP | POLLERR;
                if room.is_some_and(Room::is_by_bell) && fds[0].revents & ends != 0 {
                    conn.hung_up.store(true, SeqCst);
                }
                still_at(at, fd)
            }
            Err(Errno::INTR) if timeout.is_none() && sys::signals_restart() => still_at(at, fd),
            Err(error) => Err(error),
        }
    }
}

/// Whether the descriptor is the connection's after a wait.
///
/// Where `dup2` has brought another file there, the call is interrupted, and not wrong: TCP's call would go on to wait for the file
/// that was there before, until a signal interrupts it, and then the program calls again, and meets the new one.
fn still_at(at: &Ref, fd: i32) -> Result<()> {
    if at.is_at(fd) {
        Ok(())
    } else if at.is_replaced().load(SeqCst) {
        Err(Errno::INTR)
    } else {
        Err(Errno::BADF)
    }
}
