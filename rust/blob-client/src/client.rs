//! The client.

use std::sync::Arc;

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_proto::{
    BucketSettings, CreatedKey, Frame, KeyEntry, ListRequest, Listing, NewKey, PutHead, Request,
    Response, Target, parse_keys,
};
use afterbay_blob_router::{BlobInfo, ByteRange, PutBlob, SourceStream};
use bytes::Bytes;

use crate::connection::answer_of;
use crate::content::Content;
use crate::error::{ClientError, Result};
use crate::options::ClientOptions;
use crate::pool::{Lease, Pool, within};
use crate::upload;

/// A client of one server. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Client(Arc<Pool>);

/// A blob that is being read.
#[derive(Debug)]
pub struct Got {
    /// What is known about all of it.
    pub info: BlobInfo,
    /// The first byte of `content` in the blob.
    pub begin: u64,
    /// The bytes.
    pub content: Content,
}

impl Client {
    /// A client. It connects when the first request is made.
    pub fn new(options: ClientOptions) -> Self {
        Client(Pool::new(options))
    }

    /// Stores content.
    pub async fn put(&self, head: PutHead, content: SourceStream) -> Result<PutBlob> {
        upload::put(self.0.lease().await?, head, content).await
    }

    /// Reads a blob, or a range of it.
    pub async fn get(&self, target: impl Into<Target>, range: Option<ByteRange>) -> Result<Got> {
        let request = Request::Get { target: target.into(), range };
        let (lease, frame, answer) = self.ask(&request).await?;
        match answer {
            Response::Found { info, begin, end } => {
                let content = Content::new(lease, frame.header.request, end - begin);
                Ok(Got { info, begin, content })
            }
            other => Err(ClientError::unexpected(&other)),
        }
    }

    /// What is known about a blob.
    pub async fn stat(&self, target: impl Into<Target>) -> Result<BlobInfo> {
        match self.ask_for_body(&Request::Stat(target.into())).await? {
            (Response::Found { info, .. }, _) => Ok(info),
            (other, _) => Err(ClientError::unexpected(&other)),
        }
    }

    /// Deletes a blob, or a name with its blob: which one. `None`: it was uploaded in parts, and is several.
    pub async fn delete(&self, target: impl Into<Target>) -> Result<Option<BlobId>> {
        match self.ask_for_body(&Request::Delete(target.into())).await? {
            (Response::Deleted(id), _) => Ok(id),
            (other, _) => Err(ClientError::unexpected(&other)),
        }
    }

    /// Takes back a delete.
    pub async fn undelete(&self, id: BlobId) -> Result<()> {
        self.ask_to_do(&Request::Undelete(id)).await
    }

    /// Lets a blob expire at another time, in milliseconds since 1970; `None` is never.
    pub async fn update_ttl(
        &self,
        target: impl Into<Target>,
        expires_ms: Option<u64>,
    ) -> Result<()> {
        self.ask_to_do(&Request::UpdateTtl { target: target.into(), expires_ms }).await
    }

    /// Whether the server answers.
    pub async fn ping(&self) -> Result<()> {
        self.ask_to_do(&Request::Ping).await
    }

    /// What the server has, as JSON.
    pub async fn status(&self) -> Result<Bytes> {
        self.ask_for_report(&Request::Status).await
    }

    /// Begins to verify everything that is stored, or one partition, so many bytes of each disk in a second, or tells about the scrub
    /// that runs: JSON. Only the root key may.
    pub async fn start_scrub(
        &self,
        bytes_per_s: u64,
        partition: Option<PartitionId>,
    ) -> Result<Bytes> {
        self.ask_for_report(&Request::ScrubStart { bytes_per_s, partition }).await
    }

    /// What the scrub that runs, or the last one, has found, as JSON. Only the root key may.
    pub async fn scrub_status(&self) -> Result<Bytes> {
        self.ask_for_report(&Request::ScrubStatus).await
    }

    /// Stops the scrub that runs. What it has found, as JSON. Only the root key may.
    pub async fn stop_scrub(&self) -> Result<Bytes> {
        self.ask_for_report(&Request::ScrubStop).await
    }

    /// Names.
    pub async fn list(&self, request: ListRequest) -> Result<Listing> {
        let (response, body) = self.ask_for_body(&Request::List(request)).await?;
        match response {
            Response::Listed => Ok(Listing::parse(&body)?),
            other => Err(ClientError::unexpected(&other)),
        }
    }

    /// Changes the settings of a bucket, which is made if there is none. Needs the right `admin`.
    pub async fn set_bucket(&self, settings: BucketSettings) -> Result<()> {
        self.ask_to_do(&Request::SetBucket(settings)).await
    }

    /// Deletes a bucket without objects. Needs the right `admin`.
    pub async fn delete_bucket(&self, bucket: impl Into<String>) -> Result<()> {
        self.ask_to_do(&Request::DeleteBucket(bucket.into())).await
    }

    /// Makes a key for a user. Only the root key may.
    pub async fn create_key(&self, key: NewKey) -> Result<CreatedKey> {
        match self.ask_for_body(&Request::CreateKey(key)).await? {
            (Response::KeyCreated(created), _) => Ok(created),
            (other, _) => Err(ClientError::unexpected(&other)),
        }
    }

    /// Deletes a key, by its name. Only the root key may.
    pub async fn delete_key(&self, access: impl Into<String>) -> Result<()> {
        self.ask_to_do(&Request::DeleteKey(access.into())).await
    }

    /// All keys of users. Only the root key may ask.
    pub async fn keys(&self) -> Result<Vec<KeyEntry>> {
        let (response, body) = self.ask_for_body(&Request::ListKeys).await?;
        match response {
            Response::Keys => Ok(parse_keys(&body)?),
            other => Err(ClientError::unexpected(&other)),
        }
    }

    /// Sends a request and reads the answer up to its body.
    async fn ask(&self, request: &Request) -> Result<(Lease, Frame, Response)> {
        let mut lease = self.0.lease().await?;
        let options = lease.options().clone();
        let (number, frame) = within(&options, async {
            let number = lease.connection().send(request).await?;
            Ok((number, lease.connection().frame().await?))
        })
        .await?;
        match answer_of(&frame, number) {
            Ok(answer) => Ok((lease, frame, answer)),
            Err(refused) => {
                // Refused, and the connection goes on.
                if refused.code().is_some() && frame.header.request == number {
                    lease.give_back();
                }
                Err(refused)
            }
        }
    }

    async fn ask_for_body(&self, request: &Request) -> Result<(Response, Bytes)> {
        let (mut lease, frame, answer) = self.ask(request).await?;
        let options = lease.options().clone();
        let count = frame.header.body_bytes as usize;
        let body = within(&options, lease.connection().body(count)).await?;
        lease.give_back();
        Ok((answer, body))
    }

    async fn ask_for_report(&self, request: &Request) -> Result<Bytes> {
        match self.ask_for_body(request).await? {
            (Response::Report, body) => Ok(body),
            (other, _) => Err(ClientError::unexpected(&other)),
        }
    }

    async fn ask_to_do(&self, request: &Request) -> Result<()> {
        match self.ask_for_body(request).await? {
            (Response::Done, _) => Ok(()),
            (other, _) => Err(ClientError::unexpected(&other)),
        }
    }
}
