//! What a scrub says of damage in each place, and that nobody has to wait for it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{
    Durability, Error, Finding, Flaw, Harm, Options, Pacer, Partition, Put, RealDirectory,
    SystemClock, Unpaced,
};

use crate::common::sectors::*;
use crate::common::{PARTITION, blob_id, everything, scrub, small_options};

/// File, place, and whom it harms.
fn places(findings: &[Finding]) -> Vec<(&str, u64, u64, Harm)> {
    findings.iter().map(|f| (f.file.as_str(), f.offset, f.length, f.harm)).collect()
}

fn at(bytes: usize) -> u64 {
    bytes as u64
}

/// Does something before the so many-th step of a scrub, from 0 on.
struct Before<F: Fn()>(AtomicUsize, usize, F);

impl<F: Fn()> Before<F> {
    fn step(number: usize, work: F) -> Self {
        Before(AtomicUsize::new(0), number, work)
    }
}

impl<F: Fn()> Pacer for Before<F> {
    fn pace(&self, _bytes: u64) -> ControlFlow<()> {
        if self.0.fetch_add(1, Ordering::Relaxed) == self.1 {
            (self.2)();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn each_part_of_a_blob_is_verified() {
    for seals in [false, true] {
        let (disk, partition) = partition_of(3);
        if seals {
            partition.seal().unwrap();
        }
        let (second, length) = (record(1), RECORD);
        for (turned, offset, length, what) in [
            (second + 20, second, length, "record header: checksum"),
            (second + 89, second + 88, length - 88, "checksums of a body: checksum"),
            (second + HEAD + 700, second + HEAD, BODY, "body: checksum"),
        ] {
            disk.turn_bit(FIRST_LOG, turned);
            let findings = scrub(&partition, &Unpaced);
            assert_eq!(places(&findings), [(FIRST_LOG, at(offset), at(length), Harm::Live)]);
            assert_eq!((findings[0].flaw, findings[0].blob), (Flaw::Damaged, Some(blob_id(2))));
            assert!(findings[0].what.starts_with(what), "{}", findings[0].what);
            disk.turn_bit(FIRST_LOG, turned);
        }
        assert_eq!(scrub(&partition, &Unpaced), []);
    }
}

#[test]
fn blocks_that_follow_each_other_are_one_finding() {
    let options = Options { segment_bytes: 1 << 20, ..small_options() };
    let disk = SimDisk::new(1);
    let partition = new_partition(&disk, options);
    let body = vec![7; 400_000];
    partition.put(Put::new(blob_id(1), body), Durability::Durable).unwrap();
    let body = RECORD + 88 + 7 * 4;
    for block in [1, 2, 4] {
        disk.turn_bit(FIRST_LOG, body + block * 65_536 + 5);
    }
    // The last block is shorter, and in the sector of the one before.
    disk.fail_reads(FIRST_LOG, body + 6 * 65_536 + 2000..body + 6 * 65_536 + 2001);
    let findings = scrub(&partition, &Unpaced);
    let expected = [
        (FIRST_LOG, at(body + 65_536), 131_072, Harm::Live),
        (FIRST_LOG, at(body + 4 * 65_536), 65_536, Harm::Live),
        (FIRST_LOG, at(body + 6 * 65_536), 400_000 - 6 * 65_536, Harm::Live),
    ];
    assert_eq!(places(&findings), expected);
    let flaws: Vec<_> = findings.iter().map(|finding| finding.flaw).collect();
    assert_eq!(flaws, [Flaw::Damaged, Flaw::Damaged, Flaw::Unreadable]);
    assert!(findings[2].what.starts_with("body: cannot be read"), "{}", findings[2].what);
}

#[test]
fn what_nobody_can_read_any_more_is_garbage() {
    let (disk, partition) = partition_of(4);
    delete(&partition, 1);
    partition.update_ttl(blob_id(2), 1_000, Durability::Durable).unwrap();
    partition.seal().unwrap();
    (0..3).for_each(|n| disk.turn_bit(FIRST_LOG, record(n) + HEAD));
    let findings = scrub(&partition, &Unpaced);
    let harms: Vec<_> = findings.iter().map(|finding| (finding.blob, finding.harm)).collect();
    let expected = [(1, Harm::Garbage), (2, Harm::Garbage), (3, Harm::Live)];
    assert_eq!(harms, expected.map(|(blob, harm)| (Some(blob_id(blob)), harm)));
}

#[test]
fn what_is_stored_twice_or_can_be_computed_is_spare() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    disk.turn_bit(FIRST_LOG, 30);
    disk.turn_bit(FIRST_INDEX, 40);
    disk.turn_bit(FIRST_INDEX, 4096 + 100);
    let findings = scrub(&partition, &Unpaced);
    let expected = [
        (FIRST_INDEX, 0, 4096, Harm::Spare),
        (FIRST_INDEX, 4096, 4096, Harm::Spare),
        (FIRST_LOG, 0, 68, Harm::Spare),
    ];
    assert_eq!(places(&findings), expected);
    // A damaged index does not hide what is damaged in the log.
    disk.turn_bit(FIRST_LOG, record(1) + HEAD);
    let findings = scrub(&partition, &Unpaced);
    let last = &findings[3];
    assert_eq!((last.offset, last.blob), (at(record(1) + HEAD), Some(blob_id(2))));
}

#[test]
fn nothing_is_changed() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    disk.turn_bit(FIRST_INDEX, 4096 + 100);
    disk.turn_bit(FIRST_LOG, record(1) + HEAD);
    disk.turn_bit("MANIFEST", 70);
    let contents = || disk.names().iter().map(|name| disk.content(name)).collect::<Vec<_>>();
    let (before, operations) = (contents(), disk.operations());
    assert_eq!(scrub(&partition, &Unpaced).len(), 3);
    assert_eq!((contents() == before, disk.operations()), (true, operations));
}

#[test]
fn a_damaged_manifest_is_found_and_the_next_one_is_whole() {
    let (disk, partition) = partition_of(3);
    disk.turn_bit("MANIFEST", 70);
    let findings = scrub(&partition, &Unpaced);
    assert_eq!(places(&findings), [("MANIFEST", 0, 140, Harm::Live)]);
    disk.turn_bit("MANIFEST", 70);
    disk.fail_reads("MANIFEST", 0..1);
    assert_eq!(scrub(&partition, &Unpaced)[0].flaw, Flaw::Unreadable);
    partition.seal().unwrap();
    assert_eq!(scrub(&partition, &Unpaced), []);
}

#[test]
fn files_that_are_gone_or_too_short_are_found() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    let whole = RECORD * 4;
    disk.directory().open(FIRST_LOG).unwrap().truncate(at(record(1) + 700)).unwrap();
    let findings = scrub(&partition, &Unpaced);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings.iter().all(|f| f.what.contains("the file ends before")), "{findings:?}");
    for name in [FIRST_LOG, FIRST_INDEX, "MANIFEST"] {
        disk.remove(name);
    }
    let findings = scrub(&partition, &Unpaced);
    let missing: Vec<_> = places(&findings);
    let index = findings[1].length;
    let expected = [
        ("MANIFEST", 0, 0, Harm::Live),
        (FIRST_INDEX, 0, index, Harm::Spare),
        (FIRST_LOG, 0, at(whole), Harm::Live),
    ];
    assert_eq!(missing, expected);
}

