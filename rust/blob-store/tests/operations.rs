//! What requests do, one by one: answers, groups, threads, other replicas, space.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{
    BlobId, CompactionOptions, Durability, Error, Operation, Options, Origin, Pacer, Partition,
    Properties, PropertyClass, Put, RealDirectory, SyncPoint, Unpaced, Write, Written,
};

use crate::common::{PARTITION, TestClock, blob_id, everything, small_options};

struct Fixture {
    disk: SimDisk,
    clock: Arc<TestClock>,
    partition: Partition,
}

fn fixture(options: Options) -> Fixture {
    let disk = SimDisk::new(1);
    let clock = Arc::new(TestClock(AtomicU64::new(1_000)));
    Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
    let partition = Partition::open(disk.directory(), options, clock.clone()).unwrap();
    Fixture { disk, clock, partition }
}

fn put(blob: u8, length: usize) -> Put {
    Put::new(blob_id(blob), vec![blob; length])
}

fn put_write(blob: u8, length: usize, durability: Durability) -> Write {
    Write::new(Operation::Put(put(blob, length)), durability)
}

const DURABLE: Durability = Durability::Durable;

/// Who says that an id is fresh, and it is not, gets what the log of a blob must not have: so that this is known.
#[test]
fn a_fresh_id_is_not_looked_for_in_sealed_segments() {
    let Fixture { disk, partition, .. } = fixture(small_options());
    let fresh = |blob| Put { fresh: true, ..put(blob, 100) };
    assert_eq!(partition.put(fresh(1), DURABLE).unwrap(), Written::Now);
    assert_eq!(partition.put(fresh(1), DURABLE).unwrap(), Written::Before);
    let other = Put { body: vec![9; 100].into(), ..fresh(1) };
    assert!(matches!(partition.put(other, DURABLE), Err(Error::Collision(_))));
    partition.seal().unwrap();
    // No page of the index is read, or this one would be computed again.
    disk.turn_bit("0000000000000001.index", 4096 + 10);
    let damaged = disk.content("0000000000000001.index");
    assert_eq!(partition.put(fresh(2), DURABLE).unwrap(), Written::Now);
    assert_eq!(partition.put(fresh(1), DURABLE).unwrap(), Written::Now);
    assert_eq!(disk.content("0000000000000001.index"), damaged);
    assert_eq!(partition.put(put(1, 100), DURABLE).unwrap(), Written::Before);
    let origin = Origin::Replica { time_ms: 1_000, life: 0 };
    let again = Write { origin, ..Write::new(Operation::Put(fresh(1)), DURABLE) };
    partition.seal().unwrap();
    assert_eq!(partition.write(again).unwrap(), Written::Before, "of another replica");
}

#[test]
fn the_same_blob_again_is_no_collision() {
    let Fixture { disk, partition, .. } = fixture(small_options());
    let properties = Properties::default().with(PropertyClass::User, "a", "b");
    let first = Put { properties, container: 3, ..put(1, 100) };
    assert_eq!(partition.put(first.clone(), DURABLE).unwrap(), Written::Now);
    let written = disk.content("0000000000000001.log");
    assert_eq!(partition.put(first.clone(), DURABLE).unwrap(), Written::Before);
    assert_eq!(disk.content("0000000000000001.log"), written, "nothing is written");
    let other_body = Put { body: vec![9; 100].into(), ..first.clone() };
    assert!(matches!(partition.put(other_body, DURABLE), Err(Error::Collision(_))));
    let other_properties = Put { properties: Properties::default(), ..first };
    assert!(matches!(partition.put(other_properties, DURABLE), Err(Error::Collision(_))));
    let reader = partition.get(blob_id(1)).unwrap();
    assert_eq!((reader.container(), reader.created_ms(), reader.body_bytes()), (3, 1_000, 100));
}

#[test]
fn the_same_blob_twice_in_one_group() {
    let Fixture { partition, .. } = fixture(small_options());
    let other = Write::new(Operation::Put(Put::new(blob_id(1), vec![7])), DURABLE);
    let results =
        partition.write_all(vec![put_write(1, 10, DURABLE), put_write(1, 10, DURABLE), other]);
    assert_eq!(results[0].as_ref().unwrap(), &Written::Now);
    assert_eq!(results[1].as_ref().unwrap(), &Written::Before);
    assert!(matches!(results[2], Err(Error::Collision(_))));
}

