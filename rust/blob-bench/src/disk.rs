//! The limit of the disk for durable puts: clients hand objects to one writer, which appends all that wait, one behind
//! the other, to a preallocated file, and answers them after one fdatasync.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Args;
use rustix::fs::{FallocateFlags, fallocate};

use crate::content::{Content, HEAD_BYTES};
use crate::error::{Error, Result, in_file};
use crate::measured::{Counts, Mark, Measured};
use crate::threads;

const FILE: &str = "disk-limit.log";
const EXTENT_BYTES: u64 = 256 << 20;

#[derive(Debug, Args)]
pub(crate) struct DiskArguments {
    /// Where the file is; it is removed at the end.
    #[arg(long)]
    dir: PathBuf,

    /// Bytes of an object.
    #[arg(long)]
    size: usize,

    /// Threads, each with one object at a time.
    #[arg(long, default_value_t = 1)]
    clients: usize,

    /// Time before objects count.
    #[arg(long, default_value_t = 0.0)]
    warmup_s: f64,

    /// Counted time.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

/// An object, and whom to tell.
struct Request {
    parts: [Bytes; 2],
    done: SyncSender<()>,
}

#[derive(Default)]
struct Phase {
    counting: AtomicBool,
    ended: AtomicBool,
}

/// Prints what was written and synced.
pub(crate) fn run(arguments: &DiskArguments) -> Result<()> {
    if arguments.size < HEAD_BYTES {
        return Err(Error::Usage(format!("--size {}: use {HEAD_BYTES} or more", arguments.size)));
    }
    let place = arguments.dir.join(FILE);
    let measured = measure(arguments, &place);
    fs::remove_file(&place).map_err(in_file(&place))?;
    measured?.print()
}

fn measure(arguments: &DiskArguments, place: &Path) -> Result<Measured> {
    let file = File::create(place).map_err(in_file(place))?;
    let content = Content::new(1, arguments.size);
    let phase = Arc::new(Phase::default());
    let (queue, requests) = channel();
    let writer = thread::spawn(move || write_groups(&file, &requests));
    let clients: Vec<_> = (0..arguments.clients.max(1) as u64)
        .map(|first| {
            let (queue, content, phase) = (queue.clone(), content.clone(), phase.clone());
            thread::spawn(move || put(first << 32, &queue, &content, &phase))
        })
        .collect();
    drop(queue);
    thread::sleep(Duration::from_secs_f64(arguments.warmup_s));
    let mark = Mark::now(&[]);
    phase.counting.store(true, Ordering::Relaxed);
    thread::sleep(Duration::from_secs_f64(arguments.seconds));
    phase.counting.store(false, Ordering::Relaxed);
    let passed = mark.elapsed();
    phase.ended.store(true, Ordering::Relaxed);
    let mut counts = Counts::new()?;
    for client in clients {
        counts.add(threads::join(client)?)?;
    }
    writer.join().map_err(|_| Error::Thread)?.map_err(in_file(place))?;
    Ok(Measured::new(&counts, passed))
}

fn put(first: u64, queue: &Sender<Request>, content: &Content, phase: &Phase) -> Result<Counts> {
    let mut counts = Counts::new()?;
    let (done, answers) = sync_channel(1);
    for index in first.. {
        if phase.ended.load(Ordering::Relaxed) {
            break;
        }
        let object = content.object(index);
        let request = Request { parts: [object.head, object.tail], done: done.clone() };
        let begin = Instant::now();
        // The writer is gone, and says why.
        if queue.send(request).is_err() || answers.recv().is_err() {
            break;
        }
        if phase.counting.load(Ordering::Relaxed) {
            counts.request(content.size() as u64, begin.elapsed());
        }
    }
    Ok(counts)
}

fn write_groups(file: &File, requests: &Receiver<Request>) -> std::io::Result<()> {
    let (mut end, mut reserved) = (0, 0);
    while let Ok(first) = requests.recv() {
        let group: Vec<Request> = std::iter::once(first).chain(requests.try_iter()).collect();
        for part in group.iter().flat_map(|request| &request.parts) {
            if end + part.len() as u64 > reserved {
                fallocate(file, FallocateFlags::empty(), reserved, EXTENT_BYTES)?;
                reserved += EXTENT_BYTES;
            }
            file.write_all_at(part, end)?;
            end += part.len() as u64;
        }
        file.sync_data()?;
        for request in group {
            // A client that ended does not wait.
            let _ = request.done.try_send(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_and_the_file_goes() {
        let directory = tempfile::tempdir().unwrap();
        let arguments = |seconds| DiskArguments {
            dir: directory.path().to_owned(),
            size: 1000,
            clients: 3,
            warmup_s: 0.0,
            seconds,
        };
        let place = directory.path().join(FILE);
        // The first of these times in which something was written, however busy the machine is.
        let mut written = [0.2, 2.0, 20.0].into_iter().map(|seconds| {
            measure(&arguments(seconds), &place).unwrap();
            fs::read(&place).unwrap()
        });
        let written = written.find(|written| !written.is_empty()).unwrap();
        let content = Content::new(1, 1000);
        let first = u64::from_le_bytes(written[8..16].try_into().unwrap());
        let object = content.object(first);
        assert_eq!(written[..1000], [&object.head[..], &object.tail[..]].concat());
        run(&arguments(0.2)).unwrap();
        assert!(!place.exists());
    }
}
