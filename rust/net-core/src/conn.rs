//! A connection, with rings or without: its two directions, and what both sides have said. It lies in memory that a process shares
//! with its children: after a fork, each of them may use it, as with TCP.

use std::mem::offset_of;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64};

use afterbay_net_proto::Reason;
use afterbay_net_ring::{
    Consumer, Direction, Field, Incoming, Outgoing, Producer, Route, Shared, Source,
};
use rustix::io::Errno;

use crate::iov::Buffers;
use crate::link::{BellLink, BellPlace, Blank, RingLink};
use crate::lock::{Guard, Lock};
use crate::memory::Account;
use crate::owners::Owners;
use crate::slot::{Local, Ref};
use crate::sys::{self, Result};
use crate::worth::Worth;
use crate::{family, slot};

/// Bytes of small buffers that are written at once.
const GATHER: usize = 16 << 10;
/// Of a timeout that nobody has asked for.
const UNKNOWN: u64 = u64::MAX;
/// Bytes that are thrown away at once (`MSG_TRUNC`).
const WASTE: usize = 4096;

/// A connection that has rings, or may get some. Without, it is like one whose other end never came for them: its rings are
/// blank, and all goes by TCP and is counted.
#[derive(Debug)]
pub(crate) struct Conn {
    /// Processes that have it.
    pub(crate) owners: Owners,
    /// Its name, for the agent and for people.
    pub(crate) id: AtomicU64,
    /// `O_NONBLOCK`.
    pub(crate) nonblocking: AtomicBool,
    /// TCP has said that the other end sends nothing more, or is gone.
    pub(crate) hung_up: AtomicBool,
    /// It is to go back to TCP.
    pub(crate) wants_tcp: AtomicBool,
    /// This end has connected.
    pub(crate) is_connector: bool,
    /// It has no rings yet.
    pub(crate) is_plain: AtomicBool,
    /// What it has carried until then.
    pub(crate) worth: Worth,
    /// Why it did not get any, when that was tried last: [`Reason::code`], or 0.
    pub(crate) refused: AtomicU16,
    /// Threads that wait for bytes of TCP only, since they began when there were no rings: as long as there are any, the other end
    /// is not told that somebody reads the ring. Counted up by who has `input`.
    pub(crate) blind: AtomicU32,
    /// All descriptors of the program are closed; what is left has to be sent.
    pub(crate) is_closing: AtomicBool,
    /// It has been offered, and not been claimed as far as is known.
    pub(crate) is_offered: AtomicBool,
    /// Another program may have the socket, without the library: all is TCP, and its end is the kernel's business.
    pub(crate) is_handed_on: AtomicBool,
    /// The program has said that it reads no more.
    pub(crate) reads_no_more: AtomicBool,
    /// It may be in a program's epoll.
    pub(crate) is_in_epoll: AtomicBool,
    /// Its slot.
    pub(crate) slot: u32,
    /// The socket, as the kernel names it.
    pub(crate) inode: Option<u64>,
    /// What is written goes into the ring.
    pub(crate) writes_to_ring: AtomicBool,
    /// [`Reason::code`], or 0.
    pub(crate) reason: AtomicU16,
    /// How often a thread waited.
    pub(crate) waits: AtomicU64,
    /// `SO_RCVTIMEO` and `SO_SNDTIMEO` in nanoseconds; 0: for ever; [`UNKNOWN`]: nobody has asked yet.
    pub(crate) receive_timeout: AtomicU64,
    pub(crate) send_timeout: AtomicU64,
    /// `SO_RCVLOWAT`, if it is more than a byte: TCP waits for so many, and rings do not. What comes, comes by TCP then.
    pub(crate) low_water: AtomicU32,
    /// What both sides' libraries watch.
    pub(crate) call: BellPlace,
    pub(crate) read_bell: BellPlace,
    pub(crate) write_bell: BellPlace,
    blanks: [Blank; 2],
    pub(crate) input: Lock<Input>,
    pub(crate) out: Lock<Out>,
}

/// What comes.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: Incoming<RingLink, BellLink>,
    /// TCP's error, as long as there are bytes before it.
    error: Option<Errno>,
    /// The program was told that the other end died with unread bytes.
    is_reset: bool,
}

