//! Damage: what is cut, what is reported, and that it is never served.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use afterbay_blob_format::{
    IndexDirectory, IndexedSegment, Manifest, PAGE_BYTES, RecordHeader, RecordKind, encode_index_1,
};
use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{
    BlobId, CompactionReport, Durability, Error, Operation, Partition, Put, Unpaced, Write, Written,
};

use crate::common::{PARTITION, TestClock, blob_id, everything, small_options};

const FIRST_LOG: &str = "0000000000000001.log";
const FIRST_INDEX: &str = "0000000000000001.index";
/// Behind the segment's header.
const FIRST_RECORD: usize = 68;
/// Of a put without properties.
const BODY_AT: usize = 88 + 4;

fn clock() -> Arc<TestClock> {
    Arc::new(TestClock(AtomicU64::new(1_000)))
}

fn open(disk: &SimDisk) -> Partition {
    Partition::open(disk.directory(), small_options(), clock()).unwrap()
}

fn new_partition() -> (SimDisk, Partition) {
    partition_on(SimDisk::new(1))
}

fn partition_on(disk: SimDisk) -> (SimDisk, Partition) {
    Partition::create(&*disk.directory(), PARTITION, &small_options()).unwrap();
    let partition = open(&disk);
    (disk, partition)
}

fn reopen(disk: &SimDisk, partition: Partition) -> Partition {
    drop(partition);
    disk.kill_process();
    open(disk)
}

fn put(partition: &Partition, blob: u8, body: Vec<u8>) {
    assert_eq!(
        partition.put(Put::new(blob_id(blob), body), Durability::Durable).unwrap(),
        Written::Now
    );
}

fn body(partition: &Partition, blob: u8) -> Result<Vec<u8>, Error> {
    partition.get(blob_id(blob))?.read().map(|body| body.to_vec())
}

#[test]
fn a_damaged_header_in_the_middle_is_reported_and_nothing_is_cut() {
    let (disk, partition) = new_partition();
    (1..=3).for_each(|blob| put(&partition, blob, vec![blob; 1000]));
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 20);
    let partition = reopen(&disk, partition);
    let damaged = &partition.recovery().damaged;
    assert_eq!(damaged.len(), 1);
    let range = damaged[0].begin..damaged[0].end;
    assert_eq!((damaged[0].file.as_str(), range), (FIRST_LOG, 68..68 + 1092));
    assert_eq!(partition.recovery().cut_bytes, 0);
    assert!(matches!(body(&partition, 1), Err(Error::NotFound(_))));
    assert_eq!(body(&partition, 2).unwrap(), [2; 1000]);
    assert_eq!(body(&partition, 3).unwrap(), [3; 1000]);
    // Another replica brings it back.
    put(&partition, 1, vec![1; 1000]);
    assert_eq!(body(&reopen(&disk, partition), 1).unwrap(), [1; 1000]);
}

#[test]
fn a_damaged_body_is_not_served_and_not_cut() {
    let (disk, partition) = new_partition();
    (1..=2).for_each(|blob| put(&partition, blob, vec![blob; 1000]));
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + BODY_AT + 500);
    for partition in [&partition, &open_again(&disk)] {
        let damaged = body(partition, 1).unwrap_err();
        assert!(damaged.is_damage(), "{damaged}");
        assert!(damaged.to_string().contains(FIRST_LOG), "{damaged}");
        assert_eq!(body(partition, 2).unwrap(), [2; 1000]);
    }
}

fn open_again(disk: &SimDisk) -> Partition {
    disk.kill_process();
    open(disk)
}