#[test]
fn a_group_is_synced_once_and_fast_ones_not_at_all() {
    let Fixture { disk, partition, .. } = fixture(small_options());
    let group = (0..10).map(|blob| put_write(blob, 100, DURABLE)).collect();
    assert!(partition.write_all(group).iter().all(Result::is_ok));
    assert_eq!(disk.syncs(SyncPoint::Commit), 1);
    assert!(partition.put(put(11, 10), Durability::Fast).is_ok());
    assert_eq!(disk.syncs(SyncPoint::Commit), 1);
    // A fast blob that is put again, durably, is synced.
    assert_eq!(partition.put(put(11, 10), DURABLE).unwrap(), Written::Before);
    assert_eq!(disk.syncs(SyncPoint::Commit), 2);
    partition.flush().unwrap();
    assert_eq!(disk.syncs(SyncPoint::Commit), 2, "there is nothing to sync");
}

#[test]
fn threads_share_syncs_and_lose_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let directory = RealDirectory::create(&parent.path().join("partition")).unwrap();
    let options = Options { capacity_bytes: 64 << 20, segment_bytes: 1 << 20, ..small_options() };
    Partition::create(&directory, PARTITION, &options).unwrap();
    let clock = Arc::new(TestClock::default());
    let partition = Partition::open(Arc::new(directory), options.clone(), clock.clone()).unwrap();
    let ids: Vec<BlobId> = (0..400).map(|_| BlobId::random(PARTITION)).collect();
    let body = |id: &BlobId| id.uuid.as_bytes().repeat(100);
    std::thread::scope(|scope| {
        let (partition, body) = (&partition, &body);
        for ids in ids.chunks(50) {
            scope.spawn(move || {
                for id in ids {
                    partition.put(Put::new(*id, body(id)), DURABLE).unwrap();
                    assert_eq!(partition.get(*id).unwrap().read().unwrap(), body(id));
                }
            });
        }
    });
    drop(partition);
    let directory = RealDirectory::open(&parent.path().join("partition")).unwrap();
    let partition = Partition::open(Arc::new(directory), options, clock).unwrap();
    for id in &ids {
        let reader = partition.get(*id).unwrap();
        assert_eq!(reader.read().unwrap(), body(id));
        assert_eq!(reader.body_range().length, 1600);
        assert!(reader.body_range().file.is_some());
    }
    assert_eq!(partition.status().records, 400);
    assert_eq!(partition.changes_since(1, 1000).unwrap().changes.len(), 400);
}

#[test]
fn time_to_live() {
    let Fixture { clock, partition, .. } = fixture(small_options());
    partition.put(Put { expires_ms: 2_000, ..put(1, 10) }, DURABLE).unwrap();
    partition.update_ttl(blob_id(1), 3_000, DURABLE).unwrap();
    clock.0.store(2_999, Ordering::Relaxed);
    assert_eq!(partition.get(blob_id(1)).unwrap().expires_ms(), 3_000);
    // A shorter one in the same millisecond, or with a clock that went back, holds too.
    clock.0.store(500, Ordering::Relaxed);
    partition.update_ttl(blob_id(1), 1_500, DURABLE).unwrap();
    assert_eq!(partition.get(blob_id(1)).unwrap().expires_ms(), 1_500);
    clock.0.store(1_500, Ordering::Relaxed);
    assert!(matches!(partition.get(blob_id(1)), Err(Error::Expired(_))));
    assert!(matches!(partition.update_ttl(blob_id(1), 0, DURABLE), Err(Error::Expired(_))));
}

#[test]
fn deletes_and_undeletes() {
    let Fixture { partition, .. } = fixture(small_options());
    assert!(matches!(partition.delete(blob_id(1), DURABLE), Err(Error::NotFound(_))));
    partition.put(put(1, 10), DURABLE).unwrap();
    assert!(matches!(partition.undelete(blob_id(1), DURABLE), Err(Error::NotDeleted(_))));
    for _ in 0..3 {
        assert_eq!(partition.delete(blob_id(1), DURABLE).unwrap(), Written::Now);
        assert_eq!(partition.delete(blob_id(1), DURABLE).unwrap(), Written::Before);
        assert!(matches!(partition.get(blob_id(1)), Err(Error::Deleted(_))));
        assert!(matches!(partition.put(put(1, 10), DURABLE), Err(Error::Deleted(_))));
        partition.seal().unwrap();
        assert_eq!(partition.undelete(blob_id(1), DURABLE).unwrap(), Written::Now);
        assert_eq!(partition.get(blob_id(1)).unwrap().read().unwrap(), [1; 10][..]);
    }
}

