//! The names in one file on one machine, kept by redb.
//!
//! Commands go through one thread: it takes all that wait, applies each, commits once, and answers them. So a commit,
//! which is a sync of the disk, is shared by all requests that came while the last one ran; no timer, no window. Reads take
//! snapshots and never wait for it. Buckets and keys are copied in memory as well, since every request needs them.
//!
//! When the disk is full, read-only or fails, reads go on and changes are refused (`shared`), as a whole: a commit is there or
//! it is not.

mod apply;
mod audit;
mod medium;
mod read;
mod shared;
mod tables;
mod writer;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLockReadGuard};
use std::time::Duration;

use afterbay_blob_format::BlobId;
use async_trait::async_trait;
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend};

pub use self::audit::Place;
pub use self::medium::{FileMedium, Medium};
use self::shared::Shared;
use self::tables::{BUCKETS, KEYS, decode};
use self::writer::Writer;
use crate::command::{Command, Outcome};
use crate::error::{NamesError, Result};
use crate::listing::{ListRequest, Page};
use crate::model::{AccessKey, Bucket, Garbage, ObjectEntry, Part, Upload};
use crate::names::{Counts, Names};

/// Settings of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedbOptions {
    /// Memory for pages of the file.
    pub cache_bytes: usize,
    /// Commands that may wait; who comes then waits before it is taken.
    pub queue_max: usize,
    /// Commands of one commit at most.
    pub group_max: usize,
    /// How often a disk that took no writes is asked again.
    pub retry: Duration,
}

impl Default for RedbOptions {
    fn default() -> Self {
        RedbOptions {
            cache_bytes: 64 << 20,
            queue_max: 4096,
            group_max: 1024,
            retry: Duration::from_secs(1),
        }
    }
}

/// What every request needs, in memory.
#[derive(Debug, Default)]
struct Copies {
    buckets: BTreeMap<String, Arc<Bucket>>,
    keys: BTreeMap<String, Arc<AccessKey>>,
}

/// Names in one file. Dropping it ends its thread after all that was taken is done.
#[derive(Debug)]
pub struct RedbNames {
    shared: Arc<Shared>,
    writer: Writer,
}

impl RedbNames {
    /// Opens the file, or makes a new one that only its owner can read: it holds secrets. If the disk is full or read-only,
    /// names can be read, and changed once it is not any more.
    pub fn open(path: &Path, options: &RedbOptions) -> Result<Self> {
        Self::open_medium(FileMedium(path.to_owned()), options)
    }

    /// Opens it, and never writes to it. What is changed stays in memory, until [`RedbNames::refuse_changes`].
    pub fn open_read_only(medium: impl Medium, options: &RedbOptions) -> Result<Self> {
        Self::start(Shared::open_to_read(Box::new(medium), options.clone())?, options)
    }

    /// The same as [`RedbNames::open`] on something else than a file, which cannot be opened twice; for tests.
    pub fn open_on(backend: impl StorageBackend, options: &RedbOptions) -> Result<Self> {
        Self::open_medium(Once(Mutex::new(Some(Box::new(backend)))), options)
    }

    /// The same on something else than a file.
    pub fn open_medium(medium: impl Medium, options: &RedbOptions) -> Result<Self> {
        Self::start(Shared::open(Box::new(medium), options.clone())?, options)
    }

    fn start(shared: Shared, options: &RedbOptions) -> Result<Self> {
        let shared = Arc::new(shared);
        let writer = Writer::start(shared.clone(), options)?;
        Ok(RedbNames { shared, writer })
    }

    /// Lets nothing be changed from now on.
    pub fn refuse_changes(&self, reason: &str) {
        self.shared.close_for_writes(reason);
    }

    /// Commits so far. Commands divided by this is how many shared one.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }

    /// Where every blob is that the names know. Reads all of the file.
    pub async fn audit(&self) -> Result<BTreeMap<BlobId, Vec<Place>>> {
        self.read(audit::audit).await
    }

    /// Does a read away from the reactor.
    async fn read<T: Send + 'static>(
        &self,
        read: impl Fn(&Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = self.shared.clone();
        let done = tokio::task::spawn_blocking(move || shared.read(read)).await;
        done.map_err(|error| match error.is_panic() {
            true => NamesError::Storage("a read panicked; the log says where".to_owned()),
            false => NamesError::Closed,
        })?
    }

    fn bucket_id(&self, bucket: &str) -> Result<u64> {
        let missing = || NamesError::NoSuchBucket { bucket: bucket.to_owned() };
        Ok(self.bucket(bucket).ok_or_else(missing)?.id)
    }

