//! Lets things go wrong, within what the store promises to stand: of a partition's replicas, no second disk is lost or damaged
//! before what was on the first one has been copied.

use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_cluster::{ClusterMap, NodeId};
use afterbay_blob_format::SEGMENT_HEADER_BYTES;
use afterbay_blob_store::sim::{Fault, SimDisk};

use crate::faults::{FaultCounts, FaultKind};
use crate::machine::{Backup, Machine};
use crate::network::Address;
use crate::random::Random;
use crate::story::Loss;
use crate::violation::{Law, Violation};
use crate::world::{Event, World};

/// The most operations of a disk until one of them fails.
const OPERATIONS_MAX: u64 = 25;

/// As many nodes as there ever are, with those that are gone.
const NODES_MAX: usize = 12;

/// Whether a damaged byte there is found only when the replica is opened: without its manifest or the header of a segment it
/// cannot be, without its tokens it is in doubt.
fn is_needed_to_open(name: &str, at: usize) -> bool {
    name == "MANIFEST"
        || name.ends_with(".tokens")
        || (name.ends_with(".log") && at < SEGMENT_HEADER_BYTES)
}

/// What goes wrong, and what has.
#[derive(Debug)]
pub(crate) struct Nemesis {
    random: Random,
    /// The node whose disks were lost or damaged, until all replicas are equal again.
    damaged: Option<Address>,
    backups: Vec<(Address, Backup)>,
    /// What is to fail on some disk, and has not yet.
    armed: Vec<(Address, FaultKind, SimDisk)>,
    /// What really happened.
    pub(crate) happened: FaultCounts,
}

impl Nemesis {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Random::new(seed, "faults");
        Nemesis {
            random,
            damaged: None,
            backups: Vec::new(),
            armed: Vec::new(),
            happened: FaultCounts::default(),
        }
    }

    fn around(&mut self, mean: Duration) -> Duration {
        Duration::from_micros(self.random.around(mean.as_micros() as u64) + 1)
    }
}

impl World {
    /// Plans the next fault.
    pub(crate) fn plan_fault(&mut self) {
        if !self.settings.faults.is_empty() {
            let after = self.nemesis.around(self.settings.fault_every);
            self.events.add(after, Event::Fault);
        }
    }

    /// Something goes wrong.
    pub(crate) fn fault(&mut self) {
        let all: u64 = self.settings.faults.iter().map(|(_, weight)| weight).sum();
        let mut drawn = self.nemesis.random.below(all);
        let kind = self.settings.faults.iter().find_map(|&(kind, weight)| {
            let is_this = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            is_this.then_some(kind)
        });
        let nodes = self.machines.len() as u64;
        let node = 1 + self.nemesis.random.below(nodes) as Address;
        let other = 1 + self.nemesis.random.below(nodes) as Address;
        if let Some(kind) = kind
            && !self.machine(node).is_gone
        {
            self.note(format_args!("fault {kind} n{node}"));
            if self.let_happen(kind, node, other) {
                self.nemesis.happened.add(kind);
            }
        }
    }

    /// Whether it happened; faults of disks happen later, or never.
    fn let_happen(&mut self, kind: FaultKind, node: Address, other: Address) -> bool {
        let is_up = self.machine(node).is_up();
        match kind {
            FaultKind::Kill if is_up => {
                let now = self.now();
                self.machine(node).kill(now);
                self.goes_down(node);
            }
            FaultKind::PowerLoss if is_up => self.power_fails(node),
            FaultKind::Darkness => self.all_power_fails(),
            FaultKind::Pause if is_up => {
                let now = self.now();
                self.machine(node).stand(now);
                let after = self.nemesis.around(self.settings.down_mean);
                self.events.add(after, Event::Return { node });
            }
            FaultKind::CutOneWay if node != other => {
                self.network.cut(node, other);
                self.plan_join();
            }
            FaultKind::Isolate => self.isolate(node),
            FaultKind::Join if self.network.has_cuts() => self.network.join(),
            FaultKind::ClockJump => {
                // Two clocks may be wrong in opposite directions, and drift.
                let most = self.setup.node_options.clock_skew_max_ms * 3 / 8;
                let wrong = self.nemesis.random.between(0, 2 * most) as i64 - most as i64;
                self.machine(node).clock.jump_to(wrong);
            }
            FaultKind::DiskError | FaultKind::DiskFull | FaultKind::TornWrite => {
                self.fail_operation(node, kind);
                return false;
            }
            FaultKind::BitFlip
            | FaultKind::BadSector
            | FaultKind::LostDisk
            | FaultKind::Restore
            | FaultKind::Replace
                if self.may_damage(node) =>
            {
                return self.damage(kind, node);
            }
            _ => return false,
        }
        true
    }

    /// Whether disks of this node may be lost or damaged now.
    fn may_damage(&mut self, node: Address) -> bool {
        if self.nemesis.damaged.is_some_and(|damaged| damaged != node) && self.is_healed() {
            self.note(format_args!("all replicas have all again"));
            self.nemesis.damaged = None;
            self.machines.iter_mut().for_each(|machine| machine.is_damaged = false);
            self.clients.all_have_it();
        }
        self.nemesis.damaged.is_none_or(|damaged| damaged == node)
    }