#[test]
fn another_replicas_delete_may_come_before_its_put() {
    let Fixture { partition, .. } = fixture(small_options());
    let replica = |life| Origin::Replica { time_ms: 900, life };
    let write = |operation, life| {
        partition.write(Write { operation, durability: DURABLE, origin: replica(life) })
    };
    assert_eq!(write(Operation::Delete(blob_id(1)), 0).unwrap(), Written::Now);
    assert_eq!(write(Operation::Delete(blob_id(1)), 0).unwrap(), Written::Before);
    assert!(matches!(partition.put(put(1, 10), DURABLE), Err(Error::Deleted(_))), "a client's");
    assert_eq!(write(Operation::Put(put(1, 10)), 0).unwrap(), Written::Now);
    assert!(matches!(partition.get(blob_id(1)), Err(Error::Deleted(_))));
    assert_eq!(partition.missing(&[blob_id(1), blob_id(2)]).unwrap(), [blob_id(2)]);
    // A delete of an earlier life comes late.
    partition.put(put(2, 10), DURABLE).unwrap();
    partition.delete(blob_id(2), DURABLE).unwrap();
    partition.undelete(blob_id(2), DURABLE).unwrap();
    assert_eq!(write(Operation::Delete(blob_id(2)), 0).unwrap(), Written::Before);
    assert!(partition.get(blob_id(2)).is_ok());
    assert_eq!(write(Operation::Delete(blob_id(2)), 1).unwrap(), Written::Now);
    assert!(matches!(partition.get(blob_id(2)), Err(Error::Deleted(_))));
    assert_eq!(write(Operation::Undelete(blob_id(2)), 2).unwrap(), Written::Now);
    assert_eq!(write(Operation::Undelete(blob_id(2)), 2).unwrap(), Written::Before);
    assert!(partition.get(blob_id(2)).is_ok());
}

#[test]
fn too_large_a_blob_is_refused() {
    let Fixture { partition, .. } = fixture(small_options());
    let most = (16 << 10) - 68 - 88 - 4;
    assert!(matches!(partition.put(put(1, most + 1), DURABLE), Err(Error::TooLarge { .. })));
    assert!(partition.put(put(1, most), DURABLE).is_ok());
    let longest = afterbay_blob_format::MAX_BODY_BYTES;
    assert!(matches!(partition.put(put(2, longest + 1), DURABLE), Err(Error::TooLarge { .. })));
}

#[test]
fn above_its_threshold_a_partition_is_read_only_until_it_is_compacted() {
    let options = Options { capacity_bytes: 160 << 10, ..small_options() };
    let Fixture { disk, clock, partition } = fixture(options.clone());
    let mut stored = 0;
    while partition.put(put(stored, 4_000), DURABLE).is_ok() {
        stored += 1;
    }
    let error = partition.put(put(stored, 4_000), DURABLE).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    let used = partition.status().used_bytes;
    assert!((120 << 10..136 << 10).contains(&used), "{used} of 160 KiB, 85 % are 136");
    // Another replica's put, and deletes, go on.
    let origin = Origin::Replica { time_ms: 1, life: 0 };
    let operation = Operation::Put(put(100, 4_000));
    assert!(partition.write(Write { operation, durability: DURABLE, origin }).is_ok());
    (0..stored / 2).for_each(|blob| assert!(partition.delete(blob_id(blob), DURABLE).is_ok()));
    assert!(partition.status().read_only);
    // It stays so when it is opened again.
    drop(partition);
    let partition = Partition::open(disk.directory(), options, clock).unwrap();
    assert!(partition.put(put(stored, 4_000), DURABLE).is_err());
    partition.seal().unwrap();
    while partition.compact(&everything(), &Unpaced).unwrap().segments_before > 0 {}
    assert!(!partition.status().read_only);
    assert_eq!(partition.put(put(stored, 4_000), DURABLE).unwrap(), Written::Now);
    assert!(matches!(partition.get(blob_id(0)), Err(Error::Deleted(_))), "tombstones stay");
    assert_eq!(
        partition.get(blob_id(stored - 1)).unwrap().read().unwrap(),
        vec![stored - 1; 4_000]
    );
}

#[test]
fn a_full_partition_takes_nothing() {
    let options = Options {
        capacity_bytes: 32 << 10,
        read_only_above_percent: 100,
        segment_records_max: 1000,
        ..small_options()
    };
    let Fixture { partition, .. } = fixture(options);
    let mut stored = 0;
    let origin = Origin::Replica { time_ms: 1, life: 0 };
    let put_next = |blob| {
        partition.write(Write {
            operation: Operation::Put(put(blob, 4_000)),
            durability: DURABLE,
            origin,
        })
    };
    while put_next(stored).is_ok() {
        stored += 1;
    }
    assert!(matches!(put_next(stored), Err(Error::Full(_))));
    assert!(partition.status().used_bytes <= 32 << 10);
    (0..stored).for_each(|blob| assert!(partition.get(blob_id(blob)).is_ok()));
}

