//! The name of a trust group.

use std::fmt;
use std::str::FromStr;

use crate::error::DecodeError;

/// The longest name, in bytes.
pub const GROUP_BYTES_MAX: usize = 64;

/// The name of a trust group: of programs of one user that may share memory, and in which an address names one container.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(String);

impl GroupName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GroupName {
    type Err = DecodeError;

    fn from_str(text: &str) -> Result<Self, DecodeError> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
        if text.is_empty() || text.len() > GROUP_BYTES_MAX || !text.bytes().all(is_allowed) {
            return Err(DecodeError::Group);
        }
        Ok(GroupName(text.to_owned()))
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