#[test]
fn a_place_without_a_record_is_found_also_if_the_index_does_not_know_it() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    disk.remove(FIRST_INDEX);
    disk.turn_bit(FIRST_LOG, record(1) + 20);
    let partition = reopen(&disk, partition);
    let findings = scrub(&partition, &Unpaced);
    let (begin, length) = (at(record(1)), at(RECORD));
    assert_eq!(places(&findings), [(FIRST_LOG, begin, length, Harm::Live)]);
    assert_eq!((findings[0].blob, findings[0].flaw), (None, Flaw::Damaged));
    disk.fail_reads(FIRST_LOG, record(1)..record(1) + 1);
    let findings = scrub(&partition, &Unpaced);
    assert_eq!(places(&findings), [(FIRST_LOG, begin, length, Harm::Live)]);
    assert_eq!(findings[0].flaw, Flaw::Unreadable);
}

#[test]
fn the_end_of_the_log_is_verified_up_to_its_last_record() {
    let (disk, partition) = partition_of(2);
    partition.close().unwrap();
    // The last record is lost, and the log goes on behind it.
    disk.turn_bit(FIRST_LOG, record(1) + 20);
    let partition = reopen(&disk, partition);
    let lost = [(FIRST_LOG, at(record(1)), at(RECORD), Harm::Live)];
    assert_eq!(places(&scrub(&partition, &Unpaced)), lost);
    put(&partition, 3);
    assert_eq!(places(&scrub(&partition, &Unpaced)), lost);
    // Behind it, nothing counts.
    disk.turn_bit(FIRST_LOG, record(3) + 100);
    assert_eq!(places(&scrub(&partition, &Unpaced)), lost);
}

