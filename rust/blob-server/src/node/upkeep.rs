//! Work in the background, two threads for each disk: what has to come soon, and compaction. A panic is logged, and ends one
//! turn: what a thread does is needed as long as the server runs.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use afterbay_blob_store::{Clock, CompactionOptions, CompactionReport, PartitionId, SystemClock};

use super::disk::Disk;
use super::hosted::Hosted;
use super::pacer::{Stop, TokenBucket};

/// How often partitions that failed are tried again.
const REOPEN: Duration = Duration::from_secs(5);
/// Expired blobs are looked for at least so often, also where nothing was deleted.
const EXPIRY: Duration = Duration::from_secs(3600);

/// Syncs `fast` writes, makes partitions, and opens failed ones again, until it is time to stop.
pub(crate) fn tend(disk: &Disk, stop: &Stop) {
    let mut tending = Tending { reopened: Instant::now(), said: String::new() };
    while !stop.wait(disk.options.flush_interval) {
        one_turn(disk, "upkeep", || tending.turn(disk));
    }
}

fn one_turn(disk: &Disk, part: &'static str, work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        metrics::counter!("afterbay_blob_panics_total", "part" => part).increment(1);
        tracing::error!(place = disk.place(), part, "work in the background panicked; it goes on");
    }
}

struct Tending {
    reopened: Instant,
    /// Why partitions could not be made; said once, as long as it stays so.
    said: String,
}

impl Tending {
    fn turn(&mut self, disk: &Disk) {
        for hosted in disk.partitions() {
            hosted.flush();
            hosted.note_if_at_rest();
        }
        match disk.make_partitions() {
            Ok(()) => self.said.clear(),
            Err(reason) if reason != self.said => {
                tracing::warn!(place = disk.place(), reason, "few partitions take new blobs");
                self.said = reason;
            }
            Err(_) => {}
        }
        if self.reopened.elapsed() >= REOPEN {
            self.reopened = Instant::now();
            for hosted in disk.partitions() {
                hosted.reopen_if_failed(&*disk.volume, &disk.partition_options());
            }
        }
    }
}

/// Gives the space of deleted and expired blobs back, one partition at a time, until it is time to stop.
pub(crate) fn compact(disk: &Disk, stop: &Stop) {
    let pacer = TokenBucket::new(disk.options.compact_bytes_per_s, stop);
    let mut passes: HashMap<PartitionId, Pass> = HashMap::new();
    while !stop.wait(disk.options.compact_interval) {
        for hosted in disk.partitions() {
            let now_ms = SystemClock.now_ms();
            let window = disk.options.undelete_window.as_millis();
            let deleted_before_ms =
                now_ms.saturating_sub(u64::try_from(window).unwrap_or(u64::MAX));
            let pass = passes.entry(hosted.id).or_default();
            if pass.is_due(&hosted, deleted_before_ms) {
                *pass = Pass { began: Some(Instant::now()), deleted_before_ms };
                one_turn(disk, "compaction", || {
                    compact_all(&hosted, disk, deleted_before_ms, &pacer, stop);
                });
            }
        }
    }
}

/// What was done last about a partition.
#[derive(Debug, Default)]
struct Pass {
    began: Option<Instant>,
    deleted_before_ms: u64,
}

impl Pass {
    /// Whether something was deleted since, and long enough ago; or if it may have expired.
    fn is_due(&self, hosted: &Hosted, deleted_before_ms: u64) -> bool {
        let Some(began) = self.began else {
            return true;
        };
        let deleted = hosted.deleted_ms.load(Ordering::Relaxed);
        let new = deleted >= self.deleted_before_ms && deleted_before_ms > self.deleted_before_ms;
        new || began.elapsed() >= EXPIRY
    }
}

fn compact_all(
    hosted: &Arc<Hosted>,
    disk: &Disk,
    deleted_before_ms: u64,
    pacer: &TokenBucket<'_>,
    stop: &Stop,
) {
    let options = CompactionOptions {
        deleted_before_ms,
        expired_before_ms: SystemClock.now_ms(),
        tombstones_before_sequence: disk.services.tombstones.passed_by_all(hosted.id),
        garbage_percent_min: disk.options.garbage_percent_min,
        // There is none to repair it from.
        lost_is_repaired: false,
    };
    loop {
        let Ok(partition) = hosted.partition() else {
            return;
        };
        match partition.compact(&options, pacer) {
            Ok(report) if report.segments_before > 0 && !report.given_up => note(hosted, &report),
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(partition = %hosted.id, %error, "could not be compacted");
                return;
            }
        }
        if stop.wait(Duration::ZERO) {
            return;
        }
    }
}

fn note(hosted: &Hosted, report: &CompactionReport) {
    metrics::counter!("afterbay_blob_compactions_total").increment(1);
    metrics::counter!("afterbay_blob_compaction_freed_bytes_total").increment(report.freed_bytes);
    tracing::info!(
        partition = %hosted.id,
        segments_before = report.segments_before,
        segments_after = report.segments_after,
        freed_bytes = report.freed_bytes,
        dropped_records = report.dropped_records,
        "compacted"
    );
}