/// What goes.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) path: Outgoing<RingLink, BellLink>,
    /// `shutdown`.
    pub(crate) is_shut: bool,
    /// There was no room for all that the program wanted to write: a larger ring would have had some.
    wants_more: bool,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// So many bytes.
    Moved(usize),
    /// The end of the stream.
    End,
    /// Nothing now: there is something to wait for.
    Nothing,
}

impl Conn {
    /// Of a TCP socket, which gets rings after so many operations. It will lie at `place`.
    pub(crate) fn new(
        slot: u32,
        fd: i32,
        is_connector: bool,
        after: u32,
        place: *const Conn,
    ) -> Self {
        let blanks = place.wrapping_byte_add(offset_of!(Conn, blanks)).cast::<Blank>();
        let [out, input] = [0, 1].map(|at| RingLink::Blank(blanks.wrapping_add(at)));
        let none = BellLink::NONE;
        let flags = sys::fcntl(fd, libc::F_GETFL, 0).unwrap_or(0);
        Conn {
            owners: Owners::new(family::own()),
            id: AtomicU64::new(next_id()),
            slot,
            inode: sys::inode(fd),
            writes_to_ring: AtomicBool::new(false),
            nonblocking: AtomicBool::new(flags & libc::O_NONBLOCK as usize != 0),
            hung_up: AtomicBool::new(false),
            wants_tcp: AtomicBool::new(false),
            is_connector,
            is_plain: AtomicBool::new(true),
            worth: Worth::new(after, is_connector),
            refused: AtomicU16::new(0),
            blind: AtomicU32::new(0),
            is_closing: AtomicBool::new(false),
            is_offered: AtomicBool::new(false),
            is_handed_on: AtomicBool::new(false),
            reads_no_more: AtomicBool::new(false),
            is_in_epoll: AtomicBool::new(false),
            reason: AtomicU16::new(0),
            waits: AtomicU64::new(0),
            receive_timeout: AtomicU64::new(UNKNOWN),
            send_timeout: AtomicU64::new(UNKNOWN),
            low_water: AtomicU32::new(0),
            call: BellPlace::new(none),
            read_bell: BellPlace::new(none),
            write_bell: BellPlace::new(none),
            blanks: [Blank::new(), Blank::new()],
            input: Lock::new(Input {
                path: Incoming::unattached(Consumer::new(input, none, none)),
                error: None,
                is_reset: false,
            }),
            out: Lock::new(Out {
                path: Outgoing::new(Producer::new(out, none, none)),
                is_shut: false,
                wants_more: false,
            }),
        }
    }

    /// Gives it rings, which nobody used. What it has carried by TCP counts. Whether it has them: not if another process has the
    /// connection too, which has no way to these, or if it is not to have any.
    pub(crate) fn equip(&self, at: &Ref, local: Local) -> Result<bool> {
        let mut input = self.input()?;
        let mut out = self.out()?;
        if !self.is_plain.load(SeqCst) || !self.is_only() || !input.path.may_move() {
            return Ok(false);
        }
        let Some(local) = at.equip(local) else { return Ok(false) };
        let [a, b, c, d] = local.bell_links();
        let forth = (local.ring(Direction::ToAcceptor), a, b);
        let back = (local.ring(Direction::ToConnector), c, d);
        let (to, from) = if self.is_connector { (forth, back) } else { (back, forth) };
        input.path.move_to(Consumer::new(from.0, from.1, from.2)).map_err(|_| Errno::IO)?;
        out.path.move_to(Producer::new(to.0, to.2, to.1));
        self.call.set(local.call_link());
        self.write_bell.set(to.2);
        self.read_bell.set(from.1);
        self.is_plain.store(false, SeqCst);
        Ok(true)
    }

    /// Whether rings are of use to it, if it has none.
    pub(crate) fn may_get_rings(&self) -> bool {
        let goes = || !self.wants_tcp.load(SeqCst) && self.out().is_ok_and(|out| out.path.is_new());
        self.is_plain.load(SeqCst)
            && !self.is_handed_on.load(Relaxed)
            && self.is_only()
            && self.input().is_ok_and(|i| i.path.is_new() || i.path.may_move() && goes())
    }