    fn damage(&mut self, kind: FaultKind, node: Address) -> bool {
        match kind {
            FaultKind::LostDisk => {
                let now = self.now();
                self.is_damaged(node);
                self.machine(node).kill(now);
                self.lose_disks(node);
                self.goes_down(node);
            }
            FaultKind::Restore => return self.back_up_or_restore(node),
            FaultKind::Replace => return self.replace(node),
            _ => {
                let random = &mut self.nemesis.random;
                let machine = &self.machines[node as usize - 1];
                let Some(disk) = machine.any_disk(random) else {
                    return false;
                };
                let Some((name, at)) = any_byte(disk, random) else {
                    return false;
                };
                if kind == FaultKind::BitFlip {
                    disk.turn_bit(&name, at);
                } else {
                    disk.fail_reads(&name, at..at + 1);
                }
                self.note(format_args!("n{node} damaged {name} at {at}"));
                self.is_damaged(node);
                if is_needed_to_open(&name, at) {
                    // Nobody reads it until the replica is opened, which is now: no other disk may be damaged before that.
                    self.power_fails(node);
                }
            }
        }
        true
    }

    /// A node with empty disks gets the replicas of one that is lost for good. Others hear of the new map one by one.
    fn replace(&mut self, node: Address) -> bool {
        if self.machines.len() >= NODES_MAX {
            return false;
        }
        let now = self.now();
        self.is_damaged(node);
        self.machine(node).kill(now);
        self.machine(node).is_gone = true;
        self.forget_waiting(node);
        let address = self.machines.len() as Address + 1;
        let mut new = Machine::new(self.settings.seed, address, self.lives.begin());
        (new.is_damaged, new.was_damaged) = (true, true);
        self.note(format_args!("n{address} takes the place of n{node}, which is gone"));
        let old = self.machine(node).id.clone();
        self.setup.map = Arc::new(map_with(&self.setup.map, &old, &new.id));
        self.machines.push(new);
        for other in 1..=address {
            let after = self.nemesis.around(self.settings.down_mean / 2);
            self.events.add(after, Event::NewMap { node: other });
        }
        let after = self.nemesis.around(self.settings.down_mean);
        self.events.add(after, Event::Return { node: address });
        true
    }

    /// Its disks are lost, while it is down.
    fn lose_disks(&mut self, node: Address) {
        let life = self.lives.begin();
        self.machine(node).lose_disks(life);
    }

    /// What the disks of this node had counts as lost.
    fn is_damaged(&mut self, node: Address) {
        self.nemesis.damaged = Some(node);
        self.machine(node).is_damaged = true;
        self.machine(node).was_damaged = true;
        self.clients.lose(node, Loss::All);
    }

    /// Whether it was restored.
    fn back_up_or_restore(&mut self, node: Address) -> bool {
        let backups = &self.nemesis.backups;
        let Some(at) = backups.iter().position(|&(of, _)| of == node) else {
            let backup = self.machine(node).back_up();
            self.nemesis.backups.push((node, backup));
            return false;
        };
        let now = self.now();
        let (_, backup) = self.nemesis.backups.remove(at);
        self.is_damaged(node);
        self.machine(node).kill(now);
        let setup = self.setup.clone();
        let replicas = backup.replicas(&setup);
        if self.machine(node).life() != backup.life() {
            self.forget_deletes(node, backup.life(), &replicas);
        }
        let next = replicas.iter().map(|one| (one.id(), one.status().next_sequence)).collect();
        let life = self.lives.go_on(backup.life(), next);
        self.machine(node).restore(&backup, life, &setup);
        let tells = self.nemesis.random.one_in(2);
        self.note(format_args!("n{node} is restored from a backup, told: {tells}"));
        self.machine(node).renews = tells;
        self.goes_down(node);
        true
    }

    /// Counts faults of a node's disks that have happened by now.
    pub(crate) fn count_met_faults(&mut self, node: Address) {
        let Nemesis { armed, happened, .. } = &mut self.nemesis;
        armed.retain(|(at, kind, disk)| {
            let is_met = *at == node && disk.fault_met();
            if is_met {
                happened.add(*kind);
            }
            !is_met
        });
    }

    fn fail_operation(&mut self, node: Address, kind: FaultKind) {
        let fault = match kind {
            FaultKind::DiskError => Fault::Eio,
            FaultKind::DiskFull => Fault::Enospc,
            _ => Fault::Stop,
        };
        let random = &mut self.nemesis.random;
        let after = random.below(OPERATIONS_MAX);
        if let Some(disk) = self.machines[node as usize - 1].any_disk(random) {
            disk.fail_after(after, fault);
            let disk = disk.clone();
            // A later one takes the place of an earlier one.
            self.nemesis.armed.retain(|(_, _, armed)| !armed.is_same(&disk));
            self.nemesis.armed.push((node, kind, disk));
        }
    }

