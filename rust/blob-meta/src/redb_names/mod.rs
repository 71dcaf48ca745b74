//! The names in one file on one machine, kept by redb.
//!
//! Commands go through one thread: it takes all that wait, applies each, commits once, and answers them. So a commit,
//! which is a sync of the disk, is shared by all requests that came while the last one ran; no timer, no window. Reads take
//! snapshots and never wait for it. Buckets and keys are copied in memory as well, since every request needs them.

mod apply;
mod audit;
mod read;
mod tables;
mod writer;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use afterbay_blob_format::BlobId;
use async_trait::async_trait;
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend};

pub use self::audit::Place;
use self::tables::{BUCKETS, KEYS, decode};
use self::writer::Writer;
use crate::command::{Command, Outcome};
use crate::error::{NamesError, Result};
use crate::listing::{ListRequest, Page};
use crate::model::{AccessKey, Bucket, Garbage, ObjectEntry, Part, Upload};
use crate::names::Names;

/// Settings of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedbOptions {
    /// Memory for pages of the file.
    pub cache_bytes: usize,
    /// Commands that may wait; who comes then waits before it is taken.
    pub queue_max: usize,
    /// Commands of one commit at most.
    pub group_max: usize,
}

impl Default for RedbOptions {
    fn default() -> Self {
        RedbOptions { cache_bytes: 64 << 20, queue_max: 4096, group_max: 1024 }
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
    database: Arc<Database>,
    copies: Arc<RwLock<Copies>>,
    writer: Writer,
}

impl RedbNames {
    /// Opens the file, or makes a new one that only its owner can read: it holds secrets.
    pub fn open(path: &Path, options: &RedbOptions) -> Result<Self> {
        let sync = |parent: &Path| std::fs::File::open(parent).and_then(|d| d.sync_all());
        create_private(path, sync)?;
        let database = builder(options).create(path).map_err(NamesError::storage)?;
        Self::start(database, options)
    }

    /// The same on something else than a file; for tests.
    pub fn open_on(backend: impl StorageBackend, options: &RedbOptions) -> Result<Self> {
        let database =
            builder(options).create_with_backend(backend).map_err(NamesError::storage)?;
        Self::start(database, options)
    }

    fn start(database: Database, options: &RedbOptions) -> Result<Self> {
        let database = Arc::new(database);
        prepare(&database)?;
        let copies = Arc::new(RwLock::new(read_copies(&database)?));
        let writer = Writer::start(database.clone(), copies.clone(), options)?;
        Ok(RedbNames { database, copies, writer })
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
        read: impl FnOnce(&Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let database = self.database.clone();
        let done = tokio::task::spawn_blocking(move || read(&database)).await;
        done.map_err(|_| NamesError::Closed)?
    }

    fn bucket_id(&self, bucket: &str) -> Result<u64> {
        let missing = || NamesError::NoSuchBucket { bucket: bucket.to_owned() };
        Ok(self.bucket(bucket).ok_or_else(missing)?.id)
    }
}

fn builder(options: &RedbOptions) -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(options.cache_bytes);
    builder
}

/// The file exists with its mode before anything is in it.
fn create_private(path: &Path, sync: impl Fn(&Path) -> std::io::Result<()>) -> Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let failed = |e: std::io::Error| NamesError::Storage(format!("{}: {e}", path.display()));
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    // A name that a loss of power takes away would take all names with it.
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        sync(parent).map_err(failed)?;
    }
    Ok(())
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

    fn bucket(&self, name: &str) -> Option<Arc<Bucket>> {
        let copies = self.copies.read().unwrap_or_else(PoisonError::into_inner);
        copies.buckets.get(name).cloned()
    }

    fn buckets(&self) -> Vec<(String, Arc<Bucket>)> {
        let copies = self.copies.read().unwrap_or_else(PoisonError::into_inner);
        copies.buckets.iter().map(|(name, bucket)| (name.clone(), bucket.clone())).collect()
    }

    fn access_key(&self, id: &str) -> Option<Arc<AccessKey>> {
        let copies = self.copies.read().unwrap_or_else(PoisonError::into_inner);
        copies.keys.get(id).cloned()
    }

    fn access_keys(&self) -> Vec<Arc<AccessKey>> {
        let copies = self.copies.read().unwrap_or_else(PoisonError::into_inner);
        copies.keys.values().cloned().collect()
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
