//! What is wrong with what the peer wrote.

use core::fmt;

/// Why a ring is no longer used. It stays so: what a peer that does this writes next is not worth reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingError {
    /// The consumer's cursor went back, or past what was published.
    Tail {
        /// What lies in shared memory.
        found: u64,
        /// What it was before.
        seen: u64,
        /// What was published.
        published: u64,
    },
    /// The producer's cursor went back, or more than the ring's capacity ahead.
    Head {
        /// What lies in shared memory.
        found: u64,
        /// What it was before.
        seen: u64,
        /// What was consumed.
        consumed: u64,
    },
    /// The word that says who left the ring, and where, cannot be true.
    Left {
        /// What lies in shared memory.
        found: u64,
    },
    /// The producer says that it switched before bytes that came by TCP.
    SwitchOff {
        /// What lies in shared memory.
        found: u64,
        /// Bytes that came by TCP.
        taken: u64,
    },
}

/// The result of an operation on a ring.
pub type Result<T> = core::result::Result<T, RingError>;

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RingError::Tail { found, seen, published } => write!(
                f,
                "the reader claims to have consumed {found} bytes, after {seen}, of {published}"
            ),
            RingError::Head { found, seen, consumed } => write!(
                f,
                "the writer claims to have published {found} bytes, after {seen}, with {consumed} consumed"
            ),
            RingError::Left { found } => {
                write!(f, "the peer left the ring at {found:#x}, which cannot be")
            }
            RingError::SwitchOff { found, taken } => write!(
                f,
                "the writer claims to have left TCP after {found} bytes; {taken} came that way"
            ),
        }
    }
}

impl core::error::Error for RingError {}

/// Why a segment is not used at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutError {
    /// The first bytes are not those of a segment.
    Magic,
    /// Written by another version.
    Version {
        /// The version that is written there.
        found: u32,
    },
    /// Bytes that this version does not use are not zero.
    Reserved,
    /// A capacity that is not a power of two, or too small or too large.
    Capacity {
        /// What it is, in bytes.
        found: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Magic => f.write_str("not a segment of rings (wrong magic)"),
            LayoutError::Version { found } => {
                write!(f, "a segment of rings of version {found}, which this one does not know")
            }
            LayoutError::Reserved => {
                f.write_str("a segment of rings with reserved bytes that are not zero")
            }
            LayoutError::Capacity { found } => write!(
                f,
                "a ring of {found} bytes; it has to be a power of two, in a segment from 4096 to 1073741824"
            ),
        }
    }
}

impl core::error::Error for LayoutError {}
