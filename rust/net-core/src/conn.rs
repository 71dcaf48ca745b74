//! A connection, with rings or without: its two directions, and what both sides have said. It lies in memory that a process shares
//! with its children: after a fork, each of them may use it, as with TCP.

use std::mem::offset_of;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64};

use afterbay_net_proto::Reason;
use afterbay_net_ring::{Consumer, Direction, Incoming, Outgoing, Producer};
use rustix::io::Errno;

use crate::family;
use crate::link::{BellLink, BellPlace, Blank, RingLink};
use crate::lock::{Guard, Lock};
use crate::owners::Owners;
use crate::slot::{Local, Ref};
use crate::sys::{self, Result};
use crate::worth::Worth;

/// Of a timeout that nobody has asked for.
const UNKNOWN: u64 = u64::MAX;

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
    /// is not told that somebody reads the ring. Of all processes; each counts its own, too (`slot::blind`).
    pub(crate) blind: AtomicU32,
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
    pub(crate) error: Option<Errno>,
    /// The program was told that the other end died with unread bytes.
    pub(crate) is_reset: bool,
}

/// What goes.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) path: Outgoing<RingLink, BellLink>,
    /// `shutdown`.
    pub(crate) is_shut: bool,
    /// There was no room for all that the program wanted to write: a larger ring would have had some.
    pub(crate) wants_more: bool,
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
        self.forget_blind_of_others();
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

    /// Whether no other process has it that lives.
    pub(crate) fn is_only(&self) -> bool {
        !self.owners.has_other_than(family::own())
    }

    /// Both sides' libraries look at it.
    pub(crate) fn ring_call(&self) {
        self.call.ring();
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
