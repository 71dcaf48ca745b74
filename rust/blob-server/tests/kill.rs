//! The real program is killed with -9 while it puts, deletes, compacts, rolls segments and shuts down. Every blob whose put
//! was acknowledged at `durable` is there, byte for byte, until a delete of it was asked for; one whose delete was
//! acknowledged is gone. 50 cycles; 1,000 with `AFTERBAY_LONG=true`.
//!
//! A blob whose put was not acknowledged has no id that anybody knows; that it is whole or absent is tested where ids are
//! chosen, in `blob-store/tests`. The control damages a log and must be noticed.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use afterbay_blob_client::{Client, Code};
use afterbay_blob_router::BlobId;
use bytes::Bytes;
use common::{Process, content};
use tokio::sync::Mutex;

/// Small segments, so that they are rolled and compacted all the time; chunks that are smaller than the larger blobs.
const ARGUMENTS: [&str; 19] = [
    "--no-names",
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
    "--drain-timeout",
    "2s",
];
const WORKERS: u64 = 6;

fn cycles() -> u64 {
    if std::env::var("AFTERBAY_LONG").is_ok_and(|long| long == "true") { 1000 } else { 50 }
}

/// What was said about a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Stored,
    /// A delete was asked for, and not answered.
    Deletes,
    Deleted,
}

#[derive(Debug, Default)]
struct Ledger {
    blobs: Mutex<BTreeMap<BlobId, (u64, Said)>>,
    numbers: AtomicU64,
}

fn blob(number: u64) -> Bytes {
    // Most are one record, some have chunks.
    let length =
        if number.is_multiple_of(7) { 40_000 + number % 9000 } else { number * 997 % 9000 };
    content(number, length as usize)
}

/// Puts and deletes until the server is gone.
async fn work(ledger: Arc<Ledger>, client: Client, worker: u64) {
    let mut mine: Vec<BlobId> = Vec::new();
    loop {
        let number = ledger.numbers.fetch_add(1, Ordering::Relaxed);
        let head = afterbay_blob_client::PutHead::default();
        let Ok(put) = client.put(head, afterbay_blob_router::source(blob(number))).await else {
            return;
        };
        ledger.blobs.lock().await.insert(put.id, (number, Said::Stored));
        mine.push(put.id);
        if (number + worker).is_multiple_of(3) {
            continue;
        }
        // All but a few go again, so that there is something to compact.
        let old = mine.swap_remove((number % mine.len() as u64) as usize);
        let say = async |said| {
            ledger.blobs.lock().await.entry(old).and_modify(|entry| entry.1 = said);
        };
        say(Said::Deletes).await;
        if client.delete(old).await.is_err() {
            return;
        }
        say(Said::Deleted).await;
    }
}

/// What is wrong; of all blobs, or of every `step`-th.
async fn check(ledger: &Ledger, client: &Client, step: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    for (id, (number, said)) in ledger.blobs.lock().await.iter() {
        if !number.is_multiple_of(step) {
            continue;
        }
        let found = match client.get(*id, None).await {
            Ok(got) => got.content.read_all().await,
            Err(error) => Err(error),
        };
        let gone = |code| [Some(Code::NotFound), Some(Code::Deleted)].contains(&code);
        let right = match (said, &found) {
            (Said::Stored | Said::Deletes, Ok(content)) => *content == blob(*number),
            (Said::Deletes | Said::Deleted, Err(error)) => gone(error.code()),
            _ => false,
        };
        if !right {
            let found = found.map(|content| content.len());
            wrong
                .push(format!("blob {id}, number {number}, of which {said:?} was said: {found:?}"));
        }
    }
    wrong
}

/// Runs a cycle: the server is killed in the middle of work, in every fifth one while it shuts down.
async fn cycle(data: &Path, ledger: &Arc<Ledger>, number: u64) {
    let mut process = Process::start(data, &ARGUMENTS);
    let client = process.client();
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| tokio::spawn(work(ledger.clone(), client.clone(), worker)))
        .collect();
    tokio::time::sleep(Duration::from_millis(60 + number * 37 % 140)).await;
    if number % 5 == 4 {
        process.terminate();
        tokio::time::sleep(Duration::from_millis(number % 7)).await;
    }
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    for worker in workers {
        worker.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_each_kill() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let ledger = Arc::new(Ledger::default());
    let mut damaged = 0;
    for number in 0..cycles() {
        cycle(&data, &ledger, number).await;
        let process = Process::start(&data, &ARGUMENTS);
        let client = process.client();
        let step = if number + 1 == cycles() { 1 } else { 13 };
        assert_eq!(check(&ledger, &client, step).await, Vec::<String>::new(), "cycle {number}");
        let status: afterbay_blob_server::Report =
            serde_json::from_slice(&client.status().await.unwrap()).unwrap();
        let partitions = status.node.disks.iter().flat_map(|disk| &disk.partitions);
        damaged += partitions.map(|p| p.damaged_ranges).sum::<u64>();
    }
    assert_eq!(damaged, 0);
    let blobs = ledger.blobs.lock().await;
    let count = |wanted| blobs.values().filter(|(_, said)| *said == wanted).count();
    let (stored, deleted) = (count(Said::Stored), count(Said::Deleted));
    println!("{} cycles: {stored} blobs stored, {deleted} deleted", cycles());
    assert!(stored > 500 && deleted > 500, "{stored}, {deleted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_notices_what_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let ledger = Arc::new(Ledger::default());
    cycle(&data, &ledger, 1).await;
    for partition in std::fs::read_dir(data.join("partitions")).unwrap() {
        for file in std::fs::read_dir(partition.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "log") {
                lose_the_second_half(&path);
            }
        }
    }
    let process = Process::start(&data, &ARGUMENTS);
    assert!(!check(&ledger, &process.client(), 1).await.is_empty());
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
