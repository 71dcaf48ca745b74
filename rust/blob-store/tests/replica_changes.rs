//! Changes that are read from the log: all of them, once each, at a cost that does not grow with the log.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{
    BlobId, Change, CompactionOptions, Durability, Operation, Options, Pacer, Partition, Put,
    RecordKind, SystemClock, Unpaced, Write,
};

use crate::common::counting::{Reads, counting};
use crate::common::{PARTITION, blob_id, everything, small_options};

const DURABLE: Durability = Durability::Durable;

fn of_many(records: usize, body: usize, options: Options) -> (Partition, Arc<Reads>) {
    let (partition, reads) = counting(options);
    for _ in 0..records / 500 {
        let put = || Put::new(BlobId::random(PARTITION), vec![1; body]);
        let write = |put| Write::new(Operation::Put(Put { fresh: true, ..put }), DURABLE);
        let group = (0..500).map(|_| write(put())).collect();
        assert!(partition.write_all(group).iter().all(Result::is_ok));
    }
    reads.take();
    (partition, reads)
}

/// All changes from `sequence` on, page by page.
fn pages(partition: &Partition, sequence: u64, limit: usize) -> Vec<Change> {
    let (mut next, mut all) = (sequence, Vec::new());
    loop {
        let page = partition.changes_since(next, limit).unwrap();
        if page.changes.is_empty() {
            return all;
        }
        next = page.next_sequence;
        all.extend(page.changes);
    }
}

fn options(segment_records_max: usize) -> Options {
    let (capacity_bytes, segment_bytes) = (1 << 30, 32 << 20);
    let journal_records = 16;
    Options {
        capacity_bytes,
        segment_bytes,
        segment_records_max,
        journal_records,
        ..small_options()
    }
}

#[test]
fn catching_up_costs_a_read_for_each_record_or_less_at_any_size() {
    // Bodies for which each header is a read of its own; small ones; several segments; all of it in the active one.
    let large = [(3_000, 100_000), (3_000, 1_000)].map(|of| (of, [1_000, 4_000]));
    let small = [(20, 100_000), (20, 3_000)].map(|of| (of, [2_500, 10_000]));
    for ((body, records_max), sizes) in large.into_iter().chain(small) {
        for records in sizes {
            let (partition, reads) = of_many(records, body, options(records_max));
            for sealed in [false, true] {
                if sealed {
                    partition.seal().unwrap();
                }
                reads.take();
                let all = pages(&partition, 1, 500);
                let sequences: Vec<_> = all.iter().map(|change| change.sequence).collect();
                assert_eq!(sequences, (1..=records as u64).collect::<Vec<_>>());
                let (log, index) = reads.take();
                let (reads, most) = (log + index, records as u64 * 11 / 10);
                assert!(reads <= most, "{records} records of {body}, {records_max}: {reads} reads");
                if body == 20 {
                    assert!(reads * 20 < most, "{records} small records: {reads} reads");
                }
            }
        }
    }
}

/// Who begins somewhere else searches once: the index, and a header for each halving.
#[test]
fn several_readers_each_go_on_where_they_were() {
    let records = 8_000;
    let (partition, reads) = of_many(records, 3_000, options(100_000));
    partition.seal().unwrap();
    let mut next: Vec<u64> = (0..20).map(|reader| 1 + reader * 300).collect();
    reads.take();
    let mut told = 0;
    for _ in 0..30 {
        for next in &mut next {
            let page = partition.changes_since(*next, 50).unwrap();
            let sequences: Vec<_> = page.changes.iter().map(|change| change.sequence).collect();
            assert_eq!(sequences, (*next..*next + 50).collect::<Vec<_>>());
            *next = page.next_sequence;
            told += 50;
        }
    }
    let index_pages = records as u64 / 85 + 2;
    let most = told + 20 * (index_pages + 20);
    let (log, index) = reads.take();
    let reads = log + index;
    assert!(reads <= most, "{reads} reads for {told} changes, {most} at most");
}

/// The newest records are told from memory: also from there, what was compacted away is left out. A new replica took an undelete
/// whose blob was gone, told the others of it, and all of them looked for its content for ever.
#[test]
fn what_was_compacted_away_is_not_told_from_memory() {
    let options = Options { journal_records: 4096, ..small_options() };
    let disk = SimDisk::new(1);
    Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
    let partition = Partition::open(disk.directory(), options, Arc::new(SystemClock)).unwrap();
    let expires_ms = 1;
    for blob in 0..6 {
        partition
            .put(Put { expires_ms, ..Put::new(blob_id(blob), vec![blob; 300]) }, DURABLE)
            .unwrap();
    }
    partition.put(Put::new(blob_id(9), vec![9; 300]), DURABLE).unwrap();
    partition.delete(blob_id(9), DURABLE).unwrap();
    partition.undelete(blob_id(9), DURABLE).unwrap();
    assert_eq!(pages(&partition, 1, 4).len(), 9);
    partition.seal().unwrap();
    let all = CompactionOptions { tombstones_before_sequence: u64::MAX, ..everything() };
    while partition.compact(&all, &Unpaced).unwrap().segments_before > 0 {}
    partition.put(Put::new(blob_id(10), vec![10; 300]), DURABLE).unwrap();
    let told = pages(&partition, 1, 4);
    assert!(told.iter().all(|change| [blob_id(9), blob_id(10)].contains(&change.id)), "{told:?}");
    assert!((2..5).contains(&told.len()), "{told:?}");
}

