//! Settings of a node.

use crate::detector::DetectorOptions;
use crate::identity::Now;

/// Settings of a node. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeOptions {
    /// When a node is taken for down.
    pub detector: DetectorOptions,
    /// A request that is not answered for so long has failed.
    pub request_timeout_ms: u64,
    /// A client's request that is not done by then fails. Also how long a write may be on its way to a replica.
    pub write_deadline_ms: u64,
    /// How far the clocks of two nodes may be apart.
    pub clock_skew_max_ms: u64,
    /// A get is sent to a second replica after so long, or after what 95 % of the last answers took, if that is longer.
    pub hedge_ms_min: u64,
    /// How many partitions a put tries.
    pub put_attempts: usize,
    /// Bytes of a blob that one request of a get asks for.
    pub piece_bytes: u32,
    /// Requests of clients that are under way at once; more are refused.
    pub operations_max: usize,
    /// Requests of other nodes that are under way at once; more are refused.
    pub serving_max: usize,
    /// A replica asks each of the others so often what is new.
    pub pull_interval_ms: u64,
    /// After a failure, it waits so long.
    pub pull_backoff_ms: u64,
    /// Partitions that one such request is about, at most.
    pub batch_partitions: usize,
    /// Such requests to one node at once.
    pub batches_max: usize,
    /// Records that one partition's answer has, at most.
    pub page_records: usize,
    /// Bytes of blobs that one answer has; the one that reaches it is the last one.
    pub fetch_bytes_max: usize,
    /// Requests for blobs to one node at once, of all partitions together: so many such answers are in memory on their way.
    pub fetches_max: usize,
    /// A partition is compacted so often; 0 is never.
    pub compact_interval_ms: u64,
    /// Deleted blobs and their tombstones stay for so long at least. Blobs can be undeleted for a little less: by then, and by
    /// any clock, a request must have come.
    pub tombstone_life_ms: u64,
    /// What a replica has acknowledged at [`afterbay_blob_store::Durability::Fast`] is synced after so long at most, and the time of
    /// the sync; 0 is never.
    pub flush_interval_ms: u64,
    /// All of a partition is read and verified so often; 0 is never.
    pub scrub_interval_ms: u64,
    /// Whether it is noted on the disk when that was, and is to be: without, it begins anew with each start.
    pub keeps_schedule: bool,
    /// Bytes that this reads in a second; 0: as many as the store chooses.
    pub scrub_bytes_per_s: u64,
    /// After so long in which none of the damaged blobs was written again, those that are left are said not to be repaired.
    pub scrub_patience_ms: u64,
    /// Damaged blobs that a replica remembers in order to fetch them from others; more are found by the next scrub.
    pub damaged_max: usize,
}

impl Default for NodeOptions {
    fn default() -> Self {
        NodeOptions {
            detector: DetectorOptions {
                failures_max: 2,
                check_period_ms: 5_000,
                wait_period_ms: 5_000,
            },
            request_timeout_ms: 2_000,
            write_deadline_ms: 20_000,
            clock_skew_max_ms: 60_000,
            hedge_ms_min: 10,
            put_attempts: 4,
            piece_bytes: 4 << 20,
            operations_max: 4096,
            serving_max: 4096,
            pull_interval_ms: 200,
            pull_backoff_ms: 1_000,
            batch_partitions: 32,
            batches_max: 2,
            page_records: 1000,
            fetch_bytes_max: 8 << 20,
            fetches_max: 4,
            compact_interval_ms: 60_000,
            tombstone_life_ms: 7 * 24 * 3600 * 1000,
            flush_interval_ms: 1_000,
            scrub_interval_ms: 14 * 24 * 3600 * 1000,
            keeps_schedule: true,
            scrub_bytes_per_s: 0,
            scrub_patience_ms: 30_000,
            damaged_max: 4096,
        }
    }
}

impl NodeOptions {
    /// Short times and small pages, for simulations.
    pub fn fast() -> Self {
        NodeOptions {
            detector: DetectorOptions {
                failures_max: 2,
                check_period_ms: 500,
                wait_period_ms: 300,
            },
            request_timeout_ms: 200,
            write_deadline_ms: 1_000,
            clock_skew_max_ms: 500,
            hedge_ms_min: 5,
            piece_bytes: 4096,
            operations_max: 256,
            serving_max: 256,
            pull_interval_ms: 50,
            pull_backoff_ms: 100,
            batch_partitions: 3,
            page_records: 16,
            fetch_bytes_max: 16 << 10,
            fetches_max: 2,
            compact_interval_ms: 500,
            tombstone_life_ms: 5_000,
            flush_interval_ms: 200,
            scrub_interval_ms: 3_000,
            keeps_schedule: false,
            scrub_patience_ms: 3_000,
            damaged_max: 256,
            ..NodeOptions::default()
        }
    }

