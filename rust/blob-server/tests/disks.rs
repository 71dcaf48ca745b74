//! Disks that are missing, dead, empty or others than they were: what is here is served, what is not is said by name, and
//! nothing is taken for deleted because its disk is away.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_client::{Client, ClientError, Code, Name, PutHead, Target};
use afterbay_blob_meta::CollectorOptions;
use afterbay_blob_router::{BlobId, source};
use afterbay_blob_s3::S3Options;
use afterbay_blob_server::node::{
    AbsentDisk, DiskIdentity, DiskList, DiskOptions, DiskStatus, Layout, Look, OpenError, OpenSite,
    Roster, Site, assemble, look,
};
use afterbay_blob_server::{Frontend, NamesAndS3, Report, Running, StartError, start};
use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{SyncPoint, SyncScope};
use afterbay_test_form::Wait;
use uuid::Uuid;

use crate::common::{SimDirectory, client, content, get, put, serve_options};
use crate::cycles::s3::{Ask, S3};

const BLOBS: u64 = 14;

async fn serve(data: &[&Path], disks: DiskOptions) -> Result<Running, StartError> {
    let mut options = serve_options(data[0]);
    options.data = data.iter().map(|path| path.to_path_buf()).collect();
    options.disks = disks;
    // A disk has less room than the other one as soon as it has another partition.
    options.node.partition_bytes = Some(8 << 20);
    options.node.flush_interval = Duration::from_millis(10);
    options.node.undelete_window = Duration::from_millis(1);
    let served = NamesAndS3 {
        listen: Some("127.0.0.1:0".to_owned()),
        options: S3Options::default(),
        collector: CollectorOptions {
            grace: Duration::from_millis(10),
            interval: Duration::from_millis(10),
            retry: Duration::from_millis(10),
            ..CollectorOptions::default()
        },
        abort_uploads_after: Duration::MAX,
    };
    let frontend: Arc<dyn Frontend> = Arc::new(served);
    start(options, &[frontend]).await
}

async fn serve_all(data: &[&Path]) -> Running {
    serve(data, DiskOptions::default()).await.unwrap()
}

fn s3(running: &Running) -> S3 {
    S3::new(&running.endpoints[0].1, &running.key)
}

async fn report(client: &Client) -> Report {
    serde_json::from_slice(&client.status().await.unwrap()).unwrap()
}

async fn absent(client: &Client) -> Vec<DiskStatus> {
    let disks = report(client).await.node.disks;
    disks.into_iter().filter(|disk| disk.absent.is_some()).collect()
}

/// Blobs in the queue of what is to be deleted.
async fn garbage(client: &Client) -> u64 {
    report(client).await.name_counts.unwrap().garbage
}

