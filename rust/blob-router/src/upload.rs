//! The chunks of one put: a window of them is on its way at once, and all go if the put does not end well.

use std::collections::VecDeque;
use std::sync::Arc;

use afterbay_blob_format::{
    BlobId, CHUNK_PROPERTY, ChunkList, ChunkRef, MAX_CHUNKS, Properties, PropertyClass,
};
use bytes::Bytes;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::put::{Gathered, Record};
use crate::store::ChunkStore;

/// Chunks on their way run as tasks of their own: when the put is dropped they end, and are deleted then. A request that
/// is dropped halfway could happen after its delete.
#[derive(Debug)]
pub(crate) struct Upload {
    store: Arc<dyn ChunkStore>,
    record: Record,
    identity: Uuid,
    stored: Vec<ChunkRef>,
    running: VecDeque<JoinHandle<Result<ChunkRef>>>,
}

impl Upload {
    pub(crate) fn new(store: Arc<dyn ChunkStore>, record: Record) -> Self {
        let (stored, running) = (Vec::new(), VecDeque::new());
        Upload { store, record, identity: Uuid::new_v4(), stored, running }
    }

    /// Begins to store a chunk, when fewer than `window` are on their way.
    pub(crate) async fn add(&mut self, chunk: Gathered, window: usize) -> Result<()> {
        while self.running.len() >= window {
            self.finish_oldest().await?;
        }
        if self.stored.len() + self.running.len() >= MAX_CHUNKS {
            let length_max = self.stored.iter().map(|chunk| u64::from(chunk.length)).sum();
            return Err(Error::TooLarge { length_max });
        }
        let (store, record) = (self.store.clone(), self.record);
        let upload = Bytes::copy_from_slice(self.identity.as_bytes());
        let properties = Properties::default().with(PropertyClass::System, CHUNK_PROPERTY, upload);
        self.running.push_back(tokio::spawn(async move {
            // A chunk is no longer than 64 MiB.
            let length = chunk.bytes.len() as u32;
            let id = record.put(&*store, chunk.bytes, properties, Error::is_elsewhere).await?;
            drop(chunk.memory);
            Ok(ChunkRef { id, length })
        }));
        Ok(())
    }

    /// Waits for all chunks.
    pub(crate) async fn finish_chunks(&mut self) -> Result<()> {
        while !self.running.is_empty() {
            self.finish_oldest().await?;
        }
        Ok(())
    }

    async fn finish_oldest(&mut self) -> Result<()> {
        let Some(oldest) = self.running.front_mut() else {
            return Ok(());
        };
        // Taken out only when it has ended: this future may be dropped while it waits.
        let ended = joined(oldest.await);
        self.running.pop_front();
        self.stored.push(ended?);
        Ok(())
    }

    pub(crate) fn list(&self) -> ChunkList {
        ChunkList { upload: self.identity, chunks: self.stored.clone() }
    }

    /// The metadata blob names the chunks: they stay.
    pub(crate) fn keep(mut self) {
        self.stored.clear();
        self.running.clear();
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let stored = std::mem::take(&mut self.stored);
        let running = std::mem::take(&mut self.running);
        if stored.is_empty() && running.is_empty() {
            return;
        }
        let (store, record) = (self.store.clone(), self.record);
        // Without a runtime the process is at its end, as after a crash.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for chunk in stored {
                    delete(&*store, chunk.id, record).await;
                }
                for running in running {
                    if let Ok(chunk) = joined(running.await) {
                        delete(&*store, chunk.id, record).await;
                    }
                }
            });
        }
    }
}

async fn delete(store: &dyn ChunkStore, id: BlobId, record: Record) {
    if let Err(error) = store.delete(id, record.durability).await {
        tracing::warn!(%id, %error, "a chunk of a put that failed stays");
    }
}

fn joined<T>(ended: std::result::Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    ended.unwrap_or_else(|error| {
        let reason = format!("the put of a chunk ended by itself: {error}; try again");
        Err(Error::Unavailable { place: "router".to_owned(), reason })
    })
}
