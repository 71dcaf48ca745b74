//! Replicas that hear of the same records in another order, one rule each. `replica_model.rs` has all of them at random.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{
    Changes, CompactionOptions, Content, Durability, Error, Operation, Options, Origin, Partition,
    Put, Record, RecordKind, Result, Unpaced, Write, Written,
};
use bytes::Bytes;

use crate::common::{PARTITION, TestClock, blob_id, everything, small_options};

const DURABLE: Durability = Durability::Durable;

pub(crate) fn replica_on(disk: &SimDisk, now_ms: u64) -> Partition {
    Partition::create(&*disk.directory(), PARTITION, &small_options()).unwrap();
    open(disk, now_ms)
}

fn open(disk: &SimDisk, now_ms: u64) -> Partition {
    let clock = Arc::new(TestClock(AtomicU64::new(now_ms)));
    Partition::open(disk.directory(), small_options(), clock).unwrap()
}

fn replica() -> Partition {
    replica_on(&SimDisk::new(1), 4_500)
}

fn put(blob: u8) -> Record {
    let content = Content { container: 7, properties: Bytes::new(), body: vec![blob; 10].into() };
    let (kind, life, time_ms, expires_ms) = (RecordKind::Put, 0, 1_000, 5_000);
    Record { id: blob_id(blob), kind, life, time_ms, expires_ms, content: Some(content) }
}

fn record(kind: RecordKind, time_ms: u64, life: u32) -> Record {
    Record { kind, life, time_ms, expires_ms: 0, content: None, ..put(1) }
}

fn delete(time_ms: u64, life: u32) -> Record {
    record(RecordKind::Delete, time_ms, life)
}

fn undelete(time_ms: u64, life: u32) -> Record {
    record(RecordKind::Undelete, time_ms, life)
}

fn ttl(time_ms: u64, expires_ms: u64) -> Record {
    Record { expires_ms, ..record(RecordKind::TtlUpdate, time_ms, 0) }
}

fn apply(partition: &Partition, records: impl IntoIterator<Item = Record>) -> Vec<Written> {
    let results = partition.apply(records.into_iter().collect(), DURABLE);
    results.into_iter().map(Result::unwrap).collect()
}

/// Applies the same records in two orders, and returns both replicas.
fn both(records: &[Record]) -> [Partition; 2] {
    let (one, other) = (replica(), replica());
    for record in records {
        apply(&one, [record.clone()]);
    }
    for record in records.iter().rev() {
        apply(&other, [record.clone()]);
        other.seal().unwrap();
    }
    [one, other]
}

#[test]
fn a_ttl_update_to_the_present_expiry_counts() {
    let records = [put(1), ttl(2_000, 9_000), ttl(3_000, 5_000)];
    let expiries = both(&records).map(|replica| replica.get(blob_id(1)).unwrap().expires_ms());
    assert_eq!(expiries, [5_000, 5_000]);
    // The same by single requests, as a coordinator may send them.
    let replica = replica();
    apply(&replica, [put(1)]);
    let write = |time_ms, expires_ms| {
        let origin = Origin::Replica { time_ms, life: 0 };
        let operation = Operation::UpdateTtl(blob_id(1), expires_ms);
        replica.write(Write { operation, durability: DURABLE, origin }).unwrap()
    };
    assert_eq!(write(3_000, 5_000), Written::Now);
    assert_eq!(write(2_000, 9_000), Written::Before);
    assert_eq!(replica.get(blob_id(1)).unwrap().expires_ms(), 5_000);
}

#[test]
fn a_ttl_update_of_a_deleted_blob_is_kept_for_the_undelete() {
    let records = [put(1), ttl(2_000, 9_000), delete(3_000, 0), undelete(4_000, 1)];
    let expiries = both(&records).map(|replica| replica.get(blob_id(1)).unwrap().expires_ms());
    assert_eq!(expiries, [9_000, 9_000]);
}