async fn wait_for_no_garbage(client: &Client) {
    let wait = Wait::until("all garbage is collected");
    while garbage(client).await > 0 {
        wait.check(garbage(client).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn wait_until_gone(client: &Client, id: BlobId) {
    let wait = Wait::until("the blob is collected");
    loop {
        let found = client.get(id, None).await;
        let code = found.as_ref().err().and_then(ClientError::code);
        if [Some(Code::Deleted), Some(Code::NotFound)].contains(&code) {
            return;
        }
        wait.check(found.map(|got| got.info));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn name(number: u64) -> Name {
    Name { bucket: "bucket".to_owned(), key: number.to_string() }
}

/// Two disks with blobs, of which each has a name as well.
struct Store {
    _directory: tempfile::TempDir,
    first: PathBuf,
    second: PathBuf,
    blobs: BTreeMap<u64, BlobId>,
}

impl Store {
    /// How blobs are spread depends on when disks are looked at: until there are some on each.
    async fn new() -> Self {
        let wait = Wait::until("there are blobs on both disks");
        loop {
            let store = Self::try_new().await;
            let counts = store.all().map(|disk| store.on(disk).len());
            if counts.iter().all(|count| *count >= 2) {
                return store;
            }
            wait.check(counts);
        }
    }

    async fn try_new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (directory.path().join("first"), directory.path().join("second"));
        let mut store = Store { _directory: directory, first, second, blobs: BTreeMap::new() };
        let running = serve_all(&store.all()).await;
        let client = client(&running);
        for number in 0..BLOBS {
            let head = PutHead { name: Some(name(number)), ..PutHead::default() };
            let put = client.put(head, source(content(number, 900_000))).await.unwrap();
            store.blobs.insert(number, put.id);
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
        running.shut_down().await;
        store
    }

    fn all(&self) -> [&Path; 2] {
        [&self.first, &self.second]
    }

    /// The blobs on a disk.
    fn on(&self, disk: &Path) -> Vec<u64> {
        let there = |id: &BlobId| disk.join("partitions").join(id.partition.to_string()).exists();
        self.blobs.iter().filter(|(_, id)| there(id)).map(|(number, _)| *number).collect()
    }

    async fn check(&self, client: &Client, numbers: &[u64]) {
        for number in numbers {
            let content = content(*number, 900_000);
            assert_eq!(get(client, self.blobs[number]).await, content);
            let named = client.get(Target::Name(name(*number)), None).await.unwrap();
            assert_eq!(named.content.read_all().await.unwrap(), content);
        }
    }

    /// What is on the second disk is said to be away, and new blobs are put and read.
    async fn check_without_second(&self, running: &Running, says: &str) {
        let client = client(running);
        self.check(&client, &self.on(&self.first)).await;
        let away = absent(&client).await;
        assert_eq!(away.len(), 1, "{away:?}");
        assert!(away[0].absent.as_ref().unwrap().contains(says), "{away:?}");
        let id = put(&client, &content(99, 500_000)).await;
        assert_eq!(get(&client, id).await, content(99, 500_000));
    }
}

fn id_of(disk: &Path) -> Uuid {
    DiskIdentity::parse(&std::fs::read(disk.join("DISK")).unwrap()).unwrap().disk
}

fn lost(id: Uuid) -> DiskOptions {
    DiskOptions { lost: vec![id], ..DiskOptions::default() }
}

fn refusal(error: &ClientError) -> (Code, String) {
    match error {
        ClientError::Refused(failure) => (failure.code, failure.text.clone()),
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_of_a_directory_that_is_left_out_are_not_here_and_not_gone() {
    let store = Store::new().await;
    // Moved, so that what is on it is known.
    let moved = store.second.with_extension("moved");
    std::fs::rename(&store.second, &moved).unwrap();
    let (here, away) = (store.on(&store.first), store.on(&moved));
    let running = serve_all(&[&store.first]).await;
    let client = client(&running);
    store.check(&client, &here).await;
    let second = store.second.display().to_string();
    for number in &away {
        let id = store.blobs[number];
        for refused in [
            client.get(id, None).await.map(|_| ()),
            client.get(Target::Name(name(*number)), None).await.map(|_| ()),
            client.delete(id).await.map(drop),
        ] {
            let (code, text) = refusal(&refused.unwrap_err());
            assert_eq!(code, Code::Unavailable, "{text}");
            assert!(text.contains(&format!("partition {}", id.partition)), "{text}");
            assert!(text.contains(&second), "{text}");
        }
        let answer = s3(&running).ask_once(Ask::new("GET", format!("/bucket/{number}"))).await;
        let answer = answer.unwrap_or_else(|_| panic!("no answer"));
        let body = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status, 503, "{body}");
        assert!(body.contains("it is on no disk that is here"), "{body}");
        assert!(
            !body.contains(&second),
            "clients of S3 need not know how disks are called: {body}"
        );
    }
    assert_eq!(absent(&client).await[0].place, second);
    // Of two names that are deleted, the blob that is away stays in the queue of what is to be deleted, and is not taken for
    // deleted. The collector has met it when it has deleted what was queued behind it.
    for number in [away[0], here[0]] {
        client.delete(Target::Name(name(number))).await.unwrap();
    }
    wait_until_gone(&client, store.blobs[&here[0]]).await;
    assert!(garbage(&client).await > 0);
    let away_now = client.get(store.blobs[&away[0]], None).await.err().unwrap();
    assert_eq!(refusal(&away_now).0, Code::Unavailable);
    running.shut_down().await;
    // With the disk, also at another place, it is deleted.
    let running = serve_all(&[&store.first, &moved]).await;
    let client = crate::common::client(&running);
    assert_eq!(absent(&client).await, []);
    wait_for_no_garbage(&client).await;
    wait_until_gone(&client, store.blobs[&away[0]]).await;
    store.check(&client, &away[1..]).await;
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_directory_in_the_place_of_a_disk_is_reported_and_not_used() {
    let store = Store::new().await;
    let moved = store.second.with_extension("moved");
    std::fs::rename(&store.second, &moved).unwrap();
    std::fs::create_dir(&store.second).unwrap();
    let running = serve_all(&store.all()).await;
    store.check_without_second(&running, "it is empty").await;
    let said = absent(&client(&running)).await;
    assert_eq!(said[0].id, Some(id_of(&moved).to_string()));
    assert!(said[0].absent.as_ref().unwrap().contains("--lost-disk"), "{said:?}");
    running.shut_down().await;
    assert_eq!(std::fs::read_dir(&store.second).unwrap().count(), 0, "nothing was made in it");
    // The disk is mounted after all.
    std::fs::remove_dir(&store.second).unwrap();
    std::fs::rename(&moved, &store.second).unwrap();
    let running = serve_all(&store.all()).await;
    store.check(&client(&running), &(0..BLOBS).collect::<Vec<_>>()).await;
    running.shut_down().await;
}

/// Does something to a data directory.
type Harm = fn(&Path);

#[tokio::test(flavor = "multi_thread")]
async fn disks_that_cannot_be_opened_are_reported_and_the_others_served() {
    let store = Store::new().await;
    let partitions = store.second.join("partitions");
    let aside = store.second.join("aside");
    let harms: [(Harm, &str); 3] = [
        (|path| std::fs::write(path.join("DISK"), "x").unwrap(), "DISK is damaged"),
        (|path| std::fs::remove_file(path.join("VERSION")).unwrap(), "not a data directory"),
        (|path| std::fs::write(path.join("partitions"), "x").unwrap(), "partitions"),
    ];
    for (harm, says) in harms {
        std::fs::rename(&partitions, &aside).unwrap();
        let saved = ["DISK", "VERSION"].map(|name| {
            let path = store.second.join(name);
            (path.clone(), std::fs::read(path).unwrap())
        });
        if !says.contains("partitions") {
            std::fs::create_dir(&partitions).unwrap();
        }
        harm(&store.second);
        let running = serve_all(&store.all()).await;
        store.check_without_second(&running, says).await;
        running.shut_down().await;
        for (path, content) in saved {
            std::fs::write(path, content).unwrap();
        }
        let _ = std::fs::remove_dir_all(&partitions);
        let _ = std::fs::remove_file(&partitions);
        std::fs::rename(&aside, &partitions).unwrap();
    }
    let running = serve_all(&store.all()).await;
    store.check(&client(&running), &(0..BLOBS).collect::<Vec<_>>()).await;
    running.shut_down().await;
}

/// Nothing is made in any of the directories.
async fn is_refused(data: &[&Path], disks: DiskOptions, says: &[&str]) {
    let files = |path: &Path| std::fs::read_dir(path).map_or(0, Iterator::count);
    let before: Vec<_> = data.iter().map(|path| files(path)).collect();
    let refused = match serve(data, disks).await {
        Ok(_) => panic!("it started: {says:?}"),
        Err(error) => error.to_string(),
    };
    for text in says {
        assert!(refused.contains(text), "{refused}");
    }
    assert_eq!(data.iter().map(|path| files(path)).collect::<Vec<_>>(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_first_disk_there_is_no_start() {
    let store = Store::new().await;
    let id = id_of(&store.first).to_string();
    let none = DiskOptions::default;
    is_refused(&[&store.second, &store.first], none(), &["not the first disk", &id]).await;
    is_refused(&[&store.second], none(), &["not the first disk", &id, "--lost-disk"]).await;
    let moved = store.first.with_extension("moved");
    std::fs::rename(&store.first, &moved).unwrap();
    // Not mounted: no directory, an empty one, something that cannot be read.
    is_refused(&store.all(), none(), &["is empty", &id, "backup"]).await;
    std::fs::create_dir(&store.first).unwrap();
    is_refused(&store.all(), none(), &["is empty", &id, "backup"]).await;
    std::fs::remove_dir(&store.first).unwrap();
    std::fs::write(&store.first, "x").unwrap();
    is_refused(&store.all(), none(), &["root key", "backup"]).await;
    std::fs::remove_file(&store.first).unwrap();
    // The first one not mounted, and the other one dead: not a new store.
    let version = std::fs::read(store.second.join("VERSION")).unwrap();
    std::fs::write(store.second.join("VERSION"), "x").unwrap();
    is_refused(&store.all(), none(), &["is empty", "cannot be read"]).await;
    std::fs::write(store.second.join("VERSION"), version).unwrap();
    let existing = DiskOptions { existing: true, ..none() };
    is_refused(&[&store.first], existing.clone(), &["is empty", "--existing"]).await;
    std::fs::rename(&moved, &store.first).unwrap();
    let running = serve(&store.all(), existing).await.unwrap();
    store.check(&client(&running), &(0..BLOBS).collect::<Vec<_>>()).await;
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_disk_is_given_up_and_another_one_takes_its_place() {
    let store = Store::new().await;
    let away = store.on(&store.second);
    let here = store.on(&store.first);
    let id = id_of(&store.second);
    is_refused(&store.all(), lost(id), &["it is in", "--lost-disk"]).await;
    is_refused(&store.all(), lost(Uuid::nil()), &["no such disk", &id.to_string()]).await;
    let moved = store.second.with_extension("moved");
    std::fs::rename(&store.second, &moved).unwrap();
    // Once is enough; saying it again does no harm.
    for disks in [lost(id), DiskOptions::default(), lost(id)] {
        let running = serve(&store.all(), disks).await.unwrap();
        let client = client(&running);
        assert_eq!(absent(&client).await, []);
        store.check(&client, &here).await;
        let gone = refusal(&client.get(store.blobs[&away[0]], None).await.err().unwrap());
        assert_eq!(gone.0, Code::NotFound, "{gone:?}");
        running.shut_down().await;
    }
    assert_ne!(id_of(&store.second), id);
    // What was to be deleted on it is forgotten.
    let running = serve_all(&store.all()).await;
    let client = crate::common::client(&running);
    client.delete(Target::Name(name(away[1]))).await.unwrap();
    wait_for_no_garbage(&client).await;
    running.shut_down().await;
    // It comes back: it is not taken in.
    let running = serve_all(&[&store.first, &store.second, &moved]).await;
    let said = absent(&crate::common::client(&running)).await;
    assert!(said[0].absent.as_ref().unwrap().contains("given up"), "{said:?}");
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_first_disk_takes_the_names() {
    let store = Store::new().await;
    let left = store.on(&store.second);
    let first = id_of(&store.first);
    let old = store.first.with_extension("old");
    std::fs::rename(&store.first, &old).unwrap();
    // A new one in its place, or the second one becomes the first.
    for data in [vec![&*store.first, &*store.second], vec![&*store.second]] {
        let running = serve(&data, lost(first)).await.unwrap();
        let client = client(&running);
        for number in &left {
            assert_eq!(get(&client, store.blobs[number]).await, content(*number, 900_000));
            let no_name = client.get(Target::Name(name(*number)), None).await.err().unwrap();
            assert_eq!(refusal(&no_name).0, Code::NoSuchName);
        }
        running.shut_down().await;
        let list = DiskList::parse(&std::fs::read(data[0].join("DISKS")).unwrap()).unwrap();
        assert!(list.disks.iter().any(|disk| disk.id == first && disk.lost), "{list:?}");
        if data.len() == 2 {
            // The old one comes back: it has names, and not those that came since.
            let running = serve_all(&[&old, &store.second]).await;
            let said = absent(&crate::common::client(&running)).await;
            assert!(said[0].absent.as_ref().unwrap().contains("names of this node"), "{said:?}");
            running.shut_down().await;
            // The second case begins as the first one did.
            let identity = DiskIdentity::parse(&std::fs::read(store.second.join("DISK")).unwrap());
            let identity = DiskIdentity { first, ..identity.unwrap() };
            std::fs::write(store.second.join("DISK"), identity.encode()).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn directories_of_older_versions_are_taken_over() {
    let store = Store::new().await;
    let forget = || {
        for path in [store.first.join("DISK"), store.first.join("DISKS"), store.second.join("DISK")]
        {
            std::fs::remove_file(path).unwrap();
        }
    };
    let all: Vec<u64> = (0..BLOBS).collect();
    let ids = [id_of(&store.first), id_of(&store.second)];
    forget();
    // In the wrong order, or without the first one.
    is_refused(&[&store.second, &store.first], DiskOptions::default(), &["root key"]).await;
    let other = store.first.with_extension("other");
    is_refused(&[&other, &store.second], DiskOptions::default(), &["root key"]).await;
    let running = serve_all(&store.all()).await;
    store.check(&client(&running), &all).await;
    running.shut_down().await;
    assert_eq!([id_of(&store.first), id_of(&store.second)], ids, "the identity in VERSION");
    // One that was left out at first.
    forget();
    serve_all(&[&store.first]).await.shut_down().await;
    let running = serve_all(&store.all()).await;
    store.check(&client(&running), &all).await;
    assert_eq!(absent(&client(&running)).await, []);
    // A disk is added: an empty directory while all others are here.
    running.shut_down().await;
    let third = store.first.with_extension("third");
    let running = serve_all(&[&store.first, &store.second, &third]).await;
    assert_eq!(report(&client(&running)).await.node.disks.len(), 3);
    assert_eq!(absent(&client(&running)).await, []);
    running.shut_down().await;
    // The list is gone, and is made again.
    std::fs::remove_file(store.first.join("DISKS")).unwrap();
    let running = serve_all(&[&store.first, &store.second, &third]).await;
    store.check(&client(&running), &all).await;
    running.shut_down().await;
    // A disk of another node, and the same one twice.
    let (foreign, again) = (store.first.with_extension("foreign"), third.clone());
    serve_all(&[&foreign]).await.shut_down().await;
    let running = serve_all(&[&store.first, &store.second, &third, &foreign, &again]).await;
    let said: Vec<_> =
        absent(&client(&running)).await.into_iter().map(|disk| disk.absent.unwrap()).collect();
    assert!(said[0].contains("another node") && said[1].contains("same one"), "{said:?}");
    running.shut_down().await;
}

struct SimSite(&'static str, SimDisk);

fn open_error(error: impl std::fmt::Display) -> OpenError {
    OpenError::NotOurs { path: "simulated".into(), reason: error.to_string() }
}

impl Site for SimSite {
    fn place(&self) -> String {
        self.0.to_owned()
    }

    fn look(&self) -> Result<Look, OpenError> {
        look(&*self.1.tree()).map_err(open_error)
    }

    fn open(&self) -> Result<OpenSite, OpenError> {
        let root = self.1.tree();
        let layout = Layout::open(&*root).map_err(open_error)?;
        Ok(OpenSite { volume: Arc::new(SimDirectory(layout)), root })
    }
}

fn roster(sites: &[&SimSite]) -> Result<Roster, String> {
    let sites: Vec<&dyn Site> = sites.iter().map(|site| *site as &dyn Site).collect();
    assemble(&sites, &DiskOptions::default())
}

/// What is wrong when the power goes at operation `after` of one of two disks, in the first start of a store or when the
/// second one is added.
fn wrong(seed: u64, after: u64, adds: bool, ignored: Option<SyncPoint>) -> Vec<String> {
    let (a, b) = (SimSite("a", SimDisk::new(seed)), SimSite("b", SimDisk::new(seed + 1000)));
    for disk in [&a.1, &b.1] {
        ignored.into_iter().for_each(|point| disk.ignore(point));
    }
    if adds {
        roster(&[&a]).unwrap();
    }
    let failing = if seed.is_multiple_of(2) { &a } else { &b };
    failing.1.fail_after(after, Fault::Stop);
    let began = roster(&[&a, &b]);
    let used: Vec<_> =
        began.iter().flat_map(|roster| &roster.volumes).map(|v| v.partitions().is_ok()).collect();
    [&a.1, &b.1].into_iter().for_each(SimDisk::lose_power);
    // What was told to be used may have blobs: it must be known from then on.
    let complete = began.as_ref().is_ok_and(|roster| roster.absent.is_empty() && used.len() == 2)
        && !failing.1.fault_met();
    let without = match roster(&[&a]) {
        Ok(without) => without,
        Err(error) => return vec![error],
    };
    let mut wrong = Vec::new();
    if complete && without.absent.len() != 1 {
        wrong.push(format!("the second disk is not missed: {:?}", without.absent));
    }
    match roster(&[&a, &b]) {
        Ok(both) if both.absent.is_empty() && both.volumes.len() == 2 => {}
        Ok(both) => wrong.push(format!("{:?}", both.absent)),
        Err(error) => wrong.push(error),
    }
    wrong
}

fn all_wrong(ignored: Option<SyncPoint>) -> Vec<String> {
    let cases = (0..20).flat_map(|seed| {
        (0..30).flat_map(move |after| [(seed, after, false), (seed, after, true)])
    });
    cases.flat_map(|(seed, after, adds)| wrong(seed, after, adds, ignored)).collect()
}

#[test]
fn a_start_that_was_interrupted_is_taken_up_again() {
    assert_eq!(all_wrong(None), Vec::<String>::new());
    for &point in SyncPoint::ALL.iter().filter(|point| point.scope() == SyncScope::Disks) {
        assert!(!all_wrong(Some(point)).is_empty(), "nobody noticed that {point:?} was left out");
    }
}

#[test]
fn a_missing_disk_is_named_by_its_last_place() {
    let (a, b, c) = (
        SimSite("a", SimDisk::new(1)),
        SimSite("b", SimDisk::new(2)),
        SimSite("c", SimDisk::new(3)),
    );
    roster(&[&a, &b, &c]).unwrap();
    let id = look(&*b.1.tree()).unwrap().disk;
    let absent = roster(&[&a, &c]).unwrap().absent;
    let reason = "no directory that was given by --data has it".to_owned();
    assert_eq!(absent, [AbsentDisk { id, place: "b".to_owned(), reason }]);
}
