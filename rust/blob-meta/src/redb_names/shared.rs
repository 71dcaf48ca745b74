//! The open file, and what happens when it fails: it is opened again, for reading first, and for writing when the disk takes
//! a probe. In between, reads go on and changes are refused. A panic is taken for such a failure: whatever redb was in the
//! middle of, what is opened again is the last commit that was synced.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use redb::{Database, DatabaseError, RepairSession, StorageBackend};

use super::medium::{Medium, Opened, Overlay, SyncedHead};
use super::{Copies, RedbOptions, prepare, read_copies};
use crate::error::{NamesError, Result};

/// A file that fails again so soon is not opened again.
const AGAIN: Duration = Duration::from_millis(100);

/// What is read and written at once.
const CHUNK_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Shared {
    source: Source,
    open: RwLock<Open>,
    pub(super) copies: RwLock<Copies>,
    /// Why nothing can be changed.
    refusal: RwLock<Option<NamesError>>,
    /// Not by a failure: it stays like that.
    closed_for_writes: AtomicBool,
}

/// What is opened, and how.
#[derive(Debug)]
struct Source {
    medium: Box<dyn Medium>,
    options: RedbOptions,
    head: Arc<SyncedHead>,
}

#[derive(Debug)]
struct Open {
    /// `None`: it cannot be opened.
    database: Option<Database>,
    /// How often it was opened.
    count: u64,
    since: Instant,
}

impl Shared {
    /// Opens for reading and writing; for reading, if the disk takes no writes at the moment.
    pub(super) fn open(medium: Box<dyn Medium>, options: RedbOptions) -> Result<Self> {
        let source = Source::new(medium, options);
        match unless_panics(|| source.open_to_write()) {
            Err(refusal) if refusal.is_no_room() => {
                tracing::error!(error = %refusal, "names can be read and not changed");
                let database = unless_panics(|| source.open_to_read())?;
                Self::start(source, database, Some(refusal))
            }
            opened => Self::start(source, opened?, None),
        }
    }

    /// What the medium says; changes stay in memory, until [`Shared::close_for_writes`] lets no more of them be made.
    pub(super) fn open_to_read(medium: Box<dyn Medium>, options: RedbOptions) -> Result<Self> {
        let source = Source::new(medium, options);
        let database = unless_panics(|| source.open_to_read())?;
        Self::start(source, database, None)
    }

    fn start(source: Source, database: Database, refusal: Option<NamesError>) -> Result<Self> {
        let copies = RwLock::new(unless_panics(|| read_copies(&database))?);
        let open = Open { database: Some(database), count: 1, since: Instant::now() };
        Ok(Shared {
            source,
            open: RwLock::new(open),
            copies,
            refusal: RwLock::new(refusal),
            closed_for_writes: AtomicBool::new(false),
        })
    }

    pub(super) fn close_for_writes(&self, reason: &str) {
        self.closed_for_writes.store(true, Ordering::Release);
        self.refuse(Some(NamesError::ReadOnly(reason.to_owned())));
    }

