//! The seam to names: blobs by bucket and key, which another crate keeps.

use std::fmt::Debug;

use afterbay_blob_proto::{Failure, ListRequest, Listing, Name};
use afterbay_blob_router::{
    BlobId, BlobInfo, ByteRange, GetBlob, PutBlob, PutOptions, SourceStream,
};
use async_trait::async_trait;

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
