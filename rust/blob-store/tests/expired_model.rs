//! Blobs that expire, and were deleted, undeleted and given other expiries before: whatever compaction leaves of them, it says what
//! the records said together, and in the end nothing is left.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{
    BlobId, CompactionOptions, Content, Durability, Partition, Record, RecordKind, Unpaced,
};
use afterbay_test_form::replica_cases;
use bytes::Bytes;

use crate::common::random::Random;
use crate::common::{PARTITION, TestClock, blob_id, small_options};

const BLOBS: u8 = 6;
/// All that happens to blobs has happened by then.
const SAID_MS: u64 = 2_000;
const END_MS: u64 = 10_000;

fn expiry(random: &mut Random) -> u64 {
    if random.below(4) == 0 { 0 } else { SAID_MS + random.below(60) * 100 }
}

/// A blob, and what was done to it.
struct Blob {
    id: BlobId,
    records: Vec<Record>,
    is_deleted: bool,
    expires_ms: u64,
    undeletes: u32,
    updates: u64,
}

impl Blob {
    fn new(number: u8, random: &mut Random) -> Self {
        let id = blob_id(number);
        let content =
            Content { container: 1, properties: Bytes::new(), body: vec![number; 600].into() };
        let (kind, life, expires_ms) = (RecordKind::Put, 0, expiry(random));
        let put = Record { id, kind, life, time_ms: 1_000, expires_ms, content: Some(content) };
        let mut blob = Blob {
            id,
            records: vec![put.clone()],
            is_deleted: false,
            expires_ms,
            undeletes: 0,
            updates: random.below(3) * random.below(2),
        };
        let fact = |kind, life, time_ms, expires_ms| Record {
            kind,
            life,
            time_ms,
            expires_ms,
            content: None,
            ..put.clone()
        };
        for step in 0..random.below(5) {
            let (life, time_ms) = (blob.undeletes, 1_100 + step * 100);
            blob.records.push(if blob.is_deleted {
                blob.undeletes += 1;
                fact(RecordKind::Undelete, life + 1, time_ms, 0)
            } else {
                fact(RecordKind::Delete, life, time_ms, 0)
            });
            blob.is_deleted = !blob.is_deleted;
        }
        for update in 0..blob.updates {
            blob.expires_ms = expiry(random);
            let time_ms = 1_150 + update * 100;
            blob.records.push(fact(RecordKind::TtlUpdate, 0, time_ms, blob.expires_ms));
        }
        blob
    }

    fn is_gone(&self, time_ms: u64) -> bool {
        self.is_deleted || (self.expires_ms != 0 && self.expires_ms < time_ms)
    }

    /// What is left of it when what expired before may have gone.
    fn check(&self, partition: &Partition, expired_before_ms: u64, tally: &mut Tally) {
        let left = partition.export(self.id).unwrap();
        if !left.is_empty() {
            let missing = partition.missing_unless_expired(&[self.id], expired_before_ms).unwrap();
            assert_eq!(missing, [], "{left:?}");
        }
        let content = left.iter().any(|record| record.kind == RecordKind::Put);
        if !self.is_gone(expired_before_ms) {
            assert!(content, "{left:?}");
        } else if !self.is_deleted {
            tally.expired += 1;
            tally.without_content += u64::from(!content && !left.is_empty());
            tally.of_undeleted += u64::from(self.undeletes > 0 && self.updates == 0);
        }
        if !self.is_deleted && content {
            let life = left.iter().filter(|record| record.kind != RecordKind::TtlUpdate);
            let deleted = life.max_by_key(|r| (r.life, r.kind == RecordKind::Delete)).unwrap();
            // Of what is expired, parts may be gone.
            assert!(
                deleted.kind != RecordKind::Delete || self.is_gone(expired_before_ms),
                "{left:?}"
            );
        }
    }
}

/// How often something was seen.
#[derive(Debug, Default)]
struct Tally {
    expired: u64,
    without_content: u64,
    of_undeleted: u64,
}

fn options(before_ms: u64, tombstones_before_sequence: u64) -> CompactionOptions {
    CompactionOptions {
        deleted_before_ms: before_ms,
        expired_before_ms: before_ms,
        tombstones_before_sequence,
        garbage_percent_min: 0,
        lost_is_repaired: false,
    }
}

fn compact_all(partition: &Partition, options: &CompactionOptions) {
    partition.seal().unwrap();
    while partition.compact(options, &Unpaced).unwrap().segments_before > 0 {}
}

fn expire(seed: u64, tally: &mut Tally) {
    let mut random = Random(seed);
    let disk = SimDisk::new(seed);
    Partition::create(&*disk.directory(), PARTITION, &small_options()).unwrap();
    let clock = Arc::new(TestClock(AtomicU64::new(SAID_MS)));
    let partition = Partition::open(disk.directory(), small_options(), clock).unwrap();
    let blobs: Vec<_> = (0..BLOBS).map(|number| Blob::new(number, &mut random)).collect();
    let mut records: Vec<_> = blobs.iter().flat_map(|blob| blob.records.clone()).collect();
    while !records.is_empty() {
        let record = records.swap_remove(random.below(records.len() as u64) as usize);
        partition.apply(vec![record], Durability::Durable).remove(0).unwrap();
        if random.below(4) == 0 {
            // Nothing of it is old.
            compact_all(&partition, &options(500, 0));
        }
    }
    let mut before_ms = SAID_MS;
    while before_ms < END_MS {
        // What was heard of everywhere goes on.
        let passed = random.below(60);
        compact_all(&partition, &options(before_ms, passed));
        blobs.iter().for_each(|blob| blob.check(&partition, before_ms, tally));
        before_ms += random.below(1_500);
    }
    for _ in 0..4 {
        compact_all(&partition, &options(END_MS, u64::MAX));
        blobs.iter().for_each(|blob| blob.check(&partition, END_MS, tally));
    }
    for blob in &blobs {
        let left = partition.export(blob.id).unwrap();
        assert_eq!(left.is_empty(), blob.is_gone(END_MS), "seed {seed}: {left:?}");
    }
}

#[test]
fn what_is_left_of_an_expired_blob_says_that_it_is() {
    let mut tally = Tally::default();
    let cases = replica_cases();
    (0..cases).for_each(|seed| expire(seed * 31, &mut tally));
    let least = tally.expired.min(tally.without_content).min(tally.of_undeleted);
    assert!(least > cases / 4, "{tally:?}");
}
