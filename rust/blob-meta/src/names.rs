//! The interface.

use std::sync::Arc;

use async_trait::async_trait;

use crate::command::{Command, Outcome};
use crate::error::Result;
use crate::listing::{ListRequest, Page};
use crate::model::{AccessKey, Bucket, Garbage, ObjectEntry, Part, Upload};

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Buckets.
    pub buckets: u64,
    /// Objects.
    pub objects: u64,
    /// Uploads that are neither complete nor aborted.
    pub uploads: u64,
    /// Keys.
    pub keys: u64,
    /// Blobs that are reserved and not named.
    pub reserved: u64,
    /// Pieces of garbage that wait: blobs, and uploads as a whole.
    pub garbage: u64,
}

/// The names of blobs, and all that a frontend must know durably besides blobs.
///
/// Whatever [`Names::apply`] has answered is durable and is seen by every later read (a replicated form: on every
/// frontend that asks the leader). Reads never wait for writes. All methods may be called from any task; none does
/// disk work on the caller's thread.
#[async_trait]
pub trait Names: Send + Sync + 'static {
    /// Makes a change, and answers once it is durable.
    async fn apply(&self, command: Command) -> Result<Outcome>;

    /// An error if no change can be made at the moment: the disk is full, or read-only. Cheap.
    fn writable(&self) -> Result<()>;

    /// How much there is. Cheap.
    async fn counts(&self) -> Result<Counts>;

    /// A bucket, if it is there. Cheap: from memory.
    fn bucket(&self, name: &str) -> Option<Arc<Bucket>>;

    /// All buckets in the order of their names. Cheap: from memory.
    fn buckets(&self) -> Vec<(String, Arc<Bucket>)>;

    /// A key, if it is there. Cheap: from memory.
    fn access_key(&self, id: &str) -> Option<Arc<AccessKey>>;

    /// All keys in the order of their ids. Cheap: from memory.
    fn access_keys(&self) -> Vec<Arc<AccessKey>>;

    /// What a name stands for; an error if there is no such bucket.
    async fn object(&self, bucket: &str, key: &str) -> Result<Option<ObjectEntry>>;

    /// A page of a bucket's objects.
    async fn list_objects(&self, bucket: &str, request: ListRequest) -> Result<Page<ObjectEntry>>;

    /// An upload that is neither complete nor aborted.
    async fn upload(&self, bucket: &str, key: &str, upload: &str) -> Result<Option<Upload>>;

    /// A page of a bucket's uploads.
    async fn list_uploads(&self, bucket: &str, request: ListRequest) -> Result<Page<Upload>>;

    /// The parts of an upload, or of an object that was uploaded in parts, whose numbers are above `after`, at most
    /// `max`, in the order of their numbers.
    async fn parts(&self, upload: &str, after: u16, max: usize) -> Result<Vec<(u16, Part)>>;

    /// What is to be deleted: at most `max` pieces from the number `from` on that were queued before `before_ms`.
    /// Behind some ten thousand that were queued later, none is found.
    async fn garbage(&self, from: u64, before_ms: u64, max: usize) -> Result<Vec<(u64, Garbage)>>;
}
