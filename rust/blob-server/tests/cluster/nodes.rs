//! The nodes of a cluster as processes. They listen on an address of the loopback network that is this process's alone, so that one
//! which is started again finds its port free.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use afterbay_blob_client::Client;
use afterbay_test_form::Wait;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Process, program};

/// Small partitions, and chunks that are smaller than the larger blobs.
pub(super) const ARGUMENTS: [&str; 6] =
    ["--partition-size", "64MiB", "--segment-size", "1MiB", "--chunk-size", "64KiB"];

/// Each cluster of this process has ports of its own.
static CLUSTERS: AtomicU16 = AtomicU16::new(0);

/// All of 127.0.0.0/8 is this machine.
pub(crate) fn host() -> String {
    let pid = std::process::id();
    format!("127.{}.{}.{}", 64 + (pid >> 16) % 64, (pid >> 8) % 256, pid % 256)
}

/// Three nodes as processes, and their directory.
pub(super) struct Cluster {
    pub(super) folder: TempDir,
    pub(super) nodes: BTreeMap<u32, Process>,
}

impl Cluster {
    /// None of its nodes runs.
    pub(super) fn new() -> Self {
        Cluster::made(&[])
    }

    pub(super) fn made(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = 20_000 + 10 * CLUSTERS.fetch_add(1, Ordering::Relaxed);
        let made = program()
            .args(["cluster", "init", "c", "--nodes", "3", "--partitions", "3", "--host", &host()])
            .args(["--port", &port.to_string()])
            .args(more)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8(made.stdout).unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        for node in ["n1", "n2", "n3"] {
            let command = format!("./afterbay blob serve --cluster c/map.toml --node {node} ");
            assert!(text.contains(&command), "{text}");
        }
        Cluster { folder, nodes: BTreeMap::new() }
    }

    pub(super) async fn running() -> Self {
        let mut cluster = Cluster::new();
        cluster.start_all().await;
        cluster
    }

    pub(super) async fn start_all(&mut self) {
        (1..=3).for_each(|node| self.start(node));
        self.until_whole().await;
    }

    pub(super) fn directory(&self) -> PathBuf {
        self.folder.path().join("c")
    }

    pub(super) fn of(&self, node: u32) -> PathBuf {
        self.directory().join(format!("n{node}"))
    }

    pub(super) fn log(&self, node: u32) -> String {
        fs::read_to_string(self.folder.path().join(format!("n{node}.log"))).unwrap()
    }

    pub(super) fn command(&self, map: &Path, node: u32, more: &[&str]) -> std::process::Command {
        let mut command = program();
        let log = self.folder.path().join(format!("n{node}.log"));
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        command
            .args(["serve", "--node", &format!("n{node}"), "--cluster"])
            .arg(map)
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .args(ARGUMENTS)
            .args(more)
            .env("RUST_LOG", "info")
            .stderr(log);
        command
    }

    pub(super) fn start(&mut self, node: u32) {
        self.start_with(node, &[]);
    }

    pub(super) fn start_with(&mut self, node: u32, more: &[&str]) {
        let directory = self.directory();
        let mut command = self.command(&directory.join("map.toml"), node, more);
        self.nodes.insert(node, Process::wait(&directory, &mut command));
    }

    /// How a start ends that is refused.
    pub(super) fn refused(&self, map: &Path, node: u32, more: &[&str]) -> String {
        let mut command = self.command(map, node, more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // One that is not refused says that it is ready, and serves until it is killed.
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = said.map_while(Result::ok).any(|line| line == "ready");
        if ready {
            child.kill().unwrap();
        }
        let ended = child.wait_with_output().unwrap();
        assert!(!ready && ended.status.code() == Some(1), "{:?}", ended.status);
        String::from_utf8(ended.stderr).unwrap()
    }

    pub(super) fn kill(&mut self, node: u32) {
        let mut process = self.nodes.remove(&node).unwrap();
        process.child.kill().unwrap();
        process.child.wait().unwrap();
    }

    /// SIGTERM; it ends well.
    pub(super) async fn terminate(&mut self, node: u32) {
        let mut process = self.nodes.remove(&node).unwrap();
        process.terminate();
        let wait = Wait::until("the node has ended");
        let status = loop {
            if let Some(status) = process.child.try_wait().unwrap() {
                break status;
            }
            wait.check(self.log(node));
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_eq!(status.code(), Some(0), "{}", self.log(node));
    }

    pub(super) fn client(&self, node: u32) -> Client {
        self.nodes[&node].client()
    }

    pub(super) fn ask_status(&self, map: &Path, more: &[&str]) -> Output {
        program().args(["cluster", "status", "--cluster"]).arg(map).args(more).output().unwrap()
    }

    /// What it says by a map, and whether all is well. Of a node that is too slow to answer, there is nothing in it.
    fn status(&self, map: &Path) -> (bool, Value) {
        let output = self.ask_status(map, &["--json"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let status = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{error}"));
        match output.status.code() {
            Some(0) => (true, status),
            Some(1) => (false, status),
            other => panic!("{other:?}: {error}"),
        }
    }

    pub(super) async fn until_status(
        &self,
        what: &'static str,
        is: impl Fn(bool, &Value) -> bool,
    ) -> Value {
        self.until_status_by(&self.directory().join("map.toml"), what, is).await
    }

    /// By another map than that of the cluster.
    pub(super) async fn until_status_by(
        &self,
        map: &Path,
        what: &'static str,
        is: impl Fn(bool, &Value) -> bool,
    ) -> Value {
        let wait = Wait::until(what);
        loop {
            let (well, status) = self.status(map);
            if is(well, &status) {
                return status;
            }
            wait.check(&status);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// It is said who is away, and that something is missing there.
    pub(super) async fn until_away(&self, node: usize) {
        let missing =
            |status: &Value| status["nodes"][node - 1]["under_replicated_blobs"].as_u64() > Some(0);
        let away = serde_json::json!([format!("n{node}")]);
        let is =
            |well: bool, status: &Value| !well && missing(status) && status["unreachable"] == away;
        let status = self.until_status("it is said who is away, and what is missing", is).await;
        assert!(status["under_replicated_bytes"].as_u64() > Some(0));
    }

    /// All nodes answer, and nothing is missing anywhere.
    pub(super) async fn until_whole(&self) {
        let status = self.until_status("all replicas are whole", |well, _| well).await;
        for key in ["lag", "under_replicated_blobs", "under_replicated_bytes"] {
            assert_eq!(status[key], 0, "{key}: {status}");
        }
        assert_eq!(status["unreachable"], serde_json::json!([]));
    }
}
