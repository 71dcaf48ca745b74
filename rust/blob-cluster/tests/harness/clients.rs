//! What clients ask for and are told, who asks for scrubs, and what replicas say of a blob.

use afterbay_blob_cluster::{
    ClientAnswer, ClientError, ClientRequest, Content, Durability, Head, NodeId, Policy, Record,
    ScrubRefusal,
};
use afterbay_blob_format::{BlobId, PartitionId, RecordKind};
use bytes::Bytes;

use super::Cluster;

pub fn content(text: impl AsRef<[u8]>) -> Content {
    Content { container: 0, properties: Bytes::new(), body: Bytes::copy_from_slice(text.as_ref()) }
}

pub fn put(text: impl AsRef<[u8]>) -> ClientRequest {
    ClientRequest::Put {
        content: content(text),
        expires_ms: 0,
        class: Durability::Durable,
        policy: Policy::default(),
    }
}

/// One replica acknowledges it.
pub fn put_by_one(text: impl AsRef<[u8]>) -> ClientRequest {
    let (content, class, policy) = (content(text), Durability::Durable, Policy::One);
    ClientRequest::Put { content, expires_ms: 0, class, policy }
}

pub fn delete(id: BlobId) -> ClientRequest {
    ClientRequest::Delete { id, class: Durability::Durable, policy: Policy::default() }
}

pub fn undelete(id: BlobId) -> ClientRequest {
    ClientRequest::Undelete { id, class: Durability::Durable, policy: Policy::default() }
}

pub fn update_ttl(id: BlobId, expires_ms: u64) -> ClientRequest {
    let (class, policy) = (Durability::Durable, Policy::default());
    ClientRequest::UpdateTtl { id, expires_ms, class, policy }
}

pub fn get(id: BlobId) -> ClientRequest {
    ClientRequest::Get { id, range: 0..u32::MAX }
}

/// What a replica says of a blob: is it deleted, in which life, its expiry, and its content if it is not deleted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    pub deleted: bool,
    pub life: u32,
    pub deleted_ms: u64,
    pub expiry: (u64, u64),
    pub created_ms: u64,
    pub body: Option<Bytes>,
}

pub fn said(records: &[Record]) -> Said {
    let (mut said, mut alive, mut deleted) = (Said::default(), 0, None);
    for record in records {
        match record.kind {
            RecordKind::Put => {
                alive = alive.max(record.life);
                said.created_ms = record.time_ms;
                said.body = record.content.as_ref().map(|content| content.body.clone());
                said.expiry = said.expiry.max((0, record.expires_ms.wrapping_sub(1)));
            }
            RecordKind::Undelete => alive = alive.max(record.life),
            RecordKind::Delete => deleted = deleted.max(Some((record.life, record.time_ms))),
            RecordKind::TtlUpdate => {
                let expiry = (record.time_ms.max(1), record.expires_ms.wrapping_sub(1));
                said.expiry = said.expiry.max(expiry);
            }
        }
    }
    said.deleted = deleted.is_some_and(|(life, _)| life >= alive);
    said.life = alive.max(deleted.map_or(0, |(life, _)| life));
    said.deleted_ms = deleted.map_or(0, |(_, time_ms)| time_ms);
    if said.deleted {
        // What of it is still there is a matter of compaction.
        (said.body, said.created_ms, said.expiry) = (None, 0, (0, 0));
    }
    said
}

impl Cluster {
    pub fn begin(&mut self, node: &NodeId, request: ClientRequest) -> u64 {
        self.next_call += 1;
        let call = self.next_call;
        let machine = self.machines.get_mut(node).unwrap();
        let now = machine.now(self.now_ms);
        let actions = machine.node.as_mut().unwrap().on_client(now, call, request);
        self.perform(node, actions);
        call
    }

    /// Somebody asks a node for a scrub.
    pub fn scrub(
        &mut self,
        node: &NodeId,
        partition: Option<PartitionId>,
    ) -> Result<(), ScrubRefusal> {
        let machine = self.machines.get_mut(node).unwrap();
        let now = machine.now(self.now_ms);
        let actions = machine.node.as_mut().unwrap().scrub(now, partition, 1 << 20)?;
        self.perform(node, actions);
        Ok(())
    }

    pub fn stop_scrub(&mut self, node: &NodeId) {
        let machine = self.machines.get_mut(node).unwrap();
        let now = machine.now(self.now_ms);
        let actions = machine.node.as_mut().unwrap().stop_scrub(now);
        self.perform(node, actions);
    }

    pub fn answer(&mut self, call: u64) -> Option<ClientAnswer> {
        self.answers.remove(&call)
    }

    #[track_caller]
    pub fn ask(&mut self, node: &NodeId, request: ClientRequest) -> ClientAnswer {
        let call = self.begin(node, request);
        self.until("a client is answered", |cluster| cluster.answers.contains_key(&call));
        self.answers.remove(&call).unwrap()
    }

    #[track_caller]
    pub fn put(&mut self, node: &NodeId, text: impl AsRef<[u8]>) -> BlobId {
        match self.ask(node, put(text)) {
            ClientAnswer::Put { id, .. } => id,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub fn done(&mut self, node: &NodeId, request: ClientRequest) {
        let answer = self.ask(node, request);
        assert!(matches!(answer, ClientAnswer::Done { .. }), "{answer:?}");
    }

    #[track_caller]
    pub fn failure(&mut self, node: &NodeId, request: ClientRequest) -> ClientError {
        match self.ask(node, request) {
            ClientAnswer::Failed(error) => error,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub fn got(&mut self, node: &NodeId, id: BlobId) -> (Head, Bytes) {
        match self.ask(node, get(id)) {
            ClientAnswer::Got { head, bytes } => (head, bytes),
            other => panic!("{id} from {node}: {other:?}"),
        }
    }

    /// What a node's replica says of a blob.
    pub fn said(&self, node: &NodeId, id: BlobId) -> Said {
        said(&self.partition(node, id.partition).export(id).unwrap())
    }

    /// All replicas that are up say the same of a blob.
    #[track_caller]
    pub fn agreed(&self, id: BlobId) -> Said {
        let replicas: Vec<_> =
            self.map.replicas(id.partition).iter().filter(|node| self.is_up(node)).collect();
        let first = self.said(replicas[0], id);
        // Whether a tombstone is gone is each replica's own matter.
        let is_gone = |said: &Said| said.deleted || *said == Said::default();
        for node in &replicas {
            let said = self.said(node, id);
            if !(is_gone(&said) && is_gone(&first)) {
                assert_eq!(said, first, "{id} at {node} and {}", replicas[0]);
            }
        }
        first
    }
}
