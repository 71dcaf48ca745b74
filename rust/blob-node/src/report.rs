//! What a node says of itself, for people, for monitoring and for `cluster status`.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use afterbay_blob_cluster::{AskedScrub, LocalStore, NodeId, NodeStatus, ScrubStatus, ScrubStep};
use afterbay_blob_store::{BlobId, Change, Clock, Partition, RecordKind, SystemClock};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, oneshot};

use crate::driver::{Event, Events};
use crate::membership::Membership;
use crate::outbox::{LinkReport, Outbox};
use crate::scrub_report::{ScrubReport, ScrubState};
use crate::scrubs::{ScrubCommand, Scrubs};

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
    scrubs: Arc<Scrubs>,
    turns: Arc<Semaphore>,
}

impl Reporter {
    pub(crate) fn new(
        own: Membership,
        policy: String,
        events: Events,
        store: Arc<LocalStore>,
        outboxes: BTreeMap<NodeId, Outbox>,
        scrubs: Arc<Scrubs>,
    ) -> Self {
        Reporter {
            own,
            policy,
            events,
            store,
            outboxes,
            scrubs,
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

    /// Does what somebody asks for about scrubs, and says how far the one is that was asked for.
    pub(crate) async fn scrub(
        &self,
        command: ScrubCommand,
    ) -> io::Result<Result<ScrubReport, String>> {
        let stopped = || io::Error::other("the node is shutting down");
        let (starts, stops) =
            (matches!(command, ScrubCommand::Start { .. }), matches!(command, ScrubCommand::Stop));
        let (answer, done) = oneshot::channel();
        self.events.send(Event::Scrub(command, answer)).map_err(|_| stopped())?;
        let was_running = match done.await.map_err(|_| stopped())? {
            Ok(was_running) => was_running,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut report = self.scrubs.report(&self.status().await?);
        report.joined = starts && was_running;
        if stops && was_running {
            // It may have ended at once: who has ended it asks for what came of it.
            report.state = ScrubState::Stopping;
        }
        Ok(Ok(report))
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
            "tls": self.own.map.is_tls(),
            "policy": self.policy,
            "quiet": status.is_quiet(),
            "scrub": {
                "running": status.scrub.as_ref().is_some_and(AskedScrub::is_running),
                "verified_bytes": self.scrubs.verified_bytes(),
            },
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
            "not_loaded": replica.not_loaded.as_ref().map(ToString::to_string),
            "filled": replica.is_filled,
            "suspect": replica.is_suspect,
            "damaged": replica.damaged,
            "scrub": scrub(&replica.scrub),
            "unsynced_ms": replica.unsynced_ms,
            "peers": peers.collect::<Vec<_>>(),
        })
    }
}

/// Whether a replica is being verified, and what came of the last time.
fn scrub(scrub: &ScrubStatus) -> Value {
    let step = match scrub.step {
        ScrubStep::Idle => "idle",
        ScrubStep::Reading => "reading",
        ScrubStep::Repairing => "repairing",
        ScrubStep::Counting => "counting",
    };
    let known = |time_ms: u64| (time_ms > 0).then_some(time_ms);
    let last = scrub.outcome.as_ref().map(|outcome| {
        json!({
            "whole": outcome.is_whole(),
            "damaged": outcome.damaged,
            "repaired": outcome.repaired,
            "left": outcome.left,
            "places": outcome.places,
            "compared": outcome.is_compared,
            "spare": outcome.spare,
            "mended": outcome.mended,
            "stopped": outcome.stopped,
            "failure": outcome.failure.as_ref().map(ToString::to_string),
            "ended_ms": outcome.ended_ms,
        })
    });
    json!({
        "step": step,
        "open": scrub.open,
        "verified_ms": known(scrub.schedule.verified_ms),
        "due_ms": known(scrub.schedule.due_ms),
        "last": last,
    })
}

/// What a peer may lack that has taken over the records before `passed`.
fn missing(partition: &Partition, passed: u64) -> Result<Missing, afterbay_blob_store::Error> {
    let (now_ms, mut next) = (SystemClock.now_ms(), passed);
    let mut blobs: BTreeMap<BlobId, Counted> = BTreeMap::new();
    let mut counted = 0;
    let mut more = false;
    while next < partition.status().next_sequence {
        let page = partition.changes_since(next, PAGE_RECORDS)?;
        if page.changes.is_empty() {
            // What is not synced yet.
            break;
        }
        for change in &page.changes {
            blobs.entry(change.id).or_default().add(change);
        }
        counted += page.changes.len() as u64;
        next = page.next_sequence;
        if counted >= COUNTED_MAX {
            more = next < partition.status().next_sequence;
            break;
        }
    }
    let alive = blobs.values().filter(|blob| blob.is_alive(now_ms));
    let (blobs, bytes) = alive.fold((0, 0), |(blobs, all), blob| (blobs + 1, all + blob.bytes));
    Ok(Missing { blobs, bytes, more })
}

/// What some records say of a blob, in whatever order they come.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    /// 0 without its put.
    bytes: u64,
    /// The greatest life that it was put or undeleted in, and deleted in.
    alive: u32,
    deleted: Option<u32>,
    /// When it was said last, 0 by its put, and the last millisecond that it has.
    expiry: (u64, u64),
}

