//! What a request does to a blob in a certain state: which record is written, if any.
//!
//! A client is told why not. What another replica did is not refused: a record is written if it says more than is known, and
//! whether the blob can be read then is seen when it is read. So replicas agree on a blob as soon as they have heard of the same
//! records, whatever came first.

use afterbay_blob_format::{BlobId, RecordHeader, RecordKind};

use crate::blob_state::{At, BlobState, Condition, Place, ttl_key};
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

/// What is known before a request.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) state: BlobState,
    /// There may be other records that cannot be read.
    pub(crate) unknown: bool,
}

pub(crate) fn decide(request: &Request, before: &Before, now_ms: u64) -> Result<Decision> {
    let (id, state) = (request.id, &before.state);
    match request.origin {
        Origin::Client => {
            let rules = Rules { id, state, now_ms };
            match &request.action {
                Action::Put(put) => rules.put(&put.header),
                Action::Delete => rules.delete(),
                Action::Undelete => rules.undelete(),
                Action::UpdateTtl(expires_ms) => rules.update_ttl(*expires_ms),
            }
        }
        Origin::Replica { time_ms, life } => {
            let merge = Merge { id, time_ms, life, before, again: request.again };
            Ok(match &request.action {
                Action::Put(put) => merge.put(&put.header, request.supersedes),
                Action::Delete => merge.delete(),
                Action::Undelete => merge.undelete(),
                Action::UpdateTtl(expires_ms) => merge.update_ttl(*expires_ms),
            })
        }
    }
}

/// For clients.
struct Rules<'a> {
    id: BlobId,
    state: &'a BlobState,
    now_ms: u64,
}

impl Rules<'_> {
    /// A client's put is the first record of its blob, which is what lets a search end at it.
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
        if self.state.is_deleted() {
            return Ok(Decision::Nothing);
        }
        if self.state.put.is_none() {
            return Err(Error::NotFound(self.id));
        }
        Ok(self.write(RecordKind::Delete, self.state.life()))
    }

    fn undelete(&self) -> Result<Decision> {
        if self.state.put.is_none() {
            return Err(Error::NotFound(self.id));
        }
        if !self.state.is_deleted() {
            return Err(Error::NotDeleted(self.id));
        }
        if self.state.is_expired(self.now_ms) {
            return Err(Error::Expired(self.id));
        }
        Ok(self.write(RecordKind::Undelete, self.state.life().saturating_add(1)))
    }

    fn update_ttl(&self, expires_ms: u64) -> Result<Decision> {
        match self.state.condition(self.now_ms) {
            Condition::Unknown => Err(Error::NotFound(self.id)),
            Condition::Deleted => Err(Error::Deleted(self.id)),
            Condition::Expired => Err(Error::Expired(self.id)),
            Condition::Alive if self.state.expires_ms() == expires_ms => Ok(Decision::Nothing),
            Condition::Alive => {
                // The newest one holds: a client's must be newer than what it saw, whatever the clock says.
                let time_ms = self.now_ms.max(self.state.expiry_changed_ms().saturating_add(1));
                let header = RecordHeader::new(RecordKind::TtlUpdate, self.id, time_ms);
                Ok(Decision::Write(RecordHeader { expires_ms, life: self.state.life(), ..header }))
            }
        }
    }

    fn write(&self, kind: RecordKind, life: u32) -> Decision {
        Decision::Write(RecordHeader { life, ..RecordHeader::new(kind, self.id, self.now_ms) })
    }
}

/// For other replicas.
struct Merge<'a> {
    id: BlobId,
    time_ms: u64,
    life: u32,
    before: &'a Before,
    /// What is known is written once more.
    again: bool,
}

impl Merge<'_> {
    /// Other records may have come before it. Of a deleted blob it is taken too: the delete may be undone.
    fn put(&self, header: &RecordHeader, supersedes: Option<At>) -> Decision {
        let Before { state, unknown } = self.before;
        let follows = *unknown || state.has_records();
        match &state.put {
            None => Decision::Write(RecordHeader { follows, ..header.clone() }),
            Some(place) if supersedes == Some(place.at()) => {
                Decision::Write(instead_of(header, state))
            }
            Some(place) => Decision::Taken(place.clone()),
        }
    }

    fn delete(&self) -> Decision {
        let is_news = Some((self.life, self.time_ms)) > self.before.state.deleted();
        self.write_if(is_news, RecordKind::Delete, 0)
    }

    fn undelete(&self) -> Decision {
        let is_news = Some((self.life, self.time_ms)) > self.before.state.alive();
        self.write_if(is_news, RecordKind::Undelete, 0)
    }

    fn update_ttl(&self, expires_ms: u64) -> Decision {
        let is_news = Some(ttl_key(self.time_ms, expires_ms)) > self.before.state.expiry();
        self.write_if(is_news, RecordKind::TtlUpdate, expires_ms)
    }

    fn write_if(&self, is_news: bool, kind: RecordKind, expires_ms: u64) -> Decision {
        if !is_news && !self.again {
            return Decision::Nothing;
        }
        let header = RecordHeader::new(kind, self.id, self.time_ms);
        Decision::Write(RecordHeader { life: self.life, expires_ms, ..header })
    }
}

/// The header of a put that says all that those before it say, so that they can go.
fn instead_of(header: &RecordHeader, state: &BlobState) -> RecordHeader {
    let mut header = RecordHeader { follows: true, ..header.clone() };
    if let Some(((life, time_ms), expires_ms)) = state.of_puts() {
        (header.life, header.time_ms) = (header.life, header.time_ms).max((life, time_ms));
        let is_never = header.expires_ms == 0 || expires_ms == 0;
        header.expires_ms = if is_never { 0 } else { header.expires_ms.max(expires_ms) };
    }
    header
}
