//! What the machines of a node share: who asked whom for what, and what is to be done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_store::{Content, Durability};
use bytes::Bytes;

use crate::detector::Detector;
use crate::identity::{NodeId, Now, Source};
use crate::latency::Latencies;
use crate::map::ClusterMap;
use crate::message::{Body, Call, Head, Message, Refusal, Reply, Request};
use crate::options::NodeOptions;
use crate::policy::Policy;
use crate::rules::Rules;
use crate::scrub::AskedScrub;
use crate::store_call::StoreOperation;

/// What a node wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Sends a message. It may be lost.
    Send {
        /// To this node.
        to: NodeId,
        /// This.
        message: Message,
    },
    /// Does something with a replica of this node, and says so by [`crate::Node::on_stored`].
    Store {
        /// Which one this is.
        call: u64,
        /// The replica.
        partition: PartitionId,
        /// What.
        operation: StoreOperation,
    },
    /// Lets a scrub of the store end before its end. It is answered as usual.
    EndScrub {
        /// Its number, in [`StoreOperation::Scrub`] and [`StoreOperation::Recount`].
        run: u64,
    },
    /// Answers a client.
    Answer {
        /// Which of its requests.
        call: u64,
        /// What.
        answer: ClientAnswer,
    },
}

/// What a client asks for.
#[derive(Clone, PartialEq, Eq)]
pub enum ClientRequest {
    /// Stores a blob of one record, under a new id.
    Put {
        /// The blob.
        content: Content,
        /// From when on it is expired, in milliseconds since 1970; 0 is never.
        expires_ms: u64,
        /// When a replica acknowledges.
        class: Durability,
        /// How many have to.
        policy: Policy,
    },
    /// Stores a blob of one record, under an id and so in a partition that somebody has chosen.
    PutAs {
        /// The id: new.
        id: BlobId,
        /// The blob.
        content: Content,
        /// From when on it is expired, in milliseconds since 1970; 0 is never.
        expires_ms: u64,
        /// When a replica acknowledges.
        class: Durability,
        /// How many have to.
        policy: Policy,
    },
    /// A part of a blob.
    Get {
        /// The blob.
        id: BlobId,
        /// Which bytes of its body; what is behind its end is left out.
        range: Range<u32>,
    },
    /// The same, also if it is deleted or expired, as long as it is not compacted away.
    GetDeleted {
        /// The blob.
        id: BlobId,
        /// Which bytes of its body; what is behind its end is left out.
        range: Range<u32>,
    },
    /// Deletes a blob.
    Delete {
        /// The blob.
        id: BlobId,
        /// When a replica acknowledges.
        class: Durability,
        /// How many have to; a majority does at least.
        policy: Policy,
    },
    /// Takes back a delete.
    Undelete {
        /// The blob.
        id: BlobId,
        /// When a replica acknowledges.
        class: Durability,
        /// How many have to; a majority does at least.
        policy: Policy,
    },
    /// Lets a blob expire at another time.
    UpdateTtl {
        /// The blob.
        id: BlobId,
        /// In milliseconds since 1970; 0 is never.
        expires_ms: u64,
        /// When a replica acknowledges.
        class: Durability,
        /// How many have to; a majority does at least.
        policy: Policy,
    },
}

/// What a client is answered.
#[derive(Clone, PartialEq, Eq)]
pub enum ClientAnswer {
    /// A put is acknowledged.
    Put {
        /// The new blob.
        id: BlobId,
        /// By these nodes.
        replicas: Vec<NodeId>,
    },
    /// Bytes of a blob.
    Got {
        /// What it is.
        head: Head,
        /// As many as were asked for, and there are.
        bytes: Bytes,
    },
    /// A delete, an undelete or a TTL update is acknowledged.
    Done {
        /// By these nodes.
        replicas: Vec<NodeId>,
    },
    /// It was not done, or nobody knows.
    Failed(ClientError),
}

