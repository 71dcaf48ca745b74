//! Puts: the stream is gathered to chunks; one chunk is a blob, several ones get a metadata blob.

use afterbay_blob_format::{
    BlobId, COMPOSITE_PROPERTY, ChunkList, Crc32c, Properties, PropertyClass,
};
use afterbay_blob_store::{Durability, Policy, Put};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::sync::OwnedSemaphorePermit;

use crate::composite::{is_reserved, names};
use crate::error::{Error, Result};
use crate::options::record_bytes;
use crate::router::Router;
use crate::service::{PutBlob, PutOptions, SourceStream};
use crate::store::ChunkStore;
use crate::upload::Upload;

/// How many partitions are tried.
const ATTEMPTS: usize = 4;

pub(crate) async fn put(
    router: &Router,
    content: SourceStream,
    options: PutOptions,
) -> Result<PutBlob> {
    check(&options)?;
    let mut chunks = Chunks::new(router, content, &options)?;
    let first = chunks.next().await?.unwrap_or_default();
    // Whether there is more is known without memory for it: who holds some and waits for more could wait for ever.
    if chunks.fill_rest().await? {
        put_many(router, first, chunks, &options).await
    } else {
        put_one(router, first, &options, chunks.crc32c.value()).await
    }
}

fn check(options: &PutOptions) -> Result<()> {
    if let Some((_, name, _)) =
        options.properties.iter().find(|(class, name, _)| is_reserved(*class, name))
    {
        let reason = format!("property {name}: names of system properties must not begin with '.'");
        return Err(Error::Invalid(reason));
    }
    match options.properties.encode() {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::Invalid(error.to_string())),
    }
}

async fn put_one(
    router: &Router,
    chunk: Gathered,
    options: &PutOptions,
    crc32c: u32,
) -> Result<PutBlob> {
    let content_bytes = chunk.bytes.len() as u64;
    let record = Record::of(router, options);
    let (properties, retries) = (options.properties.clone(), Error::is_elsewhere);
    let id = record.put(&*router.store, chunk.bytes, properties, retries).await?;
    Ok(PutBlob { id, content_bytes, crc32c })
}

async fn put_many(
    router: &Router,
    first: Gathered,
    mut chunks: Chunks<'_>,
    options: &PutOptions,
) -> Result<PutBlob> {
    let mut upload = Upload::new(router.long_store.clone(), Record::of(router, options));
    upload.add(first, router.options.put_window).await?;
    while let Some(chunk) = chunks.next().await? {
        upload.add(chunk, router.options.put_window).await?;
    }
    upload.finish_chunks().await?;
    let list = upload.list();
    let id = put_metadata(router, &list, options).await?;
    upload.keep();
    Ok(PutBlob { id, content_bytes: list.content_bytes(), crc32c: chunks.crc32c.value() })
}

/// Never written twice, unless the first one certainly is not there: two lists of the same chunks would be garbage one by one,
/// and the first one's collection would delete the chunks of the other.
async fn put_metadata(router: &Router, list: &ChunkList, options: &PutOptions) -> Result<BlobId> {
    let body = list.encode().map_err(|e| Error::Invalid(e.to_string()))?;
    let length = Bytes::copy_from_slice(&list.content_bytes().to_be_bytes());
    let properties =
        options.properties.clone().with(PropertyClass::System, COMPOSITE_PROPERTY, length);
    let record = Record::of(router, options);
    record.put(&*router.long_store, body.into(), properties, Error::is_refusal).await
}

/// How the records of a blob are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) durability: Durability,
    acks: Option<Policy>,
    container: u32,
    expires_ms: u64,
}

impl Record {
    fn of(router: &Router, options: &PutOptions) -> Self {
        let least = if options.is_named { Durability::Durable } else { Durability::Fast };
        let asked = router.options.durability_of(options.container, options.durability);
        Record {
            durability: asked.max(least),
            acks: options.acks,
            container: options.container,
            expires_ms: options.expires_ms.unwrap_or(0),
        }
    }

