//! The whole node (partitions, router, names, S3, native protocol) on one simulated disk, which loses what was not synced when
//! the power goes, tears it, and fails. Clients do the same work as in `kill.rs`; the power goes at any operation of the
//! disk, those of the first start and of a shutdown included. The same must be found afterwards, and again after a second loss
//! of power. That segments were rolled and compacted is seen in the manifests that each loss leaves.
//!
//! As many machines as `afterbay_test_form::power_machines` says, and more until all kinds of work were done. The controls leave out one sync each and must be noticed: those of [`SyncScope::Node`]
//! here, the others where that says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use afterbay_blob_client::PutHead;
use afterbay_blob_format::Manifest;
use afterbay_blob_meta::{CollectorOptions, Names, RedbNames, RedbOptions};
use afterbay_blob_proto::Name;
use afterbay_blob_router::source;
use afterbay_blob_s3::S3Options;
use afterbay_blob_server::node::{Datanode, Layout, Volume};
use afterbay_blob_server::{
    AccessKey, Frontend, Host, NamesAndS3, Opened, Running, StartError, Started, open_names,
    start_over,
};
use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{Durability, SyncPoint, SyncScope, read_whole};
use afterbay_test_form::power_machines;
use async_trait::async_trait;

use crate::common::SimDirectory;
use crate::cycles::check::check;
use crate::cycles::ledger::{BUCKET, Ledger, body};
use crate::cycles::s3::Ask;
use crate::cycles::work::path;
use crate::cycles::{Random, Server, audit, start_work};

/// Names that are open already.
struct OpenNames {
    names: Arc<RedbNames>,
    served: NamesAndS3,
}

impl std::fmt::Debug for OpenNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenNames").finish_non_exhaustive()
    }
}

#[async_trait]
impl Frontend for OpenNames {
    async fn start(&self, host: &Host) -> Result<Started, StartError> {
        let names: Arc<dyn Names> = self.names.clone();
        self.served.start_with(names, host).await
    }
}

/// A machine with one disk, and what was said to its clients.
struct Machine {
    disk: SimDisk,
    ledger: Arc<Ledger>,
    key: AccessKey,
    random: Random,
    /// Of what asks for none.
    durability: Durability,
    seen: Seen,
}

/// What happened in the lives of machines.
#[derive(Debug, Default)]
struct Seen {
    /// Segments that manifests had, with their partition: one that was rolled is another one than the first, and none of a
    /// compaction's.
    rolled: BTreeSet<(String, u64)>,
    compacted: BTreeSet<(String, u64)>,
    /// Losses of power while the server shut down.
    shutting_down: u64,
}

impl Seen {
    /// What a loss of power left.
    fn look(&mut self, disk: &SimDisk) {
        let Ok(partitions) = disk.tree().open_tree("partitions") else { return };
        for name in partitions.list().unwrap() {
            // One that is being made has none yet.
            let directory = partitions.open_tree(&name).unwrap();
            let Ok(stored) = read_whole(&*directory, "MANIFEST") else { continue };
            let Ok(manifest) = Manifest::parse(&stored) else { continue };
            for segment in manifest.segments {
                let seen = (name.clone(), segment.number);
                if segment.compacted {
                    self.compacted.insert(seen);
                } else if segment.number > 1 {
                    self.rolled.insert(seen);
                }
            }
        }
    }
}

fn open_disk(disk: &SimDisk) -> Result<(Arc<dyn Volume>, Arc<RedbNames>), StartError> {
    let root = disk.tree();
    let layout = Layout::open(&*root).map_err(StartError::of)?;
    let options = RedbOptions { cache_bytes: 1 << 20, ..RedbOptions::default() };
    let names = open_names(root.clone(), false, &options).map_err(StartError::of)?;
    Ok((Arc::new(SimDirectory(layout)), Arc::new(names)))
}

/// From when on a fault can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    FromTheStart,
    Served,
    ShuttingDown,
}

/// So long a server works before it is asked to shut down.
const WORK: Duration = Duration::from_millis(150);

impl Machine {
    fn new(seed: u64) -> Self {
        Machine {
            disk: SimDisk::new(seed),
            ledger: Arc::default(),
            key: AccessKey { access: "AB".to_owned(), secret: "s".repeat(40) },
            random: Random::new(seed),
            durability: Durability::Durable,
            seen: Seen::default(),
        }
    }

