//! A replica that is damaged is repaired from another one, and compacted then. What it tells other replicas of itself:
//! incarnation and horizon, also when its files are of a version that had none.

use std::io::IoSlice;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_format::Manifest;
use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{
    BlobId, CompactionOptions, Damage, Durability, Error, Identities, Pacer, Partition, Record,
    RecordKind, Recount, Result, Unpaced, Written,
};
use uuid::Uuid;

use crate::common::sectors::{
    BODY, FIRST_INDEX, FIRST_LOG, FIRST_RECORD, assert_there, body, delete, new_partition, open,
    partition_of, put, record, reopen,
};
use crate::common::{PARTITION, blob_id, everything, scrub, small_options};

const DURABLE: Durability = Durability::Durable;
const MANIFEST: &str = "MANIFEST";

fn damage(partition: &Partition) -> Damage {
    Damage { scrubbed: Default::default(), ..partition.damage(&Unpaced).unwrap() }
}

fn damaged(ids: impl IntoIterator<Item = u8>) -> Damage {
    let mut ids: Vec<BlobId> = ids.into_iter().map(blob_id).collect();
    ids.sort_unstable();
    Damage { ids, ..Damage::default() }
}

fn repair(partition: &Partition, from: &Partition, blob: u8) -> Vec<Written> {
    let records = from.export(blob_id(blob)).unwrap();
    partition.repair(records, DURABLE).into_iter().map(Result::unwrap).collect()
}

fn compact(partition: &Partition, lost_is_repaired: bool) -> (u64, usize) {
    let options = CompactionOptions { lost_is_repaired, ..everything() };
    let (mut dropped, mut left_alone) = (0, 0);
    loop {
        let report = partition.compact(&options, &Unpaced).unwrap();
        dropped += report.dropped_records;
        left_alone = left_alone.max(report.damaged_segments);
        if report.segments_before == 0 {
            return (dropped, left_alone);
        }
    }
}

/// Another replica of the same blobs, from 1 on, of which the last is deleted.
fn two_replicas() -> (SimDisk, Partition, Partition) {
    let ((disk, one), (_, other)) = (partition_of(5), partition_of(5));
    for partition in [&one, &other] {
        delete(partition, 5);
        partition.seal().unwrap();
    }
    (disk, one, other)
}

#[test]
fn damaged_blobs_are_repaired_from_another_replica_and_their_segment_is_compacted() {
    let (disk, one, other) = two_replicas();
    disk.turn_bit(FIRST_LOG, record(1) + 1_000);
    // Its header, too.
    disk.turn_bit(FIRST_LOG, record(2) + 40);
    assert_eq!(damage(&one), damaged([2, 3]));
    assert!(matches!(one.export(blob_id(2)), Err(Error::Damaged { .. })));
    let (dropped, left_alone) = compact(&one, false);
    assert_eq!((dropped, left_alone), (0, 1), "what cannot be read must not be lost");
    for blob in [2, 3] {
        assert_eq!(repair(&one, &other, blob)[0], Written::Now);
        assert_eq!(repair(&one, &other, blob)[0], Written::Before);
    }
    assert_there(&one, 1..=4);
    assert_eq!(damage(&one), damaged([]), "what is replaced is no damage");
    assert!(!scrub(&one, &Unpaced).is_empty(), "it is still on the disk");
    let (dropped, left_alone) = compact(&one, false);
    assert_eq!((dropped, left_alone), (3, 0), "the damaged ones, and the deleted one");
    assert_eq!(scrub(&one, &Unpaced), []);
    let one = reopen(&disk, one);
    assert_there(&one, 1..=4);
    assert!(matches!(body(&one, 5), Err(Error::Deleted(_))));
}

#[test]
fn what_is_stored_twice_is_mended_and_read_again() {
    let (disk, one, _) = two_replicas();
    disk.turn_bit(FIRST_INDEX, 4096 + 100);
    disk.turn_bit(MANIFEST, 20);
    // The header of a segment, which its manifest has, too.
    disk.turn_bit(FIRST_LOG, 30);
    let mut told = 0;
    let found = one.damage_and_tell(&Unpaced, &mut |_| told += 1).unwrap();
    assert_eq!(
        (told, &found.spare[..]),
        (3, &[FIRST_INDEX, FIRST_LOG, MANIFEST].map(str::to_owned)[..])
    );
    assert_eq!(found.ids, []);
    assert_eq!(one.mend(&found.spare).unwrap(), 2, "all but the header");
    assert_eq!(damage(&one), Damage { spare: vec![FIRST_LOG.to_owned()], ..damaged([]) });
    assert_there(&reopen(&disk, one), 1..=4);
}

