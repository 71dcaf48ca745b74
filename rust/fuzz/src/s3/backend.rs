//! An endpoint in memory, that can be frozen: then whatever changes something panics.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use afterbay_blob_meta::{
    AccessKey, Bucket, Command, Counts, Garbage, ListRequest, Names, ObjectEntry, Outcome, Page,
    Part, RedbNames, RedbOptions, Reservations, Result as NamesResult, Rights, Upload, now_ms,
};
use afterbay_blob_router::testing::MemoryStore;
use afterbay_blob_router::{
    BlobId, BlobInfo, BlobService, ByteRange, GetBlob, PutBlob, PutOptions, Result, Router,
    RouterOptions, SourceStream,
};
use afterbay_blob_s3::{Backend, ReservingStore, S3Options, fuzzing};
use async_trait::async_trait;
use redb::backends::InMemoryBackend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

use super::request::Request;

/// Who signs.
#[derive(Debug)]
pub(super) struct Signer {
    pub(super) id: &'static str,
    pub(super) secret: &'static str,
}

pub(super) const OWNER: Signer = Signer { id: "OWNER", secret: "secret-of-the-owner" };
pub(super) const READER: Signer = Signer { id: "READER", secret: "secret-of-the-reader" };

/// In the object that is there at the beginning.
pub(super) const CONTENT: &str = "content that only keys are shown";

/// The upload that is open at the beginning.
pub(super) const UPLOAD: &str = "0000000000007";

/// Names and blobs.
#[derive(Debug)]
struct Guarded<T: ?Sized> {
    inner: Arc<T>,
    frozen: Arc<AtomicBool>,
}

impl<T: ?Sized> Guarded<T> {
    fn changes(&self, what: &dyn std::fmt::Debug) {
        let frozen = self.frozen.load(Ordering::Relaxed);
        assert!(!frozen, "a request that must not change anything does {what:?}");
    }
}

#[async_trait]
impl Names for Guarded<dyn Names> {
    async fn apply(&self, command: Command) -> NamesResult<Outcome> {
        self.changes(&command);
        self.inner.apply(command).await
    }
    fn writable(&self) -> NamesResult<()> {
        self.inner.writable()
    }
    async fn counts(&self) -> NamesResult<Counts> {
        self.inner.counts().await
    }
    fn bucket(&self, name: &str) -> Option<Arc<Bucket>> {
        self.inner.bucket(name)
    }
    fn buckets(&self) -> Vec<(String, Arc<Bucket>)> {
        self.inner.buckets()
    }
    fn access_key(&self, id: &str) -> Option<Arc<AccessKey>> {
        self.inner.access_key(id)
    }
    fn access_keys(&self) -> Vec<Arc<AccessKey>> {
        self.inner.access_keys()
    }
    async fn object(&self, bucket: &str, key: &str) -> NamesResult<Option<ObjectEntry>> {
        self.inner.object(bucket, key).await
    }
    async fn list_objects(
        &self,
        bucket: &str,
        request: ListRequest,
    ) -> NamesResult<Page<ObjectEntry>> {
        self.inner.list_objects(bucket, request).await
    }
    async fn upload(&self, bucket: &str, key: &str, upload: &str) -> NamesResult<Option<Upload>> {
        self.inner.upload(bucket, key, upload).await
    }
    async fn list_uploads(&self, bucket: &str, request: ListRequest) -> NamesResult<Page<Upload>> {
        self.inner.list_uploads(bucket, request).await
    }
    async fn parts(&self, upload: &str, after: u16, max: usize) -> NamesResult<Vec<(u16, Part)>> {
        self.inner.parts(upload, after, max).await
    }
    async fn garbage(
        &self,
        from: u64,
        before_ms: u64,
        max: usize,
    ) -> NamesResult<Vec<(u64, Garbage)>> {
        self.inner.garbage(from, before_ms, max).await
    }
}

#[async_trait]
impl BlobService for Guarded<Router> {
    async fn put(&self, content: SourceStream, options: PutOptions) -> Result<PutBlob> {
        self.changes(&options);
        self.inner.put(content, options).await
    }
    async fn get(&self, id: BlobId, range: Option<ByteRange>) -> Result<GetBlob> {
        self.inner.get(id, range).await
    }
    async fn stat(&self, id: BlobId) -> Result<BlobInfo> {
        self.inner.stat(id).await
    }
    async fn delete(&self, id: BlobId) -> Result<()> {
        self.changes(&id);
        self.inner.delete(id).await
    }
    async fn undelete(&self, id: BlobId) -> Result<()> {
        self.changes(&id);
        self.inner.undelete(id).await
    }
    async fn update_ttl(&self, id: BlobId, expires_ms: Option<u64>) -> Result<()> {
        self.changes(&id);
        self.inner.update_ttl(id, expires_ms).await
    }
}

