//! The same in sealed segments and their indexes: what is served, what compaction leaves alone, and what is not changed as long
//! as something may be unknown about it.

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{CompactionReport, Durability, Error, Options, Partition, Unpaced};

use crate::common::sectors::*;
use crate::common::{blob_id, everything, small_options};

#[test]
fn a_segment_is_served_without_its_header() {
    for seals in [false, true] {
        let (disk, partition) = partition_of(3);
        if seals {
            partition.seal().unwrap();
        }
        disk.fail_reads(FIRST_LOG, 0..1);
        let partition = reopen(&disk, partition);
        assert_there(&partition, 1..=3);
        // Its header is in the same sector.
        assert_unreadable(&partition, FILLER);
        put(&partition, 4);
        disk.heal_reads();
        assert_there(&reopen(&disk, partition), 1..=4);
    }
}

#[test]
fn a_segment_is_served_with_a_damaged_header() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    disk.turn_bit(FIRST_LOG, 30);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().rebuilt_indexes, 0);
    assert_there(&partition, 1..=3);
}

#[test]
fn an_index_that_cannot_be_read_is_computed_again() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    // A page: found when it is read. Then its header: found when it is opened.
    disk.fail_reads(FIRST_INDEX, 4096..4097);
    assert_there(&partition, 1..=3);
    disk.fail_reads(FIRST_INDEX, 0..1);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().rebuilt_indexes, 1);
    assert_there(&partition, 1..=3);
    assert_eq!(reopen(&disk, partition).recovery().rebuilt_indexes, 0, "it was written");
}

#[test]
fn an_index_that_lacks_what_cannot_be_read_is_not_kept() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    disk.remove(FIRST_INDEX);
    disk.fail_reads(FIRST_LOG, record(1) + 10..record(1) + 11);
    let partition = reopen(&disk, partition);
    assert_eq!(reported(&partition), [(record(1), record(2), true)]);
    assert_there(&partition, [1, 3]);
    assert_unreadable(&partition, 2);
    assert_eq!(disk.content(FIRST_INDEX), None);
    disk.heal_reads();
    let partition = reopen(&disk, partition);
    assert_there(&partition, 1..=3);
    assert!(disk.content(FIRST_INDEX).is_some());
}

#[test]
fn an_active_segment_is_sealed_without_an_index_if_it_lacks_what_cannot_be_read() {
    let (disk, partition) = partition_of(3);
    disk.fail_reads(FIRST_LOG, record(1) + 10..record(1) + 11);
    let partition = reopen(&disk, partition);
    partition.seal().unwrap();
    assert_eq!(disk.content(FIRST_INDEX), None);
    assert_there(&partition, [1, 3]);
    assert_unreadable(&partition, 2);
    disk.heal_reads();
    assert_there(&reopen(&disk, partition), 1..=3);
}

/// What the pages that can be read say of records that cannot is kept when the index is computed again.
#[test]
fn an_index_page_knows_of_records_that_cannot_be_read() {
    let options = Options { segment_bytes: 1 << 18, segment_records_max: 200, ..small_options() };
    let disk = SimDisk::new(1);
    let partition = new_partition(&disk, options);
    (1..=120).for_each(|blob| put(&partition, blob));
    partition.seal().unwrap();
    // In the order of the index, the first page has those that are small numbers read backwards.
    let mut blobs: Vec<u8> = (1..=120).collect();
    blobs.sort_unstable_by_key(|blob| blob_id(*blob).uuid);
    let (first, last) = (blobs[0], blobs[119]);
    let header = record(usize::from(last) - 1);
    disk.fail_reads(FIRST_LOG, header + 10..header + 11);
    disk.fail_reads(FIRST_INDEX, 4096..4097);
    assert_there(&partition, [first]);
    assert_unreadable(&partition, last);
    assert!(matches!(body(&partition, 199), Err(Error::NotFound(_))), "all records are known");
    delete(&partition, last);
    assert!(matches!(body(&partition, last), Err(Error::Deleted(_))));
}

/// The header of a delete is wrong by now; the index says that there is one, and is computed again for another page's sake.
#[test]
fn an_index_page_knows_of_deletes_that_are_damaged() {
    let options = Options { segment_bytes: 1 << 18, segment_records_max: 200, ..small_options() };
    let disk = SimDisk::new(1);
    let partition = new_partition(&disk, options);
    (1..=110).for_each(|blob| put(&partition, blob));
    partition.seal().unwrap();
    (1..=110).for_each(|blob| delete(&partition, blob));
    partition.seal().unwrap();
    let mut blobs: Vec<u8> = (1..=110).collect();
    blobs.sort_unstable_by_key(|blob| blob_id(*blob).uuid);
    let (first, last) = (blobs[0], blobs[109]);
    disk.turn_bit("0000000000000002.log", FIRST_RECORD + (usize::from(last) - 1) * 88 + 20);
    disk.fail_reads("0000000000000002.index", 4096..4097);
    for blob in [first, last] {
        assert!(matches!(body(&partition, blob), Err(Error::Deleted(_))), "blob {blob}");
    }
}