/// Why a client's request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// All replicas say that there is no such blob; or it was deleted so long ago that it may be compacted away.
    #[error("not found")]
    NotFound,
    /// The blob is deleted.
    #[error("deleted")]
    Deleted,
    /// The blob's time is over.
    #[error("expired")]
    Expired,
    /// There is nothing to undelete.
    #[error("not deleted")]
    NotDeleted,
    /// All replicas that have the blob have damaged it.
    #[error("damaged at all replicas that have it; restore it from elsewhere")]
    Damaged,
    /// The node has too much to do. Nothing was done.
    #[error("too many requests are under way; try again")]
    Busy,
    /// No partition takes the blob. Nothing was stored.
    #[error("no partition has room for it; add disks or nodes")]
    OutOfSpace,
    /// Too few replicas of the partition that was asked for can be reached. Nothing was stored.
    #[error(
        "partition {partition}: {reachable} of {needed} replicas that are needed can be reached; use another one"
    )]
    Unreachable {
        /// The partition.
        partition: PartitionId,
        /// So many can be.
        reachable: usize,
        /// So many are needed.
        needed: usize,
    },
    /// Too few replicas answered: a write may have happened or not.
    #[error("{answered} of {needed} replicas that are needed answered; {reason}")]
    Unavailable {
        /// So many did.
        answered: usize,
        /// So many are needed.
        needed: usize,
        /// What the others said.
        reason: String,
    },
}

/// Which machine an answer goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Nobody waits for it.
    Nobody,
    Write(u64),
    Get(u64),
    /// A batch of pulls from one node.
    Batch(Vec<PartitionId>),
    /// A pull from the node that was asked.
    Pull(PartitionId),
    Repair(PartitionId),
}

/// Which machine an answer of the store goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreOwner {
    Load,
    /// Another node, or this one.
    Serve(NodeId, Call, Served),
    Pull(NodeId),
    Tokens,
    Repair(Vec<BlobId>),
    Flush,
    Compact,
    Scrub(u64),
    Recount(u64),
    Schedule,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Served {
    Write(Durability),
    Known,
    Read(BlobId),
    /// A part of an answer that is gathered: which one.
    Changes(u64, usize),
    Holds,
    Fetch,
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) to: NodeId,
    pub(crate) owner: Owner,
    pub(crate) sent_ms: u64,
    pub(crate) timeout_ms: u64,
    fetches: bool,
}

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) id: NodeId,
    pub(crate) map: Arc<ClusterMap>,
    pub(crate) options: NodeOptions,
    pub(crate) rules: Rules,
    pub(crate) source: Box<dyn Source>,
    pub(crate) now: Now,
    pub(crate) detector: Detector,
    pub(crate) latencies: Latencies,
    session: u64,
    next: u64,
    asked: BTreeMap<u64, Asked>,
    timeouts: BTreeSet<(u64, u64)>,
    load: BTreeMap<NodeId, usize>,
    /// Those of them that ask for blobs.
    fetches: BTreeMap<NodeId, usize>,
    stores: BTreeMap<u64, (PartitionId, StoreOwner)>,
    /// The scrub that somebody asked for last.
    pub(crate) asked_scrub: Option<AskedScrub>,
    scrubs: u64,
    actions: Vec<Action>,
    /// Messages to this node itself.
    loopback: VecDeque<Message>,
}