    async fn start(&self) -> Result<(Running, Server), StartError> {
        let mut options = crate::common::serve_options(std::path::Path::new("nowhere"));
        options.node.partition_bytes = Some(2 << 20);
        options.node.segment_bytes = Some(128 << 10);
        options.node.undelete_window = Duration::from_millis(1);
        options.node.compact_interval = Duration::from_millis(5);
        options.node.compact_bytes_per_s = 1 << 30;
        options.node.garbage_percent_min = 1;
        // What is fast is synced by nobody else where a test counts syncs.
        let is_fast = self.durability == Durability::Fast;
        options.node.flush_interval = Duration::from_millis(if is_fast { 999_000 } else { 20 });
        options.router.chunk_bytes = 16 << 10;
        options.router.durability = self.durability;
        options.server.drain_timeout = Duration::from_millis(10);
        let node_options = options.node.clone();
        let disk = self.disk.clone();
        let opened = tokio::task::spawn_blocking(move || {
            let (volume, names) = open_disk(&disk)?;
            let node = Datanode::open(vec![volume], &node_options).map_err(StartError::of)?;
            Ok::<_, StartError>((node, names))
        });
        let (node, names) = opened.await.unwrap()?;
        let served = NamesAndS3 {
            listen: Some("127.0.0.1:0".to_owned()),
            options: S3Options {
                part_bytes_min: 1,
                shutdown_timeout: Duration::from_millis(10),
                ..S3Options::default()
            },
            collector: CollectorOptions {
                grace: Duration::from_millis(20),
                interval: Duration::from_millis(20),
                retry: Duration::from_millis(5),
                ..CollectorOptions::default()
            },
            abort_uploads_after: Duration::MAX,
        };
        let frontend: Arc<dyn Frontend> = Arc::new(OpenNames { names, served });
        let opened = Opened { node: node.clone(), key: self.key.clone(), read_only: false };
        let running = start_over(opened, "nowhere".into(), options, &[frontend]).await;
        let running = running.inspect_err(|_| node.shut_down())?;
        let server = Server {
            endpoint: running.endpoints[0].1.clone(),
            key: self.key.clone(),
            client: crate::common::client(&running),
            small_parts: true,
        };
        Ok((running, server))
    }

