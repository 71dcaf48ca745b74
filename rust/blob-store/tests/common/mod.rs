//! A partition on a simulated disk beside a plain map, and steps that are taken on both.

#![allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{
    BlobId, Clock, CompactionOptions, Durability, Error, Operation, Options, Partition,
    PartitionId, Properties, PropertyClass, Put, Unpaced, Write, Written,
};
use proptest::prelude::*;
use uuid::Uuid;

pub const PARTITION: PartitionId = PartitionId(0xb10b);

#[derive(Debug, Default)]
pub struct TestClock(pub AtomicU64);

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub fn blob_id(number: u8) -> BlobId {
    // All in one page and sorted otherwise than by number.
    let uuid = Uuid::from_u128(u128::from(number.reverse_bits()) << 120 | u128::from(number));
    BlobId { partition: PARTITION, uuid }
}

pub fn small_options() -> Options {
    Options {
        capacity_bytes: 1 << 20,
        segment_bytes: 16 << 10,
        segment_records_max: 40,
        journal_records: 16,
        ..Options::default()
    }
}

/// Leaves out what may go at all, but for tombstones.
pub fn everything() -> CompactionOptions {
    CompactionOptions {
        deleted_before_ms: u64::MAX,
        expired_before_ms: u64::MAX,
        tombstones_before_sequence: 0,
        garbage_percent_min: 0,
    }
}

/// A content: which bytes, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    pub seed: u8,
    pub length: u16,
}

impl Content {
    pub fn body(self) -> Vec<u8> {
        (0..self.length).map(|i| self.seed.wrapping_mul(31).wrapping_add((i >> 3) as u8)).collect()
    }

    pub fn properties(self) -> Properties {
        Properties::default().with(PropertyClass::User, "seed", vec![self.seed])
    }
}

#[derive(Debug, Clone)]
pub enum Op {
    Put { blob: u8, content: Content, ttl: u64 },
    Delete(u8),
    Undelete(u8),
    UpdateTtl(u8, u64),
}

impl Op {
    pub fn blob(&self) -> u8 {
        match self {
            Op::Put { blob, .. }
            | Op::Delete(blob)
            | Op::Undelete(blob)
            | Op::UpdateTtl(blob, _) => *blob,
        }
    }

