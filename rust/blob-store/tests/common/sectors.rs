//! A partition whose records begin with sectors, so that a bad one is in the record that a test wants.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use afterbay_blob_store::sim::{SECTOR_BYTES, SimDisk};
use afterbay_blob_store::{Durability, Error, Options, Partition, Put, Written};

use super::{PARTITION, TestClock, blob_id, small_options};

pub const FIRST_LOG: &str = "0000000000000001.log";
pub const FIRST_INDEX: &str = "0000000000000001.index";
/// Of a segment, behind its header.
pub const FIRST_RECORD: usize = 68;
/// Of a record without properties, before its body.
pub const HEAD: usize = 88 + 4;
pub const RECORD: usize = 4 * SECTOR_BYTES;
pub const BODY: usize = RECORD - HEAD;
/// The first blob of a segment: the records behind it begin with a sector.
pub const FILLER: u8 = 200;

/// Where the record of the `n`-th blob behind the filler begins, from 0 on.
pub fn record(n: usize) -> usize {
    (n + 1) * RECORD
}

pub fn open_with(disk: &SimDisk, options: Options) -> Result<Partition, Error> {
    let clock = Arc::new(TestClock(AtomicU64::new(1_000)));
    Partition::open(disk.directory(), options, clock)
}

pub fn open(disk: &SimDisk) -> Partition {
    open_with(disk, small_options()).unwrap()
}

pub fn new_partition(disk: &SimDisk, options: Options) -> Partition {
    Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
    let partition = open_with(disk, options).unwrap();
    fill(&partition, FILLER);
    partition
}

pub fn fill(partition: &Partition, blob: u8) {
    let filler = Put::new(blob_id(blob), vec![blob; RECORD - FIRST_RECORD - HEAD]);
    partition.put(filler, Durability::Durable).unwrap();
}

/// A partition with blobs from 1 on.
pub fn partition_of(blobs: u8) -> (SimDisk, Partition) {
    let disk = SimDisk::new(1);
    let partition = new_partition(&disk, small_options());
    (1..=blobs).for_each(|blob| put(&partition, blob));
    (disk, partition)
}

pub fn reopen(disk: &SimDisk, partition: Partition) -> Partition {
    drop(partition);
    disk.kill_process();
    open(disk)
}

pub fn fresh(blob: u8) -> Put {
    Put { fresh: true, ..Put::new(blob_id(blob), vec![blob; BODY]) }
}

pub fn put(partition: &Partition, blob: u8) {
    assert_eq!(partition.put(fresh(blob), Durability::Durable).unwrap(), Written::Now);
}

pub fn delete(partition: &Partition, blob: u8) {
    partition.delete(blob_id(blob), Durability::Durable).unwrap();
}

pub fn body(partition: &Partition, blob: u8) -> Result<Vec<u8>, Error> {
    partition.get(blob_id(blob))?.read().map(|body| body.to_vec())
}

pub fn assert_there(partition: &Partition, blobs: impl IntoIterator<Item = u8>) {
    for blob in blobs {
        assert_eq!(body(partition, blob).unwrap(), [blob; BODY], "blob {blob}");
    }
}

pub fn assert_unreadable(partition: &Partition, blob: u8) {
    let error = body(partition, blob).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "blob {blob}: {error}");
}

/// Begin and end of what was reported, and whether it could not be read.
pub fn reported(partition: &Partition) -> Vec<(usize, usize, bool)> {
    let damaged = partition.recovery().damaged.iter();
    damaged.map(|range| (range.begin as usize, range.end as usize, range.unreadable)).collect()
}
