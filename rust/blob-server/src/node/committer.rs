//! Hands writes to a partition from threads of their own, in groups.
//!
//! A write blocks until the disk has it, so it must not run on the threads of the asynchronous runtime. Two threads are
//! enough for a partition: while one waits for the disk, the other one takes all that has come, computes its checksums,
//! and waits for its turn. What comes meanwhile is the next group. So groups are as large as the disk is slow, and no
//! timer delays a write that comes alone.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use afterbay_blob_store::{Durability, Error, Operation, Partition, Result, Write, Written};
use tokio::sync::oneshot;

/// Threads per partition that has writes.
const THREADS: usize = 2;
/// A thread without work ends after so long.
const IDLE: Duration = Duration::from_secs(10);
/// A group ends with the write that reaches so many bytes.
const GROUP_BYTES_MAX: usize = 32 << 20;
const GROUP_WRITES_MAX: usize = 1024;

/// The queue of writes to one partition.
#[derive(Debug)]
pub(crate) struct Committer {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Something was written that nobody has asked to sync.
    unsynced: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    queued_bytes: usize,
    threads: usize,
    idle: usize,
    groups: u64,
    writes: u64,
}

#[derive(Debug)]
struct Job {
    partition: Arc<Partition>,
    write: Write,
    reply: oneshot::Sender<Result<Written>>,
}

impl Committer {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Committer {
            queue: Mutex::new(Queue::default()),
            changed: Condvar::new(),
            unsynced: AtomicBool::new(false),
        })
    }

    /// Writes to `partition`, and returns when that is acknowledged. A future that is dropped leaves the write to happen.
    pub(crate) async fn write(
        self: &Arc<Self>,
        partition: Arc<Partition>,
        write: Write,
    ) -> Option<Result<Written>> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Job { partition, write, reply });
        answer.await.ok()
    }

    /// Whether something was written at [`Durability::Fast`] since this was asked.
    pub(crate) fn take_unsynced(&self) -> bool {
        self.unsynced.swap(false, Ordering::AcqRel)
    }

    /// Bytes that wait.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.lock().queued_bytes
    }

    /// Groups so far, and the writes in them.
    pub(crate) fn groups(&self) -> (u64, u64) {
        let queue = self.lock();
        (queue.groups, queue.writes)
    }

    fn enqueue(self: &Arc<Self>, job: Job) {
        let mut queue = self.lock();
        queue.queued_bytes += weight(&job.write);
        queue.jobs.push_back(job);
        if queue.idle > 0 {
            self.changed.notify_one();
        } else if queue.threads < THREADS {
            queue.threads += 1;
            let committer = self.clone();
            let spawned = std::thread::Builder::new()
                .name("blob-commit".to_owned())
                .spawn(move || committer.work());
            if let Err(error) = spawned {
                tracing::error!(%error, "cannot start a thread for writes");
                queue.threads -= 1;
                if queue.threads == 0 {
                    // Nobody would answer: the callers are told.
                    queue.jobs.clear();
                    queue.queued_bytes = 0;
                }
            }
        }
    }

    fn work(&self) {
        while let Some(group) = self.take_group() {
            let fast = group.iter().any(|job| job.write.durability == Durability::Fast);
            // A panic is told to those who wait, whose replies it drops; others need the thread.
            if catch_unwind(AssertUnwindSafe(|| write_group(group))).is_err() {
                metrics::counter!("afterbay_blob_panics_total", "part" => "writes").increment(1);
                tracing::error!("a group of writes panicked");
            }
            // After the write: a sync from here on has it.
            self.unsynced.fetch_or(fast, Ordering::AcqRel);
        }
    }

    /// Waits for writes; `None` if there were none for long.
    fn take_group(&self) -> Option<Vec<Job>> {
        let mut queue = self.lock();
        while queue.jobs.is_empty() {
            queue.idle += 1;
            let (again, waited) =
                self.changed.wait_timeout(queue, IDLE).unwrap_or_else(PoisonError::into_inner);
            queue = again;
            queue.idle -= 1;
            if waited.timed_out() && queue.jobs.is_empty() {
                queue.threads -= 1;
                return None;
            }
        }
        let (mut group, mut bytes): (Vec<Job>, usize) = (Vec::new(), 0);
        while bytes < GROUP_BYTES_MAX && group.len() < GROUP_WRITES_MAX {
            // A partition that was opened again meanwhile is another one.
            let same = |job: &mut Job| {
                group.first().is_none_or(|first| Arc::ptr_eq(&first.partition, &job.partition))
            };
            let Some(job) = queue.jobs.pop_front_if(same) else {
                break;
            };
            bytes += weight(&job.write);
            group.push(job);
        }
        queue.queued_bytes = queue.queued_bytes.saturating_sub(bytes);
        queue.groups += 1;
        queue.writes += group.len() as u64;
        Some(group)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // The queue is whole between any two statements.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn weight(write: &Write) -> usize {
    match &write.operation {
        Operation::Put(put) => put.body.len() + 256,
        _ => 256,
    }
}

fn write_group(group: Vec<Job>) {
    let Some(partition) = group.first().map(|job| job.partition.clone()) else {
        return;
    };
    let (mut writes, mut replies) = (Vec::with_capacity(group.len()), Vec::new());
    for job in group {
        writes.push(job.write);
        replies.push(job.reply);
    }
    let results: Vec<std::result::Result<Written, Error>> = partition.write_all(writes);
    for (reply, result) in replies.into_iter().zip(results) {
        // Who does not wait any more does not want to know.
        let _ = reply.send(result);
    }
}
