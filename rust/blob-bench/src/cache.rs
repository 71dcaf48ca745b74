//! The operating system's cache of files: dropping it, and how much of it is left.

use std::fs::{self, File};
use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use clap::Args;
use rustix::fs::{Advice, SeekFrom, fadvise, seek};
use rustix::io::Errno;
use serde::Serialize;

use crate::error::{Result, in_file};
use crate::measured::print;

const PAGE_BYTES: u64 = 4096;

/// Of each file at most so many pages are looked at, at equal distances.
const SAMPLES_MAX: u64 = 256;

#[derive(Debug, Args)]
pub(crate) struct DropArguments {
    /// All files below it.
    #[arg(long)]
    dir: PathBuf,
}

/// What is left in the cache.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Cached {
    files: u64,
    bytes: u64,
    /// Pages that were looked at, all of them written.
    sampled: u64,
    /// Those of them that are in memory.
    cached: u64,
}

/// Drops files from the cache and prints what is left in it.
pub(crate) fn run(arguments: &DropArguments) -> Result<()> {
    let files = files_below(&arguments.dir)?;
    for place in &files {
        drop_file(place).map_err(in_file(place))?;
    }
    let mut cached = Cached::default();
    for place in &files {
        cached.look_at(place).map_err(in_file(place))?;
    }
    print(&cached)
}

pub(crate) fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(in_file(directory))? {
        let entry = entry.map_err(in_file(directory))?;
        let kind = entry.file_type().map_err(in_file(&entry.path()))?;
        if kind.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// Pages that are not on the disk yet cannot be dropped.
pub(crate) fn drop_file(place: &Path) -> IoResult<()> {
    let file = File::open(place)?;
    file.sync_all()?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

impl Cached {
    /// Leaves in the cache none of those that it found missing, since looking reads them.
    fn look_at(&mut self, place: &Path) -> IoResult<()> {
        let file = File::open(place)?;
        // Looking must not read the pages that come next.
        fadvise(&file, 0, None, Advice::Random)?;
        let length = file.metadata()?.len();
        let pages = length.div_ceil(PAGE_BYTES);
        let step = pages.div_ceil(SAMPLES_MAX).max(1);
        self.files += 1;
        self.bytes += length;
        for offset in (0..pages).step_by(step as usize).map(|page| page * PAGE_BYTES) {
            if has_data(&file, offset)? {
                self.sampled += 1;
                if is_cached(&file, offset)? {
                    self.cached += 1;
                } else {
                    drop_page(&file, offset)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether something was written there. Of a hole, and of room that was reserved only, a read makes a page of zeros in
/// memory without the disk, so that it always looks cached.
fn has_data(file: &File, offset: u64) -> IoResult<bool> {
    match seek(file, SeekFrom::Data(offset)) {
        Ok(next) => Ok(next < offset + PAGE_BYTES),
        Err(Errno::NXIO) => Ok(false), // no data from there on
        Err(e) => Err(e.into()),
    }
}

/// A page is in memory if reading it takes nothing from a disk. A read with `RWF_NOWAIT` does not tell: it starts to read a page
/// that is missing, and a fast disk has it before the read looks again.
fn is_cached(file: &File, offset: u64) -> IoResult<bool> {
    let before = read_from_disks()?;
    file.read_at(&mut [0], offset)?;
    Ok(read_from_disks()? == before)
}

/// The bytes that this thread had read from disks until now.
fn read_from_disks() -> IoResult<u64> {
    let place = "/proc/thread-self/io";
    let counters =
        fs::read_to_string(place).map_err(|e| IoError::new(e.kind(), format!("{place}: {e}")))?;
    counters
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
        .ok_or_else(|| IoError::new(ErrorKind::InvalidData, format!("{place} has no read_bytes")))
}

fn drop_page(file: &File, offset: u64) -> IoResult<()> {
    Ok(fadvise(file, offset, NonZeroU64::new(PAGE_BYTES), Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use rustix::fs::statfs;

    use super::*;

    #[test]
    fn what_was_written_is_cached() {
        let directory = tempfile::tempdir().unwrap();
        let nested = directory.path().join("a");
        fs::create_dir(&nested).unwrap();
        let place = nested.join("b");
        fs::write(&place, vec![1; 10_000]).unwrap();
        assert_eq!(files_below(directory.path()).unwrap(), std::slice::from_ref(&place));
        let mut cached = Cached::default();
        cached.look_at(&place).unwrap();
        assert_eq!((cached.files, cached.bytes, cached.sampled), (1, 10_000, 3));
        assert_eq!(cached.cached, 3);
        drop_file(&place).unwrap();
    }

    /// Fifty files: the system need not drop each, and what a look reads must never count as having been there.
    #[test]
    fn looking_neither_fills_the_cache_nor_counts_what_it_reads() {
        const TMPFS: i64 = 0x0102_1994; // which is nothing but a cache
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let is_cache = statfs(directory.path()).unwrap().f_type == TMPFS;
        let mut cold = 0;
        for number in 0..50 {
            let place = directory.path().join(number.to_string());
            fs::write(&place, vec![1; 10_000]).unwrap();
            drop_file(&place).unwrap();
            let mut first = Cached::default();
            first.look_at(&place).unwrap();
            let mut second = Cached::default();
            second.look_at(&place).unwrap();
            assert_eq!(second.cached, first.cached);
            cold += u32::from(first.cached == 0);
        }
        assert!(is_cache || cold >= 25, "{cold} of 50 files were dropped");
    }

    #[test]
    fn what_was_never_written_does_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("a");
        fs::write(&place, vec![1; 10_000]).unwrap();
        File::options().write(true).open(&place).unwrap().set_len(1_000_000).unwrap();
        let mut cached = Cached::default();
        cached.look_at(&place).unwrap();
        assert_eq!((cached.bytes, cached.sampled, cached.cached), (1_000_000, 3, 3));
    }
}
