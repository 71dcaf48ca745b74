//! What can be wrong with bytes that claim to be one of our formats.

/// Why bytes were refused. The caller knows the file and the offset and adds them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// There are fewer bytes than the format needs.
    #[error("{what}: {found} bytes where {needed} are needed")]
    TooShort {
        /// What was being read.
        what: &'static str,
        /// Bytes that the format needs.
        needed: usize,
        /// Bytes that were there.
        found: usize,
    },
    /// The first bytes are not those of the format.
    #[error("{what}: not one (wrong magic)")]
    Magic {
        /// What was being read.
        what: &'static str,
    },
    /// Written by another version, presumably a newer one.
    #[error("{what}: format {found} is not known to this version")]
    Version {
        /// What was being read.
        what: &'static str,
        /// The version that is written there.
        found: u32,
    },
    /// The bytes are not those that were written.
    #[error("{what}: checksum mismatch")]
    Checksum {
        /// What was being read.
        what: &'static str,
    },
    /// The checksum is right and a value is not: a writer that does not keep to the format.
    #[error("{what}: {field} is {found}, which the format does not allow")]
    Field {
        /// What was being read.
        what: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
    },
}

/// The result of reading a format.
pub type Result<T> = std::result::Result<T, FormatError>;
