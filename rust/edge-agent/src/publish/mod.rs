//! Rows on the site's own broker, for those who live there.
//!
//! ```text
//!   worker --commit--> Store: outbox | Log (DATA/publish) | state
//!                                       `--> Mover --> Publisher (edge-mqtt) --> broker
//! ```
//!
//! # At least once
//! - A commit writes its rows into a second log, in front of the state: they are published when the state has them, and only then.
//! - A row goes when the broker has acknowledged it. What was sent and not acknowledged when a connection ended, or a process was
//!   killed, is sent again, and counted.
//!
//! # Nobody waits for it
//! The log has bytes of its own, and neither the gateway nor its outbox knows of it. A broker that is away, slow, or does not take
//! rows costs the oldest rows of that log, which are counted.

mod log;
mod mover;
mod place;
mod status;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use afterbay_edge_mqtt::PublisherStatus;
use afterbay_edge_outbox::OutboxError;

pub(crate) use mover::Mover;
pub use status::PublishStatus;

use self::log::{Log, LogStatus};
use crate::batch::Part;
use crate::error::{AgentError, Result};

/// How often somebody looks whether everything is published.
const LOOK: Duration = Duration::from_millis(20);

/// The log, for who commits, who publishes, and who looks.
#[derive(Debug)]
pub(crate) struct Local {
    log: Mutex<Log>,
    /// How it was when something changed last: who asks waits for no disk.
    shown: Mutex<LogStatus>,
    bytes_max: u64,
    /// Something has been committed or acknowledged, or it is to end.
    pub(crate) bell: Bell,
    stopping: AtomicBool,
}

impl Local {
    /// Opens the log of a data folder whose state has so many rows.
    pub(crate) fn open(data: &std::path::Path, bytes_max: u64, rows: u64) -> Result<Self> {
        let folder = data.join("publish");
        let log = Log::open(&folder, bytes_max, rows).map_err(|error| match error {
            OutboxError::Locked(_) => AgentError::Outbox(error),
            error => AgentError::File {
                reason: format!(
                    "{error}. What is in it waits for the broker of --publish, and for nobody else: move the folder away, and the agent goes on without those rows"
                ),
                path: folder,
            },
        })?;
        let (bell, stopping) = (Bell::default(), AtomicBool::new(false));
        let shown = Mutex::new(log.status());
        Ok(Self { log: Mutex::new(log), shown, bytes_max, bell, stopping })
    }

    /// Does something with the log that changes how it is.
    fn with<T>(&self, what: impl FnOnce(&mut Log) -> T) -> T {
        let mut log = self.lock();
        let done = what(&mut log);
        *self.shown() = log.status();
        done
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shown(&self) -> MutexGuard<'_, LogStatus> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes rows of a commit that is under way: see [`Log::append`].
    pub(crate) fn append(&self, base: u64, parts: &[Part]) {
        self.with(|log| log.append(base, parts));
    }

    /// The commit is done.
    pub(crate) fn commit(&self) {
        self.with(Log::commit);
        self.bell.ring();
    }

    /// The disk is full: what goes to the gateway comes first.
    pub(crate) fn make_way(&self) {
        self.with(Log::make_way);
    }

    pub(crate) fn status(&self, publisher: PublisherStatus) -> PublishStatus {
        let log = self.shown().clone();
        PublishStatus {
            publisher,
            waiting: log.waiting,
            bytes: log.bytes,
            bytes_max: self.bytes_max,
            dropped: log.dropped,
            error: log.trouble,
        }
    }

    /// Waits until everything is published, or nothing has been for so long, or it is to end.
    pub(crate) fn wait_until_published(&self, patience: Duration, is_over: impl Fn() -> bool) {
        let (mut waiting, mut moved) = (u64::MAX, Instant::now());
        while !is_over() && moved.elapsed() < patience {
            let now = self.shown().waiting;
            if now == 0 {
                return;
            }
            if now != waiting {
                (waiting, moved) = (now, Instant::now());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends publishing.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.bell.ring();
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}

/// Wakes one who waits, also if it was rung before.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_one();
    }

    fn wait(&self, patience: Duration) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        if !*rung {
            let waited = self.heard.wait_timeout(rung, patience);
            rung = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *rung = false;
    }
}
