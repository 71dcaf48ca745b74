//! Sectors that cannot be read, for a while or for good, in the active segment, the manifest and the mark: what is served,
//! what is reported, and that nothing is cut which can be read another time.

use afterbay_blob_store::sim::{Fault, SECTOR_BYTES, SimDisk};
use afterbay_blob_store::{Durability, Error, Operation, Options, Partition, Put, Write};

use crate::common::sectors::*;
use crate::common::{PARTITION, blob_id, small_options};

#[test]
fn a_bad_sector_in_a_body_is_an_error_of_that_blob_and_range() {
    for seals in [false, true] {
        let (disk, partition) = partition_of(3);
        if seals {
            partition.seal().unwrap();
        }
        let at = record(1) + 1000;
        disk.fail_reads(FIRST_LOG, at..at + 1);
        for partition in [&partition, &reopen(&disk, open(&disk))] {
            let error = body(partition, 2).unwrap_err();
            assert!(error.is_damage(), "{error}");
            let text = error.to_string();
            assert!(text.contains(FIRST_LOG) && text.contains("look at the disk"), "{text}");
            assert_there(partition, [1, 3]);
            assert_eq!(reported(partition), []);
        }
        disk.heal_reads();
        assert_there(&partition, 1..=3);
    }
}

#[test]
fn other_ranges_of_a_blob_are_served() {
    let options = Options { segment_bytes: 1 << 18, ..small_options() };
    let disk = SimDisk::new(1);
    Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
    let partition = open_with(&disk, options).unwrap();
    let content: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
    partition.put(Put::new(blob_id(1), content.clone()), Durability::Durable).unwrap();
    // In the first bytes that are read to open it.
    disk.fail_reads(FIRST_LOG, 3000..3001);
    let reader = partition.get(blob_id(1)).unwrap();
    assert!(reader.read_range(0..10).is_err());
    assert_eq!(reader.read_range(65_536..200_000).unwrap(), content[65_536..]);
}

#[test]
fn a_header_that_cannot_be_read_is_reported_and_its_blob_is_not_absent() {
    let (disk, partition) = partition_of(3);
    disk.fail_reads(FIRST_LOG, record(1) + 10..record(1) + 11);
    let partition = reopen(&disk, partition);
    assert_eq!(reported(&partition), [(record(1), record(2), true)]);
    assert_eq!(partition.recovery().cut_bytes, 0);
    assert_there(&partition, [1, 3]);
    assert_unreadable(&partition, 2);
    let again = Put { fresh: false, ..fresh(2) };
    let refused = partition.put(again, Durability::Durable).unwrap_err();
    assert!(matches!(refused, Error::Unreadable { .. }), "{refused}");
    assert!(partition.delete(blob_id(2), Durability::Durable).is_err());
    put(&partition, 4);
    disk.heal_reads();
    let partition = reopen(&disk, partition);
    assert_eq!(reported(&partition), []);
    assert_there(&partition, 1..=4);
    assert!(matches!(body(&partition, 5), Err(Error::NotFound(_))));
}

/// After a kill nothing says that the last group was synced. It was.
#[test]
fn an_end_that_cannot_be_read_is_not_cut() {
    // The header of the last record, or of the last two.
    for bad in [record(2) + 10..record(2) + 11, record(1) + 10..record(2) + 11] {
        let (disk, partition) = partition_of(3);
        let before = disk.content(FIRST_LOG).unwrap();
        disk.fail_reads(FIRST_LOG, bad);
        let partition = reopen(&disk, partition);
        assert_eq!(partition.recovery().cut_bytes, 0);
        assert_eq!(reported(&partition).len(), 1);
        assert_there(&partition, [1]);
        assert_unreadable(&partition, 3);
        assert_eq!(disk.content(FIRST_LOG).unwrap()[..record(3)], before[..record(3)]);
        let next = partition.status().next_sequence;
        put(&partition, 4);
        let partition = reopen(&disk, partition);
        assert_there(&partition, [1, 4]);
        assert_eq!(partition.status().next_sequence, next + 1, "no number is given twice");
        disk.heal_reads();
        let partition = reopen(&disk, partition);
        assert_there(&partition, 1..=4);
        let sequences = partition.changes_since(1, 10).unwrap().changes;
        let sequences: Vec<_> = sequences.iter().map(|change| change.sequence).collect();
        assert_eq!(sequences, [1, 2, 3, 4, next]);
        assert!(next > 4);
    }
}