    /// Counts an operation. Whether it may be time for rings.
    pub(crate) fn counts(&self, bytes: usize) -> bool {
        self.is_plain.load(Relaxed) && self.worth.count(bytes)
    }

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
            self.blind.fetch_add(1, SeqCst);
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
            self.blind.fetch_add(1, SeqCst);
        }
        let received = receive();
        if let Ok(bytes) = received
            && flags & libc::MSG_PEEK == 0
        {
            // Before anybody may be told that this end reads the ring.
            self.received(bytes);
        }
        self.end_blind();
        Some(received)
    }

    pub(crate) fn end_blind(&self) {
        self.blind.fetch_sub(1, SeqCst);
    }

    pub(crate) fn input(&self) -> Result<Guard<'_, Input>> {
        // A signal handler that interrupted a call on the same socket: it finds it busy.
        self.input.lock().map_err(|_| Errno::AGAIN)
    }

    pub(crate) fn out(&self) -> Result<Guard<'_, Out>> {
        self.out.lock().map_err(|_| Errno::AGAIN)
    }

    /// How long a call waits, in nanoseconds; 0: for ever.
    pub(crate) fn timeout(&self, fd: i32, name: i32) -> u64 {
        let known = match name {
            libc::SO_RCVTIMEO => &self.receive_timeout,
            _ => &self.send_timeout,
        };
        if known.load(Relaxed) == UNKNOWN {
            let _ =
                known.compare_exchange(UNKNOWN, sys::socket_timeout(fd, name), Relaxed, Relaxed);
        }
        known.load(Relaxed)
    }

    /// The program has said how many bytes it wants to be woken for.
    pub(crate) fn set_low_water(&self, fd: i32) {
        let bytes = sys::option::<i32>(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT).unwrap_or(1);
        let bytes = u32::try_from(bytes).ok().filter(|&bytes| bytes > 1).unwrap_or(0);
        self.low_water.store(bytes, SeqCst);
        if bytes > 0
            && let Ok(mut input) = self.input()
        {
            self.note(Reason::LowWater);
            let _ = input.path.demote();
            self.ring_call();
        }
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

    /// Notes why it did not get rings just now.
    pub(crate) fn refuse(&self, reason: Reason) {
        self.refused.store(reason.code(), Relaxed);
    }

    /// Notes why it is on TCP, unless something is noted already.
    pub(crate) fn note(&self, reason: Reason) {
        let _ = self.reason.compare_exchange(0, reason.code(), Relaxed, Relaxed);
    }

    /// Notes that it is reset, since nobody can go on with it.
    pub(crate) fn note_lost(&self) {
        self.reason.store(Reason::Lost.code(), SeqCst);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.reason.load(SeqCst) == Reason::Lost.code()
    }

    /// The other end does what no library does: the connection ends.
    pub(crate) fn is_broken(&self, fd: i32) -> Errno {
        self.note(Reason::Broken);
        let _ = sys::shutdown(fd, libc::SHUT_RDWR);
        Errno::CONNRESET
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
        !self.is_plain.load(SeqCst) && self.blind.load(SeqCst) == 0
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
                Source::Ring => self.receive_by_ring(input, fd, to, flags),
                Source::Tcp { limit } => self.receive_by_tcp(input, fd, to, flags, limit),
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

    /// Nothing: look again.
    fn receive_by_ring(
        &self,
        input: &mut Input,
        fd: i32,
        to: &mut Buffers<'_>,
        flags: i32,
    ) -> Result<Option<Step>> {
        let length = input.take(to, flags).map_err(|_| self.is_broken(fd))?;
        if length > 0 {
            if self.is_in_epoll.load(Relaxed) && flags & libc::MSG_PEEK == 0 {
                // So that a wait by epoll is not woken in vain, and that the next bytes are an edge.
                input.path.settle().map_err(|_| self.is_broken(fd))?;
            }
            return Ok(Some(Step::Moved(length)));
        }
        if let Some(error) = input.error.take() {
            return Err(error);
        }
        if input.path.is_ended().map_err(|_| self.is_broken(fd))? {
            return Ok(Some(Step::End));
        }
        // What TCP says is said after what is in the ring: which is looked at once more.
        let said = sys::peek(fd);
        if input.path.available().map_err(|_| self.is_broken(fd))? > 0 {
            input.error = said.err().filter(|&error| error != Errno::AGAIN);
            return Ok(None);
        }
        if input.path.source().map_err(|_| self.is_broken(fd))? != Source::Ring {
            return Ok(None);
        }
        match said {
            // Not a word of an end: it is dead. TCP resets a connection whose bytes nobody has read.
            Ok(0) if !input.is_reset && self.has_unread() => {
                input.is_reset = true;
                Err(Errno::CONNRESET)
            }
            Ok(0) => Ok(Some(Step::End)),
            // Bytes on TCP that come after those of the ring, without a word of it.
            Ok(_) => Err(self.is_broken(fd)),
            Err(Errno::AGAIN) if input.path.settle().map_err(|_| self.is_broken(fd))? => Ok(None),
            Err(Errno::AGAIN) => Ok(Some(Step::Nothing)),
            Err(error) => Err(error),
        }
    }

    fn receive_by_tcp(
        &self,
        input: &mut Input,
        fd: i32,
        to: &mut Buffers<'_>,
        flags: i32,
        limit: Option<u64>,
    ) -> Result<Option<Step>> {
        if let Some(error) = input.error.take() {
            return Err(error);
        }
        let room = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let some = to.some(room);
        let flags = (flags | libc::MSG_DONTWAIT) & !libc::MSG_WAITALL;
        match sys::receive(fd, some.as_slice(), flags) {
            Ok(0) if limit.is_none() => {
                // The peer may have said that its last bytes are in the ring.
                let source = input.path.source().map_err(|_| self.is_broken(fd))?;
                let is_end = matches!(source, Source::Tcp { limit: None });
                if is_end && self.has_rest(input, fd)? {
                    return Ok(None);
                }
                Ok(is_end.then_some(Step::End))
            }
            Ok(0) => Ok(Some(Step::End)),
            Ok(length) => {
                if flags & libc::MSG_PEEK == 0 {
                    input.path.received(length);
                    to.advance(length);
                }
                Ok(Some(Step::Moved(length)))
            }
            Err(Errno::AGAIN) if input.path.settle().map_err(|_| self.is_broken(fd))? => Ok(None),
            Err(Errno::AGAIN) => Ok(Some(Step::Nothing)),
            Err(error) => {
                let source = input.path.source().map_err(|_| self.is_broken(fd))?;
                if source == Source::Ring || self.has_rest(input, fd)? {
                    input.error = Some(error);
                    return Ok(None);
                }
                Err(error)
            }
        }
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

    /// Whether the other end has left bytes in its ring.
    fn has_unread(&self) -> bool {
        let has_unread = |out: &mut Out| out.is_ring_used() && out.unread() > 0;
        self.out().is_ok_and(|mut out| has_unread(&mut out))
    }

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

    /// Whether no other process has it that lives.
    pub(crate) fn is_only(&self) -> bool {
        !self.owners.has_other_than(family::own())
    }

    /// Both sides' libraries look at it.
    pub(crate) fn ring_call(&self) {
        self.call.ring();
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

    /// Whether there is room in the ring. The bell is silent afterwards if not.
    pub(crate) fn is_writable(&self) -> bool {
        let Ok(mut out) = self.out() else { return false };
        !matches!(out.path.settle(), Ok(false))
    }

    /// Where writes go may have changed: who waits by epoll has to wait for something else.
    pub(crate) fn track(&self, out: &mut Out) {
        let is_ring = out.is_ring();
        if self.writes_to_ring.swap(is_ring, SeqCst) != is_ring && self.is_in_epoll.load(SeqCst) {
            crate::epoll::follow(self.slot);
        }
    }
}

/// Whether TCP takes nothing any more: it was reset, or both ends have ended it.
pub(crate) fn is_dead(fd: i32) -> bool {
    let mut fds = [libc::pollfd { fd, events: 0, revents: 0 }];
    matches!(sys::poll(&mut fds, Some(0), None), Ok(1)) && fds[0].revents & libc::POLLHUP != 0
}

/// Names of connections, of this process and its children.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Relaxed)
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
    fn is_ring_used(&mut self) -> bool {
        let left = self.path.ring().shared().value(Field::Left);
        self.path.route().is_ok() && (left & 1 == 0 || left == afterbay_net_ring::NONE)
    }
}