#[test]
fn only_the_blocks_that_a_range_touches_are_verified() {
    let options = afterbay_blob_store::Options {
        capacity_bytes: 1 << 20,
        segment_bytes: 1 << 18,
        ..small_options()
    };
    let disk = SimDisk::new(1);
    Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
    let partition = Partition::open(disk.directory(), options, clock()).unwrap();
    let content: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
    put(&partition, 1, content.clone());
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 88 + 4 * 4 + 70_000);
    let reader = partition.get(blob_id(1)).unwrap();
    assert_eq!(reader.read_range(10..65_536).unwrap(), content[10..65_536]);
    assert_eq!(reader.read_range(131_072..500_000).unwrap(), content[131_072..]);
    assert!(reader.read_range(65_535..65_537).is_err());
    assert_eq!(reader.read_range(200_000..300_000).unwrap(), b""[..]);
}

#[test]
fn a_torn_end_is_cut() {
    let (disk, partition) = new_partition();
    (1..=2).for_each(|blob| put(&partition, blob, vec![blob; 1000]));
    // Nothing tells this from a write that was never synced.
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 1092 + BODY_AT + 500);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().cut_bytes, 1092);
    assert_eq!(partition.recovery().damaged, []);
    assert!(matches!(body(&partition, 2), Err(Error::NotFound(_))));
    assert_eq!(body(&partition, 1).unwrap(), [1; 1000]);
}

/// Three blobs, of which all is noted to be on the disk.
fn closed_partition() -> (SimDisk, Partition) {
    let (disk, partition) = new_partition();
    (1..=3).for_each(|blob| put(&partition, blob, vec![blob; 1000]));
    partition.close().unwrap();
    (disk, partition)
}

#[test]
fn damage_at_the_end_is_reported_after_a_clean_end_and_nothing_is_cut() {
    // The header of the last record, or of the last two.
    for first in [2, 1] {
        let (disk, partition) = closed_partition();
        (first..3).for_each(|n| disk.turn_bit(FIRST_LOG, FIRST_RECORD + n * 1092 + 20));
        let partition = reopen(&disk, partition);
        let end = (FIRST_RECORD + 3 * 1092) as u64;
        let damaged = partition.recovery().damaged.clone();
        assert_eq!((damaged.len(), partition.recovery().cut_bytes), (1, 0));
        assert_eq!((damaged[0].begin, damaged[0].end), (end - (3 - first as u64) * 1092, end));
        assert_eq!(body(&partition, 1).unwrap(), [1; 1000]);
        assert!(matches!(body(&partition, 3), Err(Error::NotFound(_))));
        assert_eq!(partition.status().next_sequence, 4, "no number is given twice");
        put(&partition, 4, vec![4; 1000]);
        let partition = reopen(&disk, partition);
        assert_eq!(partition.recovery().damaged, damaged);
        assert_eq!(body(&partition, 4).unwrap(), [4; 1000]);
        assert_eq!(partition.status().next_sequence, 5);
    }
}

#[test]
fn a_damaged_body_at_the_end_is_told_when_it_is_read_after_a_clean_end() {
    let (disk, partition) = closed_partition();
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 2 * 1092 + BODY_AT + 500);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().cut_bytes, 0);
    assert!(body(&partition, 3).unwrap_err().is_damage());
    assert_eq!(body(&partition, 2).unwrap(), [2; 1000]);
}

#[test]
fn a_log_that_lost_its_end_is_reported_after_a_clean_end() {
    let (disk, partition) = closed_partition();
    let file = disk.directory().open(FIRST_LOG).unwrap();
    file.truncate((FIRST_RECORD + 1500) as u64).unwrap();
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().damaged.len(), 1);
    assert_eq!(body(&partition, 1).unwrap(), [1; 1000]);
    put(&partition, 4, vec![4; 1000]);
    let partition = reopen(&disk, partition);
    assert_eq!(body(&partition, 4).unwrap(), [4; 1000]);
}