#[test]
fn what_a_compaction_leaves_is_told_once_from_anywhere() {
    let disk = SimDisk::new(1);
    let options = Options { journal_records: 0, ..small_options() };
    Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
    let partition = Partition::open(disk.directory(), options, Arc::new(SystemClock)).unwrap();
    for blob in 0..100 {
        partition.put(Put::new(blob_id(blob), vec![blob; 300]), DURABLE).unwrap();
    }
    for blob in (0..100).step_by(3) {
        partition.delete(blob_id(blob), DURABLE).unwrap();
    }
    partition.seal().unwrap();
    // Pages of before: their readers go on when the segments are other ones.
    let begun: Vec<_> = (1..134).map(|from| partition.changes_since(from, 1).unwrap()).collect();
    while partition.compact(&everything(), &Unpaced).unwrap().segments_before > 0 {}
    let all = pages(&partition, 1, 7);
    assert_eq!(all.len(), 66 + 34);
    let puts = all.iter().filter(|change| change.kind == RecordKind::Put).count();
    assert_eq!(puts, 66);
    for from in begun.iter().map(|page| page.next_sequence).chain(1..136) {
        for limit in [1, 7, 1000] {
            let expected: Vec<_> =
                all.iter().filter(|change| change.sequence >= from).copied().collect();
            assert_eq!(pages(&partition, from, limit), expected, "from {from}, {limit} each");
        }
    }
}

/// A damaged record is told of as the index has it, and those behind it are.
#[test]
fn a_damaged_record_holds_nothing_up() {
    for sealed in [false, true] {
        for damaged in [0, 1, 5, 9] {
            let disk = SimDisk::new(1);
            let options = Options { journal_records: 0, ..small_options() };
            Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
            let partition =
                Partition::open(disk.directory(), options, Arc::new(SystemClock)).unwrap();
            for blob in 0..10 {
                partition.put(Put::new(blob_id(blob), vec![blob; 100]), DURABLE).unwrap();
            }
            if sealed {
                partition.seal().unwrap();
            }
            let before = pages(&partition, 1, 100);
            disk.turn_bit("0000000000000001.log", 68 + 192 * damaged + 60);
            assert_eq!(pages(&partition, 1, 100), before);
            for from in 1..12 {
                let expected: Vec<_> =
                    before.iter().filter(|change| change.sequence >= from).copied().collect();
                for limit in [1, 2, 3] {
                    assert_eq!(pages(&partition, from, limit), expected, "{damaged}, from {from}");
                }
            }
        }
    }
}

/// Counts what it is asked for.
#[derive(Default)]
struct Counts(Cell<u64>);

impl Pacer for Counts {
    fn pace(&self, bytes: u64) -> ControlFlow<()> {
        self.0.set(self.0.get() + u64::from(bytes == 4096));
        ControlFlow::Continue(())
    }
}

/// Blobs are looked up page by page, and segments that were looked at are not looked at again for each run: a pass reads each
/// page a few times, whatever there is to do. And it is paced.
#[test]
fn a_pass_of_compactions_reads_each_page_a_few_times() {
    let (segments, each) = (80, 200);
    let (partition, reads) = counting(Options { segment_bytes: 32 << 10, ..options(200) });
    let ids: Vec<_> = (0..segments * each).map(|_| BlobId::random(PARTITION)).collect();
    for ids in ids.chunks(each) {
        let put = |id: &BlobId| Operation::Put(Put { fresh: true, ..Put::new(*id, vec![1; 50]) });
        let puts = ids.iter().map(|id| Write::new(put(id), DURABLE)).collect();
        assert!(partition.write_all(puts).iter().all(Result::is_ok));
    }
    // Every third one, all over the log.
    let deletes = ids.iter().step_by(3).map(|id| Write::new(Operation::Delete(*id), DURABLE));
    assert!(partition.write_all(deletes.collect()).iter().all(Result::is_ok));
    partition.seal().unwrap();
    let records = partition.status().records;
    reads.take();
    // Nothing has so much garbage: all segments are looked at, once.
    let none = CompactionOptions { garbage_percent_min: 100, ..everything() };
    assert_eq!(partition.compact(&none, &Unpaced).unwrap().segments_before, 0);
    let (_, look) = reads.take();
    assert!(look < records / 2, "{look} reads to look at {records} records");
    let (pacer, mut runs, mut dropped) = (Counts::default(), 0, 0);
    loop {
        let report = partition.compact(&everything(), &pacer).unwrap();
        dropped += report.dropped_records;
        if report.segments_before == 0 {
            break;
        }
        runs += 1;
    }
    assert_eq!(dropped, ids.len().div_ceil(3) as u64);
    assert!(runs >= 8, "{runs} runs");
    let (_, read) = reads.take();
    // Each segment before its run is found, and once more when nothing is left to do.
    assert!(read <= 3 * look, "{read} reads in {runs} runs, where one look takes {look}");
    assert!(pacer.0.get() >= look, "{} times asked for {read} reads", pacer.0.get());
}
