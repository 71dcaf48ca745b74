//! A simulated disk that counts reads.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{Directory, Options, Partition, StoreFile, SyncPoint, SystemClock};

use super::PARTITION;

/// How many reads there were of logs, and of indexes.
#[derive(Debug, Default)]
pub struct Reads {
    log: AtomicU64,
    index: AtomicU64,
}

impl Reads {
    /// The reads since this was asked last.
    pub fn take(&self) -> (u64, u64) {
        (self.log.swap(0, Ordering::Relaxed), self.index.swap(0, Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct Counting<T: ?Sized> {
    of: Arc<T>,
    reads: Arc<Reads>,
    is_index: bool,
}

impl Counting<dyn Directory> {
    fn file(&self, name: &str, of: Arc<dyn StoreFile>) -> Arc<dyn StoreFile> {
        let (reads, is_index) = (self.reads.clone(), name.ends_with(".index"));
        Arc::new(Counting { of, reads, is_index })
    }
}

impl Directory for Counting<dyn Directory> {
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(self.file(name, self.of.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(self.file(name, self.of.open(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.of.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.of.remove(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.of.list()
    }

    fn sync(&self, point: SyncPoint) -> io::Result<()> {
        self.of.sync(point)
    }

    fn place(&self) -> String {
        self.of.place()
    }
}

impl StoreFile for Counting<dyn StoreFile> {
    fn length(&self) -> io::Result<u64> {
        self.of.length()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let reads = if self.is_index { &self.reads.index } else { &self.reads.log };
        reads.fetch_add(1, Ordering::Relaxed);
        self.of.read_exact_at(buffer, offset)
    }

    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.of.write_all_at(parts, offset)
    }

    fn preallocate(&self, length: u64) -> io::Result<()> {
        self.of.preallocate(length)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.of.truncate(length)
    }

    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        self.of.sync_data(point)
    }

    fn drop_cached(&self, offset: u64, length: u64) -> io::Result<()> {
        self.of.drop_cached(offset, length)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// A new partition on such a disk.
pub fn counting(options: Options) -> (Partition, Arc<Reads>) {
    let reads = Arc::new(Reads::default());
    let of = SimDisk::new(1).directory();
    let directory: Arc<dyn Directory> =
        Arc::new(Counting { of, reads: reads.clone(), is_index: false });
    Partition::create(&*directory, PARTITION, &options).unwrap();
    (Partition::open(directory, options, Arc::new(SystemClock)).unwrap(), reads)
}
