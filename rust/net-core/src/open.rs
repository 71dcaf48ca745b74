//! How a connection gets rings: the connector offers them, the acceptor claims them, each of them once the connection has carried so
//! much that they are worth it (`worth`). Until then, and if they never come together, it is TCP's.

use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::fence;

use afterbay_net_proto::Reason;
use afterbay_net_ring::{Direction, Geometry};
use afterbay_net_shm::{EventBell, Segment};
use rustix::net::{
    SocketAddr, SocketAddrV4, SocketAddrV6, SocketType, bind, getsockname, ipproto, sockopt,
};

use crate::config::Config;
use crate::lock::Lock;
use crate::slot::{self, Local, Ref};
use crate::{agent, descriptors, memory, process, service, sys};

/// Whether a descriptor is a TCP socket. Streams of other kinds have other protocols, and what is no stream may have this one.
fn is_tcp(fd: BorrowedFd<'_>) -> bool {
    sockopt::socket_protocol(fd) == Ok(Some(ipproto::TCP))
        && sockopt::socket_type(fd) == Ok(SocketType::STREAM)
}

/// Before `connect`: the socket, if it is one of TCP, may get rings, at once or later.
pub fn before_connect(config: &Config, fd: BorrowedFd<'_>) {
    if !slot::is_ours(fd.as_raw_fd()) && is_tcp(fd) {
        begin(config, fd, true);
    }
}

/// A connection begins, on TCP.
fn begin(config: &Config, fd: BorrowedFd<'_>, is_connector: bool) {
    let number = fd.as_raw_fd();
    if crate::uses_io_uring() {
        return stay(number, agent::reach(config).err().unwrap_or(Reason::IoUring));
    }
    let begun = agent::reach(config)
        .and_then(|()| slot::open(number, is_connector, config.after).ok_or(Reason::Connections));
    let at = match begun {
        Ok(at) => at,
        Err(reason) => return stay(number, reason),
    };
    slot::forget_note(number);
    crate::epoll::adopt(&at, number);
    if config.after == 0 {
        if is_connector && let Err(reason) = bind_port(fd) {
            return at.conn().refuse(reason);
        }
        seek(config, &at, number);
    }
    // A socket that has not begun to connect would count as one that has ended.
    if !is_connector {
        service::watch(&at, number);
    }
}

/// It stays on TCP. The agent is told why when it asks.
fn stay(fd: i32, reason: Reason) {
    slot::note(fd, reason);
    if reason != Reason::NoAgent {
        service::ensure();
    }
}

/// Who has it makes a copy of a socket, or gives a connection rings. The copies that there are.
static MOVING: Lock<Vec<RawFd>> = Lock::new(Vec::new());

/// A copy of a socket, as long as the agent is asked about it: another thread may close the descriptor meanwhile, and its number be
/// that of another connection.
#[derive(Debug)]
struct Copied(ManuallyDrop<OwnedFd>);

impl Copied {
    fn of(fd: i32) -> Option<Self> {
        let mut copies = MOVING.lock().ok()?;
        let copy = sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0).ok()?;
        let copy = descriptors::lift(descriptors::own(copy))?;
        copies.push(copy.as_raw_fd());
        Some(Copied(ManuallyDrop::new(copy)))
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let copy = self.0.as_raw_fd();
        if let Ok(mut copies) = MOVING.lock() {
            copies.retain(|&other| other != copy);
            let _ = sys::close(copy);
        }
    }
}

/// In a child: nobody asks about the parent's copies. A socket would be open as long as the child is.
pub(crate) fn begin_anew() {
    if let Ok(mut copies) = MOVING.lock() {
        for copy in copies.drain(..) {
            let _ = sys::close(copy);
        }
    }
}

/// During a fork, no connection gets rings: parent or child would not have them.
pub(crate) fn lock_for_fork() {
    MOVING.hold(|_| {});
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    MOVING.let_go(parents_thread);
}

/// The connection is worth rings: offers or claims them. If there are none for it, it goes on by TCP, and they are looked for again
/// when it has carried twice as much.
#[cold]
pub(crate) fn move_up(at: &Ref, fd: i32) {
    let Some(config) = crate::config().filter(|_| !process::is_foreign()) else { return };
    seek(config, at, fd);
    if !at.conn().is_plain.load(SeqCst) && at.is_at(fd) {
        service::watch(at, fd);
        // Who closes it takes it out of the table first.
        if !at.is_at(fd) {
            service::forget(at, fd);
        }
    }
}

fn seek(config: &Config, at: &Ref, fd: i32) {
    let conn = at.conn();
    let Some(_trying) = conn.worth.begin() else { return };
    if !conn.may_get_rings() || crate::epoll::is_shared(at) || crate::uses_io_uring() {
        return;
    }
    if sys::tells_times(fd) {
        return conn.refuse(Reason::OtherCalls);
    }
    let Some(copy) = Copied::of(fd) else { return };
    if !at.is_at(fd) {
        return;
    }
    // The kernel has kept to it until now.
    conn.set_low_water(fd);
    let moved = if conn.is_connector {
        offer(config, at, copy.0.as_fd())
    } else {
        claim(config, at, copy.0.as_fd())
    };
    if let Err(reason) = moved {
        conn.refuse(reason);
    }
}

