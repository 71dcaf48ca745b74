//! `blob scrub` of a cluster of three real processes: bytes are turned in the files of each node, others on each, and it ends with 0
//! when all is whole again. Whether that is so is counted here without the program, in the bytes of the files.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use afterbay_blob_client::PutHead;
use afterbay_blob_router::source;
use afterbay_test_form::Wait;
use bytes::Bytes;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::http;
use crate::common::{Process, content, program};

const BLOBS: u64 = 30;
const LENGTH: usize = 5000;
const AT_ONCE: [&str; 2] = ["--rate", "1GiB"];

/// Each cluster of this process has ports of its own.
static CLUSTERS: AtomicU16 = AtomicU16::new(0);

pub(crate) struct Three {
    pub(crate) folder: TempDir,
    pub(crate) nodes: BTreeMap<u32, Process>,
}

impl Three {
    /// None of its nodes runs. All of 127.0.0.0/8 is this machine; others of this process's clusters are below 128.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        let host = format!("127.{}.{}.{}", 128 + (pid >> 16) % 64, (pid >> 8) % 256, pid % 256);
        let port = 20_000 + 10 * CLUSTERS.fetch_add(1, Ordering::Relaxed);
        let made = program()
            .args(["cluster", "init", "c", "--nodes", "3", "--partitions", "2", "--host", &host])
            .args(["--port", &port.to_string()])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Three { folder, nodes: BTreeMap::new() }
    }

    /// All three, with blobs on each of them.
    async fn filled(more: &[&str]) -> Self {
        let mut three = Three::new();
        (1..=3).for_each(|node| three.start(node, more));
        three.until_whole();
        let client = three.nodes[&1].client();
        for number in 1..=BLOBS {
            client.put(PutHead::default(), source(content(number, LENGTH))).await.unwrap();
        }
        three.until_whole();
        three
    }

    fn map(&self) -> PathBuf {
        self.folder.path().join("c/map.toml")
    }

    pub(crate) fn start(&mut self, node: u32, more: &[&str]) {
        let mut command = program();
        let log = self.folder.path().join(format!("n{node}.log"));
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        command
            .args(["serve", "--node", &format!("n{node}"), "--cluster"])
            .arg(self.map())
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .args(["--partition-size", "64MiB", "--segment-size", "1MiB", "--chunk-size", "64KiB"])
            .args(more)
            .env("RUST_LOG", "info")
            .stderr(log);
        let process = Process::wait(&self.folder.path().join("c"), &mut command);
        self.nodes.insert(node, process);
    }

    pub(crate) fn kill(&mut self, node: u32) {
        let mut process = self.nodes.remove(&node).unwrap();
        process.child.kill().unwrap();
        process.child.wait().unwrap();
    }

    fn status(&self) -> (Option<i32>, Value) {
        let mut status = program();
        status.args(["cluster", "status", "--json", "--cluster"]).arg(self.map());
        let output = status.output().unwrap();
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
    }

    pub(crate) fn until_whole(&self) {
        Wait::block("all replicas are whole", || self.status().0 == Some(0));
    }

    /// Of all nodes.
    fn scrub(&self, more: &[&str]) -> (Output, Value) {
        let mut command = program();
        command.args(["scrub", "--json", "--cluster"]).arg(self.map()).args(more);
        said(command.output().unwrap())
    }

    /// Of one node, by its address for clients.
    fn scrub_one(&self, node: u32, arguments: &[&str]) -> (Output, Value) {
        let mut command = program();
        let server = &self.nodes[&node].address;
        command.args(["scrub", "--json", "--server", server, "--key-file"]);
        command.arg(self.folder.path().join("c/root-key")).args(arguments);
        said(command.output().unwrap())
    }

    fn scrub_one_refused(&self, node: u32, arguments: &[&str]) -> String {
        let mut command = program();
        command.args(["scrub", "--server", &self.nodes[&node].address, "--key-file"]);
        command.arg(self.folder.path().join("c/root-key")).args(arguments);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        error_of(&output)
    }

    /// The logs of a node.
    fn logs(&self, node: u32) -> Vec<PathBuf> {
        let entries = |path: &Path| -> Vec<PathBuf> {
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        let partitions = entries(&self.folder.path().join(format!("c/n{node}/partitions")));
        let all = partitions.iter().flat_map(|partition| entries(partition));
        all.filter(|path| path.extension().is_some_and(|ending| ending == "log")).collect()
    }

    /// Where a node has the bytes of blobs, as they were put.
    fn places(&self, node: u32) -> BTreeMap<u64, Vec<(PathBuf, u64)>> {
        let begin = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
        let contents = (1..=BLOBS).map(|number| (number, content(number, LENGTH)));
        let contents: HashMap<u64, (u64, Bytes)> =
            contents.map(|(number, bytes)| (begin(&bytes), (number, bytes))).collect();
        assert_eq!(contents.len() as u64, BLOBS, "their first bytes tell them apart");
        let mut places: BTreeMap<u64, Vec<(PathBuf, u64)>> = BTreeMap::new();
        for log in self.logs(node) {
            let stored = fs::read(&log).unwrap();
            for at in 0..=stored.len().saturating_sub(LENGTH) {
                let Some((number, bytes)) = contents.get(&begin(&stored[at..])) else { continue };
                if stored[at..at + LENGTH] == bytes[..] {
                    places.entry(*number).or_default().push((log.clone(), at as u64));
                }
            }
        }
        places
    }

    /// Blobs that a node has as they were put.
    fn whole(&self, node: u32) -> u64 {
        self.places(node).len() as u64
    }

    /// Turns a byte of each of these blobs in the files of a node.
    fn damage(&self, node: u32, numbers: impl Iterator<Item = u64>) {
        let places = self.places(node);
        for number in numbers {
            let [(log, at)] = &places[&number][..] else {
                panic!("n{node} has {number} at {:?}", places[&number])
            };
            let file = fs::OpenOptions::new().read(true).write(true).open(log).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, at + 1234).unwrap();
            file.write_all_at(&[!byte[0]], at + 1234).unwrap();
        }
    }
}