#[test]
fn a_record_at_the_end_whose_body_cannot_be_read_is_not_cut() {
    let (disk, partition) = partition_of(2);
    disk.fail_reads(FIRST_LOG, record(1) + 1000..record(1) + 1001);
    let partition = reopen(&disk, partition);
    assert_eq!((partition.recovery().cut_bytes, reported(&partition)), (0, vec![]));
    assert_unreadable(&partition, 2);
    put(&partition, 3);
    disk.heal_reads();
    assert_there(&reopen(&disk, partition), 1..=3);
}

/// What a log left out that it could not read is 0 when it can be, and looks like room that was never written.
#[test]
fn an_end_behind_one_that_was_left_out_is_not_cut_either() {
    let (disk, partition) = partition_of(2);
    disk.fail_reads(FIRST_LOG, record(2)..record(3));
    let partition = reopen(&disk, partition);
    put(&partition, 3);
    disk.heal_reads();
    let content = disk.content(FIRST_LOG).unwrap();
    let begin = (record(3)..content.len()).find(|&at| content[at] != 0).unwrap();
    for mark_too in [false, true] {
        disk.fail_reads(FIRST_LOG, begin..begin + 1);
        if mark_too {
            disk.fail_reads("SYNCED", 0..1);
        }
        disk.kill_process();
        assert_unreadable(&open(&disk), 3);
        disk.heal_reads();
        disk.lose_power();
        assert_there(&open(&disk), 1..=3);
    }
}

/// A long record that cannot be read hides how many there are; when it can be, the log goes on with higher numbers.
#[test]
fn no_number_is_given_twice_whatever_was_read_when() {
    let options = Options { segment_bytes: 256 << 10, ..small_options() };
    let disk = SimDisk::new(1);
    let partition = new_partition(&disk, options.clone());
    put(&partition, 1);
    let long = Put::new(blob_id(2), vec![2; 4 * RECORD - HEAD]);
    partition.put(long, Durability::Durable).unwrap();
    let next = |partition: Partition| {
        drop(partition);
        disk.kill_process();
        open_with(&disk, options.clone()).unwrap()
    };
    let behind = (record(1) + 4 * RECORD).next_multiple_of(4096) + 4096;
    disk.fail_reads(FIRST_LOG, record(1)..record(1) + 1);
    let partition = next(partition);
    put(&partition, 3);
    disk.heal_reads();
    let third = (record(5)..behind + RECORD)
        .find(|&at| disk.content(FIRST_LOG).unwrap()[at..].starts_with(b"ABLR"));
    disk.fail_reads(FIRST_LOG, third.unwrap()..third.unwrap() + 1);
    let partition = next(partition);
    put(&partition, 4);
    disk.heal_reads();
    let partition = next(partition);
    assert_there(&partition, [1, 3, 4]);
    let changes = partition.changes_since(1, 100).unwrap().changes;
    assert!(changes.windows(2).all(|two| two[0].sequence < two[1].sequence), "{changes:?}");
}

/// What is kept because it cannot be read, and what is behind it, was served: it must not look torn later.
#[test]
fn what_was_served_behind_a_body_that_cannot_be_read_stays() {
    let (disk, partition) = partition_of(1);
    let group = [2, 3].map(|blob| Write::new(Operation::Put(fresh(blob)), Durability::Durable));
    assert!(partition.write_all(group.into()).iter().all(Result::is_ok));
    disk.turn_bit(FIRST_LOG, record(1) + HEAD + 700);
    disk.fail_reads(FIRST_LOG, record(1) + HEAD + 700..record(1) + HEAD + 701);
    let partition = reopen(&disk, partition);
    assert_there(&partition, [1, 3]);
    disk.heal_reads();
    assert_there(&reopen(&disk, partition), [1, 3]);
}

/// The mark would say which numbers were given; what has the last ones is damaged.
#[test]
fn no_number_is_given_twice_without_the_mark() {
    let (disk, partition) = partition_of(2);
    partition.close().unwrap();
    let given = partition.status().next_sequence;
    disk.turn_bit(FIRST_LOG, record(1) + 20);
    disk.fail_reads("SYNCED", 0..1);
    let partition = reopen(&disk, partition);
    assert!(partition.status().next_sequence >= given);
    assert_there(&partition, [1]);
}

/// After a clean end the mark says that all was acknowledged. If it cannot be read, nobody knows.
#[test]
fn nothing_is_cut_that_a_mark_may_have_proven() {
    for damage in [20, HEAD + 700] {
        let (disk, partition) = partition_of(1);
        let group = [2, 3].map(|blob| Write::new(Operation::Put(fresh(blob)), Durability::Durable));
        assert!(partition.write_all(group.into()).iter().all(Result::is_ok));
        partition.close().unwrap();
        disk.turn_bit(FIRST_LOG, record(1) + damage);
        disk.fail_reads("SYNCED", 0..1);
        let partition = reopen(&disk, partition);
        assert_eq!(partition.recovery().cut_bytes, 0);
        assert_there(&partition, [1, 3]);
        disk.heal_reads();
        let partition = reopen(&disk, partition);
        assert_there(&partition, [1, 3]);
        put(&partition, 4);
        assert_there(&reopen(&disk, partition), [1, 3, 4]);
    }
}

