//! Who paces the scrubs of a store, and hears what they find.

use std::fmt::Debug;

use afterbay_blob_format::PartitionId;
use afterbay_blob_store::{Finding, Pacer, Unpaced};

/// Paces the scrubs of a [`crate::LocalStore`]. Its threads call it.
pub trait ScrubWatch: Debug + Send + Sync {
    /// The pace of a scrub that begins, of the replica of a partition: [`crate::StoreOperation::Scrub`] says `run` and
    /// `bytes_per_s`. There are `all_bytes` to verify in all replicas of the store.
    fn pacer(&self, run: u64, bytes_per_s: u64, all_bytes: u64) -> Box<dyn Pacer + '_>;

    /// A place that is not as it was written.
    fn found(&self, run: u64, partition: PartitionId, finding: &Finding);
}

/// As fast as it goes, and nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl ScrubWatch for Unwatched {
    fn pacer(&self, _run: u64, _bytes_per_s: u64, _all_bytes: u64) -> Box<dyn Pacer + '_> {
        Box::new(Unpaced)
    }

    fn found(&self, _run: u64, _partition: PartitionId, _finding: &Finding) {}
}
