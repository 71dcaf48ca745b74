//! Errors of the service, as they are sent.

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_router::Error;
use bytes::Bytes;
use uuid::Uuid;

use crate::error::Result;
use crate::fields::{Fields, put_id};

/// What kind of error it is. Numbers are never used for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Code {
    /// There is no such blob.
    NotFound = 1,
    /// The blob is deleted.
    Deleted = 2,
    /// The blob is expired.
    Expired = 3,
    /// There is nothing to undelete.
    NotDeleted = 4,
    /// The blob is too long.
    TooLarge = 5,
    /// The range begins behind the end.
    Range = 6,
    /// The content had another length than was announced.
    Length = 7,
    /// The request makes no sense.
    Invalid = 8,
    /// A partition takes no new blobs.
    ReadOnly = 9,
    /// There is no room.
    OutOfSpace = 10,
    /// What is stored is damaged.
    Damaged = 11,
    /// Something does not answer, or not now.
    Unavailable = 12,
    /// The content could not be read.
    Source = 13,
    /// The key is not known, or the proof is wrong.
    Unauthorized = 14,
    /// There are too many connections or requests.
    TooMany = 15,
    /// The name or its bucket does not exist.
    NoSuchName = 16,
    /// The server does not do this.
    Unsupported = 17,
    /// The server is shutting down.
    ShuttingDown = 18,
    /// The key does not have the right to do this.
    Forbidden = 19,
    /// The blob's partition is not on this server.
    NotHere = 20,
    /// Anything else, of a newer server.
    Other = 65535,
}

impl Code {
    const ALL: [Code; 20] = [
        Code::NotFound,
        Code::Deleted,
        Code::Expired,
        Code::NotDeleted,
        Code::TooLarge,
        Code::Range,
        Code::Length,
        Code::Invalid,
        Code::ReadOnly,
        Code::OutOfSpace,
        Code::Damaged,
        Code::Unavailable,
        Code::Source,
        Code::Unauthorized,
        Code::TooMany,
        Code::NoSuchName,
        Code::Unsupported,
        Code::ShuttingDown,
        Code::Forbidden,
        Code::NotHere,
    ];
}

/// An error, as a client gets it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// What kind of error it is.
    pub code: Code,
    /// The blob, if it is about one.
    pub id: Option<BlobId>,
    /// The length that was expected, or that is allowed, or that the blob has.
    pub number: u64,
    /// For people: what, where, and the way out.
    pub text: String,
}

impl Failure {
    /// An error that is about no blob.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Failure { code, id: None, number: 0, text: text.into() }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut head = Vec::new();
        head.extend_from_slice(&(self.code as u16).to_be_bytes());
        head.extend_from_slice(&u16::from(self.id.is_some()).to_be_bytes());
        let none = BlobId { partition: PartitionId(0), uuid: Uuid::nil() };
        put_id(&mut head, self.id.unwrap_or(none));
        head.extend_from_slice(&self.number.to_be_bytes());
        // Texts are short; a path may be long.
        let end = self.text.floor_char_boundary(16 << 10);
        head.extend_from_slice(&self.text.as_bytes()[..end]);
        head
    }

    pub(crate) fn parse(head: &Bytes) -> Result<Self> {
        let mut fields = Fields::new("failure", head);
        let number = fields.u16()?;
        let code = Code::ALL.into_iter().find(|code| *code as u16 == number).unwrap_or(Code::Other);
        let has_id = fields.u16()?;
        let id = fields.id()?;
        let id = match has_id {
            0 => None,
            1 => Some(id),
            other => return Err(fields.malformed(format!("id flag {other} is not known"))),
        };
        let number = fields.u64()?;
        let text = fields.text(fields.remaining())?;
        Ok(Failure { code, id, number, text })
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let (code, id, number) = match error {
            // To a client, a blob that is lost is one that is not there.
            Error::NotFound(id) | Error::Lost(id) => (Code::NotFound, Some(*id), 0),
            Error::NotHere { id, .. } => (Code::NotHere, Some(*id), 0),
            Error::Deleted(id) => (Code::Deleted, Some(*id), 0),
            Error::Expired(id) => (Code::Expired, Some(*id), 0),
            Error::NotDeleted(id) => (Code::NotDeleted, Some(*id), 0),
            Error::TooLarge { length_max } => (Code::TooLarge, None, *length_max),
            Error::Range { id, length } => (Code::Range, Some(*id), *length),
            Error::Length { expected, .. } => (Code::Length, None, *expected),
            Error::Invalid(_) => (Code::Invalid, None, 0),
            Error::ReadOnly { partition, .. } => (Code::ReadOnly, None, partition.0),
            Error::OutOfSpace { .. } => (Code::OutOfSpace, None, 0),
            Error::Damaged { .. } => (Code::Damaged, None, 0),
            Error::Source(_) => (Code::Source, None, 0),
            // Collisions are met by another id; what comes out is a bug or bad luck of a kind that passes.
            _ => (Code::Unavailable, None, 0),
        };
        Failure { code, id, number, text: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_and_back() {
        let id = BlobId::random(PartitionId(3));
        for error in [
            Error::NotFound(id),
            Error::NotHere { id, reason: "on another server".to_owned() },
            Error::Range { id, length: 7 },
            Error::TooLarge { length_max: 9 },
            Error::OutOfSpace { place: "/data".to_owned(), reason: "voll, größer".to_owned() },
        ] {
            let failure = Failure::from(&error);
            assert_eq!(Failure::parse(&failure.encode().into()).unwrap(), failure);
            assert_eq!(failure.to_string(), error.to_string());
        }
        let mut newer = Failure::new(Code::Invalid, "x").encode();
        newer[..2].copy_from_slice(&999u16.to_be_bytes());
        assert_eq!(Failure::parse(&newer.into()).unwrap().code, Code::Other);
    }
}
