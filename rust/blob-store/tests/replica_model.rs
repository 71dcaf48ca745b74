//! Replicas that hear of the same records: in another order, several times, with seals, compactions and crashes in between.
//! They agree with each other, and with a plain model: the maxima of all records.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use afterbay_blob_format::crc32c_of;
use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{
    BlobId, CompactionOptions, Content, Durability, Error, Partition, Record, RecordKind, Unpaced,
};
use afterbay_test_form::replica_cases;
use bytes::Bytes;

use crate::common::random::Random;
use crate::common::{PARTITION, TestClock, blob_id, small_options};

const BLOBS: u8 = 5;
const REPLICAS: usize = 3;
/// Deletes of before may be compacted, undeletes come later.
const OLD_MS: u64 = 1_500;
const END_MS: u64 = 3_000;

/// The maxima of a blob's records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Maxima {
    alive: Option<(u32, u64)>,
    deleted: Option<(u32, u64)>,
    expiry: Option<(u64, u64)>,
    content: Option<Stored>,
}

/// Container, bytes and checksum of a content.
type Stored = (u32, usize, u32);

fn stored(content: &Content) -> Stored {
    (content.container, content.body.len(), crc32c_of(&[&content.body]))
}

impl Maxima {
    fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut maxima = Maxima::default();
        for record in records {
            let key = Some((record.life, record.time_ms));
            let expires = if record.expires_ms == 0 { u64::MAX } else { record.expires_ms };
            match record.kind {
                RecordKind::Put => {
                    maxima.alive = maxima.alive.max(key);
                    maxima.expiry = maxima.expiry.max(Some((0, expires)));
                    maxima.content = record.content.as_ref().map(stored);
                }
                RecordKind::Undelete => maxima.alive = maxima.alive.max(key),
                RecordKind::Delete => maxima.deleted = maxima.deleted.max(key),
                RecordKind::TtlUpdate => {
                    maxima.expiry = maxima.expiry.max(Some((record.time_ms, expires)));
                }
            }
        }
        maxima
    }

    fn is_deleted(&self) -> bool {
        let life = |key: Option<(u32, u64)>| key.map(|(life, _)| life);
        self.deleted.is_some() && life(self.deleted) >= life(self.alive)
    }

    fn is_expired(&self) -> bool {
        self.expiry.is_some_and(|(_, expires)| expires <= END_MS)
    }
}

/// What happened to some blobs, anywhere. Of a blob, a put has one content and time, whoever repeats it.
fn history(random: &mut Random) -> Vec<Record> {
    let mut records = Vec::new();
    for blob in 0..BLOBS {
        let expires = |random: &mut Random| match random.below(3) {
            0 => 0,
            _ => 2_000 + random.below(20) * 100,
        };
        let (life, expires_ms) = (0, expires(random));
        let (kind, time_ms) = (RecordKind::Put, 1_000 + u64::from(blob));
        let body = vec![blob; 100 + 700 * usize::from(blob)].into();
        let content = Some(Content { container: 3, properties: Bytes::new(), body });
        let put = Record { id: blob_id(blob), kind, life, time_ms, expires_ms, content };
        records.push(put.clone());
        for _ in 0..random.below(8) {
            // Few values, so that they meet.
            let (life, time_ms) = (random.below(3) as u32, 1_000 + random.below(8) * 200);
            let fact = Record { life, time_ms, expires_ms: 0, content: None, ..put };
            records.push(match random.below(6) {
                0 | 1 => Record { kind: RecordKind::Delete, ..fact },
                2 => {
                    // In the window of the delete that it undoes.
                    let time_ms = fact.time_ms.max(OLD_MS);
                    Record { kind: RecordKind::Undelete, life: life.max(1), time_ms, ..fact }
                }
                3 => Record { life, ..put.clone() },
                _ => Record { kind: RecordKind::TtlUpdate, expires_ms: expires(random), ..fact },
            });
        }
    }
    records
}

/// How often something happened.
#[derive(Debug, Default)]
struct Tally {
    crashes: u64,
    dropped: u64,
    news: u64,
    known: u64,
    alive: u64,
    deleted: u64,
    expired: u64,
    fetched: u64,
}

struct Replica {
    disk: SimDisk,
    partition: Option<Partition>,
}

impl Replica {
    fn new(seed: u64) -> Self {
        let disk = SimDisk::new(seed);
        Partition::create(&*disk.directory(), PARTITION, &small_options()).unwrap();
        let mut replica = Replica { disk, partition: None };
        replica.open();
        replica
    }

