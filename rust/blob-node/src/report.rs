//! What a node says of itself, for people, for monitoring and for `cluster status`.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use afterbay_blob_cluster::{LocalStore, NodeId, NodeStatus};
use afterbay_blob_store::{BlobId, Clock, Partition, RecordKind, SystemClock};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, oneshot};

use crate::driver::{Event, Events};
use crate::membership::Membership;
use crate::outbox::{LinkReport, Outbox};

/// Records of a log that are looked at for one peer; more are said to be there.
const COUNTED_MAX: u64 = 200_000;
const PAGE_RECORDS: usize = 10_000;
/// They read indexes: so many at once.
const REPORTS_MAX: usize = 2;

/// What a replica is not known to have of another one's blobs. What both got at once counts too, until the next pull says so:
/// a part of a second later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
struct Missing {
    blobs: u64,
    bytes: u64,
    /// There are more than were counted.
    more: bool,
}

/// Asks the node how it is. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Reporter {
    own: Membership,
    policy: String,
    events: Events,
    store: Arc<LocalStore>,
    outboxes: BTreeMap<NodeId, Outbox>,
    turns: Arc<Semaphore>,
}

impl Reporter {
    pub(crate) fn new(
        own: Membership,
        policy: String,
        events: Events,
        store: Arc<LocalStore>,
        outboxes: BTreeMap<NodeId, Outbox>,
    ) -> Self {
        Reporter {
            own,
            policy,
            events,
            store,
            outboxes,
            turns: Arc::new(Semaphore::new(REPORTS_MAX)),
        }
    }

    /// What the state machine knows.
    pub(crate) async fn status(&self) -> io::Result<NodeStatus> {
        let stopped = || io::Error::other("the node is shutting down");
        let (answer, status) = oneshot::channel();
        self.events.send(Event::Status(answer)).map_err(|_| stopped())?;
        status.await.map_err(|_| stopped())
    }

    /// All of it, as JSON.
    pub(crate) async fn report(&self) -> io::Result<Value> {
        let _turn = self.turns.acquire().await.map_err(io::Error::other)?;
        let status = self.status().await?;
        let reporter = self.clone();
        tokio::task::spawn_blocking(move || reporter.report_of(&status))
            .await
            .map_err(io::Error::other)
    }

    /// Blocks.
    fn report_of(&self, status: &NodeStatus) -> Value {
        let links: Vec<Value> = self
            .outboxes
            .iter()
            .map(|(node, outbox)| {
                let LinkReport { connected, error } = outbox.link();
                let down = status.down.contains(node);
                json!({
                    "node": node.as_str(), "address": outbox.address, "connected": connected, "error": error, "down": down,
                })
            })
            .collect();
        let replicas: Vec<Value> =
            status.replicas.iter().map(|replica| self.replica(replica)).collect();
        json!({
            "cluster": self.own.key.name(),
            "node": self.own.name(),
            "version": env!("CARGO_PKG_VERSION"),
            "map_version": self.own.map.version,
            "map_digest": format!("{:016x}", self.own.map_digest),
            "policy": self.policy,
            "quiet": status.is_quiet(),
            "down": status.down.iter().map(NodeId::as_str).collect::<Vec<_>>(),
            "links": links,
            "replicas": replicas,
        })
    }