    fn operation(&self, now_ms: u64) -> Operation {
        let expires = |ttl: u64| if ttl == 0 { 0 } else { now_ms + ttl };
        match *self {
            Op::Put { blob, content, ttl } => Operation::Put(Put {
                properties: content.properties(),
                expires_ms: expires(ttl),
                ..Put::new(blob_id(blob), content.body())
            }),
            Op::Delete(blob) => Operation::Delete(blob_id(blob)),
            Op::Undelete(blob) => Operation::Undelete(blob_id(blob)),
            Op::UpdateTtl(blob, ttl) => Operation::UpdateTtl(blob_id(blob), expires(ttl)),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Step {
    Batch(Vec<(Op, Durability)>),
    Flush,
    Seal,
    Compact {
        garbage_percent_min: u8,
        tombstones: bool,
    },
    Wait(u64),
    Reopen,
    Kill,
    LosePower,
    /// From here on, the so many-th change meets a fault.
    Fault(u8, Fault),
    LoseIndexes,
    /// The process or the machine ends, and while it begins again, once more.
    FaultInRecovery {
        after: u8,
        fault: Fault,
        power: (bool, bool),
    },
}

fn durability() -> impl Strategy<Value = Durability> {
    prop_oneof![
        2 => Just(Durability::Fast),
        5 => Just(Durability::Durable),
        1 => Just(Durability::Paranoid),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let blob = || 0..8u8;
    // Few contents, so that the same blob comes again.
    let length = prop_oneof![3 => 0..200u16, 2 => 200..3000u16, 1 => 3000..9000u16];
    let content =
        (0..3u8, length).prop_map(|(seed, length)| Content { seed, length: length / 100 * 100 });
    let ttl = || prop_oneof![3 => Just(0), 1 => 1..100u64];
    prop_oneof![
        6 => (blob(), content, ttl()).prop_map(|(blob, content, ttl)| Op::Put { blob, content, ttl }),
        3 => blob().prop_map(Op::Delete),
        1 => blob().prop_map(Op::Undelete),
        1 => (blob(), ttl()).prop_map(|(blob, ttl)| Op::UpdateTtl(blob, ttl)),
    ]
}

fn batch() -> impl Strategy<Value = Step> {
    proptest::collection::vec((op(), durability()), 1..5).prop_map(Step::Batch)
}

fn quiet_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        24 => batch(),
        1 => Just(Step::Flush),
        2 => Just(Step::Seal),
        3 => (0..60u8, any::<bool>())
            .prop_map(|(garbage_percent_min, tombstones)| Step::Compact { garbage_percent_min, tombstones }),
        3 => (1..60u64).prop_map(Step::Wait),
        1 => Just(Step::Reopen),
        1 => Just(Step::LoseIndexes),
    ]
}

/// Steps without crashes and faults.
pub fn quiet_steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(quiet_step(), 1..60)
}

/// Steps with crashes and faults.
pub fn rough_steps() -> impl Strategy<Value = Vec<Step>> {
    let fault = prop_oneof![
        4 => Just(Fault::Stop),
        2 => Just(Fault::Eio),
        1 => Just(Fault::Enospc),
    ];
    let in_recovery = (0..12u8, fault.clone(), any::<(bool, bool)>())
        .prop_map(|(after, fault, power)| Step::FaultInRecovery { after, fault, power });
    let step = prop_oneof![
        12 => quiet_step(),
        1 => in_recovery,
        1 => Just(Step::Kill),
        2 => Just(Step::LosePower),
        3 => (0..40u8, fault).prop_map(|(after, fault)| Step::Fault(after, fault)),
    ];
    proptest::collection::vec(step, 1..60)
}

/// What a blob may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    content: Content,
    deleted: bool,
    expires_ms: u64,
    /// A compaction may have removed it, and its tombstone.
    may_be_gone: bool,
}

type Possible = Vec<Option<Known>>;

/// What a request comes to, for one thing that its blob may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Now,
    Before,
    NotFound,
    Deleted,
    Expired,
    Collision,
    NotDeleted,
}

fn answer(result: &Result<Written, Error>) -> Option<Answer> {
    Some(match result {
        Ok(Written::Now) => Answer::Now,
        Ok(Written::Before) => Answer::Before,
        Err(Error::NotFound(_)) => Answer::NotFound,
        Err(Error::Deleted(_)) => Answer::Deleted,
        Err(Error::Expired(_)) => Answer::Expired,
        Err(Error::Collision(_)) => Answer::Collision,
        Err(Error::NotDeleted(_)) => Answer::NotDeleted,
        Err(_) => return None,
    })
}

/// All answers that are right, with what the blob is then.
fn right_answers(known: Option<Known>, op: &Op, now_ms: u64) -> Vec<(Answer, Option<Known>)> {
    let expires = |ttl: u64| if ttl == 0 { 0 } else { now_ms + ttl };
    let Some(blob) = known else {
        return vec![match *op {
            Op::Put { content, ttl, .. } => {
                let (deleted, may_be_gone) = (false, false);
                let new = Known { content, deleted, expires_ms: expires(ttl), may_be_gone };
                (Answer::Now, Some(new))
            }
            _ => (Answer::NotFound, None),
        }];
    };
    let expired = blob.expires_ms != 0 && blob.expires_ms <= now_ms;
    let alive = Known { deleted: false, may_be_gone: false, ..blob };
    let right = match *op {
        Op::Put { .. } if blob.deleted => (Answer::Deleted, known),
        Op::Put { .. } if expired => (Answer::Expired, known),
        Op::Put { content, .. } if content == blob.content => (Answer::Before, known),
        Op::Put { .. } => (Answer::Collision, known),
        Op::Delete(_) if blob.deleted => (Answer::Before, known),
        Op::Delete(_) => (Answer::Now, Some(Known { deleted: true, ..blob })),
        Op::Undelete(_) if blob.deleted && expired => (Answer::Expired, known),
        Op::Undelete(_) if blob.deleted => (Answer::Now, Some(alive)),
        Op::Undelete(_) => (Answer::NotDeleted, known),
        Op::UpdateTtl(..) if blob.deleted => (Answer::Deleted, known),
        Op::UpdateTtl(..) if expired => (Answer::Expired, known),
        Op::UpdateTtl(_, ttl) if expires(ttl) == blob.expires_ms => (Answer::Before, known),
        Op::UpdateTtl(_, ttl) => (Answer::Now, Some(Known { expires_ms: expires(ttl), ..blob })),
    };
    let mut answers = vec![right];
    if blob.may_be_gone {
        // Its tombstone may be there or not.
        if matches!(op, Op::Undelete(_)) {
            answers.push((Answer::NotFound, known));
        }
        answers.extend(right_answers(None, op, now_ms));
    }
    answers
}

