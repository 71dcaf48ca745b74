//! A partition's directory on a file system that is mounted read-only.
//!
//! Opening a partition writes: it cuts the torn end of the log and writes the unproven part again. Here that is left out:
//! what is read is the same without it. The room for new records cannot be reserved, so the partition takes no writes.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afterbay_blob_store::{Directory, RealDirectory, StoreFile, SyncPoint};

#[derive(Debug)]
pub(crate) struct ReadOnlyDirectory {
    path: PathBuf,
}

impl ReadOnlyDirectory {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        std::fs::read_dir(path)?;
        Ok(ReadOnlyDirectory { path: path.to_owned() })
    }
}

fn refused() -> io::Error {
    io::Error::from(io::ErrorKind::ReadOnlyFilesystem)
}

impl Directory for ReadOnlyDirectory {
    fn create(&self, _name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Err(refused())
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(Arc::new(ReadOnlyFile(File::open(self.path.join(name))?)))
    }

    fn open_medium(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        RealDirectory::shared(&self.path)?.open_medium(name)
    }

    fn rename(&self, _from: &str, _to: &str) -> io::Result<()> {
        Err(refused())
    }

    fn remove(&self, _name: &str) -> io::Result<()> {
        // What nobody names harms nobody.
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        std::fs::read_dir(&self.path)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn sync(&self, _point: SyncPoint) -> io::Result<()> {
        Ok(())
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}

#[derive(Debug)]
struct ReadOnlyFile(File);

impl StoreFile for ReadOnlyFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn write_all_at(&self, _parts: &[IoSlice<'_>], _offset: u64) -> io::Result<()> {
        // Only recovery comes here, with the bytes that it has read from there.
        Ok(())
    }

    fn preallocate(&self, _length: u64) -> io::Result<()> {
        Err(refused())
    }

    fn truncate(&self, _length: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync_data(&self, _point: SyncPoint) -> io::Result<()> {
        Ok(())
    }

    fn drop_cached(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afterbay_blob_store::{
        BlobId, Durability, Options, Partition, PartitionId, Put, RealDirectory, SystemClock,
    };

    #[test]
    fn what_is_stored_is_served_and_nothing_is_written() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("partition");
        let options =
            Options { capacity_bytes: 1 << 22, segment_bytes: 1 << 20, ..Options::default() };
        let id = BlobId::random(PartitionId(1));
        let real = Arc::new(RealDirectory::create(&path).unwrap());
        Partition::create(&*real, id.partition, &options).unwrap();
        let partition = Partition::open(real, options.clone(), Arc::new(SystemClock)).unwrap();
        partition.put(Put::new(id, "a blob"), Durability::Durable).unwrap();
        drop(partition);
        let before = snapshot(&path);
        let directory = Arc::new(ReadOnlyDirectory::open(&path).unwrap());
        let partition = Partition::open(directory, options, Arc::new(SystemClock)).unwrap();
        assert_eq!(partition.get(id).unwrap().read().unwrap(), "a blob");
        let put = Put::new(BlobId::random(PartitionId(1)), "another");
        let refused = partition.put(put, Durability::Fast).unwrap_err().to_string();
        assert!(refused.contains("takes no writes"), "{refused}");
        assert!(partition.delete(id, Durability::Fast).is_err());
        drop(partition);
        assert_eq!(snapshot(&path), before);
    }

    fn snapshot(path: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap()))
            .collect();
        files.sort();
        files
    }
}
