//! What nodes say to each other. The server gives it bytes; the simulation does not.

use std::ops::Range;

use afterbay_blob_format::{BlobId, PartitionId, RECORD_HEADER_BYTES};
use afterbay_blob_store::{Change, Durability, Record};
use bytes::Bytes;
use uuid::Uuid;

use crate::lineage::Lineage;
use crate::token::{Position, Token};

/// Names a request among all that a node has sent: its answer names it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// Random, by start of the node: an answer to a request of before is to nobody.
    pub session: u64,
    /// Counted.
    pub number: u64,
}

/// A request, or its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Which request.
    pub call: Call,
    /// What it says.
    pub body: Body,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Please do.
    Request(Request),
    /// Here you are.
    Reply(Reply),
}

/// What a node asks another one for.
#[derive(Clone, PartialEq, Eq)]
pub enum Request {
    /// Takes records of one blob that a coordinator has stamped.
    Write {
        /// The blob.
        id: BlobId,
        /// What is said about it.
        records: Vec<Record>,
        /// When to acknowledge.
        durability: Durability,
        /// Not after this time of day, in milliseconds since 1970.
        deadline_ms: u64,
    },
    /// What is known of a blob, without its content.
    Known {
        /// The blob.
        id: BlobId,
    },
    /// A part of a blob.
    Read {
        /// The blob.
        id: BlobId,
        /// Which bytes of its body; what is behind its end is left out.
        range: Range<u32>,
        /// Also if it is deleted or expired, as long as it is not compacted away.
        also_deleted: bool,
    },
    /// What is new in partitions that both nodes have: the first phase of replication.
    Changes(Vec<Since>),
    /// Which blobs the node knows, in that life or a later one.
    Holds {
        /// Their partition.
        partition: PartitionId,
        /// The epoch of the log that they were compared with: no other one is to answer.
        epoch: Uuid,
        /// The blobs, each with a life.
        lives: Vec<(BlobId, u32)>,
    },
    /// All that is known of some blobs, with their content: the second phase of replication.
    Fetch {
        /// Their partition.
        partition: PartitionId,
        /// The blobs.
        ids: Vec<BlobId>,
        /// The answer ends with the one that reaches this size.
        bytes_max: usize,
    },
}

/// How far the one who asks has come in a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// The partition.
    pub partition: PartitionId,
    /// What it has saved. Also tells the source what may be forgotten.
    pub token: Option<Position>,
    /// It compares all, and is here.
    pub compare: Option<Cursor>,
    /// The epoch of the log that the one who asks has.
    pub own_epoch: Uuid,
    /// The number of the next record there.
    pub own_end: u64,
    /// No more records than so many.
    pub limit: usize,
}

/// What a log has been since it was opened once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// Nothing else has this id.
    pub id: Uuid,
    /// The number of its first record.
    pub start: u64,
}

/// A place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The epoch of the log when it was looked at.
    pub epoch: Uuid,
    /// The number of the next record to be looked at.
    pub sequence: u64,
}

impl Cursor {
    /// In no log: all is to be compared, from the beginning.
    pub(crate) const ANEW: Cursor = Cursor { epoch: Uuid::nil(), sequence: 0 };
}

/// What is new in a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// In the order of the log.
    pub changes: Vec<Change>,
    /// What to ask for next, once these are stored.
    pub next: Cursor,
    /// The epochs of the log; none if who asks has a token of the present one.
    pub lineage: Lineage,
    /// The number of the record that the source writes next.
    pub end: u64,
    /// Deletes with a lower number may be compacted away there.
    pub horizon: u64,
}

/// Part of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is part of.
    pub head: Head,
    /// Its first byte in the body.
    pub offset: u32,
    /// Verified by who sends them.
    pub bytes: Bytes,
}

/// What is known of a blob besides its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the body.
    pub body_bytes: u32,
    /// When it was put, in milliseconds since 1970.
    pub created_ms: u64,
    /// From when on it is expired, in milliseconds since 1970; 0 is never.
    pub expires_ms: u64,
    /// How often it was undeleted.
    pub life: u32,
    /// The container it belongs to.
    pub container: u32,
    /// Its properties in their stored form.
    pub properties: Bytes,
}

/// What is known of a blob, or why that is not to be had.
pub type Found = (BlobId, Result<Vec<Record>, Refusal>);

/// What a node answers.
#[derive(Clone, PartialEq, Eq)]
pub enum Reply {
    /// To [`Request::Write`].
    Written(Result<(), Refusal>),
    /// To [`Request::Known`]: a put comes without its content.
    Known(Result<Vec<Record>, Refusal>),
    /// To [`Request::Read`].
    Read(Result<Piece, Refusal>),
    /// To [`Request::Changes`]: for each partition, in the same order.
    Changes(Vec<(PartitionId, Result<Page, Refusal>)>),
    /// To [`Request::Holds`]: for each blob, in the same order.
    Holds(Result<Vec<bool>, Refusal>),
    /// To [`Request::Fetch`]: for the first blobs, in the same order; one at least.
    Fetched(Result<Vec<Found>, Refusal>),
}

