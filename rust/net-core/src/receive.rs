//! What comes on a connection, by which transport: first TCP's bytes, then those of the ring, and TCP's again; and waits for them.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use afterbay_net_ring::Source;
use rustix::io::Errno;

use crate::conn::{Conn, Input, Step};
use crate::iov::Buffers;
use crate::slot;
use crate::sys::{self, Result};
use crate::transport::{Shm, Tcp, Transport};

impl Conn {
    /// Before a wait for bytes: the bell, or nothing if there are no rings, and then this wait is counted until
    /// [`Conn::end_blind`].
    pub(crate) fn begin_wait(&self) -> Option<i32> {
        if !self.is_plain.load(SeqCst) {
            return Some(self.read_bell.fd());
        }
        // Only a signal handler's, which interrupted who has it: that one is waited for by nobody.
        let Ok(_input) = self.input() else { return Some(self.read_bell.fd()) };
        // It is done by who has this lock.
        if self.is_plain.load(SeqCst) {
            self.count_blind();
            return None;
        }
        Some(self.read_bell.fd())
    }

    /// Receives as the kernel does it, by `receive`, and waits as it does, if there are no rings. The other end writes into none
    /// meanwhile.
    pub(crate) fn receive_plainly(
        &self,
        flags: i32,
        receive: impl FnOnce() -> Result<usize>,
    ) -> Option<Result<usize>> {
        if !self.is_plain.load(Relaxed) {
            return None;
        }
        {
            let input = self.input().ok()?;
            if !self.is_plain.load(SeqCst) || input.error.is_some() {
                return None;
            }
            self.count_blind();
        }
        let received = receive();
        let is_peek = flags & libc::MSG_PEEK != 0;
        self.end_blind(received.ok().filter(|_| !is_peek).unwrap_or(0));
        Some(received)
    }

    /// By who has `input`.
    fn count_blind(&self) {
        self.blind.fetch_add(1, SeqCst);
        slot::blind(self.slot).fetch_add(1, SeqCst);
    }

    /// After a wait that was counted, in which so many bytes were received.
    pub(crate) fn end_blind(&self, bytes: usize) {
        // Not while those are forgotten that are gone, but in a signal handler that interrupted who has it.
        let mut input = self.input();
        if let Ok(input) = &mut input {
            // Before anybody may be told that this end reads the ring.
            input.path.received(bytes);
        }
        // In the child of a handler's fork, this wait is its parent's.
        let less = |blind: u32| blind.checked_sub(1);
        if slot::blind(self.slot).fetch_update(SeqCst, SeqCst, less).is_ok() {
            self.blind.fetch_sub(1, SeqCst);
        }
    }

    /// Threads of processes that are gone wait no more. By who has `input`, if no other process has the connection.
    pub(crate) fn forget_blind_of_others(&self) {
        self.blind.store(slot::blind(self.slot).load(SeqCst), SeqCst);
    }

    /// Whether the kernel has all that comes, as long as the other end is there.
    pub(crate) fn is_read_by_tcp(&self) -> bool {
        self.input().is_ok_and(|mut input| {
            input.path.waits_for_producer() && input.path.source() != Ok(Source::Ring)
        })
    }

    /// An error that TCP has said, and the program has not heard.
    pub(crate) fn keep_error(&self, error: Errno) {
        if let Ok(mut input) = self.input() {
            input.error = Some(error);
        }
    }

    /// So many bytes were received past [`Conn::try_receive`].
    pub(crate) fn received(&self, bytes: usize) {
        if let Ok(mut input) = self.input() {
            input.path.received(bytes);
        }
    }

    /// Receives what there is. Never waits.
    pub(crate) fn try_receive(&self, fd: i32, to: &mut Buffers<'_>, flags: i32) -> Result<Step> {
        let mut input = self.input()?;
        // Not before: a program that only hands the socket on (inetd's way) leaves all bytes where the next one finds them.
        if flags & libc::MSG_PEEK == 0 && !input.is_attached() && self.may_attach() {
            input.path.attach();
        }
        self.receive_with(&mut input, fd, to, flags)
    }

    /// Whether all who wait for bytes wait for those of the ring, too. By who has `input`.
    fn may_attach(&self) -> bool {
        if self.is_plain.load(SeqCst) {
            return false;
        }
        if self.blind.load(SeqCst) > 0 && self.is_only() {
            self.forget_blind_of_others();
        }
        self.blind.load(SeqCst) == 0
    }

    fn receive_with(
        &self,
        input: &mut Input,
        fd: i32,
        to: &mut Buffers<'_>,
        flags: i32,
    ) -> Result<Step> {
        let mut total = 0;
        // Each change of the source is looked at once more; a peer that lies does not keep us here.
        for _ in 0..8 {
            let source = input.path.source().map_err(|_| self.is_broken(fd))?;
            let step = match source {
                Source::Ring => Shm::receive(self, input, fd, to, flags, None),
                Source::Tcp { limit } => Tcp::receive(self, input, fd, to, flags, limit),
            };
            match step {
                Ok(None) => {}
                // Beyond a move, the rest is where the next bytes come from.
                Ok(Some(Step::Moved(length))) => {
                    total += length;
                    let is_peek = flags & libc::MSG_PEEK != 0;
                    if is_peek || to.is_empty() || !input.has_moved_on(source) {
                        return Ok(Step::Moved(total));
                    }
                }
                Ok(Some(_)) if total > 0 => return Ok(Step::Moved(total)),
                Ok(Some(step)) => return Ok(step),
                // The next call says it.
                Err(error) if total > 0 => {
                    input.error = Some(error);
                    return Ok(Step::Moved(total));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(if total > 0 { Step::Moved(total) } else { Step::Nothing })
    }

    /// TCP brings nothing more now. Whether the other end is gone, and has not sent again what this side left in the ring.
    pub(crate) fn has_rest(&self, input: &mut Input, fd: i32) -> Result<bool> {
        // After this side's own `shutdown`, TCP says so too.
        let has_ended = input.path.waits_for_producer() && sys::peer_has_ended(fd);
        if !has_ended || sys::ioctl_number(fd, libc::FIONREAD) != Ok(0) {
            return Ok(false);
        }
        input.path.end_of_tcp().map_err(|_| self.is_broken(fd))
    }

    /// Whether a read would find something in the ring: bytes, or an end. The bell is silent afterwards if not.
    pub(crate) fn is_readable(&self) -> bool {
        if self.is_plain.load(SeqCst) {
            return false;
        }
        let Ok(mut input) = self.input() else { return false };
        let is_ring = |input: &mut Input| matches!(input.path.source(), Ok(Source::Ring) | Err(_));
        if is_ring(&mut input) {
            return !matches!(input.path.settle(), Ok(false));
        }
        if !matches!(input.path.settle(), Ok(false)) {
            return is_ring(&mut input) && !matches!(input.path.available(), Ok(0));
        }
        false
    }
}

impl Input {
    /// Whether the next bytes come from elsewhere.
    fn has_moved_on(&mut self, from: Source) -> bool {
        let is_ring = |source: &Source| *source == Source::Ring;
        self.path.source().is_ok_and(|now| is_ring(&now) != is_ring(&from))
    }

    fn is_attached(&self) -> bool {
        self.path.ring().is_attached()
    }
}
