//! Names and S3 in front of the disks: the frontend that `serve` starts.
//!
//! Blobs that get a name go through a router whose ids are reserved first (`ReservingStore`), so that a crash between a
//! blob and its name leaves nothing. So do the chunks of long blobs without a name; short ones are one record, which is
//! there as a whole or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_format::{BlobId, PartitionId, Properties, PropertyClass};
use afterbay_blob_meta::{
    AccessKey, Attributes, Body, Bucket, Collector, CollectorOptions, Command, Condition, Counts,
    Names, NamesError, ObjectEntry, Outcome, Part, RedbOptions, Reservations, Rights,
    UploadSweeper, blob_to_bytes, now_ms,
};
use afterbay_blob_proto::{
    BucketSettings, Code, CreatedKey, Entry, Failure, KeyEntry, ListRequest, Listing, Name, NewKey,
};
use afterbay_blob_router::{
    BlobInfo, BlobService, BlobStream, ByteRange, Error, GetBlob, PutBlob, PutOptions, Router,
    SourceStream,
};
use afterbay_blob_s3::{
    Backend, LifecycleWorker, ReservingStore, S3Listener, S3Options, StoreDeleter,
    change_of_durability, durability_of, serve_s3,
};
use afterbay_blob_store::RealDirectory;
use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use crate::buckets;
use crate::caller::{Caller, ROOT, forbidden};
use crate::named::{Frontend, Host, NamedBlobs, Started, UserKeys};
use crate::names_file::open_names;
use crate::report::NamesReport;
use crate::serve::StartError;
use crate::sockets::Endpoint;
use crate::tls::Certificates;
use crate::user_keys;

/// The frontend of this process, for reservations.
const LOCAL: &str = "local";
const CONTENT_TYPE: &str = "content-type";
/// Names or parts that are read at once.
const PAGE: usize = 1000;

/// Names are kept without times: a blob that expires by itself would leave its name behind, in lists too.
pub(crate) const NAMES_DO_NOT_EXPIRE: &str = "a name does not expire: it would go on standing for content that is gone; put it without a name \
    ('put --no-name --ttl 30d'), or delete the name when its time has come";

/// Keeps names in the first data directory, and serves S3.
#[derive(Debug, Clone)]
pub struct NamesAndS3 {
    /// Address of the S3 endpoint; `None`: names alone.
    pub listen: Option<String>,
    /// Settings of the S3 endpoint.
    pub options: S3Options,
    /// Settings of what deletes what no name stands for.
    pub collector: CollectorOptions,
    /// An upload that was begun so long ago is aborted; [`Duration::MAX`]: none is.
    pub abort_uploads_after: Duration,
}

#[async_trait]
impl Frontend for NamesAndS3 {
    fn addresses(&self) -> Vec<Endpoint> {
        self.endpoint().into_iter().collect()
    }

    async fn start(&self, host: &Host) -> Result<Started, StartError> {
        self.start_with(open(host).await?, host).await
    }
}

impl NamesAndS3 {
    fn endpoint(&self) -> Option<Endpoint> {
        let address = self.listen.clone()?;
        Some(Endpoint { what: "S3", option: "--s3", address })
    }

    /// The S3 endpoint's socket, and its URL.
    async fn listen_for_s3(&self, host: &Host) -> Result<Option<(S3Listener, String)>, StartError> {
        let Some(endpoint) = self.endpoint() else {
            return Ok(None);
        };
        let tls = host.tls.as_ref().map(Certificates::http_acceptor).transpose();
        let tls = tls.map_err(StartError::of)?;
        let socket = host.sockets.listen(&endpoint).await?;
        let address = socket.local_addr().map_err(StartError::of)?;
        if tls.is_none() && !address.ip().is_loopback() {
            tracing::warn!(
                %address,
                "S3 in plaintext on an address that other machines reach; use --tls-cert"
            );
        }
        let scheme = if tls.is_some() { "https" } else { "http" };
        Ok(Some((S3Listener { socket, tls }, format!("{scheme}://{address}"))))
    }

