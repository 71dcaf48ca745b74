//! The datanode over disks that are slow, full, or fail.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use afterbay_blob_router::{BlobId, ChunkStore, Durability, Error, Include, Put};
use afterbay_blob_server::node::{Datanode, NodeOptions, PartitionState, Volume};
use afterbay_blob_store::sim::Fault;
use common::{SimVolume, content};
use futures_util::future::join_all;

const DURABLE: Durability = Durability::Durable;

fn options() -> NodeOptions {
    NodeOptions {
        partition_bytes: Some(1 << 20),
        segment_bytes: Some(128 << 10),
        writable_partitions: 1,
        reserve_bytes: 0,
        undelete_window: Duration::ZERO,
        compact_interval: Duration::from_millis(20),
        compact_bytes_per_s: 1 << 30,
        garbage_percent_min: 1,
        flush_interval: Duration::from_millis(20),
        ..NodeOptions::default()
    }
}

fn node(volume: &Arc<SimVolume>, options: NodeOptions) -> Datanode {
    Datanode::open(vec![volume.clone() as Arc<dyn Volume>], &options).unwrap()
}

async fn put(node: &Datanode, number: u64, length: usize) -> Result<BlobId, Error> {
    let id = node.place(length as u64, &[]).await?;
    node.put(Put::new(id, content(number, length)), DURABLE).await?;
    Ok(id)
}

async fn check(node: &Datanode, id: BlobId, number: u64, length: usize) {
    let chunk = node.open(id, Include::Alive).await.unwrap();
    assert_eq!(chunk.read(0..u32::MAX).await.unwrap(), content(number, length));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_puts_share_their_syncs() {
    let volume = SimVolume::new(1 << 30, Duration::from_millis(5));
    let node = node(&volume, NodeOptions { partition_bytes: Some(16 << 20), ..options() });
    // The control: one after the other, each has its own.
    for number in 0..10 {
        put(&node, number, 100).await.unwrap();
    }
    assert_eq!(volume.commits(), 10);
    let all = join_all((0..400).map(|number| put(&node, number, 100))).await;
    let syncs = volume.commits() - 10;
    assert!(syncs <= 40, "{syncs} syncs for 400 puts");
    for (number, id) in all.into_iter().enumerate() {
        check(&node, id.unwrap(), number as u64, 100).await;
    }
    node.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_partition_is_made_when_one_is_full() {
    let volume = SimVolume::new(3 << 20, Duration::ZERO);
    let node =
        node(&volume, NodeOptions { compact_interval: Duration::from_secs(999), ..options() });
    let mut stored = Vec::new();
    let full = loop {
        let number = stored.len() as u64;
        // A file system has less room with each segment; here only the test says so.
        volume.available.store((3 << 20) - stored.len() as u64 * 50_000, Ordering::Relaxed);
        match put(&node, number, 50_000).await {
            Ok(id) => stored.push(id),
            Err(Error::ReadOnly { .. }) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::OutOfSpace { .. }), "{full}");
    assert!(full.to_string().contains("--data"), "{full}");
    let partitions: std::collections::BTreeSet<_> = stored.iter().map(|id| id.partition).collect();
    assert!(partitions.len() >= 2, "{partitions:?}");
    for (number, id) in stored.iter().enumerate() {
        check(&node, *id, number as u64, 50_000).await;
    }
    // Deletes go on, and make room.
    for id in &stored {
        node.delete(*id, DURABLE).await.unwrap();
    }
    node.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_blobs_make_room() {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, options());
    // Five times what there is room for.
    let mut last = None;
    for number in 0..100 {
        let mut tries = 0;
        let id = loop {
            match put(&node, number, 50_000).await {
                Ok(id) => break id,
                Err(error) => {
                    tries += 1;
                    assert!(tries < 500, "{error}");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        };
        check(&node, id, number, 50_000).await;
        if let Some(last) = last.replace(id) {
            node.delete(last, DURABLE).await.unwrap();
        }
    }
    check(&node, last.unwrap(), 99, 50_000).await;
    node.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_puts_and_serves() {
    let volume = SimVolume::new(2 << 20, Duration::ZERO);
    let node = node(&volume, options());
    let id = put(&node, 1, 100_000).await.unwrap();
    // The next segment cannot be made.
    volume.each(|disk| disk.fail_after(0, Fault::Enospc));
    let refused = put(&node, 2, 100_000).await.unwrap_err();
    assert!(matches!(refused, Error::OutOfSpace { .. }), "{refused}");
    check(&node, id, 1, 100_000).await;
    volume.each(afterbay_blob_store::sim::SimDisk::mend);
    put(&node, 2, 100_000).await.unwrap();
    node.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_that_failed_serves_reads_and_is_opened_again() {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, options());
    let id = put(&node, 1, 1000).await.unwrap();
    volume.takes_writes.store(false, Ordering::Relaxed);
    volume.each(|disk| disk.fail_after(0, Fault::Eio));
    let refused = put(&node, 2, 1000).await.unwrap_err();
    assert!(matches!(refused, Error::Unavailable { .. }), "{refused}");
    volume.each(afterbay_blob_store::sim::SimDisk::mend);
    check(&node, id, 1, 1000).await;
    let status = node.status().await.unwrap();
    assert_eq!(status.disks[0].partitions[0].state, PartitionState::Failed);
    assert!(status.disks[0].partitions[0].reason.is_some());
    volume.takes_writes.store(true, Ordering::Relaxed);
    for _ in 0..1000 {
        if put(&node, 3, 1000).await.is_ok() {
            check(&node, id, 1, 1000).await;
            return node.shut_down();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", node.status().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn fast_writes_are_synced_soon() {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, options());
    let id = node.place(100, &[]).await.unwrap();
    node.put(Put::new(id, content(1, 100)), Durability::Fast).await.unwrap();
    for _ in 0..1000 {
        if volume.commits() > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    node.shut_down();
    volume.each(afterbay_blob_store::sim::SimDisk::lose_power);
    let node = Datanode::open(vec![volume.clone() as Arc<dyn Volume>], &options()).unwrap();
    check(&node, id, 1, 100).await;
    node.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_a_loss_of_power() {
    let volume = SimVolume::new(8 << 20, Duration::ZERO);
    let mut stored = Vec::new();
    for run in 0..5 {
        let node = node(&volume, options());
        for (id, number) in &stored {
            check(&node, *id, *number, 3000).await;
        }
        let puts = (0..50).map(|n| {
            let (node, number) = (node.clone(), run * 100 + n);
            async move { (put(&node, number, 3000).await.unwrap(), number) }
        });
        stored.extend(join_all(puts).await);
        volume.each(afterbay_blob_store::sim::SimDisk::lose_power);
        node.shut_down();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_blobs_are_not_served() {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, options());
    let id = node.place(10, &[]).await.unwrap();
    node.put(Put { expires_ms: 1, ..Put::new(id, "x") }, DURABLE).await.unwrap();
    assert!(matches!(node.open(id, Include::Alive).await, Err(Error::Expired(_))));
    let unknown = BlobId::random(afterbay_blob_router::PartitionId(1));
    assert!(matches!(node.open(unknown, Include::All).await, Err(Error::NotFound(_))));
    node.shut_down();
}
