//! What a library says of one of its connections, for people to look at. Nothing is decided by it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::error::{DecodeError, Result};
use crate::reason::Reason;

/// Bytes of a record.
pub const RECORD_BYTES: usize = 96;

/// Where bytes go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Through the kernel.
    Tcp,
    /// Through a ring.
    Ring,
}

/// One direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Where the next bytes go.
    pub transport: Transport,
    /// Bytes so far that went by TCP.
    pub tcp_bytes: u64,
    /// Bytes so far that went through the ring.
    pub ring_bytes: u64,
}

/// A connection, as its library sees it.
///
/// ```text
///  0           4    5    6        8       24     26     28      44     46    48      56        64      72       80     88     96
///  | descriptor| out| in | reason | local | port | zero | peer  | port | zero| tcp   | ring    | tcp   | ring   | waits | connection
///                                                                            +---- out --------+---- in ------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Record {
    /// The library's name for the connection; never 0. What a wish to go back to TCP names.
    pub connection: u64,
    /// A descriptor that the program has of it.
    pub descriptor: i32,
    /// Its own address.
    pub local: SocketAddr,
    /// That of the other end.
    pub peer: SocketAddr,
    /// What the program writes.
    pub out: Flow,
    /// What the program reads.
    pub input: Flow,
    /// How often a thread of the program waited for the rings.
    pub waits: u64,
    /// Why not both directions are in rings, if they are not.
    pub reason: Option<Reason>,
}

impl Record {
    pub(crate) fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&self.descriptor.to_le_bytes());
        bytes[4] = self.out.transport.code();
        bytes[5] = self.input.transport.code();
        bytes[6..8].copy_from_slice(&self.reason.map_or(0, Reason::code).to_le_bytes());
        put_address(&mut bytes[8..28], self.local);
        put_address(&mut bytes[28..48], self.peer);
        let numbers = [
            self.out.tcp_bytes,
            self.out.ring_bytes,
            self.input.tcp_bytes,
            self.input.ring_bytes,
            self.waits,
            self.connection,
        ];
        for (bytes, number) in bytes[48..].chunks_exact_mut(8).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; RECORD_BYTES]) -> Result<Self> {
        let number =
            |at: usize| u64::from_le_bytes(std::array::from_fn(|digit| bytes[48 + 8 * at + digit]));
        let flow = |transport: u8, at: usize| {
            let transport = Transport::of(transport)?;
            Ok(Flow { transport, tcp_bytes: number(at), ring_bytes: number(at + 1) })
        };
        let reason = match u16::from_le_bytes([bytes[6], bytes[7]]) {
            0 => None,
            code => Some(Reason::of(code)?),
        };
        let record = Record {
            connection: number(5),
            descriptor: i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            local: address(&bytes[8..28])?,
            peer: address(&bytes[28..48])?,
            out: flow(bytes[4], 0)?,
            input: flow(bytes[5], 2)?,
            waits: number(4),
            reason,
        };
        if record.connection == 0 { Err(DecodeError::Record) } else { Ok(record) }
    }
}

impl Transport {
    const fn code(self) -> u8 {
        match self {
            Transport::Tcp => 0,
            Transport::Ring => 1,
        }
    }

    const fn of(code: u8) -> Result<Self> {
        match code {
            0 => Ok(Transport::Tcp),
            1 => Ok(Transport::Ring),
            _ => Err(DecodeError::Record),
        }
    }
}

/// 16 bytes of address, IPv4 in IPv6 form, 2 of port, 2 that are zero.
fn put_address(bytes: &mut [u8], address: SocketAddr) {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    bytes[..16].copy_from_slice(&ip.octets());
    bytes[16..18].copy_from_slice(&address.port().to_le_bytes());
}

fn address(bytes: &[u8]) -> Result<SocketAddr> {
    let ip = Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|at| bytes[at]));
    match bytes[16..] {
        [low, high, 0, 0] => {
            Ok(SocketAddr::new(IpAddr::V6(ip).to_canonical(), u16::from_le_bytes([low, high])))
        }
        _ => Err(DecodeError::Record),
    }
}