    /// The same with names that are kept elsewhere than in the data directory.
    pub async fn start_with(
        &self,
        names: Arc<dyn Names>,
        host: &Host,
    ) -> Result<Started, StartError> {
        allow_root(&*names, host).await?;
        let reservations = match names.writable() {
            Ok(()) => Reservations::begin(names.clone(), LOCAL).await.map_err(StartError::of)?,
            // On a full disk, it may come.
            Err(_) => Reservations::later(names.clone(), LOCAL),
        };
        let store = host.router.store().clone();
        let unnamed = ReservingStore::unnamed(store.clone(), reservations.clone());
        let by_id = host.router.long_blobs_over(Arc::new(unnamed));
        let reserving = Arc::new(ReservingStore::new(store.clone(), reservations.clone()));
        let router = Arc::new(host.router.over(reserving));
        let deleter = Arc::new(StoreDeleter::new(store));
        let collector = Collector::new(names.clone(), deleter, self.collector.clone());
        // What can fail is behind us when the first task begins.
        let s3 = self.listen_for_s3(host).await?;
        let mut tasks = Vec::new();
        if !host.read_only {
            tasks.push(tokio::spawn(collector.run(host.stopping.clone())));
            let sweeper = UploadSweeper::new(names.clone(), self.abort_uploads_after);
            tasks.push(tokio::spawn(sweeper.run(host.stopping.clone())));
            let lifecycles = LifecycleWorker::new(names.clone(), &self.options);
            tasks.push(tokio::spawn(lifecycles.run(host.stopping.clone())));
        }
        let mut endpoints = Vec::new();
        if let Some((listener, url)) = s3 {
            endpoints.push(("S3".to_owned(), url));
            let backend = Backend {
                names: names.clone(),
                blobs: router.clone(),
                reservations: reservations.clone(),
            };
            let (options, stopping) = (self.options.clone(), host.stopping.clone());
            tasks.push(tokio::spawn(async move {
                if let Err(error) = serve_s3(listener, backend, options, stopping).await {
                    tracing::error!(%error, "S3 is not served any more");
                }
            }));
        }
        let names = Arc::new(StoredNames { names, router, reservations });
        let (keys, router) = (Some(names.clone() as Arc<dyn UserKeys>), Some(by_id));
        Ok(Started { names: Some(names), keys, router, endpoints, tasks })
    }
}

/// Opens the names.
async fn open(host: &Host) -> Result<Arc<dyn Names>, StartError> {
    let (data, read_only) = (host.data.clone(), host.read_only);
    let opened = tokio::task::spawn_blocking(move || {
        let root = RealDirectory::shared(&data).map_err(StartError::of)?;
        open_names(Arc::new(root), read_only, &RedbOptions::default()).map_err(StartError::of)
    });
    let names = opened.await.map_err(StartError::of)??;
    if read_only {
        // In memory, as long as that can be changed.
        allow_root(&names, host).await?;
        names.refuse_changes("the file system of the data directory is read-only");
    }
    Ok(Arc::new(names))
}

/// Lets the root key do everything.
async fn allow_root(names: &dyn Names, host: &Host) -> Result<(), StartError> {
    let root = AccessKey {
        id: host.key.access.clone(),
        secret: host.key.secret.clone(),
        user: ROOT.to_owned(),
        rights: BTreeMap::from([(afterbay_blob_meta::ALL_BUCKETS.to_owned(), Rights::ALL.0)]),
        may_create_buckets: true,
        created_ms: now_ms(),
        display_name: ROOT.to_owned(),
    };
    // One that was replaced opens nothing any more.
    for old in names.access_keys().iter().filter(|key| key.user == ROOT && key.id != root.id) {
        let delete = Command::DeleteKey { id: old.id.clone() };
        names.apply(delete).await.map_err(StartError::of)?;
    }
    let same = |key: &AccessKey| key.secret == root.secret && key.rights == root.rights;
    if !names.access_key(&root.id).is_some_and(|key| same(&key)) {
        names.apply(Command::PutKey(root)).await.map_err(StartError::of)?;
    }
    Ok(())
}

/// The names that the native protocol sees: those of S3.
struct StoredNames {
    names: Arc<dyn Names>,
    router: Arc<Router>,
    reservations: Reservations,
}

