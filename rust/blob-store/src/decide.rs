//! What a request does to a blob in a certain state: which record is written, if any.

use afterbay_blob_format::{BlobId, RecordHeader, RecordKind};

use crate::blob_state::{BlobState, Condition, Place};
use crate::error::{Error, Result};
use crate::options::Origin;
use crate::request::{Action, Request};

#[derive(Debug)]
pub(crate) enum Decision {
    /// This record is written, with the content of the request if it is a put.
    Write(RecordHeader),
    /// It is so already.
    Nothing,
    /// The id is taken: by the same blob, or by another one.
    Taken(Place),
}

pub(crate) fn decide(request: &Request, state: &BlobState, now_ms: u64) -> Result<Decision> {
    let now_ms = match request.origin {
        Origin::Client => now_ms,
        Origin::Replica { time_ms, .. } => time_ms,
    };
    let rules = Rules { id: request.id, origin: request.origin, state, now_ms };
    match &request.action {
        Action::Put(put) => rules.put(&put.header),
        Action::Delete => rules.delete(),
        Action::Undelete => rules.undelete(),
        Action::UpdateTtl(expires_ms) => rules.update_ttl(*expires_ms),
    }
}

struct Rules<'a> {
    id: BlobId,
    origin: Origin,
    state: &'a BlobState,
    now_ms: u64,
}

impl Rules<'_> {
    /// A put is the first record of its blob, which is what lets a search end at it.
    fn put(&self, header: &RecordHeader) -> Result<Decision> {
        match (self.state.condition(self.now_ms), &self.state.put) {
            (Condition::Deleted, _) => Err(Error::Deleted(self.id)),
            (Condition::Expired, _) => Err(Error::Expired(self.id)),
            (_, Some(place)) => Ok(Decision::Taken(place.clone())),
            // Of an earlier blob with this id, records may be left that name a life.
            (_, None) => {
                let life = header.life.max(self.state.life());
                Ok(Decision::Write(RecordHeader { life, ..header.clone() }))
            }
        }
    }

    fn delete(&self) -> Result<Decision> {
        let life = match self.origin {
            Origin::Client => self.state.life(),
            Origin::Replica { life, .. } => life,
        };
        if self.state.is_deleted() && life <= self.state.life() || life < self.state.life() {
            return Ok(Decision::Nothing);
        }
        // Another replica's delete counts also if its put has not come yet; it must not come after it.
        if self.origin == Origin::Client && self.state.put.is_none() {
            return Err(Error::NotFound(self.id));
        }
        Ok(self.write(RecordKind::Delete, life))
    }

    fn undelete(&self) -> Result<Decision> {
        let life = match self.origin {
            Origin::Client => self.state.life().saturating_add(1),
            Origin::Replica { life, .. } => life,
        };
        if self.state.put.is_none() {
            return Err(Error::NotFound(self.id));
        }
        match (self.origin, self.state.condition(self.now_ms)) {
            (Origin::Replica { .. }, _) if life <= self.state.life() => Ok(Decision::Nothing),
            (_, Condition::Deleted) if self.state.is_expired(self.now_ms) => {
                Err(Error::Expired(self.id))
            }
            (Origin::Replica { .. }, _) | (_, Condition::Deleted) => {
                Ok(self.write(RecordKind::Undelete, life))
            }
            _ => Err(Error::NotDeleted(self.id)),
        }
    }

    fn update_ttl(&self, expires_ms: u64) -> Result<Decision> {
        match self.state.condition(self.now_ms) {
            Condition::Unknown => Err(Error::NotFound(self.id)),
            Condition::Deleted => Err(Error::Deleted(self.id)),
            Condition::Expired => Err(Error::Expired(self.id)),
            Condition::Alive if self.state.expires_ms() == expires_ms => Ok(Decision::Nothing),
            Condition::Alive => {
                // The newest one holds: a client's must be newer than what it saw, whatever the clock says.
                let time_ms = match self.origin {
                    Origin::Client => {
                        self.now_ms.max(self.state.expiry_changed_ms().saturating_add(1))
                    }
                    Origin::Replica { time_ms, .. } => time_ms,
                };
                let header = RecordHeader::new(RecordKind::TtlUpdate, self.id, time_ms);
                Ok(Decision::Write(RecordHeader { expires_ms, life: self.state.life(), ..header }))
            }
        }
    }

    fn write(&self, kind: RecordKind, life: u32) -> Decision {
        Decision::Write(RecordHeader { life, ..RecordHeader::new(kind, self.id, self.now_ms) })
    }
}
