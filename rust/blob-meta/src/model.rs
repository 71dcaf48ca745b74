//! What is stored: buckets, objects, uploads, keys. Protobuf messages, so that fields can be added and old files
//! stay readable; a number is never given to another field.

use std::collections::BTreeMap;
use std::fmt;

use afterbay_blob_format::{BlobId, PartitionId};

use crate::error::{NamesError, Result};

/// A bucket, by its name.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Bucket {
    /// Given once; a bucket that is created again under the same name has another one.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// The user who created it, who has all rights in it.
    #[prost(string, tag = "2")]
    pub owner: String,
    /// When, in milliseconds since 1970.
    #[prost(uint64, tag = "3")]
    pub created_ms: u64,
    /// `fast`, `durable` or `paranoid`; empty: the server's default.
    #[prost(string, tag = "4")]
    pub durability: String,
    /// Settings that are kept as they came, by name: tags and the like.
    #[prost(btree_map = "string, bytes", tag = "5")]
    pub documents: BTreeMap<String, Vec<u8>>,
}

/// A checksum that the client sent or asked for.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Checksum {
    /// As in S3: `CRC32`, `CRC32C`, `CRC64NVME`, `SHA1`, `SHA256`.
    #[prost(string, tag = "1")]
    pub algorithm: String,
    /// In base 64; of several parts with `-N` at its end if it is composed of theirs.
    #[prost(string, tag = "2")]
    pub value: String,
    /// Whether it is computed from the checksums of the parts instead of the whole body.
    #[prost(bool, tag = "3")]
    pub composite: bool,
}

/// What an object is besides its body: given back as it came.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Attributes {
    /// `content-type`, `cache-control` and the other headers of HTTP, in lower case.
    #[prost(btree_map = "string, string", tag = "1")]
    pub headers: BTreeMap<String, String>,
    /// The user's, without `x-amz-meta-`.
    #[prost(btree_map = "string, string", tag = "2")]
    pub metadata: BTreeMap<String, String>,
    /// Tags.
    #[prost(btree_map = "string, string", tag = "3")]
    pub tags: BTreeMap<String, String>,
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ObjectEntry {
    /// The blob with the body, 24 bytes; empty if the body is made of parts.
    #[prost(bytes = "vec", tag = "1")]
    pub blob: Vec<u8>,
    /// The upload whose parts the body is made of; empty if it is one blob.
    #[prost(string, tag = "2")]
    pub upload: String,
    /// How many parts.
    #[prost(uint32, tag = "3")]
    pub part_count: u32,
    /// Bytes of the body.
    #[prost(uint64, tag = "4")]
    pub length: u64,
    /// Without quotes.
    #[prost(string, tag = "5")]
    pub etag: String,
    /// When the name was given, in milliseconds since 1970.
    #[prost(uint64, tag = "6")]
    pub modified_ms: u64,
    /// Headers, metadata, tags.
    #[prost(message, optional, tag = "7")]
    pub attributes: Option<Attributes>,
    /// Those that are known.
    #[prost(message, repeated, tag = "8")]
    pub checksums: Vec<Checksum>,
    /// The user who wrote it.
    #[prost(string, tag = "9")]
    pub owner: String,
}

/// Where the body of an object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// In one blob.
    Blob(BlobId),
    /// In those of this upload's parts, in the order of their numbers.
    Parts(String),
}

impl ObjectEntry {
    /// Where the body is; an error if the entry is damaged.
    pub fn body(&self) -> Result<Body> {
        if self.upload.is_empty() {
            Ok(Body::Blob(blob_from_bytes(&self.blob)?))
        } else {
            Ok(Body::Parts(self.upload.clone()))
        }
    }

    /// Headers, metadata, tags; all empty if there are none.
    pub fn attributes(&self) -> Attributes {
        self.attributes.clone().unwrap_or_default()
    }
}

/// An upload in parts that is neither complete nor aborted.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Upload {
    /// When it was begun, in milliseconds since 1970.
    #[prost(uint64, tag = "1")]
    pub begun_ms: u64,
    /// The user who began it.
    #[prost(string, tag = "2")]
    pub owner: String,
    /// Those of the object to be.
    #[prost(message, optional, tag = "3")]
    pub attributes: Option<Attributes>,
    /// The algorithm of its checksums; empty: none was asked for.
    #[prost(string, tag = "4")]
    pub checksum_algorithm: String,
    /// Whether the object's checksum is to be composed of those of the parts.
    #[prost(bool, tag = "5")]
    pub checksum_composite: bool,
}

/// A part of an upload, or of an object that was uploaded in parts.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Part {
    /// The blob, 24 bytes.
    #[prost(bytes = "vec", tag = "1")]
    pub blob: Vec<u8>,
    /// Bytes.
    #[prost(uint64, tag = "2")]
    pub length: u64,
    /// MD5 in hexadecimal digits, without quotes.
    #[prost(string, tag = "3")]
    pub etag: String,
    /// When it was written, in milliseconds since 1970.
    #[prost(uint64, tag = "4")]
    pub modified_ms: u64,
    /// Those that are known.
    #[prost(message, repeated, tag = "5")]
    pub checksums: Vec<Checksum>,
}

impl Part {
    /// The blob; an error if the entry is damaged.
    pub fn blob_id(&self) -> Result<BlobId> {
        blob_from_bytes(&self.blob)
    }
}

/// What a key may do in a bucket. A set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights(pub u32);

impl Rights {
    /// Nothing.
    pub const NONE: Rights = Rights(0);
    /// List, get, head.
    pub const READ: Rights = Rights(1);
    /// Put, delete, multipart uploads.
    pub const WRITE: Rights = Rights(2);
    /// Delete the bucket, change its settings.
    pub const ADMIN: Rights = Rights(4);
    /// Everything.
    pub const ALL: Rights = Rights(7);