    fn isolate(&mut self, node: Address) {
        for other in (1..=self.machines.len() as Address).filter(|&other| other != node) {
            self.network.cut(node, other);
            self.network.cut(other, node);
        }
        self.plan_join();
    }

    fn plan_join(&mut self) {
        let after = self.nemesis.around(self.settings.down_mean);
        self.events.add(after, Event::Join);
    }

    /// Its clock goes wrong.
    pub(crate) fn let_drift(&mut self, node: Address) {
        let most = self.settings.drift_per_million;
        let drift = self.nemesis.random.between(0, 2 * most) as i64 - most as i64;
        self.machine(node).clock.drift(drift);
    }

    /// What a node acknowledged and need not have synced counts as lost.
    pub(crate) fn loses_unsynced(&mut self, node: Address) {
        let now = self.now();
        let flushed_before = self.machine(node).flushed_before(now);
        self.clients.lose(node, Loss::Unsynced { flushed_before });
    }

    /// The power of a node fails.
    pub(crate) fn power_fails(&mut self, node: Address) {
        if self.machine(node).is_gone {
            return;
        }
        self.note(format_args!("n{node} loses power"));
        let now = self.now();
        self.loses_unsynced(node);
        self.machine(node).lose_power(now);
        self.goes_down(node);
    }

    /// The power of all nodes fails.
    pub(crate) fn all_power_fails(&mut self) {
        for node in 1..=self.machines.len() as Address {
            self.power_fails(node);
        }
    }

    /// Its replica takes no writes since an error of the disk: it is started again.
    pub(crate) fn reopen(&mut self, node: Address) {
        self.note(format_args!("n{node} is started again after an error of its disk"));
        // Nobody knows what the disk has of that which was not synced.
        let now = self.now();
        self.loses_unsynced(node);
        self.machine(node).kill(now);
        self.goes_down(node);
    }

    fn goes_down(&mut self, node: Address) {
        self.forget_waiting(node);
        let after = self.nemesis.around(self.settings.down_mean);
        self.events.add(after, Event::Return { node });
    }

    /// A node that was down starts; one that stood goes on.
    pub(crate) fn come_back(&mut self, node: Address) -> Result<(), Violation> {
        if self.machine(node).is_gone {
            return Ok(());
        }
        if self.machine(node).is_up() {
            self.resume(node);
            return Ok(());
        }
        let now = self.now();
        self.note(format_args!("n{node} starts"));
        let setup = self.setup.clone();
        let mut started = self.machine(node).start(&setup, now);
        self.count_met_faults(node);
        if started.is_err() && self.machine(node).met_fault() {
            // Whoever runs it tries again.
            self.power_fails(node);
            return Ok(());
        }
        if let Err((partition, error)) = &started
            && self.machine(node).is_damaged
        {
            self.note(format_args!("n{node} gets empty disks: {partition}: {error}"));
            self.lose_disks(node);
            started = self.machine(node).start(&setup, now);
        }
        match started {
            Ok(actions) => {
                self.carry_out(node, actions);
                Ok(())
            }
            Err((partition, error)) => {
                let found = format!("n{node}, partition {partition}: {error}");
                Err(Violation::new(Law::Opens, None, found))
            }
        }
    }

    /// Nothing goes wrong any more, and what went wrong is right again, but for what is gone.
    pub(crate) fn make_calm(&mut self) -> Result<(), Violation> {
        self.calm_network();
        for node in 1..=self.machines.len() as Address {
            self.machine(node).mend();
            self.machine(node).clock.set_right();
            self.come_back(node)?;
        }
        Ok(())
    }

    /// A node is lost for good, if what it has may be.
    pub(crate) fn lose_for_good(&mut self) {
        let nodes = self.machines.len() as u64;
        let node = 1 + self.nemesis.random.below(nodes) as Address;
        if !self.machine(node).is_gone && self.may_damage(node) {
            self.note(format_args!("n{node} is gone for good"));
            let now = self.now();
            self.is_damaged(node);
            self.machine(node).kill(now);
            self.machine(node).is_gone = true;
            self.forget_waiting(node);
        }
    }
}

/// The map in which one node has the replicas of another one.
fn map_with(map: &ClusterMap, old: &NodeId, new: &NodeId) -> ClusterMap {
    let mut map = map.clone();
    map.version += 1;
    map.nodes.remove(old);
    map.nodes.insert(new.clone(), format!("{new}:1"));
    for placement in map.partitions.values_mut() {
        placement
            .replicas
            .iter_mut()
            .filter(|node| *node == old)
            .for_each(|node| *node = new.clone());
        placement.replicas.sort();
    }
    map
}

/// A byte of a file.
fn any_byte(disk: &SimDisk, random: &mut Random) -> Option<(String, usize)> {
    let names = disk.names();
    let name = random.pick(&names)?.clone();
    let length = disk.content(&name)?.len() as u64;
    (length > 0).then(|| (name, random.below(length) as usize))
}
