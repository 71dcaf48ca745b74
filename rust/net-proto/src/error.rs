//! Why a message is refused.

/// The result of reading a message.
pub type Result<T> = std::result::Result<T, DecodeError>;

/// Why a message is refused. Whoever sent it is not listened to any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It is shorter or longer than its kind.
    #[error("a message of {found} bytes where {needed} are needed")]
    Length {
        /// Its length.
        found: usize,
        /// That of its kind.
        needed: usize,
    },
    /// The first bytes are not those of a message.
    #[error("not a message of this protocol (wrong magic)")]
    Magic,
    /// Written by another version.
    #[error("version {found} of the protocol is not known to this one; restart the older program")]
    Version {
        /// The version that is written there.
        found: u16,
    },
    /// A kind that this version does not have.
    #[error("a message of kind {found}, which this version does not know")]
    Kind {
        /// The kind that is written there.
        found: u16,
    },
    /// A reason that this version does not have.
    #[error("reason {found}, which this version does not know")]
    Reason {
        /// The reason that is written there.
        found: u16,
    },
    /// A name of a trust group that is none.
    #[error("a trust group has a name of 1 to 64 of a-z, 0-9, '.', '_' and '-'")]
    Group,
    /// A record of a connection that none can have.
    #[error("a record of a connection that none can have")]
    Record,
    /// More or fewer descriptors than its kind needs.
    #[error("a message with {found} descriptors where {needed} are needed")]
    Descriptors {
        /// How many came.
        found: usize,
        /// How many its kind has.
        needed: usize,
    },
}