impl std::fmt::Debug for StoredNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredNames").finish_non_exhaustive()
    }
}

impl StoredNames {
    async fn entry(&self, name: &Name) -> Result<ObjectEntry, Failure> {
        let entry = self.names.object(&name.bucket, &name.key).await.map_err(refused)?;
        entry.ok_or_else(|| no_such_name(name))
    }

    /// An error if the caller does not have the right, or there is no such bucket, which is kept from nobody.
    fn require(&self, by: &Caller, bucket: &str, rights: Rights) -> Result<(), Failure> {
        let missing = || refused(NamesError::NoSuchBucket { bucket: bucket.to_owned() });
        let found = self.names.bucket(bucket).ok_or_else(missing)?;
        if by.rights_in(bucket, &found.owner).allow(rights) {
            return Ok(());
        }
        Err(forbidden(format!("this key does not have the right to do that in '{bucket}'")))
    }

    /// An error if the caller's key was deleted, or lost a right, since its request began.
    fn require_still(&self, by: &Caller, bucket: &str, rights: Rights) -> Result<(), Failure> {
        let Some(key) = by.key() else { return Ok(()) };
        match self.names.access_key(&key.id) {
            Some(now) if now.secret == key.secret => {
                self.require(&Caller::user(now), bucket, rights)
            }
            _ => Err(Failure::new(Code::Unauthorized, "the key was deleted meanwhile")),
        }
    }

    async fn parts(&self, upload: &str) -> Result<Vec<(u16, Part)>, Failure> {
        let mut all: Vec<(u16, Part)> = Vec::new();
        loop {
            let after = all.last().map_or(0, |(number, _)| *number);
            let page = self.names.parts(upload, after, PAGE).await.map_err(refused)?;
            let last = page.len() < PAGE;
            all.extend(page);
            if last {
                return Ok(all);
            }
        }
    }

    /// The blobs of parts, one behind the other.
    fn read_parts(&self, parts: Vec<(u16, Part)>, range: std::ops::Range<u64>) -> BlobStream {
        let router = self.router.clone();
        let mut end = 0;
        let pieces = parts.into_iter().filter_map(move |(_, part)| {
            let begin = end;
            end += part.length;
            let (first, last) = (range.start.max(begin), range.end.min(end));
            let range = ByteRange::Inclusive(first - begin, last.checked_sub(begin + 1)?);
            (first < last).then_some((part, range))
        });
        stream::iter(pieces)
            .then(move |(part, range)| {
                let router = router.clone();
                async move {
                    let id = part.blob_id().map_err(|e| Error::Damaged {
                        place: "name index".to_owned(),
                        reason: e.to_string(),
                    })?;
                    Ok(router.get(id, Some(range)).await?.content)
                }
            })
            .flat_map(|opened: Result<BlobStream, Error>| match opened {
                Ok(content) => content,
                Err(error) => stream::iter([Err(error)]).boxed(),
            })
            .boxed()
    }
}

#[async_trait]
impl NamedBlobs for StoredNames {
    async fn put(
        &self,
        by: &Caller,
        name: &Name,
        content: SourceStream,
        options: PutOptions,
    ) -> Result<PutBlob, Failure> {
        if options.expires_ms.is_some() {
            return Err(Failure::new(Code::Unsupported, NAMES_DO_NOT_EXPIRE));
        }
        // Before content is stored that could not be named.
        self.names.writable().map_err(refused)?;
        let attributes = attributes(&options.properties)?;
        let bucket = buckets::get_or_make(&*self.names, by, &name.bucket).await?;
        self.require(by, &name.bucket, Rights::WRITE)?;
        // A bucket's class holds for who asks for less, too.
        let durability = options.durability.max(durability_of(&bucket));
        let properties = Properties::default();
        let options = PutOptions { durability, is_named: true, properties, ..options };
        let put = self.router.put(content, options).await.map_err(|e| Failure::from(&e))?;
        let reserved = self.reservations.watch(put.id);
        let entry = ObjectEntry {
            blob: blob_to_bytes(put.id).to_vec(),
            length: put.content_bytes,
            // Not an MD5, and does not look like one: S3's clients take what has a '-' as it is.
            etag: format!("{}-1", put.id.uuid.simple()),
            modified_ms: now_ms(),
            attributes: Some(attributes),
            owner: by.name().to_owned(),
            ..ObjectEntry::default()
        };
        self.require_still(by, &name.bucket, Rights::WRITE)?;
        let (bucket, key) = (name.bucket.clone(), name.key.clone());
        let condition = Condition::default();
        let command = Command::PutObject { bucket, key, entry, condition };
        self.names.apply(command).await.map_err(refused)?;
        reserved.named();
        Ok(put)
    }