/// A partition and what it should contain.
pub struct World {
    pub disk: SimDisk,
    pub clock: Arc<TestClock>,
    pub partition: Option<Partition>,
    /// What each blob may be, for a process that reads it now.
    now: BTreeMap<u8, Possible>,
    /// The same after a loss of power.
    on_disk: BTreeMap<u8, Possible>,
    pub tally: Tally,
}

/// How often something happened, so that a test can say that it did.
#[derive(Debug, Default)]
pub struct Tally {
    pub doubtful: u64,
    pub compactions: u64,
    pub cuts: u64,
    pub rebuilt_indexes: u64,
    pub alive: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.doubtful += other.doubtful;
        self.compactions += other.compactions;
        self.cuts += other.cuts;
        self.rebuilt_indexes += other.rebuilt_indexes;
        self.alive += other.alive;
    }
}

type Checked = Result<(), String>;

impl World {
    pub fn new(seed: u64) -> Self {
        Self::on(SimDisk::new(seed))
    }

    pub fn on(disk: SimDisk) -> Self {
        let clock = Arc::new(TestClock(AtomicU64::new(1_000)));
        let (now, on_disk) = (BTreeMap::new(), BTreeMap::new());
        World { disk, clock, partition: None, now, on_disk, tally: Tally::default() }
    }

    /// Takes all steps, and compares all blobs after each crash and at the end, after one more loss of power.
    pub fn run(&mut self, steps: &[Step]) -> Checked {
        Partition::create(&*self.disk.directory(), PARTITION, &small_options())
            .map_err(|e| format!("create: {e}"))?;
        self.disk.lose_power();
        self.open()?;
        for (i, step) in steps.iter().enumerate() {
            self.step(step).map_err(|e| format!("step {i}, {step:?}: {e}"))?;
        }
        self.lose_power()
    }

    fn open(&mut self) -> Checked {
        let directory = self.disk.directory();
        match Partition::open(directory, small_options(), self.clock.clone()) {
            Ok(partition) => {
                if !partition.recovery().damaged.is_empty() {
                    return Err(format!("damage: {:?}", partition.recovery()));
                }
                self.tally.cuts += u64::from(partition.recovery().cut_bytes > 0);
                self.tally.rebuilt_indexes += partition.recovery().rebuilt_indexes;
                self.partition = Some(partition);
                self.compare("after opening")?;
                // What can be read after an open is on the disk.
                self.on_disk = self.now.clone();
                Ok(())
            }
            Err(error) => Err(format!("open: {error}")),
        }
    }

