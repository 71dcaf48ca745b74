//! What a script is made of: operations on the two ends of a connection, one after the other.

use serde::{Deserialize, Serialize};

/// Descriptors that an end may have of its connection.
pub(crate) const SLOTS: u8 = 3;

/// An end: who connected, or who accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Side {
    Connector,
    Acceptor,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::Connector, Side::Acceptor];

    pub(crate) fn other(self) -> Side {
        match self {
            Side::Connector => Side::Acceptor,
            Side::Acceptor => Side::Connector,
        }
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// How the connection is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opening {
    pub(crate) family: Family,
    /// The connector binds its port first.
    pub(crate) binds: bool,
    /// The connector does not wait in `connect`.
    pub(crate) polls: bool,
    /// By `accept4`, not blocking.
    pub(crate) accepts_nonblocking: bool,
}

/// Which addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Family {
    V4,
    V6,
    /// IPv4 addresses by sockets of IPv6, as JVMs have them.
    Mapped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SendForm {
    Write,
    Writev,
    Send,
    SendTo,
    SendMsg,
    SendMmsg,
    /// By a stream of the C library on a copy of the descriptor.
    Stdio,
    /// From a file.
    SendFile,
    /// From a pipe.
    Splice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ReceiveForm {
    Read,
    Readv,
    Recv,
    RecvFrom,
    RecvMsg,
    RecvMmsg,
    /// What programs call that are compiled with `_FORTIFY_SOURCE`.
    ReadChk,
    RecvChk,
    RecvFromChk,
    /// By a stream of the C library on a copy of the descriptor, without a buffer.
    Stdio,
    /// Into a pipe.
    Splice,
    /// By another program, which gets the descriptor as its standard input.
    Exec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DupForm {
    Dup,
    Dup2,
    Dup3,
    Fcntl,
    /// Through a Unix socket.
    Passed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PollForm {
    Poll,
    Ppoll,
    Select,
    Pselect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EpollChange {
    Add,
    Modify,
    Delete,
}

/// A socket option that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Setting {
    NoDelay,
    KeepAlive,
    Cork,
    ReceiveLowWater,
    /// Milliseconds; 0 is for ever.
    ReceiveTimeout,
    SendTimeout,
    /// Seconds; -1 is off.
    Linger,
}

/// A socket option that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Question {
    Error,
    Type,
    Domain,
    Protocol,
    IsListening,
    ReceiveLowWater,
    ReceiveTimeout,
    NoDelay,
    KeepAlive,
}

/// An operation of one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Op {
    /// `from`: where in the end's stream the bytes are; the stage fills it in.
    Send {
        slot: u8,
        form: SendForm,
        bytes: usize,
        flags: i32,
        from: u64,
    },
    Receive {
        slot: u8,
        form: ReceiveForm,
        bytes: usize,
        flags: i32,
    },
    /// Sends so many bytes, in pieces, however long it takes.
    SendAll {
        slot: u8,
        bytes: usize,
        piece: usize,
        from: u64,
    },
    /// Receives so many bytes, in pieces, or until the end of the stream.
    ReceiveAll {
        slot: u8,
        bytes: usize,
        piece: usize,
    },
    Shutdown {
        slot: u8,
        how: i32,
    },
    Close {
        slot: u8,
    },
    Dup {
        slot: u8,
        form: DupForm,
        to: u8,
    },
    NonBlocking {
        slot: u8,
        on: bool,
        by_ioctl: bool,
    },
    Set {
        slot: u8,
        setting: Setting,
        value: i32,
    },
    Ask {
        slot: u8,
        question: Question,
    },
    /// How many bytes there are (`FIONREAD`).
    Available {
        slot: u8,
    },
    /// Whether the names of both ends are what they were.
    Names {
        slot: u8,
    },
    /// Of all its descriptors.
    Poll {
        form: PollForm,
        events: i16,
        timeout_ms: i32,
    },
    EpollCtl {
        slot: u8,
        change: EpollChange,
        events: u32,
    },
    EpollWait {
        timeout_ms: i32,
    },
    /// In a child that ends afterwards.
    InChild {
        op: Box<Op>,
    },
    /// What went before has arrived: not part of a script, nor compared.
    Settle {
        slot: u8,
        bytes: usize,
        ended: bool,
        dead: bool,
    },
}

impl Op {
    /// The descriptor that it is about.
    pub(crate) fn slot(&self) -> Option<u8> {
        match self {
            Op::Send { slot, .. }
            | Op::Receive { slot, .. }
            | Op::SendAll { slot, .. }
            | Op::ReceiveAll { slot, .. }
            | Op::Shutdown { slot, .. }
            | Op::Close { slot }
            | Op::Dup { slot, .. }
            | Op::NonBlocking { slot, .. }
            | Op::Set { slot, .. }
            | Op::Ask { slot, .. }
            | Op::Available { slot }
            | Op::Names { slot }
            | Op::EpollCtl { slot, .. }
            | Op::Settle { slot, .. } => Some(*slot),
            Op::InChild { op } => op.slot(),
            Op::Poll { .. } | Op::EpollWait { .. } => None,
        }
    }
}

/// A step of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// One operation, whose result is waited for.
    One(Side, Op),
    /// An operation that waits for what the other end does meanwhile.
    Waits(Side, Op, Vec<Op>),
    /// The connection leaves memory, if it is there.
    Demote,
}

/// A script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Script {
    pub(crate) opening: Opening,
    pub(crate) steps: Vec<Step>,
}

/// What an operation came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// What it returned.
    pub(crate) result: i64,
    /// If that was an error.
    pub(crate) errno: i32,
    /// Of the bytes that it read.
    pub(crate) hash: u64,
    /// What else it said: flags, events.
    pub(crate) more: Vec<i64>,
}

/// The byte at a position of an end's stream.
pub(crate) fn byte(side: Side, position: u64) -> u8 {
    let seed = position.wrapping_mul(2) + side as u64;
    (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// Bytes of an end's stream.
pub(crate) fn bytes(side: Side, from: u64, length: usize) -> Vec<u8> {
    (from..from + length as u64).map(|position| byte(side, position)).collect()
}

/// FNV-1a.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}