    fn replica(&self, replica: &afterbay_blob_cluster::ReplicaStatus) -> Value {
        let partition = self.store.partition(replica.partition);
        let status = partition.map(Partition::status);
        let failure = partition.and_then(Partition::failure).map(|error| error.to_string());
        let peers = replica.peers.iter().map(|peer| {
            // Before it was heard, 0 would say that nothing is missing.
            let lag = (peer.is_heard || peer.lag > 0).then_some(peer.lag);
            let (missing, reason) = match partition.map(|partition| missing(partition, peer.passed))
            {
                Some(Ok(missing)) => (Some(missing), None),
                Some(Err(error)) => (None, Some(error.to_string())),
                None => (None, None),
            };
            json!({
                "node": peer.node.as_str(),
                "lag": lag,
                "comparing": peer.is_comparing,
                "missing": missing,
                "missing_unknown": reason,
            })
        });
        json!({
            "partition": replica.partition.0,
            "used_bytes": status.as_ref().map(|status| status.used_bytes),
            "records": status.as_ref().map(|status| status.records),
            "read_only": status.as_ref().map(|status| status.read_only),
            "failure": failure,
            "loaded": replica.is_loaded,
            "filled": replica.is_filled,
            "suspect": replica.is_suspect,
            "damaged": replica.damaged,
            "peers": peers.collect::<Vec<_>>(),
        })
    }
}

/// What a peer may lack that has taken over the records before `passed`.
fn missing(partition: &Partition, passed: u64) -> Result<Missing, afterbay_blob_store::Error> {
    let (now_ms, mut next) = (SystemClock.now_ms(), passed);
    // Bytes of each blob, and whether it is deleted.
    let mut blobs: BTreeMap<BlobId, (u64, bool)> = BTreeMap::new();
    let mut counted = 0;
    let mut more = false;
    while next < partition.status().next_sequence {
        let page = partition.changes_since(next, PAGE_RECORDS)?;
        if page.changes.is_empty() {
            // What is not synced yet.
            break;
        }
        for change in &page.changes {
            let expired = change.expires_ms != 0 && change.expires_ms <= now_ms;
            let blob = blobs.entry(change.id).or_default();
            match change.kind {
                RecordKind::Put => *blob = (if expired { 0 } else { change.length.into() }, blob.1),
                RecordKind::Delete => blob.1 = true,
                RecordKind::Undelete => blob.1 = false,
                RecordKind::TtlUpdate => {}
            }
        }
        counted += page.changes.len() as u64;
        next = page.next_sequence;
        if counted >= COUNTED_MAX {
            more = next < partition.status().next_sequence;
            break;
        }
    }
    let alive = blobs.values().filter(|(bytes, is_deleted)| *bytes > 0 && !is_deleted);
    let (blobs, bytes) = alive.fold((0, 0), |(blobs, all), (bytes, _)| (blobs + 1, all + bytes));
    Ok(Missing { blobs, bytes, more })
}

#[cfg(test)]
mod tests {
    use afterbay_blob_store::sim::SimDisk;
    use afterbay_blob_store::{Durability, Options, PartitionId, Put};

    use super::*;

    #[test]
    fn what_a_peer_lacks_are_the_blobs_that_live() {
        let disk = SimDisk::new(1);
        let options =
            Options { capacity_bytes: 1 << 20, segment_bytes: 64 << 10, ..Options::default() };
        Partition::create(&*disk.directory(), PartitionId(1), &options).unwrap();
        let partition = Partition::open(disk.directory(), options, Arc::new(SystemClock)).unwrap();
        let put = |expires_ms| {
            let id = BlobId::random(PartitionId(1));
            let put = Put {
                id,
                properties: afterbay_blob_format::Properties::default(),
                body: vec![7; 100].into(),
                expires_ms,
                container: 0,
                fresh: true,
            };
            partition.put(put, Durability::Durable).unwrap();
            id
        };
        let _first = put(0);
        let passed = partition.status().next_sequence;
        assert_eq!(missing(&partition, passed).unwrap(), Missing::default());
        let (_alive, deleted, back) = (put(0), put(0), put(0));
        let _expired = put(1);
        for id in [deleted, back] {
            partition.delete(id, Durability::Durable).unwrap();
        }
        partition.undelete(back, Durability::Durable).unwrap();
        let some = missing(&partition, passed).unwrap();
        assert_eq!((some.blobs, some.more), (2, false));
        assert!((200..1000).contains(&some.bytes), "{some:?}");
        assert_eq!(
            missing(&partition, 0).unwrap().blobs,
            3,
            "who has said nothing may have nothing"
        );
    }
}