fn said(output: Output) -> (Output, Value) {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {error}"));
    (output, value)
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn other_records_of_each_node_are_damaged_and_all_are_repaired() {
    let mut three = Three::filled(&["--scrub-interval", "never"]).await;
    for node in 1..=3 {
        assert_eq!(three.whole(node), BLOBS, "n{node}");
        three.damage(node, (u64::from(node)..=BLOBS).step_by(3));
        assert_eq!(three.whole(node), BLOBS - 10, "n{node}");
    }
    let (output, report) = three.scrub(&AT_ONCE);
    assert_eq!((output.status.code(), &report["whole"]), (Some(0), &true.into()), "{report}");
    let nodes = report["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3, "{report}");
    for node in nodes {
        let repair = &node["report"]["repair"];
        assert_eq!(
            (&repair["damaged_blobs"], &repair["left_blobs"]),
            (&10.into(), &0.into()),
            "{node}"
        );
        assert_eq!(
            (&repair["repaired_blobs"], &node["whole"]),
            (&10.into(), &true.into()),
            "{node}"
        );
        assert_eq!(node["report"]["found"]["live"], 10, "{node}");
        assert!(
            node["report"]["verified_bytes"].as_u64().unwrap() > BLOBS * LENGTH as u64,
            "{node}"
        );
    }
    (1..=3).for_each(|node| assert_eq!(three.whole(node), BLOBS, "n{node}, while it runs"));
    (1..=3).for_each(|node| three.kill(node));
    (1..=3).for_each(|node| assert_eq!(three.whole(node), BLOBS, "n{node}"));

    // With nobody who has it, nothing is repaired, and nobody says so.
    three.start(1, &["--scrub-interval", "never"]);
    Wait::block("n1 has its replicas", || three.scrub_one(1, &AT_ONCE).0.status.success());
    three.damage(1, 1..=3);
    let (output, report) = three.scrub_one(1, &AT_ONCE);
    assert_eq!(output.status.code(), Some(1), "{report}");
    let said = error_of(&output);
    assert!(said.contains("3 damaged blobs could not be repaired"), "{said}");
    let repair = &report["repair"];
    assert_eq!((&repair["damaged_blobs"], &repair["repaired_blobs"]), (&3.into(), &0.into()));
    assert_eq!(three.whole(1), BLOBS - 3);
    let (output, report) = three.scrub(&AT_ONCE);
    assert_eq!((output.status.code(), &report["whole"]), (Some(1), &false.into()), "{report}");
    assert!(error_of(&output).contains("node n2 could not be scrubbed"), "{}", error_of(&output));
    (2..=3).for_each(|node| three.start(node, &["--scrub-interval", "never"]));
    three.until_whole();
    assert_eq!(three.whole(1), BLOBS, "fetched by itself when others are back");
    assert_eq!(three.scrub(&AT_ONCE).0.status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_asked_for_at_a_time_and_can_be_stopped() {
    let mut three = Three::filled(&[]).await;
    let (_, never) = three.scrub_one(1, &["--status"]);
    assert_eq!(never["state"], "never");
    let refused = three.scrub_one_refused(1, &["--partition", "9"]);
    assert!(refused.contains("has no replica on this node"), "{refused}");
    // A byte a second takes hours.
    let (_, first) = three.scrub_one(1, &["--rate", "1", "--background"]);
    assert_eq!((&first["state"], &first["joined"]), (&"running".into(), &false.into()));
    let (_, second) = three.scrub_one(1, &[&AT_ONCE[..], &["--background"]].concat());
    assert_eq!((&second["joined"], &second["bytes_per_s"]), (&true.into(), &1.into()));
    let (output, stopped) = three.scrub_one(1, &["--stop"]);
    assert!(output.status.success() && stopped["state"] == "stopped", "{stopped}");
    assert_eq!(three.scrub_one(1, &["--status"]).0.status.code(), Some(1));
    // Those that have the partition, and of them that alone.
    let (output, one) = three.scrub(&[&AT_ONCE[..], &["--partition", "2"]].concat());
    assert!(output.status.success(), "{one}");
    let nodes = one["nodes"].as_array().unwrap();
    assert!(
        nodes.len() == 3 && nodes.iter().all(|n| n["report"]["repair"]["replicas"] == 1),
        "{one}"
    );
    let (_, running) = three.scrub(&["--rate", "1", "--background"]);
    assert!(running["nodes"].as_array().unwrap().iter().all(|n| n["report"]["state"] == "running"));
    let (output, stopped) = three.scrub(&["--stop"]);
    assert!(output.status.success(), "{stopped}");
    assert!(stopped["nodes"].as_array().unwrap().iter().all(|n| n["report"]["state"] == "stopped"));
    assert_eq!(stopped["whole"], false);
    // Who is told to end does not wait for its scrub.
    three.scrub_one(3, &["--rate", "1", "--background"]);
    let mut process = three.nodes.remove(&3).unwrap();
    process.terminate();
    assert!(process.child.wait().unwrap().success());
    let (output, _) = three.scrub(&["--stop"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_of(&output).contains("node n3 was not told to stop"), "{}", error_of(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_verified_by_itself_is_known_after_a_restart() {
    let mut three = Three::filled(&["--scrub-interval", "2s"]).await;
    // Nothing if one of them was not, or if n1 was too slow to answer.
    let verified = |three: &Three| -> Option<Vec<u64>> {
        let status = three.status().1;
        let replicas = status["nodes"][0]["replicas"].as_array()?.clone();
        let all: Vec<_> = replicas
            .iter()
            .map(|replica| replica["scrub"]["verified_ms"].as_u64())
            .collect::<Option<_>>()?;
        (all.len() == 2).then_some(all)
    };
    Wait::block("all replicas were verified by themselves", || verified(&three).is_some());
    three.damage(1, 1..=1);
    Wait::block("what is damaged is repaired without being asked for", || three.whole(1) == BLOBS);
    three.kill(1);
    let killed_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    three.start(1, &[]);
    let mut known = None;
    Wait::block("it is known when they were", || {
        known = verified(&three);
        known.is_some()
    });
    assert!(known.iter().flatten().all(|ms| *ms <= killed_ms), "{known:?}, {killed_ms}");
    let metrics = http(three.nodes[&1].admin.as_deref().unwrap());
    let value = |series: &str| {
        let line = metrics.lines().find(|line| line.starts_with(series));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
    };
    let first = value("afterbay_blob_cluster_scrub_verified_seconds ");
    assert!(first.is_some_and(|first| first > 1.7e9), "{metrics}");
    let (output, _) = three.scrub_one(1, &AT_ONCE);
    assert!(output.status.success());
    let metrics = http(three.nodes[&1].admin.as_deref().unwrap());
    let read = metrics.lines().any(|line| {
        let bytes = line.strip_prefix("afterbay_blob_cluster_scrubbed_bytes_total ");
        bytes.is_some_and(|bytes| bytes.parse::<u64>().unwrap() > BLOBS * LENGTH as u64)
    });
    assert!(read, "{metrics}");
}

/// A node reads one replica at a time, and may take a week for it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_for_does_not_wait_for_what_is_read_by_itself() {
    let three = Three::filled(&["--scrub-interval", "2s", "--scrub-rate", "1"]).await;
    let reads = || {
        let status = three.status().1;
        // Nothing is there if n1 was too slow to answer.
        status["nodes"][0]["replicas"].as_array().is_some_and(|replicas| {
            replicas.len() == 2 && replicas.iter().all(|r| r["scrub"]["step"] == "reading")
        })
    };
    // One of them is being read, and the other one waits for its turn.
    for partition in ["1", "2"] {
        Wait::block("both are due", reads);
        let asked = [&AT_ONCE[..], &["--background", "--partition", partition]].concat();
        let (output, begun) = three.scrub_one(1, &asked);
        assert!(output.status.success() && begun["joined"] == false, "{begun}");
        let is_done = || three.scrub_one(1, &["--status"]).1["state"] == "completed";
        Wait::block("what is asked for has been read", is_done);
    }
}
