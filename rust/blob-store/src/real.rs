//! The directory of a partition on a real file system.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::io::{ReadWriteFlags, pread, preadv2};

use crate::directory::{Directory, StoreFile, Tree, Wait, make_folder};
use crate::lock::lock;
use crate::medium::MediumFile;
use crate::sync_point::SyncPoint;

/// A directory on this machine, locked for this process unless it is [`RealDirectory::shared`]. What is made in it is for
/// the owner alone.
#[derive(Debug)]
pub struct RealDirectory {
    path: PathBuf,
    handle: File,
}

impl RealDirectory {
    /// Makes the directory `path`, whose parent exists, and opens it. An error if it exists.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.exists() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        make_folders(&Self::shared(parent_of(path))?, &[name_of(path)?])?;
        Self::open(path)
    }

    /// Makes the directory `path` and those above it, as far as they are not there.
    pub fn make_all(path: &Path) -> io::Result<()> {
        let (mut there, mut names) = (path, Vec::new());
        while !there.is_dir() {
            names.push(name_of(there)?);
            there = parent_of(there);
        }
        names.reverse();
        make_folders(&Self::shared(there)?, &names)
    }

    /// Opens the directory `path`. An error of the kind [`io::ErrorKind::WouldBlock`] if a process has it open,
    /// this one included.
    pub fn open(path: &Path) -> io::Result<Self> {
        let directory = Self::shared(path)?;
        lock(&directory.handle)?;
        Ok(directory)
    }

    /// Opens the directory `path`, which others may have open.
    pub fn shared(path: &Path) -> io::Result<Self> {
        Ok(RealDirectory { path: path.to_owned(), handle: File::open(path)? })
    }

    fn open_file(&self, name: &str, options: &mut OpenOptions) -> io::Result<Arc<dyn StoreFile>> {
        let file = options.read(true).write(true).mode(0o600).open(self.path.join(name))?;
        Ok(Arc::new(RealFile(file)))
    }
}

