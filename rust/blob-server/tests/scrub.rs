//! Scrubs of a server that runs: what they find, who may start them, and how they end.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_router::{BlobId, ChunkStore, Durability, Put};
use afterbay_blob_server::node::{Datanode, NodeOptions, ScrubReport, ScrubState, Volume};
use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_test_form::Wait;
use bytes::Bytes;
use serde_json::Value;

use crate::cli::http;
use crate::common::shell::Shell;
use crate::common::{Process, SimVolume, content, program};

const ROOT: &str = "data/root-key";
/// Longer than what is read when a blob is opened: it can be deleted.
const LENGTH: usize = 40_000;

/// Small segments, so that some are sealed. Upkeep does not read what a test damages.
fn start() -> Shell {
    let directory = tempfile::tempdir().unwrap();
    let arguments = [
        ["--partition-size", "8MiB"],
        ["--segment-size", "256KiB"],
        ["--chunk-size", "64KiB"],
        ["--compact-interval", "1d"],
    ];
    let process = Process::start(&directory.path().join("data"), arguments.as_flattened());
    Shell { directory, process }
}

fn fill(shell: &Shell, count: u64) -> BTreeMap<u64, String> {
    let put = |number| {
        std::fs::write(shell.path("file"), content(number, LENGTH)).unwrap();
        (number, shell.root(&["put", "file", "--no-name"]).trim().to_owned())
    };
    (0..count).map(put).collect()
}

