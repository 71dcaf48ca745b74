//! The messages.

use std::fmt;

use crate::error::{DecodeError, Result};
use crate::group::{GROUP_BYTES_MAX, GroupName};

/// The first bytes of a message.
pub const MAGIC: [u8; 4] = *b"ANET";
/// The version that this crate knows.
pub const VERSION: u16 = 1;
/// The longest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = HEADER_BYTES + GROUP_BYTES_MAX;

const HEADER_BYTES: usize = 16;

/// A message, without its descriptors. `reference` is the library's name for one of its sockets; the agent repeats it.
///
/// ```text
///  0       4        6       8            16
///  | magic | version | kind  | reference  | group, or reason
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The library's first message: the trust group that its program belongs to.
    Hello {
        /// Its name.
        group: GroupName,
    },
    /// This TCP socket will connect, and brings these rings: TCP, segment, and the bells of reader and writer of both rings,
    /// first those of the ring to the acceptor.
    Offer {
        /// The socket.
        reference: u64,
    },
    /// The socket of an offer is connected without the rings, or closed: the agent closes its descriptors.
    Withdraw {
        /// The socket.
        reference: u64,
    },
    /// This TCP socket was accepted: are there rings for it?
    Claim {
        /// The socket.
        reference: u64,
    },
    /// The agent's answer to `Hello`.
    Welcome,
    /// The agent keeps the offer: connect.
    Offered {
        /// The socket.
        reference: u64,
    },
    /// The acceptor has the rings of this offer.
    Claimed {
        /// The socket.
        reference: u64,
    },
    /// The rings of this claim: segment and bells, as in the offer.
    Paired {
        /// The socket.
        reference: u64,
    },
    /// The socket of an offer or a claim stays on TCP.
    Refused {
        /// The socket.
        reference: u64,
        /// Why.
        reason: Reason,
    },
}

/// Why a socket stays on TCP, as `net status` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Nobody offered rings for this connection: a program without the library, an address that was translated, or another
    /// group.
    NoOffer,
    /// The descriptor is not that of a TCP socket.
    NotTcp,
    /// The socket of an offer is not bound, or that of a claim not connected.
    NotBound,
    /// Two offers could be meant.
    Ambiguous,
    /// An address of the trust group names two containers.
    DuplicateAddress,
    /// Too many offers wait.
    TooMany,
}

impl Reason {
    const ALL: [Reason; 6] = [
        Reason::NoOffer,
        Reason::NotTcp,
        Reason::NotBound,
        Reason::Ambiguous,
        Reason::DuplicateAddress,
        Reason::TooMany,
    ];

    const fn code(self) -> u16 {
        match self {
            Reason::NoOffer => 1,
            Reason::NotTcp => 2,
            Reason::NotBound => 3,
            Reason::Ambiguous => 4,
            Reason::DuplicateAddress => 5,
            Reason::TooMany => 6,
        }
    }

    fn of(code: u16) -> Result<Self> {
        let reason = Self::ALL.into_iter().find(|reason| reason.code() == code);
        reason.ok_or(DecodeError::Reason { found: code })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NoOffer => {
                "nobody offered rings: no library at the other end, a translated address, or another trust group"
            }
            Reason::NotTcp => "not a TCP socket",
            Reason::NotBound => "the socket is not bound, or not connected",
            Reason::Ambiguous => "two connections could be meant",
            Reason::DuplicateAddress => {
                "an address of the trust group names two containers; give each of them a group of its own"
            }
            Reason::TooMany => "too many offers wait",
        })
    }
}

impl Message {
    /// As it is sent.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, reference) = self.head();
        let mut bytes = Vec::with_capacity(MESSAGE_BYTES_MAX);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&reference.to_le_bytes());
        match self {
            Message::Hello { group } => bytes.extend_from_slice(group.as_str().as_bytes()),
            Message::Refused { reason, .. } => {
                bytes.extend_from_slice(&reason.code().to_le_bytes())
            }
            _ => {}
        }
        bytes
    }

    /// Reads what [`Message::encode`] wrote, which came with so many descriptors.
    pub fn decode(bytes: &[u8], descriptors: usize) -> Result<Self> {
        let Some((header, body)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(DecodeError::Length { found: bytes.len(), needed: HEADER_BYTES });
        };
        let [m0, m1, m2, m3, v0, v1, k0, k1, reference @ ..] = *header;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(DecodeError::Magic);
        }
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(DecodeError::Version { found: version });
        }
        let kind = u16::from_le_bytes([k0, k1]);
        let message = Self::of(kind, u64::from_le_bytes(reference), body)?;
        let needed = message.descriptors();
        if descriptors != needed {
            return Err(DecodeError::Descriptors { found: descriptors, needed });
        }
        Ok(message)
    }

    /// How many descriptors come with it.
    pub fn descriptors(&self) -> usize {
        match self {
            Message::Offer { .. } => 6,
            Message::Paired { .. } => 5,
            Message::Claim { .. } => 1,
            _ => 0,
        }
    }

    fn head(&self) -> (u16, u64) {
        match *self {
            Message::Hello { .. } => (1, 0),
            Message::Offer { reference } => (2, reference),
            Message::Withdraw { reference } => (3, reference),
            Message::Claim { reference } => (4, reference),
            Message::Welcome => (16, 0),
            Message::Offered { reference } => (17, reference),
            Message::Claimed { reference } => (18, reference),
            Message::Paired { reference } => (19, reference),
            Message::Refused { reference, .. } => (20, reference),
        }
    }

    fn of(kind: u16, reference: u64, body: &[u8]) -> Result<Self> {
        let length = |needed: usize| match body.len() == needed {
            true => Ok(()),
            false => Err(DecodeError::Length {
                found: HEADER_BYTES + body.len(),
                needed: HEADER_BYTES + needed,
            }),
        };
        match kind {
            1 if reference != 0 => Err(DecodeError::Kind { found: kind }),
            1 => {
                let group = std::str::from_utf8(body).map_err(|_| DecodeError::Group)?.parse()?;
                Ok(Message::Hello { group })
            }
            2 => length(0).map(|()| Message::Offer { reference }),
            3 => length(0).map(|()| Message::Withdraw { reference }),
            4 => length(0).map(|()| Message::Claim { reference }),
            16 if reference == 0 => length(0).map(|()| Message::Welcome),
            17 => length(0).map(|()| Message::Offered { reference }),
            18 => length(0).map(|()| Message::Claimed { reference }),
            19 => length(0).map(|()| Message::Paired { reference }),
            20 => {
                length(2)?;
                let reason = Reason::of(u16::from_le_bytes([body[0], body[1]]))?;
                Ok(Message::Refused { reference, reason })
            }
            found => Err(DecodeError::Kind { found }),
        }
    }
}