impl Counted {
    fn add(&mut self, change: &Change) {
        let last_ms = change.expires_ms.wrapping_sub(1);
        match change.kind {
            RecordKind::Put => {
                self.bytes = change.length.into();
                self.alive = self.alive.max(change.life);
                self.expiry = self.expiry.max((0, last_ms));
            }
            RecordKind::Undelete => self.alive = self.alive.max(change.life),
            RecordKind::Delete => self.deleted = self.deleted.max(Some(change.life)),
            RecordKind::TtlUpdate => {
                self.expiry = self.expiry.max((change.time_ms.max(1), last_ms));
            }
        }
    }

    fn is_alive(&self, now_ms: u64) -> bool {
        let is_deleted = self.deleted.is_some_and(|life| life >= self.alive);
        self.bytes > 0 && !is_deleted && self.expiry.1 >= now_ms
    }
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
        let (_expired, shorter) = (put(1), put(0));
        partition.update_ttl(shorter, 1, Durability::Durable).unwrap();
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

    #[test]
    fn what_records_say_does_not_depend_on_their_order() {
        let is_alive = |records: &[(RecordKind, u32, u64, u64)]| {
            let mut counted = Counted::default();
            for &(kind, life, time_ms, expires_ms) in records {
                let (id, sequence) = (BlobId::random(PartitionId(1)), 1);
                counted.add(&Change { sequence, id, kind, life, time_ms, expires_ms, length: 100 });
            }
            counted.is_alive(50)
        };
        let put = (RecordKind::Put, 0, 1, 0);
        let deleted = |life| (RecordKind::Delete, life, 2, 0);
        let undeleted = (RecordKind::Undelete, 1, 3, 0);
        assert!(is_alive(&[put]) && !is_alive(&[deleted(0), put]) && !is_alive(&[undeleted]));
        assert!(is_alive(&[put, undeleted, deleted(0)]) && is_alive(&[undeleted, deleted(0), put]));
        assert!(!is_alive(&[deleted(1), undeleted, put]));
        let expires = |time_ms, expires_ms| (RecordKind::TtlUpdate, 0, time_ms, expires_ms);
        let short = (RecordKind::Put, 0, 1, 50);
        assert!(!is_alive(&[short]) && is_alive(&[(RecordKind::Put, 0, 1, 51)]));
        assert!(is_alive(&[short, expires(2, 51)]) && is_alive(&[expires(2, 0), short]));
        assert!(!is_alive(&[put, expires(3, 50), expires(2, 0)]));
    }
}
