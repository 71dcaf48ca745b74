//! What several tests need: disks that lose and fail, servers in this process, servers as processes.

#![allow(unreachable_pub, reason = "all of the program sees it")]

pub mod shell;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, IoSlice, Read, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use afterbay_blob_client::{Client, ClientOptions, PutHead, Secret};
use afterbay_blob_router::{BlobId, source};
use afterbay_blob_server::node::{Layout, Space, Volume};
use afterbay_blob_server::{AccessKey, KEY_FILE, Report, Running, ServeOptions};
use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{Directory, PartitionId, StoreFile, SyncPoint};
use afterbay_test_form::PATIENCE;
use bytes::Bytes;

/// A content that no other number has.
pub fn content(number: u64, length: usize) -> Bytes {
    let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..length as u64).map(|i| (seed.rotate_left((i % 61) as u32) ^ (i / 7)) as u8).collect()
}

/// A data directory that is simulated as a whole.
#[derive(Debug)]
pub struct SimDirectory(pub Layout);

impl Volume for SimDirectory {
    fn place(&self) -> String {
        "simulated disk".to_owned()
    }
    fn partitions(&self) -> io::Result<Vec<PartitionId>> {
        self.0.partitions()
    }
    fn create(
        &self,
        id: PartitionId,
        fill: &mut dyn FnMut(&dyn Directory) -> io::Result<()>,
    ) -> io::Result<()> {
        self.0.create(id, fill)
    }
    fn open(&self, id: PartitionId) -> io::Result<Arc<dyn Directory>> {
        self.0.open_partition(id)
    }
    fn space(&self) -> io::Result<Space> {
        Ok(Space { total_bytes: 1 << 30, available_bytes: 1 << 30 })
    }
    fn takes_writes(&self) -> bool {
        true
    }
}

/// A disk whose partitions are simulated, each as a disk of its own.
#[derive(Debug)]
pub struct SimVolume {
    pub disks: Mutex<BTreeMap<PartitionId, SimDisk>>,
    pub available: AtomicU64,
    /// Each sync takes so long.
    pub sync_time: Duration,
    /// No sync ends while it is closed.
    pub gate: Arc<Gate>,
    pub takes_writes: std::sync::atomic::AtomicBool,
}

impl SimVolume {
    pub fn new(available: u64, sync_time: Duration) -> Arc<Self> {
        Arc::new(SimVolume {
            disks: Mutex::new(BTreeMap::new()),
            available: AtomicU64::new(available),
            sync_time,
            gate: Arc::default(),
            takes_writes: true.into(),
        })
    }

    pub fn commits(&self) -> u64 {
        let syncs = |disk: &SimDisk| disk.syncs(SyncPoint::Commit) + disk.syncs(SyncPoint::Flush);
        self.disks.lock().unwrap().values().map(syncs).sum()
    }

    pub fn each(&self, work: impl Fn(&SimDisk)) {
        self.disks.lock().unwrap().values().for_each(work);
    }
}

impl Volume for SimVolume {
    fn place(&self) -> String {
        "simulated disk".to_owned()
    }

    fn partitions(&self) -> io::Result<Vec<PartitionId>> {
        Ok(self.disks.lock().unwrap().keys().copied().collect())
    }

    fn create(
        &self,
        id: PartitionId,
        fill: &mut dyn FnMut(&dyn Directory) -> io::Result<()>,
    ) -> io::Result<()> {
        let disk = SimDisk::new(id.0);
        fill(&*disk.directory())?;
        self.disks.lock().unwrap().insert(id, disk);
        Ok(())
    }

    fn open(&self, id: PartitionId) -> io::Result<Arc<dyn Directory>> {
        let directory = self.disks.lock().unwrap()[&id].directory();
        let (sync_time, gate) = (self.sync_time, self.gate.clone());
        Ok(Arc::new(SlowDirectory { directory, sync_time, gate }))
    }

    fn space(&self) -> io::Result<Space> {
        let available_bytes = self.available.load(Ordering::Relaxed);
        Ok(Space { total_bytes: available_bytes, available_bytes })
    }

    fn takes_writes(&self) -> bool {
        self.takes_writes.load(Ordering::Relaxed)
    }
}

/// Holds up who comes while it is closed, until it is opened.
#[derive(Debug, Default)]
pub struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn close(&self) {
        *self.closed.lock().unwrap() = true;
    }

    pub fn open(&self) {
        *self.closed.lock().unwrap() = false;
        self.opened.notify_all();
    }

    fn pass(&self) {
        drop(self.opened.wait_while(self.closed.lock().unwrap(), |closed| *closed).unwrap());
    }
}

#[derive(Debug)]
struct SlowDirectory {
    directory: Arc<dyn Directory>,
    sync_time: Duration,
    gate: Arc<Gate>,
}

impl SlowDirectory {
    fn slow(&self, file: io::Result<Arc<dyn StoreFile>>) -> io::Result<Arc<dyn StoreFile>> {
        let (sync_time, gate) = (self.sync_time, self.gate.clone());
        file.map(|file| Arc::new(SlowFile { file, sync_time, gate }) as Arc<dyn StoreFile>)
    }
}

