//! What a simulation is like: drawn from its seed.
//!
//! Each seed leaves most kinds of faults out, and has others often (swarm testing: Groce et al., ISSTA 2012): a fault that comes
//! with everything else at once hides what it would do alone.

use std::fmt;
use std::time::Duration;

use afterbay_blob_store::Options;

use crate::faults::FaultKind;
use crate::network::NetworkSettings;
use crate::random::Random;

/// What clients ask for, by weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    /// How many clients there are.
    pub(crate) clients: u32,
    /// How many requests they make together.
    pub(crate) requests: u32,
    /// The mean time for which a client does nothing after an answer.
    pub(crate) idle_mean: Duration,
    /// Bytes of the longest content.
    pub(crate) body_bytes_max: u64,
    /// Weights of puts, gets, deletes, undeletes and TTL updates.
    pub(crate) weights: [u64; 5],
    /// So many percent of changes are not synced before they are acknowledged.
    pub(crate) fast_percent: u64,
    /// So many percent of changes are acknowledged by one replica.
    pub(crate) one_percent: u64,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The seed that it was drawn from.
    pub seed: u64,
    /// Nodes at the begin.
    pub nodes: u32,
    /// Partitions.
    pub partitions: u32,
    /// Replicas of each partition.
    pub replicas: u32,
    /// How partitions are made.
    pub(crate) options: Options,
    /// What clients do.
    pub(crate) load: Load,
    /// The network of the safety phase.
    pub(crate) network: NetworkSettings,
    /// By how many millionths clocks go wrong at most.
    pub(crate) drift_per_million: u64,
    /// How long the safety phase is.
    pub(crate) safety: Duration,
    /// The mean time between faults.
    pub(crate) fault_every: Duration,
    /// How often each kind of fault is chosen, by weight. Others do not happen.
    pub(crate) faults: Vec<(FaultKind, u64)>,
    /// How long a node is down, or stands, on average.
    pub(crate) down_mean: Duration,
    /// How long a write or a read of a disk takes on average.
    pub(crate) disk_mean: Duration,
    /// At the end of the safety phase, the power of all nodes is lost.
    pub(crate) ends_dark: bool,
    /// At the end of the safety phase, a node is gone for good.
    pub(crate) loses_node: bool,
}

/// The weight of a fault that happens about ten times as often as all others together, which are left as they were drawn.
const OFTEN: u64 = 300;

impl Settings {
    /// Those of a seed.
    pub fn of(seed: u64) -> Self {
        let random = &mut Random::new(seed, "settings");
        let nodes = 3 + random.below(3) as u32 + random.below(5) as u32;
        let replicas = *random.pick(&[3, 3, 3, 3, 4, 5]).unwrap_or(&3);
        let ms = Duration::from_millis;
        let mut settings = Settings {
            seed,
            nodes,
            partitions: random.between(1, 3) as u32,
            replicas: replicas.min(nodes),
            options: partition_options(random),
            load: load(random),
            network: network(random),
            // Within the safety phase, less than an eighth of how far two clocks may be apart.
            drift_per_million: if random.one_in(2) { random.between(0, 1_000) } else { 0 },
            safety: ms(random.between(4_000, 14_000)),
            fault_every: ms(random.between(200, 2_000)),
            faults: faults(random),
            down_mean: ms(*random.pick(&[300, 1_000, 3_000, 9_000]).unwrap_or(&300)),
            disk_mean: Duration::from_micros(*random.pick(&[50, 200, 3_000]).unwrap_or(&50)),
            ends_dark: random.one_in(2),
            loses_node: random.one_in(5),
        };
        match random.below(7) {
            0 => settings.restore_often(random),
            1 => settings.replace_often(),
            2 => settings.be_late(random),
            3 => settings.be_fast(),
            _ => match random.below(4) {
                0 => settings.restore_pairs(),
                1 => settings.lose_quickly(),
                _ => {}
            },
        }
        settings
    }

