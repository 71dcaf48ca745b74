//! The real program, with names and S3, is killed with -9 while clients put, overwrite, delete and copy objects, on
//! conditions and in races, upload in parts, and use the native protocol, with and without names; while it compacts, rolls
//! segments, collects garbage, and shuts down. Afterwards:
//!
//! - what was acknowledged is there, byte for byte, under its name; what was not is as before or as asked for, as a whole;
//! - lists show what can be read and nothing else; uploads are open, with their parts, or completed, or aborted;
//! - once the garbage is collected, the blobs that are alive are those that names need (`cycles/audit.rs`).
//!
//! That segments were rolled and compacted is seen in the manifests that each kill leaves.
//!
//! As many cycles as `afterbay_test_form::kill_cycles` says, and more until all kinds of work were done. The controls must be noticed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_client::PutHead;
use afterbay_blob_format::Manifest;
use afterbay_test_form::{Wait, kill_cycles};

use crate::common::{Process, content};
use crate::cycles::audit::audit_directory;
use crate::cycles::check::check;
use crate::cycles::ledger::Ledger;
use crate::cycles::{Server, start_work};

/// Small segments, so that they are rolled and compacted all the time; chunks that are smaller than the larger blobs.
const ARGUMENTS: [&str; 20] = [
    "--admin",
    "none",
    "--partition-size",
    "8MiB",
    "--segment-size",
    "128KiB",
    "--chunk-size",
    "16KiB",
    "--undelete-window",
    "1ms",
    "--compact-interval",
    "5ms",
    "--compact-garbage",
    "1",
    "--compact-rate",
    "1GiB",
    "--garbage-delay",
    "20ms",
    "--drain-timeout",
    "2s",
];

/// So many answers come in a cycle at least, however slow the disk is.
const ANSWERS: u64 = 30;

/// The disks are looked at, without a server, after so many cycles.
const AUDIT: u64 = 10;

/// All kinds of work.
const KINDS: [&str; 15] = [
    "abort",
    "batch delete",
    "complete",
    "condition refused",
    "copy",
    "delete",
    "native delete",
    "native delete of a name",
    "native put",
    "native put of a name",
    "part",
    "put",
    "race",
    "read beside writes",
    "upload begun",
];
/// What the controls take away.
const CONTROLLED: [&str; 2] = ["put", "native put"];

/// Segments that manifests had: a segment that was rolled is another one than the first, and none of a compaction's.
#[derive(Debug, Default)]
struct Segments {
    rolled: BTreeSet<(PathBuf, u64)>,
    compacted: BTreeSet<(PathBuf, u64)>,
}

impl Segments {
    /// What a killed process left.
    fn look(&mut self, data: &Path) {
        let Ok(partitions) = std::fs::read_dir(data.join("partitions")) else { return };
        for path in partitions.map(|entry| entry.unwrap().path()) {
            // One that is being made has none yet.
            let Ok(stored) = std::fs::read(path.join("MANIFEST")) else { continue };
            for segment in Manifest::parse(&stored).unwrap().segments {
                let seen = (path.clone(), segment.number);
                if segment.compacted {
                    self.compacted.insert(seen);
                } else if segment.number > 1 {
                    self.rolled.insert(seen);
                }
            }
        }
    }
}

fn server(process: &Process) -> Server {
    Server {
        endpoint: process.s3.clone().expect("it said where S3 is"),
        key: process.key.clone(),
        client: process.client(),
        small_parts: false,
    }
}

