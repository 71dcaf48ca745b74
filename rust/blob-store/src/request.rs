//! A request with all that can be computed before it is its turn.

use afterbay_blob_format::{
    BlobId, ChecksumTable, MAX_BODY_BYTES, Properties, RecordHeader, RecordKind, crc32c_of,
};
use bytes::Bytes;

use crate::blob_state::At;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::options::{Durability, Operation, Origin, Put, Write};
use crate::record::{Content, Record};

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) id: BlobId,
    pub(crate) durability: Durability,
    pub(crate) origin: Origin,
    /// Nothing was ever written under its id: see [`Put::fresh`].
    pub(crate) fresh: bool,
    /// The put that is damaged here, and whose place this one takes. Of other replicas.
    pub(crate) supersedes: Option<At>,
    /// It is written also if it says nothing new: the record that says so is damaged.
    pub(crate) again: bool,
    pub(crate) action: Action,
}

#[derive(Debug, Clone)]
pub(crate) enum Action {
    Put(Prepared),
    Delete,
    Undelete,
    UpdateTtl(u64),
}

/// A put as it will be written, but for its place in the log.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) header: RecordHeader,
    pub(crate) properties: Bytes,
    pub(crate) checksums: Bytes,
    pub(crate) body: Bytes,
}

impl Request {
    pub(crate) fn of(write: Write, clock: &dyn Clock) -> Result<Self> {
        let id = write.operation.id();
        let fresh = matches!(&write.operation, Operation::Put(put) if put.fresh)
            && write.origin == Origin::Client;
        let action = match write.operation {
            Operation::Put(put) => Action::Put(Prepared::of(put, write.origin, clock)?),
            Operation::Delete(_) => Action::Delete,
            Operation::Undelete(_) => Action::Undelete,
            Operation::UpdateTtl(_, expires_ms) => Action::UpdateTtl(expires_ms),
        };
        let Write { durability, origin, .. } = write;
        Ok(Request { id, durability, origin, fresh, supersedes: None, again: false, action })
    }

    /// What another replica, or a coordinator, has stamped.
    pub(crate) fn of_record(record: Record, durability: Durability) -> Result<Self> {
        let Record { id, kind, life, time_ms, expires_ms, content } = record;
        let refuse = |reason| Err(Error::Record { id, reason });
        let origin = Origin::Replica { time_ms, life };
        let action = match (kind, content) {
            (RecordKind::Put, Some(content)) => {
                Action::Put(Prepared::stamped(id, expires_ms, content, (time_ms, life))?)
            }
            (RecordKind::Put, None) => return refuse("a put without content"),
            (_, Some(_)) => return refuse("content, and it is no put"),
            (RecordKind::TtlUpdate, None) => Action::UpdateTtl(expires_ms),
            (_, None) if expires_ms != 0 => return refuse("an expiry that its kind does not have"),
            (RecordKind::Delete, None) => Action::Delete,
            (RecordKind::Undelete, None) => Action::Undelete,
        };
        Ok(Request { id, durability, origin, fresh: false, supersedes: None, again: false, action })
    }

    /// The kind of record that it may write.
    pub(crate) fn kind(&self) -> RecordKind {
        match &self.action {
            Action::Put(_) => RecordKind::Put,
            Action::Delete => RecordKind::Delete,
            Action::Undelete => RecordKind::Undelete,
            Action::UpdateTtl(_) => RecordKind::TtlUpdate,
        }
    }

    /// Bytes that it adds to a group.
    pub(crate) fn weight(&self) -> usize {
        match &self.action {
            Action::Put(put) => put.header.record_bytes() as usize,
            _ => afterbay_blob_format::RECORD_HEADER_BYTES,
        }
    }
}

impl Prepared {
    fn of(put: Put, origin: Origin, clock: &dyn Clock) -> Result<Self> {
        let Put { id, properties, body, expires_ms, container, .. } = put;
        check_length(id, &body)?;
        let properties = properties.encode().map_err(|source| Error::Properties { id, source })?;
        let stamp = match origin {
            Origin::Client => (clock.now_ms(), 0),
            Origin::Replica { time_ms, life } => (time_ms, life),
        };
        let content = Content { container, properties: properties.into(), body };
        Ok(Self::encoded(id, expires_ms, content, stamp))
    }

    fn stamped(id: BlobId, expires_ms: u64, content: Content, stamp: (u64, u32)) -> Result<Self> {
        check_length(id, &content.body)?;
        Properties::parse(&content.properties)
            .map_err(|source| Error::Properties { id, source })?;
        Ok(Self::encoded(id, expires_ms, content, stamp))
    }

    /// With properties and a body that are not too long, as they are.
    fn encoded(id: BlobId, expires_ms: u64, content: Content, stamp: (u64, u32)) -> Self {
        let Content { container, properties, body } = content;
        let (time_ms, life) = stamp;
        let checksums = ChecksumTable::of(&body);
        let header = RecordHeader {
            life,
            expires_ms,
            container,
            // Both lengths are bounded by the format.
            properties_bytes: properties.len() as u32,
            properties_crc: crc32c_of(&[&properties]),
            body_bytes: body.len() as u32,
            checksums_crc: checksums.crc(),
            ..RecordHeader::new(RecordKind::Put, id, time_ms)
        };
        let checksums = Bytes::copy_from_slice(checksums.as_bytes());
        Prepared { header, properties, checksums, body }
    }
}

fn check_length(id: BlobId, body: &Bytes) -> Result<()> {
    let (bytes, most) = (body.len() as u64, MAX_BODY_BYTES as u64);
    if bytes > most { Err(Error::TooLarge { id, bytes, most }) } else { Ok(()) }
}
