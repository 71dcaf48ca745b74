//! What the library says of its connections.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_proto::{Flow, Message, Reason, Record, Transport};
use afterbay_net_ring::{Field, NONE, Source};
use afterbay_net_shm::ShmError;
use rustix::net::{getpeername, getsockname};

use crate::lock::Lock;
use crate::slot::{self, Ref};
use crate::{agent, service, sys};

/// Names of connections without rings begin here; the rest is the descriptor.
const PLAIN: u64 = 1 << 62;

/// Of `struct tcp_info`, in bytes from its beginning.
const BYTES_RECEIVED: usize = 128;
const BYTES_SENT: usize = 200;
const BYTES_SENT_AGAIN: usize = 208;

/// Connections that were reset since nobody could go on with what was in memory; those first that were reset last.
static LOST: Lock<VecDeque<Record>> = Lock::new(VecDeque::new());
/// Of so many it is said.
const LOST_MAX: usize = 1000;

/// A connection is about to be reset, since nobody can go on with it.
pub(crate) fn note_lost(at: &Ref, fd: i32) {
    if let Some(record) = record(at, fd)
        && let Ok(mut lost) = LOST.lock()
    {
        lost.push_front(record);
        lost.truncate(LOST_MAX);
    }
}

/// Answers the agent.
pub(crate) fn report(socket: &OwnedFd, reference: u64) -> Result<(), ShmError> {
    let lost: Vec<Record> = LOST.lock().map_or(Vec::new(), |lost| lost.iter().copied().collect());
    for record in lost {
        agent::send(socket, &Message::Record { reference, record }, &[])?;
    }
    for (at, fd) in slot::all() {
        if let Some(record) = record(&at, fd) {
            agent::send(socket, &Message::Record { reference, record }, &[])?;
        }
    }
    for fd in 0..slot::limit() {
        if !slot::is_ours(fd)
            && let Some(reason) = slot::noted(fd)
            && let Some(record) = plain(fd, reason)
        {
            agent::send(socket, &Message::Record { reference, record }, &[])?;
        }
    }
    agent::send(socket, &Message::Reported { reference }, &[])
}

/// During a fork, nobody changes it.
pub(crate) fn lock_for_fork() {
    LOST.hold(|_| {});
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    LOST.let_go(parents_thread);
}

/// In a child: they were its parent's.
pub(crate) fn begin_anew() {
    if let Ok(mut lost) = LOST.lock() {
        lost.clear();
    }
}

/// A connection goes back to TCP, or all.
pub(crate) fn go_back(connection: u64) {
    for (at, _) in slot::all() {
        if connection == 0 || at.conn().id.load(Relaxed) == connection {
            service::bring_back(&at, Reason::Asked);
        }
    }
}

fn record(at: &Ref, fd: i32) -> Option<Record> {
    let conn = at.conn();
    let mut record = plain(fd, Reason::Unused)?;
    record.connection = conn.id.load(Relaxed);
    record.waits = conn.waits.load(Relaxed);
    let (is_attached, is_stopped) = {
        let mut out = conn.out().ok()?;
        record.out.ring_bytes = out.path.ring().written();
        if out.is_ring() {
            record.out.transport = Transport::Ring;
        }
        (out.is_attached(), out.is_stopped())
    };
    let mut input = conn.input().ok()?;
    record.input.ring_bytes = input.path.ring().consumed();
    // What is left there when the other end has gone back is no way for new bytes.
    let is_left = input.path.ring().shared().value(Field::Left) != NONE;
    if !is_left && input.path.source() == Ok(Source::Ring) {
        record.input.transport = Transport::Ring;
    }
    let is_ring = |flow: Flow| flow.transport == Transport::Ring;
    let noted = Reason::of(conn.reason.load(Relaxed)).ok();
    record.reason = match noted {
        Some(Reason::Lost) => noted,
        _ if is_ring(record.out) && is_ring(record.input) => None,
        Some(reason) => Some(reason),
        None if conn.is_plain.load(Relaxed) => {
            let refused = Reason::of(conn.refused.load(Relaxed));
            Some(refused.unwrap_or(Reason::FewBytes))
        }
        // This process has not noted anything: it was the other one.
        None if is_stopped || is_left => Some(Reason::Peer),
        None if !is_attached => Some(Reason::Unclaimed),
        None => Some(Reason::Unused),
    };
    Some(record)
}

/// Of a connection without rings, if the descriptor is one still.
#[allow(unsafe_code, reason = "a number becomes a borrowed descriptor")]
fn plain(fd: i32, reason: Reason) -> Option<Record> {
    // SAFETY: if it is closed meanwhile, the kernel says so.
    let socket = unsafe { BorrowedFd::borrow_raw(fd) };
    let local = getsockname(socket).ok()?.try_into().ok()?;
    let peer = getpeername(socket).ok()??.try_into().ok()?;
    let info: [u8; 232] = sys::option(fd, libc::IPPROTO_TCP, libc::TCP_INFO)?;
    let number = |at: usize| u64::from_ne_bytes(std::array::from_fn(|digit| info[at + digit]));
    let flow = |tcp_bytes| Flow { transport: Transport::Tcp, tcp_bytes, ring_bytes: 0 };
    Some(Record {
        connection: PLAIN + fd as u64,
        descriptor: fd,
        local,
        peer,
        out: flow(number(BYTES_SENT).saturating_sub(number(BYTES_SENT_AGAIN))),
        input: flow(number(BYTES_RECEIVED)),
        waits: 0,
        reason: Some(reason),
    })
}
