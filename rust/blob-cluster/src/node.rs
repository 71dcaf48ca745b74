//! A node: datanode, frontend and replicator of one process, without its disks, network and clocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use afterbay_blob_format::PartitionId;

use crate::core::{Action, ClientAnswer, ClientError, ClientRequest, Core, Owner, StoreOwner};
use crate::get::Gets;
use crate::identity::{NodeId, Now, Source};
use crate::map::ClusterMap;
use crate::message::{Body, Call, Message, Refusal, Reply};
use crate::options::NodeOptions;
use crate::pull::ask_batches;
use crate::replica::Replica;
use crate::rules::Rules;
use crate::scrub::{AskedScrub, ScrubRefusal};
use crate::serve::{self, Gathered, Replicas};
use crate::status::{NodeStatus, status};
use crate::store_call::{StoreAnswer, StoreOperation};
use crate::write::Writes;

/// A node of the cluster. Tell it what happens; do what it says, in any order and at any later time; what is lost on the way
/// it asks for again.
///
/// The same calls give the same actions. One call at a time.
#[derive(Debug)]
pub struct Node {
    core: Core,
    writes: Writes,
    gets: Gets,
    gathered: Gathered,
    replicas: Replicas,
    /// Requests for changes that are under way, by node.
    batches: BTreeMap<NodeId, usize>,
}

impl Node {
    /// A node that has just started. `options` are those that [`NodeOptions::check`] lets pass.
    pub fn new(
        id: NodeId,
        map: Arc<ClusterMap>,
        options: NodeOptions,
        rules: Rules,
        source: Box<dyn Source>,
        now: Now,
    ) -> Self {
        Node {
            core: Core::new(id, map, options, rules, source, now),
            writes: Writes::default(),
            gets: Gets::default(),
            gathered: Gathered::default(),
            replicas: BTreeMap::new(),
            batches: BTreeMap::new(),
        }
    }

    /// Which one.
    pub fn id(&self) -> &NodeId {
        &self.core.id
    }

    /// To be called once, first.
    pub fn start(&mut self, now: Now) -> Vec<Action> {
        self.core.now = now;
        self.follow_map();
        self.load();
        self.finish()
    }

    /// Follows a new map. A replica that is not this node's any more is left alone.
    pub fn set_map(&mut self, now: Now, map: Arc<ClusterMap>) -> Vec<Action> {
        self.core.now = now;
        if map.version >= self.core.map.version {
            self.core.map = map;
            self.follow_map();
            self.load();
        }
        self.finish()
    }

    fn follow_map(&mut self) {
        let map = self.core.map.clone();
        let own: Vec<PartitionId> = map.partitions_of(&self.core.id).collect();
        self.replicas.retain(|id, _| own.contains(id));
        if let Some(asked) = &mut self.core.asked_scrub {
            asked.follow_map(&own, self.core.now.wall_ms);
        }
        for id in own {
            let core = &mut self.core;
            self.replicas.entry(id).or_insert_with(|| Replica::new(id, core));
        }
        for replica in self.replicas.values_mut() {
            replica.set_peers(&self.core);
        }
    }

    fn load(&mut self) {
        for replica in self.replicas.values_mut() {
            if replica.log.is_none() && replica.load_ms <= self.core.now.mono_ms {
                replica.load_ms = u64::MAX;
                let partition = replica.partition;
                self.core.store(partition, StoreOperation::Load, StoreOwner::Load);
            }
        }
    }

    /// A client asks for something; `call` comes back in [`Action::Answer`].
    pub fn on_client(&mut self, now: Now, call: u64, request: ClientRequest) -> Vec<Action> {
        self.core.now = now;
        if self.writes.len() + self.gets.len() >= self.core.options.operations_max {
            self.core.answer(call, ClientAnswer::Failed(ClientError::Busy));
        } else {
            match request {
                ClientRequest::Get { id, range } => {
                    self.gets.begin(&mut self.core, call, id, range, false);
                }
                ClientRequest::GetDeleted { id, range } => {
                    self.gets.begin(&mut self.core, call, id, range, true);
                }
                write => self.writes.begin(&mut self.core, call, write),
            }
        }
        self.finish()
    }

