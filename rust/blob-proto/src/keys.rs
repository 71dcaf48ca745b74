//! Keys for users: what a request for one says, and what is answered.

use std::fmt;

use bytes::Bytes;

use crate::error::Result;
use crate::fields::Fields;
use crate::message::{encode_text, parse_text};

const CREATE_BUCKETS: u8 = 1;

/// What a key may do in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The bucket; `*` stands for all.
    pub bucket: String,
    /// A set of bits: 1 read, 2 write, 4 admin.
    pub rights: u8,
}

/// A key that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewKey {
    /// Whose it is: the owner of the buckets that are made with it.
    pub user: String,
    /// Whether it may make buckets.
    pub may_create_buckets: bool,
    /// Its rights in others.
    pub grants: Vec<Grant>,
}

/// A key that was made. The secret is said once.
#[derive(Clone, PartialEq, Eq)]
pub struct CreatedKey {
    /// Its name, which is no secret.
    pub access: String,
    /// The secret.
    pub secret: String,
}

impl fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedKey").field("access", &self.access).finish_non_exhaustive()
    }
}

/// A key that there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEntry {
    /// Its name.
    pub access: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// What was asked for.
    pub key: NewKey,
}

impl NewKey {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        encode_text(&self.user, out)?;
        out.push(if self.may_create_buckets { CREATE_BUCKETS } else { 0 });
        let too_many = |_| crate::ProtocolError::malformed("key", "more than 65535 buckets");
        let count = u16::try_from(self.grants.len()).map_err(too_many)?;
        out.extend_from_slice(&count.to_be_bytes());
        for grant in &self.grants {
            encode_text(&grant.bucket, out)?;
            out.push(grant.rights);
        }
        Ok(())
    }

    pub(crate) fn parse(fields: &mut Fields) -> Result<Self> {
        let user = parse_text(fields)?;
        let may_create_buckets = match fields.u8()? {
            0 => false,
            CREATE_BUCKETS => true,
            other => return Err(fields.malformed(format!("flags {other} are not known"))),
        };
        let count = fields.u16()?;
        let mut grants = Vec::new();
        for _ in 0..count {
            grants.push(Grant { bucket: parse_text(fields)?, rights: fields.u8()? });
        }
        Ok(NewKey { user, may_create_buckets, grants })
    }
}

impl CreatedKey {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        encode_text(&self.access, out)?;
        encode_text(&self.secret, out)
    }

    pub(crate) fn parse(fields: &mut Fields) -> Result<Self> {
        let access = parse_text(fields)?;
        Ok(CreatedKey { access, secret: parse_text(fields)? })
    }
}

/// The body of the frame that lists keys.
pub fn encode_keys(keys: &[KeyEntry]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for entry in keys {
        body.extend_from_slice(&entry.created_ms.to_be_bytes());
        encode_text(&entry.access, &mut body)?;
        entry.key.encode(&mut body)?;
    }
    Ok(body)
}

/// Reads it.
pub fn parse_keys(body: &Bytes) -> Result<Vec<KeyEntry>> {
    let mut fields = Fields::new("keys", body);
    let mut keys = Vec::new();
    while fields.remaining() > 0 {
        let created_ms = fields.u64()?;
        let access = parse_text(&mut fields)?;
        keys.push(KeyEntry { access, created_ms, key: NewKey::parse(&mut fields)? });
    }
    Ok(keys)
}
