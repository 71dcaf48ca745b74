//! What is on the disks when no server runs: after the garbage is collected, the blobs that are alive are those that names
//! need, and all of them are there.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_format::{COMPOSITE_PROPERTY, ChunkList, PartitionId, PropertyClass, RecordKind};
use afterbay_blob_meta::{
    Collector, CollectorOptions, Names, Place, RedbNames, RedbOptions, Reservations,
};
use afterbay_blob_router::{BlobId, ChunkStore, Include};
use afterbay_blob_s3::StoreDeleter;
use afterbay_blob_server::node::{DataDirectory, Datanode, NodeOptions, Volume};
use afterbay_blob_store::{Partition, SystemClock};

use super::ledger::NAMELESS;

/// What is wrong in a data directory.
pub async fn audit_directory(data: &Path) -> Vec<String> {
    let volume = Arc::new(DataDirectory::open(data).unwrap());
    let names = RedbNames::open(&data.join("names/names.redb"), &RedbOptions::default());
    audit(volume, Arc::new(names.unwrap())).await
}

pub async fn audit(volume: Arc<dyn Volume>, names: Arc<RedbNames>) -> Vec<String> {
    let options =
        NodeOptions { compact_interval: Duration::from_secs(3600), ..NodeOptions::default() };
    let node = Datanode::open(vec![volume.clone()], &options).unwrap();
    let store: Arc<dyn ChunkStore> = Arc::new(node.clone());
    let mut wrong = Vec::new();
    collect(&names, &store, &mut wrong).await;
    let needed = needed(&names, &*store, &mut wrong).await;
    node.shut_down();
    drop((node, store));
    let alive = alive(&*volume, &mut wrong);
    wrong.extend(alive.difference(&needed).map(|id| format!("{id} is alive and has no name")));
    wrong.extend(needed.difference(&alive).map(|id| format!("{id} is needed and not alive")));
    wrong
}

/// Deletes what nobody needs, as a server does some time after its start.
async fn collect(names: &Arc<RedbNames>, store: &Arc<dyn ChunkStore>, wrong: &mut Vec<String>) {
    let shared: Arc<dyn Names> = names.clone();
    Reservations::begin(shared.clone(), "local").await.unwrap();
    let options = CollectorOptions { grace: Duration::ZERO, ..CollectorOptions::default() };
    let deleter = Arc::new(StoreDeleter::new(store.clone()));
    let mut collector = Collector::new(shared, deleter, options);
    // What is garbage as a whole is garbage in pieces after the first turn.
    while collector.collect().await.unwrap() > 0 {}
    let left = names.garbage(0, u64::MAX, 10).await.unwrap();
    wrong.extend(left.into_iter().map(|garbage| format!("cannot be collected: {garbage:?}")));
}

/// All blobs that names stand for, with their chunks.
async fn needed(
    names: &RedbNames,
    store: &dyn ChunkStore,
    wrong: &mut Vec<String>,
) -> BTreeSet<BlobId> {
    let mut needed = BTreeSet::new();
    for (id, places) in names.audit().await.unwrap() {
        if !matches!(places[..], [Place::Object] | [Place::Part]) {
            wrong.push(format!("{id} is in {places:?}"));
        }
        needed.insert(id);
        match chunks(store, id).await {
            Ok(chunks) => needed.extend(chunks),
            Err(error) => wrong.push(format!("{id}, {places:?}: {error}")),
        }
    }
    needed
}

async fn chunks(store: &dyn ChunkStore, id: BlobId) -> Result<Vec<BlobId>, String> {
    let blob = store.open(id, Include::Alive).await.map_err(|e| e.to_string())?;
    if blob.properties().get(PropertyClass::System, COMPOSITE_PROPERTY).is_none() {
        return Ok(Vec::new());
    }
    let list = blob.read(0..u32::MAX).await.map_err(|e| e.to_string())?;
    let list = ChunkList::parse(&list).map_err(|e| e.to_string())?;
    Ok(list.chunks.iter().map(|chunk| chunk.id).collect())
}

/// All blobs and chunks that are alive, but those that never had names.
fn alive(volume: &dyn Volume, wrong: &mut Vec<String>) -> BTreeSet<BlobId> {
    let mut alive = BTreeSet::new();
    for id in volume.partitions().unwrap() {
        match alive_in(volume, id) {
            Ok(ids) => alive.extend(ids),
            Err(error) => wrong.push(format!("partition {id}: {error}")),
        }
    }
    alive
}

fn alive_in(volume: &dyn Volume, id: PartitionId) -> Result<Vec<BlobId>, String> {
    let directory = volume.open(id).map_err(|e| e.to_string())?;
    let options = NodeOptions::default().partition(0);
    let partition = Partition::open(directory, options, Arc::new(SystemClock));
    let partition = partition.map_err(|e| e.to_string())?;
    let changes = partition.changes_since(0, usize::MAX).map_err(|e| e.to_string())?.changes;
    let puts = changes.iter().filter(|change| change.kind == RecordKind::Put);
    let there = puts.filter_map(|put| Some((put.id, partition.get(put.id).ok()?)));
    Ok(there.filter(|(_, blob)| blob.container() != NAMELESS).map(|(id, _)| id).collect())
}