    fn partition(&self) -> &Partition {
        self.partition.as_ref().expect("open")
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    fn step(&mut self, step: &Step) -> Checked {
        match step {
            Step::Batch(ops) => self.batch(ops),
            Step::Flush => self.maintain(|partition| partition.flush().map(|()| true)),
            Step::Seal => self.maintain(|partition| partition.seal().map(|()| false)),
            Step::Compact { garbage_percent_min, tombstones } => {
                self.compact(*garbage_percent_min, *tombstones)
            }
            Step::Wait(ms) => {
                self.clock.0.fetch_add(*ms, Ordering::Relaxed);
                Ok(())
            }
            Step::Reopen | Step::Kill => self.kill(),
            Step::LosePower => self.lose_power(),
            Step::Fault(after, fault) => {
                self.disk.fail_after((*after).into(), *fault);
                Ok(())
            }
            Step::LoseIndexes => self.lose_indexes(),
            Step::FaultInRecovery { after, fault, power } => {
                self.fault_in_recovery(*after, *fault, *power)
            }
        }
    }

    fn batch(&mut self, ops: &[(Op, Durability)]) -> Checked {
        let now_ms = self.now_ms();
        let writes =
            ops.iter().map(|(op, durability)| Write::new(op.operation(now_ms), *durability));
        let results = self.partition().write_all(writes.collect());
        let mut doubtful = false;
        for ((op, _), result) in ops.iter().zip(&results) {
            doubtful |= self.note(op, result)?;
        }
        let synced = !doubtful && ops.iter().any(|(_, durability)| *durability > Durability::Fast);
        if synced {
            self.on_disk = self.now.clone();
        }
        self.after_errors(doubtful)
    }

    /// Keeps what the blob may be now. True if nobody knows.
    fn note(&mut self, op: &Op, result: &Result<Written, Error>) -> Result<bool, String> {
        let now_ms = self.now_ms();
        let before = self.now.get(&op.blob()).cloned().unwrap_or_else(|| vec![None]);
        let after: Vec<_> =
            before.iter().flat_map(|known| right_answers(*known, op, now_ms)).collect();
        let refused = matches!(result, Err(Error::ReadOnly { .. } | Error::Full(_)));
        let Some(given) = answer(result) else {
            if !refused {
                let mut possible = before;
                possible.extend(after.iter().map(|(_, known)| *known));
                add(&mut self.on_disk, op.blob(), &possible);
                set(&mut self.now, op.blob(), &possible);
            }
            return Ok(!refused);
        };
        let possible: Possible =
            after.iter().filter(|(right, _)| *right == given).map(|(_, known)| *known).collect();
        if possible.is_empty() {
            return Err(format!("{op:?} at {now_ms} answers {result:?}; it was one of {before:?}"));
        }
        set(&mut self.now, op.blob(), &possible);
        add(&mut self.on_disk, op.blob(), &possible);
        Ok(false)
    }

    fn maintain(&mut self, work: impl FnOnce(&Partition) -> Result<bool, Error>) -> Checked {
        match work(self.partition()) {
            Ok(synced) => {
                if synced {
                    self.on_disk = self.now.clone();
                }
                Ok(())
            }
            Err(_) => self.after_errors(true),
        }
    }

    fn compact(&mut self, garbage_percent_min: u8, tombstones: bool) -> Checked {
        let now_ms = self.now_ms();
        let options = CompactionOptions {
            deleted_before_ms: now_ms,
            expired_before_ms: now_ms,
            tombstones_before_sequence: if tombstones { u64::MAX } else { 0 },
            garbage_percent_min,
        };
        let compacted = self.partition().compact(&options, &Unpaced);
        for possible in [&mut self.now, &mut self.on_disk].into_iter().flat_map(|m| m.values_mut())
        {
            for known in possible.iter_mut().flatten() {
                known.may_be_gone |=
                    known.deleted || (known.expires_ms != 0 && known.expires_ms < now_ms);
            }
        }
        let dropped = compacted.as_ref().is_ok_and(|report| report.dropped_records > 0);
        self.tally.compactions += u64::from(dropped);
        self.after_errors(compacted.is_err())
    }

    /// An error must come from a fault. What can be read still can; then the process ends.
    fn after_errors(&mut self, doubtful: bool) -> Checked {
        if doubtful && !self.disk.fault_met() {
            return Err("an error without a fault".to_owned());
        }
        if doubtful {
            self.tally.doubtful += 1;
            self.disk.mend();
            // By chance, but the same in each run.
            if self.disk.operations().is_multiple_of(2) { self.kill() } else { self.lose_power() }
        } else {
            self.compare("in the same process")
        }
    }

    fn kill(&mut self) -> Checked {
        self.disk.kill_process();
        self.partition = None;
        self.open()
    }

    fn lose_power(&mut self) -> Checked {
        self.disk.lose_power();
        self.partition = None;
        self.now = self.on_disk.clone();
        self.open()
    }

    fn fault_in_recovery(&mut self, after: u8, fault: Fault, power: (bool, bool)) -> Checked {
        self.partition = None;
        if power.0 {
            self.disk.lose_power();
            self.now = self.on_disk.clone();
        } else {
            self.disk.kill_process();
        }
        self.disk.fail_after(after.into(), fault);
        // Whether it opens or not: nobody has read anything.
        let _ = Partition::open(self.disk.directory(), small_options(), self.clock.clone());
        if power.1 { self.lose_power() } else { self.kill() }
    }

    fn lose_indexes(&mut self) -> Checked {
        for name in self.disk.names().into_iter().filter(|name| name.ends_with(".index")) {
            self.disk.remove(&name);
        }
        self.kill()
    }

    fn compare(&mut self, when: &str) -> Checked {
        let blobs: Vec<u8> = self.now.keys().copied().collect();
        for blob in blobs {
            let seen = self.see(blob).map_err(|e| format!("{when}: {e}"))?;
            self.tally.alive += u64::from(matches!(seen, Seen::Alive { .. }));
            let now_ms = self.now_ms();
            let possible = self.now.get_mut(&blob).expect("a key of it");
            let before = possible.clone();
            possible.retain(|known| seen.fits(*known, now_ms));
            if possible.is_empty() {
                return Err(format!("{when}: blob {blob} is {seen:?}; it may be {before:?}"));
            }
        }
        Ok(())
    }

    fn see(&self, blob: u8) -> Result<Seen, String> {
        match self.partition().get(blob_id(blob)) {
            Ok(reader) => {
                let body = reader.read().map_err(|e| e.to_string())?;
                let properties = reader.properties().map_err(|e| e.to_string())?;
                Ok(Seen::Alive { body: body.to_vec(), properties, expires_ms: reader.expires_ms() })
            }
            Err(Error::NotFound(_)) => Ok(Seen::NotFound),
            Err(Error::Deleted(_)) => Ok(Seen::Deleted),
            Err(Error::Expired(_)) => Ok(Seen::Expired),
            Err(other) => Err(format!("get of blob {blob}: {other}")),
        }
    }
}

fn set(map: &mut BTreeMap<u8, Possible>, blob: u8, possible: &Possible) {
    map.insert(blob, Vec::new());
    add(map, blob, possible);
}

fn add(map: &mut BTreeMap<u8, Possible>, blob: u8, possible: &Possible) {
    let all = map.entry(blob).or_insert_with(|| vec![None]);
    for known in possible {
        if !all.contains(known) {
            all.push(*known);
        }
    }
}

#[derive(Debug)]
enum Seen {
    Alive { body: Vec<u8>, properties: Properties, expires_ms: u64 },
    NotFound,
    Deleted,
    Expired,
}

impl Seen {
    fn fits(&self, known: Option<Known>, now_ms: u64) -> bool {
        let Some(blob) = known else {
            return matches!(self, Seen::NotFound);
        };
        let expired = blob.expires_ms != 0 && blob.expires_ms <= now_ms;
        match self {
            Seen::NotFound => blob.may_be_gone,
            Seen::Deleted => blob.deleted,
            Seen::Expired => !blob.deleted && expired,
            Seen::Alive { body, properties, expires_ms } => {
                !blob.deleted
                    && !expired
                    && *expires_ms == blob.expires_ms
                    && *body == blob.content.body()
                    && *properties == blob.content.properties()
            }
        }
    }
}
