//! A cluster of three real processes on this machine: puts, gets, deletes and undeletes by id through two of them, while the third one
//! is killed with -9, stopped, or frozen. No client may see an error, and what was acknowledged is on each of them in the end. Nodes
//! speak TLS to each other where nothing else is said.
//!
//! Nodes listen on an address of the loopback network that is this process's alone, so that one which is started again finds its port free.
//! As many kills as `afterbay_test_form::cluster_kills` says. The control must be noticed.

use std::collections::BTreeMap;
use std::fs;
use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use afterbay_blob_client::{Client, Code, PutHead};
use afterbay_blob_router::{BlobId, source};
use afterbay_test_form::{Wait, cluster_kills};
use bytes::Bytes;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::cli::http;
use crate::common::{Process, content, program};

/// Small partitions, and chunks that are smaller than the larger blobs.
const ARGUMENTS: [&str; 6] =
    ["--partition-size", "64MiB", "--segment-size", "1MiB", "--chunk-size", "64KiB"];

/// Each cluster of this process has ports of its own.
static CLUSTERS: AtomicU16 = AtomicU16::new(0);

/// All of 127.0.0.0/8 is this machine.
pub(crate) fn host() -> String {
    let pid = std::process::id();
    format!("127.{}.{}.{}", 64 + (pid >> 16) % 64, (pid >> 8) % 256, pid % 256)
}

struct Cluster {
    folder: TempDir,
    nodes: BTreeMap<u32, Process>,
}

impl Cluster {
    /// None of its nodes runs.
    fn new() -> Self {
        Cluster::made(&[])
    }

