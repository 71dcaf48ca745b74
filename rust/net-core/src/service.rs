//! A thread that does what nobody of the program asks for: looks at a connection when the other end wants it to, notices that TCP
//! has ended, sends the rest of what has to go back to TCP, and answers the agent.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, SeqCst};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

use afterbay_net_proto::{Message, Reason};
use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, epoll_event};
use rustix::event::{EventfdFlags, epoll, eventfd};

use crate::attention::attended;
use crate::lock::Lock;
use crate::slot::{self, Ref};
use crate::{agent, attention, descriptors, files, process, status, sys};

const CALL: u64 = 1 << 32;
const TCP: u64 = 2 << 32;
const AGENT: u64 = 3 << 32;
const NUDGE: u64 = 4 << 32;
const SLOT: u64 = u32::MAX as u64;
const EDGE: u32 = libc::EPOLLET as u32;
/// What is always looked for on TCP.
const ENDS: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32 | EDGE;
/// Small: it calls nothing of the program.
const STACK_BYTES: usize = 256 << 10;
/// How often an agent is looked for that is not there.
const AGENT_RETRY_MS: i32 = 1000;

/// What the thread waits on; of this process.
static EPOLL: AtomicI32 = AtomicI32::new(-1);
static NUDGED: AtomicI32 = AtomicI32::new(-1);
/// By which the agent asks. Changed by who has `START`.
static ANSWERS: AtomicI32 = AtomicI32::new(-1);
/// The process whose thread runs.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static START: Lock<()> = Lock::new(());
/// No thread could be made: no other one is tried before this time.
static RESTS_UNTIL: AtomicU64 = AtomicU64::new(0);
const REST_NS: u64 = 1_000_000_000;

/// In a child: the thread is not there. What it answers by would seem to be there as long as the child is.
pub(crate) fn begin_anew() {
    for fd in [&EPOLL, &NUDGED, &ANSWERS] {
        let fd = fd.swap(-1, SeqCst);
        if fd >= 0 {
            slot::unset_own(fd);
            let _ = sys::close(fd);
        }
    }
    PROCESS.store(0, SeqCst);
    attention::forget();
}

/// During a fork, nobody changes it.
pub(crate) fn lock_for_fork() {
    START.hold(|_| {});
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    START.let_go(parents_thread);
}

/// Starts the thread if it does not run in this process.
pub(crate) fn ensure() {
    if PROCESS.load(Acquire) != process::current() {
        start();
    }
}

#[cold]
fn start() {
    // Its thread would be the parent's, with descriptors of the child's.
    if process::is_foreign() {
        return;
    }
    let Ok(_starting) = START.lock() else { return };
    let current = process::current();
    if PROCESS.load(Acquire) == current || sys::now() < RESTS_UNTIL.load(Acquire) {
        return;
    }
    let Some((waits, nudged)) = make() else { return };
    let (epoll, nudge) = (waits.as_raw_fd(), nudged.as_raw_fd());
    let ends = [waits, nudged];
    let _ = sys::epoll_control(epoll, EPOLL_CTL_ADD, nudge, libc::EPOLLIN as u32 | EDGE, NUDGE);
    EPOLL.store(epoll, SeqCst);
    NUDGED.store(nudge, SeqCst);
    // Signals are the program's, and handled by its own threads.
    let mask = sys::block_signals();
    let thread = std::thread::Builder::new().name("afterbay-net".to_owned());
    let started = thread.stack_size(STACK_BYTES).spawn(move || run(epoll));
    sys::restore_signals(mask);
    if started.is_ok() {
        PROCESS.store(current, SeqCst);
        // As long as the process.
        std::mem::forget(ends);
        slot::all().iter().for_each(|(at, fd)| register(at, *fd));
    } else {
        EPOLL.store(-1, SeqCst);
        NUDGED.store(-1, SeqCst);
        ends.iter().for_each(|end| slot::unset_own(end.as_raw_fd()));
        RESTS_UNTIL.store(sys::now() + REST_NS, SeqCst);
    }
}

