//! The seams to what other crates put in front of the same disks: names, and endpoints of other protocols.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use afterbay_blob_meta::AccessKey as UserKey;
use afterbay_blob_proto::{
    BucketSettings, CreatedKey, Failure, KeyEntry, ListRequest, Listing, Name, NewKey,
};
use afterbay_blob_router::{
    BlobId, BlobInfo, ByteRange, GetBlob, PutBlob, PutOptions, Router, SourceStream,
};
use async_trait::async_trait;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::caller::Caller;
use crate::keys::AccessKey;
use crate::report::NamesReport;
use crate::sockets::{Endpoint, Sockets};
use crate::tls::Certificates;

/// Blobs by name. A name never stands for a blob that is not there: content is stored first, then the name is given.
#[async_trait]
pub trait NamedBlobs: Send + Sync + Debug {
    /// Stores content and gives it the name, which it takes from what had it.
    async fn put(
        &self,
        by: &Caller,
        name: &Name,
        content: SourceStream,
        options: PutOptions,
    ) -> Result<PutBlob, Failure>;

    /// The blob that has the name, if its content is one blob: it is sent without another copy then.
    async fn blob(&self, by: &Caller, name: &Name) -> Result<Option<BlobId>, Failure>;

    /// The content that has the name, or a range of it.
    async fn get(
        &self,
        by: &Caller,
        name: &Name,
        range: Option<ByteRange>,
    ) -> Result<GetBlob, Failure>;

    /// What is known about it.
    async fn stat(&self, by: &Caller, name: &Name) -> Result<BlobInfo, Failure>;

    /// Takes the name away, and deletes what it stood for: which blob. `None`: those of an upload in parts.
    async fn delete(&self, by: &Caller, name: &Name) -> Result<Option<BlobId>, Failure>;

    /// Names in a bucket, or buckets.
    async fn list(&self, by: &Caller, request: ListRequest) -> Result<Listing, Failure>;

    /// Changes the settings of a bucket, which is made if there is none.
    async fn set_bucket(&self, by: &Caller, settings: BucketSettings) -> Result<(), Failure>;

    /// Deletes a bucket without objects.
    async fn delete_bucket(&self, by: &Caller, bucket: &str) -> Result<(), Failure>;

    /// How much there is, and whether it can be changed.
    async fn report(&self) -> Result<NamesReport, Failure>;
}

/// Keys of users, who have rights to names.
#[async_trait]
pub trait UserKeys: Send + Sync + Debug {
    /// A user's key, if it is there. Cheap.
    fn key(&self, access: &str) -> Option<Arc<UserKey>>;

    /// Makes a key for a user. It can be used when this returns.
    async fn create_key(&self, key: NewKey) -> Result<CreatedKey, Failure>;

    /// Deletes a key. It opens nothing any more when this returns.
    async fn delete_key(&self, access: &str) -> Result<(), Failure>;

    /// All keys of users.
    fn keys(&self) -> Vec<KeyEntry>;
}

/// What a frontend is started with.
#[derive(Debug, Clone)]
pub struct Host {
    /// Blobs by their ids, on the disks of this machine. [`Router::store`] is the datanode, over which
    /// [`Router::over`] makes routers that do more.
    pub router: Router,
    /// The first data directory: what a frontend must keep is in a folder of its own there.
    pub data: PathBuf,
    /// Nothing can be written there: what is stored is served.
    pub read_only: bool,
    /// The root key, which may do everything.
    pub key: AccessKey,
    /// Certificates for TLS; `None`: plaintext.
    pub tls: Option<Certificates>,
    /// Addresses that were taken: those of [`Frontend::addresses`].
    pub sockets: Arc<Sockets>,
    /// Becomes true when the server stops. The frontend's tasks end then.
    pub stopping: watch::Receiver<bool>,
}

/// A frontend that runs.
#[derive(Debug, Default)]
pub struct Started {
    /// Blobs by name, for the native protocol.
    pub names: Option<Arc<dyn NamedBlobs>>,
    /// Who may ask besides the root key.
    pub keys: Option<Arc<dyn UserKeys>>,
    /// Blobs by their ids, for the native protocol, in the place of [`Host::router`]: one that leaves nothing behind after a
    /// crash.
    pub router: Option<Router>,
    /// What it serves, and where: for people.
    pub endpoints: Vec<(String, String)>,
    /// They end when the server stops; the disks are shut down after that.
    pub tasks: Vec<JoinHandle<()>>,
}

/// Something in front of the same disks, in the same process.
#[async_trait]
pub trait Frontend: Send + Sync + Debug {
    /// Where it will listen. These addresses are taken before anything is made on a disk.
    fn addresses(&self) -> Vec<Endpoint> {
        Vec::new()
    }

    /// Starts it. An error ends the server before it has begun.
    async fn start(&self, host: &Host) -> Result<Started, crate::StartError>;
}
