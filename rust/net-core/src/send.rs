//! What goes on a connection: by TCP until the other end reads the ring, then there, and what it left there by TCP again.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use afterbay_net_proto::Reason;
use afterbay_net_ring::{Field, Route, Shared};

use crate::conn::{Conn, Out, Step};
use crate::iov::Buffers;
use crate::slot;
use crate::sys::Result;
use crate::transport::{Shm, Tcp, Transport};

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
        for _ in 0..8 {
            let step = match out.path.route().map_err(|_| self.is_broken(fd))? {
                Route::Ring if !out.is_shut => Shm::send(self, out, fd, from, flags)?,
                Route::Backlog(_) => {
                    self.note(Reason::Peer);
                    if self.send_backlog(out, fd)? { None } else { Some(Step::Nothing) }
                }
                Route::Tcp if self.may_switch(out, fd)? => None,
                // After `shutdown`, the kernel says so.
                Route::Ring | Route::Tcp => Tcp::send(self, out, fd, from, flags)?,
            };
            if let Some(step) = step {
                return Ok(step);
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