    /// Backups are restored again and again, of few nodes, which are cut off now and then and take blobs alone. Of half of them,
    /// other nodes get empty disks meanwhile, and fill them from whoever is there.
    fn restore_often(&mut self, random: &mut Random) {
        self.be_few();
        self.faults = vec![(FaultKind::Restore, 6), (FaultKind::Isolate, 4), (FaultKind::Kill, 1)];
        if random.one_in(2) {
            self.faults.extend([(FaultKind::LostDisk, 3), (FaultKind::Replace, 1)]);
        }
    }

    /// The same with disks that are lost.
    fn replace_often(&mut self) {
        self.be_few();
        self.faults =
            vec![(FaultKind::LostDisk, 5), (FaultKind::Isolate, 5), (FaultKind::CutOneWay, 2)];
    }

    /// Both replicas of a partition are put back, one after the other, and started again.
    fn restore_pairs(&mut self) {
        self.be_few();
        self.replicas = 2;
        self.network = NetworkSettings::calm();
        self.fault_every = Duration::from_millis(400);
        self.down_mean = Duration::from_millis(200);
        self.faults.extend([(FaultKind::Restore, OFTEN), (FaultKind::Kill, OFTEN / 2)]);
    }

    /// Disks are lost so quickly that what was meant for one comes to the next one. Links are cut and nodes join meanwhile, which
    /// happens in few settings.
    fn lose_quickly(&mut self) {
        self.be_few();
        self.network.delay_mean = Duration::from_millis(20);
        self.fault_every = Duration::from_millis(150);
        self.down_mean = Duration::from_millis(30);
        self.faults.extend([
            (FaultKind::LostDisk, OFTEN),
            (FaultKind::CutOneWay, 30),
            (FaultKind::Join, 60),
        ]);
    }

    /// Little is synced before it is acknowledged; nodes lose their power when nobody has reached them for a while.
    fn be_fast(&mut self) {
        self.be_few();
        // A segment that is full is synced.
        (self.options.segment_records_max, self.options.segment_bytes) = (1024, 64 << 10);
        (self.load.fast_percent, self.load.one_percent) = (95, 60);
        self.load.idle_mean = Duration::from_millis(100);
        self.down_mean = Duration::from_secs(2);
        self.faults =
            vec![(FaultKind::Isolate, 5), (FaultKind::PowerLoss, 4), (FaultKind::Darkness, 1)];
    }

    fn be_few(&mut self) {
        (self.nodes, self.partitions, self.replicas) = (3, 1, 3);
        self.options.segment_records_max = 4;
        self.load.weights = [10, 2, 6, 2, 4];
        self.load.requests = 160;
        (self.load.fast_percent, self.load.one_percent) = (0, 40);
        self.load.idle_mean = Duration::from_millis(30);
        self.fault_every = Duration::from_millis(500);
        self.down_mean = Duration::from_millis(700);
        self.safety = Duration::from_secs(10);
    }

    /// Messages come when the blob that they put is deleted and forgotten.
    fn be_late(&mut self, random: &mut Random) {
        (self.partitions, self.options.segment_records_max) = (1, 4);
        self.load.weights = [10, 1, 10, 1, 0];
        self.load.idle_mean = Duration::from_millis(30);
        self.network.late_per_million = 60_000;
        self.network.late_mean = Duration::from_millis(random.between(2_000, 5_000));
    }
}

fn partition_options(random: &mut Random) -> Options {
    Options {
        capacity_bytes: 4 << 20,
        segment_bytes: *random.pick(&[8 << 10, 16 << 10, 64 << 10]).unwrap_or(&(16 << 10)),
        segment_records_max: *random.pick(&[4, 16, 1024]).unwrap_or(&16),
        journal_records: *random.pick(&[1, 8, 4096]).unwrap_or(&8),
        ..Options::default()
    }
}

fn load(random: &mut Random) -> Load {
    let some =
        |random: &mut Random, most| if random.one_in(3) { 0 } else { random.between(1, most) };
    Load {
        clients: random.between(1, 6) as u32,
        requests: random.between(40, 160) as u32,
        idle_mean: Duration::from_millis(*random.pick(&[5, 30, 150]).unwrap_or(&30)),
        body_bytes_max: *random.pick(&[16, 700, 5_000]).unwrap_or(&16),
        weights: [10, random.between(1, 10), some(random, 10), some(random, 8), some(random, 8)],
        fast_percent: *random.pick(&[0, 0, 20, 80]).unwrap_or(&0),
        one_percent: *random.pick(&[0, 0, 20]).unwrap_or(&0),
    }
}

