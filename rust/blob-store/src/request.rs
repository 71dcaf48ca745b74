//! A request with all that can be computed before it is its turn.

use afterbay_blob_format::{
    BlobId, ChecksumTable, MAX_BODY_BYTES, RecordHeader, RecordKind, crc32c_of,
};
use bytes::Bytes;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::options::{Durability, Operation, Origin, Put, Write};

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: BlobId,
    pub(crate) durability: Durability,
    pub(crate) origin: Origin,
    /// Nothing was ever written under its id: see [`Put::fresh`].
    pub(crate) fresh: bool,
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
        Ok(Request { id, durability: write.durability, origin: write.origin, fresh, action })
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
        if put.body.len() > MAX_BODY_BYTES {
            let (bytes, most) = (put.body.len() as u64, MAX_BODY_BYTES as u64);
            return Err(Error::TooLarge { id: put.id, bytes, most });
        }
        let properties =
            put.properties.encode().map_err(|source| Error::Properties { id: put.id, source })?;
        let checksums = ChecksumTable::of(&put.body);
        let (time_ms, life) = match origin {
            Origin::Client => (clock.now_ms(), 0),
            Origin::Replica { time_ms, life } => (time_ms, life),
        };
        let header = RecordHeader {
            life,
            expires_ms: put.expires_ms,
            container: put.container,
            // Both lengths are bounded by the format.
            properties_bytes: properties.len() as u32,
            properties_crc: crc32c_of(&[&properties]),
            body_bytes: put.body.len() as u32,
            checksums_crc: checksums.crc(),
            ..RecordHeader::new(RecordKind::Put, put.id, time_ms)
        };
        let checksums = Bytes::copy_from_slice(checksums.as_bytes());
        Ok(Prepared { header, properties: properties.into(), checksums, body: put.body })
    }
}
