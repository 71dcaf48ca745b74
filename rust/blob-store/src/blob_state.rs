//! What the records of a blob say together.
//!
//! Each record is merged by maxima (of lives, of times), so that replicas which have the same records in another order
//! agree:
//!
//! ```text
//!  alive    the greatest (life, time) of puts and undeletes
//!  deleted  the greatest (life, time) of deletes. The blob is deleted if this life is not lower than that one
//!  expiry   the greatest (time, expiry) of TTL updates; that of the put counts with time 0; never is the greatest expiry
//!  content  that of the newest put in the log: an older one is the same, or damaged
//! ```
//!
//! A search goes from the newest record backwards. It may end at a put, unless that says that others come before it: a put
//! that came from another replica later than other records of its blob, or that takes the place of a damaged one.

use std::sync::Arc;

use afterbay_blob_format::{IndexEntry, RecordKind};

use crate::log_file::LogFile;

/// Where a record is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) log: Arc<LogFile>,
    pub(crate) entry: IndexEntry,
}

/// The same for comparisons: the number of the segment, and the offset in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At(u64, u32);

impl At {
    pub(crate) fn of(log: &LogFile, entry: &IndexEntry) -> Self {
        At(log.header.number, entry.offset)
    }
}

impl Place {
    pub(crate) fn at(&self) -> At {
        At::of(&self.log, &self.entry)
    }
}

/// What is known of a blob.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlobState {
    /// The newest put.
    pub(crate) put: Option<Place>,
    /// What all puts that were found say: their greatest life and time, and the latest expiry, never being `u64::MAX`.
    put_alive: Option<(u32, u64)>,
    put_expires_ms: Option<u64>,
    /// The greatest record of each other kind; of equal ones the newest.
    deleted: Option<Place>,
    undeleted: Option<Place>,
    ttl: Option<Place>,
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

/// By what puts, undeletes and deletes are compared.
fn life_key(entry: &IndexEntry) -> (u32, u64) {
    (entry.life, entry.time_ms)
}

/// By what TTL updates are.
pub(crate) fn ttl_key(time_ms: u64, expires_ms: u64) -> (u64, u64) {
    (time_ms.max(1), never_last(expires_ms))
}

fn never_last(expires_ms: u64) -> u64 {
    if expires_ms == 0 { u64::MAX } else { expires_ms }
}

fn raise<K: Ord>(held: &mut Option<Place>, place: Place, key: impl Fn(&IndexEntry) -> K) {
    if held.as_ref().is_none_or(|held| key(&held.entry) < key(&place.entry)) {
        *held = Some(place);
    }
}

impl BlobState {
    /// Adds a record that is older than those added before. False if no older one is needed.
    pub(crate) fn add(&mut self, entry: IndexEntry, log: &Arc<LogFile>) -> bool {
        let place = Place { log: log.clone(), entry };
        match entry.kind {
            RecordKind::Put => {
                self.put_alive = self.put_alive.max(Some(life_key(&entry)));
                self.put_expires_ms = self.put_expires_ms.max(Some(never_last(entry.expires_ms)));
                self.put.get_or_insert(place);
                return entry.follows;
            }
            RecordKind::Delete => raise(&mut self.deleted, place, life_key),
            RecordKind::Undelete => raise(&mut self.undeleted, place, life_key),
            RecordKind::TtlUpdate => {
                raise(&mut self.ttl, place, |entry| ttl_key(entry.time_ms, entry.expires_ms));
            }
        }
        true
    }

    /// The record of a kind that counts: any other one of it says nothing more.
    pub(crate) fn greatest(&self, kind: RecordKind) -> Option<&Place> {
        match kind {
            RecordKind::Put => self.put.as_ref(),
            RecordKind::Delete => self.deleted.as_ref(),
            RecordKind::Undelete => self.undeleted.as_ref(),
            RecordKind::TtlUpdate => self.ttl.as_ref(),
        }
    }

    /// The records that count, but for the put.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &Place> {
        [&self.ttl, &self.deleted, &self.undeleted].into_iter().flatten()
    }

    /// Whether anything is known.
    pub(crate) fn has_records(&self) -> bool {
        self.put.is_some() || self.facts().next().is_some()
    }

    /// The greatest life and time that it was put or undeleted with.
    pub(crate) fn alive(&self) -> Option<(u32, u64)> {
        self.put_alive.max(self.undeleted.as_ref().map(|place| life_key(&place.entry)))
    }

    /// What all puts say that were found: see [`BlobState::alive`]. 0 is never.
    pub(crate) fn of_puts(&self) -> Option<((u32, u64), u64)> {
        let expires_ms = self.put_expires_ms.filter(|&expires| expires != u64::MAX).unwrap_or(0);
        Some((self.put_alive?, expires_ms))
    }

    /// The greatest life and time that it was deleted with.
    pub(crate) fn deleted(&self) -> Option<(u32, u64)> {
        self.deleted.as_ref().map(|place| life_key(&place.entry))
    }

    /// The life that a record of now belongs to.
    pub(crate) fn life(&self) -> u32 {
        self.alive().max(self.deleted()).map_or(0, |(life, _)| life)
    }

    pub(crate) fn is_deleted(&self) -> bool {
        let alive = self.alive();
        self.deleted().is_some_and(|(life, _)| alive.is_none_or(|(alive, _)| alive <= life))
    }

    /// Whether it was ever deleted, as far as the log still says.
    pub(crate) fn has_delete(&self) -> bool {
        self.deleted.is_some()
    }

    /// Whether it was ever undeleted, as far as the log still says in a record of its own.
    pub(crate) fn has_undelete(&self) -> bool {
        self.undeleted.is_some()
    }

    /// Whether its expiry was ever changed, as far as the log still says: then that counts, and not what the put says.
    pub(crate) fn has_ttl_update(&self) -> bool {
        self.ttl.is_some()
    }

    /// When it was deleted, if it is.
    pub(crate) fn deleted_ms(&self) -> Option<u64> {
        self.deleted().filter(|_| self.is_deleted()).map(|(_, time)| time)
    }

    /// When its expiry was last changed, and to what: see [`ttl_key`].
    pub(crate) fn expiry(&self) -> Option<(u64, u64)> {
        let changed = self.ttl.as_ref().map(|p| ttl_key(p.entry.time_ms, p.entry.expires_ms));
        changed.max(self.put_expires_ms.map(|expires| (0, expires)))
    }

    /// From when on it is expired; 0 is never.
    pub(crate) fn expires_ms(&self) -> u64 {
        let expires = self.expiry().map(|(_, expires)| expires);
        expires.filter(|&expires| expires != u64::MAX).unwrap_or(0)
    }

    /// When its expiry was last changed; 0 if it is that of the put.
    pub(crate) fn expiry_changed_ms(&self) -> u64 {
        self.expiry().map_or(0, |(time, _)| time)
    }

    pub(crate) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_ms() != 0 && self.expires_ms() <= now_ms
    }

    pub(crate) fn is_expired_before(&self, time_ms: u64) -> bool {
        self.expires_ms() != 0 && self.expires_ms() < time_ms
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

    /// Whether its content is not here although it should be: what expired before this time need not.
    pub(crate) fn is_missing(&self, expired_before_ms: u64) -> bool {
        self.put.is_none() && !self.is_deleted() && !self.is_expired_before(expired_before_ms)
    }
}