/// Three sealed segments with three blobs each, of which one is deleted. The deletes are in the last one.
fn three_segments() -> (SimDisk, Partition) {
    let (disk, partition) = partition_of(0);
    for first in [1, 4, 7] {
        if first > 1 {
            fill(&partition, FILLER + first);
        }
        (first..first + 3).for_each(|blob| put(&partition, blob));
        if first == 7 {
            [1, 4, 7].into_iter().for_each(|blob| delete(&partition, blob));
        }
        partition.seal().unwrap();
    }
    (disk, partition)
}

#[test]
fn compaction_leaves_a_segment_that_cannot_be_read_and_goes_on_with_others() {
    // The body of a blob that stays, or its header.
    for in_record in [1000, 10] {
        let (disk, partition) = three_segments();
        let before = disk.content(FIRST_LOG);
        disk.fail_reads(FIRST_LOG, record(1) + in_record..record(1) + in_record + 1);
        let report = partition.compact(&everything(), &Unpaced).unwrap();
        assert_eq!((report.segments_before, report.damaged_segments), (2, 1));
        assert!(!report.given_up);
        assert_there(&partition, [3, 5, 6, 8, 9]);
        assert_unreadable(&partition, 2);
        let report = partition.compact(&everything(), &Unpaced).unwrap();
        assert_eq!(report, CompactionReport::default(), "it is not tried again and again");
        assert_eq!(disk.content(FIRST_LOG), before);
        disk.heal_reads();
        let partition = reopen(&disk, partition);
        assert_there(&partition, [2, 3, 5, 6, 8, 9]);
        assert_eq!(partition.compact(&everything(), &Unpaced).unwrap().dropped_records, 1);
        assert_there(&reopen(&disk, partition), [2, 3, 5, 6, 8, 9]);
    }
}

/// In which file that was written last a record of a delete is, and where.
fn newest_delete(disk: &SimDisk) -> (String, usize) {
    let find = |name: String| {
        let content = disk.content(&name)?;
        let at = content.windows(6).position(|head| head == b"ABLR\x01\x02")?;
        name.ends_with(".log").then_some((name, at))
    };
    disk.names().into_iter().rev().find_map(find).unwrap()
}

#[test]
fn a_delete_that_cannot_be_read_does_not_stop_compaction() {
    let (disk, partition) = three_segments();
    let options = afterbay_blob_store::CompactionOptions {
        tombstones_before_sequence: u64::MAX,
        ..everything()
    };
    // The puts go first, so that the deletes may go.
    assert_eq!(partition.compact(&options, &Unpaced).unwrap().dropped_records, 3);
    let (log, at) = newest_delete(&disk);
    put(&partition, 10);
    delete(&partition, 10);
    partition.seal().unwrap();
    disk.fail_reads(&log, at..at + 1);
    let report = partition.compact(&options, &Unpaced).unwrap();
    assert!(report.dropped_records > 0, "{report:?}");
    // The end of the last one is in the same sector.
    assert_there(&partition, [2, 3, 5, 6, 8]);
    disk.heal_reads();
    assert_there(&partition, [9]);
}

/// A record that nobody can read may be an undelete.
#[test]
fn compaction_keeps_what_an_unknown_record_may_be_about() {
    let control = |unknown: bool| {
        let (disk, partition) = three_segments();
        partition.undelete(blob_id(1), Durability::Durable).unwrap();
        let active = disk.names().into_iter().filter(|name| name.ends_with(".log")).max().unwrap();
        if unknown {
            disk.fail_reads(&active, FIRST_RECORD + 10..FIRST_RECORD + 11);
        }
        let partition = reopen(&disk, partition);
        put(&partition, 10);
        let report = partition.compact(&everything(), &Unpaced).unwrap();
        partition.seal().unwrap();
        put(&partition, 11);
        delete(&partition, 11);
        partition.seal().unwrap();
        let behind = partition.compact(&everything(), &Unpaced).unwrap();
        disk.heal_reads();
        let partition = reopen(&disk, partition);
        assert_there(&partition, [1, 2, 3, 5, 6, 8, 9, 10]);
        (report.segments_before, behind.dropped_records)
    };
    assert_eq!(control(false), (2, 1));
    assert_eq!(control(true), (0, 1), "what comes behind is compacted");
}

/// What cannot be read may say that the blob is in another life: a delete of the life that is known would not hold then.
#[test]
fn a_blob_is_not_changed_as_long_as_something_may_be_unknown_about_it() {
    let (disk, partition) = partition_of(1);
    delete(&partition, 1);
    partition.undelete(blob_id(1), Durability::Durable).unwrap();
    let undelete = record(1) + 88;
    fill(&partition, FILLER + 1);
    disk.fail_reads(FIRST_LOG, undelete + 10..undelete + 11);
    let partition = reopen(&disk, partition);
    let refused = partition.delete(blob_id(1), Durability::Durable).unwrap_err();
    assert!(matches!(refused, Error::Unreadable { .. }), "{refused}");
    put(&partition, 2);
    delete(&partition, 2);
    disk.heal_reads();
    let partition = reopen(&disk, partition);
    assert_there(&partition, [1]);
    delete(&partition, 1);
    assert!(matches!(body(&partition, 2), Err(Error::Deleted(_))));
}
