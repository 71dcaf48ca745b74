//! Why a connection is on TCP.

use std::fmt;

use crate::error::{DecodeError, Result};

/// Why a connection is on TCP, as `net status` says it. The agent gives the first six, the library itself the others.
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
    /// No agent answers.
    NoAgent,
    /// The other end has not taken the rings, or has read nothing yet.
    Unclaimed,
    /// Nothing was written since both ends have the rings.
    Unused,
    /// Somebody asked for it (`net demote`).
    Asked,
    /// The other end went back.
    Peer,
    /// The other end has sent its last byte, or is gone.
    Closing,
    /// Another program inherits the descriptor (`exec`).
    Inherited,
    /// The descriptor was sent to another process.
    Passed,
    /// The program uses the descriptor by other calls: `sendfile`, `splice`, as standard input.
    OtherCalls,
    /// Urgent data.
    Urgent,
    /// The program uses `io_uring`.
    IoUring,
    /// The rings would take more memory than they may.
    Memory,
    /// There are not enough descriptors for the rings' bells.
    Descriptors,
    /// The other end wrote into the shared memory what cannot be.
    Broken,
    /// The program waits for more than a byte (`SO_RCVLOWAT`).
    LowWater,
    /// It has carried too little as yet for rings to be worth what they cost.
    FewBytes,
    /// What was in memory could be handed on to nobody: the connection was reset.
    Lost,
    /// The program has as many connections as the library keeps account of.
    Connections,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 24] = [
        Reason::NoOffer,
        Reason::NotTcp,
        Reason::NotBound,
        Reason::Ambiguous,
        Reason::DuplicateAddress,
        Reason::TooMany,
        Reason::NoAgent,
        Reason::Unclaimed,
        Reason::Unused,
        Reason::Asked,
        Reason::Peer,
        Reason::Closing,
        Reason::Inherited,
        Reason::Passed,
        Reason::OtherCalls,
        Reason::Urgent,
        Reason::IoUring,
        Reason::Memory,
        Reason::Descriptors,
        Reason::Broken,
        Reason::LowWater,
        Reason::FewBytes,
        Reason::Lost,
        Reason::Connections,
    ];

    /// Its number in messages; never 0.
    pub const fn code(self) -> u16 {
        self as u16 + 1
    }

    /// That of a number.
    pub fn of(code: u16) -> Result<Self> {
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
            Reason::NoAgent => "no agent answered",
            Reason::Unclaimed => "nobody took the rings: no library at the other end, or nothing accepted and read there yet",
            Reason::Unused => "nothing was written since both ends have the rings",
            Reason::Asked => "somebody asked for it",
            Reason::Peer => "the other end went back to TCP",
            Reason::Closing => "the other end has sent its last byte, or is gone",
            Reason::Inherited => "a program that was started inherits the descriptor",
            Reason::Passed => "the descriptor was sent to another process",
            Reason::OtherCalls => "the program uses sendfile, splice, timestamps or the kernel's TLS, or has it as its standard input or output",
            Reason::Urgent => "urgent data",
            Reason::IoUring => "the program uses io_uring",
            Reason::Memory => "rings would take more memory than they may",
            Reason::Descriptors => "there are not enough descriptors; raise the limit (ulimit -n)",
            Reason::Broken => "the other end wrote into the shared memory what cannot be",
            Reason::LowWater => "the program waits for several bytes at once (SO_RCVLOWAT)",
            Reason::FewBytes => "few bytes yet",
            Reason::Lost => {
                "what was in memory could not be handed on to another program, and the connection was reset: no process or descriptor for a relay"
            }
            Reason::Connections => "the program has 32,768 connections, and the library keeps account of no more",
        })
    }
}