    /// What was deleted or expired before may be compacted away.
    pub(crate) fn old_before_ms(&self, now: Now) -> u64 {
        now.wall_ms.saturating_sub(self.tombstone_life_ms)
    }

    /// Until when a blob can be undeleted that was deleted at `deleted_ms`: later, one of the replicas could take it for old
    /// enough to be compacted away before the undelete comes.
    pub(crate) fn undelete_until(&self, deleted_ms: u64) -> u64 {
        let margin = self.write_deadline_ms + 2 * self.clock_skew_max_ms;
        deleted_ms + self.tombstone_life_ms.saturating_sub(margin)
    }

    /// An error that names the option which cannot be as it is.
    pub fn check(&self) -> Result<(), OptionError> {
        let require = |allowed: bool, option, reason: String| {
            if allowed { Ok(()) } else { Err(OptionError { option, reason }) }
        };
        let positive = [
            ("request_timeout_ms", self.request_timeout_ms),
            ("pull_interval_ms", self.pull_interval_ms),
            ("pull_backoff_ms", self.pull_backoff_ms),
            ("put_attempts", self.put_attempts as u64),
            ("piece_bytes", self.piece_bytes.into()),
            ("operations_max", self.operations_max as u64),
            ("serving_max", self.serving_max as u64),
            ("batch_partitions", self.batch_partitions as u64),
            ("batches_max", self.batches_max as u64),
            ("fetch_bytes_max", self.fetch_bytes_max as u64),
            ("fetches_max", self.fetches_max as u64),
            ("detector.failures_max", self.detector.failures_max.into()),
        ];
        for (option, value) in positive {
            require(value > 0, option, "0 is not allowed; a number from 1 on is".to_owned())?;
        }
        require(
            self.page_records > 1,
            "page_records",
            format!("{}: a number from 2 on is allowed", self.page_records),
        )?;
        // Requests of a pull follow each other: a node that answers none must be taken for down by them alone.
        let apart = self.request_timeout_ms.saturating_add(self.pull_backoff_ms);
        let apart = apart.saturating_mul(u64::from(self.detector.failures_max) - 1);
        require(
            self.detector.check_period_ms > apart,
            "detector.check_period_ms",
            format!(
                "{}: more than (failures_max - 1) * (request_timeout_ms + pull_backoff_ms) = {apart} is allowed; so many \
                 failures in a row must lie within it",
                self.detector.check_period_ms
            ),
        )?;
        // A write may be late by its deadline; two clocks may be wrong in opposite directions.
        let least = self.write_deadline_ms + 2 * self.clock_skew_max_ms;
        require(
            self.tombstone_life_ms > least,
            "tombstone_life_ms",
            format!(
                "{}: more than write_deadline_ms + 2 * clock_skew_max_ms = {least} is allowed; a put that is late must meet \
                 the tombstone",
                self.tombstone_life_ms
            ),
        )
    }
}

/// An option that cannot be as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("option {option}: {reason}")]
pub struct OptionError {
    /// Which one.
    pub option: &'static str,
    /// Why, with what is allowed.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_named() {
        let named = |change: fn(&mut NodeOptions)| {
            let mut options = NodeOptions::fast();
            change(&mut options);
            options.check().err().map(|error| error.option)
        };
        assert_eq!(NodeOptions::default().check(), Ok(()));
        assert_eq!(named(|_| ()), None);
        assert_eq!(named(|o| o.tombstone_life_ms = 2_000), Some("tombstone_life_ms"));
        assert_eq!(named(|o| o.page_records = 1), Some("page_records"));
        assert_eq!(named(|o| o.batches_max = 0), Some("batches_max"));
        assert_eq!(named(|o| o.fetches_max = 0), Some("fetches_max"));
        let period = Some("detector.check_period_ms");
        assert_eq!(named(|o| o.request_timeout_ms = o.detector.check_period_ms), period);
        assert_eq!(named(|o| o.pull_backoff_ms = o.detector.check_period_ms), period);
        assert_eq!(named(|o| o.detector.failures_max = 3), period);
        assert_eq!(named(|o| (o.detector.failures_max, o.detector.check_period_ms) = (1, 1)), None);
    }
}
