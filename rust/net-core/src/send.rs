//! What goes on a connection: by TCP until the other end reads the ring, then there, and what it left there by TCP again.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use afterbay_net_proto::Reason;
use afterbay_net_ring::{Field, Route, Shared};
use rustix::io::Errno;

use crate::conn::{Conn, Out, Step};
use crate::iov::Buffers;
use crate::memory::Account;
use crate::slot;
use crate::sys::{self, Result};

/// Bytes of small buffers that are written at once.
const GATHER: usize = 16 << 10;

impl Conn {
    /// Sends what there is room for. Never waits.
    pub(crate) fn try_send(&self, fd: i32, from: &mut Buffers<'_>, flags: i32) -> Result<Step> {
        let mut out = self.out()?;
        let step = self.send_with(&mut out, fd, from, flags);
        self.track(&mut out);
        step
    }

    fn send_with(
        &self,
        out: &mut Out,
        fd: i32,
        from: &mut Buffers<'_>,
        flags: i32,
    ) -> Result<Step> {
        self.keep_back(out, fd)?;
        let before = from.remaining();
        for _ in 0..8 {
            match out.path.route().map_err(|_| self.is_broken(fd))? {
                Route::Ring if !out.is_shut => {
                    out.grow(slot::account(self.slot)).map_err(|_| self.is_broken(fd))?;
                    while !from.is_empty() {
                        let length = out.write(from).map_err(|_| self.is_broken(fd))?;
                        if length == 0 {
                            break;
                        }
                        from.advance(length);
                    }
                    let moved = before - from.remaining();
                    out.wants_more |= !from.is_empty();
                    if moved > 0 || before == 0 {
                        return Ok(Step::Moved(moved));
                    }
                    if !out.path.settle().map_err(|_| self.is_broken(fd))? {
                        return Ok(Step::Nothing);
                    }
                }
                Route::Backlog(_) => {
                    self.note(Reason::Peer);
                    if !self.send_backlog(out, fd)? {
                        return Ok(Step::Nothing);
                    }
                }
                Route::Tcp if self.may_switch(out, fd)? => {}
                Route::Ring | Route::Tcp => {
                    let some = from.some(usize::MAX);
                    return match sys::send(fd, some.as_slice(), flags | libc::MSG_DONTWAIT) {
                        Ok(length) => {
                            out.path.sent(length);
                            from.advance(length);
                            Ok(Step::Moved(length))
                        }
                        Err(Errno::AGAIN) => Ok(Step::Nothing),
                        Err(error) => Err(error),
                    };
                }
            }
        }
        Ok(Step::Nothing)
    }

    /// Whether the direction has just moved to the ring.
    fn may_switch(&self, out: &mut Out, fd: i32) -> Result<bool> {
        if out.is_shut || self.hung_up.load(SeqCst) || self.wants_tcp.load(SeqCst) {
            return Ok(false);
        }
        let is_moved = out.path.switch().map_err(|_| self.is_broken(fd))?;
        if is_moved {
            self.is_offered.store(false, Relaxed);
        }
        Ok(is_moved)
    }

    /// Whether there is room in the ring. The bell is silent afterwards if not.
    pub(crate) fn is_writable(&self) -> bool {
        let Ok(mut out) = self.out() else { return false };
        !matches!(out.path.settle(), Ok(false))
    }

    /// Where writes go may have changed: who waits by epoll has to wait for something else.
    pub(crate) fn track(&self, out: &mut Out) {
        let is_ring = out.is_ring();
        // Who has `out` is the only one that changes it.
        if self.writes_to_ring.load(SeqCst) != is_ring {
            self.writes_to_ring.store(is_ring, SeqCst);
        }
        // Another process may have changed it, which knows nothing of this one's epolls.
        if slot::follows(self.slot, is_ring) && self.is_in_epoll.load(SeqCst) {
            crate::epoll::follow(self.slot);
        }
    }
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

    pub(crate) fn is_ring(&mut self) -> bool {
        matches!(self.path.route(), Ok(Route::Ring))
    }

    /// Whether somebody at the other end has the rings.
    pub(crate) fn is_attached(&self) -> bool {
        self.path.ring().shared().value(Field::Attached) != 0
    }

    /// Bytes in the ring that the other end says it has not read.
    pub(crate) fn unread(&self) -> u64 {
        let ring = self.path.ring();
        let read = ring.shared().value(Field::Tail);
        ring.written().saturating_sub(read).min(ring.shared().capacity().bytes())
    }

    /// Whether the reader went back first.
    pub(crate) fn is_stopped(&self) -> bool {
        self.path.ring().is_stopped()
    }

    /// Whether what was written was for the reader of the ring, which has not said that it goes: if it is dead, it has not read it.
    pub(crate) fn is_ring_used(&mut self) -> bool {
        let left = self.path.ring().shared().value(Field::Left);
        self.path.route().is_ok() && (left & 1 == 0 || left == afterbay_net_ring::NONE)
    }
}
