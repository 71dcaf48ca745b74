//! A cluster in one thread: events in the order of their time.

#![allow(unreachable_pub, reason = "all of the program sees it")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IoSlice;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_cluster::{
    Action, Body, ClientAnswer, ClusterMap, LocalStore, Message, Node, NodeId, NodeOptions,
    NodeStatus, Now, Placement, Refusal, Rules, Source, StoreAnswer, StoreOperation,
};
use afterbay_blob_format::PartitionId;
use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{Clock, Directory, Identities, Options, Partition, SyncPoint};
use uuid::Uuid;

mod clients;

pub use clients::*;

/// So long is waited for what has to happen, in simulated milliseconds.
const PATIENCE_MS: u64 = 120_000;
const START_WALL_MS: u64 = 1_700_000_000_000;

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

impl Source for Random {
    fn uuid(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.next(), self.next())
    }

    fn below(&mut self, bound: u64) -> u64 {
        Random::below(self, bound)
    }
}

#[derive(Debug)]
struct SeededIdentities(std::sync::Mutex<Random>);

impl Identities for SeededIdentities {
    fn uuid(&self) -> Uuid {
        self.0.lock().unwrap().uuid()
    }
}

#[derive(Debug, Default)]
pub struct TestClock(AtomicU64);

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub struct Machine {
    pub node: Option<Node>,
    pub store: Option<LocalStore>,
    pub disks: BTreeMap<PartitionId, SimDisk>,
    pub tokens: SimDisk,
    clock: Arc<TestClock>,
    /// What its clock is ahead of the time.
    pub skew_ms: i64,
    run: u64,
}

#[derive(Debug)]
enum Event {
    Deliver { from: NodeId, to: NodeId, message: Message },
    Stored { node: NodeId, run: u64, call: u64, answer: StoreAnswer },
    Tick { node: NodeId, run: u64 },
}

/// What becomes of a message: lost, or delivered after so many milliseconds.
pub type Network = Box<dyn FnMut(&NodeId, &NodeId, &Message) -> Option<u64>>;

/// Why an operation of a node's store is not carried out; `None`: it is.
pub type StoreFails = Box<dyn FnMut(&NodeId, &StoreOperation) -> Option<Refusal>>;

pub struct Cluster {
    pub now_ms: u64,
    pub machines: BTreeMap<NodeId, Machine>,
    pub map: Arc<ClusterMap>,
    pub options: NodeOptions,
    pub rules: Rules,
    pub random: Random,
    events: BTreeMap<(u64, u64), Event>,
    next_event: u64,
    next_call: u64,
    answers: BTreeMap<u64, ClientAnswer>,
    pub network: Network,
    /// Pairs of nodes of which the first does not reach the second.
    pub cut: BTreeSet<(NodeId, NodeId)>,
    /// All messages that were sent.
    pub sent: Rc<RefCell<Vec<(NodeId, NodeId, Message)>>>,
    pub store_fails: StoreFails,
    /// What the stores were asked for.
    pub stored: Vec<(NodeId, StoreOperation)>,
    pub partition_options: Options,
}

pub fn n(number: u32) -> NodeId {
    NodeId::new(&format!("n{number}"))
}

pub fn partition(number: u64) -> PartitionId {
    PartitionId(number)
}

/// Partitions with their replicas.
pub fn map_of(partitions: &[&[u32]]) -> ClusterMap {
    let mut nodes = BTreeMap::new();
    let mut placed = BTreeMap::new();
    for (at, replicas) in partitions.iter().enumerate() {
        let replicas: Vec<NodeId> = replicas.iter().map(|number| n(*number)).collect();
        for node in &replicas {
            nodes.insert(node.clone(), format!("{node}:7100"));
        }
        placed.insert(partition(at as u64 + 1), Placement { replicas, read_only: false });
    }
    ClusterMap { version: 1, nodes, certificates: BTreeMap::new(), partitions: placed }
}

