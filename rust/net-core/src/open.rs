//! How a connection gets rings: the connector offers them before its first packet, the acceptor claims them.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_proto::Reason;
use afterbay_net_ring::{Direction, Geometry};
use afterbay_net_shm::{EventBell, Segment};
use rustix::net::{
    AddressFamily, SocketAddr, SocketAddrV4, SocketAddrV6, SocketType, bind, getsockname, ipproto,
    sockopt,
};

use crate::config::Config;
use crate::slot::{self, Local};
use crate::{agent, descriptors, memory, service};

/// Whether a descriptor is a TCP socket.
fn is_tcp(fd: BorrowedFd<'_>) -> bool {
    let is_inet = |domain| matches!(domain, AddressFamily::INET | AddressFamily::INET6);
    sockopt::socket_domain(fd).is_ok_and(is_inet)
        && sockopt::socket_type(fd) == Ok(SocketType::STREAM)
        && sockopt::socket_protocol(fd) == Ok(Some(ipproto::TCP))
}

/// Before `connect`: offers rings for the socket, if it is one of TCP that has none.
pub fn before_connect(config: &Config, fd: BorrowedFd<'_>) {
    if slot::is_ours(fd.as_raw_fd()) || !is_tcp(fd) {
        return;
    }
    if crate::uses_io_uring() {
        return slot::note(fd.as_raw_fd(), Reason::IoUring);
    }
    match offer(config, fd) {
        Ok(()) => slot::forget_note(fd.as_raw_fd()),
        Err(reason) => stay(fd.as_raw_fd(), reason),
    }
}

fn offer(config: &Config, fd: BorrowedFd<'_>) -> Result<(), Reason> {
    agent::reach(config)?;
    if !memory::take(memory::of_offer()) {
        return Err(Reason::Memory);
    }
    let offered = bind_port(fd).and_then(|()| {
        let (local, segment) = make(config)?;
        if !slot::open(fd.as_raw_fd(), true, local) {
            return Err(Reason::Memory);
        }
        let Some(at) = slot::get(fd.as_raw_fd()) else { return Err(Reason::Memory) };
        let [a, b, c, d, call] = at.bells();
        let asked = agent::offer(
            config,
            at.conn().id.load(Relaxed),
            fd,
            [segment.as_fd(), a, b, c, d, call],
        );
        asked.inspect_err(|_| drop(slot::detach(fd.as_raw_fd())))?;
        at.conn().set_low_water(fd.as_raw_fd());
        crate::epoll::adopt(&at, fd.as_raw_fd());
        Ok(())
    });
    if offered.is_err() {
        memory::give_back(memory::of_offer());
    }
    offered
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

/// It stays on TCP. The agent is told why when it asks.
fn stay(fd: i32, reason: Reason) {
    slot::note(fd, reason);
    if reason != Reason::NoAgent {
        service::ensure();
    }
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

/// After a `connect` that failed: the offer is gone.
pub fn after_failed_connect(fd: i32) {
    if let Some(at) = slot::get(fd)
        && let Some(first) = slot::detach(fd)
    {
        agent::withdraw(at.conn().id.load(Relaxed));
        service::forget(&first, fd);
        crate::epoll::release(&first, fd);
        memory::give_back(memory::of_offer());
    }
}

/// After `accept`: claims the rings that its other end has offered.
pub fn after_accept(config: &Config, fd: BorrowedFd<'_>) {
    crate::files::after_open(fd.as_raw_fd());
    if !is_tcp(fd) {
        return;
    }
    if crate::uses_io_uring() {
        return slot::note(fd.as_raw_fd(), Reason::IoUring);
    }
    match claim(config, fd) {
        Ok(()) => slot::forget_note(fd.as_raw_fd()),
        Err(reason) => stay(fd.as_raw_fd(), reason),
    }
}

fn claim(config: &Config, fd: BorrowedFd<'_>) -> Result<(), Reason> {
    let [segment, bells @ ..] = agent::claim(config, fd)?;
    let segment = Segment::open(segment).map_err(|_| Reason::Broken)?;
    let [a, b, c, d, call] = bells.map(descriptors::lift);
    let [Some(a), Some(b), Some(c), Some(d)] = [a, b, c, d] else {
        return Err(Reason::Descriptors);
    };
    // A call that is no eventfd would be written to.
    let call = EventBell::open(call.ok_or(Reason::Descriptors)?).map_err(|_| Reason::Broken)?;
    let call = lift(&call).ok_or(Reason::Descriptors)?;
    let local = local(&segment, [a, b, c, d], call)?;
    if !slot::open(fd.as_raw_fd(), false, local) {
        return Err(Reason::Memory);
    }
    if let Some(at) = slot::get(fd.as_raw_fd()) {
        // It has the listener's.
        at.conn().set_low_water(fd.as_raw_fd());
        service::watch(&at, fd.as_raw_fd());
    }
    Ok(())
}
