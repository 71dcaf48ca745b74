//! The datanode over disks that are slow, full, or fail.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use afterbay_blob_router::{BlobId, ChunkStore, Durability, Error, Include, PartitionId, Put};
use afterbay_blob_server::node::{
    Datanode, NodeOptions, NodeServices, PartitionState, Roster, TombstoneKeeper, Volume,
};
use afterbay_blob_store::SyncPoint;
use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_test_form::{NEVER, PATIENCE, Wait};
use futures_util::future::join_all;

use crate::common::{SimVolume, content};

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
    let volume = SimVolume::new(1 << 30, Duration::ZERO);
    let node = node(&volume, NodeOptions { partition_bytes: Some(16 << 20), ..options() });
    // The control: one after the other, each has its own.
    for number in 0..10 {
        put(&node, number, 100).await.unwrap();
    }
    assert_eq!(volume.commits(), 10);
    // The first sync ends when all puts are in the queue.
    volume.gate.close();
    let begun = AtomicU64::new(0);
    let all = join_all((0..400).map(|number| {
        let mut put = Box::pin(put(&node, number, 100));
        let mut has_begun = false;
        let (begun, gate) = (&begun, &volume.gate);
        poll_fn(move |context| {
            let polled = put.as_mut().poll(context);
            if !std::mem::replace(&mut has_begun, true)
                && begun.fetch_add(1, Ordering::Relaxed) == 399
            {
                gate.open();
            }
            polled
        })
    }))
    .await;
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
        let wait = Wait::until("there is room");
        let id = loop {
            match put(&node, number, 50_000).await {
                Ok(id) => break id,
                Err(error) => {
                    wait.check(error);
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
    // Nothing but puts writes: the fault is theirs.
    let no_upkeep = NodeOptions { flush_interval: NEVER, compact_interval: NEVER, ..options() };
    let node = node(&volume, no_upkeep);
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

/// Puts are taken again, once the partition that failed has been opened again.
async fn await_put(node: &Datanode) {
    let wait = Wait::until("a put is taken");
    while let Err(error) = put(node, 3, 1000).await {
        wait.check((error, node.status().await));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_that_failed_serves_reads_and_is_opened_again() {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, options());
    let id = put(&node, 1, 1000).await.unwrap();
    volume.takes_writes.store(false, Ordering::Relaxed);
    volume.each(|disk| disk.fail_sync(SyncPoint::Commit, 0, Fault::Eio));
    let refused = put(&node, 2, 1000).await.unwrap_err();
    assert!(matches!(refused, Error::Unavailable { .. }), "{refused}");
    volume.each(afterbay_blob_store::sim::SimDisk::mend);
    check(&node, id, 1, 1000).await;
    let status = node.status().await.unwrap();
    assert_eq!(status.disks[0].partitions[0].state, PartitionState::Failed);
    assert!(status.disks[0].partitions[0].reason.is_some());
    volume.takes_writes.store(true, Ordering::Relaxed);
    await_put(&node).await;
    check(&node, id, 1, 1000).await;
    node.shut_down();
}

/// Puts that came before, with and after the panic are all answered, and what is stored is served.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_group_of_writes_fails_the_partition_and_nobody_waits_for_ever() {
    let volume = SimVolume::new(1 << 20, Duration::from_millis(20));
    let node = node(&volume, options());
    let id = put(&node, 1, 1000).await.unwrap();
    volume.takes_writes.store(false, Ordering::Relaxed);
    volume.each(|disk| disk.fail_sync(SyncPoint::Commit, 0, Fault::Panic));
    let puts = join_all((0..100).map(|number| put(&node, number, 100)));
    let answers = tokio::time::timeout(PATIENCE, puts).await.expect("answers");
    let refused: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert!(!refused.is_empty());
    for error in &refused {
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains("panic"), "{error}");
    }
    check(&node, id, 1, 1000).await;
    let status = node.status().await.unwrap();
    assert_eq!(status.disks[0].partitions[0].state, PartitionState::Failed);
    assert!(status.disks[0].partitions[0].reason.as_ref().unwrap().contains("panic"));
    // One that comes later hears the same: there is room, for which the partition has to be opened again.
    let late = put(&node, 2, 100).await.unwrap_err();
    assert!(matches!(late, Error::Unavailable { .. }), "{late}");
    assert!(late.to_string().contains("panic"), "{late}");
    volume.takes_writes.store(true, Ordering::Relaxed);
    await_put(&node).await;
    check(&node, id, 1, 1000).await;
    node.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_goes_on_after_a_panic() {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, options());
    let id = put(&node, 1, 1000).await.unwrap();
    let put_fast = || async {
        let id = node.place(100, &[]).await?;
        node.put(Put::new(id, content(1, 100)), Durability::Fast).await
    };
    // Its write is done; the sync that upkeep does for it panics.
    volume.each(|disk| disk.fail_sync(SyncPoint::Flush, 0, Fault::Panic));
    put_fast().await.unwrap();
    let met =
        || volume.disks.lock().unwrap().values().any(afterbay_blob_store::sim::SimDisk::fault_met);
    let wait = Wait::until("a fast put behind the panic is synced");
    loop {
        let syncs = volume.commits();
        if met() && put_fast().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
            if volume.commits() > syncs {
                break;
            }
        }
        wait.check(node.status().await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    check(&node, id, 1, 1000).await;
    node.shut_down();
}

/// Every other blob of several segments is deleted: what is left has to be copied. How long it took until their room was free,
/// waiting for `most` at most.
async fn compacted(bytes_per_s: u64, most: Duration) -> Option<Duration> {
    const BYTES: usize = 20_000;
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, NodeOptions { compact_bytes_per_s: bytes_per_s, ..options() });
    let mut kept = Vec::new();
    for number in 0..30 {
        let id = put(&node, number, BYTES).await.unwrap();
        if number % 2 == 0 {
            kept.push((id, number));
        } else {
            node.delete(id, DURABLE).await.unwrap();
        }
    }
    let began = Instant::now();
    let mut took = None;
    while took.is_none() && began.elapsed() < most {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let disks = node.status().await.unwrap().disks;
        let used: u64 = disks.iter().flat_map(|disk| &disk.partitions).map(|p| p.used_bytes).sum();
        took = (used < 25 * BYTES as u64).then(|| began.elapsed());
    }
    for (id, number) in kept {
        check(&node, id, number, BYTES).await;
    }
    // It does not wait for the pace.
    node.shut_down();
    took
}

#[tokio::test(flavor = "multi_thread")]
async fn compaction_keeps_to_its_pace() {
    let took = compacted(1 << 30, PATIENCE).await.expect("the room is free again");
    // The control, at a pace that needs hours.
    let most = (2 * took + Duration::from_millis(500)).min(Duration::from_secs(5));
    let slow = compacted(1, most).await;
    assert_eq!(slow, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn fast_writes_are_synced_soon() {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let node = node(&volume, options());
    let id = node.place(100, &[]).await.unwrap();
    node.put(Put::new(id, content(1, 100)), Durability::Fast).await.unwrap();
    let wait = Wait::until("it is synced");
    while volume.commits() == 0 {
        wait.check(node.status().await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    node.shut_down();
    volume.each(afterbay_blob_store::sim::SimDisk::lose_power);
    let node = Datanode::open(vec![volume.clone() as Arc<dyn Volume>], &options()).unwrap();
    check(&node, id, 1, 100).await;
    node.shut_down();
}

/// The header of the only record of a partition is damaged; how much of that is told, and how much cut.
async fn after_damage_at_the_end(end: impl AsyncFnOnce(&Datanode)) -> (u64, u64) {
    let volume = SimVolume::new(1 << 20, Duration::ZERO);
    let opened = node(&volume, options());
    put(&opened, 1, 1000).await.unwrap();
    end(&opened).await;
    volume.each(|disk| {
        disk.kill_process();
        disk.turn_bit("0000000000000001.log", 68 + 20);
    });
    opened.shut_down();
    let opened = node(&volume, options());
    let status = opened.status().await.unwrap();
    opened.shut_down();
    let partition = &status.disks[0].partitions[0];
    (partition.damaged_ranges, partition.cut_bytes)
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_at_the_end_of_the_log_is_told_after_a_clean_end_and_after_a_rest() {
    let (damaged, cut) = after_damage_at_the_end(async |node| node.shut_down()).await;
    assert_eq!((damaged, cut), (1, 0));
    // How long a rest has to be depends on the machine.
    let wait = Wait::until("a rest was long enough");
    let mut rest = Duration::from_millis(500);
    loop {
        let rests = async |_: &Datanode| tokio::time::sleep(rest).await;
        match after_damage_at_the_end(rests).await {
            (1, 0) => break,
            found => wait.check((rest, found)),
        }
        rest *= 2;
    }
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
    let unknown = BlobId::random(id.partition);
    assert!(matches!(node.open(unknown, Include::All).await, Err(Error::NotFound(_))));
    // It may be on a disk that was left out.
    let elsewhere = BlobId::random(PartitionId(1));
    assert!(matches!(node.open(elsewhere, Include::All).await, Err(Error::NotHere { .. })));
    let not_here = node.delete(elsewhere, DURABLE).await.unwrap_err();
    assert!(not_here.to_string().contains("--data"), "{not_here}");
    node.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_sector_is_an_error_of_one_blob() {
    let volume = SimVolume::new(1 << 30, Duration::ZERO);
    let node = node(&volume, options());
    let first = put(&node, 1, 40_000).await.unwrap();
    let second = put(&node, 2, 40_000).await.unwrap();
    volume.each(|disk| disk.fail_reads("0000000000000001.log", 20_000..20_001));
    let chunk = node.open(first, Include::Alive).await.unwrap();
    match chunk.read(0..u32::MAX).await {
        Err(Error::Damaged { place, reason }) => {
            assert_eq!(place, "simulated disk");
            assert!(reason.starts_with("0000000000000001.log at byte"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    check(&node, second, 2, 40_000).await;
    put(&node, 3, 100).await.unwrap();
    volume.each(SimDisk::heal_reads);
    check(&node, first, 1, 40_000).await;
    node.shut_down();
}

/// Says how far the other replicas are, as a test wants it.
#[derive(Debug, Default)]
struct Keeper {
    passed: AtomicU64,
    asked: AtomicU64,
}

impl TombstoneKeeper for Keeper {
    fn passed_by_all(&self, _: PartitionId) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.passed.load(Ordering::Relaxed)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tombstones_stay_as_long_as_another_replica_needs_them() {
    let volume = SimVolume::new(8 << 20, Duration::ZERO);
    let keeper = Arc::new(Keeper::default());
    let services = NodeServices { tombstones: keeper.clone(), ..NodeServices::default() };
    let roster = Roster { volumes: vec![volume.clone() as Arc<dyn Volume>], ..Roster::default() };
    let options = NodeOptions { segment_bytes: Some(64 << 10), ..options() };
    let node = Datanode::open_with(roster, &options, services).unwrap();
    let first = put(&node, 1, 10_000).await.unwrap();
    node.delete(first, DURABLE).await.unwrap();
    let is_gone = async || matches!(node.open(first, Include::All).await, Err(Error::NotFound(_)));
    let has_tombstone =
        async || matches!(node.open(first, Include::Alive).await, Err(Error::Deleted(_)));
    // Puts and deletes fill segments, so that they are compacted.
    let mut number = 2;
    let mut churn = async || {
        match put(&node, number, 10_000).await {
            Ok(id) => node.delete(id, DURABLE).await.unwrap(),
            // Compaction is behind.
            Err(Error::ReadOnly { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        number += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let wait = Wait::until("its content is compacted away");
    while !is_gone().await {
        wait.check("it is there");
        churn().await;
    }
    let asked = keeper.asked.load(Ordering::Relaxed);
    let wait = Wait::until("several compactions");
    while keeper.asked.load(Ordering::Relaxed) < asked + 5 {
        wait.check("few");
        churn().await;
    }
    assert!(has_tombstone().await, "nobody has said that it is not needed");
    keeper.passed.store(u64::MAX, Ordering::Relaxed);
    let wait = Wait::until("the tombstone goes");
    while has_tombstone().await {
        wait.check("it is there");
        churn().await;
    }
    node.shut_down();
}