    async fn blob(&self, by: &Caller, name: &Name) -> Result<Option<BlobId>, Failure> {
        self.require(by, &name.bucket, Rights::READ)?;
        match self.entry(name).await?.body().map_err(refused)? {
            Body::Blob(id) => Ok(Some(id)),
            Body::Parts(_) => Ok(None),
        }
    }

    async fn get(
        &self,
        by: &Caller,
        name: &Name,
        range: Option<ByteRange>,
    ) -> Result<GetBlob, Failure> {
        self.require(by, &name.bucket, Rights::READ)?;
        let entry = self.entry(name).await?;
        let info = info_of(&entry)?;
        match entry.body().map_err(refused)? {
            Body::Blob(id) => self.router.get(id, range).await.map_err(|e| Failure::from(&e)),
            Body::Parts(upload) => {
                let (id, length) = (info.id, entry.length);
                let range = match range {
                    None => 0..length,
                    Some(range) => range
                        .of(length)
                        .ok_or_else(|| Failure::from(&Error::Range { id, length }))?,
                };
                let content = self.read_parts(self.parts(&upload).await?, range.clone());
                Ok(GetBlob { info, range, content })
            }
        }
    }

    async fn stat(&self, by: &Caller, name: &Name) -> Result<BlobInfo, Failure> {
        self.require(by, &name.bucket, Rights::READ)?;
        info_of(&self.entry(name).await?)
    }

    async fn delete(&self, by: &Caller, name: &Name) -> Result<Option<BlobId>, Failure> {
        self.require(by, &name.bucket, Rights::WRITE)?;
        let delete = Command::DeleteObjects {
            bucket: name.bucket.clone(),
            keys: vec![(name.key.clone(), Condition::default())],
            now_ms: now_ms(),
        };
        let stood_for = match self.names.apply(delete).await.map_err(refused)? {
            Outcome::Each(each) => each.into_iter().next().transpose().map_err(refused)?.flatten(),
            _ => None,
        };
        match stood_for {
            Some(Body::Blob(id)) => Ok(Some(id)),
            Some(Body::Parts(_)) => Ok(None),
            None => Err(no_such_name(name)),
        }
    }

    async fn list(&self, by: &Caller, request: ListRequest) -> Result<Listing, Failure> {
        let max = usize::try_from(request.limit).unwrap_or(PAGE).clamp(1, PAGE);
        if request.bucket.is_empty() {
            let all = self.names.buckets();
            let readable =
                |name: &str, bucket: &Bucket| by.rights_in(name, &bucket.owner).allow(Rights::READ);
            let mut entries = all
                .into_iter()
                .filter(|(name, bucket)| *name > request.after && readable(name, bucket));
            let entry = |(key, bucket): (String, Arc<Bucket>)| Entry {
                key,
                content_bytes: 0,
                created_ms: bucket.created_ms,
                durability: durability_of(&bucket),
            };
            let page: Vec<_> = entries.by_ref().take(max).map(entry).collect();
            return Ok(Listing { entries: page, truncated: entries.next().is_some() });
        }
        self.require(by, &request.bucket, Rights::READ)?;
        let wanted = afterbay_blob_meta::ListRequest {
            prefix: request.prefix,
            after: request.after,
            max,
            ..Default::default()
        };
        let page = self.names.list_objects(&request.bucket, wanted).await.map_err(refused)?;
        let entry = |row: afterbay_blob_meta::Row<ObjectEntry>| Entry {
            key: row.key,
            content_bytes: row.value.length,
            created_ms: row.value.modified_ms,
            durability: None,
        };
        let entries = page.rows.into_iter().map(entry).collect();
        Ok(Listing { entries, truncated: page.truncated })
    }