    /// Stores a record in one of the partitions that take it. After an error for which `retries` says so, another one is
    /// tried, under another id.
    pub(crate) async fn put(
        self,
        store: &dyn ChunkStore,
        body: Bytes,
        properties: Properties,
        retries: fn(&Error) -> bool,
    ) -> Result<BlobId> {
        let mut but = Vec::new();
        let mut refused = None;
        for _ in 0..ATTEMPTS {
            let id = match store.place(record_bytes(body.len()), &but).await {
                Ok(id) => id,
                // What the partitions that were tried said tells more.
                Err(error) => return Err(refused.unwrap_or(error)),
            };
            let put = Put {
                id,
                properties: properties.clone(),
                body: body.clone(),
                expires_ms: self.expires_ms,
                container: self.container,
                fresh: true,
            };
            match store.put_acked(put, self.durability, self.acks).await {
                Ok(()) => return Ok(id),
                Err(error) if retries(&error) => {
                    tracing::info!(partition = %id.partition, %error, "put into another partition");
                    if !matches!(error, Error::Collision(_)) {
                        but.push(id.partition);
                    }
                    refused = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(refused.unwrap_or_else(|| Error::Unavailable {
            place: format!("partitions {}", names(&but)),
            reason: "none of them takes the blob; try again".to_owned(),
        }))
    }
}

/// A chunk with the memory that it takes.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) bytes: Bytes,
    pub(crate) memory: Option<OwnedSemaphorePermit>,
}

/// Cuts the stream.
struct Chunks<'a> {
    router: &'a Router,
    content: SourceStream,
    /// Came, and belongs to the next chunk.
    rest: Bytes,
    ended: bool,
    found: u64,
    expected: Option<u64>,
    most: u64,
    crc32c: Crc32c,
}

impl<'a> Chunks<'a> {
    fn new(router: &'a Router, content: SourceStream, options: &PutOptions) -> Result<Self> {
        let possible = router.options.content_bytes_max();
        let most = options.content_bytes_max.unwrap_or(possible).min(possible);
        if options.content_bytes.is_some_and(|announced| announced > most) {
            return Err(Error::TooLarge { length_max: most });
        }
        Ok(Chunks {
            router,
            content,
            rest: Bytes::new(),
            ended: false,
            found: 0,
            expected: options.content_bytes,
            most,
            crc32c: Crc32c::new(),
        })
    }

    /// The next chunk, not empty; `None` at the end.
    async fn next(&mut self) -> Result<Option<Gathered>> {
        if !self.fill_rest().await? {
            return Ok(None);
        }
        let chunk_bytes = self.router.options.chunk_bytes as usize;
        let taken_before = self.found - self.rest.len() as u64;
        let still = self.expected.map_or(u64::MAX, |all| all.saturating_sub(taken_before));
        let room = still.max(self.rest.len() as u64).min(chunk_bytes as u64);
        let memory = Some(self.router.memory(room).await?);
        let bytes = self.gather(room as usize).await?;
        self.crc32c.update(&bytes);
        Ok(Some(Gathered { bytes, memory }))
    }

    async fn gather(&mut self, room: usize) -> Result<Bytes> {
        // What came in one piece need not be copied.
        if self.rest.len() >= room {
            return Ok(self.rest.split_to(room));
        }
        let mut chunk = BytesMut::with_capacity(if self.expected.is_some() { room } else { 0 });
        while chunk.len() < room && self.fill_rest().await? {
            let count = self.rest.len().min(room - chunk.len());
            chunk.extend_from_slice(&self.rest.split_to(count));
        }
        Ok(chunk.freeze())
    }

    /// Waits for bytes; false at the end.
    async fn fill_rest(&mut self) -> Result<bool> {
        while self.rest.is_empty() && !self.ended {
            match self.content.next().await {
                Some(piece) => {
                    self.rest = piece?;
                    self.count(self.rest.len() as u64)?;
                }
                None => self.end()?,
            }
        }
        Ok(!self.rest.is_empty())
    }

    fn count(&mut self, bytes: u64) -> Result<()> {
        self.found += bytes;
        match self.expected {
            Some(expected) if self.found > expected => {
                Err(Error::Length { expected, found: self.found })
            }
            _ if self.found > self.most => Err(Error::TooLarge { length_max: self.most }),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> Result<()> {
        self.ended = true;
        match self.expected {
            Some(expected) if self.found != expected => {
                Err(Error::Length { expected, found: self.found })
            }
            _ => Ok(()),
        }
    }
}
