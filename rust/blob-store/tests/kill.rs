//! A process that is killed with -9 while it writes, seals and compacts on a real file system. What it said is stored, is.
//! As often as `afterbay_test_form::kill_cycles` says.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use afterbay_blob_format::Manifest;
use afterbay_blob_store::{
    BlobId, CompactionOptions, Durability, Error, Options, Partition, Put, RealDirectory,
    SystemClock, Unpaced,
};
use afterbay_test_form::kill_cycles;
use uuid::Uuid;

use crate::common::PARTITION;

const DIRECTORY: &str = "AFTERBAY_KILL_DIRECTORY";

fn options() -> Options {
    Options {
        capacity_bytes: 1 << 30,
        segment_bytes: 256 << 10,
        segment_records_max: 100,
        ..Options::default()
    }
}

fn open(path: &Path) -> Partition {
    let directory = RealDirectory::open(path).unwrap();
    Partition::open(Arc::new(directory), options(), Arc::new(SystemClock)).unwrap()
}

fn id(number: u64) -> BlobId {
    BlobId { partition: PARTITION, uuid: Uuid::from_u128(u128::from(number) << 64 | 1) }
}

fn body(number: u64) -> Vec<u8> {
    let length = (number * 7919) % 12_000;
    (0..length).map(|i| (number + i / 7) as u8).collect()
}

/// Not a test of its own: the process that is killed. It says what it begins and what it has done.
#[test]
fn child() {
    let Some(path) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let partition = open(Path::new(&path));
    let say = |text: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").unwrap();
        out.flush().unwrap();
    };
    let first = partition.status().next_sequence;
    let compaction = CompactionOptions {
        deleted_before_ms: u64::MAX,
        expired_before_ms: u64::MAX,
        tombstones_before_sequence: 0,
        garbage_percent_min: 10,
        lost_is_repaired: false,
    };
    for number in first.. {
        say(format!("puts {number}"));
        partition.put(Put::new(id(number), body(number)), Durability::Durable).unwrap();
        say(format!("put {number}"));
        if number % 3 == 0 && number > first + 2 {
            say(format!("deletes {}", number - 2));
            partition.delete(id(number - 2), Durability::Durable).unwrap();
            say(format!("deleted {}", number - 2));
        }
        if number % 20 == 0 {
            partition.compact(&compaction, &Unpaced).unwrap();
        }
    }
}

fn manifest(path: &Path) -> Manifest {
    Manifest::parse(&std::fs::read(path.join("MANIFEST")).unwrap()).unwrap()
}

fn spawn(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What was said last about each blob.
fn read_until_killed(
    child: &mut Child,
    lines_max: usize,
    said: &mut BTreeMap<u64, String>,
) -> usize {
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = 0;
    for line in out.lines() {
        let Ok(line) = line else { break };
        let Some((verb, number)) = line.split_once(' ') else {
            continue;
        };
        if let (true, Ok(number)) =
            (["puts", "put", "deletes", "deleted"].contains(&verb), number.parse())
        {
            said.insert(number, verb.to_owned());
            lines += 1;
        }
        if lines == lines_max {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    lines
}

/// So many of the newest blobs are looked at after each kill, and about as many of all others.
const NEWEST: u64 = 1000;

/// The newest, and of the others each `step`-th, in another cycle others.
fn check(partition: &Partition, said: &BTreeMap<u64, String>, step: u64, cycle: u64) {
    let newest = said.keys().last().map_or(0, |last| last.saturating_sub(NEWEST));
    let looked_at = said.iter().filter(|(number, _)| {
        **number > newest || number.is_multiple_of(step) || (**number + cycle).is_multiple_of(step)
    });
    for (number, verb) in looked_at {
        let found = partition.get(id(*number)).and_then(|reader| reader.read());
        let right = match (verb.as_str(), &found) {
            ("puts" | "put" | "deletes", Ok(stored)) => *stored == body(*number),
            ("puts", Err(Error::NotFound(_))) => true,
            ("deletes" | "deleted", Err(Error::Deleted(_))) => true,
            _ => false,
        };
        assert!(right, "blob {number}, of which '{verb}' was said last: {found:?}");
    }
}

#[test]
fn what_a_killed_process_said_is_stored_is() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("partition");
    let directory = RealDirectory::create(&path).unwrap();
    Partition::create(&directory, PARTITION, &options()).unwrap();
    drop(directory);
    let mut said = BTreeMap::new();
    let (mut sealed, mut compacted) = (BTreeSet::new(), BTreeSet::new());
    let cycles = kill_cycles();
    for cycle in 0..cycles {
        let mut child = spawn(&path);
        let lines_max = 10 + (cycle * 37 % 120) as usize;
        let lines = read_until_killed(&mut child, lines_max, &mut said);
        assert!(lines >= lines_max, "cycle {cycle}: it ended by itself after {lines} lines");
        let partition = open(&path);
        assert_eq!(partition.recovery().damaged, []);
        check(&partition, &said, (said.len() as u64 / NEWEST).max(1), cycle);
        for segment in manifest(&path).segments {
            let kind = if segment.compacted { &mut compacted } else { &mut sealed };
            kind.insert(segment.number);
        }
    }
    check(&open(&path), &said, 1, 0);
    let (puts, sealed, compacted) =
        (said.len() as u64, sealed.len() as u64, compacted.len() as u64);
    println!("{cycles} cycles, {puts} puts, {sealed} segments sealed, {compacted} compacted");
    assert!(puts > 10 * cycles, "{puts}");
    assert!(
        sealed > cycles / 2 && compacted > cycles / 4,
        "{sealed} sealed, {compacted} compacted"
    );
}