#[test]
fn what_comes_after_the_mark_is_cut_if_it_is_torn() {
    let (disk, partition) = closed_partition();
    put(&partition, 4, vec![4; 1000]);
    // It says that those before it were synced, too, and is not whole itself.
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 3 * 1092 + 20);
    let partition = reopen(&disk, partition);
    assert_eq!(
        (&partition.recovery().damaged[..], body(&partition, 3).unwrap()),
        (&[][..], vec![3; 1000])
    );
    assert!(matches!(body(&partition, 4), Err(Error::NotFound(_))));
}

#[test]
fn a_mark_that_is_damaged_or_of_another_segment_is_none() {
    for seals in [false, true] {
        let (disk, partition) = closed_partition();
        if seals {
            partition.seal().unwrap();
            put(&partition, 4, vec![4; 2000]);
            disk.turn_bit("0000000000000002.log", FIRST_RECORD + 20);
        } else {
            disk.turn_bit("SYNCED", 13);
            disk.turn_bit(FIRST_LOG, FIRST_RECORD + 2 * 1092 + 20);
        }
        let partition = reopen(&disk, partition);
        assert_eq!(partition.recovery().damaged, []);
        assert_eq!(body(&partition, 2).unwrap(), [2; 1000]);
    }
}

#[test]
fn records_behind_much_damage_are_found_where_the_log_is_known_to_be_longer() {
    // More than the longest record, so that nobody would look any farther.
    let bytes = afterbay_blob_format::MAX_RECORD_BYTES + 3_000_000;
    let options = afterbay_blob_store::Options {
        capacity_bytes: 1 << 28,
        segment_bytes: 1 << 27,
        ..small_options()
    };
    for seals in [false, true] {
        let disk = SimDisk::new(1);
        Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
        let partition = Partition::open(disk.directory(), options.clone(), clock()).unwrap();
        let half = vec![1; bytes / 2];
        put(&partition, 1, half.clone());
        put(&partition, 2, half);
        put(&partition, 3, vec![3; 1000]);
        if seals {
            partition.seal().unwrap();
            disk.remove(FIRST_INDEX);
        } else {
            partition.close().unwrap();
        }
        let second = 88 + (bytes / 2).div_ceil(65_536) * 4 + bytes / 2;
        disk.turn_bit(FIRST_LOG, FIRST_RECORD + 20);
        disk.turn_bit(FIRST_LOG, FIRST_RECORD + second + 20);
        drop(partition);
        disk.kill_process();
        let partition = Partition::open(disk.directory(), options.clone(), clock()).unwrap();
        assert_eq!(partition.recovery().damaged.len(), 1);
        assert_eq!(body(&partition, 3).unwrap(), [3; 1000]);
    }
}

/// A group of two that was acknowledged, and a torn record behind it, which says that they were on the disk.
#[test]
fn what_a_record_said_that_was_cut_is_not_forgotten() {
    let (disk, partition) = new_partition();
    let group = [1, 2].map(|blob| Operation::Put(Put::new(blob_id(blob), vec![blob; 1000])));
    let group = group.map(|operation| Write::new(operation, Durability::Durable));
    assert!(partition.write_all(group.into()).iter().all(Result::is_ok));
    put(&partition, 3, vec![3; 1000]);
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + BODY_AT);
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 2 * 1092 + BODY_AT);
    let mut partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().cut_bytes, 1092);
    for _ in 0..2 {
        assert_eq!(body(&partition, 2).unwrap(), [2; 1000]);
        assert!(matches!(body(&partition, 1), Err(Error::Damaged { .. })));
        partition = reopen(&disk, partition);
    }
}

/// The header of the last record.
#[test]
fn bytes_that_are_cut_are_counted_from_a_damaged_header_on() {
    let (disk, partition) = new_partition();
    (1..=2).for_each(|blob| put(&partition, blob, vec![blob; 1000]));
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 1092 + 20);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().cut_bytes, 1092);
    assert!(matches!(body(&partition, 2), Err(Error::NotFound(_))));
}

