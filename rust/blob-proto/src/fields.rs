//! Fields of a head, one behind the other.

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_router::{Durability, Policy};
use bytes::Bytes;
use uuid::Uuid;

use crate::error::{ProtocolError, Result};

/// In the place of a number of acknowledgements.
const MAJORITY: u8 = 14;
const ALL: u8 = 15;

/// Reads fields. Never panics: what is not there is an error.
pub(crate) struct Fields {
    what: &'static str,
    rest: Bytes,
}

impl Fields {
    pub(crate) fn new(what: &'static str, head: &Bytes) -> Self {
        Fields { what, rest: head.clone() }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<Bytes> {
        if self.rest.len() < count {
            return Err(self.malformed(format!("{count} bytes where {} are", self.rest.len())));
        }
        Ok(self.rest.split_to(count))
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn id(&mut self) -> Result<BlobId> {
        let partition = PartitionId(self.u64()?);
        Ok(BlobId { partition, uuid: Uuid::from_bytes(self.array()?) })
    }

    pub(crate) fn optional_id(&mut self) -> Result<Option<BlobId>> {
        match (self.u8()?, self.id()?) {
            (0, _) => Ok(None),
            (1, id) => Ok(Some(id)),
            (other, _) => Err(self.malformed(format!("id flag {other} is not known"))),
        }
    }

    /// `None`: that of what it belongs to.
    pub(crate) fn durability(&mut self) -> Result<Option<Durability>> {
        let byte = self.u8()?;
        self.durability_of(byte)
    }

    /// When a replica acknowledges, and how many have to: in the low and in the high four bits of a byte.
    pub(crate) fn acknowledgement(&mut self) -> Result<(Option<Durability>, Option<Policy>)> {
        let byte = self.u8()?;
        let acks = match byte >> 4 {
            0 => None,
            1 => Some(Policy::One),
            MAJORITY => Some(Policy::Majority),
            ALL => Some(Policy::All),
            k => Some(Policy::K(k)),
        };
        Ok((self.durability_of(byte & 0xf)?, acks))
    }

    fn durability_of(&self, byte: u8) -> Result<Option<Durability>> {
        match byte {
            0 => Ok(None),
            1 => Ok(Some(Durability::Fast)),
            2 => Ok(Some(Durability::Durable)),
            3 => Ok(Some(Durability::Paranoid)),
            other => Err(self.malformed(format!("durability {other} is not known"))),
        }
    }

    pub(crate) fn text(&mut self, count: usize) -> Result<String> {
        let bytes = self.bytes(count)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(self.malformed(error.to_string())),
        }
    }

    pub(crate) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.rest)
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Nothing may follow.
    pub(crate) fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.malformed(format!("{} bytes too many", self.rest.len())))
        }
    }

    pub(crate) fn malformed(&self, reason: impl Into<String>) -> ProtocolError {
        ProtocolError::malformed(self.what, reason)
    }
}

pub(crate) fn put_durability(out: &mut Vec<u8>, durability: Option<Durability>) {
    out.push(byte_of(durability));
}

fn byte_of(durability: Option<Durability>) -> u8 {
    match durability {
        None => 0,
        Some(Durability::Fast) => 1,
        Some(Durability::Durable) => 2,
        Some(Durability::Paranoid) => 3,
    }
}

/// Servers of before know the low four bits alone, and refuse others.
pub(crate) fn put_acknowledgement(
    out: &mut Vec<u8>,
    durability: Option<Durability>,
    acks: Option<Policy>,
) -> Result<()> {
    let acks = match acks {
        None => 0,
        Some(Policy::One) => 1,
        Some(Policy::Majority) => MAJORITY,
        Some(Policy::All) => ALL,
        Some(Policy::K(k)) if (1..MAJORITY).contains(&k) => k,
        Some(Policy::K(k)) => {
            let text = format!("{k} acknowledgements; from 1 to {} can be asked for", MAJORITY - 1);
            return Err(ProtocolError::malformed("put", text));
        }
    };
    out.push(acks << 4 | byte_of(durability));
    Ok(())
}

pub(crate) fn put_id(out: &mut Vec<u8>, id: BlobId) {
    out.extend_from_slice(&id.partition.0.to_be_bytes());
    out.extend_from_slice(id.uuid.as_bytes());
}

pub(crate) fn put_optional_id(out: &mut Vec<u8>, id: Option<BlobId>) {
    out.push(u8::from(id.is_some()));
    put_id(out, id.unwrap_or(BlobId { partition: PartitionId(0), uuid: Uuid::nil() }));
}