fn network(random: &mut Random) -> NetworkSettings {
    let some = |random: &mut Random, most| {
        if random.one_in(2) { random.between(1, most) as u32 } else { 0 }
    };
    NetworkSettings {
        delay_min: Duration::from_micros(random.between(50, 500)),
        delay_mean: Duration::from_micros(*random.pick(&[200, 1_000, 20_000]).unwrap_or(&200)),
        lost_per_million: some(random, 60_000),
        doubled_per_million: some(random, 60_000),
        late_per_million: some(random, 20_000),
        late_mean: Duration::from_millis(random.between(100, 8_000)),
    }
}

fn faults(random: &mut Random) -> Vec<(FaultKind, u64)> {
    let mut faults = Vec::new();
    for &kind in FaultKind::ALL {
        // Drawn for each, so that a new kind does not change the weights of the others.
        let weight = random.between(1, 10);
        if random.one_in(3) {
            faults.push((kind, weight));
        }
    }
    faults
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { nodes, partitions, replicas, load, network, options, .. } = self;
        writeln!(f, "seed       {}", self.seed)?;
        writeln!(f, "cluster    {nodes} nodes, {partitions} partitions with {replicas} replicas")?;
        writeln!(
            f,
            "partition  segments of {} bytes and {} records, journal of {}",
            options.segment_bytes, options.segment_records_max, options.journal_records
        )?;
        let [puts, gets, deletes, undeletes, updates] = load.weights;
        writeln!(
            f,
            "load       {} requests of {} clients, every {:?}: puts {puts}, gets {gets}, deletes {deletes}, undeletes {undeletes}, \
             TTL updates {updates}; up to {} bytes; {} % not synced, {} % by one replica",
            load.requests,
            load.clients,
            load.idle_mean,
            load.body_bytes_max,
            load.fast_percent,
            load.one_percent,
        )?;
        writeln!(
            f,
            "network    {:?} + {:?}; lost {}, doubled {}, late by {:?} {} of a million",
            network.delay_min,
            network.delay_mean,
            network.lost_per_million,
            network.doubled_per_million,
            network.late_mean,
            network.late_per_million,
        )?;
        writeln!(
            f,
            "machines   clocks off by {} of a million, disks take {:?}, down for {:?}",
            self.drift_per_million, self.disk_mean, self.down_mean
        )?;
        let faults: Vec<_> =
            self.faults.iter().map(|(kind, weight)| format!("{kind} {weight}")).collect();
        writeln!(
            f,
            "faults     every {:?} for {:?}: {}",
            self.fault_every,
            self.safety,
            if faults.is_empty() { "none".to_owned() } else { faults.join(", ") }
        )?;
        let end = match (self.ends_dark, self.loses_node) {
            (false, false) => "all nodes go on",
            (true, false) => "the power of all nodes is lost",
            (false, true) => "a node is lost",
            (true, true) => "the power of all nodes is lost, and a node",
        };
        write!(f, "then       {end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_differ_and_all_are_allowed() {
        let all: Vec<_> = (0..1000).map(Settings::of).collect();
        assert_eq!(all[17], Settings::of(17));
        assert!(all.iter().all(|settings| settings.options.check().is_ok()));
        let mut nodes: Vec<_> = all.iter().map(|settings| settings.nodes).collect();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes, [3, 4, 5, 6, 7, 8, 9]);
        for &kind in FaultKind::ALL {
            let with = |settings: &&Settings| settings.faults.iter().any(|(one, _)| *one == kind);
            let count = all.iter().filter(with).count();
            assert!((130..650).contains(&count), "{kind}: {count} of 1000");
        }
        assert!(all.iter().any(|settings| settings.faults.len() <= 2));
    }
}
