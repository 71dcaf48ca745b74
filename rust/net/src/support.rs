//! What the kernel has to have.

use afterbay_net_agent::{Socket, TcpSocket};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// Why nothing can be accelerated on this machine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsupported {
    #[error(
        "this kernel gives no sealed shared memory (memfd_create: {0}): Linux has it since 3.17; a container's seccomp profile, or vm.memfd_noexec=2, may forbid it"
    )]
    Memory(Errno),
    #[error("a TCP socket cannot be made here: {0}")]
    Sockets(Errno),
    #[error(
        "this kernel does not say in which network namespace a socket is (SO_NETNS_COOKIE): Linux does since 5.14, and without it connections of two containers could be mixed up"
    )]
    Namespaces,
}

/// Tries what connections in memory need.
pub(crate) fn check() -> Result<(), Unsupported> {
    let memory = memfd_create("afterbay-net", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    memory.and_then(|memory| fcntl_add_seals(memory, seals)).map_err(Unsupported::Memory)?;
    let of = |family| socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let socket = of(AddressFamily::INET).or_else(|_| of(AddressFamily::INET6));
    let socket = TcpSocket(socket.map_err(Unsupported::Sockets)?);
    socket.ends().map(drop).ok_or(Unsupported::Namespaces)
}