/// Offers rings, and keeps them.
fn offer(config: &Config, at: &Ref, socket: BorrowedFd<'_>) -> Result<(), Reason> {
    agent::reach(config)?;
    let conn = at.conn();
    let account = slot::account(at.slot());
    // Who is last closes the account.
    if !account.take(memory::of_offer()) {
        return Err(Reason::Memory);
    }
    let offered = make(config).and_then(|(local, segment)| {
        let [a, b, c, d, call] = local.borrow();
        let id = conn.id.load(Relaxed);
        // Who closes it withdraws the offer, or what follows does.
        conn.is_offered.store(true, SeqCst);
        agent::offer(config, id, socket, [segment.as_fd(), a, b, c, d, call])?;
        if equip(at, local) {
            return Ok(());
        }
        agent::withdraw(id);
        Err(Reason::FewBytes)
    });
    if offered.is_err() {
        conn.is_offered.store(false, SeqCst);
        account.give_back(memory::of_offer());
    }
    offered
}

/// Claims the rings that the other end has offered.
fn claim(config: &Config, at: &Ref, socket: BorrowedFd<'_>) -> Result<(), Reason> {
    let [segment, bells @ ..] = agent::claim(config, socket)?;
    let segment = Segment::open(segment).map_err(|_| Reason::Broken)?;
    let [a, b, c, d, call] = bells.map(descriptors::lift);
    let [Some(a), Some(b), Some(c), Some(d)] = [a, b, c, d] else {
        return Err(Reason::Descriptors);
    };
    // A call that is no eventfd would be written to.
    let call = EventBell::open(call.ok_or(Reason::Descriptors)?).map_err(|_| Reason::Broken)?;
    let call = lift(&call).ok_or(Reason::Descriptors)?;
    let local = local(&segment, [a, b, c, d], call)?;
    if equip(at, local) { Ok(()) } else { Err(Reason::FewBytes) }
}

/// The connection has rings from now on. Whether it does, and is open.
fn equip(at: &Ref, local: Local) -> bool {
    {
        let Ok(_moving) = MOVING.lock() else { return false };
        if at.conn().equip(at, local) != Ok(true) {
            return false;
        }
    }
    crate::epoll::equip(at);
    // As in `attention`: who closes takes the descriptor out of the table, and looks then whether it is offered.
    fence(SeqCst);
    at.descriptors() > 0
}

/// The agent finds the other end by the port that it connects from.
fn bind_port(fd: BorrowedFd<'_>) -> Result<(), Reason> {
    let local = getsockname(fd).map_err(|_| Reason::NotBound)?;
    let local = std::net::SocketAddr::try_from(local).map_err(|_| Reason::NotBound)?;
    if local.port() != 0 {
        return Ok(());
    }
    let any: SocketAddr = match local {
        std::net::SocketAddr::V4(local) => SocketAddrV4::new(*local.ip(), 0).into(),
        std::net::SocketAddr::V6(local) => SocketAddrV6::new(*local.ip(), 0, 0, 0).into(),
    };
    bind(fd, &any).map_err(|_| Reason::NotBound)
}

/// New rings.
fn make(config: &Config) -> Result<(Local, Segment), Reason> {
    let geometry = Geometry::new(config.ring, config.ring).map_err(|_| Reason::Memory)?;
    let segment = Segment::create(geometry).map_err(|_| Reason::Memory)?;
    // There is nothing to read, and room to write.
    let bell = |rings| EventBell::create(rings).ok().and_then(|bell| lift(&bell));
    let bells = [bell(false), bell(true), bell(false), bell(true)];
    let [Some(a), Some(b), Some(c), Some(d)] = bells else { return Err(Reason::Descriptors) };
    let call = bell(false).ok_or(Reason::Descriptors)?;
    Ok((local(&segment, [a, b, c, d], call)?, segment))
}

fn lift(bell: &EventBell) -> Option<OwnedFd> {
    descriptors::lift(bell.as_fd().try_clone_to_owned().ok()?)
}

fn local(segment: &Segment, bells: [OwnedFd; 4], call: OwnedFd) -> Result<Local, Reason> {
    let [a, b, c, d] = bells.map(|bell| EventBell::open(bell).ok());
    let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) else { return Err(Reason::Broken) };
    let rings = [Direction::ToAcceptor, Direction::ToConnector].map(|to| segment.ring(to));
    Ok(Local { rings, bells: [a, b, c, d], call })
}

/// After a `connect` that has succeeded, or goes on.
pub fn after_connect(fd: i32) {
    if let Some(at) = slot::get(fd) {
        service::watch(&at, fd);
    }
}

/// After a `connect` that failed: no byte has moved, and what was offered is gone.
pub fn after_failed_connect(fd: i32) {
    if let Some(at) = slot::get(fd)
        && let Some(first) = slot::detach(fd)
    {
        if at.conn().is_offered.load(SeqCst) {
            agent::withdraw(at.conn().id.load(Relaxed));
        }
        service::forget(&first, fd);
        crate::epoll::release(&first, fd);
    }
}

/// After `accept`: the socket may get rings, at once or later.
pub fn after_accept(config: &Config, fd: BorrowedFd<'_>) {
    crate::files::after_open(fd.as_raw_fd());
    if is_tcp(fd) {
        begin(config, fd, false);
    }
}
