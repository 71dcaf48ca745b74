//! What a node asks its own disk for, and what it hears.

use std::ops::Range;

use afterbay_blob_format::BlobId;
use afterbay_blob_store::{Durability, Record, Recount};
use uuid::Uuid;

use crate::message::{Found, Piece, Refusal, record_bytes};
use crate::schedule::Schedule;
use crate::token::{LogPage, Tokens};

/// Something to be done with one replica. Those that are under way at once may be carried out in any order.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreOperation {
    /// What the replica is, and its tokens.
    Load,
    /// Takes records.
    Apply {
        /// What is said about blobs.
        records: Vec<Record>,
        /// When to acknowledge.
        durability: Durability,
        /// A client's, which a full replica refuses.
        from_client: bool,
        /// Not after this time of day, in milliseconds since 1970.
        deadline_ms: Option<u64>,
    },
    /// Writes again what is damaged.
    Repair {
        /// What peers say about it.
        records: Vec<Record>,
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
        /// Which bytes of its body.
        range: Range<u32>,
        /// Also if it is deleted or expired.
        also_deleted: bool,
    },
    /// Records that are on the disk.
    Changes {
        /// From this number on.
        from: u64,
        /// At most.
        limit: usize,
    },
    /// Of which blobs the content is not here, although they are not deleted here.
    Missing {
        /// The blobs.
        ids: Vec<BlobId>,
        /// Nor expired before, in milliseconds since 1970.
        expired_before_ms: u64,
    },
    /// Which blobs are known, in that life or a later one.
    Holds {
        /// The blobs, each with a life.
        lives: Vec<(BlobId, u32)>,
    },
    /// All that is known of blobs.
    Export {
        /// The blobs.
        ids: Vec<BlobId>,
        /// The answer ends with the one that reaches this size.
        bytes_max: usize,
    },
    /// Deletes what another one has known and forgotten. A blob that has begun a later life stays.
    Expel {
        /// The blobs, each with the life that is forgotten.
        lives: Vec<(BlobId, u32)>,
        /// When.
        time_ms: u64,
    },
    /// Saves the tokens, after what they stand for is synced.
    SaveTokens {
        /// The tokens; who carries this out says beside which log, and how long that is.
        tokens: Tokens,
        /// Whether to sync first.
        sync: bool,
    },
    /// Syncs what was written at `fast`.
    Flush,
    /// Gives the space of what is deleted back.
    Compact {
        /// Deleted and expired before, in milliseconds since 1970.
        before_ms: u64,
        /// Tombstones with lower numbers may go.
        tombstones_before: u64,
        /// All that damaged places held was fetched from others.
        lost_is_repaired: bool,
    },
    /// Verifies all of it, and writes again what is damaged and needs no other replica for it.
    Scrub {
        /// Which one it is, for [`crate::Action::EndScrub`].
        run: u64,
        /// Bytes to read in a second; 0: as many as the store chooses.
        bytes_per_s: u64,
    },
    /// Reads what counts of some blobs again, from the disk.
    Recount {
        /// Which scrub it is of, for [`crate::Action::EndScrub`].
        run: u64,
        /// Bytes to read in a second, as in [`StoreOperation::Scrub`].
        bytes_per_s: u64,
        /// The blobs.
        ids: Vec<BlobId>,
    },
    /// Notes when the replica was verified, and when it is to be verified next.
    SaveSchedule {
        /// That.
        schedule: Schedule,
    },
}

impl StoreOperation {
    /// Bytes of the blobs that it carries.
    pub fn bytes(&self) -> usize {
        let (StoreOperation::Apply { records, .. } | StoreOperation::Repair { records }) = self
        else {
            return 0;
        };
        records.iter().filter(|record| record.content.is_some()).map(record_bytes).sum()
    }
}

/// What came of it.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreAnswer {
    /// Of [`StoreOperation::Load`].
    Loaded(Result<Loaded, Refusal>),
    /// Of [`StoreOperation::Apply`], [`StoreOperation::Repair`] and [`StoreOperation::Expel`]: for each record or blob.
    Applied(Vec<Result<(), Refusal>>),
    /// Of [`StoreOperation::Known`] and [`StoreOperation::Export`] of one blob.
    Known(Result<Vec<Record>, Refusal>),
    /// Of [`StoreOperation::Read`].
    Read(Result<Piece, Refusal>),
    /// Of [`StoreOperation::Changes`].
    Changes(Result<LogPage, Refusal>),
    /// Of [`StoreOperation::Missing`].
    Missing(Result<Vec<BlobId>, Refusal>),
    /// Of [`StoreOperation::Holds`]: for each blob.
    Holds(Result<Vec<bool>, Refusal>),
    /// Of [`StoreOperation::Export`]: for the first blobs, one at least.
    Exported(Vec<Found>),
    /// Of [`StoreOperation::SaveTokens`]: the number of the next record, before which all is synced.
    Saved(Result<u64, Refusal>),
    /// Of [`StoreOperation::Flush`].
    Flushed(Result<(), Refusal>),
    /// Of [`StoreOperation::Compact`].
    Compacted(Result<(), Refusal>),
    /// Of [`StoreOperation::Scrub`].
    Scrubbed(Result<Damaged, Refusal>),
    /// Of [`StoreOperation::Recount`].
    Recounted(Result<Recount, Refusal>),
    /// Of [`StoreOperation::SaveSchedule`].
    Noted(Result<(), Refusal>),
    /// Of any: it was not carried out, or nobody knows how far.
    Failed(Refusal),
}

/// What a replica is when a node starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// What the manifest of its log says that it is.
    pub incarnation: Uuid,
    /// The number of the record that is written next.
    pub end: u64,
    /// Saved tokens; `None` if there are none, or none that can be read.
    pub tokens: Option<Tokens>,
    /// Places in it that are damaged, and of which nobody knows whose they were.
    pub unknown: usize,
    /// When it was verified; `None` if nobody has noted that.
    pub schedule: Option<Schedule>,
}

/// What a scrub found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Damaged {
    /// Blobs of which something is damaged.
    pub ids: Vec<BlobId>,
    /// Places of which nobody knows whose they were.
    pub unknown: usize,
    /// Files with damage in what is stored a second time, or can be computed again.
    pub spare: usize,
    /// How many of these were written again, and were whole when they were read once more.
    pub mended: usize,
    /// It was ended before its end.
    pub stopped: bool,
}
