//! The power goes at any operation of the disk, also between a blob and its name. Afterwards: what was acknowledged is there,
//! no name points to a missing blob, and once the garbage is collected no blob is left that has no name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_meta::{
    Bucket, Collector, CollectorOptions, Command, Condition, Names, ObjectEntry, RedbNames,
    RedbOptions, Reservations, blob_from_bytes, blob_to_bytes,
};
use afterbay_test_form::names_crashes;

use crate::common::Blobs;
use crate::common::disk::{Disk, Random};

const WRITERS: u64 = 4;

fn options() -> RedbOptions {
    RedbOptions { cache_bytes: 1 << 20, ..Default::default() }
}

/// What each key was last acknowledged to stand for, and what was being done when the power went.
type Acknowledged = Arc<Mutex<BTreeMap<String, (Option<BlobId>, Vec<Option<BlobId>>)>>>;

/// Writes and deletes its own keys until the power goes.
async fn writer(
    number: u64,
    names: Arc<RedbNames>,
    reservations: Reservations,
    blobs: Arc<Blobs>,
    acknowledged: Acknowledged,
    mut random: Random,
) {
    for _ in 0..30 {
        let key = format!("{number}/{}", random.next(4));
        let begin = |wanted| {
            acknowledged.lock().unwrap().entry(key.clone()).or_default().1.push(wanted);
        };
        let (command, wanted) = if random.next(4) == 0 {
            let keys = vec![(key.clone(), Condition::default())];
            begin(None);
            (Command::DeleteObjects { bucket: "b".into(), keys, now_ms: 0 }, None)
        } else {
            let Ok(blob) = reservations.take(PartitionId(1)).await else { return };
            blobs.put(blob);
            if random.next(5) == 0 {
                // It goes away between the blob and its name.
                continue;
            }
            begin(Some(blob));
            let entry = ObjectEntry { blob: blob_to_bytes(blob).to_vec(), ..Default::default() };
            let condition = Condition::default();
            (
                Command::PutObject { bucket: "b".into(), key: key.clone(), entry, condition },
                Some(blob),
            )
        };
        if names.apply(command).await.is_err() {
            return;
        }
        let mut all = acknowledged.lock().unwrap();
        all.insert(key, (wanted, Vec::new()));
    }
}

/// One life of the machine and what is found after it. Says what is wrong.
async fn crash(seed: u64, disk: Disk) -> Result<(), String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let blobs = Arc::new(Blobs::default());
    let acknowledged: Acknowledged = Arc::default();
    {
        let names =
            Arc::new(RedbNames::open_on(disk.clone(), &options()).map_err(|e| e.to_string())?);
        let bucket = Bucket { owner: "o".into(), ..Default::default() };
        let create = Command::CreateBucket { name: "b".into(), bucket };
        names.apply(create).await.map_err(|e| e.to_string())?;
        let reservations =
            Reservations::begin(names.clone(), "f").await.map_err(|e| e.to_string())?;
        disk.power_off_after(random.next(400));
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let random = Random(random.next(u64::MAX) | 1);
                let (names, reservations) = (names.clone(), reservations.clone());
                tokio::spawn(writer(
                    n,
                    names,
                    reservations,
                    blobs.clone(),
                    acknowledged.clone(),
                    random,
                ))
            })
            .collect();
        for writer in writers {
            writer.await.map_err(|e| e.to_string())?;
        }
        // What redb does when it is closed must not reach the disk either.
        disk.power_off_after(0);
    }
    let disk = disk.restart(&mut random);
    let names = Arc::new(RedbNames::open_on(disk, &options()).map_err(|e| e.to_string())?);
    let acknowledged = acknowledged.lock().unwrap().clone();
    check(names, &blobs, &acknowledged).await
}

async fn check(
    names: Arc<RedbNames>,
    blobs: &Arc<Blobs>,
    acknowledged: &BTreeMap<String, (Option<BlobId>, Vec<Option<BlobId>>)>,
) -> Result<(), String> {
    Reservations::begin(names.clone(), "f").await.map_err(|e| e.to_string())?;
    let options = CollectorOptions { grace: Duration::ZERO, ..Default::default() };
    let shared: Arc<dyn Names> = names.clone();
    let mut collector = Collector::new(shared, blobs.clone(), options);
    collector.collect().await.map_err(|e| e.to_string())?;
    let mut named = 0;
    for (key, (last, in_work)) in acknowledged {
        let entry = names.object("b", key).await.map_err(|e| e.to_string())?;
        let found =
            entry.map(|e| blob_from_bytes(&e.blob)).transpose().map_err(|e| e.to_string())?;
        if found != *last && !in_work.contains(&found) {
            return Err(format!("{key}: {found:?} where {last:?} was acknowledged"));
        }
        if let Some(blob) = found {
            named += 1;
            if !blobs.has(blob) {
                return Err(format!("{key} stands for {blob}, which is deleted"));
            }
        }
    }
    match blobs.all().len() {
        stored if stored == named => Ok(()),
        stored => Err(format!("{stored} blobs are stored, {named} are named")),
    }
}

fn run(seeds: u64, disk: impl Fn() -> Disk) -> Vec<String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let crash =
        |seed| runtime.block_on(crash(seed, disk())).err().map(|e| format!("seed {seed}: {e}"));
    (1..=seeds).filter_map(crash).collect()
}

#[test]
fn nothing_is_lost_and_nothing_is_left() {
    let wrong = run(names_crashes(), Disk::default);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The control: on a disk whose syncs do nothing, the same test fails.
#[test]
fn without_syncs_it_is() {
    assert!(!run(20, Disk::lying).is_empty());
}