    /// An error if nothing can be changed.
    pub(super) fn writable(&self) -> Result<()> {
        match &*self.refusal.read().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(refusal) => Err(refusal.clone()),
        }
    }

    fn refuse(&self, refusal: Option<NamesError>) {
        *self.refusal.write().unwrap_or_else(PoisonError::into_inner) = refusal;
    }

    /// Whether it is worth to look if the disk takes writes again.
    pub(super) fn is_waiting(&self) -> bool {
        self.writable().is_err() && !self.closed_for_writes.load(Ordering::Acquire)
    }

    /// Reads; once more from the file that is opened then, if it failed.
    pub(super) fn read<T>(&self, read: impl Fn(&Database) -> Result<T>) -> Result<T> {
        let (count, done) = self.with(&read);
        match done {
            Err(error) if error.is_of_the_disk() && self.reopen_after(count, &error) => {
                self.with(&read).1
            }
            done => done,
        }
    }

    /// Does something with the open file. After an error of the disk it has to be opened again: [`Shared::reopen_after`].
    pub(super) fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> (u64, Result<T>) {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let none = || Err(NamesError::Storage("the file cannot be opened".to_owned()));
        let work = |database| unless_panics(|| work(database));
        (open.count, open.database.as_ref().map_or_else(none, work))
    }

    /// Opens for reading, unless somebody else did after the error. Whether it is open.
    pub(super) fn reopen_after(&self, count: u64, error: &NamesError) -> bool {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.count != count {
            return open.database.is_some();
        }
        if self.writable().is_ok() {
            let refusal = error.clone().of_changes();
            tracing::error!(%error, "names can be read and not changed, until the disk takes writes again");
            self.refuse(Some(refusal));
        } else if open.since.elapsed() < AGAIN {
            return false;
        }
        self.replace(&mut open, Source::open_to_read)
    }

    /// Opens for writing, if the disk takes a probe.
    pub(super) fn try_to_write(&self) {
        if !self.source.medium.takes_writes() {
            return;
        }
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if self.replace(&mut open, Source::open_to_write) {
            self.refuse(None);
            tracing::info!("names can be changed again");
        } else {
            self.replace(&mut open, Source::open_to_read);
        }
    }

    fn replace(&self, open: &mut Open, by: impl FnOnce(&Source) -> Result<Database>) -> bool {
        // Two must not have the file open. One that a panic left behind may panic again.
        let old = open.database.take();
        let _ = unless_panics(|| {
            drop(old);
            Ok(())
        });
        open.count += 1;
        open.since = Instant::now();
        let opened = unless_panics(|| {
            let database = by(&self.source)?;
            Ok((read_copies(&database)?, database))
        });
        match opened {
            Ok((copies, database)) => {
                *self.copies.write().unwrap_or_else(PoisonError::into_inner) = copies;
                open.database = Some(database);
                true
            }
            Err(error) => {
                tracing::error!(%error, "names could not be opened again");
                false
            }
        }
    }
}

impl Source {
    fn new(medium: Box<dyn Medium>, options: RedbOptions) -> Self {
        Source { medium, options, head: Arc::new(SyncedHead::new()) }
    }

    fn open_to_write(&self) -> Result<Database> {
        let file: Arc<dyn StorageBackend> = self.medium.open().map_err(NamesError::io)?.into();
        // What was refused, and not read since, is not made after all.
        self.head.put_back(&*file).map_err(NamesError::io)?;
        if !was_closed(&file, &self.options)? {
            write_again(&*file).map_err(NamesError::io)?;
        }
        let opened = Opened::new(file, self.head.clone()).map_err(NamesError::io)?;
        let database =
            builder(&self.options).create_with_backend(opened).map_err(NamesError::storage)?;
        prepare(&database)?;
        Ok(database)
    }

    fn open_to_read(&self) -> Result<Database> {
        let below = self.medium.open_to_read().map_err(NamesError::io)?;
        let overlay = Overlay::synced(below.into(), &self.head).map_err(NamesError::io)?;
        let database =
            builder(&self.options).create_with_backend(overlay).map_err(NamesError::storage)?;
        prepare(&database)?;
        Ok(database)
    }
}

/// Does `work`. If it panics, that is an error of the storage.
fn unless_panics<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

fn panicked(panic: &(dyn Any + Send)) -> NamesError {
    metrics::counter!("afterbay_blob_panics_total", "part" => "names").increment(1);
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    NamesError::Storage(format!("it panicked: {}", text.unwrap_or("the log says where")))
}

/// Whether all that is in the file was synced when it was closed. Writes nothing.
fn was_closed(file: &Arc<dyn StorageBackend>, options: &RedbOptions) -> Result<bool> {
    let overlay = Overlay::new(file.clone()).map_err(NamesError::io)?;
    let opened =
        builder(options).set_repair_callback(RepairSession::abort).create_with_backend(overlay);
    match opened {
        Ok(_) => Ok(true),
        Err(DatabaseError::RepairAborted) => Ok(false),
        Err(error) => Err(NamesError::storage(error)),
    }
}

/// Writes the file once more, and syncs it. If a sync failed since it was opened last, in this process or one before, the
/// operating system's cache has what was lost, takes it for written, and would not write it; and what redb finds there, it
/// builds on.
fn write_again(file: &dyn StorageBackend) -> io::Result<()> {
    let length = file.len()?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut at = 0;
    while at < length {
        let left = usize::try_from(length - at).unwrap_or(usize::MAX);
        let part = &mut chunk[..left.min(CHUNK_BYTES)];
        file.read(at, part)?;
        file.write(at, part)?;
        at += part.len() as u64;
    }
    file.sync_data()
}

fn builder(options: &RedbOptions) -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(options.cache_bytes);
    builder
}