/// The one who counts again does not believe who has written it again.
#[test]
fn what_counts_is_counted_again() {
    let (disk, one, other) = two_replicas();
    let ids = [1, 2, 5].map(blob_id);
    for blob in 0..5 {
        disk.turn_bit(FIRST_LOG, record(blob) + 1_000);
    }
    let count = || one.recount(&ids, &Unpaced).unwrap().unwrap();
    assert_eq!(count(), Recount { damaged: ids[..2].to_vec(), garbage: 1 });
    assert_eq!(repair(&one, &other, 1)[0], Written::Now);
    assert_eq!(count(), Recount { damaged: vec![ids[1]], garbage: 1 });
    assert_eq!(repair(&one, &other, 2)[0], Written::Now);
    assert_eq!(count(), Recount { damaged: vec![], garbage: 1 });
    // A delete is missed by all who read, whatever becomes of the content.
    disk.turn_bit(FIRST_LOG, record(5) + 40);
    assert_eq!(count(), Recount { damaged: vec![ids[2]], garbage: 0 });
    assert_eq!(one.recount(&ids, &Ended).unwrap(), None);
}

/// Ends what it paces.
#[derive(Debug)]
struct Ended;

impl Pacer for Ended {
    fn pace(&self, _bytes: u64) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// Each replica is damaged elsewhere.
#[test]
fn two_damaged_replicas_repair_each_other() {
    let ((disk, one), (other_disk, other)) = (partition_of(4), partition_of(4));
    disk.turn_bit(FIRST_LOG, record(0) + 1_000);
    other_disk.turn_bit(FIRST_LOG, record(2) + 1_000);
    for (partition, from, blob) in [(&one, &other, 1), (&other, &one, 3)] {
        assert_eq!(damage(partition), damaged([blob]));
        assert_eq!(repair(partition, from, blob), [Written::Now]);
        assert_eq!(damage(partition), damaged([]));
        assert_there(partition, 1..=4);
    }
    // By their puts alone, as a replicator or a coordinator sends them.
    disk.turn_bit(FIRST_LOG, record(1) + 1_000);
    let records = other.export(blob_id(2)).unwrap();
    assert!(matches!(one.apply(records, DURABLE)[..], [Ok(Written::Now)]));
    assert_there(&one, 1..=4);
}

/// A delete whose record is damaged is known by the index alone: were that lost, the blob would come back.
#[test]
fn a_damaged_delete_is_written_again() {
    let control = |repaired: bool| {
        let (disk, one, other) = two_replicas();
        disk.turn_bit(FIRST_LOG, record(5) + 40);
        assert_eq!(damage(&one), damaged([5]));
        if repaired {
            assert_eq!(repair(&one, &other, 5), [Written::Before, Written::Now]);
            assert_eq!(damage(&one), damaged([]));
            assert_eq!(compact(&one, false), (2, 0), "the damaged delete, and the put");
        }
        drop(one);
        for name in disk.names().into_iter().filter(|name| name.ends_with(".index")) {
            disk.remove(&name);
        }
        let one = open(&disk);
        assert_there(&one, 1..=4);
        body(&one, 5)
    };
    assert_eq!(control(false).unwrap(), [5; BODY], "the control");
    assert!(matches!(control(true), Err(Error::Deleted(_))));
}

/// A record that says more is damaged itself: what says the same and is whole must not go for it.
#[test]
fn what_a_damaged_record_replaces_stays() {
    let control = |damaged: bool| {
        let (disk, one) = partition_of(2);
        delete(&one, 1);
        one.seal().unwrap();
        let known = one.known(blob_id(1)).unwrap().remove(0);
        let later = Record { time_ms: known.time_ms + 1, ..known };
        apply(&one, later.clone());
        apply(&one, Record { id: blob_id(100), ..later });
        one.seal().unwrap();
        if damaged {
            disk.turn_bit("0000000000000002.log", FIRST_RECORD + 40);
        }
        let options = CompactionOptions { deleted_before_ms: 0, ..everything() };
        let dropped = one.compact(&options, &Unpaced).unwrap().dropped_records;
        drop(one);
        for name in disk.names().into_iter().filter(|name| name.ends_with(".index")) {
            disk.remove(&name);
        }
        assert!(matches!(body(&open(&disk), 1), Err(Error::Deleted(_))));
        dropped
    };
    assert_eq!((control(false), control(true)), (1, 0));
}

/// The damaged put was of a later life than the one that takes its place.
#[test]
fn a_put_that_takes_the_place_of_another_one_says_what_that_said() {
    let ((disk, one), (_, other)) = (partition_of(0), partition_of(1));
    let put = other.export(blob_id(1)).unwrap().remove(0);
    let again = Record { life: 1, ..put.clone() };
    delete(&other, 1);
    let delete = other.known(blob_id(1)).unwrap().remove(0);
    apply(&other, again.clone());
    for record in [again, delete] {
        apply(&one, record);
    }
    assert_there(&one, [1]);
    one.seal().unwrap();
    disk.turn_bit(FIRST_LOG, record(0) + 1_000);
    assert_eq!(repair(&one, &other, 1)[0], Written::Now);
    assert_there(&one, [1]);
    one.seal().unwrap();
    assert_eq!(compact(&one, false), (1, 0));
    assert_there(&one, [1]);
    assert_there(&reopen(&disk, one), [1]);
}

/// The index was lost, so that nobody knows what the damaged record was: all blobs are compared.
#[test]
fn what_nobody_knows_of_goes_when_all_was_compared() {
    let (disk, one, other) = two_replicas();
    disk.turn_bit(FIRST_LOG, record(1) + 40);
    disk.remove(FIRST_INDEX);
    let one = reopen(&disk, one);
    assert_eq!(damage(&one), Damage { unknown: 1, ..damaged([]) });
    assert_eq!((one.lossy_segments().unwrap(), other.lossy_segments().unwrap()), (1, 0));
    // Also when the index that was computed without the record is on the disk, and nothing looks wrong.
    let one = reopen(&disk, one);
    assert_eq!((one.recovery().damaged.len(), one.lossy_segments().unwrap()), (0, 1));
    assert_eq!(one.missing(&[blob_id(1), blob_id(2)]).unwrap(), [blob_id(2)]);
    assert_eq!(compact(&one, false), (0, 1));
    assert_eq!(repair(&one, &other, 2), [Written::Now]);
    assert_eq!(compact(&one, false), (0, 1), "nobody says that this was all");
    assert_eq!(compact(&one, true), (1, 0));
    assert_eq!(one.lossy_segments().unwrap(), 0);
    assert_eq!(damage(&one), damaged([]));
    let one = reopen(&disk, one);
    assert_there(&one, 1..=4);
    assert!(matches!(body(&one, 5), Err(Error::Deleted(_))));
}

/// As long as it cannot be read, a put from another replica is taken; when it can be, there are two.
#[test]
fn what_cannot_be_read_is_had_from_another_replica() {
    let (disk, one, other) = two_replicas();
    disk.fail_reads(FIRST_LOG, record(1) + 10..record(1) + 11);
    disk.remove(FIRST_INDEX);
    let one = reopen(&disk, one);
    assert!(matches!(body(&one, 2), Err(Error::Unreadable { .. })));
    assert_eq!(one.missing(&[blob_id(2)]).unwrap(), [blob_id(2)]);
    assert_eq!(repair(&one, &other, 2), [Written::Now]);
    assert_there(&one, 1..=4);
    disk.heal_reads();
    let one = reopen(&disk, one);
    assert_there(&one, 1..=4);
    assert_eq!(compact(&one, false), (2, 0), "the older one of the two, and the deleted one");
    assert_there(&one, 1..=4);
    assert_eq!(scrub(&one, &Unpaced), []);
}

#[test]
fn another_blob_does_not_take_the_place_of_a_damaged_one() {
    let (disk, one, other) = two_replicas();
    disk.turn_bit(FIRST_LOG, record(1) + 1_000);
    let mut records = other.export(blob_id(3)).unwrap();
    records[0].id = blob_id(2);
    let refused = one.repair(records, DURABLE).remove(0).unwrap_err();
    assert!(matches!(refused, Error::Collision(_)), "{refused}");
    assert!(matches!(body(&one, 2), Err(Error::Damaged { .. })));
}

/// What a repaired blob was given meanwhile holds: life and expiry.
#[test]
fn a_repair_changes_nothing_of_what_is_known() {
    let (disk, one, other) = two_replicas();
    delete(&one, 1);
    one.undelete(blob_id(1), DURABLE).unwrap();
    one.update_ttl(blob_id(1), 7_777, DURABLE).unwrap();
    one.seal().unwrap();
    let known = one.known(blob_id(1)).unwrap();
    disk.turn_bit(FIRST_LOG, record(0) + 1_000);
    assert_eq!(repair(&one, &other, 1), [Written::Now]);
    for _ in 0..2 {
        assert_eq!(one.known(blob_id(1)).unwrap(), known);
        assert_eq!(one.get(blob_id(1)).unwrap().expires_ms(), 7_777);
        one.seal().unwrap();
        let options = CompactionOptions { expired_before_ms: 0, ..everything() };
        while one.compact(&options, &Unpaced).unwrap().segments_before > 0 {}
    }
    assert_there(&one, 1..=4);
    assert_eq!(damage(&one), damaged([]));
}

#[test]
fn a_tombstone_that_goes_is_noted_with_the_manifest_that_does_without_it() {
    let (disk, partition) = partition_of(2);
    assert_eq!(partition.tombstone_horizon(), 0);
    delete(&partition, 1);
    partition.seal().unwrap();
    let options = |tombstones_before_sequence| CompactionOptions {
        tombstones_before_sequence,
        ..everything()
    };
    let compact = |partition: &Partition, before| {
        partition.compact(&options(before), &Unpaced).unwrap().dropped_records
    };
    // Filler, two puts, the delete: number 4.
    assert_eq!((compact(&partition, u64::MAX), partition.tombstone_horizon()), (1, 0), "the put");
    assert_eq!((compact(&partition, 4), partition.tombstone_horizon()), (0, 0));
    assert_eq!((compact(&partition, 5), partition.tombstone_horizon()), (1, 5));
    assert_eq!(reopen(&disk, partition).tombstone_horizon(), 5);
}

/// A put that comes while a compaction leaves out the tombstone of its blob.
#[test]
fn a_tombstone_stays_if_its_put_comes_meanwhile() {
    let (_, other) = partition_of(1);
    let (_, partition) = partition_of(0);
    delete(&other, 1);
    let records = other.export(blob_id(1)).unwrap();
    let fact = |kind| records.iter().find(|record| record.kind == kind).unwrap().clone();
    apply(&partition, fact(RecordKind::Delete));
    partition.seal().unwrap();
    let put = std::cell::Cell::new(Some(fact(RecordKind::Put)));
    let options = CompactionOptions { tombstones_before_sequence: u64::MAX, ..everything() };
    let report = partition.compact(&options, &Comes(&partition, put)).unwrap();
    assert!(report.given_up, "{report:?}");
    assert!(matches!(body(&partition, 1), Err(Error::Deleted(_))));
    assert_eq!(partition.tombstone_horizon(), 0);
}

fn apply(partition: &Partition, record: Record) {
    assert_eq!(partition.apply(vec![record], DURABLE).remove(0).unwrap(), Written::Now);
}

struct Comes<'a>(&'a Partition, std::cell::Cell<Option<Record>>);