    /// A message has come.
    pub fn on_message(&mut self, now: Now, from: &NodeId, message: Message) -> Vec<Action> {
        self.core.now = now;
        // What nobody of the cluster says is not heard.
        if self.core.map.nodes.contains_key(from) {
            self.message(from, message);
        }
        self.finish()
    }

    /// A message could not be sent, or the connection on which its answer was to come is gone. Without being told, the node
    /// waits until the answer's time is over.
    pub fn on_unsent(&mut self, now: Now, to: &NodeId, call: Call) -> Vec<Action> {
        self.core.now = now;
        if let Some((number, asked)) = self.core.unsent(to, call) {
            self.failed(number, &asked.to, &asked.owner);
        }
        self.finish()
    }

    /// The store has done what [`Action::Store`] said.
    pub fn on_stored(&mut self, now: Now, call: u64, answer: StoreAnswer) -> Vec<Action> {
        self.core.now = now;
        if let Some((partition, owner)) = self.core.stored(call) {
            self.stored(partition, owner, answer);
        }
        self.finish()
    }

    /// Time has passed: to be called at [`Node::next_wake_ms`], or more often.
    pub fn on_tick(&mut self, now: Now) -> Vec<Action> {
        self.core.now = now;
        while let Some((number, asked)) = self.core.timed_out() {
            self.failed(number, &asked.to, &asked.owner);
        }
        self.writes.on_tick(&mut self.core);
        self.gets.on_tick(&mut self.core);
        self.load();
        for replica in self.replicas.values_mut() {
            replica.wake_waiting(&mut self.core);
            replica.repair_next(&mut self.core);
            replica.clear_doubt(&mut self.core);
            replica.save(&mut self.core);
            if replica.unsynced.begin(&self.core) {
                let partition = replica.partition;
                self.core.store(partition, StoreOperation::Flush, StoreOwner::Flush);
            }
            if replica.compact_ms <= now.mono_ms {
                replica.compact(&mut self.core);
            }
            replica.scrub_next(&mut self.core);
        }
        self.finish()
    }

    /// Somebody asks for a scrub: of all replicas of this node, or of that of one partition; so many bytes are read in a second. If
    /// one is under way that was asked for, it goes on as it is, and this one is refused if it is of more. What came of it is in
    /// [`Node::status`].
    pub fn scrub(
        &mut self,
        now: Now,
        partition: Option<PartitionId>,
        bytes_per_s: u64,
    ) -> Result<Vec<Action>, ScrubRefusal> {
        self.core.now = now;
        let partitions: Vec<PartitionId> = match partition {
            None => self.replicas.keys().copied().collect(),
            Some(id) if self.replicas.contains_key(&id) => vec![id],
            Some(id) => return Err(ScrubRefusal::NotHere(id)),
        };
        if let Some(running) = self.core.asked_scrub.as_ref().filter(|asked| asked.is_running()) {
            let other = partitions.into_iter().find(|id| !running.partitions.contains(id));
            return match other {
                None => Ok(self.finish()),
                Some(other) => Err(ScrubRefusal::OfOthers(other)),
            };
        }
        let (run, began_ms) = (self.core.next_scrub(), now.wall_ms);
        self.core.asked_scrub = Some(AskedScrub {
            run,
            bytes_per_s,
            began_ms,
            partitions: partitions.clone(),
            outcomes: BTreeMap::new(),
            stopping: false,
        });
        for (id, replica) in &mut self.replicas {
            if partitions.contains(id) {
                replica.begin_scrub(&mut self.core, run, bytes_per_s);
            } else {
                replica.let_pass(&mut self.core);
            }
        }
        Ok(self.finish())
    }

