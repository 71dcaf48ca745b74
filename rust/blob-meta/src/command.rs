//! Changes of the names, as data: a replicated form writes them to its log and applies them in the same order on every
//! replica. So a command carries everything that must not differ between replicas: the time, and ids that its
//! frontend chose.

use afterbay_blob_format::BlobId;

use crate::condition::Condition;
use crate::model::{AccessKey, Attributes, Body, Bucket, ObjectEntry, Part, Upload};

/// A change. Each is done as a whole or not at all, and none does anything twice if it is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Creates a bucket. [`Bucket::id`] is given by the names. Answered by [`Outcome::Done`].
    CreateBucket {
        /// Its name.
        name: String,
        /// Owner and settings.
        bucket: Bucket,
    },
    /// Sets what [`Bucket::durability`] and [`Bucket::documents`] say. Answered by [`Outcome::Done`].
    SetBucket {
        /// Its name.
        name: String,
        /// The setting to change.
        change: BucketChange,
    },
    /// Deletes a bucket without objects. Its uploads go with it. Answered by [`Outcome::Done`].
    DeleteBucket {
        /// Its name.
        name: String,
        /// Now, in milliseconds since 1970.
        now_ms: u64,
    },
    /// Names a reserved blob; what the name stood for before is garbage. If it is refused, the blob is garbage.
    /// Answered by [`Outcome::Done`].
    PutObject {
        /// Where.
        bucket: String,
        /// Its name.
        key: String,
        /// What it stands for from now on: one blob.
        entry: ObjectEntry,
        /// When.
        condition: Condition,
    },
    /// Changes headers, metadata and tags, not the body. [`NamesError::Changed`](crate::NamesError::Changed) if the
    /// object is not `seen` any more. Answered by [`Outcome::Done`].
    SetAttributes {
        /// Where.
        bucket: String,
        /// Its name.
        key: String,
        /// The object that the change is for.
        seen: ObjectEntry,
        /// The new ones.
        attributes: Attributes,
        /// The new [`ObjectEntry::modified_ms`].
        modified_ms: u64,
    },
    /// Takes names away; what they stood for is garbage. Answered by [`Outcome::Each`] in the same order, with an error
    /// where a condition did not hold. A name that is not there is no error, whatever its condition.
    DeleteObjects {
        /// Where.
        bucket: String,
        /// Which, and when.
        keys: Vec<(String, Condition)>,
        /// Now, in milliseconds since 1970.
        now_ms: u64,
    },
    /// Begins an upload. Answered by [`Outcome::Done`].
    CreateUpload {
        /// Where.
        bucket: String,
        /// Of which object.
        key: String,
        /// Its id, chosen by the frontend: unique for ever, and in the order in which uploads are to be listed.
        upload: String,
        /// What the object will have.
        entry: Upload,
    },
    /// Adds a part whose blob is reserved; one of the same number is garbage. If it is refused, the blob is garbage.
    /// Answered by [`Outcome::Done`].
    PutPart {
        /// Where.
        bucket: String,
        /// Of which object.
        key: String,
        /// Of which upload.
        upload: String,
        /// 1 to 10,000.
        number: u16,
        /// The part.
        part: Part,
    },
    /// Makes an object of parts; the parts that are not in it are garbage, and so is what the name stood for before.
    /// [`NamesError::Changed`](crate::NamesError::Changed) if a part is not `seen` any more. Answered by
    /// [`Outcome::Done`].
    CompleteUpload {
        /// Where.
        bucket: String,
        /// Of which object.
        key: String,
        /// Which.
        upload: String,
        /// The parts it is made of, in the order of their numbers.
        seen: Vec<(u16, BlobId)>,
        /// The object. `upload` and `part_count` are set by the names.
        entry: ObjectEntry,
        /// When.
        condition: Condition,
    },
    /// Gives up an upload; its parts are garbage. Answered by [`Outcome::Done`].
    AbortUpload {
        /// Where.
        bucket: String,
        /// Of which object.
        key: String,
        /// Which.
        upload: String,
        /// Now, in milliseconds since 1970.
        now_ms: u64,
    },
    /// Creates or replaces a key. Answered by [`Outcome::Done`].
    PutKey(AccessKey),
    /// Deletes a key, if it is there. Answered by [`Outcome::Done`].
    DeleteKey {
        /// [`AccessKey::id`].
        id: String,
    },
    /// Begins a session of a frontend. What its earlier sessions reserved and did not name is garbage. Answered by
    /// [`Outcome::Session`].
    BeginSession {
        /// The frontend's name, which it keeps over restarts.
        frontend: String,
    },
    /// Says that blobs of these names may be written from now on. Answered by [`Outcome::Done`].
    Reserve {
        /// The frontend.
        frontend: String,
        /// Its session; of an ended one nothing is reserved.
        session: u64,
        /// Names that no blob has had.
        blobs: Vec<BlobId>,
    },
    /// Says that reserved blobs are chunks of another reserved or named blob now, and go with it. Others are not touched.
    /// Answered by [`Outcome::Done`].
    Adopt {
        /// Which.
        blobs: Vec<BlobId>,
    },
    /// Gives up reserved blobs, whether they were written or not: they are garbage. Others are not touched. Answered by
    /// [`Outcome::Done`].
    Discard {
        /// Which.
        blobs: Vec<BlobId>,
        /// Now, in milliseconds since 1970.
        now_ms: u64,
    },
    /// Forgets garbage that has been deleted. Answered by [`Outcome::Done`].
    Collected {
        /// Its numbers in the queue.
        numbers: Vec<u64>,
    },
    /// Puts what a piece of garbage consists of into the queue in its place, or a first part of it and the rest again.
    /// Answered by [`Outcome::Done`].
    Expand {
        /// Its number in the queue.
        number: u64,
        /// The most pieces.
        max: usize,
    },
}

/// A setting of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BucketChange {
    /// [`Bucket::durability`].
    Durability(String),
    /// [`Bucket::documents`]: sets one, or takes it away.
    Document {
        /// Its name.
        name: String,
        /// `None`: away.
        value: Option<Vec<u8>>,
    },
}

/// The answer to a [`Command`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// One answer for each key: what the name stood for, if it was there.
    Each(Vec<crate::Result<Option<Body>>>),
    /// The number of the session.
    Session(u64),
}
