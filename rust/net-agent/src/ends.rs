//! What the kernel says of a socket.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::sockopt::{socket_domain, socket_protocol, socket_type};
use rustix::net::{AddressFamily, SocketType, getpeername, getsockname, ipproto};

use crate::cookie::netns_cookie;

/// An address and a port. An IPv4 address in IPv6 form, as the JVM has it, is the IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The address; without a scope, which has another number in each network namespace.
    pub ip: IpAddr,
    /// The port; 0 of a socket that is not bound.
    pub port: u16,
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Address { ip: address.ip().to_canonical(), port: address.port() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::new(self.ip, self.port).fmt(f)
    }
}

/// What the kernel says of a TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// Its own address.
    pub local: Address,
    /// That of the other end, if it is connected.
    pub peer: Option<Address>,
    /// The cookie of its network namespace.
    pub netns: u64,
}

/// A socket of which the kernel can be asked. Simulations have others.
pub trait Socket {
    /// What the kernel says now; nothing if it is not a TCP socket.
    fn ends(&self) -> Option<Ends>;
}

/// The descriptor of a socket. As long as it is here, a close of the program's does not end the connection: whoever holds it,
/// holds it no longer than needed.
#[derive(Debug)]
pub struct TcpSocket(pub OwnedFd);

impl Socket for TcpSocket {
    fn ends(&self) -> Option<Ends> {
        let fd = &self.0;
        let domain = socket_domain(fd).ok()?;
        let is_tcp = matches!(domain, AddressFamily::INET | AddressFamily::INET6)
            && socket_type(fd).ok()? == SocketType::STREAM
            && socket_protocol(fd).ok()? == Some(ipproto::TCP);
        if !is_tcp {
            return None;
        }
        let local = SocketAddr::try_from(getsockname(fd).ok()?).ok()?;
        let peer = getpeername(fd).ok().flatten().and_then(|peer| SocketAddr::try_from(peer).ok());
        let netns = netns_cookie(fd)?;
        Some(Ends { local: local.into(), peer: peer.map(Address::from), netns })
    }
}