impl Directory for RealDirectory {
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        self.open_file(name, OpenOptions::new().create_new(true))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        match self.open_file(name, &mut OpenOptions::new()) {
            // What is there can be read.
            Err(e) if e.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                Ok(Arc::new(RealFile(File::open(self.path.join(name))?)))
            }
            opened => opened,
        }
    }

    fn open_medium(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(Arc::new(MediumFile::open(&self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        std::fs::read_dir(&self.path)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn sync(&self, _point: SyncPoint) -> io::Result<()> {
        self.handle.sync_all()
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}

impl Tree for RealDirectory {
    fn create_tree(&self, name: &str) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o700).create(self.path.join(name))
    }

    fn open_tree(&self, name: &str) -> io::Result<Arc<dyn Tree>> {
        Ok(Arc::new(Self::open(&self.path.join(name))?))
    }

    fn remove_tree(&self, name: &str) -> io::Result<()> {
        std::fs::remove_dir_all(self.path.join(name))
    }
}

/// Makes directories, each in the one before.
fn make_folders(parent: &dyn Tree, names: &[&str]) -> io::Result<()> {
    let Some((first, rest)) = names.split_first() else {
        return Ok(());
    };
    make_folder(parent, first, SyncPoint::FolderEntry)?;
    if rest.is_empty() { Ok(()) } else { make_folders(&*parent.open_tree(first)?, rest) }
}

fn name_of(path: &Path) -> io::Result<&str> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[derive(Debug)]
struct RealFile(File);

impl StoreFile for RealFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn read_at(&self, length: usize, offset: u64, wait: Wait) -> io::Result<Vec<u8>> {
        match wait {
            Wait::ForDisk => self.read_waiting(length, offset),
            Wait::Never => self.read_cached(length, offset),
        }
    }

    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let written = rustix::io::pwritev(&self.0, parts, offset)?;
        if written == total { Ok(()) } else { self.write_rest(parts, offset, written) }
    }

    #[cfg(target_os = "linux")]
    fn preallocate(&self, length: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(&self.0, rustix::fs::FallocateFlags::empty(), 0, length)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn preallocate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync_data(&self, _point: SyncPoint) -> io::Result<()> {
        self.0.sync_data()
    }

    #[cfg(target_os = "linux")]
    fn drop_cached(&self, offset: u64, length: u64) -> io::Result<()> {
        let length = std::num::NonZeroU64::new(length);
        Ok(rustix::fs::fadvise(&self.0, offset, length, rustix::fs::Advice::DontNeed)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn drop_cached(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
}

impl RealFile {
    /// Nothing is written twice: the buffer is not filled with zeros first.
    fn read_waiting(&self, length: usize, offset: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let at = offset + bytes.len() as u64;
            match pread(&self.0, spare_capacity(&mut bytes), at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // A vector may have room for more than it was asked for.
        bytes.truncate(length);
        Ok(bytes)
    }

    #[cfg(target_os = "linux")]
    fn read_cached(&self, length: usize, offset: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let read =
            preadv2(&self.0, &mut [IoSliceMut::new(&mut bytes)], offset, ReadWriteFlags::NOWAIT);
        // Less than all: the rest is on the disk, or the file ends. A file system that does not know the flag says so.
        if read == Ok(length) { Ok(bytes) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    #[cfg(not(target_os = "linux"))]
    fn read_cached(&self, _length: usize, _offset: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// The system call may write less than all: the parts from byte `done` on, one by one.
    fn write_rest(&self, parts: &[IoSlice<'_>], offset: u64, done: usize) -> io::Result<()> {
        let mut begin = 0;
        for part in parts {
            let skip = done.saturating_sub(begin).min(part.len());
            self.0.write_all_at(&part[skip..], offset + (begin + skip) as u64)?;
            begin += part.len();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::{read_whole, write_whole};
    use crate::sim::SimDisk;
    use crate::sync_point::SyncScope;

    #[test]
    fn files_of_a_directory() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("partition");
        let directory = RealDirectory::create(&path).unwrap();
        let file = directory.create("a").unwrap();
        assert!(directory.create("a").is_err());
        file.preallocate(100).unwrap();
        file.write_all_at(&[IoSlice::new(b"ab"), IoSlice::new(b"cde")], 3).unwrap();
        let mut read = [9; 7];
        file.read_exact_at(&mut read, 2).unwrap();
        assert_eq!(&read, b"\0abcde\0");
        file.sync_data(SyncPoint::Commit).unwrap();
        file.drop_cached(0, 100).unwrap();
        file.truncate(4).unwrap();
        assert_eq!(file.length().unwrap(), 4);
        assert!(file.read_exact_at(&mut read, 0).is_err());
        directory.rename("a", "b").unwrap();
        directory.sync(SyncPoint::ManifestEntry).unwrap();
        assert_eq!(directory.list().unwrap(), ["b"]);
        directory.remove("b").unwrap();
        assert!(directory.open("b").is_err());
        assert!(file.descriptor().is_some());
    }

    #[test]
    fn a_write_goes_on_where_the_system_call_stopped() {
        let file = RealFile(tempfile::tempfile().unwrap());
        let parts = [IoSlice::new(b"abc"), IoSlice::new(b"def"), IoSlice::new(b"g")];
        for done in 0..=7 {
            file.0.set_len(0).unwrap();
            file.0.write_all_at(&b"abcdefg"[..done], 10).unwrap();
            file.write_rest(&parts, 10, done).unwrap();
            let mut read = [0; 7];
            file.0.read_exact_at(&mut read, 10).unwrap();
            assert_eq!(&read, b"abcdefg", "{done}");
        }
    }

    /// What the simulated disk cannot see: whether a sync reaches the operating system. It refuses one of
    /// what is no file and no directory.
    #[test]
    fn syncs_are_asked_of_the_operating_system() {
        let device = || OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
        assert!(RealFile(device()).sync_data(SyncPoint::Commit).is_err());
        let directory = RealDirectory { path: "/dev/null".into(), handle: device() };
        assert!(directory.sync(SyncPoint::FolderEntry).is_err());
    }

    /// Whether folders that were made are all there after a loss of power, on each of many disks.
    fn folders_survive(ignored: Option<SyncPoint>) -> bool {
        (0..30).all(|seed| {
            let disk = SimDisk::new(seed);
            ignored.into_iter().for_each(|point| disk.ignore(point));
            make_folders(&*disk.tree(), &["a", "b"]).unwrap();
            disk.lose_power();
            disk.tree().open_tree("a").and_then(|a| a.open_tree("b")).is_ok()
        })
    }

    #[test]
    fn folders_are_there_for_good() {
        assert!(folders_survive(None));
        for &point in SyncPoint::ALL.iter().filter(|p| p.scope() == SyncScope::Folders) {
            assert!(!folders_survive(Some(point)), "nobody noticed that {point:?} was left out");
        }
    }

    #[test]
    fn trees() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b/c");
        RealDirectory::make_all(&path).unwrap();
        RealDirectory::make_all(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        let root = RealDirectory::shared(&path).unwrap();
        root.create_tree("d").unwrap();
        assert_eq!(root.create_tree("d").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let inner = root.open_tree("d").unwrap();
        let points = [SyncPoint::KeyData, SyncPoint::KeyEntry];
        write_whole(&*inner, "secret", b"1", points).unwrap();
        write_whole(&*inner, "secret", b"2", points).unwrap();
        assert_eq!(read_whole(&*inner, "secret").unwrap(), b"2");
        assert_eq!(mode(&path.join("d/secret")), 0o600);
        assert_eq!(inner.list().unwrap(), ["secret"]);
        root.remove_tree("d").unwrap();
        assert!(root.open_tree("d").is_err());
    }

    #[test]
    fn what_is_in_memory_is_read_without_waiting() {
        let parent = tempfile::tempdir_in(".").unwrap();
        let directory = RealDirectory::create(&parent.path().join("partition")).unwrap();
        let file = directory.create("a").unwrap();
        let content: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        file.write_all_at(&[IoSlice::new(&content)], 0).unwrap();
        assert_eq!(file.read_at(90_000, 5_000, Wait::ForDisk).unwrap(), content[5_000..95_000]);
        let mut byte = [0];
        let flagged = preadv2(
            file.descriptor().unwrap(),
            &mut [IoSliceMut::new(&mut byte)],
            0,
            ReadWriteFlags::NOWAIT,
        );
        if flagged == Err(rustix::io::Errno::OPNOTSUPP) {
            eprintln!("not run: this file system always waits");
            return;
        }
        assert_eq!(file.read_at(90_000, 5_000, Wait::Never).unwrap(), content[5_000..95_000]);
        let behind = |wait| file.read_at(10, 99_995, wait).unwrap_err().kind();
        assert_eq!(behind(Wait::ForDisk), io::ErrorKind::UnexpectedEof);
        assert_eq!(behind(Wait::Never), io::ErrorKind::WouldBlock);
        file.sync_data(SyncPoint::Commit).unwrap();
        // The system keeps pages that it is just about to look at itself: it is asked until it drops them.
        afterbay_test_form::Wait::block("the file is in memory no more", || {
            file.drop_cached(0, 0).unwrap();
            let read = file.read_at(90_000, 5_000, Wait::Never);
            read.is_err_and(|dropped| dropped.kind() == io::ErrorKind::WouldBlock)
        });
        assert_eq!(file.read_at(90_000, 5_000, Wait::ForDisk).unwrap(), content[5_000..95_000]);
    }

    #[test]
    fn a_directory_is_open_once() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("partition");
        let first = RealDirectory::create(&path).unwrap();
        assert_eq!(RealDirectory::open(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(first);
        RealDirectory::open(&path).unwrap();
    }
}