#[test]
fn what_lies_behind_a_cut_does_not_come_back() {
    let (disk, partition) = new_partition();
    put(&partition, 1, vec![1; 1000]);
    // Two records that are not synced; the first one is torn.
    disk.fail_after(2, Fault::Stop);
    let writes = [2, 3].map(|blob| {
        Write::new(Operation::Put(Put::new(blob_id(blob), vec![blob; 1000])), Durability::Durable)
    });
    assert!(partition.write_all(writes.to_vec()).iter().all(Result::is_err));
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 1092 + BODY_AT);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().cut_bytes, 2 * 1092);
    // One that ends where the second one began.
    put(&partition, 4, vec![4; 1000]);
    let partition = reopen(&disk, partition);
    assert!(matches!(body(&partition, 3), Err(Error::NotFound(_))));
    assert_eq!(body(&partition, 4).unwrap(), [4; 1000]);
}

/// A put of blob 9 without body, as a client may forge it.
fn forged(disk: &SimDisk, log: Option<uuid::Uuid>) -> Vec<u8> {
    let manifest = Manifest::parse(&disk.content("MANIFEST").unwrap()).unwrap();
    let header = RecordHeader { sequence: 1, ..RecordHeader::new(RecordKind::Put, blob_id(9), 1) };
    header.encode(log.unwrap_or(manifest.log)).to_vec()
}

fn after_damage_around(log: Option<uuid::Uuid>) -> Result<Vec<u8>, Error> {
    let (disk, partition) = new_partition();
    put(&partition, 1, forged(&disk, log));
    put(&partition, 2, vec![2; 10]);
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 20);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().damaged.len(), 1);
    body(&partition, 9)
}

#[test]
fn a_body_that_looks_like_a_record_is_none() {
    assert!(matches!(after_damage_around(Some(uuid::Uuid::nil())), Err(Error::NotFound(_))));
    // The control: who knows the identity of the log could.
    assert_eq!(after_damage_around(None).unwrap(), b"");
}

#[test]
fn a_lost_index_is_computed_again_and_shows_damage() {
    let (disk, partition) = new_partition();
    (1..=3).for_each(|blob| put(&partition, blob, vec![blob; 1000]));
    partition.seal().unwrap();
    assert!(disk.content(FIRST_INDEX).is_some());
    disk.remove(FIRST_INDEX);
    let partition = reopen(&disk, partition);
    assert_eq!(partition.recovery().rebuilt_indexes, 1);
    assert_eq!(body(&partition, 2).unwrap(), [2; 1000]);
    disk.remove(FIRST_INDEX);
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 2 * 1092 + 20);
    let partition = reopen(&disk, partition);
    let damaged = &partition.recovery().damaged[0];
    assert_eq!((damaged.begin, damaged.end), (68 + 2 * 1092, 68 + 3 * 1092));
    assert_eq!(body(&partition, 2).unwrap(), [2; 1000]);
    assert!(matches!(body(&partition, 3), Err(Error::NotFound(_))));
}

/// The same index as versions before wrote it.
fn in_format_1(stored: &[u8]) -> Vec<u8> {
    let index = IndexDirectory::parse(stored).unwrap();
    let page = |page| {
        let begin = index.page_offset(page) as usize;
        index.parse_page(page, &stored[begin..begin + PAGE_BYTES]).unwrap()
    };
    let entries: Vec<_> = index.pages().flat_map(page).collect();
    let of = IndexedSegment {
        partition: index.partition,
        segment: index.segment,
        number: index.number,
        covers: index.covers,
        first_sequence: index.first_sequence,
    };
    encode_index_1(&of, &entries)
}