    fn copies(&self) -> RwLockReadGuard<'_, Copies> {
        self.shared.copies.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A backend that is opened once.
#[derive(Debug)]
struct Once(Mutex<Option<Box<dyn StorageBackend>>>);

impl Medium for Once {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let backend = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        backend.ok_or_else(|| io::Error::other("it cannot be opened again"))
    }

    fn open_to_read(&self) -> io::Result<Box<dyn StorageBackend>> {
        Err(io::Error::other("it cannot be opened again"))
    }

    fn takes_writes(&self) -> bool {
        false
    }
}

/// Makes the tables of a new file, so that reads find them.
fn prepare(database: &Database) -> Result<()> {
    let transaction = database.begin_write().map_err(NamesError::storage)?;
    tables::Tables::open(&transaction)?.check_version()?;
    transaction.commit().map_err(NamesError::storage)
}

fn read_copies(database: &Database) -> Result<Copies> {
    let snapshot = database.begin_read().map_err(NamesError::storage)?;
    let mut copies = Copies::default();
    let buckets = snapshot.open_table(BUCKETS).map_err(NamesError::storage)?;
    for row in buckets.iter().map_err(NamesError::storage)? {
        let (name, stored) = row.map_err(NamesError::storage)?;
        let bucket = Arc::new(decode("bucket", stored.value())?);
        copies.buckets.insert(name.value().to_owned(), bucket);
    }
    let keys = snapshot.open_table(KEYS).map_err(NamesError::storage)?;
    for row in keys.iter().map_err(NamesError::storage)? {
        let (id, stored) = row.map_err(NamesError::storage)?;
        copies.keys.insert(id.value().to_owned(), Arc::new(decode("key", stored.value())?));
    }
    Ok(copies)
}

#[async_trait]
impl Names for RedbNames {
    async fn apply(&self, command: Command) -> Result<Outcome> {
        self.writer.apply(command).await
    }

    fn writable(&self) -> Result<()> {
        if self.shared.is_waiting() {
            self.writer.wake();
        }
        self.shared.writable()
    }

    async fn counts(&self) -> Result<Counts> {
        self.read(read::counts).await
    }

    fn bucket(&self, name: &str) -> Option<Arc<Bucket>> {
        self.copies().buckets.get(name).cloned()
    }

    fn buckets(&self) -> Vec<(String, Arc<Bucket>)> {
        self.copies().buckets.iter().map(|(name, bucket)| (name.clone(), bucket.clone())).collect()
    }

    fn access_key(&self, id: &str) -> Option<Arc<AccessKey>> {
        self.copies().keys.get(id).cloned()
    }

    fn access_keys(&self) -> Vec<Arc<AccessKey>> {
        self.copies().keys.values().cloned().collect()
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<Option<ObjectEntry>> {
        let (bucket, key) = (self.bucket_id(bucket)?, key.to_owned());
        self.read(move |db| read::object(db, bucket, &key)).await
    }

    async fn list_objects(&self, bucket: &str, request: ListRequest) -> Result<Page<ObjectEntry>> {
        let bucket = self.bucket_id(bucket)?;
        self.read(move |db| read::list_objects(db, bucket, &request)).await
    }

    async fn upload(&self, bucket: &str, key: &str, upload: &str) -> Result<Option<Upload>> {
        let bucket = self.bucket_id(bucket)?;
        let (key, upload) = (key.to_owned(), upload.to_owned());
        self.read(move |db| read::upload(db, bucket, &key, &upload)).await
    }

    async fn list_uploads(&self, bucket: &str, request: ListRequest) -> Result<Page<Upload>> {
        let bucket = self.bucket_id(bucket)?;
        self.read(move |db| read::list_uploads(db, bucket, &request)).await
    }

    async fn parts(&self, upload: &str, after: u16, max: usize) -> Result<Vec<(u16, Part)>> {
        let upload = upload.to_owned();
        self.read(move |db| read::parts(db, &upload, after, max)).await
    }

    async fn garbage(&self, from: u64, before_ms: u64, max: usize) -> Result<Vec<(u64, Garbage)>> {
        self.read(move |db| read::garbage(db, from, before_ms, max)).await
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::medium::create_private;
    use super::*;

    #[test]
    fn the_name_of_a_new_file_is_synced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("names.redb");
        let synced = RefCell::new(Vec::new());
        create_private(&path, |parent| {
            assert!(path.exists(), "what is made after the sync is not in it");
            synced.borrow_mut().push(parent.to_owned());
            Ok(())
        })
        .unwrap();
        assert_eq!(synced.into_inner(), [directory.path()]);
        let refuses = |_: &Path| Err(std::io::Error::other("no"));
        assert!(create_private(&path, refuses).is_err());
    }
}
