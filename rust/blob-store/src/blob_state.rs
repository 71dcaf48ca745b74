//! What the records of a blob say together.
//!
//! Each record is merged by maxima (of lives, of times), so that replicas which have the same records in another order
//! agree. The log has one rule of order: a blob's put comes before its other records, so a search from the newest
//! record backwards may end at the put.

use std::sync::Arc;

use afterbay_blob_format::{IndexEntry, RecordKind};

use crate::log_file::LogFile;

/// Where a record is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) log: Arc<LogFile>,
    pub(crate) entry: IndexEntry,
}

/// What is known of a blob.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlobState {
    pub(crate) put: Option<Place>,
    /// The life that it was last deleted in, and when.
    deleted: Option<(u32, u64)>,
    /// The life that it was last put or undeleted to.
    alive: Option<u32>,
    /// When its expiry was last changed, and to what; never is the greatest.
    expiry: Option<(u64, u64)>,
}

/// Whether a blob can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// There is no record of it, or none that says it is here.
    Unknown,
    Alive,
    Deleted,
    Expired,
}

impl BlobState {
    /// Adds a record that is older than those added before. False if no older one is needed.
    pub(crate) fn add(&mut self, entry: IndexEntry, log: &Arc<LogFile>) -> bool {
        match entry.kind {
            RecordKind::Put => {
                self.alive = self.alive.max(Some(entry.life));
                self.set_expiry(0, entry.expires_ms);
                self.put = Some(Place { log: log.clone(), entry });
                return false;
            }
            RecordKind::Delete => {
                self.deleted = self.deleted.max(Some((entry.life, entry.time_ms)));
            }
            RecordKind::Undelete => self.alive = self.alive.max(Some(entry.life)),
            RecordKind::TtlUpdate => self.set_expiry(entry.time_ms.max(1), entry.expires_ms),
        }
        true
    }

    fn set_expiry(&mut self, time_ms: u64, expires_ms: u64) {
        let expires_ms = if expires_ms == 0 { u64::MAX } else { expires_ms };
        self.expiry = self.expiry.max(Some((time_ms, expires_ms)));
    }

    /// The life that a record of now belongs to.
    pub(crate) fn life(&self) -> u32 {
        self.alive.unwrap_or(0).max(self.deleted.map_or(0, |(life, _)| life))
    }

    pub(crate) fn is_deleted(&self) -> bool {
        self.deleted.is_some_and(|(life, _)| self.alive.is_none_or(|alive| alive <= life))
    }

    /// Whether it was ever deleted, as far as the log still says.
    pub(crate) fn has_delete(&self) -> bool {
        self.deleted.is_some()
    }

    /// When it was deleted, if it is.
    pub(crate) fn deleted_ms(&self) -> Option<u64> {
        self.deleted.filter(|_| self.is_deleted()).map(|(_, time)| time)
    }

    /// From when on it is expired; 0 is never.
    pub(crate) fn expires_ms(&self) -> u64 {
        self.expiry.map(|(_, expires)| expires).filter(|&expires| expires != u64::MAX).unwrap_or(0)
    }

    /// When its expiry was last changed; 0 if it is that of the put.
    pub(crate) fn expiry_changed_ms(&self) -> u64 {
        self.expiry.map_or(0, |(time, _)| time)
    }

    pub(crate) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_ms() != 0 && self.expires_ms() <= now_ms
    }

    pub(crate) fn condition(&self, now_ms: u64) -> Condition {
        if self.is_deleted() {
            Condition::Deleted
        } else if self.put.is_none() {
            Condition::Unknown
        } else if self.is_expired(now_ms) {
            Condition::Expired
        } else {
            Condition::Alive
        }
    }
}
