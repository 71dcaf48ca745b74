//! The limit of the disk for cold gets: objects that lie one behind the other in a file are read in any order, each once, without the
//! page cache (`O_DIRECT`). Whatever a store keeps beside its objects, it has to read these bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use rustix::fs::OFlags;

use crate::content::{Check, Content, Depth, HEAD_BYTES, Random};
use crate::error::{Error, Result, in_file};
use crate::measured::{Counts, Mark, Measured, Passed};
use crate::threads;

const FILE: &str = "disk-read-limit.data";

/// What reads around the page cache must be aligned to, and buffers for them: more than the sectors of disks have.
const ALIGNMENT_BYTES: usize = 4096;

#[derive(Debug, Args)]
pub(crate) struct DiskReadArguments {
    /// Where the file is; it is removed at the end.
    #[arg(long)]
    dir: PathBuf,

    /// Bytes of an object.
    #[arg(long)]
    size: usize,

    /// Objects.
    #[arg(long)]
    count: u64,

    /// Threads, each with one object at a time.
    #[arg(long, default_value_t = 1)]
    clients: usize,
}

/// What threads share.
struct Reads {
    place: PathBuf,
    file: File,
    content: Content,
    order: Vec<usize>,
    next: AtomicUsize,
}

/// Prints what was read.
pub(crate) fn run(arguments: &DiskReadArguments) -> Result<()> {
    if arguments.size < HEAD_BYTES {
        return Err(Error::Usage(format!("--size {}: use {HEAD_BYTES} or more", arguments.size)));
    }
    let place = arguments.dir.join(FILE);
    let measured = measure(arguments, &place);
    fs::remove_file(&place).map_err(in_file(&place))?;
    let (counts, passed) = measured?;
    Measured::new(&counts, passed).print()
}

fn measure(arguments: &DiskReadArguments, place: &Path) -> Result<(Counts, Passed)> {
    let content = Content::new(1, arguments.size);
    write(&content, arguments.count, place).map_err(in_file(place))?;
    let direct = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::DIRECT.bits() as i32)
        .open(place)
        .map_err(in_file(place))?;
    let reads = Arc::new(Reads {
        place: place.to_owned(),
        file: direct,
        content,
        order: Random(1).order(arguments.count as usize),
        next: AtomicUsize::new(0),
    });
    let mark = Mark::now(&[]);
    let readers = threads::start(arguments.clients, || {
        let reads = reads.clone();
        move || reads.read()
    });
    let mut counts = Counts::new()?;
    for reader in readers {
        counts.add(threads::join(reader)?)?;
    }
    Ok((counts, mark.elapsed()))
}

/// All of it is on the disk afterwards.
fn write(content: &Content, count: u64, place: &Path) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(place)?);
    for index in 0..count {
        let object = content.object(index);
        file.write_all(&object.head)?;
        file.write_all(&object.tail)?;
    }
    // So that the last one can be read in whole blocks.
    file.write_all(&[0; ALIGNMENT_BYTES])?;
    file.into_inner()?.sync_all()
}

impl Reads {
    /// Some of the objects: those that no other thread reads.
    fn read(&self) -> Result<Counts> {
        let mut counts = Counts::new()?;
        let size = self.content.size();
        let mut room = vec![0; size.next_multiple_of(ALIGNMENT_BYTES) + 2 * ALIGNMENT_BYTES];
        let aligned = room.as_ptr().align_offset(ALIGNMENT_BYTES);
        while let Some(&index) = self.order.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let begin = index * size;
            let first = begin - begin % ALIGNMENT_BYTES;
            let end = (begin + size).next_multiple_of(ALIGNMENT_BYTES);
            let blocks = &mut room[aligned..aligned + end - first];
            let began = Instant::now();
            self.file.read_exact_at(blocks, first as u64).map_err(in_file(&self.place))?;
            counts.request(size as u64, began.elapsed());
            let mut check = Check::new(self.content.object(index as u64), Depth::All);
            check.take(&blocks[begin - first..begin - first + size]);
            if !check.is_right() {
                counts.wrong(index as u64);
            }
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_is_read_once_and_the_file_goes() {
        // /tmp may be nothing but a cache.
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let place = directory.path().join(FILE);
        for size in [16, 5000, 8192] {
            let dir = directory.path().to_owned();
            let arguments = DiskReadArguments { dir, size, count: 50, clients: 3 };
            let (counts, _) = measure(&arguments, &place).unwrap();
            assert_eq!((counts.requests, counts.wrong), (50, 0), "{size}");
            run(&arguments).unwrap();
            assert!(!place.exists());
        }
    }

    #[test]
    fn it_comes_from_the_file() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let place = directory.path().join(FILE);
        let content = Content::new(1, 5000);
        write(&content, 50, &place).unwrap();
        let wrong = Content::new(1, 5000).differing(Some(17));
        let file = OpenOptions::new().write(true).open(&place).unwrap();
        file.write_all_at(&wrong.object(17).tail, 17 * 5000 + HEAD_BYTES as u64).unwrap();
        let (order, next) = ((0..50).collect(), AtomicUsize::new(0));
        let file = File::open(&place).unwrap();
        let reads = Reads { place, file, content, order, next };
        let counts = reads.read().unwrap();
        assert_eq!((counts.requests, counts.wrong, counts.first_wrong), (50, 1, Some(17)));
    }
}