impl Cluster {
    pub fn new(seed: u64, map: ClusterMap) -> Self {
        Cluster::with(seed, map, NodeOptions::fast(), Rules::default())
    }

    /// All nodes of a map, started.
    pub fn with(seed: u64, map: ClusterMap, options: NodeOptions, rules: Rules) -> Self {
        options.check().unwrap();
        let mut random = Random(seed);
        let partition_options = Options {
            capacity_bytes: 1 << 20,
            segment_bytes: 16 << 10,
            segment_records_max: 40,
            journal_records: 16,
            ..Options::default()
        };
        let mut delays = Random(random.next());
        let mut cluster = Cluster {
            now_ms: 0,
            machines: BTreeMap::new(),
            map: Arc::new(map),
            options,
            rules,
            random,
            events: BTreeMap::new(),
            next_event: 0,
            next_call: 0,
            answers: BTreeMap::new(),
            network: Box::new(move |_, _, _| Some(1 + delays.below(3))),
            cut: BTreeSet::new(),
            sent: Rc::default(),
            store_fails: Box::new(|_, _| None),
            stored: Vec::new(),
            partition_options,
        };
        let nodes: Vec<NodeId> = cluster.map.nodes.keys().cloned().collect();
        for node in &nodes {
            let machine = Machine {
                node: None,
                store: None,
                disks: BTreeMap::new(),
                tokens: SimDisk::new(cluster.random.next()),
                clock: Arc::default(),
                skew_ms: 0,
                run: 0,
            };
            cluster.machines.insert(node.clone(), machine);
            cluster.new_disks(node);
            cluster.start(node);
        }
        cluster.until("all replicas are open", |cluster| {
            let statuses = cluster.machines.values().map(|m| m.node.as_ref().unwrap().status());
            statuses.flat_map(|status| status.replicas).all(|replica| replica.is_loaded)
        });
        cluster
    }

    /// Empty disks in the place of those that a node has.
    pub fn new_disks(&mut self, node: &NodeId) {
        let partitions: Vec<PartitionId> = self.map.partitions_of(node).collect();
        let mut disks = BTreeMap::new();
        for partition in partitions {
            let disk = SimDisk::new(self.random.next());
            let identities = self.identities();
            Partition::create_with(
                &*disk.directory(),
                partition,
                &self.partition_options,
                &*identities,
            )
            .unwrap();
            disks.insert(partition, disk);
        }
        let tokens = SimDisk::new(self.random.next());
        let machine = self.machines.get_mut(node).unwrap();
        (machine.disks, machine.tokens) = (disks, tokens);
    }

    fn identities(&mut self) -> Arc<dyn Identities> {
        Arc::new(SeededIdentities(std::sync::Mutex::new(Random(self.random.next()))))
    }

    pub fn start(&mut self, node: &NodeId) {
        let identities = self.identities();
        let source = Box::new(Random(self.random.next()));
        let machine = self.machines.get_mut(node).unwrap();
        let now = machine.now(self.now_ms);
        let open = |disk: &SimDisk| {
            let clock = machine.clock.clone();
            let options = self.partition_options.clone();
            Partition::open_with(disk.directory(), options, clock, identities.clone()).unwrap()
        };
        let partitions = machine.disks.values().map(open).collect();
        let store = LocalStore::new(machine.clock.clone(), machine.tokens.directory(), partitions)
            .with_garbage_percent_min(0);
        let (map, options, rules) = (self.map.clone(), self.options.clone(), self.rules.clone());
        let mut new = Node::new(node.clone(), map, options, rules, source, now);
        let actions = new.start(now);
        machine.run += 1;
        machine.node = Some(new);
        machine.store = Some(store);
        self.perform(node, actions);
        self.tick_later(node);
    }

