//! The thread that writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;

use redb::{Database, ReadableDatabase};
use tokio::sync::{mpsc, oneshot};

use super::apply::{Touched, apply, touched};
use super::tables::{BUCKETS, KEYS, Tables, decode};
use super::{Copies, RedbOptions};
use crate::command::{Command, Outcome};
use crate::error::{NamesError, Result};

type Answer = oneshot::Sender<Result<Outcome>>;

#[derive(Debug)]
pub(super) struct Writer {
    /// `None` only while it is dropped.
    queue: Option<mpsc::Sender<(Command, Answer)>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(
        database: Arc<Database>,
        copies: Arc<RwLock<Copies>>,
        options: &RedbOptions,
    ) -> Result<Self> {
        let (queue, commands) = mpsc::channel(options.queue_max.max(1));
        let commits = Arc::new(AtomicU64::new(0));
        let mut work = Work {
            database,
            copies,
            commands,
            commits: commits.clone(),
            group_max: options.group_max.max(1),
        };
        let thread = std::thread::Builder::new()
            .name("names-writer".to_owned())
            .spawn(move || work.run())
            .map_err(|e| NamesError::Storage(format!("no thread: {e}")))?;
        Ok(Writer { queue: Some(queue), thread: Some(thread), commits })
    }

    pub(super) async fn apply(&self, command: Command) -> Result<Outcome> {
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(NamesError::Closed)?;
        queue.send((command, answer)).await.map_err(|_| NamesError::Closed)?;
        answered.await.map_err(|_| NamesError::Closed)?
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
    database: Arc<Database>,
    copies: Arc<RwLock<Copies>>,
    commands: mpsc::Receiver<(Command, Answer)>,
    commits: Arc<AtomicU64>,
    group_max: usize,
}

impl Work {
    fn run(&mut self) {
        while let Some(first) = self.commands.blocking_recv() {
            let mut group = vec![first];
            while group.len() < self.group_max
                && let Ok(next) = self.commands.try_recv()
            {
                group.push(next);
            }
            self.commit(group);
        }
    }

    fn commit(&self, group: Vec<(Command, Answer)>) {
        let (commands, answers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        let touched: Vec<Touched> = commands.iter().map(touched).collect();
        let done = self.transact(commands).and_then(|done| {
            self.commits.fetch_add(1, Ordering::Relaxed);
            self.read_again(&touched)?;
            Ok(done)
        });
        match done {
            Ok(outcomes) => {
                for (answer, outcome) in answers.into_iter().zip(outcomes) {
                    // Who does not wait any more does not hear it.
                    let _ = answer.send(outcome);
                }
            }
            Err(error) => {
                tracing::error!(%error, requests = answers.len(), "names were not written");
                for answer in answers {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }

    /// All commands in one transaction. A request that is refused changes nothing; after a storage error nothing is
    /// changed by any.
    fn transact(&self, commands: Vec<Command>) -> Result<Vec<Result<Outcome>>> {
        let transaction = self.database.begin_write().map_err(NamesError::storage)?;
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

    fn read_again(&self, touched: &[Touched]) -> Result<()> {
        if touched.iter().all(|t| *t == Touched::Nothing) {
            return Ok(());
        }
        let snapshot = self.database.begin_read().map_err(NamesError::storage)?;
        let buckets = snapshot.open_table(BUCKETS).map_err(NamesError::storage)?;
        let keys = snapshot.open_table(KEYS).map_err(NamesError::storage)?;
        let mut copies = self.copies.write().unwrap_or_else(PoisonError::into_inner);
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