#[test]
fn an_index_of_format_1_is_used() {
    let (disk, partition) = new_partition();
    (1..=30).for_each(|blob| put(&partition, blob, vec![blob; 10]));
    partition.delete(blob_id(3), Durability::Durable).unwrap();
    partition.seal().unwrap();
    drop(partition);
    let old = in_format_1(&disk.content(FIRST_INDEX).unwrap());
    disk.remove(FIRST_INDEX);
    let file = disk.directory().create(FIRST_INDEX).unwrap();
    file.write_all_at(&[std::io::IoSlice::new(&old)], 0).unwrap();
    disk.kill_process();
    let partition = open(&disk);
    assert_eq!(partition.recovery().rebuilt_indexes, 0);
    for blob in (1..=30).filter(|&blob| blob != 3) {
        assert_eq!(body(&partition, blob).unwrap(), [blob; 10]);
    }
    assert!(matches!(body(&partition, 3), Err(Error::Deleted(_))));
    assert!(matches!(body(&partition, 31), Err(Error::NotFound(_))));
    assert_eq!(disk.content(FIRST_INDEX).unwrap(), old);
    assert_eq!(partition.compact(&everything(), &Unpaced).unwrap().segments_before, 1);
    assert_eq!(body(&partition, 2).unwrap(), [2; 10]);
}

#[test]
fn a_damaged_index_page_is_computed_again_when_it_is_read() {
    let (disk, partition) = new_partition();
    put(&partition, 1, vec![1; 1000]);
    partition.seal().unwrap();
    disk.turn_bit(FIRST_INDEX, 4096 + 10);
    assert_eq!(body(&partition, 1).unwrap(), [1; 1000]);
    disk.turn_bit(FIRST_INDEX, 4096 + 10);
    assert_eq!(partition.delete(blob_id(1), Durability::Durable).unwrap(), Written::Now);
    // Its header: found when it is opened.
    disk.turn_bit(FIRST_INDEX, 50);
    assert_eq!(reopen(&disk, partition).recovery().rebuilt_indexes, 1);
}

#[test]
fn several_damaged_indexes_are_computed_again() {
    let (disk, partition) = new_partition();
    put(&partition, 1, vec![1; 1000]);
    partition.seal().unwrap();
    partition.delete(blob_id(1), Durability::Durable).unwrap();
    partition.seal().unwrap();
    let damage = || {
        disk.turn_bit(FIRST_INDEX, 4096 + 10);
        disk.turn_bit("0000000000000002.index", 4096 + 10);
    };
    damage();
    assert!(matches!(body(&partition, 1), Err(Error::Deleted(_))));
    partition.undelete(blob_id(1), Durability::Durable).unwrap();
    damage();
    assert_eq!(body(&partition, 1).unwrap(), [1; 1000]);
    damage();
    assert_eq!(partition.compact(&everything(), &Unpaced).unwrap(), CompactionReport::default());
}

#[test]
fn without_its_manifest_nothing_is_opened_and_nothing_deleted() {
    let (disk, partition) = new_partition();
    put(&partition, 1, vec![1; 1000]);
    drop(partition);
    let names = disk.names();
    disk.turn_bit("MANIFEST", 30);
    let error = Partition::open(disk.directory(), small_options(), clock()).unwrap_err();
    assert!(error.to_string().contains("another replica"), "{error}");
    assert_eq!(disk.names(), names);
    disk.remove("MANIFEST");
    assert!(Partition::open(disk.directory(), small_options(), clock()).is_err());
    assert!(Partition::create(&*disk.directory(), PARTITION, &small_options()).is_err());
    assert!(disk.content(FIRST_LOG).is_some());
}

#[test]
fn a_segment_of_another_log_is_refused() {
    let (disk, partition) = new_partition();
    drop(partition);
    let (other, _partition) = new_partition();
    let foreign = other.content(FIRST_LOG).unwrap();
    disk.remove(FIRST_LOG);
    let file = disk.directory().create(FIRST_LOG).unwrap();
    file.write_all_at(&[std::io::IoSlice::new(&foreign)], 0).unwrap();
    let error = Partition::open(disk.directory(), small_options(), clock()).unwrap_err();
    assert!(matches!(error, Error::NotAPartition { .. }), "{error}");
}