    /// The process of a node is killed.
    pub fn kill(&mut self, node: &NodeId) {
        let machine = self.machines.get_mut(node).unwrap();
        (machine.node, machine.store) = (None, None);
        machine.disks.values().chain([&machine.tokens]).for_each(SimDisk::kill_process);
    }

    /// The machine of a node loses its power.
    pub fn lose_power(&mut self, node: &NodeId) {
        let machine = self.machines.get_mut(node).unwrap();
        (machine.node, machine.store) = (None, None);
        machine.disks.values().chain([&machine.tokens]).for_each(SimDisk::lose_power);
    }

    pub fn status(&self, node: &NodeId) -> NodeStatus {
        self.machines[node].node.as_ref().unwrap().status()
    }

    pub fn is_up(&self, node: &NodeId) -> bool {
        self.machines[node].node.is_some()
    }

    /// No messages between two nodes.
    pub fn cut(&mut self, a: &NodeId, b: &NodeId) {
        self.cut.insert((a.clone(), b.clone()));
        self.cut.insert((b.clone(), a.clone()));
    }

    /// A copy of the disks of a node, as a backup.
    pub fn backup(&mut self, node: &NodeId) -> (BTreeMap<PartitionId, SimDisk>, SimDisk) {
        let mut random = self.random.clone();
        let machine = &self.machines[node];
        for partition in machine.store.as_ref().unwrap().partitions() {
            partition.flush().unwrap();
        }
        let disks =
            machine.disks.iter().map(|(id, disk)| (*id, copy(disk, random.next()))).collect();
        let backup = (disks, copy(&machine.tokens, random.next()));
        self.random = random;
        backup
    }

    pub fn restore(&mut self, node: &NodeId, backup: (BTreeMap<PartitionId, SimDisk>, SimDisk)) {
        let machine = self.machines.get_mut(node).unwrap();
        (machine.disks, machine.tokens) = backup;
    }

    pub fn partition(&self, node: &NodeId, id: PartitionId) -> &Partition {
        self.machines[node].store.as_ref().unwrap().partition(id).unwrap()
    }

    fn later(&mut self, after_ms: u64, event: Event) {
        self.next_event += 1;
        self.events.insert((self.now_ms + after_ms, self.next_event), event);
    }

    fn tick_later(&mut self, node: &NodeId) {
        let machine = &self.machines[node];
        if machine.node.is_some() {
            let event = Event::Tick { node: node.clone(), run: machine.run };
            self.later(5, event);
        }
    }

