//! Changes that are read from the log: all of them, once each, at a cost that does not grow with the log.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{
    BlobId, Change, Directory, Durability, Options, Partition, Put, RecordKind, StoreFile,
    SyncPoint, SystemClock, Unpaced,
};

use crate::common::{PARTITION, blob_id, everything, small_options};

const DURABLE: Durability = Durability::Durable;

/// Counts reads of files.
#[derive(Debug)]
struct Counting<T: ?Sized>(Arc<T>, Arc<AtomicU64>);

impl Counting<dyn StoreFile> {
    fn of(file: Arc<dyn StoreFile>, reads: &Arc<AtomicU64>) -> Arc<dyn StoreFile> {
        Arc::new(Counting(file, reads.clone()))
    }
}

impl Directory for Counting<dyn Directory> {
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(Counting::of(self.0.create(name)?, &self.1))
    }
    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(Counting::of(self.0.open(name)?, &self.1))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }
    fn sync(&self, point: SyncPoint) -> io::Result<()> {
        self.0.sync(point)
    }
    fn place(&self) -> String {
        self.0.place()
    }
}

impl StoreFile for Counting<dyn StoreFile> {
    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_exact_at(buffer, offset)
    }
    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.0.write_all_at(parts, offset)
    }
    fn preallocate(&self, length: u64) -> io::Result<()> {
        self.0.preallocate(length)
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.truncate(length)
    }
    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        self.0.sync_data(point)
    }
    fn drop_cached(&self, offset: u64, length: u64) -> io::Result<()> {
        self.0.drop_cached(offset, length)
    }
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

fn counting(options: Options) -> (Partition, Arc<AtomicU64>) {
    let reads = Arc::new(AtomicU64::new(0));
    let disk = SimDisk::new(1);
    let directory: Arc<dyn Directory> = Arc::new(Counting(disk.directory(), reads.clone()));
    Partition::create(&*directory, PARTITION, &options).unwrap();
    (Partition::open(directory, options, Arc::new(SystemClock)).unwrap(), reads)
}

fn of_many(records: usize, body: usize, options: Options) -> (Partition, Arc<AtomicU64>) {
    let (partition, reads) = counting(options);
    for _ in 0..records / 500 {
        let put = || Put::new(BlobId::random(PARTITION), vec![1; body]);
        let write = |put| {
            afterbay_blob_store::Write::new(
                afterbay_blob_store::Operation::Put(Put { fresh: true, ..put }),
                DURABLE,
            )
        };
        let group = (0..500).map(|_| write(put())).collect();
        assert!(partition.write_all(group).iter().all(Result::is_ok));
    }
    reads.store(0, Ordering::Relaxed);
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
    let (capacity_bytes, segment_bytes) = (1 << 30, 256 << 20);
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
                reads.store(0, Ordering::Relaxed);
                let all = pages(&partition, 1, 500);
                let sequences: Vec<_> = all.iter().map(|change| change.sequence).collect();
                assert_eq!(sequences, (1..=records as u64).collect::<Vec<_>>());
                let (reads, most) = (reads.load(Ordering::Relaxed), records as u64 * 11 / 10);
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
    reads.store(0, Ordering::Relaxed);
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
    let reads = reads.load(Ordering::Relaxed);
    assert!(reads <= most, "{reads} reads for {told} changes, {most} at most");
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