    /// The scrub that somebody asked for last: a part of [`Node::status`].
    pub fn asked_scrub(&self) -> Option<&AskedScrub> {
        self.core.asked_scrub.as_ref()
    }

    /// Ends the scrub that somebody has asked for, if one is under way.
    pub fn stop_scrub(&mut self, now: Now) -> Vec<Action> {
        self.core.now = now;
        if let Some(asked) = self.core.asked_scrub.as_mut().filter(|asked| asked.is_running()) {
            asked.stopping = true;
            let run = asked.run;
            for replica in self.replicas.values_mut() {
                replica.stop_scrub(&mut self.core, run);
            }
        }
        self.finish()
    }

    /// When to call [`Node::on_tick`] next, by the monotonic clock.
    pub fn next_wake_ms(&self) -> u64 {
        let now_ms = self.core.now.mono_ms;
        let replicas = self.replicas.values().flat_map(|replica| {
            let peers = replica.peers.values().filter(|peer| peer.waits()).map(|peer| {
                // A node that is down, or to which enough is under way, is tried again a little later.
                if peer.ready_ms > now_ms {
                    peer.ready_ms
                } else {
                    now_ms + self.core.options.pull_interval_ms
                }
            });
            let own = [replica.load_ms, replica.compact_ms, replica.scrub.wake_ms(&self.core)];
            peers.chain(own).chain(replica.repairs.wake_ms()).chain(replica.unsynced.wake_ms())
        });
        let wake_ms = replicas
            .chain(self.core.next_timeout_ms())
            .chain(self.writes.next_wake_ms())
            .chain(self.gets.next_wake_ms())
            .min();
        wake_ms.unwrap_or(u64::MAX).max(now_ms + 1)
    }

    /// Nodes that it takes for down: a part of [`Node::status`] that costs little.
    pub fn down(&self) -> Vec<NodeId> {
        self.core.detector.down()
    }

    /// What it knows.
    pub fn status(&self) -> NodeStatus {
        status(&self.core, &self.replicas)
    }

    fn message(&mut self, from: &NodeId, Message { call, body }: Message) {
        match body {
            Body::Request(request) => {
                let (core, gathered) = (&mut self.core, &mut self.gathered);
                serve::serve(core, &mut self.replicas, gathered, from, call, request);
            }
            Body::Reply(reply) => {
                if let Some(asked) = self.core.answered(from, call) {
                    if matches!(asked.owner, Owner::Get(_)) {
                        let took_ms = self.core.now.mono_ms.saturating_sub(asked.sent_ms);
                        self.core.latencies.add(took_ms);
                    }
                    self.replied(call.number, from, asked.owner, reply);
                }
            }
        }
    }

    fn replied(&mut self, number: u64, from: &NodeId, owner: Owner, reply: Reply) {
        let core = &mut self.core;
        match owner {
            Owner::Nobody => {}
            Owner::Write(operation) => self.writes.on_reply(core, operation, number, from, reply),
            Owner::Get(get) => self.gets.on_reply(core, get, number, from, reply),
            Owner::Batch(partitions) => {
                self.batch_ended(from);
                let mut pages: BTreeMap<_, _> = match reply {
                    Reply::Changes(pages) => pages.into_iter().collect(),
                    _ => BTreeMap::new(),
                };
                for partition in partitions {
                    let page = pages.remove(&partition).unwrap_or(Err(Refusal::NoAnswer));
                    if let Some(replica) = self.replicas.get_mut(&partition) {
                        replica.on_page(&mut self.core, from, page);
                    }
                }
            }
            Owner::Pull(partition) => {
                if let Some(replica) = self.replicas.get_mut(&partition) {
                    replica.on_reply(core, from, reply);
                }
            }
            Owner::Repair(partition) => {
                if let Some(replica) = self.replicas.get_mut(&partition) {
                    replica.on_repair_reply(core, from, reply);
                }
            }
        }
    }

