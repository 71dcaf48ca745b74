//! What the index of a partition takes: memory for each blob, and reads for a get, through the store's own interface.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_store::{
    Durability, Operation, Options, Partition, Put, RealDirectory, SystemClock, Write,
};
use bytes::Bytes;
use clap::Args;
use serde::Serialize;

use crate::cache::{drop_file, files_below};
use crate::content::Random;
use crate::counted::{CountedDirectory, Counters};
use crate::error::{Error, Result, in_file};
use crate::measured::print;
use crate::process::Usage;

/// Blobs that are written in one group.
const GROUP: u64 = 1000;

#[derive(Debug, Args)]
pub(crate) struct IndexArguments {
    /// Where the partition is made; the directory is empty.
    #[arg(long)]
    dir: PathBuf,

    #[arg(long)]
    blobs: u64,

    /// Bytes of each, at least 8.
    #[arg(long, default_value_t = 64)]
    size: usize,

    /// Gets of each kind.
    #[arg(long, default_value_t = 2000)]
    gets: usize,
}

/// What gets had to read, per get.
#[derive(Debug, Serialize)]
struct Reads {
    /// Of indexes, wherever the bytes were.
    index: f64,
    /// Of logs.
    log: f64,
    /// All that waited for the disk.
    from_disk: f64,
    /// Gets whose bytes were others.
    wrong: u64,
    mean_us: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    blobs: u64,
    segments: usize,
    /// Of each kind.
    gets: usize,
    build_s: f64,
    open_s: f64,
    /// As the store says.
    index_memory_bytes: u64,
    /// What the process has grown by when it opened the partition.
    rss_grown_bytes: u64,
    /// Nothing was dropped from the cache.
    cached: Reads,
    /// Logs were dropped.
    logs_cold: Reads,
    /// Logs and indexes were dropped.
    all_cold: Reads,
}

/// Builds a partition, opens it again, reads some of it, and prints what that took.
pub(crate) fn run(arguments: &IndexArguments) -> Result<()> {
    if arguments.blobs == 0 || arguments.size < 8 {
        return Err(Error::Usage("--blobs and --size: use at least 1, and 8".to_owned()));
    }
    print(&measure(arguments)?)
}

fn measure(arguments: &IndexArguments) -> Result<Report> {
    let begin = Instant::now();
    let sample = build(arguments)?;
    let build_s = begin.elapsed().as_secs_f64();
    let pid = std::process::id();
    let before = Usage::default().until_now(pid).rss_bytes;
    let counters = Arc::new(Counters::default());
    let begin = Instant::now();
    let partition = open(&arguments.dir, counters.clone())?;
    let open_s = begin.elapsed().as_secs_f64();
    let after = Usage::default().until_now(pid).rss_bytes;
    let status = partition.status();
    let gets = Gets { partition, counters, sample, size: arguments.size };
    let cached = gets.read(|_| false, &arguments.dir)?;
    Ok(Report {
        gets: gets.sample.len(),
        blobs: arguments.blobs,
        segments: status.segments,
        build_s,
        open_s,
        index_memory_bytes: status.index_memory_bytes,
        rss_grown_bytes: after.saturating_sub(before),
        cached,
        logs_cold: gets.read(|file| !is_index(file), &arguments.dir)?,
        all_cold: gets.read(|_| true, &arguments.dir)?,
    })
}

fn is_index(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "index")
}

fn open(directory: &Path, counters: Arc<Counters>) -> Result<Partition> {
    let inner = RealDirectory::open(directory).map_err(in_file(directory))?;
    let counted = CountedDirectory { inner, counters };
    Ok(Partition::open(Arc::new(counted), Options::default(), Arc::new(SystemClock))?)
}

/// Puts all blobs; some of them, from everywhere in the log, with their numbers. Nothing is left unsealed, so that all
/// of the index is as it is for old blobs.
fn build(arguments: &IndexArguments) -> Result<Vec<(u64, BlobId)>> {
    {
        // Its lock goes with it.
        let directory = RealDirectory::open(&arguments.dir).map_err(in_file(&arguments.dir))?;
        Partition::create(&directory, PartitionId(1), &Options::default())?;
    }
    let partition = open(&arguments.dir, Arc::default())?;
    let every = (arguments.blobs / arguments.gets.max(1) as u64).max(1);
    let mut sample = Vec::new();
    for first in (0..arguments.blobs).step_by(GROUP as usize) {
        let numbers = first..arguments.blobs.min(first + GROUP);
        let ids: Vec<BlobId> = numbers.clone().map(|_| BlobId::random(PartitionId(1))).collect();
        let writes = numbers.clone().zip(&ids).map(|(number, &id)| {
            // As the server's are: nobody has had these ids before.
            let put = Put { fresh: true, ..Put::new(id, body(number, arguments.size)) };
            Write::new(Operation::Put(put), Durability::Fast)
        });
        for result in partition.write_all(writes.collect()) {
            result?;
        }
        sample.extend(numbers.zip(ids).filter(|(number, _)| number % every == 0));
    }
    partition.seal()?;
    Ok(sample)
}

fn body(number: u64, size: usize) -> Bytes {
    let mut body = vec![number as u8; size];
    body[..8].copy_from_slice(&number.to_le_bytes());
    body.into()
}

struct Gets {
    partition: Partition,
    counters: Arc<Counters>,
    sample: Vec<(u64, BlobId)>,
    size: usize,
}

impl Gets {
    /// Each of the sample once, in any order, after some files were dropped from the cache.
    fn read(&self, is_dropped: impl Fn(&Path) -> bool, directory: &Path) -> Result<Reads> {
        self.partition.flush()?;
        for file in files_below(directory)?.iter().filter(|file| is_dropped(file)) {
            drop_file(file).map_err(in_file(file))?;
        }
        self.counters.looks_at_disk.store(true, Ordering::Relaxed);
        self.counters.index.taken();
        self.counters.log.taken();
        let begin = Instant::now();
        let mut wrong = 0;
        for at in Random(5).order(self.sample.len()) {
            let (number, id) = self.sample[at];
            let found = self.partition.get(id)?.read()?;
            wrong += u64::from(found != body(number, self.size));
        }
        let gets = self.sample.len() as f64;
        let (index, index_from_disk) = self.counters.index.taken();
        let (log, log_from_disk) = self.counters.log.taken();
        Ok(Reads {
            index: index as f64 / gets,
            log: log as f64 / gets,
            from_disk: (index_from_disk + log_from_disk) as f64 / gets,
            wrong,
            mean_us: begin.elapsed().as_micros() as f64 / gets,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_found_and_reads_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path().to_owned();
        let report = measure(&IndexArguments { dir, blobs: 5000, size: 64, gets: 100 }).unwrap();
        assert_eq!((report.blobs, report.segments), (5000, 2));
        for reads in [&report.cached, &report.logs_cold, &report.all_cold] {
            assert_eq!(reads.wrong, 0);
            assert!(reads.log >= 1.0 && reads.index >= 1.0, "{reads:?}");
        }
        assert_eq!(report.cached.from_disk, 0.0);
        assert!(report.index_memory_bytes > 0);
    }
}