#[test]
fn the_pacer_is_asked_for_each_step_and_may_end_it() {
    struct Sums(AtomicU64, AtomicBool);
    impl Pacer for Sums {
        fn pace(&self, bytes: u64) -> ControlFlow<()> {
            self.0.fetch_add(bytes, Ordering::Relaxed);
            if self.1.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let (_disk, partition) = partition_of(3);
    partition.seal().unwrap();
    put(&partition, 4);
    let sums = Sums(AtomicU64::new(0), AtomicBool::new(false));
    let scrubbed = partition.scrub(&sums, &mut |finding| panic!("{finding:?}")).unwrap();
    assert_eq!((scrubbed.segments, scrubbed.stopped), (2, false));
    assert_eq!(scrubbed.bytes, partition.scrub_bytes());
    assert_eq!(sums.0.load(Ordering::Relaxed), scrubbed.bytes);
    sums.1.store(true, Ordering::Relaxed);
    let scrubbed = partition.scrub(&sums, &mut |finding| panic!("{finding:?}")).unwrap();
    assert_eq!((scrubbed.segments, scrubbed.bytes, scrubbed.stopped), (0, 0, true));
}

#[test]
fn segments_that_are_compacted_or_sealed_meanwhile_are_no_findings() {
    // The first segment's index and log, the second one's, the active one's log.
    for step in 0..5 {
        let (disk, partition) = partition_of(2);
        partition.seal().unwrap();
        put(&partition, 3);
        partition.seal().unwrap();
        put(&partition, 4);
        let changes = Before::step(step, || {
            [1, 3, 4].into_iter().for_each(|blob| delete(&partition, blob));
            partition.seal().unwrap();
            partition.compact(&everything(), &Unpaced).unwrap();
            put(&partition, 5);
        });
        let mut findings = Vec::new();
        let scrubbed = partition.scrub(&changes, &mut |f| findings.push(f)).unwrap();
        assert_eq!(findings, [], "step {step}");
        assert!(scrubbed.compacted > 0, "step {step}: {scrubbed:?}");
        // Nothing of it is held: the first compaction's files go with the next one.
        partition.compact(&everything(), &Unpaced).unwrap();
        assert_eq!(disk.content(FIRST_LOG), None, "step {step}");
        assert_there(&partition, [2, 5]);
    }
}

#[test]
fn an_index_that_is_repaired_meanwhile_is_no_finding() {
    let (disk, partition) = partition_of(3);
    partition.seal().unwrap();
    let repairs = Before::step(0, || {
        disk.turn_bit(FIRST_INDEX, 4096 + 100);
        assert_there(&partition, 1..=3);
    });
    assert_eq!(scrub(&partition, &repairs), []);
}

#[test]
fn a_partition_that_fails_meanwhile_is_not_held() {
    let (disk, partition) = partition_of(3);
    let fails = Before::step(0, || {
        disk.fail_after(0, Fault::Eio);
        assert!(partition.put(fresh(4), Durability::Durable).is_err());
        disk.mend();
    });
    let ended = partition.scrub(&fails, &mut |finding| panic!("{finding:?}"));
    assert!(matches!(ended, Err(Error::Failed { .. })), "{ended:?}");
    // One that has failed before is verified as far as it is known.
    assert_eq!(scrub(&partition, &Unpaced), []);
}

/// Writers, compaction and scrubs at the same time, on a real file system.
#[test]
fn a_busy_partition_is_clean() {
    let parent = tempfile::tempdir_in(".").unwrap();
    let directory = Arc::new(RealDirectory::create(&parent.path().join("partition")).unwrap());
    let options = Options { segment_bytes: 64 << 10, ..small_options() };
    Partition::create(&*directory, PARTITION, &options).unwrap();
    let partition = Partition::open(directory, options, Arc::new(SystemClock)).unwrap();
    let written = AtomicBool::new(false);
    let mut findings = Vec::new();
    let mut scrubs = 0;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0..40_u32 {
                for blob in 0..16 {
                    let length = (round * 997 + u32::from(blob) * 3001) % 20_000;
                    let put = Put::new(blob_id(blob), vec![blob; length as usize]);
                    let class = if blob % 4 == 0 { Durability::Durable } else { Durability::Fast };
                    // Full for a moment, or not compacted away yet.
                    let _ = partition.put(put, class);
                }
                (0..16).for_each(|blob| {
                    let _ = partition.delete(blob_id(blob), Durability::Fast);
                });
                let options = afterbay_blob_store::CompactionOptions {
                    tombstones_before_sequence: u64::MAX,
                    ..everything()
                };
                partition.compact(&options, &Unpaced).unwrap();
            }
            written.store(true, Ordering::Relaxed);
        });
        while !written.load(Ordering::Relaxed) {
            partition.scrub(&Unpaced, &mut |f| findings.push(f)).unwrap();
            scrubs += 1;
        }
    });
    assert_eq!(findings, []);
    assert!(scrubs > 1, "{scrubs} scrubs");
}
