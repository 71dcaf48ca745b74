//! A ring in memory that both ends have, for each direction.

use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_ring::{Shared, Source};
use rustix::io::Errno;

use super::{Room, Transport};
use crate::conn::{Conn, Input, Out, Step};
use crate::iov::Buffers;
use crate::memory::Account;
use crate::slot;
use crate::sys::{self, Result};

/// Bytes of small buffers that are written at once.
const GATHER: usize = 16 << 10;
/// Bytes that are thrown away at once (`MSG_TRUNC`).
const WASTE: usize = 4096;

/// The connection's rings.
#[derive(Debug)]
pub(crate) struct Shm;

impl Transport for Shm {
    fn send(
        conn: &Conn,
        out: &mut Out,
        fd: i32,
        from: &mut Buffers<'_>,
        _flags: i32,
    ) -> Result<Option<Step>> {
        let before = from.remaining();
        out.grow(slot::account(conn.slot)).map_err(|_| conn.is_broken(fd))?;
        while !from.is_empty() {
            let length = out.write(from).map_err(|_| conn.is_broken(fd))?;
            if length == 0 {
                break;
            }
            from.advance(length);
        }
        let moved = before - from.remaining();
        out.wants_more |= !from.is_empty();
        if moved > 0 || before == 0 {
            return Ok(Some(Step::Moved(moved)));
        }
        let may_go_on = out.path.settle().map_err(|_| conn.is_broken(fd))?;
        Ok(if may_go_on { None } else { Some(Step::Nothing) })
    }

    /// Where the ring's bytes end, the ring says.
    fn receive(
        conn: &Conn,
        input: &mut Input,
        fd: i32,
        to: &mut Buffers<'_>,
        flags: i32,
        _limit: Option<u64>,
    ) -> Result<Option<Step>> {
        let length = input.take(to, flags).map_err(|_| conn.is_broken(fd))?;
        if length > 0 {
            if conn.is_in_epoll.load(Relaxed) && flags & libc::MSG_PEEK == 0 {
                // So that a wait by epoll is not woken in vain, and that the next bytes are an edge.
                input.path.settle().map_err(|_| conn.is_broken(fd))?;
            }
            return Ok(Some(Step::Moved(length)));
        }
        if let Some(error) = input.error.take() {
            return Err(error);
        }
        if input.path.is_ended().map_err(|_| conn.is_broken(fd))? {
            return Ok(Some(Step::End));
        }
        // What TCP says is said after what is in the ring: which is looked at once more.
        let said = sys::peek(fd);
        if input.path.available().map_err(|_| conn.is_broken(fd))? > 0 {
            input.error = said.err().filter(|&error| error != Errno::AGAIN);
            return Ok(None);
        }
        if input.path.source().map_err(|_| conn.is_broken(fd))? != Source::Ring {
            return Ok(None);
        }
        match said {
            // Not a word of an end: it is dead. TCP resets a connection whose bytes nobody has read.
            Ok(0) if !input.is_reset && has_unread(conn) => {
                input.is_reset = true;
                Err(Errno::CONNRESET)
            }
            Ok(0) => Ok(Some(Step::End)),
            // Bytes on TCP that come after those of the ring, without a word of it.
            Ok(_) => Err(conn.is_broken(fd)),
            Err(Errno::AGAIN) if input.path.settle().map_err(|_| conn.is_broken(fd))? => Ok(None),
            Err(Errno::AGAIN) => Ok(Some(Step::Nothing)),
            Err(error) => Err(error),
        }
    }

    fn room(conn: &Conn) -> Room {
        // It would say so after this end's own `shutdown`, at once and for ever.
        let events = if conn.reads_no_more.load(Relaxed) { 0 } else { libc::POLLRDHUP };
        Room { events, bell: conn.write_bell.fd() }
    }
}

/// Whether the other end has left bytes in its ring.
fn has_unread(conn: &Conn) -> bool {
    let has_unread = |out: &mut Out| out.is_ring_used() && out.unread() > 0;
    conn.out().is_ok_and(|mut out| has_unread(&mut out))
}

impl Out {
    /// Writes into the ring. Small buffers are gathered: a reader sees all of them, and is woken once.
    fn write(&mut self, from: &Buffers<'_>) -> afterbay_net_ring::Result<usize> {
        let first = from.first();
        if first.len() >= GATHER.min(from.remaining()) {
            return self.path.write(first);
        }
        let mut gathered = [0; GATHER];
        let mut length = 0;
        let mut rest = from.again();
        while length < GATHER && !rest.is_empty() {
            let some = rest.first().len().min(GATHER - length);
            gathered[length..length + some].copy_from_slice(&rest.first()[..some]);
            length += some;
            rest.advance(some);
        }
        self.path.write(&gathered[..length])
    }

    /// Makes the ring larger, if that was needed, if it can be now, and if there may be so much memory.
    fn grow(&mut self, account: &Account) -> afterbay_net_ring::Result<()> {
        if !self.wants_more {
            return Ok(());
        }
        let ring = self.path.ring();
        let more = ring.shared().capacity().bytes() - ring.shared().first_capacity().bytes();
        if !ring.can_grow() || !account.take(more) {
            self.wants_more = false;
            return Ok(());
        }
        if self.path.grow()? {
            self.wants_more = false;
        } else {
            account.give_back(more);
        }
        Ok(())
    }
}

impl Input {
    /// Takes bytes of the ring, looks at them, or throws them away.
    fn take(&mut self, to: &mut Buffers<'_>, flags: i32) -> afterbay_net_ring::Result<usize> {
        let mut total = 0;
        if flags & libc::MSG_PEEK != 0 {
            let mut to = to.again();
            while !to.is_empty() {
                let length = self.path.peek(total, to.first_mut())?;
                total += length;
                if length == 0 {
                    break;
                }
                to.advance(length);
            }
            return Ok(total);
        }
        while !to.is_empty() {
            let length = if flags & libc::MSG_TRUNC != 0 {
                let room = to.first().len().min(WASTE);
                self.path.read(&mut [0; WASTE][..room])?
            } else {
                self.path.read(to.first_mut())?
            };
            total += length;
            if length == 0 {
                break;
            }
            to.advance(length);
        }
        Ok(total)
    }
}