    /// Serves until the disk fails, or the power goes: within so many operations from here, or from the end of the start.
    async fn live(&mut self, when: When, operations: u64) -> Result<(), String> {
        let fault = match self.random.below(8) {
            0 => Fault::Eio,
            1 => Fault::Enospc,
            _ => Fault::Stop,
        };
        let after = self.random.below(operations);
        if when == When::FromTheStart {
            self.disk.fail_after(after, fault);
        }
        let (running, server) = match self.start().await {
            Ok(started) => started,
            Err(_) if self.disk.fault_met() => return Ok(()),
            Err(error) => return Err(format!("a start without a fault: {error}")),
        };
        if when == When::Served {
            self.disk.fail_after(after, fault);
        }
        let mut work = Vec::new();
        // There may be a fault here already.
        if server.make_bucket().await.is_ok() {
            let seed = self.random.below(1 << 40);
            let workers = start_work(&server, &self.ledger, seed);
            let began = Instant::now();
            let most = if when == When::ShuttingDown { WORK } else { Duration::from_secs(5) };
            while !self.disk.fault_met() && began.elapsed() < most {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            if fault != Fault::Stop && when != When::ShuttingDown {
                // Work goes on beside what failed.
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            work = workers;
        }
        if when == When::ShuttingDown {
            self.disk.fail_after(self.random.below(SHUTDOWN_OPERATIONS), Fault::Stop);
            running.shut_down().await;
            self.seen.shutting_down += u64::from(self.disk.fault_met());
        } else {
            self.disk.fail_after(0, Fault::Stop);
            running.shut_down().await;
        }
        for worker in work {
            worker.await.map_err(|e| format!("a worker: {e}"))?;
        }
        Ok(())
    }

    /// What is wrong after the power went.
    async fn look(&mut self) -> Vec<String> {
        self.disk.lose_power();
        self.seen.look(&self.disk);
        let (running, server) = match self.start().await {
            Ok(started) => started,
            Err(error) => return vec![format!("it does not start again: {error}")],
        };
        let mut wrong = check(&self.ledger, &server, 1).await;
        running.shut_down().await;
        // What could be read is there for good.
        self.disk.lose_power();
        let disk = self.disk.clone();
        let opened = tokio::task::spawn_blocking(move || open_disk(&disk)).await.unwrap();
        match opened {
            Ok((volume, names)) => wrong.extend(audit::audit(volume, names).await),
            Err(error) => wrong.push(format!("it does not open again: {error}")),
        }
        wrong
    }

    async fn lives(&mut self, lives: u64, when: When, operations: u64) -> Vec<String> {
        for life in 0..lives {
            let shuts_down = life % LIVES == LIVES - 1;
            let when = if shuts_down { When::ShuttingDown } else { when };
            if let Err(error) = self.live(when, operations).await {
                return vec![error];
            }
            let wrong = self.look().await;
            if !wrong.is_empty() {
                return wrong.into_iter().map(|e| format!("life {life}: {e}")).collect();
            }
        }
        Vec::new()
    }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap().block_on(work)
}

/// Of each machine. The power goes in the last one of them while the server shuts down.
const LIVES: u64 = 5;
/// At most so many times as many machines live until all of it was done.
const MORE: u64 = 20;
/// Within so many operations from there.
const SHUTDOWN_OPERATIONS: u64 = 60;

#[test]
fn what_was_acknowledged_is_there_after_each_loss_of_power() {
    let machines = power_machines();
    let mut all = Lived::default();
    for seed in 1.. {
        if seed > machines {
            let missing = all.missing(machines);
            if missing.is_empty() {
                break;
            }
            // A computer that has other work does less in a life.
            assert!(seed <= MORE * machines, "{seed} machines did too little: {missing:?}");
        }
        let mut machine = Machine::new(seed);
        let (when, operations) =
            if seed % 3 == 0 { (When::FromTheStart, 500) } else { (When::Served, 2000) };
        let wrong = run(machine.lives(LIVES, when, operations));
        assert_eq!(wrong, Vec::<String>::new(), "machine {seed}");
        all.add(&machine);
    }
    println!("{all:?}");
}

/// What happened in all machines.
#[derive(Debug, Default)]
struct Lived {
    machines: u64,
    rolled: u64,
    compacted: u64,
    shutting_down: u64,
    tally: BTreeMap<&'static str, u64>,
}

impl Lived {
    fn add(&mut self, machine: &Machine) {
        for (kind, count) in machine.ledger.tally.lock().unwrap().iter() {
            *self.tally.entry(*kind).or_insert(0) += count;
        }
        self.machines += 1;
        self.rolled += machine.seen.rolled.len() as u64;
        self.compacted += machine.seen.compacted.len() as u64;
        self.shutting_down += machine.seen.shutting_down;
    }

    /// What happened too seldom for so many machines.
    fn missing(&self, machines: u64) -> Vec<&'static str> {
        let lives = machines * LIVES;
        let kinds =
            ["complete of several", "native delete of a name", "part", "put", "race", "copy"];
        let done = |kind: &str| self.tally.get(kind).copied().unwrap_or(0);
        let mut missing: Vec<_> =
            kinds.into_iter().filter(|kind| done(kind) < (machines / 3).max(1)).collect();
        for (what, count, least) in [
            ("rolled segments", self.rolled, lives),
            ("compacted segments", self.compacted, lives / 5),
            ("losses of power in a shutdown", self.shutting_down, machines.div_ceil(2)),
        ] {
            if count < least {
                missing.push(what);
            }
        }
        missing
    }
}

/// How often content was synced before an answer came: by S3, by name, and without a name.
async fn syncs_of_fast_puts() -> [u64; 3] {
    let machine = Machine { durability: Durability::Fast, ..Machine::new(1) };
    let (running, server) = machine.start().await.unwrap();
    server.make_bucket().await.unwrap();
    let mut before = machine.disk.syncs(SyncPoint::Commit);
    let mut since = || {
        let now = machine.disk.syncs(SyncPoint::Commit);
        now - std::mem::replace(&mut before, now)
    };
    let put = Ask::new("PUT", path("by-s3")).body(body(1));
    assert_eq!(server.s3().ask(put).await.unwrap().status, 200);
    let by_s3 = since();
    let put = async |name| {
        let head = PutHead { name, ..PutHead::default() };
        server.client.put(head, source(vec![1; 100])).await.unwrap();
    };
    put(Some(Name { bucket: BUCKET.to_owned(), key: "by-name".to_owned() })).await;
    let by_name = since();
    put(None).await;
    let without = since();
    running.shut_down().await;
    [by_s3, by_name, without]
}

/// The name is synced, and must not outlive what it points to.
#[test]
fn what_gets_a_name_is_synced_at_the_class_fast_too() {
    let [by_s3, by_name, without] = run(syncs_of_fast_puts());
    assert!(by_s3 > 0);
    assert!(by_name > 0);
    assert_eq!(without, 0, "the control: what has no name is not");
}

/// Machines that a sync is left out on; it is noticed at one of the first of them.
const NOTICED_WITHIN: u64 = 40;

/// The first machine on which it is noticed that a sync is left out.
fn first_noticed(point: SyncPoint) -> Option<u64> {
    (1..=NOTICED_WITHIN).find(|&seed| {
        let mut machine = Machine::new(seed);
        machine.disk.ignore(point);
        !run(machine.lives(2, When::Served, 600)).is_empty()
    })
}

#[test]
fn a_sync_that_is_left_out_is_found_out() {
    let of_the_node = SyncPoint::ALL.iter().copied().filter(|p| p.scope() == SyncScope::Node);
    let points = of_the_node.chain([SyncPoint::Commit]);
    let noticed: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> =
            points.map(|point| (point, scope.spawn(move || first_noticed(point)))).collect();
        all.into_iter().map(|(point, thread)| (point, thread.join().unwrap())).collect()
    });
    println!("noticed at machine {noticed:?}");
    assert!(noticed.iter().all(|(_, at)| at.is_some()), "nobody noticed some: {noticed:?}");
}