    /// No answer came.
    fn failed(&mut self, number: u64, to: &NodeId, owner: &Owner) {
        let core = &mut self.core;
        match owner {
            Owner::Nobody => {}
            Owner::Write(operation) => self.writes.on_failed(core, *operation, number, to),
            Owner::Get(get) => self.gets.on_failed(core, *get, number, to),
            Owner::Batch(partitions) => {
                self.batch_ended(to);
                for partition in partitions {
                    if let Some(replica) = self.replicas.get_mut(partition) {
                        replica.pull_failed(&self.core, to);
                    }
                }
            }
            Owner::Pull(partition) => {
                if let Some(replica) = self.replicas.get_mut(partition) {
                    replica.pull_failed(core, to);
                }
            }
            Owner::Repair(partition) => {
                if let Some(replica) = self.replicas.get_mut(partition) {
                    replica.on_repair_failed(core);
                }
            }
        }
    }

    fn batch_ended(&mut self, node: &NodeId) {
        if let Some(batches) = self.batches.get_mut(node) {
            *batches = batches.saturating_sub(1);
        }
    }

    fn stored(&mut self, partition: PartitionId, owner: StoreOwner, answer: StoreAnswer) {
        let core = &mut self.core;
        let now_ms = core.now.mono_ms;
        let backoff_ms = core.options.pull_backoff_ms;
        if let StoreOwner::Serve(to, call, served) = owner {
            let (replicas, gathered) = (&mut self.replicas, &mut self.gathered);
            serve::on_stored(core, replicas, gathered, partition, (to, call, served), answer);
            return;
        }
        let Some(replica) = self.replicas.get_mut(&partition) else { return };
        match (owner, answer) {
            (StoreOwner::Load, StoreAnswer::Loaded(Ok(loaded))) => {
                replica.on_loaded(core, loaded);
            }
            (StoreOwner::Load, _) => replica.load_ms = now_ms + backoff_ms,
            (StoreOwner::Pull(node), answer) => replica.on_stored(core, &node, answer),
            (StoreOwner::Tokens, StoreAnswer::Saved(saved)) => replica.on_saved(core, saved),
            (StoreOwner::Tokens, StoreAnswer::Failed(refusal)) => {
                replica.on_saved(core, Err(refusal));
            }
            (StoreOwner::Tokens, _) => replica.on_saved(core, Err(Refusal::NotReady)),
            (StoreOwner::Repair(ids), answer) => replica.on_repaired(core, &ids, &answer),
            (StoreOwner::Flush, answer) => {
                let is_synced = answer == StoreAnswer::Flushed(Ok(()));
                replica.unsynced.end(core, is_synced);
            }
            (StoreOwner::Compact, _) => {
                replica.compact_ms = now_ms + core.options.compact_interval_ms;
            }
            (StoreOwner::Scrub(run), answer) => replica.on_scrubbed(core, run, answer),
            (StoreOwner::Recount(run), answer) => replica.on_recounted(core, run, answer),
            (StoreOwner::Schedule, answer) => replica.on_schedule_saved(&answer),
            (StoreOwner::Serve(..), _) => {}
        }
    }

    /// What follows from what has happened, until nothing does any more.
    fn finish(&mut self) -> Vec<Action> {
        let own = self.core.id.clone();
        loop {
            while let Some(message) = self.core.next_loopback() {
                self.message(&own, message);
            }
            if !self.pull() {
                return self.core.take_actions();
            }
        }
    }

    /// Asks others what is new. Whether there is something to do for this node itself.
    fn pull(&mut self) -> bool {
        let map = self.core.map.clone();
        let own = self.core.id.clone();
        for node in map.nodes.keys().filter(|node| **node != own) {
            let under_way = self.batches.get(node).copied().unwrap_or(0);
            if under_way < self.core.options.batches_max {
                let replicas = self.replicas.values_mut();
                let under_way = ask_batches(&mut self.core, node, under_way, replicas);
                self.batches.insert(node.clone(), under_way);
            }
        }
        self.core.has_loopback()
    }
}