fn scrub(shell: &Shell, arguments: &[&str]) -> (Output, Value) {
    let output = shell.run_as(ROOT, &[&["scrub", "--json"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.clone(), serde_json::from_slice(&output.stdout).expect(&said))
}

/// All files of partitions with this ending.
fn files(shell: &Shell, ending: &str) -> Vec<PathBuf> {
    let entries = |path: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let partitions = entries(&shell.path("data/partitions"));
    let all = partitions.iter().flat_map(|partition| entries(partition));
    all.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// Where these bytes are.
fn find(shell: &Shell, bytes: &Bytes) -> (PathBuf, u64) {
    let mut logs = files(shell, "log").into_iter();
    let place = |log: PathBuf| {
        let stored = std::fs::read(&log).unwrap();
        let mut windows = stored.windows(bytes.len());
        windows.position(|window| window == bytes).map(|at| (log, at as u64))
    };
    logs.find_map(place).unwrap()
}

fn turn_byte(path: &Path, offset: u64) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[!byte[0]], offset).unwrap();
}

#[test]
fn damage_on_the_disk_is_found_before_a_reader_finds_it() {
    let shell = start();
    let ids = fill(&shell, 40);
    let (output, clean) = scrub(&shell, &["--rate", "1GiB"]);
    assert!(output.status.success() && clean["findings"] == Value::Array(Vec::new()), "{clean}");
    assert_eq!(clean["state"], "completed");
    assert_eq!(clean["verified_bytes"], clean["total_bytes"]);
    assert!(clean["verified_bytes"].as_u64().unwrap() > 40 * LENGTH as u64, "{clean}");

    let (log, body) = find(&shell, &content(7, LENGTH));
    turn_byte(&log, body + 5000);
    let index = files(&shell, "index").remove(0);
    turn_byte(&index, 4096 + 100);
    let (output, found) = scrub(&shell, &["--rate", "1GiB"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("damaged places: 2; 1 of them in blobs that can be read"), "{said}");
    let findings: BTreeMap<_, _> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["harm"].as_str().unwrap(), finding))
        .collect();
    assert_eq!((findings.len(), found["findings"].as_array().unwrap().len()), (2, 2), "{found}");
    let live = findings["live"];
    assert_eq!(live["file"], log.to_str().unwrap());
    assert_eq!(
        (live["offset"].as_u64(), live["length"].as_u64()),
        (Some(body), Some(LENGTH as u64))
    );
    assert_eq!((&live["flaw"], &live["blob"]), (&"damaged".into(), &ids[&7].as_str().into()));
    let spare = findings["spare"];
    assert_eq!((&spare["file"], &spare["offset"]), (&index.to_str().unwrap().into(), &4096.into()));

    for (number, id) in &ids {
        let got = shell.run_as(ROOT, &["get", id, "-"]);
        assert_eq!(got.status.success(), *number != 7, "{number}");
        assert!(*number == 7 || got.stdout == content(*number, LENGTH), "{number}");
    }
    shows(&shell, &ids[&7]);
    // Who deletes it has dealt with it.
    shell.root(&["delete", &ids[&7]]);
    let (output, found) = scrub(&shell, &["--rate", "1GiB"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!((&found["found"]["live"], &found["found"]["garbage"]), (&0.into(), &1.into()));
}

/// For people and for monitoring.
fn shows(shell: &Shell, id: &str) {
    let status = shell.run_as(ROOT, &["scrub", "--status"]);
    assert_eq!(status.status.code(), Some(1));
    let text = String::from_utf8(status.stdout).unwrap();
    assert!(text.contains("completed") && text.contains(id), "{text}");
    let metrics = http(shell.process.admin.as_deref().unwrap());
    let value = |series: &str| {
        let line = metrics.lines().find(|line| line.starts_with(series));
        let value = line.and_then(|line| line.rsplit(' ').next()).unwrap_or("none");
        value.parse::<f64>().unwrap_or_else(|_| panic!("{series} {value}: {metrics}"))
    };
    let place = shell.path("data");
    let place = place.display();
    let live = format!(
        "afterbay_blob_scrub_findings{{disk=\"{place}\",flaw=\"damaged\",harm=\"live\"}} 1"
    );
    assert!(metrics.contains(&live), "{live}: {metrics}");
    assert!(value("afterbay_blob_scrubbed_bytes_total{disk=") > 80.0 * LENGTH as f64);
    assert!(value("afterbay_blob_scrub_last_completed_seconds") > 1.7e9);
}

#[test]
fn the_root_key_starts_one_at_a_time_and_stops_it() {
    let shell = start();
    let ids = fill(&shell, 1);
    let none = shell.root(&["scrub", "--status"]);
    assert!(none.contains("no scrub since the start"), "{none}");
    assert!(shell.refused(1, ROOT, &["scrub", "--stop"]).contains("no scrub runs"));
    assert!(shell.refused(1, ROOT, &["scrub", "--rate", "0"]).contains("give 1 or more"));
    shell.root(&["key", "create", "ann", "--create-buckets", "--out", "ann.key"]);
    for arguments in [&["scrub"][..], &["scrub", "--status"], &["scrub", "--stop"]] {
        let refused = shell.refused(1, "ann.key", arguments);
        assert!(refused.contains("scrub needs the root key"), "{refused}");
    }
    // A byte a second takes hours.
    let (_, first) = scrub(&shell, &["--rate", "1", "--background"]);
    assert_eq!((&first["state"], &first["joined"]), (&"running".into(), &false.into()));
    let (output, second) = scrub(&shell, &["--rate", "1GiB", "--background"]);
    assert!(output.status.success());
    assert_eq!((&second["joined"], &second["bytes_per_s"]), (&true.into(), &1.into()));
    assert_eq!(second["began_ms"], first["began_ms"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("a scrub runs already, since"));
    assert!(shell.root(&["scrub", "--status"]).contains("runs"));
    assert!(shell.root(&["scrub", "--stop"]).contains("stopped"));
    let (output, stopped) = scrub(&shell, &["--status"]);
    assert_eq!((output.status.code(), &stopped["state"]), (Some(1), &"stopped".into()));
    let (output, third) = scrub(&shell, &["--rate", "1GiB"]);
    assert!(output.status.success() && third["state"] == "completed", "{third}");
    // The end of one partition's says nothing of the others.
    let partition = &ids[&0][..16];
    let alone = ["--partition", partition, "--rate", "1", "--background"];
    scrub(&shell, &alone);
    let refused = shell.refused(1, ROOT, &["scrub"]);
    assert!(refused.contains(&format!("a scrub of partition {partition} alone runs")), "{refused}");
    assert_eq!(scrub(&shell, &alone).1["joined"], true);
    assert!(shell.root(&["scrub", "--stop"]).contains("stopped"));
}

#[test]
fn a_server_that_is_told_to_end_does_not_wait_for_its_scrub() {
    let mut shell = start();
    fill(&shell, 1);
    scrub(&shell, &["--rate", "1", "--background"]);
    shell.process.terminate();
    assert!(shell.process.child.wait().unwrap().success());
}

#[test]
fn a_command_that_is_interrupted_leaves_the_scrub_running() {
    let shell = start();
    fill(&shell, 1);
    let mut command = program();
    command.args(["scrub", "--rate", "1"]).env("AFTERBAY_BLOB_SERVER", &shell.process.address);
    command.env("AFTERBAY_BLOB_KEY_FILE", shell.path(ROOT)).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let runs = || shell.root(&["scrub", "--status"]).contains("runs");
    Wait::block("the scrub runs", runs);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted; the scrub goes on in the server") && runs(), "{said}");
}

fn node(volume: &Arc<SimVolume>) -> Datanode {
    let options = NodeOptions {
        partition_bytes: Some(1 << 20),
        segment_bytes: Some(128 << 10),
        writable_partitions: 1,
        reserve_bytes: 0,
        ..NodeOptions::default()
    };
    Datanode::open(vec![volume.clone() as Arc<dyn Volume>], &options).unwrap()
}

async fn put(node: &Datanode, number: u64) -> Option<BlobId> {
    let id = node.place(LENGTH as u64, &[]).await.ok()?;
    let put = node.put(Put::new(id, content(number, LENGTH)), Durability::Durable).await;
    put.ok().map(|()| id)
}

fn scrubbed(node: &Datanode) -> ScrubReport {
    node.start_scrub(1 << 30, None).unwrap();
    Wait::block("the scrub has ended", || !node.scrub_report().is_running());
    node.scrub_report()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_told_from_what_is_damaged() {
    let volume = SimVolume::new(1 << 30, Duration::ZERO);
    let node = node(&volume);
    let id = put(&node, 1).await.unwrap();
    let log = "0000000000000001.log";
    volume.each(|disk| disk.fail_reads(log, 5000..5001));
    let report = scrubbed(&node);
    assert_eq!((report.state, report.unfinished.len()), (ScrubState::Completed, 0));
    assert_eq!((report.found.live, report.found.unreadable), (1, 1));
    let finding = &report.findings[0];
    let place = format!("simulated disk/partitions/{}/{log}", id.partition);
    assert_eq!((&finding.file, finding.flaw.as_str()), (&place, "unreadable"));
    assert_eq!(finding.blob, Some(id.to_string()));
    volume.each(SimDisk::heal_reads);
    assert_eq!(scrubbed(&node).found.all(), 0);
    node.shut_down();
    assert!(node.start_scrub(1, None).unwrap_err().to_string().contains("shutting down"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_verified_is_named() {
    let volume = SimVolume::new(1 << 30, Duration::ZERO);
    let node = node(&volume);
    let id = put(&node, 1).await.unwrap();
    // Else it is opened again.
    volume.takes_writes.store(false, std::sync::atomic::Ordering::Relaxed);
    volume.each(|disk| disk.fail_after(0, Fault::Eio));
    while put(&node, 2).await.is_some() {}
    let report = scrubbed(&node);
    assert_eq!(report.state, ScrubState::Completed);
    let named = report
        .unfinished
        .iter()
        .any(|what| what.starts_with(&format!("partition {} on simulated disk: ", id.partition)));
    assert!(named, "{report:?}");
    node.shut_down();
}
