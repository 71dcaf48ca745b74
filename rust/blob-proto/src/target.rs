//! What a request is about: a blob by its id, or by a name.

use std::fmt;

use afterbay_blob_format::BlobId;

use crate::error::Result;
use crate::fields::{Fields, put_id};

/// The most bytes of a bucket's name.
pub const MAX_BUCKET_BYTES: usize = 63;
/// The most bytes of a key.
pub const MAX_KEY_BYTES: usize = 1024;

/// The name of a blob: a key in a bucket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The bucket.
    pub bucket: String,
    /// The key in it.
    pub key: String,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bucket, self.key)
    }
}

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The blob with this id.
    Id(BlobId),
    /// The blob that has this name now.
    Name(Name),
}

impl From<BlobId> for Target {
    fn from(id: BlobId) -> Self {
        Target::Id(id)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Id(id) => id.fmt(f),
            Target::Name(name) => name.fmt(f),
        }
    }
}

impl Target {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Target::Id(id) => {
                out.push(1);
                put_id(out, *id);
            }
            Target::Name(name) => {
                out.push(2);
                name.encode(out)?;
            }
        }
        Ok(())
    }

    pub(crate) fn parse(fields: &mut Fields) -> Result<Self> {
        match fields.u8()? {
            1 => Ok(Target::Id(fields.id()?)),
            2 => Ok(Target::Name(Name::parse(fields)?)),
            other => Err(fields.malformed(format!("target {other} is not known"))),
        }
    }
}

impl Name {
    fn check(&self, fields: &Fields) -> Result<()> {
        for (what, text, most) in
            [("bucket", &self.bucket, MAX_BUCKET_BYTES), ("key", &self.key, MAX_KEY_BYTES)]
        {
            if !(1..=most).contains(&text.len()) {
                let found = text.len();
                return Err(fields.malformed(format!("{what} of {found} bytes, not 1 to {most}")));
            }
        }
        Ok(())
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        self.check(&Fields::new("name", &bytes::Bytes::new()))?;
        // Checked to fit.
        out.push(self.bucket.len() as u8);
        out.extend_from_slice(&(self.key.len() as u16).to_be_bytes());
        out.extend_from_slice(self.bucket.as_bytes());
        out.extend_from_slice(self.key.as_bytes());
        Ok(())
    }

    fn parse(fields: &mut Fields) -> Result<Self> {
        let bucket_bytes = usize::from(fields.u8()?);
        let key_bytes = usize::from(fields.u16()?);
        let name = Name { bucket: fields.text(bucket_bytes)?, key: fields.text(key_bytes)? };
        name.check(fields)?;
        Ok(name)
    }

    pub(crate) fn encode_optional(name: Option<&Name>, out: &mut Vec<u8>) -> Result<()> {
        out.push(u8::from(name.is_some()));
        name.map_or(Ok(()), |name| name.encode(out))
    }

    pub(crate) fn parse_optional(fields: &mut Fields) -> Result<Option<Self>> {
        match fields.u8()? {
            0 => Ok(None),
            1 => Name::parse(fields).map(Some),
            other => Err(fields.malformed(format!("name flag {other} is not known"))),
        }
    }
}