impl Core {
    pub(crate) fn new(
        id: NodeId,
        map: Arc<ClusterMap>,
        options: NodeOptions,
        rules: Rules,
        mut source: Box<dyn Source>,
        now: Now,
    ) -> Self {
        let session = source.uuid().as_u64_pair().0;
        let detector = Detector::new(options.detector.clone());
        Core {
            id,
            map,
            options,
            rules,
            source,
            now,
            detector,
            latencies: Latencies::default(),
            session,
            next: 0,
            asked: BTreeMap::new(),
            timeouts: BTreeSet::new(),
            load: BTreeMap::new(),
            fetches: BTreeMap::new(),
            stores: BTreeMap::new(),
            asked_scrub: None,
            scrubs: 0,
            actions: Vec::new(),
            loopback: VecDeque::new(),
        }
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Sends a request. Ask [`Detector::ask`] before.
    pub(crate) fn ask(&mut self, to: &NodeId, request: Request, owner: Owner) -> u64 {
        let number = self.number();
        let sent_ms = self.now.mono_ms;
        let timeout_ms = sent_ms + self.options.request_timeout_ms;
        let fetches = matches!(request, Request::Fetch { .. });
        self.asked.insert(number, Asked { to: to.clone(), owner, sent_ms, timeout_ms, fetches });
        self.timeouts.insert((timeout_ms, number));
        *self.load.entry(to.clone()).or_default() += 1;
        if fetches {
            *self.fetches.entry(to.clone()).or_default() += 1;
        }
        let call = Call { session: self.session, number };
        self.send(to, Message { call, body: Body::Request(request) });
        number
    }

    pub(crate) fn reply(&mut self, to: &NodeId, call: Call, reply: Reply) {
        self.send(to, Message { call, body: Body::Reply(reply) });
    }

    fn send(&mut self, to: &NodeId, message: Message) {
        if *to == self.id {
            self.loopback.push_back(message);
        } else {
            self.actions.push(Action::Send { to: to.clone(), message });
        }
    }

    pub(crate) fn store(
        &mut self,
        partition: PartitionId,
        operation: StoreOperation,
        owner: StoreOwner,
    ) {
        let call = self.number();
        self.stores.insert(call, (partition, owner));
        self.actions.push(Action::Store { call, partition, operation });
    }

    /// A number that no other scrub of this process has.
    pub(crate) fn next_scrub(&mut self) -> u64 {
        self.scrubs += 1;
        self.scrubs
    }

    pub(crate) fn end_scrub(&mut self, run: u64) {
        self.actions.push(Action::EndScrub { run });
    }

    pub(crate) fn answer(&mut self, call: u64, answer: ClientAnswer) {
        self.actions.push(Action::Answer { call, answer });
    }

    /// Who waits for an answer of the store; `None` if nobody does.
    pub(crate) fn stored(&mut self, call: u64) -> Option<(PartitionId, StoreOwner)> {
        self.stores.remove(&call)
    }

    pub(crate) fn stores_under_way(&self) -> usize {
        self.stores.len()
    }

    /// The request that an answer is to; `None` if nobody waits for it any more.
    pub(crate) fn answered(&mut self, from: &NodeId, call: Call) -> Option<Asked> {
        let waits = call.session == self.session
            && self.asked.get(&call.number).is_some_and(|asked| {
                // That it is too late does not depend on when somebody looks.
                asked.to == *from && self.now.mono_ms < asked.timeout_ms
            });
        if !waits {
            return None;
        }
        let asked = self.take(call.number)?;
        self.detector.succeeded(from);
        Some(asked)
    }

    /// A request that could not be sent, or whose answer will not come.
    pub(crate) fn unsent(&mut self, to: &NodeId, call: Call) -> Option<(u64, Asked)> {
        let is_ours = call.session == self.session
            && self.asked.get(&call.number).is_some_and(|asked| asked.to == *to);
        if is_ours { self.fail(call.number) } else { None }
    }

    /// The next request whose time is over.
    pub(crate) fn timed_out(&mut self) -> Option<(u64, Asked)> {
        let &(timeout_ms, number) = self.timeouts.first()?;
        if timeout_ms <= self.now.mono_ms { self.fail(number) } else { None }
    }

    fn fail(&mut self, number: u64) -> Option<(u64, Asked)> {
        let asked = self.take(number)?;
        self.detector.failed(&asked.to, self.now.mono_ms);
        Some((number, asked))
    }

    fn take(&mut self, number: u64) -> Option<Asked> {
        let asked = self.asked.remove(&number)?;
        self.timeouts.remove(&(asked.timeout_ms, number));
        if let Some(load) = self.load.get_mut(&asked.to) {
            *load -= 1;
        }
        if let Some(fetches) = self.fetches.get_mut(&asked.to).filter(|_| asked.fetches) {
            *fetches -= 1;
        }
        Some(asked)
    }

    pub(crate) fn next_timeout_ms(&self) -> Option<u64> {
        self.timeouts.first().map(|(timeout_ms, _)| *timeout_ms)
    }

    /// Whether one more request for blobs may be under way to a node.
    pub(crate) fn may_fetch(&self, node: &NodeId) -> bool {
        self.fetches.get(node).copied().unwrap_or(0) < self.options.fetches_max
    }

    /// Requests to a node that are not answered.
    pub(crate) fn load(&self, node: &NodeId) -> usize {
        self.load.get(node).copied().unwrap_or(0)
    }

    /// The other replicas of a partition.
    pub(crate) fn peers(&self, partition: PartitionId) -> Vec<NodeId> {
        let replicas = self.map.replicas(partition);
        replicas.iter().filter(|node| **node != self.id).cloned().collect()
    }

    pub(crate) fn next_loopback(&mut self) -> Option<Message> {
        self.loopback.pop_front()
    }

    pub(crate) fn has_loopback(&self) -> bool {
        !self.loopback.is_empty()
    }

    pub(crate) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }
}

/// What to say when replicas did not do it.
pub(crate) fn unavailable<'a>(
    answered: usize,
    needed: usize,
    refusals: impl Iterator<Item = (&'a NodeId, &'a Refusal)>,
) -> ClientError {
    let said: Vec<String> = refusals.map(|(node, refusal)| format!("{node}: {refusal}")).collect();
    let reason = if said.is_empty() {
        "the others are down; try again".to_owned()
    } else {
        format!("{}; try again", said.join(", "))
    };
    ClientError::Unavailable { answered, needed, reason }
}