    /// Whether all of `needed` are here.
    pub fn allow(self, needed: Rights) -> bool {
        self.0 & needed.0 == needed.0
    }

    /// What either allows.
    pub fn union(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }
}

/// The bucket name in [`AccessKey::rights`] that stands for all buckets.
pub const ALL_BUCKETS: &str = "*";

/// A key with which requests are signed. The secret is stored as it is, since a server needs it to compute signatures;
/// the file that holds it is readable by its owner only.
#[derive(Clone, PartialEq, Eq, prost::Message)]
#[prost(skip_debug)]
pub struct AccessKey {
    /// The part of the key that everybody may see.
    #[prost(string, tag = "1")]
    pub id: String,
    /// The secret. Not shown by `Debug`.
    #[prost(string, tag = "2")]
    pub secret: String,
    /// Whose key it is: the owner of what is created with it.
    #[prost(string, tag = "3")]
    pub user: String,
    /// Rights by bucket; [`ALL_BUCKETS`] for all. A user has all rights in buckets of their own.
    #[prost(btree_map = "string, uint32", tag = "4")]
    pub rights: BTreeMap<String, u32>,
    /// Whether it may create buckets.
    #[prost(bool, tag = "5")]
    pub may_create_buckets: bool,
    /// When it was made, in milliseconds since 1970.
    #[prost(uint64, tag = "6")]
    pub created_ms: u64,
    /// How the user is shown in listings.
    #[prost(string, tag = "7")]
    pub display_name: String,
}

impl AccessKey {
    /// What it may do in the bucket `name` that `owner` owns.
    pub fn rights_in(&self, name: &str, owner: &str) -> Rights {
        if self.user == owner {
            return Rights::ALL;
        }
        let by = |bucket: &str| Rights(self.rights.get(bucket).copied().unwrap_or(0));
        by(name).union(by(ALL_BUCKETS))
    }
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessKey")
            .field("id", &self.id)
            .field("secret", &"…")
            .field("user", &self.user)
            .field("rights", &self.rights)
            .field("may_create_buckets", &self.may_create_buckets)
            .finish_non_exhaustive()
    }
}

/// Something that no name stands for any more, to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Garbage {
    /// A blob.
    Blob(BlobId),
    /// The blobs of all parts that an upload still has.
    Parts(String),
    /// The uploads that a deleted bucket still had.
    Uploads {
        /// [`Bucket::id`].
        bucket: u64,
    },
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(crate) struct StoredGarbage {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) blob: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(crate) upload: String,
    #[prost(uint64, tag = "3")]
    pub(crate) bucket: u64,
    #[prost(uint64, tag = "4")]
    pub(crate) queued_ms: u64,
}

impl StoredGarbage {
    pub(crate) fn new(garbage: &Garbage, queued_ms: u64) -> Self {
        let mut stored = StoredGarbage { queued_ms, ..Default::default() };
        match garbage {
            Garbage::Blob(id) => stored.blob = blob_to_bytes(*id).to_vec(),
            Garbage::Parts(upload) => stored.upload = upload.clone(),
            Garbage::Uploads { bucket } => stored.bucket = *bucket,
        }
        stored
    }

    pub(crate) fn garbage(&self) -> Result<Garbage> {
        if !self.blob.is_empty() {
            Ok(Garbage::Blob(blob_from_bytes(&self.blob)?))
        } else if !self.upload.is_empty() {
            Ok(Garbage::Parts(self.upload.clone()))
        } else {
            Ok(Garbage::Uploads { bucket: self.bucket })
        }
    }
}

/// The stored form of a blob's name: partition, UUID.
pub fn blob_to_bytes(id: BlobId) -> [u8; 24] {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&id.partition.0.to_be_bytes());
    bytes[8..].copy_from_slice(id.uuid.as_bytes());
    bytes
}

/// Reads the stored form of a blob's name.
pub fn blob_from_bytes(bytes: &[u8]) -> Result<BlobId> {
    let damaged = || NamesError::Damaged { what: "name of a blob", reason: "not 24 bytes".into() };
    let (partition, uuid) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
    let uuid: [u8; 16] = uuid.try_into().map_err(|_| damaged())?;
    let uuid = uuid::Uuid::from_bytes(uuid);
    Ok(BlobId { partition: PartitionId(u64::from_be_bytes(*partition)), uuid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blob_names_and_back() {
        let id = BlobId::random(PartitionId(7));
        assert_eq!(blob_from_bytes(&blob_to_bytes(id)).unwrap(), id);
        assert!(blob_from_bytes(&[0; 23]).is_err());
        assert!(blob_from_bytes(&[]).is_err());
    }

    #[test]
    fn secrets_are_not_shown() {
        let key = AccessKey { id: "AK".into(), secret: "hush".into(), ..Default::default() };
        assert!(!format!("{key:?} {key:#?}").contains("hush"));
        assert!(format!("{key:?}").contains("AK"));
    }

    #[test]
    fn rights_are_those_of_the_bucket_of_all_buckets_and_of_owners() {
        let key = AccessKey {
            user: "ann".into(),
            rights: BTreeMap::from([
                (ALL_BUCKETS.to_owned(), Rights::READ.0),
                ("logs".to_owned(), Rights::WRITE.0),
            ]),
            ..Default::default()
        };
        assert_eq!(key.rights_in("other", "bob"), Rights::READ);
        assert_eq!(key.rights_in("logs", "bob"), Rights::READ.union(Rights::WRITE));
        assert!(!key.rights_in("logs", "bob").allow(Rights::ADMIN));
        assert_eq!(key.rights_in("other", "ann"), Rights::ALL);
    }
}
