//! How long it takes to open a file of many names after its process was killed. Not run by itself:
//! `cargo test -p afterbay-blob-meta --test all open_time -- --ignored --nocapture`; `AFTERBAY_NAMES=1000000` is the default.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::time::Instant;

use afterbay_blob_format::PartitionId;
use afterbay_blob_meta::{
    Attributes, Bucket, Command, Condition, Names, ObjectEntry, RedbNames, RedbOptions,
    Reservations, blob_to_bytes, now_ms,
};

const FILE: &str = "AFTERBAY_NAMES_FILE";
const ROUND: u64 = 1000;

fn wanted() -> u64 {
    std::env::var("AFTERBAY_NAMES").map_or(1_000_000, |count| count.parse().unwrap())
}

async fn put(names: Arc<RedbNames>, ids: Reservations, number: u64) {
    let blob = ids.take(PartitionId(number % 2)).await.unwrap();
    let attributes = Attributes {
        headers: [("content-type".to_owned(), "application/octet-stream".to_owned())].into(),
        ..Attributes::default()
    };
    let entry = ObjectEntry {
        blob: blob_to_bytes(blob).to_vec(),
        length: number,
        etag: format!("{number:032x}"),
        modified_ms: now_ms(),
        attributes: Some(attributes),
        owner: "somebody".to_owned(),
        ..ObjectEntry::default()
    };
    // Scattered, as keys of many writers are.
    let key = format!("data/{:016x}/{number}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let (bucket, condition) = ("bucket".to_owned(), Condition::default());
    names.apply(Command::PutObject { bucket, key, entry, condition }).await.unwrap();
}

/// Writes names until it is killed, and says when there are enough.
async fn fill(path: &Path) {
    let names = Arc::new(RedbNames::open(path, &RedbOptions::default()).unwrap());
    let bucket = Bucket { owner: "somebody".to_owned(), ..Bucket::default() };
    names.apply(Command::CreateBucket { name: "bucket".to_owned(), bucket }).await.unwrap();
    let ids = Reservations::begin(names.clone(), "f").await.unwrap();
    for round in 0.. {
        let puts: Vec<_> = (round * ROUND..(round + 1) * ROUND)
            .map(|number| tokio::spawn(put(names.clone(), ids.clone(), number)))
            .collect();
        for put in puts {
            put.await.unwrap();
        }
        if round * ROUND >= wanted() {
            println!("enough");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn opens_after_a_kill() {
    if let Ok(path) = std::env::var(FILE) {
        return fill(Path::new(&path)).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("names.redb");
    let mut child = Process::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--nocapture", "opens_after_a_kill"])
        .env(FILE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("enough")), "it ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
    let open = |what: &str| {
        let began = Instant::now();
        let names = RedbNames::open(&path, &RedbOptions::default()).unwrap();
        println!("{what}: {:.3} s", began.elapsed().as_secs_f64());
        names
    };
    let names = open("after a kill");
    let objects = names.counts().await.unwrap().objects;
    assert!(objects >= wanted(), "{objects}");
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!("{objects} objects in {bytes} bytes, {} each", bytes / objects);
    drop(names);
    drop(open("after it was closed"));
}
