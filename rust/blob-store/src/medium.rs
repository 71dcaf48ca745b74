//! Files as they are on the disk, past the operating system's copy of them in memory.
//!
//! That copy hides what has happened to the disk behind it; and who reads everything through it pushes out what others read
//! often. Reads with `O_DIRECT` do neither. Where a file system does not know them, the copy is dropped before it is read.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::io::{Errno, pread};

use crate::directory::StoreFile;
use crate::sync_point::SyncPoint;

/// What direct reads and buffers for them are aligned to: more than the sectors of disks have.
const ALIGNMENT_BYTES: u64 = 4096;

/// A file of a real file system that is read from the disk, and not written.
#[derive(Debug)]
pub(crate) struct MediumFile {
    /// `None`: the file system has no direct reads.
    direct: Option<File>,
    cached: File,
}

impl MediumFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let cached = File::open(path)?;
        Ok(MediumFile { direct: open_direct(path).ok(), cached })
    }

    fn read_cached(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        drop_copy(&self.cached, offset, buffer.len() as u64);
        self.cached.read_exact_at(buffer, offset)
    }
}

#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> io::Result<File> {
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    OpenOptions::new().read(true).custom_flags(direct).open(path)
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// An operating system that keeps its copy gives that: better than nothing.
#[cfg(target_os = "linux")]
fn drop_copy(file: &File, offset: u64, length: u64) {
    let length = std::num::NonZeroU64::new(length);
    let _ = rustix::fs::fadvise(file, offset, length, rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
fn drop_copy(_file: &File, _offset: u64, _length: u64) {}

/// Reads all blocks in which the bytes lie.
fn read_direct(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let from = offset / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    let skipped = (offset - from) as usize;
    let needed = skipped + buffer.len();
    let length = needed.next_multiple_of(ALIGNMENT_BYTES as usize);
    let mut room = vec![0; length + ALIGNMENT_BYTES as usize];
    let begin = room.as_ptr().align_offset(ALIGNMENT_BYTES as usize);
    let blocks = room.get_mut(begin..begin.saturating_add(length)).ok_or(Errno::INVAL)?;
    let mut done = 0;
    // One read, but for a signal. Where the file ends, it may end within a block.
    while done < needed {
        match pread(file, &mut blocks[done..], from + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    buffer.copy_from_slice(&blocks[skipped..needed]);
    Ok(())
}

impl StoreFile for MediumFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.cached.metadata()?.len())
    }

    /// What a direct read cannot do is tried in the other way before it is an error: each has names of its own for a bad
    /// sector, and a file system may want another alignment.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match &self.direct {
            Some(direct) => {
                read_direct(direct, buffer, offset).or_else(|_| self.read_cached(buffer, offset))
            }
            None => self.read_cached(buffer, offset),
        }
    }

    fn write_all_at(&self, _parts: &[IoSlice<'_>], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn preallocate(&self, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn truncate(&self, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_data(&self, _point: SyncPoint) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Reads do without the copy, or drop it themselves.
    fn drop_cached(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::{Directory, Wait};
    use crate::real::RealDirectory;

    /// The content that a file of the crate's own directory has, and the file: temporary directories may be in memory.
    fn file_of(length: usize) -> (tempfile::TempDir, Vec<u8>) {
        let parent = tempfile::tempdir_in(".").unwrap();
        let content: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        std::fs::write(parent.path().join("a"), &content).unwrap();
        (parent, content)
    }

    #[test]
    fn any_bytes_are_read_in_both_ways() {
        let (parent, content) = file_of(10_000);
        let path = parent.path().join("a");
        let direct = MediumFile::open(&path).unwrap();
        let cached = MediumFile { direct: None, cached: File::open(&path).unwrap() };
        for file in [&direct, &cached] {
            for (offset, length) in [(0, 10_000), (0, 1), (4095, 2), (4096, 4096), (9_999, 1)] {
                let read = file.read_at(length, offset as u64, Wait::ForDisk).unwrap();
                assert_eq!(read, content[offset..offset + length], "{offset} {length}");
            }
            for (offset, length) in [(9_999, 2), (10_000, 1), (50_000, 1)] {
                let error = file.read_at(length, offset, Wait::ForDisk).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{offset} {length}");
            }
            assert!(file.write_all_at(&[IoSlice::new(b"x")], 0).is_err());
        }
    }

    #[test]
    fn what_was_written_a_moment_ago_is_there() {
        let (parent, mut content) = file_of(9_000);
        let directory = RealDirectory::shared(parent.path()).unwrap();
        let medium = directory.open_medium("a").unwrap();
        let file = directory.open("a").unwrap();
        for i in 0..20 {
            let at = content.len();
            file.write_all_at(&[IoSlice::new(&[i; 300])], at as u64).unwrap();
            content.extend_from_slice(&[i; 300]);
            assert_eq!(medium.read_at(content.len(), 0, Wait::ForDisk).unwrap(), content);
        }
    }
}
