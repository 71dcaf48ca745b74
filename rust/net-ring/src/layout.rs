//! Where things lie in a segment of shared memory (`spec/net-ring.md`).

use crate::error::LayoutError;

/// The first bytes of a segment.
pub const MAGIC: [u8; 8] = *b"AFTNRING";
/// The layout that this crate knows.
pub const VERSION: u32 = 1;
/// Bytes of the geometry, at the beginning of a segment.
pub const GEOMETRY_BYTES: usize = 32;
/// Bytes before the data of the first ring.
pub const SEGMENT_HEAD_BYTES: usize = 4096;
/// Bytes of a ring's control block.
pub const CONTROL_BYTES: usize = 1024;
/// The value of [`Field::SwitchOff`] and [`Field::Left`] as long as nothing is said there.
pub const NONE: u64 = u64::MAX;
/// The value of [`Field::Joined`] when the consumer was first.
pub const JOINED: u64 = 1;
/// And when the producer was.
pub const TAKEN_BACK: u64 = 2;

/// Bytes of a ring that has not grown.
const FIRST: u64 = 64 << 10;
/// Below this, a ring in a segment would not begin at a page.
const SEGMENT_CAPACITY_MIN: u64 = 4096;

/// A word of a control block. Each is 8 bytes long; those that one side writes share no cache line with the other's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// Bytes that were ever published. Written by the producer.
    Head,
    /// Bytes that the producer sent on TCP before it began with the ring, or [`NONE`]. Written by the producer.
    SwitchOff,
    /// Not 0: nothing comes after [`Field::Head`]. Written by the producer.
    Ended,
    /// Not 0: the producer sends by TCP what the consumer left in the ring. Written by the producer.
    Returned,
    /// Not 0: the ring is as large as the segment says, and no longer [`Capacity::first`]. Written by the producer.
    Grown,
    /// Bytes that were ever consumed. Written by the consumer.
    Tail,
    /// Not 0: the consumer has the ring, and will look at [`Field::SwitchOff`]. Written by the consumer.
    Attached,
    /// [`JOINED`]: the consumer takes no byte from TCP past [`Field::SwitchOff`]. [`TAKEN_BACK`]: before it came to that, the
    /// producer has taken back all that it wrote. Written once, by compare and exchange.
    Joined,
    /// Not 0: the consumer's bell is silent. Set by the consumer, taken by who rings.
    ReaderWaits,
    /// Not 0: the producer's bell is silent. Set by the producer, taken by who rings.
    WriterWaits,
    /// Who went back to TCP first, and where, or [`NONE`]. Written once, by compare and exchange.
    Left,
}

impl Field {
    /// All of them, in the order of their offsets.
    pub const ALL: [Field; 11] = [
        Field::Head,
        Field::SwitchOff,
        Field::Ended,
        Field::Returned,
        Field::Grown,
        Field::Tail,
        Field::Attached,
        Field::Joined,
        Field::ReaderWaits,
        Field::WriterWaits,
        Field::Left,
    ];

    /// Bytes from the beginning of the control block.
    pub const fn offset(self) -> usize {
        match self {
            Field::Head => 0,
            Field::SwitchOff => 8,
            Field::Ended => 16,
            Field::Returned => 24,
            Field::Grown => 32,
            Field::Tail => 128,
            Field::Attached => 136,
            Field::Joined => 144,
            Field::ReaderWaits => 256,
            Field::WriterWaits => 384,
            Field::Left => 512,
        }
    }

    /// What it is before anybody used the ring: the reader waits, since there is nothing, and the writer does not.
    pub const fn initial(self) -> u64 {
        match self {
            Field::SwitchOff | Field::Left => NONE,
            Field::ReaderWaits => 1,
            _ => 0,
        }
    }
}

/// Bytes that a ring holds: a power of two, at most 1 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capacity(u64);

impl Capacity {
    /// The largest.
    pub const MAX: Capacity = Capacity(1 << 30);

    /// Of so many bytes.
    pub const fn new(bytes: u64) -> Result<Self, LayoutError> {
        if bytes.is_power_of_two() && bytes <= Self::MAX.0 {
            Ok(Capacity(bytes))
        } else {
            Err(LayoutError::Capacity { found: bytes })
        }
    }

    /// Bytes of a ring that has not grown: as many, and at most 64 KiB.
    pub const fn first(self) -> Capacity {
        if self.0 < FIRST { self } else { Capacity(FIRST) }
    }

    /// In bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// In bytes, of memory that is in this process.
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }

    /// Where the byte at a position of the stream lies.
    pub const fn index(self, position: u64) -> usize {
        (position & (self.0 - 1)) as usize
    }
}

/// Which of the two rings of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From who called `connect` to who called `accept`.
    ToAcceptor,
    /// Back.
    ToConnector,
}

impl Direction {
    /// Where the control block begins, in bytes of the segment.
    pub const fn control_offset(self) -> usize {
        match self {
            Direction::ToAcceptor => CONTROL_BYTES,
            Direction::ToConnector => 2 * CONTROL_BYTES,
        }
    }
}

/// How large the two rings of a segment are. Each side reads it once, when it maps the segment.
///
/// ```text
///  0        8        12       16             24            32
///  | magic  | version| zero   | to acceptor  | to connector|
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    to_acceptor: Capacity,
    to_connector: Capacity,
}

impl Geometry {
    /// Of two rings of at least 4 KiB each.
    pub const fn new(to_acceptor: Capacity, to_connector: Capacity) -> Result<Self, LayoutError> {
        let smaller = if to_acceptor.0 < to_connector.0 { to_acceptor.0 } else { to_connector.0 };
        if smaller < SEGMENT_CAPACITY_MIN {
            return Err(LayoutError::Capacity { found: smaller });
        }
        Ok(Geometry { to_acceptor, to_connector })
    }

    /// Of the ring in this direction.
    pub const fn capacity(&self, direction: Direction) -> Capacity {
        match direction {
            Direction::ToAcceptor => self.to_acceptor,
            Direction::ToConnector => self.to_connector,
        }
    }

    /// Where the data of the ring begin, in bytes of the segment.
    pub const fn data_offset(&self, direction: Direction) -> usize {
        match direction {
            Direction::ToAcceptor => SEGMENT_HEAD_BYTES,
            Direction::ToConnector => SEGMENT_HEAD_BYTES + self.to_acceptor.as_usize(),
        }
    }

    /// Bytes of the whole segment.
    pub const fn segment_bytes(&self) -> usize {
        self.data_offset(Direction::ToConnector) + self.to_connector.as_usize()
    }

    /// As it is written at the beginning of the segment.
    pub fn encode(&self) -> [u8; GEOMETRY_BYTES] {
        let mut bytes = [0; GEOMETRY_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.to_acceptor.0.to_le_bytes());
        bytes[24..].copy_from_slice(&self.to_connector.0.to_le_bytes());
        bytes
    }

    /// Reads what [`Geometry::encode`] wrote.
    pub fn parse(bytes: &[u8; GEOMETRY_BYTES]) -> Result<Self, LayoutError> {
        if bytes[..8] != MAGIC {
            return Err(LayoutError::Magic);
        }
        let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        if version != VERSION {
            return Err(LayoutError::Version { found: version });
        }
        if bytes[12..16] != [0; 4] {
            return Err(LayoutError::Reserved);
        }
        Geometry::new(Capacity::new(number(&bytes[16..24]))?, Capacity::new(number(&bytes[24..]))?)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