impl Directory for SlowDirectory {
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        self.slow(self.directory.create(name))
    }
    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        self.slow(self.directory.open(name))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.directory.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.directory.remove(name)
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.directory.list()
    }
    fn sync(&self, point: SyncPoint) -> io::Result<()> {
        self.directory.sync(point)
    }
    fn place(&self) -> String {
        self.directory.place()
    }
}

#[derive(Debug)]
struct SlowFile {
    file: Arc<dyn StoreFile>,
    sync_time: Duration,
    gate: Arc<Gate>,
}

impl StoreFile for SlowFile {
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.file.write_all_at(parts, offset)
    }
    fn preallocate(&self, length: u64) -> io::Result<()> {
        self.file.preallocate(length)
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }
    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        self.gate.pass();
        std::thread::sleep(self.sync_time);
        self.file.sync_data(point)
    }
    fn drop_cached(&self, offset: u64, length: u64) -> io::Result<()> {
        self.file.drop_cached(offset, length)
    }
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.file.descriptor()
    }
}

/// Settings of a server for tests, in `data`.
pub fn serve_options(data: &Path) -> ServeOptions {
    let mut options = ServeOptions {
        data: vec![data.to_owned()],
        listen: "127.0.0.1:0".to_owned(),
        admin: None,
        ..ServeOptions::default()
    };
    options.node.partition_bytes = Some(32 << 20);
    options.node.segment_bytes = Some(8 << 20);
    options
}

pub fn client_options(address: impl ToString, key: &AccessKey) -> ClientOptions {
    let secret = Secret::new(key.secret.clone());
    let options = ClientOptions::new(address.to_string(), key.access.clone(), secret);
    ClientOptions { connect_timeout: PATIENCE, ..options }
}

pub fn client(running: &Running) -> Client {
    Client::new(client_options(running.address, &running.key))
}

pub async fn put(client: &Client, content: &Bytes) -> BlobId {
    client.put(PutHead::default(), source(content.clone())).await.unwrap().id
}

pub async fn get(client: &Client, id: BlobId) -> Bytes {
    client.get(id, None).await.unwrap().content.read_all().await.unwrap()
}

/// The real program.
pub struct Process {
    pub child: Child,
    pub address: String,
    pub admin: Option<String>,
    pub s3: Option<String>,
    pub key: AccessKey,
}

pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterbay-blob"));
    for (name, _) in std::env::vars() {
        if name.starts_with("AFTERBAY_BLOB_") {
            command.env_remove(name);
        }
    }
    command
}

impl Process {
    /// Starts it, and waits until it is ready.
    pub fn start(data: &Path, arguments: &[&str]) -> Self {
        Self::wait(data, Self::command(data, arguments).env("RUST_LOG", "error"))
    }

    /// The same, with its log in a file, all of it that is logged by default.
    pub fn start_logging(data: &Path, arguments: &[&str], log: &Path) -> Self {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        Self::wait(data, Self::command(data, arguments).env("RUST_LOG", "info").stderr(log))
    }

    /// What is started, on ports of its own: another server may run on this machine. Later arguments replace these.
    pub fn command(data: &Path, arguments: &[&str]) -> Command {
        let mut command = program();
        command.args(["serve", "--data"]).arg(data).args(arguments);
        for option in ["--listen", "--s3", "--admin"] {
            if !arguments.contains(&option) {
                command.args([option, "127.0.0.1:0"]);
            }
        }
        command
    }

    /// Starts a command that becomes a server, and waits until it is ready.
    pub fn wait(data: &Path, command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let (mut address, mut admin, mut s3) = (None, None, None);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some(rest) = line.strip_prefix("native protocol") {
                address = rest.split_whitespace().next().map(str::to_owned);
            }
            if let Some(rest) = line.strip_prefix("metrics") {
                admin = Some(rest.trim().to_owned());
            }
            if let Some(rest) = line.strip_prefix("S3") {
                s3 = Some(rest.trim().to_owned());
            }
            if line == "ready" {
                break;
            }
        }
        let key = AccessKey::read(&data.join(KEY_FILE)).unwrap();
        let address = address.expect("it ended before it was ready, and said why");
        Process { child, address, admin, s3, key }
    }

    /// A counter without labels; 0 if it is not there.
    pub fn counter(&self, name: &str) -> u64 {
        let address = self.admin.as_ref().unwrap();
        let address = address.split("//").last().unwrap().split('/').next().unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
        text.lines().find_map(value).unwrap_or(0)
    }

    /// Bytes of all partitions that are not free.
    pub async fn used_bytes(&self) -> u64 {
        let report = self.client().status().await.unwrap();
        let report: Report = serde_json::from_slice(&report).unwrap();
        let partitions = report.node.disks.iter().flat_map(|disk| &disk.partitions);
        partitions.map(|partition| partition.used_bytes).sum()
    }

    pub fn client(&self) -> Client {
        Client::new(client_options(&self.address, &self.key))
    }

    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    pub fn hang_up(&self) {
        self.signal(rustix::process::Signal::HUP);
    }

    /// It does nothing any more, and its connections stay.
    pub fn freeze(&self) {
        self.signal(rustix::process::Signal::STOP);
    }

    pub fn thaw(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