    fn made(more: &[&str]) -> Self {
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

    async fn running() -> Self {
        let mut cluster = Cluster::new();
        cluster.start_all().await;
        cluster
    }

    async fn start_all(&mut self) {
        (1..=3).for_each(|node| self.start(node));
        self.until_whole().await;
    }

    fn directory(&self) -> PathBuf {
        self.folder.path().join("c")
    }

    fn of(&self, node: u32) -> PathBuf {
        self.directory().join(format!("n{node}"))
    }

    fn log(&self, node: u32) -> String {
        fs::read_to_string(self.folder.path().join(format!("n{node}.log"))).unwrap()
    }

    fn command(&self, map: &Path, node: u32, more: &[&str]) -> std::process::Command {
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

    fn start(&mut self, node: u32) {
        self.start_with(node, &[]);
    }

    fn start_with(&mut self, node: u32, more: &[&str]) {
        let directory = self.directory();
        let mut command = self.command(&directory.join("map.toml"), node, more);
        self.nodes.insert(node, Process::wait(&directory, &mut command));
    }

    /// How a start ends that is refused.
    fn refused(&self, map: &Path, node: u32, more: &[&str]) -> String {
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

    fn kill(&mut self, node: u32) {
        let mut process = self.nodes.remove(&node).unwrap();
        process.child.kill().unwrap();
        process.child.wait().unwrap();
    }

    /// SIGTERM; it ends well.
    async fn terminate(&mut self, node: u32) {
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

    fn client(&self, node: u32) -> Client {
        self.nodes[&node].client()
    }

    fn ask_status(&self, map: &Path, more: &[&str]) -> Output {
        program().args(["cluster", "status", "--cluster"]).arg(map).args(more).output().unwrap()
    }

    /// What it says, and whether all is well.
    fn status(&self) -> (bool, Value) {
        let output = self.ask_status(&self.directory().join("map.toml"), &["--json"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let status = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{error}"));
        match output.status.code() {
            Some(0) => (true, status),
            Some(1) => (false, status),
            other => panic!("{other:?}: {error}"),
        }
    }

    async fn until_status(&self, what: &'static str, is: impl Fn(bool, &Value) -> bool) -> Value {
        let wait = Wait::until(what);
        loop {
            let (well, status) = self.status();
            if is(well, &status) {
                return status;
            }
            wait.check(&status["wrong"]);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// It is said who is away, and that something is missing there.
    async fn until_away(&self, node: usize) {
        let missing =
            |status: &Value| status["nodes"][node - 1]["under_replicated_blobs"].as_u64() > Some(0);
        let away = serde_json::json!([format!("n{node}")]);
        let is =
            |well: bool, status: &Value| !well && missing(status) && status["unreachable"] == away;
        let status = self.until_status("it is said who is away, and what is missing", is).await;
        assert!(status["under_replicated_bytes"].as_u64() > Some(0));
    }

    /// All nodes answer, and nothing is missing anywhere.
    async fn until_whole(&self) {
        let status = self.until_status("all replicas are whole", |well, _| well).await;
        for key in ["lag", "under_replicated_blobs", "under_replicated_bytes"] {
            assert_eq!(status[key], 0, "{key}: {status}");
        }
        assert_eq!(status["unreachable"], serde_json::json!([]));
    }
}

/// Most blobs are one record, some have chunks.
fn body(number: u64) -> Bytes {
    let length =
        if number.is_multiple_of(9) { 150_000 + number % 7000 } else { number * 997 % 9000 };
    content(number, length as usize)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Alive,
    Deleted,
}

/// What was acknowledged, and what went wrong.
#[derive(Debug, Default)]
struct Model {
    blobs: Mutex<BTreeMap<BlobId, (u64, State)>>,
    next: AtomicU64,
    done: AtomicU64,
    tally: Mutex<BTreeMap<&'static str, u64>>,
    errors: Mutex<Vec<String>>,
}

impl Model {
    fn count(&self, what: &'static str) {
        *self.tally.lock().unwrap().entry(what).or_default() += 1;
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn wrong(&self, what: String) {
        self.errors.lock().unwrap().push(what);
    }

    async fn put(&self, client: &Client) -> Option<BlobId> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        match client.put(PutHead::default(), source(body(number))).await {
            Ok(put) => {
                self.blobs.lock().unwrap().insert(put.id, (number, State::Alive));
                self.count("put");
                Some(put.id)
            }
            Err(error) => {
                self.wrong(format!("put {number}: {error}"));
                None
            }
        }
    }

    async fn get(&self, client: &Client, id: BlobId) {
        let (number, _) = self.blobs.lock().unwrap()[&id];
        match read(client, id).await {
            Ok(bytes) if bytes == body(number) => self.count("get"),
            Ok(bytes) => self.wrong(format!("{id}: {} bytes that are others", bytes.len())),
            Err((_, error)) => self.wrong(format!("get {id}: {error}")),
        }
    }

    async fn delete(&self, client: &Client, id: BlobId) -> bool {
        match client.delete(id).await {
            Ok(_) => {
                self.blobs.lock().unwrap().get_mut(&id).unwrap().1 = State::Deleted;
                self.count("delete");
                true
            }
            Err(error) => {
                self.wrong(format!("delete {id}: {error}"));
                false
            }
        }
    }

    async fn undelete(&self, client: &Client, id: BlobId) {
        match client.undelete(id).await {
            Ok(()) => {
                self.blobs.lock().unwrap().get_mut(&id).unwrap().1 = State::Alive;
                self.count("undelete");
            }
            Err(error) => self.wrong(format!("undelete {id}: {error}")),
        }
    }

    /// What is not as it was acknowledged. One replica alone does not know whether a delete was taken back.
    async fn check(&self, client: &Client, also_deleted: bool) -> Vec<String> {
        let blobs = self.blobs.lock().unwrap().clone();
        let mut wrong = Vec::new();
        for (id, (number, state)) in blobs {
            if state == State::Deleted && !also_deleted {
                continue;
            }
            match (state, read(client, id).await) {
                (State::Alive, Ok(bytes)) if bytes == body(number) => {}
                (State::Alive, Ok(_)) => wrong.push(format!("{id}: other bytes")),
                (State::Alive, Err((_, error))) => wrong.push(format!("{id}: {error}")),
                (State::Deleted, Err((Some(Code::Deleted), _))) => {}
                (State::Deleted, other) => wrong.push(format!("{id}: deleted, and {other:?}")),
            }
        }
        wrong
    }

    fn errors(&self) -> Vec<String> {
        self.errors.lock().unwrap().clone()
    }

    /// Waits until so much more is done.
    async fn until_done(&self, more: u64) {
        let wait = Wait::until("clients go on");
        let until = self.done.load(Ordering::Relaxed) + more;
        while self.done.load(Ordering::Relaxed) < until {
            wait.check((&self.tally, &self.errors));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn read(client: &Client, id: BlobId) -> Result<Bytes, (Option<Code>, String)> {
    let failed = |error: afterbay_blob_client::ClientError| (error.code(), error.to_string());
    client.get(id, None).await.map_err(failed)?.content.read_all().await.map_err(failed)
}

/// Clients that go on until they are stopped.
struct Load {
    stop: Arc<AtomicBool>,
    workers: Vec<JoinHandle<()>>,
}

impl Load {
    fn begin(model: &Arc<Model>, clients: &[Client]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let workers = (0..4).map(|worker| {
            let (model, clients, stop) = (model.clone(), clients.to_vec(), stop.clone());
            tokio::spawn(async move { work(worker, &model, &clients, &stop).await })
        });
        Load { workers: workers.collect(), stop }
    }

    async fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for worker in self.workers {
            worker.await.unwrap();
        }
    }
}

/// Each has blobs of its own, and asks any of the frontends.
async fn work(worker: u64, model: &Model, clients: &[Client], stop: &AtomicBool) {
    let mut random = 0x9e37_79b9_7f4a_7c15 ^ (worker + 1);
    let (mut alive, mut deleted) = (Vec::new(), Vec::new());
    while !stop.load(Ordering::Relaxed) {
        random = next(random);
        let client = &clients[(random >> 8) as usize % clients.len()];
        let at = (random >> 20) as usize;
        match random % 16 {
            0..=6 => alive.extend(model.put(client).await),
            7..=12 if !alive.is_empty() => model.get(client, alive[at % alive.len()]).await,
            13..=14 if alive.len() > 2 => {
                let id = alive.swap_remove(at % alive.len());
                if model.delete(client, id).await {
                    deleted.push(id);
                }
            }
            15 if !deleted.is_empty() => {
                let id: BlobId = deleted.swap_remove(at % deleted.len());
                model.undelete(client, id).await;
                alive.push(id);
            }
            _ => {}
        }
    }
}

/// Xorshift.
fn next(mut random: u64) -> u64 {
    random ^= random << 13;
    random ^= random >> 7;
    random ^ random << 17
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_killed_and_no_client_notices() {
    let mut cluster = Cluster::running().await;
    let model = Arc::new(Model::default());
    let load = Load::begin(&model, &[cluster.client(1), cluster.client(2)]);
    let kills = cluster_kills();
    for _ in 0..kills {
        model.until_done(60).await;
        cluster.kill(3);
        model.until_done(60).await;
        cluster.until_away(3).await;
        cluster.start(3);
    }
    model.until_done(60).await;
    // What it has taken it must have synced.
    cluster.terminate(3).await;
    model.until_done(60).await;
    cluster.until_away(3).await;
    cluster.start(3);
    model.until_done(60).await;
    // Its connections stay, and nothing comes from it.
    cluster.nodes[&3].freeze();
    model.until_done(60).await;
    cluster.until_away(3).await;
    cluster.nodes[&3].thaw();
    model.until_done(60).await;
    load.end().await;
    assert_eq!(model.errors(), Vec::<String>::new());
    cluster.until_whole().await;
    for node in 1..=3 {
        assert_eq!(model.check(&cluster.client(node), true).await, Vec::<String>::new(), "n{node}");
    }
    // Whether a node is there, n1 finds out by itself.
    for line in [
        "afterbay_blob_cluster_node_down{node=\"n3\"} 0",
        "afterbay_blob_cluster_node_connected{node=\"n3\"} 1",
        "afterbay_blob_cluster_missing_blobs{node=\"n3\"} 0",
        "afterbay_blob_cluster_lag_records{node=\"n2\"} 0",
        "afterbay_blob_cluster_replicas{state=\"filled\"} 3",
    ] {
        let wait = Wait::until(line);
        loop {
            let metrics = http(cluster.nodes[&1].admin.as_deref().unwrap());
            if metrics.contains(line) {
                break;
            }
            wait.check(metrics);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    // What it has, it has itself.
    cluster.kill(1);
    cluster.kill(2);
    assert_eq!(model.check(&cluster.client(3), false).await, Vec::<String>::new(), "n3 alone");
    let tally = model.tally.lock().unwrap();
    assert_eq!(tally.len(), 4, "{tally:?}");
    println!("{kills} kills: {tally:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_notices_what_was_on_one_disk_alone() {
    let mut cluster = Cluster::new();
    cluster.start_with(1, &["--policy", "one"]);
    let model = Model::default();
    for _ in 0..10 {
        model.put(&cluster.client(1)).await;
    }
    assert_eq!(model.errors(), Vec::<String>::new());
    assert_eq!(model.check(&cluster.client(1), true).await, Vec::<String>::new());
    cluster.kill(1);
    fs::remove_dir_all(cluster.of(1)).unwrap();
    (1..=3).for_each(|node| cluster.start(node));
    cluster.until_whole().await;
    let wrong = model.check(&cluster.client(2), true).await;
    assert_eq!(wrong.len(), 10, "{wrong:?}");
    assert!(wrong.iter().all(|wrong| wrong.contains("not found")), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_fast_is_synced_as_often_as_is_said() {
    let unsynced_ms = |status: &Value| {
        let replicas = status["nodes"][0]["replicas"].as_array().unwrap().clone();
        replicas.iter().map(|replica| replica["unsynced_ms"].as_u64().unwrap()).max().unwrap()
    };
    let mut cluster = Cluster::new();
    let fast = ["--policy", "one", "--durability", "fast", "--flush-interval"];
    let model = Model::default();
    cluster.start_with(1, &[&fast[..], &["1h"]].concat());
    model.put(&cluster.client(1)).await;
    // More than by default.
    cluster.until_status("it is not synced", |_, status| unsynced_ms(status) > 2_000).await;
    cluster.kill(1);
    cluster.start_with(1, &[&fast[..], &["20ms"]].concat());
    model.put(&cluster.client(1)).await;
    cluster.until_status("all is synced", |_, status| unsynced_ms(status) == 0).await;
    assert_eq!(model.errors(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_disk_fills_itself() {
    let mut cluster = Cluster::running().await;
    let model = Model::default();
    let clients = [1, 2, 3].map(|node| cluster.client(node));
    let mut ids = Vec::new();
    for number in 0..40 {
        ids.extend(model.put(&clients[number % 3]).await);
    }
    for id in &ids[..10] {
        model.delete(&clients[0], *id).await;
    }
    model.undelete(&clients[1], ids[0]).await;
    // One that has chunks, and a delete is no error again.
    model.undelete(&clients[2], ids[9]).await;
    model.delete(&clients[2], ids[1]).await;
    cluster.terminate(2).await;
    fs::remove_dir_all(cluster.of(2)).unwrap();
    let map = cluster.directory().join("map.toml");
    let refused = cluster.refused(&map, 2, &["--existing"]);
    assert!(refused.contains("is its disk mounted?"), "{refused}");
    cluster.start(2);
    assert_eq!(model.errors(), Vec::<String>::new());
    cluster.until_whole().await;
    assert_eq!(model.check(&cluster.client(2), true).await, Vec::<String>::new());
    cluster.kill(1);
    cluster.kill(3);
    assert_eq!(model.check(&cluster.client(2), false).await, Vec::<String>::new(), "n2 alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_know_the_key_is_refused_by_name() {
    let mut cluster = Cluster::running().await;
    cluster.terminate(3).await;
    let directory = cluster.directory();
    let other = cluster.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    for name in ["map.toml", "root-key", "cluster-key", "n3-cert.pem", "n3-key.pem"] {
        fs::copy(directory.join(name), other.join(name)).unwrap();
    }
    let key = fs::read_to_string(directory.join("cluster-key")).unwrap();
    let secret = key.lines().find_map(|line| line.strip_prefix("secret-key = ")).unwrap();
    let wrong = key.replace(secret, &"A".repeat(secret.len()));
    fs::write(other.join("cluster-key"), wrong).unwrap();
    let map = other.join("map.toml");
    let data = cluster.of(3);
    let data = data.to_str().unwrap();
    let mut command = cluster.command(&map, 3, &["--data", data]);
    cluster.nodes.insert(3, Process::wait(&other, &mut command));
    let says = "n3 does not know the key of cluster AB";
    Wait::block("its neighbour has refused it", || cluster.log(1).contains(says));
    let (well, status) = cluster.status();
    let reason = status["nodes"][2]["reason"].as_str().unwrap();
    assert!(!well && reason.contains("who asks does not know the key"), "{reason}");
    // Two of three are enough.
    let model = Model::default();
    let id = model.put(&cluster.client(1)).await;
    model.get(&cluster.client(2), id.unwrap()).await;
    assert_eq!(model.errors(), Vec::<String>::new());
    let text = cluster.ask_status(&map, &[]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("n1  ") && text.contains("who asks does not know the key"), "{text}");
    cluster.terminate(3).await;
    // A directory is of one node of one cluster.
    let map = directory.join("map.toml");
    let n2 = cluster.of(2);
    let refused = cluster.refused(&map, 3, &["--data", n2.to_str().unwrap()]);
    assert!(refused.contains("in use by another process"), "{refused}");
    cluster.kill(2);
    let refused = cluster.refused(&map, 3, &["--data", n2.to_str().unwrap()]);
    assert!(refused.contains("belongs to node n2 of cluster AB"), "{refused}");
    let again = Cluster::new();
    let refused = again.refused(&again.directory().join("map.toml"), 3, &["--data", data]);
    assert!(refused.contains("belongs to node n3 of cluster AB"), "{refused}");
    let refused = again.refused(&again.directory().join("map.toml"), 4, &[]);
    assert!(refused.contains("--node n4: the map has n1, n2, n3"), "{refused}");
}

/// Makes a certificate beside the map; what the map is to name.
fn new_certificate(map: &Path, node: &str) -> String {
    let mut command = program();
    let made = command.args(["cluster", "certificate", "--node", node, "--cluster"]).arg(map);
    let made = made.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = String::from_utf8(made.stdout).unwrap();
    assert!(text.contains(&format!("node {node} is to have:")), "{text}");
    let name = text.lines().find_map(|line| line.strip_prefix("certificate = "));
    name.unwrap().trim_matches('"').to_owned()
}

/// The certificates that a map names, in the order of its nodes.
fn certificates(map: &Path) -> Vec<String> {
    let text = fs::read_to_string(map).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("certificate = "));
    names.map(|name| name.trim_matches('"').to_owned()).collect()
}

fn rewrite(map: &Path, change: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(map).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text);
    fs::write(map, changed).unwrap();
}

/// It serves by a map of its own.
async fn start_apart(cluster: &mut Cluster, map: &Path) {
    let data = cluster.of(3);
    let mut command = cluster.command(map, 3, &["--data", data.to_str().unwrap()]);
    cluster.nodes.insert(3, Process::wait(map.parent().unwrap(), &mut command));
}

/// Of a node, by a map.
fn reason(status: &Value, node: usize) -> String {
    status["nodes"][node - 1]["reason"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_another_certificate_is_refused_by_name() {
    let mut cluster = Cluster::running().await;
    let (_, status) = cluster.status();
    for node in 0..3 {
        assert_eq!(status["nodes"][node]["tls"], true, "{status}");
    }
    cluster.terminate(3).await;
    let directory = cluster.directory();
    let other = cluster.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    for name in ["map.toml", "root-key", "cluster-key"] {
        fs::copy(directory.join(name), other.join(name)).unwrap();
    }
    let map = other.join("map.toml");
    let refused = |cluster: &Cluster| {
        let data = cluster.of(3);
        cluster.refused(&map, 3, &["--data", data.to_str().unwrap()])
    };
    let says = refused(&cluster);
    assert!(says.contains("other/n3-cert.pem: not there; "), "{says}");
    let new = new_certificate(&map, "n3");
    let old = certificates(&map)[2].clone();
    let says = refused(&cluster);
    assert!(says.contains(&format!("other/n3-cert.pem: has {new}, and ")), "{says}");
    assert!(says.contains(&format!("other/map.toml names {old} for n3; ")), "{says}");
    let key = other.join("n3-key.pem");
    fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    let says = refused(&cluster);
    assert!(says.contains("n3-key.pem: others can read it (mode 640)"), "{says}");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();

    // Its own map names it, and that of the others does not.
    rewrite(&map, |text| text.replace(&old, &new));
    start_apart(&mut cluster, &map).await;
    let shows = format!("n3 shows certificate {new}, and the map of n1 names {old}: ");
    let by_n1 = format!("a connection was refused: {shows}");
    Wait::block("n1 has refused it", || cluster.log(1).contains(&by_n1));
    Wait::block("it has been told so", || cluster.log(3).contains(&shows));
    let not_taken = "does not take the certificate that n3 shows";
    Wait::block("n1 has not connected to it either", || cluster.log(3).contains(not_taken));
    let (well, status) = cluster.status();
    let says = format!("n3 shows certificate {new}, and the map here names {old}: ");
    assert!(!well && reason(&status, 3).starts_with(&says), "{status}");
    assert_eq!(status["unreachable"], serde_json::json!(["n3"]));
    // Two of three are enough.
    let model = Model::default();
    let id = model.put(&cluster.client(1)).await;
    model.get(&cluster.client(2), id.unwrap()).await;
    assert_eq!(model.errors(), Vec::<String>::new());
    cluster.terminate(3).await;

    // It has no certificate at all.
    let lines = |text: &str, is: &dyn Fn(&str) -> bool| -> String {
        text.lines().filter(|line| is(line)).map(|line| format!("{line}\n")).collect()
    };
    rewrite(&map, |text| lines(&text, &|line| !line.starts_with("certificate")));
    start_apart(&mut cluster, &map).await;
    let says = "a connection was refused: n1 speaks TLS, and n3 plaintext: ";
    Wait::block("n1 has refused plaintext", || cluster.log(1).contains(says));
    let (well, status) = cluster.status();
    assert!(!well && reason(&status, 3).starts_with("n3 does not speak TLS, and "), "{status}");
    let by_plain_map = cluster.ask_status(&map, &["--json"]);
    let status: Value = serde_json::from_slice(&by_plain_map.stdout).unwrap();
    let says = "n1 speaks TLS, and who asks plaintext: ";
    assert!(reason(&status, 1).starts_with(says), "{status}");
    assert_eq!(status["nodes"][2]["tls"], false, "{status}");
    cluster.terminate(3).await;

    // Some have one, and some do not.
    let first = certificates(&directory.join("map.toml"))[0].clone();
    let all = fs::read_to_string(directory.join("map.toml")).unwrap();
    rewrite(&map, |_| lines(&all, &|line| !line.contains(&first)));
    let mixed = refused(&cluster);
    let says = "other/map.toml, line 3: node n1 has no certificate, and n2 has one: ";
    assert!(mixed.contains(says), "{mixed}");

    cluster.start(3);
    cluster.until_whole().await;
    assert_eq!(model.check(&cluster.client(3), true).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_replaced_while_the_cluster_runs() {
    let mut cluster = Cluster::running().await;
    let model = Model::default();
    model.put(&cluster.client(1)).await;
    let (directory, map) = (cluster.directory(), cluster.directory().join("map.toml"));
    let old = certificates(&map)[2].clone();
    for name in ["n3-cert.pem", "n3-key.pem"] {
        fs::rename(directory.join(name), directory.join(format!("{name}.old"))).unwrap();
    }
    let new = new_certificate(&map, "n3");
    assert_ne!(old, new);
    rewrite(&map, |text| text.replace(&format!("\"{old}\""), &format!("[\"{old}\", \"{new}\"]")));
    for node in [1, 2, 3] {
        cluster.terminate(node).await;
        cluster.start(node);
        cluster.until_whole().await;
        model.put(&cluster.client(node)).await;
    }
    rewrite(&map, |text| text.replace(&format!("[\"{old}\", \"{new}\"]"), &format!("\"{new}\"")));
    cluster.terminate(1).await;
    cluster.start(1);
    cluster.until_whole().await;
    assert_eq!(model.errors(), Vec::<String>::new());
    for node in 1..=3 {
        assert_eq!(model.check(&cluster.client(node), true).await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_certificates_speaks_plaintext() {
    let mut cluster = Cluster::made(&["--plaintext"]);
    assert!(certificates(&cluster.directory().join("map.toml")).is_empty());
    assert!(!cluster.directory().join("n1-key.pem").exists());
    cluster.start_all().await;
    assert_eq!(cluster.status().1["nodes"][0]["tls"], false);
    let model = Model::default();
    let first = model.put(&cluster.client(1)).await.unwrap();
    cluster.kill(3);
    model.put(&cluster.client(2)).await;
    model.get(&cluster.client(2), first).await;
    cluster.until_away(3).await;
    cluster.start(3);
    cluster.until_whole().await;
    assert_eq!(model.errors(), Vec::<String>::new());
    assert_eq!(model.check(&cluster.client(3), true).await, Vec::<String>::new());
}

#[test]
fn a_cluster_is_made_once_and_for_its_owner_alone() {
    let cluster = Cluster::new();
    let mode = |name: &str| {
        let path = cluster.directory().join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!([mode("cluster-key"), mode("root-key"), mode("n1")], [0o600, 0o600, 0o700]);
    assert_eq!([mode("n1-key.pem"), mode("n3-key.pem")], [0o600, 0o600]);
    let run = |arguments: &[&str]| {
        let output = program().args(arguments).current_dir(cluster.folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = run(&["cluster", "init", "c"]);
    assert!(code == Some(1) && error.contains("c: not empty"), "{error}");
    let certificate = ["cluster", "certificate", "--cluster", "c/map.toml", "--node"];
    let (code, error) = run(&[&certificate[..], &["n1"]].concat());
    assert!(code == Some(1) && error.contains("c/n1-cert.pem: there is one"), "{error}");
    let (code, error) = run(&[&certificate[..], &["n9"]].concat());
    assert!(code == Some(2) && error.contains("c/map.toml has n1, n2, n3"), "{error}");
    for (arguments, says) in [
        (&["cluster", "init", "d", "--replicas", "4"][..], "--replicas: 4"),
        (&["cluster", "init", "d", "--port", "65535"], "--port: 65535"),
        (&["cluster", "init", "d", "--host", "a\"b"], "--host"),
        (
            &["serve", "--cluster", "c/map.toml", "--node", "n1", "--policy", "4"],
            "--policy 4: the partitions",
        ),
        (&["serve", "--cluster", "c/map.toml", "--node", "n1", "--policy", "none"], "`majority`"),
        (&["serve", "--cluster", "c/map.toml"], "--node"),
        (&["serve", "--data", "d", "--policy", "one"], "--cluster"),
        (&["serve", "--cluster", "c/map.toml", "--node", "n1", "--reserve", "1GiB"], "--reserve"),
        (&["serve", "--cluster", "c/map.toml", "--node", "n1", "--s3", "none"], "--s3"),
        (&["serve", "--lifecycle-day", "1s", "--cluster", "m", "--node", "n1"], "--lifecycle-day"),
    ] {
        let (code, error) = run(arguments);
        assert!(code == Some(2) && error.contains(says), "{arguments:?}: {error}");
    }
    assert!(!cluster.folder.path().join("d").exists());
    let (code, error) = run(&["cluster", "status", "--cluster", "nothing.toml"]);
    assert!(code == Some(1) && error.contains("'cluster init' makes one"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_node_starts_as_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let made = program()
        .args(["cluster", "init", "c", "--nodes", "1", "--host", &host(), "--port", "19999"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(made.stdout).unwrap();
    let serve = text.lines().find_map(|line| line.trim().strip_prefix("./afterbay blob serve "));
    let mut command = program();
    command.arg("serve").args(serve.unwrap().split(' ')).args(ARGUMENTS).current_dir(folder.path());
    let node = Process::wait(&folder.path().join("c"), &mut command);
    let model = Model::default();
    let id = model.put(&node.client()).await.unwrap();
    model.get(&node.client(), id).await;
    assert_eq!(model.errors(), Vec::<String>::new());
}
