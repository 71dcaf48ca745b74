//! Which sealed segments are known to have too little garbage, and how much has to happen until they may have enough: so that a
//! compaction looks at what has changed, and not at everything that is stored.
//!
//! ```text
//!  needed    garbage at which a segment is worth it
//!  garbage   what it has now                            lacking = needed - garbage
//!
//!  share     a quarter of what is less than lacking: so much may become garbage for each of these reasons
//!            - the times or the sequence number that a compaction is given pass what lets records stay (three bounds)
//!            - records are written of its blobs, or compacted away elsewhere (bytes are taken off)
//! ```
//!
//! As long as none of the four is used up, a segment that is looked at again has too little still. What is taken off is never too
//! little: of a blob of which anything was written, all records of the segment. So what is chosen is what would be chosen if
//! everything were looked at. Only what this process has looked at is known: after a start, all is looked at once.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use afterbay_blob_format::{IndexEntry, RecordKind};
use uuid::Uuid;

use crate::compaction::CompactionOptions;
use crate::error::Result;
use crate::look_up::LookUp;
use crate::sealed::SealedSegment;
use crate::shared::View;

/// A record stays as long as the options of a compaction are not greater than these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Until {
    pub(crate) deleted_ms: u64,
    pub(crate) expired_ms: u64,
    pub(crate) sequence: u64,
}

impl Until {
    /// As long as nothing else is written about its blob.
    pub(crate) const CHANGED: Until =
        Until { deleted_ms: u64::MAX, expired_ms: u64::MAX, sequence: u64::MAX };
    /// Nobody knows: something could not be read.
    pub(crate) const NOW: Until = Until { deleted_ms: 0, expired_ms: 0, sequence: 0 };

    fn holds(&self, options: &CompactionOptions) -> bool {
        options.deleted_before_ms <= self.deleted_ms
            && options.expired_before_ms <= self.expired_ms
            && options.tombstones_before_sequence <= self.sequence
    }
}

/// A segment that is not worth a compaction.
#[derive(Debug)]
struct Unripe {
    /// Another one of the same number has another index. Does not keep it: it may be compacted and deleted.
    segment: Weak<SealedSegment>,
    until: Until,
    /// So many bytes may change.
    slack: u64,
    /// It is left alone, whatever it has: something in it is damaged.
    is_damaged: bool,
}

/// Where the log ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogEnd {
    /// The number of the next record.
    pub(crate) sequence: u64,
    /// The number of the active segment, and how long it was.
    pub(crate) segment: u64,
    pub(crate) tail: u32,
}

/// Options that do not grow with time, and whether all records were known. With others, nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct With {
    pub(crate) garbage_percent_min: u8,
    pub(crate) lost_is_repaired: bool,
    pub(crate) all_known: bool,
}

/// What is known of the segments of a partition.
#[derive(Debug, Default)]
pub(crate) struct Unripes {
    with: Option<With>,
    segments: HashMap<u64, Unripe>,
    /// What was written before is taken off.
    seen: Option<LogEnd>,
    /// Blobs of which records were compacted away since.
    dropped: BTreeSet<Uuid>,
}

impl Unripes {
    /// Forgets everything: something else than what is written and compacted has changed.
    pub(crate) fn clear(&mut self) {
        *self = Unripes::default();
    }

    /// Records of these blobs were compacted away.
    pub(crate) fn note_dropped(&mut self, uuids: impl Iterator<Item = Uuid>) {
        self.dropped.extend(uuids);
    }