/// An endpoint, and the time in which it lives: that stands still while something is done, and jumps on while nothing is.
pub(super) struct Endpoint {
    runtime: Runtime,
    backend: Backend,
    /// Requests so far.
    pub(super) asked: u32,
}

impl Endpoint {
    /// With a bucket, an object and an upload.
    pub(super) fn new(freeze: bool) -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.unwrap_or_else(|e| unreachable!("no runtime: {e}"));
        let frozen = Arc::new(AtomicBool::new(false));
        let backend = runtime.block_on(backend(frozen.clone()));
        let mut endpoint = Endpoint { runtime, backend, asked: 0 };
        for request in [
            "PUT /bucket".to_owned(),
            format!("PUT /bucket/key\nx-amz-meta-a: b\nx-amz-tagging: a=b\n\n{CONTENT}"),
        ] {
            let answer = endpoint.ask(&Request::parse(request.as_bytes()).signed(&OWNER));
            let text = String::from_utf8_lossy(&answer);
            assert!(text.starts_with("HTTP/1.1 200"), "{request}: {text}");
        }
        let upload = Command::CreateUpload {
            bucket: "bucket".to_owned(),
            key: "parts".to_owned(),
            upload: UPLOAD.to_owned(),
            entry: Upload { begun_ms: now_ms(), owner: "owner".to_owned(), ..Upload::default() },
        };
        let begun = endpoint.runtime.block_on(endpoint.backend.names.apply(upload));
        assert!(begun.is_ok(), "{begun:?}");
        frozen.store(freeze, Ordering::Relaxed);
        endpoint
    }

    /// Sends these bytes on a connection. What comes back until it is closed.
    pub(super) fn ask(&mut self, sent: &[u8]) -> Vec<u8> {
        self.asked += 1;
        let (backend, options) = (self.backend.clone(), S3Options::default());
        self.runtime.block_on(async {
            let (client, server) = tokio::io::duplex(64 << 10);
            let (mut from, mut to) = tokio::io::split(client);
            let mut answer = Vec::new();
            let ask = async {
                // It may be closed in the middle.
                let _ = to.write_all(sent).await;
            };
            let read = from.read_to_end(&mut answer);
            let (read, (), ()) = tokio::join!(read, ask, fuzzing::serve(server, backend, options));
            assert!(read.is_ok(), "{read:?}");
            answer
        })
    }
}

async fn backend(frozen: Arc<AtomicBool>) -> Backend {
    let opened = RedbNames::open_on(InMemoryBackend::new(), &RedbOptions::default());
    let inner: Arc<dyn Names> = match opened {
        Ok(names) => Arc::new(names),
        Err(error) => unreachable!("no names in memory: {error}"),
    };
    let rights = |rights: Rights| BTreeMap::from([("*".to_owned(), rights.0)]);
    for (signer, user, rights, may_create_buckets) in
        [(OWNER, "owner", BTreeMap::new(), true), (READER, "reader", rights(Rights::READ), false)]
    {
        let key = AccessKey {
            id: signer.id.to_owned(),
            secret: signer.secret.to_owned(),
            user: user.to_owned(),
            display_name: user.to_owned(),
            created_ms: now_ms(),
            rights,
            may_create_buckets,
        };
        let made = inner.apply(Command::PutKey(key)).await;
        assert!(made.is_ok(), "{made:?}");
    }
    let names: Arc<dyn Names> = Arc::new(Guarded { inner, frozen: frozen.clone() });
    let reservations = match Reservations::begin(names.clone(), "fuzz").await {
        Ok(reservations) => reservations,
        Err(error) => unreachable!("no session: {error}"),
    };
    let store =
        Arc::new(ReservingStore::new(Arc::new(MemoryStore::default()), reservations.clone()));
    let router = match Router::new(store, RouterOptions::default()) {
        Ok(router) => Arc::new(router),
        Err(error) => unreachable!("the defaults are allowed: {error}"),
    };
    let blobs = Arc::new(Guarded { inner: router, frozen });
    Backend { names, blobs, reservations }
}
