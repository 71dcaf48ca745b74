//! The messages.

use crate::error::{DecodeError, Result};
use crate::group::GroupName;
use crate::reason::Reason;
use crate::record::{RECORD_BYTES, Record};

/// The first bytes of a message.
pub const MAGIC: [u8; 4] = *b"ANET";
/// The version that this crate knows.
pub const VERSION: u16 = 1;
/// The longest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = HEADER_BYTES + PID_BYTES + RECORD_BYTES;

const HEADER_BYTES: usize = 16;
const PID_BYTES: usize = 4;

/// A message, without its descriptors. `reference` is the library's name for one of its sockets; the agent repeats it.
///
/// ```text
///  0       4        6       8            16
///  | magic | version | kind  | reference  | what comes with it
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The library's first message: the trust group that its program belongs to.
    Hello {
        /// Its name.
        group: GroupName,
    },
    /// This TCP socket will connect, and brings these rings: TCP, segment, the bells of reader and writer of both rings, first
    /// those of the ring to the acceptor, and the call.
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
    /// This connection to the agent answers questions for its process, and takes its orders.
    Serve,
    /// One of the connections that [`Message::Report`] asks for.
    Record {
        /// The question.
        reference: u64,
        /// The connection.
        record: Record,
    },
    /// All connections that [`Message::Report`] asks for are said.
    Reported {
        /// The question.
        reference: u64,
    },
    /// Which connections are there, of all programs of this user?
    Status {
        /// The question's name.
        reference: u64,
    },
    /// Connections of a program of this user shall go back to TCP.
    Demote {
        /// The connection, or 0 for all of the program.
        connection: u64,
        /// The program, as the agent sees it; 0 for all.
        pid: u32,
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
    /// To who serves: which connections are there?
    Report {
        /// The question.
        reference: u64,
    },
    /// To who serves: this connection goes back to TCP, or all of them for 0.
    GoBack {
        /// The connection.
        connection: u64,
    },
    /// To who asked `Status`: so many programs were asked.
    Asked {
        /// The question.
        reference: u64,
        /// How many of them will end with [`Message::Done`].
        programs: u32,
    },
    /// To who asked `Status`: a connection of one of them.
    Listed {
        /// The question.
        reference: u64,
        /// The program, as the agent sees it.
        pid: u32,
        /// The connection.
        record: Record,
    },
    /// To who asked `Status`: one of them has said all, or is gone.
    Done {
        /// The question.
        reference: u64,
        /// The program, as the agent sees it.
        pid: u32,
    },
    /// To who asked `Demote`: so many programs were told.
    Told {
        /// The connection, as it was asked for.
        connection: u64,
        /// How many.
        programs: u32,
    },
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
            Message::Record { record, .. } => bytes.extend_from_slice(&record.encode()),
            Message::Listed { pid, record, .. } => {
                bytes.extend_from_slice(&pid.to_le_bytes());
                bytes.extend_from_slice(&record.encode());
            }
            Message::Demote { pid: number, .. }
            | Message::Done { pid: number, .. }
            | Message::Asked { programs: number, .. }
            | Message::Told { programs: number, .. } => {
                bytes.extend_from_slice(&number.to_le_bytes())
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
            Message::Offer { .. } => 7,
            Message::Paired { .. } => 6,
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
            Message::Serve => (5, 0),
            Message::Record { reference, .. } => (6, reference),
            Message::Reported { reference } => (7, reference),
            Message::Status { reference } => (8, reference),
            Message::Demote { connection, .. } => (9, connection),
            Message::Welcome => (16, 0),
            Message::Offered { reference } => (17, reference),
            Message::Claimed { reference } => (18, reference),
            Message::Paired { reference } => (19, reference),
            Message::Refused { reference, .. } => (20, reference),
            Message::Report { reference } => (21, reference),
            Message::GoBack { connection } => (22, connection),
            Message::Asked { reference, .. } => (23, reference),
            Message::Listed { reference, .. } => (24, reference),
            Message::Done { reference, .. } => (25, reference),
            Message::Told { connection, .. } => (26, connection),
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
        let number = |at: usize| -> Result<u32> {
            let bytes = body.get(at..).and_then(<[u8]>::first_chunk);
            bytes.copied().map(u32::from_le_bytes).ok_or(DecodeError::Length {
                found: HEADER_BYTES + body.len(),
                needed: HEADER_BYTES + at + PID_BYTES,
            })
        };
        let record = |at: usize| {
            length(at + RECORD_BYTES)?;
            let bytes = body.get(at..).and_then(<[u8]>::first_chunk);
            bytes.ok_or(DecodeError::Record).and_then(Record::decode)
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
            5 if reference == 0 => length(0).map(|()| Message::Serve),
            6 => Ok(Message::Record { reference, record: record(0)? }),
            7 => length(0).map(|()| Message::Reported { reference }),
            8 => length(0).map(|()| Message::Status { reference }),
            9 => {
                length(PID_BYTES)?;
                Ok(Message::Demote { connection: reference, pid: number(0)? })
            }
            16 if reference == 0 => length(0).map(|()| Message::Welcome),
            17 => length(0).map(|()| Message::Offered { reference }),
            18 => length(0).map(|()| Message::Claimed { reference }),
            19 => length(0).map(|()| Message::Paired { reference }),
            20 => {
                length(2)?;
                let reason = Reason::of(u16::from_le_bytes([body[0], body[1]]))?;
                Ok(Message::Refused { reference, reason })
            }
            21 => length(0).map(|()| Message::Report { reference }),
            22 => length(0).map(|()| Message::GoBack { connection: reference }),
            23 => {
                length(PID_BYTES)?;
                Ok(Message::Asked { reference, programs: number(0)? })
            }
            24 => {
                let record = record(PID_BYTES)?;
                Ok(Message::Listed { reference, pid: number(0)?, record })
            }
            25 => {
                length(PID_BYTES)?;
                Ok(Message::Done { reference, pid: number(0)? })
            }
            26 => {
                length(PID_BYTES)?;
                Ok(Message::Told { connection: reference, programs: number(0)? })
            }
            found => Err(DecodeError::Kind { found }),
        }
    }
}