    /// Takes off what was written and compacted away since this was asked last. `recent` are those of the active segment that are changes.
    /// If `look_up` is stopped, the next one does it again.
    pub(crate) fn follow(
        &mut self,
        with: With,
        view: &View,
        recent: &[IndexEntry],
        end: LogEnd,
        look_up: &mut LookUp<'_>,
    ) -> Result<()> {
        if self.with.replace(with) != Some(with) {
            self.segments.clear();
        }
        self.segments.retain(|_, unripe| unripe.segment.strong_count() > 0);
        if let Some(seen) = self.seen.filter(|_| !self.segments.is_empty()) {
            let mut changed = changed_since(seen, view, recent, look_up)?;
            changed.extend(&self.dropped);
            for uuid in changed {
                look_up.state_and(uuid, |segment, entries| self.take_off(segment, entries))?;
                if look_up.is_stopped() {
                    return Ok(());
                }
            }
        }
        self.seen = Some(end);
        self.dropped.clear();
        Ok(())
    }

    fn take_off(&mut self, segment: &SealedSegment, entries: &[IndexEntry]) {
        let number = segment.log.header.number;
        let bytes: u64 = entries.iter().map(|entry| u64::from(entry.length)).sum();
        if let Some(unripe) = self.segments.get_mut(&number).filter(|unripe| !unripe.is_damaged) {
            match unripe.slack.checked_sub(bytes) {
                Some(slack) => unripe.slack = slack,
                None => drop(self.segments.remove(&number)),
            }
        }
    }

    /// Whether a segment is known not to be worth a compaction with these options; if so, whether that is since it is damaged.
    pub(crate) fn is_unripe(
        &self,
        segment: &Arc<SealedSegment>,
        options: &CompactionOptions,
    ) -> Option<bool> {
        let unripe = self.segments.get(&segment.log.header.number)?;
        let is_it = std::ptr::eq(unripe.segment.as_ptr(), Arc::as_ptr(segment));
        (is_it && unripe.until.holds(options)).then_some(unripe.is_damaged)
    }

    /// A segment has too little garbage by so many bytes; these of its records stay until then, with their lengths.
    pub(crate) fn lacks(
        &mut self,
        segment: &Arc<SealedSegment>,
        lacking: u64,
        stay: &[(Until, u32)],
    ) {
        let share = lacking.saturating_sub(1) / 4;
        let bound_of = |of: fn(&Until) -> u64| {
            let bounds = stay.iter().map(|(until, length)| (of(until), u64::from(*length)));
            bound(bounds.filter(|(bound, _)| *bound < u64::MAX).collect(), share)
        };
        let until = Until {
            deleted_ms: bound_of(|until| until.deleted_ms),
            expired_ms: bound_of(|until| until.expired_ms),
            sequence: bound_of(|until| until.sequence),
        };
        self.insert(segment, until, share, false);
    }

    /// A segment is left alone until it is repaired.
    pub(crate) fn is_damaged(&mut self, segment: &Arc<SealedSegment>) {
        self.insert(segment, Until::CHANGED, 0, true);
    }

    fn insert(&mut self, segment: &Arc<SealedSegment>, until: Until, slack: u64, is_damaged: bool) {
        let unripe = Unripe { segment: Arc::downgrade(segment), until, slack, is_damaged };
        self.segments.insert(segment.log.header.number, unripe);
    }
}

/// The greatest value of an option at which no more than `share` bytes go.
fn bound(mut bounds: Vec<(u64, u64)>, share: u64) -> u64 {
    bounds.sort_unstable();
    let mut bytes = 0;
    let mut is_too_much = |length: u64| {
        bytes += length;
        bytes > share
    };
    bounds.into_iter().find(|(_, length)| is_too_much(*length)).map_or(u64::MAX, |(bound, _)| bound)
}

/// Whether a record changes what is said of earlier ones. The first put of a blob does not.
pub(crate) fn is_change(entry: &IndexEntry) -> bool {
    entry.kind != RecordKind::Put || entry.follows
}

