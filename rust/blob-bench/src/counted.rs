//! A directory that counts what the store reads, and which reads had to wait for the disk.

use std::fs;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use afterbay_blob_store::{Directory, StoreFile, SyncPoint};

/// Counts of one kind of file.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    reads: AtomicU64,
    from_disk: AtomicU64,
}

/// Counts of all files of a directory.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) index: Counter,
    pub(crate) log: Counter,
    /// Looking takes a system call for each read, so it is done for few of them.
    pub(crate) looks_at_disk: AtomicBool,
}

impl Counter {
    /// Reads, and those of them that had to wait for the disk.
    pub(crate) fn taken(&self) -> (u64, u64) {
        (self.reads.swap(0, Ordering::Relaxed), self.from_disk.swap(0, Ordering::Relaxed))
    }
}

/// See [`Counters`].
#[derive(Debug)]
pub(crate) struct CountedDirectory<D> {
    pub(crate) inner: D,
    pub(crate) counters: Arc<Counters>,
}

impl<D: Directory> CountedDirectory<D> {
    fn counted(&self, name: &str, inner: Arc<dyn StoreFile>) -> Arc<dyn StoreFile> {
        let is_index = name.ends_with(".index");
        Arc::new(CountedFile { inner, is_index, counters: self.counters.clone() })
    }
}

impl<D: Directory> Directory for CountedDirectory<D> {
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(self.counted(name, self.inner.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(self.counted(name, self.inner.open(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn sync(&self, point: SyncPoint) -> io::Result<()> {
        self.inner.sync(point)
    }

    fn place(&self) -> String {
        self.inner.place()
    }
}

#[derive(Debug)]
struct CountedFile {
    inner: Arc<dyn StoreFile>,
    is_index: bool,
    counters: Arc<Counters>,
}

impl StoreFile for CountedFile {
    fn length(&self) -> io::Result<u64> {
        self.inner.length()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let looks = self.counters.looks_at_disk.load(Ordering::Relaxed);
        let before = if looks { bytes_from_disk() } else { 0 };
        let result = self.inner.read_exact_at(buffer, offset);
        let waited = looks && bytes_from_disk() > before;
        let counter = if self.is_index { &self.counters.index } else { &self.counters.log };
        counter.reads.fetch_add(1, Ordering::Relaxed);
        counter.from_disk.fetch_add(u64::from(waited), Ordering::Relaxed);
        result
    }

    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.inner.write_all_at(parts, offset)
    }

    fn preallocate(&self, length: u64) -> io::Result<()> {
        self.inner.preallocate(length)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }

    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        self.inner.sync_data(point)
    }

    fn drop_cached(&self, offset: u64, length: u64) -> io::Result<()> {
        self.inner.drop_cached(offset, length)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

/// That this thread caused to be read.
fn bytes_from_disk() -> u64 {
    fs::read_to_string("/proc/thread-self/io")
        .ok()
        .and_then(|text| {
            text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
        })
        .unwrap_or_default()
}
