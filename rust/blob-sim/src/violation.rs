//! What must not be.

use std::fmt;

use afterbay_blob_store::BlobId;

/// What a simulation holds nodes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Law {
    /// A read returns what was put.
    Content,
    /// What was acknowledged can be read, after the loss of any k - 1 disks and of all power.
    Acknowledged,
    /// What was deleted stays deleted, until somebody takes it back.
    Deleted,
    /// The last change of an expiry holds.
    Expiry,
    /// When it is quiet, all replicas say the same.
    Equal,
    /// What is healthy becomes equal within a bounded time.
    Convergence,
    /// Tombstones wait for every replica whose disks are whole.
    Tombstones,
    /// A replica whose disk is whole can be opened.
    Opens,
    /// Replicas are verified when they are due, however often their nodes are started.
    Verified,
    /// Ids are given once.
    Ids,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Law::Content => "a read returns what was put",
            Law::Acknowledged => "what was acknowledged can be read",
            Law::Deleted => "what was deleted stays deleted, and nothing else is",
            Law::Expiry => "the last change of an expiry holds",
            Law::Equal => "when it is quiet, replicas say the same",
            Law::Convergence => "what is healthy becomes equal in time",
            Law::Tombstones => "tombstones wait for every replica whose disks are whole",
            Law::Opens => "a replica whose disk is whole can be opened",
            Law::Verified => "a replica is verified when it is due",
            Law::Ids => "an id is given once",
        })
    }
}

/// A law was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub law: Law,
    /// The blob, if it is about one.
    pub blob: Option<BlobId>,
    /// What was found.
    pub found: String,
}

impl Violation {
    pub(crate) fn new(law: Law, blob: impl Into<Option<BlobId>>, found: impl Into<String>) -> Self {
        Violation { law, blob: blob.into(), found: found.into() }
    }
}
