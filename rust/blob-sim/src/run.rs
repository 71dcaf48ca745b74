//! One simulation: a safety phase in which things go wrong, and a liveness phase in which what is healthy must become equal in
//! time (after TigerBeetle's VOPR); then what clients were told is looked for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_cluster::{ClusterMap, NodeOptions, Placement};
use afterbay_blob_store::PartitionId;

use crate::clients::Counts;
use crate::faults::FaultCounts;
use crate::machine::{FLUSH_INTERVAL_MS, Machine, Setup};
use crate::network::Address;
use crate::random::Random;
use crate::settings::Settings;
use crate::trace::Trace;
use crate::violation::{Law, Violation};
use crate::without::Without;
use crate::world::{Event, World};

/// Within so much time from its begin, the liveness phase has to end with equal replicas.
const CONVERGES_WITHIN: Duration = Duration::from_secs(120);
/// How often it is looked whether they are.
const LOOKS_EVERY: Duration = Duration::from_millis(500);
/// Within so much time all reads of the end are answered.
const READS_WITHIN: Duration = Duration::from_secs(20);

/// How a simulation ended.
#[derive(Debug)]
pub struct Outcome {
    /// What it was like.
    pub settings: Settings,
    /// What was broken, if anything was.
    pub violation: Option<Violation>,
    /// The simulated time.
    pub took: Duration,
    /// Events.
    pub steps: u64,
    /// What came out of requests.
    pub counts: Counts,
    /// Faults that really happened.
    pub faults: FaultCounts,
    /// What happened.
    pub trace: Trace,
}

/// Simulates what `seed` says.
pub fn simulate(seed: u64, without: &Without, trace: Trace) -> Outcome {
    let settings = Settings::of(seed);
    let setup = setup(&settings, without);
    let mut world = World::new(settings, setup, trace);
    let violation = world.live().err();
    if let Some(Violation { law, blob, found }) = &violation {
        let blob = blob.map(|id| id.to_string()).unwrap_or_default();
        world.note(format_args!("broken: {law}: {blob} {found}"));
    }
    let took = world.now();
    let counts = world.clients.counts;
    let World { settings, trace, steps, nemesis, .. } = world;
    let faults = nemesis.happened;
    Outcome { settings, violation, took, steps, counts, faults, trace }
}

/// All that takes long is short, so that a node can be away for longer than a tombstone lives.
fn node_options() -> NodeOptions {
    NodeOptions {
        write_deadline_ms: 500,
        clock_skew_max_ms: 150,
        tombstone_life_ms: 900,
        compact_interval_ms: 200,
        flush_interval_ms: FLUSH_INTERVAL_MS,
        scrub_interval_ms: 2_000,
        keeps_schedule: true,
        ..NodeOptions::fast()
    }
}

fn setup(settings: &Settings, without: &Without) -> Setup {
    let mut random = Random::new(settings.seed, "placement");
    let ids: Vec<_> = (1..=settings.nodes).map(Machine::name).collect();
    let nodes = ids.iter().map(|id| (id.clone(), format!("{id}:1"))).collect();
    let placement = |_| {
        let mut members = ids.clone();
        random.shuffle(&mut members);
        members.truncate(settings.replicas as usize);
        members.sort();
        Placement { replicas: members, read_only: false }
    };
    let numbers: Vec<_> = (1..=settings.partitions).map(|n| PartitionId(n.into())).collect();
    let placements: Vec<_> = numbers.iter().map(placement).collect();
    let partitions: BTreeMap<_, _> = numbers.into_iter().zip(placements).collect();
    Setup {
        map: Arc::new(ClusterMap { version: 1, nodes, certificates: BTreeMap::new(), partitions }),
        partition_options: settings.options.clone(),
        node_options: node_options(),
        rules: without.rules.clone(),
        ignored: without.ignored,
    }
}

type Done = Result<(), Violation>;

impl World {
    fn live(&mut self) -> Done {
        self.be_unsafe()?;
        self.become_equal()?;
        self.check_schedules()?;
        self.check_stories()?;
        self.read_everything()?;
        self.check_after_darkness()
    }

    /// The safety phase.
    fn be_unsafe(&mut self) -> Done {
        for node in 1..=self.machines.len() as Address {
            self.let_drift(node);
            self.come_back(node)?;
        }
        self.begin_clients();
        self.plan_fault();
        self.events.add(self.settings.safety, Event::Mark);
        loop {
            match self.step()? {
                Some(Event::Fault) => {
                    self.fault();
                    self.plan_fault();
                }
                Some(_) => break,
                None => {}
            }
        }
        self.clients.stop();
        if self.settings.loses_node {
            self.lose_for_good();
        }
        if self.settings.ends_dark {
            self.all_power_fails();
        }
        Ok(())
    }

    /// The liveness phase.
    fn become_equal(&mut self) -> Done {
        self.note(format_args!("nothing goes wrong any more"));
        self.make_calm()?;
        let end = self.now() + CONVERGES_WITHIN;
        // What was sent before is still on its way, and must change nothing that was equal.
        let settled = self.now() + self.settings.network.late_mean * 3;
        loop {
            self.pass(LOOKS_EVERY)?;
            if self.clients.are_waiting() || self.now() < settled {
                continue;
            }
            match self.any_difference() {
                None => return Ok(()),
                Some(Violation { blob, found, .. }) if self.now() >= end => {
                    return Err(Violation::new(Law::Convergence, blob, found));
                }
                Some(_) => {}
            }
        }
    }

    /// Lets so much time pass.
    fn pass(&mut self, time: Duration) -> Done {
        self.events.add(time, Event::Mark);
        loop {
            if let Some(Event::Mark) = self.step()? {
                return Ok(());
            }
        }
    }

    /// Clients read all blobs.
    fn read_everything(&mut self) -> Done {
        let nodes: Vec<_> = self.machines.iter().filter(|m| m.is_up()).map(|m| m.address).collect();
        self.read_all(&nodes);
        let end = self.now() + READS_WITHIN;
        while self.clients.are_waiting() && self.now() < end {
            self.pass(LOOKS_EVERY)?;
        }
        Ok(())
    }

    /// All power is lost once more: each replica by itself must have everything, so that any k - 1 disks can be lost.
    fn check_after_darkness(&mut self) -> Done {
        self.note(format_args!("the power of all nodes is lost, and each replica is looked at"));
        for node in 1..=self.machines.len() as Address {
            if !self.machine(node).is_gone {
                self.loses_unsynced(node);
                let now = self.now();
                self.machine(node).lose_power(now);
                self.come_back(node)?;
            }
        }
        match self.any_difference() {
            Some(violation) => Err(violation),
            None => self.check_stories(),
        }
    }
}