#[test]
fn paranoid_notices_a_disk_that_writes_something_else() {
    let write = |durability| {
        let (disk, partition) = new_partition();
        disk.fail_after(0, Fault::WrongBit);
        partition.put(Put::new(blob_id(1), vec![1; 1000]), durability)
    };
    assert!(matches!(write(Durability::Paranoid), Err(Error::Failed { .. })));
    assert!(write(Durability::Durable).is_ok());
}

#[test]
fn after_a_failed_sync_reads_go_on_and_writes_do_not() {
    let (disk, partition) = new_partition();
    put(&partition, 1, vec![1; 1000]);
    disk.fail_after(1, Fault::Eio);
    let put_2 = || partition.put(Put::new(blob_id(2), vec![2; 1000]), Durability::Durable);
    assert!(matches!(put_2(), Err(Error::Failed { .. })));
    // The disk is well again; what it did with the record, nobody knows.
    assert!(matches!(put_2(), Err(Error::Failed { .. })));
    assert!(matches!(body(&partition, 2), Err(Error::NotFound(_))));
    assert_eq!(body(&partition, 1).unwrap(), [1; 1000]);
}

/// The kernel takes for written what it failed to write: the next process finds it in the cache, and a sync does nothing.
#[test]
fn what_a_failed_sync_left_in_the_cache_is_written_again() {
    for seed in 0..20 {
        let (disk, partition) = partition_on(SimDisk::new(seed));
        disk.fail_after(1, Fault::Eio);
        let put_1 = Put::new(blob_id(1), vec![1; 1000]);
        assert!(partition.put(put_1.clone(), Durability::Durable).is_err());
        let partition = reopen(&disk, partition);
        assert_eq!(partition.put(put_1, Durability::Durable).unwrap(), Written::Before);
        drop(partition);
        disk.lose_power();
        assert_eq!(body(&open(&disk), 1).unwrap(), [1; 1000], "seed {seed}");
    }
}

#[test]
fn a_full_disk_is_no_failure_for_ever() {
    let (disk, partition) = new_partition();
    put(&partition, 1, vec![1; 10_000]);
    disk.fail_after(0, Fault::Enospc);
    let put_2 = || partition.put(Put::new(blob_id(2), vec![2; 10_000]), Durability::Durable);
    let error = put_2().unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert_eq!(body(&partition, 1).unwrap(), [1; 10_000]);
    assert_eq!(put_2().unwrap(), Written::Now);
    assert_eq!(body(&reopen(&disk, partition), 2).unwrap(), [2; 10_000]);
}

#[test]
fn a_segment_with_damage_is_not_compacted() {
    let (disk, partition) = new_partition();
    (1..=3).for_each(|blob| put(&partition, blob, vec![blob; 1000]));
    partition.delete(blob_id(1), Durability::Durable).unwrap();
    partition.seal().unwrap();
    disk.turn_bit(FIRST_LOG, FIRST_RECORD + 1092 + BODY_AT);
    let before = disk.content(FIRST_LOG);
    for _ in 0..2 {
        let report = partition.compact(&everything(), &Unpaced).unwrap();
        assert_eq!(
            (report.segments_before, report.damaged_segments.min(1)),
            (0, report.damaged_segments)
        );
    }
    assert_eq!(disk.content(FIRST_LOG), before);
    assert_eq!(disk.names().len(), 4, "{:?}", disk.names());
    assert_eq!(body(&partition, 3).unwrap(), [3; 1000]);
}

#[test]
fn other_partitions_blobs_are_refused() {
    let (_disk, partition) = new_partition();
    let id = BlobId::random(afterbay_blob_store::PartitionId(1));
    assert!(matches!(partition.get(id), Err(Error::OtherPartition { .. })));
    let put = partition.put(Put::new(id, vec![1]), Durability::Durable);
    assert!(matches!(put, Err(Error::OtherPartition { .. })));
}
