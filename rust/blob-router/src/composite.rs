//! An open blob: one chunk, or a metadata blob and the chunks that it lists.

use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{
    BlobId, CHUNK_PROPERTY, COMPOSITE_PROPERTY, ChunkList, ChunkRef, FormatError, PartitionId,
    Properties, PropertyClass,
};

use crate::error::{Error, Result};
use crate::service::{BlobInfo, ByteRange, resolve};
use crate::store::{Chunk, ChunkStore, Include};

/// A blob whose chunks are known.
#[derive(Debug)]
pub struct OpenBlob {
    info: BlobInfo,
    parts: Parts,
    is_deleted: bool,
}

#[derive(Debug)]
enum Parts {
    One(Arc<dyn Chunk>),
    Many(ChunkList),
}

/// Bytes of one chunk that belong to a range of the blob.
#[derive(Debug, Clone)]
pub struct ChunkPart {
    /// The chunk.
    pub id: BlobId,
    /// Open already, if the blob has only one.
    pub chunk: Option<Arc<dyn Chunk>>,
    /// Bytes of the chunk.
    pub range: Range<u32>,
}

impl OpenBlob {
    pub(crate) async fn open(store: &dyn ChunkStore, id: BlobId, include: Include) -> Result<Self> {
        let chunk = store.open(id, include).await?;
        let properties = chunk.properties();
        if properties.get(PropertyClass::System, CHUNK_PROPERTY).is_some() {
            return Err(Error::NotFound(id));
        }
        let mut info = BlobInfo {
            id,
            content_bytes: chunk.body_bytes().into(),
            created_ms: chunk.created_ms(),
            expires_ms: Some(chunk.expires_ms()).filter(|ms| *ms != 0),
            container: chunk.container(),
            properties: Properties::default(),
        };
        let is_deleted = chunk.is_deleted();
        let composite = properties.get(PropertyClass::System, COMPOSITE_PROPERTY).is_some();
        info.properties = of_clients(properties);
        let parts = if composite {
            let list = chunk.read(0..u32::MAX).await?;
            let list = ChunkList::parse(&list).map_err(|source| damaged(id, &source))?;
            info.content_bytes = list.content_bytes();
            Parts::Many(list)
        } else {
            Parts::One(chunk)
        };
        Ok(OpenBlob { info, parts, is_deleted })
    }

    /// What is known about the blob.
    pub fn info(&self) -> &BlobInfo {
        &self.info
    }

    pub(crate) fn into_info(self) -> BlobInfo {
        self.info
    }

    /// Whether the blob is deleted.
    pub(crate) fn is_deleted(&self) -> bool {
        self.is_deleted
    }

    /// The chunks besides the blob with the id itself.
    pub(crate) fn chunks(&self) -> &[ChunkRef] {
        match &self.parts {
            Parts::One(_) => &[],
            Parts::Many(list) => &list.chunks,
        }
    }

    /// The bytes that were asked for; [`Error::Range`] if there are none.
    pub fn resolve(&self, range: Option<ByteRange>) -> Result<Range<u64>> {
        resolve(self.info.id, self.info.content_bytes, range)
    }

    /// Which parts of which chunks make up `range` of the blob.
    pub fn parts(&self, range: &Range<u64>) -> Vec<ChunkPart> {
        match &self.parts {
            // A chunk has less than 2^32 bytes, and so has a range of it.
            Parts::One(chunk) => {
                let range = range.start as u32..range.end as u32;
                vec![ChunkPart { id: self.info.id, chunk: Some(chunk.clone()), range }]
            }
            Parts::Many(list) => parts_of(&list.chunks, range),
        }
    }
}

fn parts_of(chunks: &[ChunkRef], range: &Range<u64>) -> Vec<ChunkPart> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for chunk in chunks {
        let end = begin + u64::from(chunk.length);
        let (first, last) = (range.start.max(begin), range.end.min(end));
        if first < last {
            let range = (first - begin) as u32..(last - begin) as u32;
            parts.push(ChunkPart { id: chunk.id, chunk: None, range });
        }
        begin = end;
    }
    parts
}

/// Without the store's own.
fn of_clients(properties: &Properties) -> Properties {
    properties
        .iter()
        .filter(|(class, name, _)| !is_reserved(*class, name))
        .fold(Properties::default(), |all, (class, name, value)| {
            all.with(class, name, value.clone())
        })
}

/// Whether a property is the store's own.
pub(crate) fn is_reserved(class: PropertyClass, name: &str) -> bool {
    class == PropertyClass::System && name.starts_with('.')
}

fn damaged(id: BlobId, source: &FormatError) -> Error {
    let reason = format!("{source}; restore it from another replica");
    Error::Damaged { place: format!("metadata of blob {id}"), reason }
}

/// Partitions as messages name them.
pub(crate) fn names(partitions: &[PartitionId]) -> String {
    partitions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_range_of_chunks() {
        let chunk = |n: u128, length| ChunkRef {
            id: BlobId { partition: PartitionId(1), uuid: Uuid::from_u128(n) },
            length,
        };
        let chunks = [chunk(0, 10), chunk(1, 10), chunk(2, 3)];
        let parts = |range: Range<u64>| {
            parts_of(&chunks, &range)
                .into_iter()
                .map(|part| (part.id.uuid.as_u128(), part.range))
                .collect::<Vec<_>>()
        };
        assert_eq!(parts(0..23), [(0, 0..10), (1, 0..10), (2, 0..3)]);
        assert_eq!(parts(9..21), [(0, 9..10), (1, 0..10), (2, 0..1)]);
        assert_eq!(parts(10..20), [(1, 0..10)]);
        assert_eq!(parts(22..23), [(2, 2..3)]);
        assert_eq!(parts(5..5), []);
    }
}
