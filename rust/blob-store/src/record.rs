//! Records as they travel between replicas.

use afterbay_blob_format::{BlobId, IndexEntry, RecordKind};
use bytes::Bytes;

/// A record with what it was stamped with when it was first written: by the replica that did it for a client, or by a
/// coordinator for all of them. It means the same on each replica, in whatever order records come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The blob.
    pub id: BlobId,
    /// What it says about it.
    pub kind: RecordKind,
    /// As in [`afterbay_blob_format::RecordHeader::life`].
    pub life: u32,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// From when on the blob is expired; 0 is never. Of puts and TTL updates, else 0.
    pub expires_ms: u64,
    /// What is stored; of puts, and of them always.
    pub content: Option<Content>,
}

/// What a put stores.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// The container that the blob belongs to.
    pub container: u32,
    /// The properties in their stored form: [`crate::Properties::encode`].
    pub properties: Bytes,
    /// The body.
    pub body: Bytes,
}

/// How much it is, and not what.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Content { container, properties, body } = self;
        let (properties, body) = (properties.len(), body.len());
        write!(f, "Content(container {container}, {properties} + {body} bytes)")
    }
}

impl Record {
    /// A record without content, as an index has it.
    pub(crate) fn of(id: BlobId, entry: &IndexEntry) -> Self {
        let IndexEntry { kind, life, time_ms, expires_ms, .. } = *entry;
        Record { id, kind, life, time_ms, expires_ms, content: None }
    }
}
