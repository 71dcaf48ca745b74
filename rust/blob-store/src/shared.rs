//! What readers see of a partition.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use afterbay_blob_format::{IndexEntry, PartitionId};
use uuid::Uuid;

use crate::blob_state::BlobState;
use crate::directory::Wait;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::log_file::LogFile;
use crate::sealed::SealedSegment;

/// The segments at one moment, in the order of the log.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) sealed: Vec<Arc<SealedSegment>>,
    pub(crate) active: Arc<LogFile>,
}

/// What changes with each group of writes. The lock is held for copies in memory only, never for I/O.
#[derive(Debug)]
pub(crate) struct Visible {
    pub(crate) view: Arc<View>,
    /// The index of the active segment.
    pub(crate) recent: BTreeMap<(Uuid, u32), IndexEntry>,
    pub(crate) journal: Journal,
    /// All records before this one are synced.
    pub(crate) synced_sequence: u64,
    pub(crate) used_bytes: u64,
    pub(crate) read_only: bool,
    /// Logs that no manifest names any more, to be deleted when nobody reads them.
    pub(crate) retired: Vec<Arc<LogFile>>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) partition: PartitionId,
    visible: RwLock<Visible>,
    failure: OnceLock<Arc<Error>>,
}

impl Shared {
    pub(crate) fn new(partition: PartitionId, visible: Visible) -> Self {
        Shared { partition, visible: RwLock::new(visible), failure: OnceLock::new() }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Visible> {
        self.visible.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Visible> {
        self.visible.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the records of a blob say, with `unpublished` ones of the active segment that readers do not see yet.
    pub(crate) fn find(
        &self,
        uuid: Uuid,
        unpublished: &[IndexEntry],
        wait: Wait,
    ) -> Result<BlobState> {
        let (recent, view) = {
            let visible = self.read();
            let range = visible.recent.range((uuid, 0)..=(uuid, u32::MAX));
            let recent: Vec<_> = range.map(|(_, entry)| *entry).collect();
            (recent, visible.view.clone())
        };
        let mut state = BlobState::default();
        let unpublished = unpublished.iter().filter(|entry| entry.uuid == uuid);
        for entry in unpublished.rev().chain(recent.iter().rev()) {
            if !state.add(*entry, &view.active) {
                return Ok(state);
            }
        }
        for segment in view.sealed.iter().rev() {
            for entry in segment.index.find(uuid, wait)?.into_iter().rev() {
                if !state.add(entry, &segment.log) {
                    return Ok(state);
                }
            }
        }
        Ok(state)
    }

    /// Refuses all writes from now on; what to answer.
    pub(crate) fn fail(&self, cause: Error) -> Error {
        tracing::error!(partition = %self.partition, %cause, "takes no writes any more");
        let cause = self.failure.get_or_init(|| Arc::new(cause)).clone();
        Error::Failed { partition: self.partition, cause }
    }

    /// An error if a write failed before.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(cause) => Err(Error::Failed { partition: self.partition, cause: cause.clone() }),
        }
    }
}