#[test]
fn never_is_the_latest_expiry_of_a_time() {
    let [one, other] = both(&[put(1), ttl(2_000, 9_000), ttl(2_000, 0), ttl(2_000, 7_000)]);
    assert_eq!(one.get(blob_id(1)).unwrap().expires_ms(), 0);
    assert_eq!(other.get(blob_id(1)).unwrap().expires_ms(), 0);
}

/// Its own clock says that the blob is expired: it may have been given more time.
#[test]
fn an_expired_blob_is_taken_since_an_update_may_come() {
    let replica = replica_on(&SimDisk::new(1), 6_000);
    assert_eq!(apply(&replica, [put(1)]), [Written::Now]);
    assert!(matches!(replica.get(blob_id(1)), Err(Error::Expired(_))));
    apply(&replica, [ttl(4_000, 9_000)]);
    assert_eq!(replica.get(blob_id(1)).unwrap().expires_ms(), 9_000);
}

#[test]
fn after_a_tombstone_the_next_life_is_taken_and_what_is_missing_is_said() {
    let replica = replica();
    let missing = |replica: &Partition| replica.missing(&[blob_id(1), blob_id(2)]).unwrap();
    assert_eq!(missing(&replica), [blob_id(1), blob_id(2)]);
    assert_eq!(apply(&replica, [delete(2_000, 0)]), [Written::Now]);
    assert_eq!(missing(&replica), [blob_id(2)], "it is deleted");
    assert_eq!(apply(&replica, [undelete(3_000, 1)]), [Written::Now]);
    assert_eq!(missing(&replica), [blob_id(1), blob_id(2)]);
    assert!(matches!(replica.get(blob_id(1)), Err(Error::NotFound(_))));
    assert_eq!(apply(&replica, [put(1)]), [Written::Now]);
    assert_eq!(missing(&replica), [blob_id(2)]);
    assert_eq!(replica.get(blob_id(1)).unwrap().read().unwrap(), [1; 10][..]);
}

#[test]
fn a_put_of_a_higher_life_than_the_tombstone_is_alive() {
    let put_again = Record { life: 1, ..put(1) };
    for first in [vec![delete(2_000, 0)], vec![put(1), delete(2_000, 0)]] {
        let replica = replica();
        apply(&replica, first);
        replica.seal().unwrap();
        assert_eq!(apply(&replica, [put_again.clone()]), [Written::Now]);
        assert_eq!(apply(&replica, [put_again.clone()]), [Written::Before]);
        assert_eq!(replica.get(blob_id(1)).unwrap().read().unwrap(), [1; 10][..]);
        assert_eq!(apply(&replica, [delete(2_500, 1)]), [Written::Now]);
        assert!(matches!(replica.get(blob_id(1)), Err(Error::Deleted(_))));
    }
}

/// The records of a blob lie before its put, in segments of their own: each of them is found, also after compactions, and when
/// the indexes are computed again.
#[test]
fn a_put_that_comes_last_hides_nothing() {
    let disk = SimDisk::new(1);
    let replica = replica_on(&disk, 4_500);
    for record in [ttl(2_000, 9_000), delete(3_000, 1), undelete(3_500, 2), put(1)] {
        apply(&replica, [record]);
        apply(&replica, [put(9)]);
        replica.seal().unwrap();
    }
    let check = |replica: &Partition| {
        assert_eq!(replica.get(blob_id(1)).unwrap().expires_ms(), 9_000);
        assert_eq!(apply(replica, [delete(3_000, 1)]), [Written::Before]);
        assert_eq!(replica.known(blob_id(1)).unwrap().len(), 3);
    };
    check(&replica);
    let options = CompactionOptions { expired_before_ms: 0, ..everything() };
    apply(&replica, [delete(1_000, 0), undelete(3_000, 2)]);
    replica.seal().unwrap();
    let mut dropped = 0;
    loop {
        let report = replica.compact(&options, &Unpaced).unwrap();
        dropped += report.dropped_records;
        if report.segments_before == 0 {
            break;
        }
    }
    assert_eq!(dropped, 0, "nothing was written that says nothing new");
    check(&replica);
    drop(replica);
    for name in disk.names().into_iter().filter(|name| name.ends_with(".index")) {
        disk.remove(&name);
    }
    check(&open(&disk, 4_500));
}

