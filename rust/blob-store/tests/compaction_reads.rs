//! A compaction looks at what has changed, not at everything that is stored.

use std::sync::Arc;

use afterbay_blob_store::{
    BlobId, CompactionOptions, Durability, Options, Partition, Put, Unpaced,
};

use crate::common::counting::{Reads, counting};
use crate::common::{PARTITION, everything, small_options};

const DURABLE: Durability = Durability::Durable;
const BLOBS: usize = 4_000;

fn options() -> CompactionOptions {
    CompactionOptions { garbage_percent_min: 30, ..everything() }
}

/// Ten segments, of which one in twenty blobs is deleted; all are looked at once.
fn looked_at() -> (Partition, Arc<Reads>, Vec<BlobId>) {
    let (capacity_bytes, segment_bytes) = (64 << 20, 8 << 20);
    let segment_records_max = BLOBS / 10;
    let of = Options { capacity_bytes, segment_bytes, segment_records_max, ..small_options() };
    let (partition, reads) = counting(of);
    let ids: Vec<_> = (0..BLOBS).map(|_| BlobId::random(PARTITION)).collect();
    for id in &ids {
        partition.put(Put::new(*id, vec![1; 300]), Durability::Fast).unwrap();
    }
    for id in ids.iter().step_by(20) {
        partition.delete(*id, Durability::Fast).unwrap();
    }
    partition.seal().unwrap();
    reads.take();
    assert_eq!(partition.compact(&options(), &Unpaced).unwrap().segments_before, 0);
    let (_, index) = reads.take();
    assert!(index > 10, "{index} pages: it looked at nothing");
    (partition, reads, ids)
}

#[test]
fn what_has_not_changed_is_not_looked_at_again() {
    let (partition, reads, ids) = looked_at();
    for _ in 0..3 {
        assert_eq!(partition.compact(&options(), &Unpaced).unwrap().segments_before, 0);
        assert_eq!(reads.take(), (0, 0));
    }
    // New blobs change nothing that is stored; of one that is deleted, its segment's page is read.
    for _ in 0..50 {
        partition.put(Put::new(BlobId::random(PARTITION), vec![2; 300]), DURABLE).unwrap();
    }
    partition.delete(ids[1], DURABLE).unwrap();
    reads.take();
    assert_eq!(partition.compact(&options(), &Unpaced).unwrap().segments_before, 0);
    let (log, index) = reads.take();
    assert!(log == 0 && (1..6).contains(&index), "{log} reads of logs, {index} pages");
    assert_eq!(partition.compact(&options(), &Unpaced).unwrap().segments_before, 0);
    assert_eq!(reads.take(), (0, 0));
}

#[test]
fn what_has_become_garbage_is_found() {
    let (partition, reads, ids) = looked_at();
    // A third of the fourth segment.
    let begin = 3 * BLOBS / 10;
    for id in ids[begin..begin + BLOBS / 10].iter().step_by(3) {
        // Some are deleted already.
        let _ = partition.delete(*id, DURABLE);
    }
    assert_eq!(partition.compact(&options(), &Unpaced).unwrap().segments_before, 1);
    while partition.compact(&options(), &Unpaced).unwrap().segments_before > 0 {}
    reads.take();
    assert_eq!(partition.compact(&options(), &Unpaced).unwrap().segments_before, 0);
    assert_eq!(reads.take(), (0, 0));
}

/// Time alone makes garbage of what is deleted.
#[test]
fn what_time_makes_garbage_is_found() {
    let (partition, _, ids) = looked_at();
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.unwrap().as_millis() as u64
    };
    let before = now() - 1;
    for id in &ids[..BLOBS / 10] {
        // Some are deleted already.
        let _ = partition.delete(*id, DURABLE);
    }
    let young = CompactionOptions { deleted_before_ms: before, ..options() };
    while partition.compact(&young, &Unpaced).unwrap().segments_before > 0 {}
    assert!(partition.compact(&options(), &Unpaced).unwrap().segments_before > 0);
}