/// Tokens of logs of one node: of the present one, if there is one, and of former ones. Few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Covers(pub Vec<Token>);

/// Why all has to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareReason {
    /// Who asks has no token.
    NoToken,
    /// The token is of another log.
    UnknownIncarnation,
    /// Deletes that come after the token may be gone.
    BelowHorizon,
    /// The log was put back to an older state since, and has heard from others what happened meanwhile.
    PutBack,
}

/// Why a node does not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The node has no replica of the partition: nothing follows about the blob.
    #[error("not a replica of the partition")]
    NotHere,
    /// The replica is being loaded or filled: ask another one.
    #[error("the replica is not ready")]
    NotReady,
    /// The replica was put back to an older state, and has not heard from others what happened since.
    #[error("the replica was put back to an older state and has to be compared first")]
    Suspect,
    /// The replica knows nothing of the blob.
    #[error("not found")]
    NotFound,
    /// The blob is deleted.
    #[error("deleted in life {life}")]
    Deleted {
        /// In this life.
        life: u32,
    },
    /// The blob's time is over.
    #[error("expired")]
    Expired,
    /// Another blob has the id.
    #[error("the id is taken by another blob")]
    Collision,
    /// The bytes on the disk are not those that were written, or cannot be read.
    #[error("damaged")]
    Damaged,
    /// The replica takes no new blobs.
    #[error("no room for new blobs")]
    ReadOnly,
    /// The write came after its deadline.
    #[error("came after its deadline")]
    Late,
    /// Too much to do.
    #[error("busy")]
    Busy,
    /// A token does not hold: compare all.
    #[error("the token does not hold: {reason:?}")]
    Compare {
        /// Why.
        reason: CompareReason,
        /// The present epoch of the log to compare with.
        epoch: Uuid,
        /// Its end, where the comparison will end.
        end: u64,
        /// How far the source has taken over the log of who asks, and logs that this one had before: what lies before, and the
        /// source does not know, it has known and forgotten.
        covers: Covers,
    },
    /// No answer came in time.
    #[error("no answer")]
    NoAnswer,
    /// The store refused, for a reason that is a matter of its own.
    #[error("{0}")]
    Store(String),
}

/// Bytes that a message takes beside what it carries, roughly.
const ENVELOPE_BYTES: usize = 64;

impl Message {
    /// How long it is, roughly: for budgets and simulated networks.
    pub fn bytes(&self) -> usize {
        let body = match &self.body {
            Body::Request(request) => request.bytes(),
            Body::Reply(reply) => reply.bytes(),
        };
        ENVELOPE_BYTES + body
    }
}

fn records_bytes(records: &[Record]) -> usize {
    records.iter().map(record_bytes).sum()
}

/// Bytes of a record on its way.
pub(crate) fn record_bytes(record: &Record) -> usize {
    let content = record.content.as_ref();
    RECORD_HEADER_BYTES + content.map_or(0, |content| content.properties.len() + content.body.len())
}

impl Request {
    fn bytes(&self) -> usize {
        match self {
            Request::Write { records, .. } => records_bytes(records),
            Request::Changes(since) => since.len() * 128,
            Request::Holds { lives, .. } => lives.len() * size_of::<(BlobId, u32)>(),
            Request::Fetch { ids, .. } => ids.len() * size_of::<BlobId>(),
            Request::Known { .. } | Request::Read { .. } => size_of::<BlobId>(),
        }
    }
}

impl Reply {
    fn bytes(&self) -> usize {
        match self {
            Reply::Written(_) => 0,
            Reply::Known(Ok(records)) => records_bytes(records),
            Reply::Read(Ok(piece)) => piece.bytes.len() + piece.head.properties.len(),
            Reply::Changes(pages) => {
                let changes = |page: &Page| page.changes.len() * size_of::<Change>();
                pages.iter().map(|(_, page)| 64 + page.as_ref().map_or(0, changes)).sum()
            }
            Reply::Holds(Ok(holds)) => holds.len(),
            Reply::Fetched(Ok(fetched)) => {
                fetched.iter().map(|(_, records)| records.as_deref().map_or(0, records_bytes)).sum()
            }
            Reply::Known(Err(_)) | Reply::Read(Err(_)) | Reply::Holds(Err(_)) => 0,
            Reply::Fetched(Err(_)) => 0,
        }
    }
}
