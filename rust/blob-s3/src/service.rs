//! What the endpoint works on.

use std::sync::Arc;

use afterbay_blob_format::BlobId;
use afterbay_blob_meta::{AccessKey, Bucket, Names, Reservations, Reserved};
use afterbay_blob_router::{BlobService, PutOptions, SourceStream};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Request, S3Result, s3_error};

use crate::access::no_bucket;
use crate::documents::Documents;
use crate::durability::durability_of;
use crate::errors;
use crate::lifecycle;
use crate::options::S3Options;

/// What the endpoint works on. Cheap to clone.
#[derive(Clone)]
pub struct Backend {
    /// Buckets, keys, uploads.
    pub names: Arc<dyn Names>,
    /// Bodies: a router over a [`crate::ReservingStore`] with the same `reservations`.
    pub blobs: Arc<dyn BlobService>,
    /// Ids that are reserved in `names`.
    pub reservations: Reservations,
}

/// The endpoint's state.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) backend: Backend,
    pub(crate) options: Arc<S3Options>,
    pub(crate) lifecycles: Arc<Documents<lifecycle::Rules>>,
}

impl Service {
    pub(crate) fn new(backend: Backend, options: Arc<S3Options>) -> Self {
        Service { backend, options, lifecycles: Arc::new(lifecycle::documents()) }
    }

    pub(crate) fn names(&self) -> &dyn Names {
        &*self.backend.names
    }

    /// Whose key signed the request. The rights have been checked before.
    pub(crate) fn caller<T>(&self, request: &S3Request<T>) -> S3Result<Arc<AccessKey>> {
        let Some(credentials) = &request.credentials else {
            // Let through by a public ACL.
            let user = "anonymous".to_owned();
            return Ok(Arc::new(AccessKey { user, ..AccessKey::default() }));
        };
        let key = self.names().access_key(&credentials.access_key);
        key.ok_or_else(|| s3_error!(AccessDenied, "the key has been deleted"))
    }

    pub(crate) fn bucket(&self, name: &str) -> S3Result<Arc<Bucket>> {
        self.names().bucket(name).ok_or_else(|| no_bucket(name))
    }

    /// Stores a body. What is returned has to be named, or becomes garbage.
    pub(crate) async fn store(
        &self,
        bucket: &Bucket,
        body: SourceStream,
        length: Option<u64>,
    ) -> S3Result<(Reserved, u64)> {
        // Before a body is stored that could not be named.
        self.names().writable().map_err(errors::names)?;
        let options = PutOptions {
            durability: durability_of(bucket),
            is_named: true,
            content_bytes: length,
            content_bytes_max: Some(self.options.put_bytes_max),
            ..PutOptions::default()
        };
        let put = self.backend.blobs.put(body, options).await.map_err(errors::blobs)?;
        Ok((self.watch(put.id), put.content_bytes))
    }

    fn watch(&self, id: BlobId) -> Reserved {
        self.backend.reservations.watch(id)
    }
}

/// Looks up secrets for signatures.
pub(crate) struct Secrets(pub(crate) Arc<dyn Names>);

#[async_trait::async_trait]
impl S3Auth for Secrets {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        match self.0.access_key(access_key) {
            Some(key) => Ok(SecretKey::from(key.secret.as_str())),
            None => Err(s3_error!(InvalidAccessKeyId, "there is no such access key")),
        }
    }
}