    fn open(&mut self) {
        let clock = Arc::new(TestClock(AtomicU64::new(END_MS)));
        let opened = Partition::open(self.disk.directory(), small_options(), clock);
        self.partition = Some(opened.unwrap());
    }

    fn partition(&self) -> &Partition {
        self.partition.as_ref().unwrap()
    }

    fn crash(&mut self, random: &mut Random, tally: &mut Tally) {
        tally.crashes += 1;
        self.partition = None;
        self.disk.mend();
        if random.one_in(2) {
            self.disk.kill_process()
        } else {
            self.disk.lose_power()
        }
        self.open();
    }

    fn apply(&mut self, records: Vec<Record>, random: &mut Random, tally: &mut Tally) {
        let durability = if random.one_in(3) { Durability::Fast } else { Durability::Durable };
        for result in self.partition().apply(records, durability) {
            match result {
                Ok(afterbay_blob_store::Written::Now) => tally.news += 1,
                Ok(afterbay_blob_store::Written::Before) => tally.known += 1,
                Err(_) if self.disk.fault_met() => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Something else that happens to a replica.
    fn disturb(&mut self, compaction: &CompactionOptions, random: &mut Random, tally: &mut Tally) {
        let done = match random.below(8) {
            0 | 1 => self.partition().seal(),
            2..4 => self.partition().compact(compaction, &Unpaced).map(|report| {
                tally.dropped += report.dropped_records;
            }),
            4 => {
                let names = self.disk.names();
                for name in names.into_iter().filter(|name| name.ends_with(".index")) {
                    self.disk.remove(&name);
                }
                self.crash(random, tally);
                Ok(())
            }
            5 => {
                self.disk.fail_after(random.below(20), Fault::Stop);
                Ok(())
            }
            _ => {
                self.crash(random, tally);
                Ok(())
            }
        };
        if self.disk.fault_met() {
            self.crash(random, tally);
        } else {
            done.unwrap();
        }
    }

    fn maxima(&self) -> BTreeMap<BlobId, Maxima> {
        let ids = (0..BLOBS).map(blob_id);
        ids.map(|id| (id, Maxima::of(&self.partition().export(id).unwrap()))).collect()
    }

    /// What a client sees is what the maxima say.
    fn check_reads(&self, model: &BTreeMap<BlobId, Maxima>, tally: &mut Tally) {
        for (id, maxima) in model {
            match self.partition().get(*id) {
                Ok(reader) => {
                    assert!(!maxima.is_deleted() && !maxima.is_expired(), "{id}: {maxima:?}");
                    let body = reader.read().unwrap();
                    let seen = (reader.container(), body.len(), crc32c_of(&[&body]));
                    assert_eq!(Some(seen), maxima.content);
                    tally.alive += 1;
                }
                Err(Error::Deleted(_)) => {
                    assert!(maxima.is_deleted(), "{id}: {maxima:?}");
                    tally.deleted += 1;
                }
                Err(Error::Expired(_)) => {
                    assert!(!maxima.is_deleted() && maxima.is_expired(), "{id}: {maxima:?}");
                    tally.expired += 1;
                }
                Err(error) => panic!("{id}: {error}; {maxima:?}"),
            }
        }
    }
}

fn model(records: &[Record]) -> BTreeMap<BlobId, Maxima> {
    let of = |id| Maxima::of(records.iter().filter(|record| record.id == id));
    (0..BLOBS).map(blob_id).map(|id| (id, of(id))).collect()
}

/// Each replica hears of all records, in its order, and of some of them several times.
fn hear_all(seed: u64, tally: &mut Tally) {
    let mut random = Random(seed);
    let records = history(&mut random);
    let model = model(&records);
    // Whatever may go at all, but for tombstones: that they were heard of is what the model says.
    let compaction = CompactionOptions {
        deleted_before_ms: u64::MAX,
        expired_before_ms: u64::MAX,
        tombstones_before_sequence: 0,
        garbage_percent_min: random.below(30) as u8,
        lost_is_repaired: false,
    };
    for replica in 0..REPLICAS {
        let mut replica = Replica::new(seed + replica as u64);
        for _ in 0..2 {
            for batch in random.shuffled(&records).chunks(1 + random.below(4) as usize) {
                replica.apply(batch.to_vec(), &mut random, tally);
                if replica.disk.fault_met() {
                    replica.crash(&mut random, tally);
                } else if random.one_in(2) {
                    replica.disturb(&compaction, &mut random, tally);
                }
            }
        }
        replica.crash(&mut random, tally);
        // What was lost or left out meanwhile comes once more.
        for record in random.shuffled(&records) {
            replica.partition().apply(vec![record], Durability::Durable).remove(0).unwrap();
        }
        assert_eq!(replica.maxima(), model, "seed {seed}");
        replica.check_reads(&model, tally);
        replica.crash(&mut random, tally);
        assert_eq!(replica.maxima(), model, "seed {seed}, after a crash");
    }
}

/// Each record is heard of by one replica or more; then they tell each other.
fn tell_each_other(seed: u64, tally: &mut Tally) {
    let mut random = Random(seed);
    let records = history(&mut random);
    let model = model(&records);
    let compaction = CompactionOptions {
        deleted_before_ms: 0,
        expired_before_ms: 0,
        tombstones_before_sequence: u64::MAX,
        garbage_percent_min: 0,
        lost_is_repaired: false,
    };
    let mut replicas: Vec<_> = (0..REPLICAS).map(|i| Replica::new(seed + i as u64)).collect();
    let mut next = [[0; REPLICAS]; REPLICAS];
    for record in random.shuffled(&records) {
        let at = random.below(REPLICAS as u64) as usize;
        let partition = replicas[at].partition();
        partition.apply(vec![record], Durability::Durable).remove(0).unwrap();
        let other = random.below(REPLICAS as u64) as usize;
        replicas[other].disturb(&compaction, &mut random, tally);
        replicas.iter().for_each(|replica| replica.disk.mend());
        if random.one_in(3) {
            pull(&replicas, at, other, &mut next, tally);
        }
    }
    for _ in 0..REPLICAS {
        for (at, from) in (0..REPLICAS).flat_map(|at| (0..REPLICAS).map(move |from| (at, from))) {
            pull(&replicas, at, from, &mut next, tally);
        }
    }
    for (at, replica) in replicas.iter().enumerate() {
        for (id, maxima) in replica.maxima() {
            let expected = &model[&id];
            if expected.is_deleted() {
                // Its put need not be here, and what that says is not.
                assert_eq!(maxima.deleted, expected.deleted, "seed {seed}, replica {at}");
            } else {
                assert_eq!(maxima, *expected, "seed {seed}, replica {at}");
            }
        }
        replica.check_reads(&model, tally);
        let ids: Vec<_> = (0..BLOBS).map(blob_id).collect();
        assert_eq!(replica.partition().missing(&ids).unwrap(), [], "seed {seed}, replica {at}");
    }
}

/// As a replicator does it: what is new, page by page, then the content that is missing.
fn pull(
    replicas: &[Replica],
    at: usize,
    from: usize,
    next: &mut [[u64; REPLICAS]; REPLICAS],
    tally: &mut Tally,
) {
    if at == from {
        return;
    }
    let (here, there) = (replicas[at].partition(), replicas[from].partition());
    loop {
        let page = there.changes_since(next[at][from], 3).unwrap();
        if page.changes.is_empty() {
            break;
        }
        let facts = page.changes.iter().filter_map(|change| change.record()).collect();
        let written = here.apply(facts, Durability::Durable);
        assert!(written.iter().all(Result::is_ok), "{written:?}");
        let ids: Vec<_> = page.changes.iter().map(|change| change.id).collect();
        fetch(here, there, &ids, tally);
        next[at][from] = page.next_sequence;
    }
    // What became alive by what another one told, which does not have the content itself.
    let ids: Vec<_> = (0..BLOBS).map(blob_id).collect();
    fetch(here, there, &ids, tally);
}

fn fetch(here: &Partition, there: &Partition, ids: &[BlobId], tally: &mut Tally) {
    for id in here.missing(ids).unwrap() {
        let records = there.export(id).unwrap();
        tally.fetched += u64::from(!records.is_empty());
        for done in here.apply(records, Durability::Durable) {
            done.unwrap();
        }
    }
}

#[test]
fn replicas_that_hear_of_the_same_records_agree() {
    let mut tally = Tally::default();
    let cases = replica_cases();
    (0..cases).for_each(|seed| hear_all(seed * 1000, &mut tally));
    let Tally { crashes, dropped, news, known, alive, deleted, expired, .. } = tally;
    let least = crashes.min(dropped).min(news).min(known).min(alive).min(deleted).min(expired);
    assert!(least > cases, "{tally:?}");
}

#[test]
fn replicas_that_tell_each_other_what_is_new_agree() {
    let mut tally = Tally::default();
    let cases = replica_cases();
    (0..cases).for_each(|seed| tell_each_other(seed * 1000 + 7, &mut tally));
    let Tally { crashes, dropped, alive, deleted, fetched, .. } = tally;
    let least = crashes.min(alive).min(deleted).min(fetched);
    assert!(least > cases && dropped > cases / 2, "{tally:?}");
}