    async fn set_bucket(&self, by: &Caller, settings: BucketSettings) -> Result<(), Failure> {
        buckets::check_class(settings.durability)?;
        buckets::get_or_make(&*self.names, by, &settings.bucket).await?;
        self.require(by, &settings.bucket, Rights::ADMIN)?;
        let change = change_of_durability(settings.durability);
        let set = Command::SetBucket { name: settings.bucket, change };
        self.names.apply(set).await.map(|_| ()).map_err(refused)
    }

    async fn delete_bucket(&self, by: &Caller, bucket: &str) -> Result<(), Failure> {
        self.require(by, bucket, Rights::ADMIN)?;
        buckets::delete(&*self.names, bucket).await
    }

    async fn report(&self) -> Result<NamesReport, Failure> {
        let Counts { buckets, objects, uploads, keys, reserved, garbage } =
            self.names.counts().await.map_err(refused)?;
        let refuses_changes = self.names.writable().err().map(|refusal| refusal.to_string());
        Ok(NamesReport { buckets, objects, uploads, keys, reserved, garbage, refuses_changes })
    }
}

#[async_trait]
impl UserKeys for StoredNames {
    fn key(&self, access: &str) -> Option<Arc<AccessKey>> {
        self.names.access_key(access)
    }

    async fn create_key(&self, key: NewKey) -> Result<CreatedKey, Failure> {
        user_keys::create(&*self.names, key).await
    }

    async fn delete_key(&self, access: &str) -> Result<(), Failure> {
        user_keys::delete(&*self.names, access).await
    }

    fn keys(&self) -> Vec<KeyEntry> {
        user_keys::list(&*self.names)
    }
}

/// As S3 keeps them.
fn attributes(properties: &Properties) -> Result<Attributes, Failure> {
    let mut attributes = Attributes::default();
    for (class, name, value) in properties.iter() {
        let value = String::from_utf8(value.to_vec()).map_err(|_| {
            Failure::new(Code::Invalid, format!("property '{name}' of a named blob is not UTF-8"))
        })?;
        let map = match class {
            PropertyClass::System => &mut attributes.headers,
            PropertyClass::User => &mut attributes.metadata,
        };
        map.insert(name.to_lowercase(), value);
    }
    Ok(attributes)
}

fn info_of(entry: &ObjectEntry) -> Result<BlobInfo, Failure> {
    let id = match entry.body().map_err(refused)? {
        Body::Blob(id) => id,
        // Several blobs: none has all of it.
        Body::Parts(_) => BlobId { partition: PartitionId(0), uuid: uuid::Uuid::nil() },
    };
    let Attributes { headers, metadata, .. } = entry.attributes();
    let mut properties = Properties::default();
    for (name, value) in headers.into_iter().filter(|(name, _)| name == CONTENT_TYPE) {
        properties = properties.with(PropertyClass::System, &name, value);
    }
    for (name, value) in metadata.into_iter().filter(|(name, _)| !name.is_empty()) {
        properties = properties.with(PropertyClass::User, &name, value);
    }
    Ok(BlobInfo {
        id,
        content_bytes: entry.length,
        created_ms: entry.modified_ms,
        expires_ms: None,
        container: 0,
        properties,
    })
}

fn no_such_name(name: &Name) -> Failure {
    Failure::new(Code::NoSuchName, format!("{name}: no such name"))
}

pub(crate) fn refused(error: NamesError) -> Failure {
    let code = match &error {
        NamesError::NoSuchBucket { .. } | NamesError::NoSuchKey { .. } => Code::NoSuchName,
        NamesError::Invalid { .. } | NamesError::PreconditionFailed { .. } => Code::Invalid,
        NamesError::Damaged { .. } => Code::Damaged,
        NamesError::OutOfSpace(_) => Code::OutOfSpace,
        NamesError::ReadOnly(_) => Code::ReadOnly,
        _ => Code::Unavailable,
    };
    Failure::new(code, error.to_string())
}
