//! A simulated machine: disks, a clock, and the process of a node while it runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use afterbay_blob_cluster::{
    Action, ClusterMap, LocalStore, Node, NodeId, NodeOptions, Now, Rules, Source, Tokens,
};
use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{Clock, Error, Identities, Options, Partition, PartitionId, SyncPoint};
use uuid::Uuid;

use crate::lives::{Life, Lives, Taken};
use crate::network::Address;
use crate::random::Random;
use crate::wall_clock::WallClock;

/// A node that has run for so long since it acknowledged something at `fast` has synced it: the interval of its flushes, and
/// time for the disk.
const FLUSHED_WITHIN: Duration = Duration::from_millis(FLUSH_INTERVAL_MS + 300);
/// How often nodes flush.
pub(crate) const FLUSH_INTERVAL_MS: u64 = 200;

/// What all machines of a cluster are started with.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) map: Arc<ClusterMap>,
    pub(crate) partition_options: Options,
    pub(crate) node_options: NodeOptions,
    pub(crate) rules: Rules,
    /// This sync does nothing, on any disk.
    pub(crate) ignored: Option<SyncPoint>,
}

/// A machine.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) id: NodeId,
    pub(crate) address: Address,
    pub(crate) clock: WallClock,
    random: Random,
    disks: Disks,
    /// Counts processes: what was begun by an earlier one does not end in a later one.
    pub(crate) run: u64,
    process: Option<Process>,
    /// It stands: what comes waits.
    pub(crate) is_paused: bool,
    /// Gone for good.
    pub(crate) is_gone: bool,
    /// Something on its disks was damaged, so that they may have to be replaced.
    pub(crate) is_damaged: bool,
    /// The same, whether it was made good since or not.
    pub(crate) was_damaged: bool,
    /// What it acknowledged before is synced.
    flushed_before: Duration,
    /// Since when it has run without standing, and until when, if it does not run.
    ran: (Duration, Option<Duration>),
    /// At its next start it tells others that its replicas are not what they were: a backup was restored.
    pub(crate) renews: bool,
}

/// A node that runs.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) node: Node,
    pub(crate) store: LocalStore,
    started: Duration,
    /// When it is to be woken, by its own clock, if an event for that is on its way.
    pub(crate) wakes_ms: Option<u64>,
}

/// What a machine has on its disks.
#[derive(Debug, Clone, Default)]
struct Disks {
    replicas: BTreeMap<PartitionId, SimDisk>,
    tokens: Option<SimDisk>,
    life: Life,
    taken: Taken,
}

/// Content of the disks at an earlier time.
#[derive(Debug, Clone)]
pub(crate) struct Backup(Disks);

impl Backup {
    /// In which life it was made.
    pub(crate) fn life(&self) -> Life {
        self.0.life
    }

    /// Its replicas as they will be when they are opened; those that cannot be are left out.
    pub(crate) fn replicas(&self, setup: &Setup) -> Vec<Partition> {
        let open = |(id, disk): (&PartitionId, &SimDisk)| {
            let random = Random::new(id.0, "backup");
            let identities = Arc::new(SeededIdentities(Mutex::new(random)));
            let (options, clock) = (setup.partition_options.clone(), Arc::new(WallClock::new()));
            Partition::open_with(disk.copy().directory(), options, clock, identities).ok()
        };
        self.0.replicas.iter().filter_map(open).collect()
    }
}

/// UUIDs and choices of a node.
#[derive(Debug)]
struct Seeded(Random);

/// UUIDs of files.
#[derive(Debug)]
struct SeededIdentities(Mutex<Random>);

