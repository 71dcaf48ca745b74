//! Buckets and names in them: lists, and settings of buckets.

use afterbay_blob_router::Durability;
use bytes::Bytes;

use crate::error::Result;
use crate::fields::{Fields, put_durability};
use crate::message::{encode_text, parse_text};

/// Which names are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    /// The bucket; empty: the buckets.
    pub bucket: String,
    /// Only names that begin with this.
    pub prefix: String,
    /// Only names behind this.
    pub after: String,
    /// At most so many.
    pub limit: u32,
}

/// Names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// In their order (bytewise).
    pub entries: Vec<Entry>,
    /// There are more.
    pub truncated: bool,
}

/// One name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key, or the bucket.
    pub key: String,
    /// Bytes of its content.
    pub content_bytes: u64,
    /// When it was put, in milliseconds since 1970.
    pub created_ms: u64,
    /// Of a bucket: the class that its objects are stored at, at least. `None`: the server's, or it is no bucket.
    pub durability: Option<Durability>,
}

/// Settings of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketSettings {
    /// Its name.
    pub bucket: String,
    /// The class that its objects are stored at from then on, at least; `None`: the server's.
    pub durability: Option<Durability>,
}

impl ListRequest {
    pub(crate) fn encode(&self, head: &mut Vec<u8>) -> Result<()> {
        head.extend_from_slice(&self.limit.to_be_bytes());
        [&self.bucket, &self.prefix, &self.after]
            .iter()
            .try_for_each(|text| encode_text(text, head))
    }

    pub(crate) fn parse(fields: &mut Fields) -> Result<Self> {
        let limit = fields.u32()?;
        let bucket = parse_text(fields)?;
        let prefix = parse_text(fields)?;
        Ok(ListRequest { bucket, prefix, after: parse_text(fields)?, limit })
    }
}

impl Listing {
    /// The body of the frame that has it.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut body = vec![u8::from(self.truncated)];
        for entry in &self.entries {
            body.extend_from_slice(&entry.content_bytes.to_be_bytes());
            body.extend_from_slice(&entry.created_ms.to_be_bytes());
            put_durability(&mut body, entry.durability);
            encode_text(&entry.key, &mut body)?;
        }
        Ok(body)
    }

    /// Reads it.
    pub fn parse(body: &Bytes) -> Result<Self> {
        let mut fields = Fields::new("listing", body);
        let truncated = match fields.u8()? {
            0 => false,
            1 => true,
            other => return Err(fields.malformed(format!("flag {other} is not known"))),
        };
        let mut entries = Vec::new();
        while fields.remaining() > 0 {
            let (content_bytes, created_ms) = (fields.u64()?, fields.u64()?);
            let durability = fields.durability()?;
            let key = parse_text(&mut fields)?;
            entries.push(Entry { key, content_bytes, created_ms, durability });
        }
        Ok(Listing { entries, truncated })
    }
}

impl BucketSettings {
    pub(crate) fn encode(&self, head: &mut Vec<u8>) -> Result<()> {
        put_durability(head, self.durability);
        encode_text(&self.bucket, head)
    }

    pub(crate) fn parse(fields: &mut Fields) -> Result<Self> {
        let durability = fields.durability()?;
        Ok(BucketSettings { bucket: parse_text(fields)?, durability })
    }
}