#[test]
fn files_of_compacted_segments_wait_for_their_readers() {
    let Fixture { disk, partition, .. } = fixture(small_options());
    partition.put(put(1, 5_000), DURABLE).unwrap();
    partition.put(put(2, 5_000), DURABLE).unwrap();
    partition.delete(blob_id(1), DURABLE).unwrap();
    let reader = partition.get(blob_id(2)).unwrap();
    partition.seal().unwrap();
    let report = partition.compact(&everything(), &Unpaced).unwrap();
    assert_eq!((report.segments_before, report.segments_after, report.dropped_records), (1, 1, 1));
    assert_eq!(report.freed_bytes, 5_000 + 92);
    assert_eq!(partition.status().retired_segments, 1);
    assert!(disk.content("0000000000000001.log").is_some());
    assert_eq!(reader.read().unwrap(), vec![2; 5_000]);
    drop(reader);
    partition.compact(&everything(), &Unpaced).unwrap();
    assert_eq!(partition.status().retired_segments, 0);
    assert!(disk.content("0000000000000001.log").is_none());
    assert!(disk.content("0000000000000001.index").is_none());
    assert_eq!(partition.get(blob_id(2)).unwrap().read().unwrap(), vec![2; 5_000]);
}

/// Undeletes a blob while a compaction that leaves it out is under way.
struct Undeletes<'a>(&'a Partition, Cell<bool>);

