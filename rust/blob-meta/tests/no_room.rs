//! The disk takes no writes any more, from any operation on: it is full, read-only, or broken. Names can be read all the time;
//! each change is there as a whole or not at all; and when the disk takes writes again, so do the names.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_format::PartitionId;
use afterbay_blob_meta::{
    Bucket, Command, Condition, FileMedium, ListRequest, Medium, Names, NamesError, ObjectEntry,
    RedbNames, RedbOptions, Reservations, blob_to_bytes,
};
use afterbay_test_form::{PATIENCE, Wait};
use redb::StorageBackend;

use crate::common::disk::{Disk, Random};

const KEYS: usize = 5;

#[derive(Debug)]
struct DiskMedium(Disk);

impl Medium for DiskMedium {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.0.clone()))
    }

    fn open_to_read(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.0.clone()))
    }

    fn takes_writes(&self) -> bool {
        !self.0.refuses()
    }
}

fn options() -> RedbOptions {
    let retry = Duration::from_millis(5);
    RedbOptions { cache_bytes: 1 << 20, retry, ..Default::default() }
}

fn open(disk: &Disk) -> Arc<RedbNames> {
    Arc::new(RedbNames::open_medium(DiskMedium(disk.clone()), &options()).unwrap())
}

async fn put(names: &Arc<RedbNames>, ids: &Reservations, key: &str) -> Result<(), NamesError> {
    let blob = ids.take(PartitionId(1)).await?;
    let entry = ObjectEntry { blob: blob_to_bytes(blob).to_vec(), ..Default::default() };
    let (bucket, key, condition) = ("b".to_owned(), key.to_owned(), Condition::default());
    names.apply(Command::PutObject { bucket, key, entry, condition }).await.map(|_| ())
}

/// A disk with a bucket of some objects.
async fn prepared() -> Disk {
    let disk = Disk::default();
    let names = open(&disk);
    let bucket = Bucket { owner: "o".into(), ..Default::default() };
    names.apply(Command::CreateBucket { name: "b".into(), bucket }).await.unwrap();
    let ids = Reservations::begin(names.clone(), "f").await.unwrap();
    for number in 0..KEYS {
        put(&names, &ids, &format!("old/{number}")).await.unwrap();
    }
    disk
}

async fn keys(names: &RedbNames) -> Vec<String> {
    let page = names.list_objects("b", ListRequest { max: 100, ..Default::default() }).await;
    page.unwrap().rows.into_iter().map(|row| row.key).collect()
}

async fn delete_all_old(names: &RedbNames) -> Result<(), NamesError> {
    let keys = (0..KEYS).map(|number| (format!("old/{number}"), Condition::default())).collect();
    let delete = Command::DeleteObjects { bucket: "b".into(), keys, now_ms: 0 };
    names.apply(delete).await.map(|_| ())
}