fn make() -> Option<(OwnedFd, OwnedFd)> {
    let waits = descriptors::lift(epoll::create(epoll::CreateFlags::CLOEXEC).ok()?)?;
    let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
    let nudged = descriptors::lift(eventfd(0, flags).ok()?)?;
    slot::set_own(waits.as_raw_fd());
    slot::set_own(nudged.as_raw_fd());
    Some((waits, nudged))
}

/// Watches a connection with rings that is there, or on its way: a socket that has not begun to connect counts as one that has
/// ended.
pub(crate) fn watch(at: &Ref, fd: i32) {
    ensure();
    register(at, fd);
}

/// What is there already stays.
fn register(at: &Ref, fd: i32) {
    let epoll = EPOLL.load(Acquire);
    let slot = u64::from(at.slot());
    let call = at.conn().call.fd();
    if call < 0 {
        return;
    }
    let call_events = libc::EPOLLIN as u32 | EDGE;
    let _ = sys::epoll_control(epoll, EPOLL_CTL_ADD, call, call_events, CALL | slot);
    at.hears_of_room().store(false, SeqCst);
    let _ = sys::epoll_control(epoll, EPOLL_CTL_ADD, fd, ENDS, TCP | slot);
}

/// A descriptor of a connection is about to be closed.
pub(crate) fn forget(at: &Ref, fd: i32) {
    let epoll = EPOLL.load(Acquire);
    let call = at.conn().call.fd();
    if call < 0 {
        return;
    }
    let _ = sys::epoll_control(epoll, EPOLL_CTL_DEL, call, 0, 0);
    let _ = sys::epoll_control(epoll, EPOLL_CTL_DEL, fd, 0, 0);
}

/// One of several descriptors of a connection is about to be closed.
pub(crate) fn move_on(at: &Ref, from: i32) {
    let epoll = EPOLL.load(Acquire);
    if sys::epoll_control(epoll, EPOLL_CTL_DEL, from, 0, 0).is_ok()
        && let Some((_, fd)) = slot::of_slot(at.slot())
    {
        let _ = sys::epoll_control(epoll, EPOLL_CTL_ADD, fd, ENDS, TCP | u64::from(at.slot()));
        if at.hears_of_room().swap(false, SeqCst) {
            // The descriptor that told of room has gone.
            sys::ring(NUDGED.load(Acquire));
        }
    }
}

/// Something is left to be done.
pub(crate) fn nudge() {
    ensure();
    sys::ring(NUDGED.load(Acquire));
}

fn run(epoll: i32) {
    let mut answering = Answering::default();
    answering.greet(epoll);
    loop {
        let mut events = [epoll_event { events: 0, u64: 0 }; 32];
        let timeout = if answering.0.is_some() { -1 } else { AGENT_RETRY_MS };
        let count = sys::epoll_wait(epoll, &mut events, timeout, None).unwrap_or(0);
        if answering.0.is_none() {
            answering.greet(epoll);
        }
        for event in &events[..count] {
            let (kind, slot) = (event.u64 & !SLOT, (event.u64 & SLOT) as u32);
            match kind {
                AGENT => answering.hear(),
                NUDGE => slot::all().iter().for_each(|(at, _)| attend(epoll, at.slot(), false)),
                _ => attend(epoll, slot, kind == TCP && event.events & ENDS & !EDGE != 0),
            }
        }
    }
}

