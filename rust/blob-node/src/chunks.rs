//! The cluster as a store of chunks, for the router.

use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_cluster::{ClientAnswer, ClientError, ClientRequest, Content, Head};
use afterbay_blob_format::{BlobId, ChecksumTable, PartitionId, Properties};
use afterbay_blob_router::{Chunk, ChunkStore, Error, Include, Result};
use afterbay_blob_store::{Durability, FileRange, Policy, Put};
use async_trait::async_trait;
use bytes::Bytes;

use crate::node::ClusterNode;

/// What comes with the head; a longer body is asked for as it is read, in the router's pieces, which count as its memory.
const READ_AT_ONCE_BYTES: u32 = 64 << 10;

/// A chunk of which a replica has answered.
#[derive(Debug)]
struct RemoteChunk {
    node: ClusterNode,
    id: BlobId,
    include: Include,
    head: Head,
    properties: Properties,
    /// Of `first`.
    checksums: ChecksumTable,
    first: Bytes,
}

#[async_trait]
impl Chunk for RemoteChunk {
    fn body_bytes(&self) -> u32 {
        self.head.body_bytes
    }

    fn created_ms(&self) -> u64 {
        self.head.created_ms
    }

    fn expires_ms(&self) -> u64 {
        self.head.expires_ms
    }

    /// One replica's word is not enough: the undelete itself asks as many as are needed, and says if there was nothing to undelete.
    fn is_deleted(&self) -> bool {
        self.include == Include::All
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
        let end = range.end.min(self.head.body_bytes);
        let range = range.start.min(end)..end;
        if range.end as usize <= self.first.len() {
            return Ok(self.first.slice(range.start as usize..range.end as usize));
        }
        // A get that has begun goes on, whatever is deleted meanwhile.
        let request = ClientRequest::GetDeleted { id: self.id, range };
        Ok(got(self.id, self.node.ask(request).await?)?.1)
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

fn strange() -> Error {
    Error::Unavailable {
        place: "cluster".to_owned(),
        reason: "the node has answered something else".to_owned(),
    }
}

fn done(id: BlobId, answer: ClientAnswer) -> Result<()> {
    match answer {
        ClientAnswer::Put { .. } | ClientAnswer::Done { .. } => Ok(()),
        ClientAnswer::Failed(error) => Err(of_client(id, error)),
        ClientAnswer::Got { .. } => Err(strange()),
    }
}

fn got(id: BlobId, answer: ClientAnswer) -> Result<(Head, Bytes)> {
    match answer {
        ClientAnswer::Got { head, bytes } => Ok((head, bytes)),
        ClientAnswer::Failed(error) => Err(of_client(id, error)),
        ClientAnswer::Put { .. } | ClientAnswer::Done { .. } => Err(strange()),
    }
}

impl ClusterNode {
    /// Partitions that take a blob, as far as this node knows: enough replicas can be reached, and the own one is not full. All
    /// that are not closed if there are none: asking them says what is wrong.
    fn candidates(&self, bytes: u64, but: &[PartitionId]) -> Vec<PartitionId> {
        let open = self.map().partitions.iter();
        let open: Vec<_> = open.filter(|(id, p)| !p.read_only && !but.contains(id)).collect();
        let has_room = |id: PartitionId| {
            self.partition(id).is_none_or(|partition| {
                let (used, read_only) = partition.usage();
                !read_only && used.saturating_add(bytes) <= partition.threshold_bytes()
            })
        };
        let reachable = open.iter().filter(|(id, placement)| {
            let up = placement.replicas.iter().filter(|node| !self.is_down(node)).count();
            up >= self.policy().acknowledgements(placement.replicas.len()) && has_room(**id)
        });
        let reachable: Vec<_> = reachable.map(|(id, _)| **id).collect();
        if reachable.is_empty() { open.into_iter().map(|(id, _)| *id).collect() } else { reachable }
    }
}

impl ClusterNode {
    /// An error if no partition has so many replicas.
    fn check(&self, policy: Policy) -> Result<()> {
        let most = self.map().partitions.values().map(|placement| placement.replicas.len()).max();
        let most = most.unwrap_or(0);
        if policy.acknowledgements(most) <= most {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "{policy} acknowledgements: the partitions of this cluster have {most} replicas at most"
        )))
    }
}

#[async_trait]
impl ChunkStore for ClusterNode {
    async fn place(&self, bytes: u64, but: &[PartitionId]) -> Result<BlobId> {
        let partitions = self.candidates(bytes, but);
        let random = uuid::Uuid::new_v4().as_u64_pair().0;
        let at = random.checked_rem(partitions.len() as u64);
        let partition = at.and_then(|at| partitions.get(usize::try_from(at).ok()?));
        partition.map(|partition| BlobId::random(*partition)).ok_or_else(|| Error::OutOfSpace {
            place: "cluster".to_owned(),
            reason: "no other partition of the map takes new blobs".to_owned(),
        })
    }

    async fn put(&self, put: Put, class: Durability) -> Result<()> {
        self.put_acked(put, class, None).await
    }

    async fn put_acked(&self, put: Put, class: Durability, acks: Option<Policy>) -> Result<()> {
        // Those of the node were seen to do when it started.
        if let Some(acks) = acks {
            self.check(acks)?;
        }
        let policy = acks.unwrap_or_else(|| self.policy_of(put.container));
        let properties = put.properties.encode().map_err(|e| Error::Invalid(e.to_string()))?;
        let content =
            Content { container: put.container, properties: properties.into(), body: put.body };
        let (id, expires_ms) = (put.id, put.expires_ms);
        let request = ClientRequest::PutAs { id, content, expires_ms, class, policy };
        done(id, self.ask(request).await?)
    }

    async fn open(&self, id: BlobId, include: Include) -> Result<Arc<dyn Chunk>> {
        let replicas = self.map().replicas(id.partition);
        if replicas.is_empty() {
            let reason = format!(
                "partition {} is none of this cluster; is it a blob of another one, or of a server alone?",
                id.partition
            );
            return Err(Error::NotHere { id, reason });
        }
        let range = 0..READ_AT_ONCE_BYTES;
        let request = match include {
            Include::Alive => ClientRequest::Get { id, range },
            Include::All => ClientRequest::GetDeleted { id, range },
        };
        let (head, first) = got(id, self.ask(request).await?)?;
        let properties = Properties::parse(&head.properties)
            .map_err(|e| Error::Damaged { place: format!("blob {id}"), reason: e.to_string() })?;
        let checksums = ChecksumTable::of(&first);
        let node = self.clone();
        Ok(Arc::new(RemoteChunk { node, id, include, head, properties, checksums, first }))
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