/// The server begins again, is looked at, and is killed in the middle of work, when it has given as many answers as a cycle needs, and
/// has done `least` of what controls take away; in every fifth cycle while it shuts down.
async fn cycle(data: &Path, ledger: &Arc<Ledger>, number: u64, least: u64) -> Vec<String> {
    let mut process = Process::start(data, &ARGUMENTS);
    let server = server(&process);
    let wrong = check(ledger, &server, 13).await;
    assert_eq!(damaged_ranges(&server).await, 0);
    let before = ledger.answers();
    let workers = start_work(&server, ledger, number);
    // Long enough for a large part now and then.
    let patience = if number % 10 == 7 { 600 } else { 60 + number * 37 % 140 };
    tokio::time::sleep(Duration::from_millis(patience)).await;
    let wait = Wait::until("enough was done");
    while ledger.answers() < before + ANSWERS
        || CONTROLLED.iter().any(|kind| ledger.counted(kind) < least)
    {
        wait.check(&ledger.tally);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if number % 5 == 4 {
        process.terminate();
        tokio::time::sleep(Duration::from_millis(number % 7)).await;
    }
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    for worker in workers {
        worker.await.unwrap();
    }
    wrong
}

async fn damaged_ranges(server: &Server) -> u64 {
    let status: afterbay_blob_server::Report =
        serde_json::from_slice(&server.client.status().await.unwrap()).unwrap();
    let partitions = status.node.disks.iter().flat_map(|disk| &disk.partitions);
    partitions.map(|p| p.damaged_ranges).sum()
}

/// What is wrong in the end.
async fn check_at_rest(data: &Path, ledger: &Ledger) -> Vec<String> {
    let mut process = Process::start(data, &ARGUMENTS);
    let mut wrong = check(ledger, &server(&process), 1).await;
    process.terminate();
    process.child.wait().unwrap();
    wrong.extend(audit_directory(data).await);
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_each_kill() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let ledger = Arc::new(Ledger::default());
    let mut segments = Segments::default();
    let cycles = kill_cycles();
    let mut wait = None;
    for number in 0.. {
        if number >= cycles {
            let missing = missing(&ledger, &segments, cycles);
            if missing.is_empty() {
                break;
            }
            // A machine that has other work does less in a cycle.
            wait.get_or_insert_with(|| Wait::until("all of it was done, and often")).check(missing);
        }
        let wrong = cycle(&data, &ledger, number, 0).await;
        assert_eq!(wrong, Vec::<String>::new(), "cycle {number}");
        segments.look(&data);
        if number % AUDIT == AUDIT - 1 {
            assert_eq!(audit_directory(&data).await, Vec::<String>::new(), "cycle {number}");
            println!("{} cycles", number + 1);
        }
    }
    assert_eq!(check_at_rest(&data, &ledger).await, Vec::<String>::new());
    let tally = ledger.tally.lock().unwrap();
    let (rolled, compacted) = (segments.rolled.len() as u64, segments.compacted.len() as u64);
    println!("{cycles} cycles, {rolled} segments rolled, {compacted} compacted: {tally:?}");
}

/// What was done too seldom in so many cycles. Small segments and short windows are there for rolled and compacted ones.
fn missing(ledger: &Ledger, segments: &Segments, cycles: u64) -> Vec<&'static str> {
    let (rolled, compacted) = (segments.rolled.len() as u64, segments.compacted.len() as u64);
    let mut missing: Vec<_> =
        KINDS.into_iter().filter(|kind| ledger.counted(kind) < (cycles / 5).max(1)).collect();
    if rolled < cycles {
        missing.push("rolled segments");
    }
    if compacted < cycles / 5 {
        missing.push("compacted segments");
    }
    missing
}

/// One cycle, which is right; then something is done to the disk.
async fn control(harm: impl AsyncFnOnce(&Path)) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let ledger = Arc::new(Ledger::default());
    assert_eq!(cycle(&data, &ledger, 1, 10).await, Vec::<String>::new());
    harm(&data).await;
    check_at_rest(&data, &ledger).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_notices_lost_content() {
    let wrong = control(async |data| {
        for partition in std::fs::read_dir(data.join("partitions")).unwrap() {
            for file in std::fs::read_dir(partition.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "log") {
                    lose_the_second_half(&path);
                }
            }
        }
    });
    assert!(!wrong.await.is_empty());
}

/// As if it had never reached the disk.
fn lose_the_second_half(path: &Path) {
    use std::os::unix::fs::FileExt;
    let bytes = std::fs::read(path).unwrap();
    let written = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let half = written / 2;
    file.write_all_at(&vec![0; written + 1 - half], half as u64).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_notices_lost_names() {
    let wrong = control(async |data| {
        std::fs::remove_file(data.join("names/names.redb")).unwrap();
    });
    let wrong = wrong.await;
    assert!(wrong.iter().any(|wrong| wrong.contains("it may be")), "{wrong:?}");
    assert!(wrong.iter().any(|wrong| wrong.contains("has no name")), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_notices_a_blob_without_a_name() {
    let wrong = control(async |data| {
        let mut process = Process::start(data, &ARGUMENTS);
        crate::common::put(&process.client(), &content(1, 100)).await;
        let head = PutHead::default();
        let long = afterbay_blob_router::source(content(2, 40_000));
        process.client().put(head, long).await.unwrap();
        process.terminate();
        process.child.wait().unwrap();
    });
    let wrong = wrong.await;
    // One record, and a list with three chunks.
    assert_eq!(wrong.len(), 5, "{wrong:?}");
    assert!(wrong.iter().all(|wrong| wrong.contains("alive and has no name")), "{wrong:?}");
}