/// Blobs of which something was written that changes what is said of earlier records.
fn changed_since(
    seen: LogEnd,
    view: &View,
    recent: &[IndexEntry],
    look_up: &mut LookUp<'_>,
) -> Result<BTreeSet<Uuid>> {
    let mut changed = BTreeSet::new();
    let mut add = |number: u64, entries: &[IndexEntry]| {
        let from = if number == seen.segment { seen.tail } else { 0 };
        let new = entries.iter().filter(|entry| entry.offset >= from && is_change(entry));
        changed.extend(new.map(|entry| entry.uuid));
    };
    // Copies of a compaction have no later number than the last segment that they are of.
    for segment in view.sealed.iter().filter(|segment| segment.next_sequence > seen.sequence) {
        for page in segment.index.directory().pages() {
            add(segment.log.header.number, look_up.page(segment, page)?);
            if look_up.is_stopped() {
                return Ok(changed);
            }
        }
    }
    add(view.active.header.number, recent);
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;
    use std::ops::{ControlFlow, Range};
    use std::sync::atomic::{AtomicU64, Ordering};

    use afterbay_blob_format::{BlobId, PartitionId};

    use super::*;
    use crate::clock::Clock;
    use crate::commit::lock;
    use crate::compaction::Pacer;
    use crate::garbage::{Chosen, choose};
    use crate::options::{Durability, Options, Put};
    use crate::partition::Partition;
    use crate::record::Record;
    use crate::sim::SimDisk;

    const FAST: Durability = Durability::Fast;

    #[derive(Debug, Default)]
    struct TestClock(AtomicU64);

    impl Clock for TestClock {
        fn now_ms(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// Counts pages of indexes.
    #[derive(Default)]
    struct Pages(Cell<u64>);

    impl Pacer for Pages {
        fn pace(&self, _bytes: u64) -> ControlFlow<()> {
            self.0.set(self.0.get() + 1);
            ControlFlow::Continue(())
        }
    }

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ z >> 31) % bound
        }
    }

    /// Clients and another replica write, time passes, and compactions look for what they can do.
    struct History {
        random: Random,
        clock: Arc<TestClock>,
        partition: Partition,
        ids: Vec<BlobId>,
        percent: u8,
        /// Pages that were read by who knows what was, and by who does not.
        pages: [Pages; 2],
        runs: usize,
    }

    type Compared =
        (usize, u64, Option<(Range<usize>, Vec<Vec<IndexEntry>>, Vec<IndexEntry>, u64)>);

    fn compared(chosen: Chosen) -> Compared {
        let run = chosen.run.map(|run| {
            let dropped = run.dropped.iter().map(|place| place.entry).collect();
            (run.range, run.kept, dropped, run.horizon)
        });
        (chosen.damaged_segments, chosen.through, run)
    }

    impl History {
        fn new(seed: u64) -> Self {
            let (id, clock) = (PartitionId(1), Arc::new(TestClock(AtomicU64::new(1_000))));
            let options = Options {
                capacity_bytes: 1 << 20,
                segment_bytes: 32 << 10,
                segment_records_max: [12, 80][(seed / 4) as usize % 2],
                journal_records: 8,
                ..Options::default()
            };
            let directory = SimDisk::new(seed).directory();
            Partition::create(&*directory, id, &options).unwrap();
            let partition = Partition::open(directory, options, clock.clone()).unwrap();
            let percent = [0, 20, 50, 80][seed as usize % 4];
            let (random, pages) = (Random(seed), [Pages::default(), Pages::default()]);
            History { random, clock, partition, ids: Vec::new(), percent, pages, runs: 0 }
        }

        fn any(&mut self) -> BlobId {
            if self.ids.is_empty() || self.random.below(20) == 0 {
                let uuid = Uuid::from_u64_pair(self.random.below(u64::MAX), self.random.below(99));
                self.ids.push(BlobId { partition: PartitionId(1), uuid });
            }
            self.ids[self.random.below(self.ids.len() as u64) as usize]
        }

        /// Some time from now on, or never.
        fn expiry(&mut self) -> u64 {
            let after = self.random.below(600);
            if after < 300 { 0 } else { self.clock.now_ms() + after }
        }

        fn step(&mut self) {
            let (id, expires_ms) = (self.any(), self.expiry());
            // What is refused changes nothing.
            match self.random.below(20) {
                0..=9 => {
                    let uuid = Uuid::from_u64_pair(self.random.below(u64::MAX), 100);
                    let id = BlobId { uuid, ..id };
                    self.ids.push(id);
                    let body = vec![1; self.random.below(600) as usize];
                    let _ = self.partition.put(Put { expires_ms, ..Put::new(id, body) }, FAST);
                }
                10..=12 => drop(self.partition.delete(id, FAST)),
                13 => drop(self.partition.undelete(id, FAST)),
                14 => drop(self.partition.update_ttl(id, expires_ms, FAST)),
                15 => self.hear(id, expires_ms),
                16 => self.partition.seal().unwrap(),
                _ => {
                    self.clock.0.fetch_add(self.random.below(40), Ordering::Relaxed);
                }
            }
        }

        /// Another replica says something, perhaps of a blob whose put comes later.
        fn hear(&mut self, id: BlobId, expires_ms: u64) {
            let kinds = [RecordKind::Delete, RecordKind::Undelete, RecordKind::TtlUpdate];
            let kind = kinds[self.random.below(3) as usize];
            let expires_ms = if kind == RecordKind::TtlUpdate { expires_ms } else { 0 };
            let life = u32::from(kind == RecordKind::Undelete);
            let time_ms = self.clock.now_ms() - self.random.below(50);
            let record = Record { id, kind, life, time_ms, expires_ms, content: None };
            self.partition.apply(vec![record], FAST);
        }

        fn options(&mut self) -> CompactionOptions {
            let next = self.partition.status().next_sequence;
            let before_ms = self.clock.now_ms() - 100;
            CompactionOptions {
                deleted_before_ms: before_ms,
                expired_before_ms: before_ms + self.random.below(2) * 50,
                tombstones_before_sequence: [0, next / 2, next][self.random.below(3) as usize],
                garbage_percent_min: self.percent,
                lost_is_repaired: false,
            }
        }

        fn compare(&mut self, at: &str) {
            let options = self.options();
            let none = HashSet::new();
            let [pages, pages_of_all] = &self.pages;
            let known = {
                let mut compacting = lock(&self.partition.compacting);
                let unripes = &mut compacting.unripes;
                choose(&self.partition, &options, pages, &none, 0, unripes).unwrap()
            };
            let fresh = &mut Unripes::default();
            let all = choose(&self.partition, &options, pages_of_all, &none, 0, fresh).unwrap();
            assert_eq!(compared(known), compared(all), "{at}");
            if self.random.below(3) == 0 {
                let report = self.partition.compact(&options, &Pages::default()).unwrap();
                self.runs += usize::from(report.segments_before > 0);
            }
        }
    }

    #[test]
    fn what_is_chosen_is_what_looking_at_everything_chooses() {
        let (mut read, mut read_of_all, mut runs) = (0, 0, 0);
        for seed in 0..40 {
            let mut history = History::new(seed);
            for step in 0..600 {
                history.step();
                if step % 7 == 0 {
                    history.compare(&format!("seed {seed}, step {step}"));
                }
            }
            let [pages, pages_of_all] = &history.pages;
            read += pages.0.get();
            read_of_all += pages_of_all.0.get();
            runs += history.runs;
        }
        assert!(runs > 200, "{runs} runs");
        assert!(read * 3 < read_of_all * 2, "{read} pages, {read_of_all} of everything");
    }

    #[test]
    fn a_bound_lets_no_more_go_than_its_share() {
        let bounds = vec![(30, 5), (10, 1), (20, 2)];
        for (share, expected) in [(0, 10), (1, 20), (2, 20), (3, 30), (7, 30), (8, u64::MAX)] {
            assert_eq!(bound(bounds.clone(), share), expected, "share {share}");
        }
        assert_eq!(bound(Vec::new(), 0), u64::MAX);
    }
}
