//! Lets things go wrong, within what the store promises to stand: of a partition's replicas, no second disk is lost or damaged
//! before what was on the first one has been copied.

use std::time::Duration;

use afterbay_blob_store::sim::{Fault, SimDisk};

use crate::faults::FaultKind;
use crate::machine::Backup;
use crate::network::Address;
use crate::random::Random;
use crate::violation::{Law, Violation};
use crate::world::{Event, World};

/// The most operations of a disk until one of them fails.
const OPERATIONS_MAX: u64 = 25;

/// The file without which a replica cannot be opened.
const MANIFEST: &str = "MANIFEST";

/// What goes wrong, and what has.
#[derive(Debug)]
pub(crate) struct Nemesis {
    random: Random,
    /// The node whose disks were lost or damaged, until all replicas are equal again.
    damaged: Option<Address>,
    backups: Vec<(Address, Backup)>,
    /// How many faults there were.
    pub(crate) count: u64,
}

impl Nemesis {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Random::new(seed, "faults");
        Nemesis { random, damaged: None, backups: Vec::new(), count: 0 }
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
        if let Some(kind) = kind {
            self.nemesis.count += 1;
            self.note(format_args!("fault {kind} n{node}"));
            self.let_happen(kind, node, other);
        }
    }

    fn let_happen(&mut self, kind: FaultKind, node: Address, other: Address) {
        let is_up = self.machine(node).is_up();
        match kind {
            FaultKind::Kill if is_up => {
                self.machine(node).kill();
                self.goes_down(node);
            }
            FaultKind::PowerLoss if is_up => self.power_fails(node),
            FaultKind::Darkness => self.all_power_fails(),
            FaultKind::Pause if is_up => {
                self.machine(node).is_paused = true;
                let after = self.nemesis.around(self.settings.down_mean);
                self.events.add(after, Event::Return { node });
            }
            FaultKind::CutOneWay if node != other => {
                self.network.cut(node, other);
                self.plan_join();
            }
            FaultKind::Isolate => self.isolate(node),
            FaultKind::Join => self.network.join(),
            FaultKind::ClockJump => {
                // Two clocks may be wrong in opposite directions, and drift.
                let most = self.setup.node_options.clock_skew_max_ms * 3 / 8;
                let wrong = self.nemesis.random.between(0, 2 * most) as i64 - most as i64;
                self.machine(node).clock.jump_to(wrong);
            }
            FaultKind::DiskError => self.fail_operation(node, Fault::Eio),
            FaultKind::DiskFull => self.fail_operation(node, Fault::Enospc),
            FaultKind::TornWrite => self.fail_operation(node, Fault::Stop),
            FaultKind::BitFlip
            | FaultKind::BadSector
            | FaultKind::LostDisk
            | FaultKind::Restore
                if self.may_damage(node) =>
            {
                self.damage(kind, node);
            }
            _ => {}
        }
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

    fn damage(&mut self, kind: FaultKind, node: Address) {
        match kind {
            FaultKind::LostDisk => {
                self.is_damaged(node);
                self.machine(node).kill();
                self.machine(node).lose_disks();
                self.goes_down(node);
            }
            FaultKind::Restore => self.back_up_or_restore(node),
            _ => {
                let random = &mut self.nemesis.random;
                let machine = &self.machines[node as usize - 1];
                let Some(disk) = machine.any_disk(random) else {
                    return;
                };
                let Some((name, at)) = any_byte(disk, random) else {
                    return;
                };
                if kind == FaultKind::BitFlip {
                    disk.turn_bit(&name, at);
                } else {
                    disk.fail_reads(&name, at..at + 1);
                }
                self.note(format_args!("n{node} damaged {name} at {at}"));
                self.is_damaged(node);
                if name == MANIFEST {
                    // Nobody reads it until the replica is opened, and then all of it is lost: no other disk may be by then.
                    self.power_fails(node);
                }
            }
        }
    }

    /// What the disks of this node had counts as lost.
    fn is_damaged(&mut self, node: Address) {
        self.nemesis.damaged = Some(node);
        self.machine(node).is_damaged = true;
        self.machine(node).was_damaged = true;
        self.clients.lose(node, false);
    }

    fn back_up_or_restore(&mut self, node: Address) {
        if self.machine(node).was_restored {
            // A second backup, of another past, is not told from a disk that was replaced.
            return;
        }
        let backups = &self.nemesis.backups;
        let Some(at) = backups.iter().position(|&(of, _)| of == node) else {
            let backup = self.machine(node).back_up();
            self.nemesis.backups.push((node, backup));
            return;
        };
        let (_, backup) = self.nemesis.backups.remove(at);
        self.is_damaged(node);
        self.machine(node).kill();
        let setup = self.setup.clone();
        self.machine(node).restore(&backup, &setup);
        let tells = self.nemesis.random.one_in(2);
        self.note(format_args!("n{node} is restored from a backup, told: {tells}"));
        self.machine(node).renews = tells;
        self.machine(node).was_restored = true;
        self.goes_down(node);
    }

    fn fail_operation(&mut self, node: Address, fault: Fault) {
        let random = &mut self.nemesis.random;
        let after = random.below(OPERATIONS_MAX);
        if let Some(disk) = self.machines[node as usize - 1].any_disk(random) {
            disk.fail_after(after, fault);
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

    /// The power of a node fails.
    pub(crate) fn power_fails(&mut self, node: Address) {
        self.note(format_args!("n{node} loses power"));
        self.clients.lose(node, true);
        self.machine(node).lose_power();
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
        self.clients.lose(node, true);
        self.machine(node).kill();
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
        if started.is_err() && self.machine(node).met_fault() {
            // Whoever runs it tries again.
            self.power_fails(node);
            return Ok(());
        }
        if let Err((partition, error)) = &started
            && self.machine(node).is_damaged
        {
            self.note(format_args!("n{node} gets empty disks: {partition}: {error}"));
            self.machine(node).lose_disks();
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
        if self.may_damage(node) {
            self.note(format_args!("n{node} is gone for good"));
            self.is_damaged(node);
            self.machine(node).kill();
            self.machine(node).is_gone = true;
            self.forget_waiting(node);
        }
    }
}

/// A byte of a file.
fn any_byte(disk: &SimDisk, random: &mut Random) -> Option<(String, usize)> {
    let names = disk.names();
    let name = random.pick(&names)?.clone();
    let length = disk.content(&name)?.len() as u64;
    (length > 0).then(|| (name, random.below(length) as usize))
}