/// Whether the disk took too few writes for the change, and what was found is wrong.
async fn refuse(operations: u64, kind: ErrorKind) -> bool {
    let disk = prepared().await;
    let names = open(&disk);
    let ids = Reservations::begin(names.clone(), "f").await.unwrap();
    put(&names, &ids, "new").await.unwrap();
    disk.refuse_after(operations, kind);
    let deleted = delete_all_old(&names).await;
    // All of them, or none.
    let found = keys(&names).await;
    let old = found.iter().filter(|key| key.starts_with("old/")).count();
    assert!([0, KEYS].contains(&old), "{operations}: {found:?}");
    assert!(deleted.is_err() || old == 0, "{operations}: {found:?}");
    assert!(found.contains(&"new".to_owned()));
    assert!(names.object("b", "new").await.unwrap().is_some());
    assert_eq!(names.counts().await.unwrap().objects, found.len() as u64);
    if let Err(error) = &deleted {
        let refusal = names.writable().unwrap_err();
        match kind {
            ErrorKind::StorageFull => assert!(matches!(refusal, NamesError::OutOfSpace(_))),
            _ => assert!(matches!(refusal, NamesError::ReadOnly(_)), "{error}: {refusal}"),
        }
        assert_eq!(names.apply(Command::DeleteKey { id: "k".into() }).await, Err(refusal));
        assert_eq!(keys(&names).await, found, "a refused change changes nothing");
    }
    disk.mend();
    let wait = Wait::until("names can be changed");
    while let Err(error) = names.writable() {
        wait.check(error);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(keys(&names).await, found);
    put(&names, &ids, "later").await.unwrap();
    let before = keys(&names).await;
    for (blob, places) in names.audit().await.unwrap() {
        assert_eq!(places.len(), 1, "{blob}: {places:?}");
    }
    drop((ids, names));
    let names = open(&disk);
    assert_eq!(keys(&names).await, before);
    deleted.is_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_refused_as_a_whole_and_reads_go_on() {
    for kind in [ErrorKind::StorageFull, ErrorKind::ReadOnlyFilesystem, ErrorKind::Other] {
        let mut refused = 0;
        for operations in 0..30 {
            refused += u64::from(refuse(operations, kind).await);
        }
        // Some failed before the commit, some in it; with enough writes none does.
        assert!((2..30).contains(&refused), "{kind}: {refused}");
    }
}

/// What a sync has lost that failed is in the operating system's cache, and is not written by the next one: nothing that is
/// acknowledged later may build on it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_after_a_sync_that_failed_survives_a_loss_of_power() {
    let mut random = Random(7);
    for operations in 0..30 {
        let disk = prepared().await;
        let names = open(&disk);
        let ids = Reservations::begin(names.clone(), "f").await.unwrap();
        disk.refuse_after(operations, ErrorKind::Other);
        let _ = delete_all_old(&names).await;
        disk.mend();
        let wait = Wait::until("names can be changed");
        while let Err(error) = put(&names, &ids, "later").await {
            wait.check(error);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let before = keys(&names).await;
        let after = disk.restart(&mut random);
        assert_eq!(keys(&open(&after)).await, before, "after {operations} operations");
    }
}

/// A commit whose sync failed is in the operating system's cache, and may never reach the disk: nobody may see it there.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_after_a_sync_that_failed_survives_a_loss_of_power() {
    let mut random = Random(7);
    let mut seen = 0;
    for operations in 0..30 {
        let disk = prepared().await;
        let names = open(&disk);
        disk.refuse_after(operations, ErrorKind::Other);
        let deleted = delete_all_old(&names).await;
        let found = keys(&names).await;
        seen += u64::from(deleted.is_err() && !found.is_empty());
        // What is torn depends on chance.
        for _ in 0..10 {
            let after = keys(&open(&disk.restart(&mut random))).await;
            // A change that was not answered may be found later.
            assert!(after.is_empty() || after == found, "{operations}: {found:?}, then {after:?}");
        }
    }
    assert!(seen >= 2, "{seen}");
}

#[tokio::test]
async fn a_read_that_fails_is_done_again_and_changes_go_on() {
    let disk = prepared().await;
    // Every read is one of the disk.
    let options = RedbOptions { cache_bytes: 0, ..options() };
    let names = RedbNames::open_medium(DiskMedium(disk.clone()), &options).unwrap();
    disk.fail_read();
    assert_eq!(keys(&names).await.len(), KEYS);
    assert!(!disk.will_fail_read(), "the disk was not read");
    let wait = Wait::until("names can be changed");
    while let Err(error) = names.writable() {
        wait.check(error);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    delete_all_old(&names).await.unwrap();
}

/// Whether the thread that writes panicked in the change, and what was found is wrong.
async fn panics(operations: u64) -> bool {
    let disk = prepared().await;
    let names = open(&disk);
    disk.panic_after(operations);
    let deleted = tokio::time::timeout(PATIENCE, delete_all_old(&names)).await;
    let deleted = deleted.unwrap();
    if let Err(error) = &deleted {
        assert!(error.to_string().contains("panicked: a bug of the disk"), "{error}");
    }
    // All of them, or none.
    let found = keys(&names).await;
    assert!([0, KEYS].contains(&found.len()), "{operations}: {found:?}");
    assert!(deleted.is_err() || found.is_empty(), "{operations}: {found:?}");
    let create = || async {
        let bucket = Bucket { owner: "o".into(), ..Default::default() };
        names.apply(Command::CreateBucket { name: "c".into(), bucket }).await
    };
    let wait = Wait::until("names can be changed");
    loop {
        match create().await {
            // Of a change that failed it is not known whether it was made.
            Ok(_) | Err(NamesError::BucketExists { .. }) => {
                let met = !disk.will_panic();
                // Not when the names are closed.
                disk.mend();
                return met && deleted.is_err();
            }
            Err(error) => {
                assert!(error.to_string().contains("panicked: a bug of the disk"), "{error}");
                wait.check((operations, error));
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_panic_callers_hear_of_it_and_names_are_changed_again() {
    let mut panicked = 0;
    for operations in 0..20 {
        panicked += u64::from(panics(operations).await);
    }
    assert!(panicked >= 2, "{panicked}");
}

/// The control: a file that is not opened again cannot even be read.
#[tokio::test]
async fn without_opening_it_again_nothing_can_be_read() {
    let disk = prepared().await;
    let names = RedbNames::open_on(disk.clone(), &options()).unwrap();
    disk.refuse_after(0, ErrorKind::StorageFull);
    assert!(delete_all_old(&names).await.is_err());
    assert!(names.object("b", "old/0").await.is_err());
}

#[tokio::test]
async fn a_full_disk_is_opened_for_reading_and_later_for_writing() {
    let disk = prepared().await;
    disk.refuse_after(0, ErrorKind::StorageFull);
    let names = open(&disk);
    assert_eq!(keys(&names).await.len(), KEYS);
    assert!(matches!(names.writable(), Err(NamesError::OutOfSpace(_))));
    // A session cannot begin yet; it does when an id is needed.
    let ids = Reservations::later(names.clone(), "f");
    assert!(put(&names, &ids, "x").await.is_err());
    disk.mend();
    let wait = Wait::until("names can be changed");
    while let Err(error) = put(&names, &ids, "x").await {
        wait.check(error);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(keys(&names).await.len(), KEYS + 1);
}

#[tokio::test]
async fn a_file_that_is_opened_to_read_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("names.redb");
    let names = RedbNames::open(&path, &options()).unwrap();
    let bucket = Bucket { owner: "o".into(), ..Default::default() };
    names.apply(Command::CreateBucket { name: "b".into(), bucket: bucket.clone() }).await.unwrap();
    drop(names);
    let before = std::fs::read(&path).unwrap();
    let names = RedbNames::open_read_only(FileMedium(path.clone()), &options()).unwrap();
    // What the server must know itself, such as its root key, is in memory.
    let create = |name: &str| Command::CreateBucket { name: name.into(), bucket: bucket.clone() };
    names.apply(create("c")).await.unwrap();
    names.refuse_changes("read-only");
    assert_eq!(names.buckets().len(), 2);
    assert!(matches!(names.apply(create("d")).await, Err(NamesError::ReadOnly(_))));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(names.writable().is_err(), "it stays like that");
    drop(names);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // Where there are no names yet, there are none.
    let empty =
        RedbNames::open_read_only(FileMedium(directory.path().join("none")), &options()).unwrap();
    assert!(empty.buckets().is_empty() && !directory.path().join("none").exists());
}