#[test]
fn what_is_exported_makes_another_replica_the_same() {
    let [one, _] = both(&[put(1), ttl(2_000, 9_000), delete(3_000, 0), undelete(4_000, 1)]);
    let exported = one.export(blob_id(1)).unwrap();
    assert_eq!(exported[0], put(1));
    assert_eq!(exported[1..], one.known(blob_id(1)).unwrap());
    let other = replica();
    assert_eq!(apply(&other, exported.clone()), [Written::Now; 4]);
    assert_eq!(other.export(blob_id(1)).unwrap(), exported);
    assert_eq!(apply(&one, exported), [Written::Before; 4]);
    assert_eq!(one.export(blob_id(2)).unwrap(), []);
    assert_eq!(one.get(blob_id(1)).unwrap().container(), 7);
}

#[test]
fn records_that_no_replica_has_are_refused() {
    let replica = replica();
    let other = Content { body: Bytes::from_static(b"another"), ..put(1).content.unwrap() };
    let refused = |record: Record| replica.apply(vec![record], DURABLE).remove(0).unwrap_err();
    let text = refused(Record { content: None, ..put(1) }).to_string();
    assert!(text.contains("a put without content"), "{text}");
    assert!(matches!(refused(Record { expires_ms: 1, ..delete(1, 0) }), Error::Record { .. }));
    let content = put(1).content;
    assert!(matches!(refused(Record { content, ..delete(1, 0) }), Error::Record { .. }));
    let torn = Content { properties: Bytes::from_static(b"\x01"), ..put(1).content.unwrap() };
    let torn = refused(Record { content: Some(torn), ..put(1) });
    assert!(matches!(torn, Error::Properties { .. }), "{torn}");
    apply(&replica, [put(1)]);
    let collision = refused(Record { content: Some(other), ..put(1) });
    assert!(matches!(collision, Error::Collision(_)), "{collision}");
    // The others of a group are written.
    let results = replica.apply(vec![Record { content: None, ..put(1) }, put(2)], DURABLE);
    assert!(results[0].is_err() && results[1].is_ok(), "{results:?}");
}

#[test]
fn a_change_says_all_that_another_replica_needs() {
    let one = replica();
    let records = [put(1), ttl(2_000, 9_000), delete(3_000, 0), undelete(4_000, 1)];
    apply(&one, records.clone());
    // From the journal, and from the log.
    for partition in [&one, &replica_of_log(&one)] {
        let Changes { changes, next_sequence } = partition.changes_since(1, 100).unwrap();
        assert_eq!(next_sequence, 5);
        let told: Vec<_> = changes.iter().filter_map(|change| change.record()).collect();
        assert_eq!(told, records[1..]);
        let put = changes[0];
        assert_eq!(
            (put.kind, put.life, put.time_ms, put.expires_ms),
            (RecordKind::Put, 0, 1_000, 5_000)
        );
        assert_eq!(
            changes.iter().map(|change| change.length).collect::<Vec<_>>(),
            [102, 88, 88, 88]
        );
    }
}

/// With so many other records behind them that the journal has forgotten the first ones.
fn replica_of_log(of: &Partition) -> Partition {
    let disk = SimDisk::new(2);
    let options = Options { journal_records: 0, ..small_options() };
    Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
    let clock = Arc::new(TestClock(AtomicU64::new(4_500)));
    let replica = Partition::open(disk.directory(), options, clock).unwrap();
    apply(&replica, of.export(blob_id(1)).unwrap());
    replica
}

/// A client's put is compared with what another replica brought before it: the same blob is no collision.
#[test]
fn a_blob_that_replication_brings_first_is_the_same_blob() {
    let replica = replica();
    apply(&replica, [put(1)]);
    let own = Put { expires_ms: 5_000, ..Put::new(blob_id(1), vec![1; 10]) };
    assert_eq!(replica.put(own, DURABLE).unwrap(), Written::Before);
}
