//! The cluster as a store of chunks, for the router.

use std::ops::Range;

use afterbay_blob_cluster::{ClientAnswer, ClientError, ClientRequest, Content, Head};
use afterbay_blob_format::{BlobId, ChecksumTable, PartitionId, Properties};
use afterbay_blob_router::{Chunk, ChunkStore, Error, Include, Result};
use afterbay_blob_store::{Durability, FileRange, Put};
use async_trait::async_trait;
use bytes::Bytes;
use std::sync::Arc;

use crate::node::ClusterNode;

/// A chunk that was read as a whole.
#[derive(Debug)]
struct ReadChunk {
    head: Head,
    properties: Properties,
    checksums: ChecksumTable,
    body: Bytes,
}

#[async_trait]
impl Chunk for ReadChunk {
    fn body_bytes(&self) -> u32 {
        self.head.body_bytes
    }

    fn created_ms(&self) -> u64 {
        self.head.created_ms
    }

    fn expires_ms(&self) -> u64 {
        self.head.expires_ms
    }

    fn is_deleted(&self) -> bool {
        false
    }

    fn container(&self) -> u32 {
        self.head.container
    }

    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn checksums(&self) -> &ChecksumTable {
        &self.checksums
    }

    async fn read(&self, range: Range<u32>) -> Result<Bytes> {
        let end = (range.end as usize).min(self.body.len());
        Ok(self.body.slice((range.start as usize).min(end)..end))
    }

    fn file(&self) -> Option<FileRange<'_>> {
        None
    }
}

fn of_client(id: BlobId, error: ClientError) -> Error {
    let unavailable = |reason: String| Error::Unavailable { place: "cluster".to_owned(), reason };
    match error {
        ClientError::NotFound => Error::NotFound(id),
        ClientError::Deleted => Error::Deleted(id),
        ClientError::Expired => Error::Expired(id),
        ClientError::NotDeleted => Error::NotDeleted(id),
        ClientError::Damaged => {
            Error::Damaged { place: format!("blob {id}"), reason: error.to_string() }
        }
        ClientError::OutOfSpace | ClientError::Unreachable { .. } => {
            Error::ReadOnly { partition: id.partition, reason: error.to_string() }
        }
        ClientError::Busy | ClientError::Unavailable { .. } => unavailable(error.to_string()),
    }
}

fn done(id: BlobId, answer: ClientAnswer) -> Result<()> {
    match answer {
        ClientAnswer::Failed(error) => Err(of_client(id, error)),
        _ => Ok(()),
    }
}

#[async_trait]
impl ChunkStore for ClusterNode {
    async fn place(&self, _bytes: u64, but: &[PartitionId]) -> Result<BlobId> {
        let map = self.map();
        let partitions: Vec<PartitionId> = map
            .partitions
            .iter()
            .filter(|(id, placement)| !placement.read_only && !but.contains(id))
            .map(|(id, _)| *id)
            .collect();
        let random = uuid::Uuid::new_v4();
        let at = random.as_u64_pair().0.checked_rem(partitions.len() as u64);
        let partition = at.and_then(|at| partitions.get(usize::try_from(at).ok()?));
        partition.map(|partition| BlobId::random(*partition)).ok_or_else(|| Error::OutOfSpace {
            place: "cluster".to_owned(),
            reason: "no partition of the map takes new blobs; add partitions".to_owned(),
        })
    }

    async fn put(&self, put: Put, class: Durability) -> Result<()> {
        let properties = put.properties.encode().map_err(|e| Error::Invalid(e.to_string()))?;
        let content =
            Content { container: put.container, properties: properties.into(), body: put.body };
        let (id, expires_ms, policy) = (put.id, put.expires_ms, self.policy());
        let request = ClientRequest::PutAs { id, content, expires_ms, class, policy };
        done(id, self.ask(request).await?)
    }

    async fn open(&self, id: BlobId, _include: Include) -> Result<Arc<dyn Chunk>> {
        match self.ask(ClientRequest::Get { id, range: 0..u32::MAX }).await? {
            ClientAnswer::Got { head, bytes } => {
                let properties = Properties::parse(&head.properties).map_err(|e| {
                    Error::Damaged { place: format!("blob {id}"), reason: e.to_string() }
                })?;
                let checksums = ChecksumTable::of(&bytes);
                Ok(Arc::new(ReadChunk { head, properties, checksums, body: bytes }))
            }
            ClientAnswer::Failed(error) => Err(of_client(id, error)),
            _ => Err(Error::NotFound(id)),
        }
    }

    async fn delete(&self, id: BlobId, class: Durability) -> Result<()> {
        let request = ClientRequest::Delete { id, class, policy: self.policy() };
        done(id, self.ask(request).await?)
    }

    async fn undelete(&self, id: BlobId, class: Durability) -> Result<()> {
        let request = ClientRequest::Undelete { id, class, policy: self.policy() };
        done(id, self.ask(request).await?)
    }

    async fn update_ttl(&self, id: BlobId, expires_ms: u64, class: Durability) -> Result<()> {
        let policy = self.policy();
        let request = ClientRequest::UpdateTtl { id, expires_ms, class, policy };
        done(id, self.ask(request).await?)
    }
}
