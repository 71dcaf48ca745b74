//! A partition on a simulated disk beside a plain map, and steps that are taken on both.

#![allow(unreachable_pub, reason = "all of the program sees it")]

pub mod counting;
pub mod random;
pub mod sectors;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{
    BlobId, Clock, CompactionOptions, Durability, Error, Finding, Options, Pacer, Partition,
    PartitionId, Properties, Unpaced, Write, Written,
};
pub use steps::*;
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
        lost_is_repaired: false,
    }
}

/// What a scrub finds.
pub fn scrub(partition: &Partition, pacer: &dyn Pacer) -> Vec<Finding> {
    let mut findings = Vec::new();
    let scrubbed = partition.scrub(pacer, &mut |finding| findings.push(finding)).unwrap();
    assert!(!scrubbed.stopped);
    findings
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
    /// There are bad sectors now: records of which nobody knows may say something else.
    worn: bool,
    /// There were some: what was torn may have been kept, and be reported as damage.
    was_worn: bool,
    /// Blobs that were changed while not all was known of them, and torn ones that were kept.
    lost_track: BTreeSet<u8>,
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
    pub unreadable: u64,
    pub unreadable_ranges: u64,
    pub heals: u64,
    pub left_alone: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.doubtful += other.doubtful;
        self.compactions += other.compactions;
        self.cuts += other.cuts;
        self.rebuilt_indexes += other.rebuilt_indexes;
        self.alive += other.alive;
        self.unreadable += other.unreadable;
        self.unreadable_ranges += other.unreadable_ranges;
        self.heals += other.heals;
        self.left_alone += other.left_alone;
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
        World {
            disk,
            clock,
            partition: None,
            now,
            on_disk,
            worn: false,
            was_worn: false,
            lost_track: BTreeSet::new(),
            tally: Tally::default(),
        }
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
        self.heal().map_err(|e| format!("when all can be read again: {e}"))?;
        self.lose_power()?;
        self.scrub()
    }

    /// What was torn, and kept since it could not be read, is not whole.
    fn scrub(&self) -> Checked {
        let findings = scrub(self.partition(), &Unpaced);
        if findings.is_empty() || self.was_worn { Ok(()) } else { Err(format!("{findings:?}")) }
    }

    fn open(&mut self) -> Checked {
        let directory = self.disk.directory();
        match Partition::open(directory, small_options(), self.clock.clone()) {
            Ok(partition) => {
                let damaged = &partition.recovery().damaged;
                if !damaged.is_empty() && !self.was_worn {
                    return Err(format!("damage: {:?}", partition.recovery()));
                }
                let unreadable = damaged.iter().filter(|range| range.unreadable).count();
                self.tally.unreadable_ranges += unreadable as u64;
                self.tally.cuts += u64::from(partition.recovery().cut_bytes > 0);
                self.tally.rebuilt_indexes += partition.recovery().rebuilt_indexes;
                self.partition = Some(partition);
                self.compare("after opening")?;
                // What can be read after an open is on the disk.
                if self.worn {
                    for (blob, now) in &self.now {
                        if now.contains(&None) {
                            add(&mut self.on_disk, *blob, now);
                        } else {
                            set(&mut self.on_disk, *blob, now);
                        }
                    }
                } else {
                    self.on_disk = self.now.clone();
                }
                Ok(())
            }
            Err(Error::Unreadable { file, .. }) if self.worn && file == "MANIFEST" => {
                self.disk.heal_reads();
                self.worn = false;
                self.open()
            }
            Err(error) => Err(format!("open: {error}")),
        }
    }

    pub fn partition(&self) -> &Partition {
        self.partition.as_ref().expect("open")
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    fn step(&mut self, step: &Step) -> Checked {
        match step {
            Step::Batch(ops) => self.batch(ops),
            Step::Flush => self.maintain(|partition| partition.flush().map(|()| true)),
            Step::Note => self.maintain(|partition| partition.note_synced().map(|()| false)),
            Step::Close => self.maintain(|partition| partition.close().map(|()| true)),
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
            Step::BadSector { file, at } => self.wear(*file, *at),
            Step::Heal => self.heal(),
            Step::FaultInRecovery { after, fault, power } => {
                self.fault_in_recovery(*after, *fault, *power)
            }
        }
    }

    fn batch(&mut self, ops: &[(Op, Durability)]) -> Checked {
        let now_ms = self.now_ms();
        let writes =
            ops.iter().map(|(op, durability)| Write::new(op.operation(now_ms), *durability));
        let results = unless_panics(|| self.partition().write_all(writes.collect()));
        let results = results.unwrap_or_else(|| {
            let failed = self.partition().failure().expect("no writes after a panic");
            ops.iter().map(|_| Err(failed.clone())).collect()
        });
        let mut doubtful = false;
        for ((op, _), result) in ops.iter().zip(&results) {
            doubtful |= self.note(op, result)?;
        }
        let synced = !doubtful && ops.iter().any(|(_, durability)| *durability > Durability::Fast);
        if synced && self.worn {
            // What an earlier process left may not have been written again.
            for (op, _) in ops {
                let now = self.now.get(&op.blob()).cloned().unwrap_or_else(|| vec![None]);
                set(&mut self.on_disk, op.blob(), &now);
            }
        } else if synced {
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
        let unreadable = matches!(result, Err(error) if self.was_worn && error.is_damage());
        let refused = unreadable || matches!(result, Err(Error::ReadOnly { .. } | Error::Full(_)));
        let Some(given) = answer(result) else {
            if !refused {
                let mut possible = before;
                possible.extend(after.iter().map(|(_, known)| *known));
                add(&mut self.on_disk, op.blob(), &possible);
                set(&mut self.now, op.blob(), &possible);
            }
            return Ok(!refused);
        };
        let mut possible: Possible =
            after.iter().filter(|(right, _)| *right == given).map(|(_, known)| *known).collect();
        let is_put = matches!(op, Op::Put { .. });
        let is_second = is_put && given == Answer::Now && !before.contains(&None);
        if possible.is_empty() && self.worn && !is_second {
            self.lost_track.insert(op.blob());
            return Ok(false);
        }
        if possible.is_empty() && !self.lost_track.contains(&op.blob()) {
            return Err(format!("{op:?} at {now_ms} answers {result:?}; it was one of {before:?}"));
        }
        let is_whole = is_put && matches!(given, Answer::Now | Answer::Before);
        if self.worn && before.contains(&None) && !is_whole {
            // Of a put that is kept because its body cannot be read: it may be torn, and be cut when it can.
            possible.push(None);
        }
        set(&mut self.now, op.blob(), &possible);
        add(&mut self.on_disk, op.blob(), &possible);
        Ok(false)
    }

    fn maintain(&mut self, work: impl FnOnce(&Partition) -> Result<bool, Error>) -> Checked {
        match unless_panics(|| work(self.partition())) {
            Some(Ok(synced)) => {
                if synced && !self.worn {
                    self.on_disk = self.now.clone();
                }
                Ok(())
            }
            _ => self.after_errors(true),
        }
    }

    fn compact(&mut self, garbage_percent_min: u8, tombstones: bool) -> Checked {
        let now_ms = self.now_ms();
        let options = CompactionOptions {
            deleted_before_ms: now_ms,
            expired_before_ms: now_ms,
            tombstones_before_sequence: if tombstones { u64::MAX } else { 0 },
            garbage_percent_min,
            lost_is_repaired: false,
        };
        let compacted = unless_panics(|| self.partition().compact(&options, &Unpaced));
        for possible in [&mut self.now, &mut self.on_disk].into_iter().flat_map(|m| m.values_mut())
        {
            for known in possible.iter_mut().flatten() {
                known.may_be_gone |=
                    known.deleted || (known.expires_ms != 0 && known.expires_ms < now_ms);
            }
        }
        let report = compacted.and_then(Result::ok);
        let dropped = report.as_ref().is_some_and(|report| report.dropped_records > 0);
        self.tally.compactions += u64::from(dropped);
        let left_alone = report.as_ref().map_or(0, |report| report.damaged_segments as u64);
        self.tally.left_alone += left_alone;
        self.after_errors(report.is_none())
    }

    /// An error must come from a fault. What can be read still can; then the process ends.
    fn after_errors(&mut self, doubtful: bool) -> Checked {
        if doubtful && !self.disk.fault_met() && !self.worn {
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
        let open = || Partition::open(self.disk.directory(), small_options(), self.clock.clone());
        let _ = unless_panics(open);
        if power.1 { self.lose_power() } else { self.kill() }
    }

    fn lose_indexes(&mut self) -> Checked {
        for name in self.disk.names().into_iter().filter(|name| name.ends_with(".index")) {
            self.disk.remove(&name);
        }
        self.kill()
    }

    fn wear(&mut self, file: u8, at: u16) -> Checked {
        let names = self.disk.names();
        let name = &names[usize::from(file) % names.len()];
        let bytes = self.disk.content(name).map_or(0, |content| content.len());
        if bytes > 0 {
            let at = usize::from(at) % bytes;
            self.disk.fail_reads(name, at..at + 1);
            (self.worn, self.was_worn) = (true, true);
        }
        self.compare("with a bad sector")
    }

    fn heal(&mut self) -> Checked {
        self.tally.heals += u64::from(self.worn);
        self.disk.heal_reads();
        self.worn = false;
        self.kill()
    }

    fn compare(&mut self, when: &str) -> Checked {
        let is_tracked = |blob: &u8| !self.lost_track.contains(blob);
        let blobs: Vec<u8> = self.now.keys().copied().filter(is_tracked).collect();
        for blob in blobs {
            let seen = self.see(blob).map_err(|e| format!("{when}: {e}"))?;
            self.tally.alive += u64::from(matches!(seen, Seen::Alive { .. }));
            self.tally.unreadable += u64::from(matches!(seen, Seen::Unreadable));
            let (now_ms, worn) = (self.now_ms(), self.worn);
            let before = self.now[&blob].clone();
            let fits = |known: &Option<Known>| {
                if worn { seen.may_be(*known) } else { seen.fits(*known, now_ms) }
            };
            let possible: Possible = before.iter().copied().filter(fits).collect();
            if possible.is_empty() {
                return Err(format!("{when}: blob {blob} is {seen:?}; it may be {before:?}"));
            }
            if worn {
                if matches!(seen, Seen::Alive { .. }) {
                    self.now.get_mut(&blob).expect("a key of it").retain(Option::is_some);
                }
                continue;
            }
            self.now.insert(blob, possible);
            // Kept as it was torn: its id is taken, by what nobody will ever read. Or its delete was kept, and its put is torn.
            let is_rest = self.was_worn && matches!(seen, Seen::Deleted) && before.contains(&None);
            if matches!(seen, Seen::Unreadable) || is_rest {
                self.lost_track.insert(blob);
            }
        }
        Ok(())
    }

    fn see(&self, blob: u8) -> Result<Seen, String> {
        match self.partition().get(blob_id(blob)) {
            Ok(reader) => {
                let body = match reader.read() {
                    Err(error) if self.was_worn && error.is_damage() => {
                        return Ok(Seen::Unreadable);
                    }
                    read => read.map_err(|e| e.to_string())?,
                };
                let properties = reader.properties().map_err(|e| e.to_string())?;
                Ok(Seen::Alive { body: body.to_vec(), properties, expires_ms: reader.expires_ms() })
            }
            Err(Error::NotFound(_)) => Ok(Seen::NotFound),
            Err(Error::Deleted(_)) => Ok(Seen::Deleted),
            Err(Error::Expired(_)) => Ok(Seen::Expired),
            Err(error) if self.was_worn && error.is_damage() => Ok(Seen::Unreadable),
            Err(other) => Err(format!("get of blob {blob}: {other}")),
        }
    }
}

/// What `work` returns; `None` if it panics.
fn unless_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok()
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
    Alive {
        body: Vec<u8>,
        properties: Properties,
        expires_ms: u64,
    },
    NotFound,
    Deleted,
    Expired,
    /// Or damaged.
    Unreadable,
}

impl Seen {
    /// Whether it is what is seen if not all records of it can be read.
    fn may_be(&self, known: Option<Known>) -> bool {
        match (self, known) {
            (Seen::Unreadable, _) | (Seen::NotFound, None) => true,
            (Seen::NotFound, Some(blob)) => blob.may_be_gone,
            (_, None) => false,
            (Seen::Deleted | Seen::Expired, Some(_)) => true,
            (Seen::Alive { body, properties, .. }, Some(blob)) => {
                *body == blob.content.body() && *properties == blob.content.properties()
            }
        }
    }

    fn fits(&self, known: Option<Known>, now_ms: u64) -> bool {
        let Some(blob) = known else {
            // What was never acknowledged, and was kept as it was torn.
            return matches!(self, Seen::NotFound | Seen::Unreadable);
        };
        let expired = blob.expires_ms != 0 && blob.expires_ms <= now_ms;
        match self {
            Seen::NotFound | Seen::Unreadable => blob.may_be_gone,
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
