//! What readers see of a partition.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use afterbay_blob_format::{IndexEntry, PartitionId};
use rustix::io::Errno;
use uuid::Uuid;

use crate::blob_state::{BlobState, Place};
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
    /// Where the records of the active segment end that readers see.
    pub(crate) tail: u32,
    pub(crate) used_bytes: u64,
    pub(crate) read_only: bool,
    /// Logs that no manifest names any more, to be deleted when nobody reads them.
    pub(crate) retired: Vec<Arc<LogFile>>,
}

impl View {
    /// Where records are that could not be read and that no index has, if there are any.
    pub(crate) fn unknown(&self) -> Option<(&LogFile, u64)> {
        let logs = self.sealed.iter().map(|segment| &segment.log).chain([&self.active]);
        logs.filter_map(|log| Some((&**log, log.unknown()?.0))).next()
    }

    /// The first sealed segment behind all that have such records. They may say that what lies before them is needed.
    pub(crate) fn first_behind_unknown(&self) -> usize {
        if self.active.unknown().is_some() {
            return self.sealed.len();
        }
        let is_unknown = |segment: &Arc<SealedSegment>| segment.log.unknown().is_some();
        self.sealed.iter().rposition(is_unknown).map_or(0, |at| at + 1)
    }

    /// Whether a record comes after all such records.
    fn is_behind_unknown(&self, place: &Place) -> bool {
        let (log, offset) = (&place.log, u64::from(place.entry.offset));
        if Arc::ptr_eq(log, &self.active) {
            return log.unknown().is_none_or(|(_, to)| offset >= to);
        }
        let behind = &self.sealed[self.first_behind_unknown()..];
        behind.iter().any(|segment| Arc::ptr_eq(log, &segment.log))
    }
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
        self.find_by(uuid, unpublished, |segment| segment.index.find(uuid, wait))
    }

    /// The same with what `look_up` finds in sealed segments.
    pub(crate) fn find_by(
        &self,
        uuid: Uuid,
        unpublished: &[IndexEntry],
        mut look_up: impl FnMut(&Arc<SealedSegment>) -> Result<Vec<IndexEntry>>,
    ) -> Result<BlobState> {
        let mut state = BlobState::default();
        let Some(view) = self.find_in_active(uuid, unpublished, &mut state) else {
            return Ok(state);
        };
        for segment in view.sealed.iter().rev() {
            for entry in look_up(segment)?.into_iter().rev() {
                if !state.add(entry, &segment.log) {
                    return Ok(state);
                }
            }
        }
        Ok(state)
    }

    /// The same in the active segment alone. The segments in which older records may be, if any are needed.
    pub(crate) fn find_in_active(
        &self,
        uuid: Uuid,
        unpublished: &[IndexEntry],
        state: &mut BlobState,
    ) -> Option<Arc<View>> {
        let (recent, view) = {
            let visible = self.read();
            let range = visible.recent.range((uuid, 0)..=(uuid, u32::MAX));
            let recent: Vec<_> = range.map(|(_, entry)| *entry).collect();
            (recent, visible.view.clone())
        };
        let unpublished = unpublished.iter().filter(|entry| entry.uuid == uuid);
        for entry in unpublished.rev().chain(recent.iter().rev()) {
            if !state.add(*entry, &view.active) {
                return None;
            }
        }
        Some(view)
    }

    /// An error if nothing was found of a blob, and it may be among records that could not be read.
    pub(crate) fn check_known(&self, state: &BlobState) -> Result<()> {
        if state.put.is_some() || state.is_deleted() {
            return Ok(());
        }
        let view = self.read().view.clone();
        match view.unknown() {
            None => Ok(()),
            Some((log, offset)) => Err(Error::read(&log.name, offset, Errno::IO.into())),
        }
    }

    /// The same also if it was put before such records: they may say that it is deleted or undeleted, in another life than
    /// is known.
    pub(crate) fn check_all_known(&self, state: &BlobState) -> Result<()> {
        let view = self.read().view.clone();
        match (view.unknown(), &state.put) {
            (None, _) => Ok(()),
            (Some(_), Some(put)) if !put.entry.follows && view.is_behind_unknown(put) => Ok(()),
            (Some((log, offset)), _) => Err(Error::read(&log.name, offset, Errno::IO.into())),
        }
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