impl Pacer for Undeletes<'_> {
    fn pace(&self, bytes: u64) -> ControlFlow<()> {
        // When records are copied, not when they are looked up, page by page.
        if bytes != 4096 && !self.1.replace(true) {
            self.0.undelete(blob_id(1), DURABLE).unwrap();
            // So that the record is in a sealed segment by then.
            self.0.seal().unwrap();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_blob_that_is_undeleted_meanwhile_is_not_compacted_away() {
    let Fixture { disk, partition, .. } = fixture(small_options());
    partition.put(put(1, 500), DURABLE).unwrap();
    partition.put(put(2, 500), DURABLE).unwrap();
    partition.delete(blob_id(1), DURABLE).unwrap();
    partition.seal().unwrap();
    let files = disk.names().len();
    let report =
        partition.compact(&everything(), &Undeletes(&partition, Cell::new(false))).unwrap();
    assert!(report.given_up);
    assert_eq!(partition.get(blob_id(1)).unwrap().read().unwrap(), vec![1; 500]);
    assert_eq!(disk.names().len(), files + 2, "the copies are removed; one segment was sealed");
}

struct Stops;

impl Pacer for Stops {
    fn pace(&self, _bytes: u64) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn a_pacer_ends_a_compaction_and_nothing_has_changed() {
    let Fixture { disk, partition, .. } = fixture(small_options());
    partition.put(put(1, 500), DURABLE).unwrap();
    partition.put(put(2, 500), DURABLE).unwrap();
    partition.delete(blob_id(1), DURABLE).unwrap();
    partition.seal().unwrap();
    let names = disk.names();
    assert!(partition.compact(&everything(), &Stops).unwrap().given_up);
    assert_eq!(disk.names(), names);
}

#[test]
fn tombstones_go_when_all_replicas_have_seen_them() {
    let Fixture { partition, .. } = fixture(small_options());
    partition.put(put(1, 500), DURABLE).unwrap();
    partition.delete(blob_id(1), DURABLE).unwrap();
    partition.seal().unwrap();
    let compact = |tombstones_before_sequence| {
        let options = CompactionOptions { tombstones_before_sequence, ..everything() };
        partition.compact(&options, &Unpaced).unwrap().dropped_records
    };
    assert_eq!(compact(0), 1, "the put");
    assert_eq!(compact(2), 0, "the delete is number 2");
    assert!(matches!(partition.put(put(1, 500), DURABLE), Err(Error::Deleted(_))));
    assert_eq!(compact(3), 1);
    assert!(matches!(partition.get(blob_id(1)), Err(Error::NotFound(_))));
    assert_eq!(partition.status().segments, 1);
    assert_eq!(partition.put(put(1, 500), DURABLE).unwrap(), Written::Now);
}

/// The delete is in a segment that is left alone, the undelete in one that is not.
#[test]
fn an_undelete_goes_no_earlier_than_the_delete_that_it_undid() {
    let Fixture { partition, clock, .. } = fixture(small_options());
    partition.put(Put { expires_ms: 1_010, ..put(1, 10) }, DURABLE).unwrap();
    partition.put(put(2, 2_000), DURABLE).unwrap();
    partition.delete(blob_id(1), DURABLE).unwrap();
    partition.seal().unwrap();
    partition.undelete(blob_id(1), DURABLE).unwrap();
    partition.seal().unwrap();
    clock.0.store(1_020, Ordering::Relaxed);
    let compact = |tombstones_before_sequence, garbage_percent_min| {
        let options =
            CompactionOptions { tombstones_before_sequence, garbage_percent_min, ..everything() };
        partition.compact(&options, &Unpaced).unwrap().dropped_records
    };
    assert_eq!(compact(0, 0), 0, "the put says that it has expired, the undelete that it is here");
    assert_eq!(compact(u64::MAX, 50), 0, "the undelete, as long as there is the delete");
    assert!(matches!(partition.get(blob_id(1)), Err(Error::Expired(_))));
    assert_eq!(compact(u64::MAX, 0), 1, "the delete");
    assert_eq!(compact(u64::MAX, 50), 1, "the undelete");
    assert!(matches!(partition.get(blob_id(1)), Err(Error::Expired(_))));
    assert_eq!(compact(0, 0), 1, "the put");
    assert!(matches!(partition.get(blob_id(1)), Err(Error::NotFound(_))));
}

#[test]
fn changes_are_found_in_memory_and_in_the_log() {
    let Fixture { disk, clock, partition } = fixture(small_options());
    // More than the journal of 16 and than a segment of 40.
    (0..100).for_each(|blob| assert!(partition.put(put(blob, 10), DURABLE).is_ok()));
    partition.put(put(200, 10), Durability::Fast).unwrap();
    let check = |partition: &Partition, known: u64| {
        for from in 1..=known + 1 {
            let found = partition.changes_since(from, usize::MAX).unwrap();
            let sequences: Vec<_> = found.changes.iter().map(|change| change.sequence).collect();
            assert_eq!(sequences, (from..=known).collect::<Vec<_>>(), "from {from}");
            assert_eq!(found.next_sequence, known + 1);
        }
        let first = partition.changes_since(1, 50).unwrap();
        assert_eq!((first.changes.len(), first.next_sequence), (50, 51));
        assert_eq!(first.changes[49].id, blob_id(49));
    };
    check(&partition, 100);
    partition.flush().unwrap();
    check(&partition, 101);
    drop(partition);
    check(&Partition::open(disk.directory(), small_options(), clock).unwrap(), 101);
}

#[test]
fn what_the_index_takes_in_memory_is_told() {
    let Fixture { partition, .. } = fixture(small_options());
    (0..100).for_each(|blob| assert!(partition.put(put(blob, 10), DURABLE).is_ok()));
    let status = partition.status();
    assert_eq!((status.records, status.segments, status.next_sequence), (100, 3, 101));
    assert!((500..20_000).contains(&status.index_memory_bytes), "{status:?}");
}

#[test]
fn a_deleted_blob_can_be_looked_at_until_it_is_compacted_away() {
    let Fixture { partition, .. } = fixture(small_options());
    partition.put(put(1, 100), DURABLE).unwrap();
    let (reader, deleted) = partition.get_deleted(blob_id(1)).unwrap();
    assert_eq!((reader.body_bytes(), deleted), (100, false));
    partition.delete(blob_id(1), DURABLE).unwrap();
    let (reader, deleted) = partition.get_deleted(blob_id(1)).unwrap();
    assert_eq!((reader.read().unwrap().len(), deleted), (100, true));
    partition.seal().unwrap();
    partition.compact(&everything(), &Unpaced).unwrap();
    assert!(matches!(partition.get_deleted(blob_id(1)), Err(Error::NotFound(_))));
}

#[test]
fn what_a_partition_has_is_known_while_it_writes() {
    let options = small_options();
    let Fixture { partition, .. } = fixture(options.clone());
    let (before, read_only) = partition.usage();
    assert!(!read_only && partition.failure().is_none());
    partition.put(put(1, 100), DURABLE).unwrap();
    assert!(partition.usage().0 >= before + 100);
    assert_eq!(partition.capacity_bytes(), options.capacity_bytes);
    let percent = u64::from(options.read_only_above_percent);
    assert_eq!(partition.threshold_bytes(), options.capacity_bytes * percent / 100);
}