    fn perform(&mut self, node: &NodeId, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send { to, message } => {
                    self.sent.borrow_mut().push((node.clone(), to.clone(), message.clone()));
                    let cut = self.cut.contains(&(node.clone(), to.clone()));
                    if let (false, Some(after_ms)) = (cut, (self.network)(node, &to, &message)) {
                        self.later(after_ms, Event::Deliver { from: node.clone(), to, message });
                    }
                }
                Action::Store { call, partition, operation } => {
                    self.stored.push((node.clone(), operation.clone()));
                    let machine = &self.machines[node];
                    let answer = match (self.store_fails)(node, &operation) {
                        Some(refusal) => StoreAnswer::Failed(refusal),
                        None => machine.store.as_ref().unwrap().execute(partition, operation),
                    };
                    let event =
                        Event::Stored { node: node.clone(), run: machine.run, call, answer };
                    self.later(1, event);
                }
                // Scrubs of these stores do not wait: they have ended.
                Action::EndScrub { .. } => {}
                Action::Answer { call, answer } => {
                    let before = self.answers.insert(call, answer);
                    assert_eq!(before, None, "answered twice");
                }
            }
        }
    }

    /// Goes on by one event.
    fn step(&mut self) {
        let ((at_ms, _), event) = self.events.pop_first().expect("nodes tick");
        self.now_ms = at_ms;
        let (name, run) = match &event {
            Event::Deliver { to, .. } => (to.clone(), None),
            Event::Stored { node, run, .. } | Event::Tick { node, run } => {
                (node.clone(), Some(*run))
            }
        };
        let machine = self.machines.get_mut(&name).unwrap();
        let now = machine.now(at_ms);
        let run_now = machine.run;
        let Some(node) = &mut machine.node else { return };
        if run.is_some_and(|run| run != run_now) {
            return;
        }
        let (ticks, actions) = match event {
            Event::Deliver { from, message, .. } => (false, node.on_message(now, &from, message)),
            Event::Stored { call, answer, .. } => (false, node.on_stored(now, call, answer)),
            Event::Tick { .. } => (true, node.on_tick(now)),
        };
        self.perform(&name, actions);
        if ticks {
            self.tick_later(&name);
        }
    }

    pub fn run_ms(&mut self, ms: u64) {
        let until_ms = self.now_ms + ms;
        while self.events.first_key_value().is_some_and(|((at, _), _)| *at <= until_ms) {
            self.step();
        }
        self.now_ms = until_ms;
    }

    /// Runs until something is so.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut is: impl FnMut(&Cluster) -> bool) {
        let until_ms = self.now_ms + PATIENCE_MS;
        while !is(self) {
            assert!(self.now_ms < until_ms, "waited until {what}: {:#?}", self.statuses());
            self.run_ms(5);
        }
    }

    fn statuses(&self) -> Vec<afterbay_blob_cluster::NodeStatus> {
        self.machines.values().filter_map(|m| m.node.as_ref()).map(Node::status).collect()
    }

    /// A node hears of a new map.
    pub fn set_map(&mut self, node: &NodeId, map: ClusterMap) {
        let machine = self.machines.get_mut(node).unwrap();
        let now = machine.now(self.now_ms);
        let actions = machine.node.as_mut().unwrap().set_map(now, Arc::new(map));
        self.perform(node, actions);
    }

    /// A message that was kept back comes now.
    pub fn deliver(&mut self, from: &NodeId, to: &NodeId, message: Message) {
        self.later(0, Event::Deliver { from: from.clone(), to: to.clone(), message });
    }

    /// Runs until all replicas of nodes that are up say that they have all.
    #[track_caller]
    pub fn quiet(&mut self) {
        let mut since_ms = None;
        self.until("all is quiet", |cluster| {
            let quiet = cluster.statuses().iter().all(|status| status.is_quiet());
            let since = if quiet { Some(since_ms.unwrap_or(cluster.now_ms)) } else { None };
            since_ms = since;
            since.is_some_and(|since| cluster.now_ms - since > 500)
        });
    }

    /// Requests of a kind that were sent.
    pub fn requests<T>(
        &self,
        pick: impl Fn(&NodeId, &NodeId, &afterbay_blob_cluster::Request) -> Option<T>,
    ) -> Vec<T> {
        let sent = self.sent.borrow();
        let requests = sent.iter().filter_map(|(from, to, message)| match &message.body {
            Body::Request(request) => pick(from, to, request),
            Body::Reply(_) => None,
        });
        requests.collect()
    }
}

impl Machine {
    fn now(&self, now_ms: u64) -> Now {
        let wall_ms = (START_WALL_MS + now_ms).saturating_add_signed(self.skew_ms);
        self.clock.0.store(wall_ms, Ordering::Relaxed);
        Now { mono_ms: now_ms, wall_ms }
    }
}

/// A disk with the same files, all of it synced.
fn copy(disk: &SimDisk, seed: u64) -> SimDisk {
    let new = SimDisk::new(seed);
    let directory = new.directory();
    for name in disk.names() {
        let content = disk.content(&name).unwrap();
        let file = directory.create(&name).unwrap();
        file.write_all_at(&[IoSlice::new(&content)], 0).unwrap();
        file.sync_data(SyncPoint::Flush).unwrap();
    }
    Directory::sync(&*directory, SyncPoint::Flush).unwrap();
    new.kill_process();
    new
}