fn uuid(random: &mut Random) -> Uuid {
    let (high, low) = (random.number(), random.number());
    uuid::Builder::from_random_bytes((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
        .into_uuid()
}

impl Source for Seeded {
    fn uuid(&mut self) -> Uuid {
        uuid(&mut self.0)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }
}

impl Identities for SeededIdentities {
    fn uuid(&self) -> Uuid {
        uuid(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Process {
    pub(crate) fn now(&self, now: Duration, wall_ms: u64) -> Now {
        let mono_ms = now.saturating_sub(self.started).as_millis() as u64;
        Now { mono_ms, wall_ms }
    }
}

impl Machine {
    pub(crate) fn name(address: Address) -> NodeId {
        NodeId::new(&format!("n{address}"))
    }

    pub(crate) fn new(seed: u64, address: Address, life: Life) -> Self {
        Machine {
            id: Machine::name(address),
            address,
            clock: WallClock::new(),
            random: Random::new(seed, &format!("machine {address}")),
            disks: Disks { life, ..Disks::default() },
            run: 0,
            process: None,
            is_paused: false,
            is_gone: false,
            is_damaged: false,
            was_damaged: false,
            flushed_before: Duration::ZERO,
            ran: (Duration::ZERO, Some(Duration::ZERO)),
            renews: false,
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.process.is_some()
    }

    pub(crate) fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    pub(crate) fn process_mut(&mut self) -> Option<&mut Process> {
        self.process.as_mut()
    }

    /// Starts the node, with new replicas where there are none. What it does first.
    pub(crate) fn start(
        &mut self,
        setup: &Setup,
        now: Duration,
    ) -> Result<Vec<Action>, (PartitionId, Error)> {
        self.run += 1;
        self.ran = (now, None);
        self.clock.show(now);
        let mut partitions = Vec::new();
        let id = self.id.clone();
        for partition in setup.map.partitions_of(&id) {
            let opened = self.open(partition, setup).map_err(|error| (partition, error))?;
            partitions.push(opened);
        }
        self.renews = false;
        let tokens = self.tokens(setup);
        let store = LocalStore::new(Arc::new(self.clock.clone()), tokens.directory(), partitions)
            .with_garbage_percent_min(0);
        let source = Box::new(Seeded(self.fork()));
        let at = Now { mono_ms: 0, wall_ms: self.clock.now_ms() };
        let node = Node::new(
            self.id.clone(),
            setup.map.clone(),
            setup.node_options.clone(),
            setup.rules.clone(),
            source,
            at,
        );
        let process = self.process.insert(Process { node, store, started: now, wakes_ms: None });
        Ok(process.node.start(at))
    }

    fn open(&mut self, partition: PartitionId, setup: &Setup) -> Result<Partition, Error> {
        let identities = Arc::new(SeededIdentities(Mutex::new(self.fork())));
        let options = setup.partition_options.clone();
        if !self.disks.replicas.contains_key(&partition) {
            let disk = self.new_disk(setup);
            Partition::create_with(&*disk.directory(), partition, &options, &*identities)?;
            self.disks.replicas.insert(partition, disk);
        }
        let disk = &self.disks.replicas[&partition];
        let clock = Arc::new(self.clock.clone());
        let replica = Partition::open_with(disk.directory(), options, clock, identities)?;
        if self.renews {
            replica.renew_incarnation()?;
        }
        Ok(replica)
    }

    fn tokens(&mut self, setup: &Setup) -> SimDisk {
        if self.disks.tokens.is_none() {
            self.disks.tokens = Some(self.new_disk(setup));
        }
        self.disks.tokens.clone().unwrap_or_else(|| SimDisk::new(0))
    }

    fn new_disk(&mut self, setup: &Setup) -> SimDisk {
        let disk = SimDisk::new(self.random.number());
        if let Some(point) = setup.ignored {
            disk.ignore(point);
        }
        disk
    }

    /// A generator that goes its own way from here.
    fn fork(&mut self) -> Random {
        Random::new(self.random.number(), "fork")
    }

    /// What it acknowledged before this time is synced, whatever the durability, since it has run for long enough since.
    pub(crate) fn flushed_before(&mut self, now: Duration) -> Duration {
        let (since, until) = self.ran;
        let before = until.unwrap_or(now).saturating_sub(FLUSHED_WITHIN);
        if before >= since {
            self.flushed_before = self.flushed_before.max(before);
        }
        self.flushed_before
    }

    /// It stands.
    pub(crate) fn stand(&mut self, now: Duration) {
        self.is_paused = true;
        self.stops(now);
    }

    /// It goes on.
    pub(crate) fn go_on(&mut self, now: Duration) {
        self.is_paused = false;
        self.ran = (now, None);
    }

    fn stops(&mut self, now: Duration) {
        self.flushed_before(now);
        self.ran.1.get_or_insert(now);
    }

    /// The process ends at once. What it wrote stays.
    pub(crate) fn kill(&mut self, now: Duration) {
        self.stops(now);
        self.end();
        self.disks.each(SimDisk::kill_process);
    }

    /// The power is lost.
    pub(crate) fn lose_power(&mut self, now: Duration) {
        self.stops(now);
        self.end();
        self.disks.each(SimDisk::lose_power);
    }

    fn end(&mut self) {
        self.process = None;
        self.is_paused = false;
        // What is on its way to it does not reach the next one.
        self.run += 1;
    }

    /// Its disks are lost, while it is down. It starts with empty ones.
    pub(crate) fn lose_disks(&mut self, life: Life) {
        self.disks = Disks { life, ..Disks::default() };
    }

    /// What is on its disks now, as a backup that is made while it is down has it.
    pub(crate) fn back_up(&self) -> Backup {
        Backup(self.disks.copy())
    }

    /// What was on them before is there again, while it is down.
    pub(crate) fn restore(&mut self, backup: &Backup, life: Life, setup: &Setup) {
        self.disks = Disks { life, ..backup.0.copy() };
        if let Some(point) = setup.ignored {
            self.disks.all().for_each(|disk| disk.ignore(point));
        }
    }

    /// In which life its logs are.
    pub(crate) fn life(&self) -> Life {
        self.disks.life
    }

    /// What its disks have taken over from others.
    pub(crate) fn taken(&self) -> &Taken {
        &self.disks.taken
    }

    /// It has saved tokens.
    pub(crate) fn has_saved(&mut self, lives: &mut Lives, partition: PartitionId, tokens: &Tokens) {
        let Disks { life, taken, .. } = &mut self.disks;
        lives.saved(taken, (partition, *life), tokens);
    }

    /// One of its disks: of a replica, or of its tokens.
    pub(crate) fn any_disk(&self, random: &mut Random) -> Option<&SimDisk> {
        let disks: Vec<_> = self.disks.all().collect();
        random.pick(&disks).copied()
    }

    /// Whether one of its disks stopped in the middle of something.
    pub(crate) fn is_stopped(&self) -> bool {
        self.disks.all().any(|disk| disk.has_stopped())
    }

    /// Whether one of its disks met a fault since the process started.
    pub(crate) fn met_fault(&self) -> bool {
        self.disks.all().any(SimDisk::fault_met)
    }

    /// Faults that did not happen yet do not happen.
    pub(crate) fn mend(&self) {
        self.disks.each(SimDisk::mend);
    }
}

impl Disks {
    fn all(&self) -> impl Iterator<Item = &SimDisk> {
        self.replicas.values().chain(&self.tokens)
    }

    fn each(&self, change: fn(&SimDisk)) {
        self.all().for_each(change);
    }

    fn copy(&self) -> Self {
        Disks {
            replicas: self.replicas.iter().map(|(&id, disk)| (id, disk.copy())).collect(),
            tokens: self.tokens.as_ref().map(SimDisk::copy),
            life: self.life,
            taken: self.taken.clone(),
        }
    }
}
