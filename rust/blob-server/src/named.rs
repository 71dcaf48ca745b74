//! The seams to what other crates put in front of the same disks: names, and endpoints of other protocols.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use afterbay_blob_proto::{Failure, ListRequest, Listing, Name};
use afterbay_blob_router::{
    BlobId, BlobInfo, ByteRange, GetBlob, PutBlob, PutOptions, Router, SourceStream,
};
use async_trait::async_trait;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::keys::AccessKey;

/// Blobs by name. A name never stands for a blob that is not there: content is stored first, then the name is given.
#[async_trait]
pub trait NamedBlobs: Send + Sync + Debug {
    /// Stores content and gives it the name, which it takes from what had it.
    async fn put(
        &self,
        name: &Name,
        content: SourceStream,
        options: PutOptions,
    ) -> Result<PutBlob, Failure>;

    /// The blob that has the name, if its content is one blob: it is sent without another copy then.
    async fn blob(&self, name: &Name) -> Result<Option<BlobId>, Failure>;

    /// The content that has the name, or a range of it.
    async fn get(&self, name: &Name, range: Option<ByteRange>) -> Result<GetBlob, Failure>;

    /// What is known about it.
    async fn stat(&self, name: &Name) -> Result<BlobInfo, Failure>;

    /// Takes the name away, and deletes what it stood for.
    async fn delete(&self, name: &Name) -> Result<(), Failure>;

    /// Names in a bucket, or buckets.
    async fn list(&self, request: ListRequest) -> Result<Listing, Failure>;
}

/// What a frontend is started with.
#[derive(Debug, Clone)]
pub struct Host {
    /// Blobs by their ids, on the disks of this machine. [`Router::store`] is the datanode, over which
    /// [`Router::over`] makes routers that do more.
    pub router: Router,
    /// The first data directory: what a frontend must keep is in a folder of its own there.
    pub data: PathBuf,
    /// The root key, which may do everything.
    pub key: AccessKey,
    /// Becomes true when the server stops. The frontend's tasks end then.
    pub stopping: watch::Receiver<bool>,
}

/// A frontend that runs.
#[derive(Debug, Default)]
pub struct Started {
    /// Blobs by name, for the native protocol.
    pub names: Option<Arc<dyn NamedBlobs>>,
    /// What it serves, and where: for people.
    pub endpoints: Vec<(String, String)>,
    /// They end when the server stops; the disks are shut down after that.
    pub tasks: Vec<JoinHandle<()>>,
}

/// Something in front of the same disks, in the same process.
#[async_trait]
pub trait Frontend: Send + Sync + Debug {
    /// Starts it. An error ends the server before it has begun.
    async fn start(&self, host: &Host) -> Result<Started, crate::StartError>;
}