impl afterbay_blob_store::Pacer for Comes<'_> {
    fn pace(&self, bytes: u64) -> std::ops::ControlFlow<()> {
        // When it is copied, not when it is looked up by pages.
        if bytes != 4096
            && let Some(record) = self.1.take()
        {
            apply(self.0, record);
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// A TTL update may come before its put.
#[test]
fn what_is_known_of_a_blob_that_is_still_to_come_stays() {
    let (disk, partition) = partition_of(1);
    let (_, other) = partition_of(2);
    other.update_ttl(blob_id(2), 9_000, DURABLE).unwrap();
    delete(&other, 2);
    other.undelete(blob_id(2), DURABLE).unwrap();
    let records = other.export(blob_id(2)).unwrap();
    assert_eq!(records.len(), 4);
    records[1..].iter().for_each(|record| apply(&partition, record.clone()));
    delete(&partition, 1);
    partition.seal().unwrap();
    assert_eq!(compact(&partition, false).0, 1, "the deleted blob");
    let partition = reopen(&disk, partition);
    apply(&partition, records[0].clone());
    assert_eq!(partition.export(blob_id(2)).unwrap(), records);
    assert_there(&partition, [2]);
}

#[test]
fn the_incarnation_lasts_until_it_is_renewed() {
    let (disk, partition) = partition_of(1);
    let (_, another) = partition_of(1);
    let first = partition.incarnation();
    assert_ne!(first, another.incarnation());
    let partition = reopen(&disk, partition);
    assert_eq!(partition.incarnation(), first);
    let renewed = partition.renew_incarnation().unwrap();
    assert_ne!(renewed, first);
    assert_eq!(partition.incarnation(), renewed);
    drop(partition);
    disk.lose_power();
    let partition = open(&disk);
    assert_eq!(partition.incarnation(), renewed, "it is on the disk");
    assert_there(&partition, [1]);
    partition.seal().unwrap();
    assert_eq!(reopen(&disk, partition).incarnation(), renewed);
}

fn stored_manifest(disk: &SimDisk) -> Manifest {
    Manifest::parse(&disk.content("MANIFEST").unwrap()).unwrap()
}

/// As a version before wrote it.
fn make_format_1(disk: &SimDisk) {
    let old = Manifest { replica: None, ..stored_manifest(disk) }.encode();
    disk.remove("MANIFEST");
    let file = disk.directory().create("MANIFEST").unwrap();
    file.write_all_at(&[IoSlice::new(&old)], 0).unwrap();
    disk.kill_process();
}

#[test]
fn a_partition_of_format_1_is_opened_and_begins_an_incarnation() {
    let (disk, partition) = partition_of(3);
    partition.close().unwrap();
    drop(partition);
    make_format_1(&disk);
    let partition = open(&disk);
    assert_there(&partition, 1..=3);
    assert_eq!(partition.tombstone_horizon(), 5, "nobody noted which ones went: all may have");
    let not_kept = partition.incarnation();
    let partition = reopen(&disk, partition);
    assert_ne!(partition.incarnation(), not_kept, "nothing was written");
    assert_eq!(stored_manifest(&disk).replica, None);
    put(&partition, 4);
    assert_eq!(stored_manifest(&disk).replica, None, "its records are those of format 1");
    let kept = partition.incarnation();
    // A record that format 1 does not have.
    let (_, other) = partition_of(5);
    delete(&other, 5);
    let records = other.export(blob_id(5)).unwrap();
    apply(&partition, records[1].clone());
    assert_eq!(stored_manifest(&disk).replica, None);
    apply(&partition, records[0].clone());
    assert_eq!(stored_manifest(&disk).replica.unwrap().incarnation, kept);
    let partition = reopen(&disk, partition);
    assert_eq!((partition.incarnation(), partition.tombstone_horizon()), (kept, 5));
    assert_there(&partition, 1..=4);
    assert!(matches!(body(&partition, 5), Err(Error::Deleted(_))));
}

#[test]
fn a_segment_that_is_sealed_makes_format_2() {
    let (disk, partition) = partition_of(3);
    drop(partition);
    make_format_1(&disk);
    let partition = open(&disk);
    let incarnation = partition.incarnation();
    partition.seal().unwrap();
    let partition = reopen(&disk, partition);
    assert_eq!(partition.incarnation(), incarnation);
    assert_there(&partition, 1..=3);
}

#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Identities for Counted {
    fn uuid(&self) -> Uuid {
        Uuid::from_u128((1 + self.0.fetch_add(1, Ordering::Relaxed)).into())
    }
}

#[test]
fn the_same_identities_make_the_same_files() {
    let files = || {
        let (disk, identities) = (SimDisk::new(1), Arc::new(Counted::default()));
        let options = small_options();
        Partition::create_with(&*disk.directory(), PARTITION, &options, &*identities).unwrap();
        let clock = Arc::new(crate::common::TestClock::default());
        let opened = Partition::open_with(disk.directory(), options, clock, identities);
        let partition = opened.unwrap();
        (1..100).for_each(|blob| put(&partition, blob));
        (1..100).step_by(2).for_each(|blob| delete(&partition, blob));
        partition.seal().unwrap();
        compact(&partition, false);
        partition.renew_incarnation().unwrap();
        let names = disk.names();
        names.into_iter().map(|name| (disk.content(&name), name)).collect::<Vec<_>>()
    };
    assert_eq!(files(), files());
    // A control: without, they are not.
    let random = || {
        let disk = SimDisk::new(1);
        drop(new_partition(&disk, small_options()));
        disk.content(FIRST_LOG)
    };
    assert_ne!(random(), random());
}
