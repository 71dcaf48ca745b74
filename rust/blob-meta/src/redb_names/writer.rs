//! The thread that writes. Should a panic end it, names are closed for changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase};
use tokio::sync::{mpsc, oneshot};

use super::RedbOptions;
use super::apply::{Touched, apply, touched};
use super::shared::Shared;
use super::tables::{BUCKETS, KEYS, Tables, decode};
use crate::command::{Command, Outcome};
use crate::error::{NamesError, Result};

type Answer = oneshot::Sender<Result<Outcome>>;

#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
    /// `None` only while it is dropped.
    queue: Option<mpsc::Sender<(Command, Answer)>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(shared: Arc<Shared>, options: &RedbOptions) -> Result<Self> {
        let (queue, commands) = mpsc::channel(options.queue_max.max(1));
        let commits = Arc::new(AtomicU64::new(0));
        let mut work = Work {
            shared: shared.clone(),
            commands,
            commits: commits.clone(),
            group_max: options.group_max.max(1),
            retry: options.retry,
            tried: Instant::now(),
        };
        let thread = std::thread::Builder::new()
            .name("names-writer".to_owned())
            .spawn(move || work.run())
            .map_err(|e| NamesError::Storage(format!("no thread: {e}")))?;
        Ok(Writer { shared, queue: Some(queue), thread: Some(thread), commits })
    }

    pub(super) async fn apply(&self, command: Command) -> Result<Outcome> {
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(NamesError::Closed)?;
        queue.send((command, answer)).await.map_err(|_| self.ended())?;
        answered.await.map_err(|_| self.ended())?
    }

    /// Why the thread does not answer.
    fn ended(&self) -> NamesError {
        self.shared.writable().err().unwrap_or(NamesError::Closed)
    }

    /// Lets the thread see that the file has failed, if a read did.
    pub(super) fn wake(&self) {
        let (answer, _) = oneshot::channel();
        let nothing = Command::Collected { numbers: Vec::new() };
        if let Some(queue) = &self.queue {
            // A queue that is full wakes it too.
            let _ = queue.try_send((nothing, answer));
        }
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    /// What is in the queue is done first.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes names has panicked");
        }
    }
}

struct Work {
    shared: Arc<Shared>,
    commands: mpsc::Receiver<(Command, Answer)>,
    commits: Arc<AtomicU64>,
    group_max: usize,
    retry: Duration,
    /// When the disk was last asked whether it takes writes.
    tried: Instant,
}

/// While the disk takes no writes, commands are looked for so often.
const POLL: Duration = Duration::from_millis(50);

/// Says that the thread has ended, if it panics.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close_for_writes(
                "the thread that writes names has panicked; start the server again",
            );
        }
    }
}

impl Work {
    fn run(&mut self) {
        let _ending = Ending(self.shared.clone());
        while let Some(first) = self.next() {
            let mut group = vec![first];
            while group.len() < self.group_max
                && let Ok(next) = self.commands.try_recv()
            {
                group.push(next);
            }
            self.commit(group);
        }
    }

    /// The next command. While the disk takes no writes, it is asked now and then.
    fn next(&mut self) -> Option<(Command, Answer)> {
        while self.shared.is_waiting() {
            if self.tried.elapsed() >= self.retry {
                self.shared.try_to_write();
                self.tried = Instant::now();
            }
            match self.commands.try_recv() {
                Ok(next) => return Some(next),
                Err(mpsc::error::TryRecvError::Disconnected) => return None,
                Err(mpsc::error::TryRecvError::Empty) => std::thread::sleep(POLL.min(self.retry)),
            }
        }
        self.commands.blocking_recv()
    }

    fn commit(&mut self, group: Vec<(Command, Answer)>) {
        let (commands, answers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        match self.change(commands) {
            Ok(outcomes) => {
                for (answer, outcome) in answers.into_iter().zip(outcomes) {
                    // Who does not wait any more does not hear it.
                    let _ = answer.send(outcome);
                }
            }
            Err(error) => {
                for answer in answers {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }

    fn change(&mut self, commands: Vec<Command>) -> Result<Vec<Result<Outcome>>> {
        self.shared.writable()?;
        let touched: Vec<Touched> = commands.iter().map(touched).collect();
        let requests = commands.len();
        let (count, done) = self.shared.with(|database| {
            let outcomes = Self::transact(database, commands)?;
            self.commits.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("afterbay_blob_names_commits_total").increment(1);
            metrics::counter!("afterbay_blob_names_changes_total").increment(requests as u64);
            self.read_again(database, &touched)?;
            Ok(outcomes)
        });
        if let Err(error) = &done {
            tracing::error!(%error, requests, "names were not written");
            if error.is_of_the_disk() {
                self.shared.reopen_after(count, error);
                self.tried = Instant::now();
            }
        }
        done
    }

    /// All commands in one transaction. A request that is refused changes nothing; after a storage error nothing is
    /// changed by any.
    fn transact(database: &Database, commands: Vec<Command>) -> Result<Vec<Result<Outcome>>> {
        let transaction = database.begin_write().map_err(NamesError::storage)?;
        let mut outcomes = Vec::with_capacity(commands.len());
        {
            let mut tables = Tables::open(&transaction)?;
            for command in commands {
                match apply(&mut tables, command) {
                    Err(error) if !error.is_of_the_request() => return Err(error),
                    outcome => outcomes.push(outcome),
                }
            }
        }
        transaction.commit().map_err(NamesError::storage)?;
        Ok(outcomes)
    }

    fn read_again(&self, database: &Database, touched: &[Touched]) -> Result<()> {
        if touched.iter().all(|t| *t == Touched::Nothing) {
            return Ok(());
        }
        let snapshot = database.begin_read().map_err(NamesError::storage)?;
        let buckets = snapshot.open_table(BUCKETS).map_err(NamesError::storage)?;
        let keys = snapshot.open_table(KEYS).map_err(NamesError::storage)?;
        let mut copies = self.shared.copies.write().unwrap_or_else(PoisonError::into_inner);
        for touched in touched {
            match touched {
                Touched::Nothing => {}
                Touched::Bucket(name) => {
                    match buckets.get(&**name).map_err(NamesError::storage)? {
                        Some(stored) => {
                            let bucket = Arc::new(decode("bucket", stored.value())?);
                            copies.buckets.insert(name.clone(), bucket)
                        }
                        None => copies.buckets.remove(name),
                    };
                }
                Touched::Key(id) => {
                    match keys.get(&**id).map_err(NamesError::storage)? {
                        Some(stored) => {
                            let key = Arc::new(decode("key", stored.value())?);
                            copies.keys.insert(id.clone(), key)
                        }
                        None => copies.keys.remove(id),
                    };
                }
            }
        }
        Ok(())
    }
}