/// Looks at a connection. It waits for locks first, and then uses the descriptor ([`attended`]).
pub(crate) fn attend(epoll: i32, slot: u32, may_have_ended: bool) {
    let Some(at) = slot::at(slot) else { return };
    let conn = at.conn();
    if may_have_ended && attended(&at, sys::peer_has_ended) == Some(true) {
        conn.hung_up.store(true, SeqCst);
    }
    if let Ok(mut input) = conn.input() {
        attended(&at, |fd| conn.attend_input(&mut input, fd));
    }
    let mut done = None;
    if let Ok(mut out) = conn.out() {
        done = attended(&at, |fd| {
            let waits_for_tcp = conn.attend_out(&mut out, fd);
            wait_for_room(epoll, &at, fd, waits_for_tcp);
            let lingers = at.lingers().load(Acquire) && at.descriptors() == 1;
            (!waits_for_tcp && lingers).then_some(fd)
        });
        conn.track(&mut out);
    }
    // A descriptor of the library.
    if let Some(Some(fd)) = done {
        files::end_linger(slot, fd);
    }
}

/// A connection goes back to TCP, since somebody wants it there. What is left, the other end's answer brings.
pub(crate) fn bring_back(at: &Ref, reason: Reason) {
    let conn = at.conn();
    conn.note(reason);
    conn.wants_tcp.store(true, SeqCst);
    if let Ok(mut input) = conn.input()
        && input.path.demote().is_err()
    {
        attended(at, |fd| conn.is_broken(fd));
    }
    attend(EPOLL.load(Acquire), at.slot(), false);
    conn.ring_call();
}

/// Not each time: epoll tells anew what is so already, such as an end that has come.
fn wait_for_room(epoll: i32, at: &Ref, fd: i32, is_wanted: bool) {
    if at.hears_of_room().swap(is_wanted, SeqCst) != is_wanted
        && !hear_of_room(epoll, at.slot(), fd, is_wanted)
    {
        at.hears_of_room().store(!is_wanted, SeqCst);
    }
}

/// The epoll tells of room in TCP, or does not any more. Whether it has been told.
fn hear_of_room(epoll: i32, slot: u32, fd: i32, is_wanted: bool) -> bool {
    let events = if is_wanted { ENDS | libc::EPOLLOUT as u32 } else { ENDS };
    let tell =
        |operation| sys::epoll_control(epoll, operation, fd, events, TCP | u64::from(slot)).is_ok();
    // It may have another descriptor of the connection, or have none while that is closed; or get this one in between (`move_on`).
    tell(EPOLL_CTL_MOD) || is_wanted && (tell(EPOLL_CTL_ADD) || tell(EPOLL_CTL_MOD))
}

/// The connection by which the agent asks.
#[derive(Debug, Default)]
struct Answering(Option<OwnedFd>);

impl Answering {
    /// An agent that has no time to say welcome is not waited for.
    fn greet(&mut self, epoll: i32) {
        let Some(config) = crate::config() else { return };
        let Ok(_changing) = START.lock() else { return };
        let Ok(socket) = agent::call(config) else { return };
        if agent::send(&socket, &Message::Serve, &[]).is_ok() {
            let fd = socket.as_raw_fd();
            slot::set_own(fd);
            ANSWERS.store(fd, SeqCst);
            let _ = sys::epoll_control(epoll, EPOLL_CTL_ADD, fd, libc::EPOLLIN as u32, AGENT);
            self.0 = Some(socket);
        }
    }

    fn hear(&mut self) {
        let Some(socket) = &self.0 else { return };
        let answered = match agent::hear(socket) {
            Ok((Message::Report { reference }, _)) => status::report(socket, reference),
            Ok((Message::GoBack { connection }, _)) => {
                status::go_back(connection);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if answered.is_err() {
            self.end();
        }
    }

    fn end(&mut self) {
        let Ok(_changing) = START.lock() else { return };
        if let Some(socket) = self.0.take() {
            let fd = socket.as_raw_fd();
            ANSWERS.store(-1, SeqCst);
            // A process that was made past our functions may have it, too: what it says then is not the next one's.
            let _ = sys::epoll_control(EPOLL.load(Acquire), EPOLL_CTL_DEL, fd, 0, 0);
            slot::unset_own(fd);
        }
    }
}