#[test]
fn what_was_never_written_need_not_be_read() {
    let (disk, partition) = partition_of(2);
    let behind = (record(2) / SECTOR_BYTES + 2) * SECTOR_BYTES;
    disk.fail_reads(FIRST_LOG, behind..behind + 3 * SECTOR_BYTES);
    let partition = reopen(&disk, partition);
    assert_eq!((partition.recovery().cut_bytes, reported(&partition)), (0, vec![]));
    (3..=5).for_each(|blob| put(&partition, blob));
    assert!(matches!(body(&partition, 6), Err(Error::NotFound(_))));
    assert_there(&reopen(&disk, partition), 1..=5);
}

/// A torn record that can be read is no reason to keep what is behind it, but for what cannot be read.
#[test]
fn a_torn_end_is_cut_as_long_as_it_can_be_read() {
    for bad in [false, true] {
        let (disk, partition) = partition_of(3);
        disk.turn_bit(FIRST_LOG, record(1) + 20);
        disk.turn_bit(FIRST_LOG, record(2) + 20);
        if bad {
            disk.fail_reads(FIRST_LOG, record(3)..record(3) + 1);
        }
        let partition = reopen(&disk, partition);
        assert_eq!(reported(&partition).len(), usize::from(bad), "{bad}");
        assert_there(&partition, [1]);
    }
}

#[test]
fn a_manifest_that_cannot_be_read_is_named_and_nothing_is_deleted() {
    let (disk, partition) = partition_of(3);
    drop(partition);
    disk.kill_process();
    let names = disk.names();
    disk.fail_reads("MANIFEST", 0..1);
    let error = open_with(&disk, small_options()).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    assert!(error.to_string().starts_with("MANIFEST"), "{error}");
    assert_eq!(disk.names(), names);
    disk.heal_reads();
    assert_there(&open(&disk), 1..=3);
}

#[test]
fn a_mark_that_cannot_be_read_is_none_and_is_replaced() {
    let (disk, partition) = partition_of(3);
    partition.close().unwrap();
    disk.fail_reads("SYNCED", 0..1);
    let partition = reopen(&disk, partition);
    assert_eq!(reported(&partition), []);
    assert_there(&partition, 1..=3);
    put(&partition, 4);
    partition.close().unwrap();
    // It says that damage at the end is none that was torn.
    disk.turn_bit(FIRST_LOG, record(3) + 20);
    assert_eq!(reported(&reopen(&disk, partition)), [(record(3), record(4), false)]);
}

#[test]
fn a_disk_that_fails_over_a_long_range_does_not_keep_a_partition_closed() {
    let options = Options { capacity_bytes: 8 << 20, segment_bytes: 2 << 20, ..small_options() };
    let disk = SimDisk::new(1);
    let partition = new_partition(&disk, options.clone());
    (1..=3).for_each(|blob| put(&partition, blob));
    drop(partition);
    disk.kill_process();
    // More sectors than are tried.
    disk.fail_reads(FIRST_LOG, record(1)..1_500_000);
    let partition = open_with(&disk, options.clone()).unwrap();
    assert_eq!(reported(&partition), [(record(1), 2 << 20, true)]);
    assert_there(&partition, [1]);
    assert_unreadable(&partition, 3);
    put(&partition, 4);
    disk.heal_reads();
    drop(partition);
    disk.kill_process();
    assert_there(&open_with(&disk, options).unwrap(), 1..=4);
}

/// What a failed sync left in the cache is written again where it can be read, around what cannot be.
#[test]
fn what_may_not_be_on_the_disk_is_written_again_around_bad_sectors() {
    for seed in 0..20 {
        let disk = SimDisk::new(seed);
        let partition = new_partition(&disk, small_options());
        disk.fail_after(2, Fault::Eio);
        let group = [1, 2].map(|blob| Write::new(Operation::Put(fresh(blob)), Durability::Durable));
        assert!(partition.write_all(group.to_vec()).iter().all(Result::is_err));
        disk.fail_reads(FIRST_LOG, record(0) + 1000..record(0) + 1001);
        let partition = reopen(&disk, partition);
        assert_there(&partition, [2]);
        drop(partition);
        disk.lose_power();
        assert_there(&open(&disk), [2]);
    }
}
