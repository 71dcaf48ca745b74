//! Verifies replicas: one is read as a whole, what is damaged is fetched from the others, and what was written again is read once
//! more before anybody is told that it is repaired.
//!
//! ```text
//!            due, or asked for            damage                 all written again, or no progress
//!    Idle ----------------------> Reading -------> Repairing ------------------------> Counting
//!     ^                              |                 | the node is told to stop          | what is damaged still is `left`
//!     +------------------------------+-----------------+-----------------------------------+
//! ```
//!
//! A replica is in one of these at a time. What somebody asks for takes the place of what was under way by itself. How far a
//! reading has come is not kept: after a start, it begins anew. When one has come to its end is ([`Schedule`]).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_store::Recount;

use crate::core::{Core, StoreOwner};
use crate::identity::NodeId;
use crate::message::Refusal;
use crate::repair::Repairs;
use crate::replica::{Compared, Peer, Replica};
use crate::schedule::Schedule;
use crate::store_call::{StoreAnswer, StoreOperation};

/// One that could not be carried out is begun again after this part of the interval.
const RETRY_PART: u64 = 8;
const RETRY_MS_MIN: u64 = 3_600_000;

/// What a replica does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScrubStep {
    /// Nothing.
    #[default]
    Idle,
    /// It is read, or waits for its turn.
    Reading,
    /// What is damaged is fetched from others and written again.
    Repairing,
    /// What was written again is read once more.
    Counting,
}

/// What came of the scrub of a replica.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScrubOutcome {
    /// Blobs of which something that counts was damaged.
    pub damaged: usize,
    /// So many of them were written again, and were whole when they were read once more.
    pub repaired: usize,
    /// So many were not.
    pub left: usize,
    /// Of so many, nothing but content is damaged that was deleted or has expired: nobody reads it.
    pub garbage: usize,
    /// Places of which nobody knows whose they were.
    pub places: usize,
    /// All that they may have held was compared with the other replicas.
    pub is_compared: bool,
    /// Files with damage in what is stored a second time, or can be computed again.
    pub spare: usize,
    /// So many of them were written again, and were whole when they were read once more.
    pub mended: usize,
    /// Somebody ended it before its end.
    pub stopped: bool,
    /// Why it could not be carried out.
    pub failure: Option<Refusal>,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
}

impl ScrubOutcome {
    /// Whether all was verified, and all that counts is whole now.
    pub fn is_whole(&self) -> bool {
        let was_read = !self.stopped && self.failure.is_none();
        was_read && self.left == 0 && self.mended == self.spare && self.is_all_compared()
    }

    fn is_all_compared(&self) -> bool {
        self.places == 0 || self.is_compared
    }
}

/// What a node knows of the scrubs of one of its replicas.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScrubStatus {
    /// What is under way.
    pub step: ScrubStep,
    /// Damaged blobs that are not written again yet.
    pub open: usize,
    /// When it was verified, and is to be.
    pub schedule: Schedule,
    /// What came of the last one since the node started.
    pub outcome: Option<ScrubOutcome>,
}

/// A scrub that somebody asked a node for: the one that is under way, or the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedScrub {
    /// Its number.
    pub run: u64,
    /// Bytes to read in a second.
    pub bytes_per_s: u64,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// Of these replicas.
    pub partitions: Vec<PartitionId>,
    /// What came of those that are done.
    pub outcomes: BTreeMap<PartitionId, ScrubOutcome>,
    /// It was told to stop.
    pub stopping: bool,
}

impl AskedScrub {
    /// Whether some replica is not done.
    pub fn is_running(&self) -> bool {
        self.partitions.iter().any(|id| !self.outcomes.contains_key(id))
    }

    /// Notes that the node has the replicas of `own` alone: others are not verified any more.
    pub(crate) fn follow_map(&mut self, own: &[PartitionId], now_ms: u64) {
        for id in self.partitions.iter().filter(|id| !own.contains(id)) {
            self.outcomes.entry(*id).or_insert_with(|| ScrubOutcome {
                failure: Some(Refusal::NotHere),
                ended_ms: now_ms,
                ..ScrubOutcome::default()
            });
        }
    }
}

/// A scrub that cannot be begun.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScrubRefusal {
    /// The node has no replica of the partition.
    #[error(
        "partition {0} has no replica on this node; 'cluster status --json' shows which nodes have one"
    )]
    NotHere(PartitionId),
    /// Another one is under way, and its end would say nothing of this partition.
    #[error(
        "a scrub runs that does not verify partition {0}; wait for its end, or end it by 'scrub --stop'"
    )]
    OfOthers(PartitionId),
}

/// The scrubs of one replica.
#[derive(Debug, Default)]
pub(crate) struct Scrub {
    step: Step,
    /// The one that is under way, or was, and how fast it reads.
    run: u64,
    bytes_per_s: u64,
    /// When the next one begins by itself; `u64::MAX` while one is under way, or never.
    due_ms: u64,
    after_ms: u64,
    schedule: Schedule,
    /// The schedule is not on the disk.
    unsaved: bool,
    /// One at a time: two could come to the disk in the wrong order.
    saving: bool,
    outcome: Option<ScrubOutcome>,
}

#[derive(Debug, Default)]
enum Step {
    #[default]
    Idle,
    Reading,
    Repairing(Repairing),
    /// With what was found before.
    Counting(ScrubOutcome),
}

#[derive(Debug)]
struct Repairing {
    found: ScrubOutcome,
    ids: Vec<BlobId>,
    /// Those of them for which there is no room yet among what is fetched.
    waiting: VecDeque<BlobId>,
    /// Those that are fetched.
    asked: BTreeSet<BlobId>,
    /// What was not done when something was done last, and when that was.
    open: usize,
    progress_ms: u64,
    /// How far the comparison with each other replica has come at most.
    compared: BTreeMap<NodeId, Compared>,
}

impl Scrub {
    /// None is begun before its replica is loaded; then the first one after so long, if it is not known when it is due.
    pub(crate) fn new(after_ms: u64) -> Self {
        Scrub { after_ms, due_ms: u64::MAX, ..Scrub::default() }
    }

    pub(crate) fn status(&self) -> ScrubStatus {
        let (step, open) = match &self.step {
            Step::Idle => (ScrubStep::Idle, 0),
            Step::Reading => (ScrubStep::Reading, 0),
            Step::Repairing(repairing) => (ScrubStep::Repairing, repairing.open),
            Step::Counting(_) => (ScrubStep::Counting, 0),
        };
        ScrubStatus { step, open, schedule: self.schedule, outcome: self.outcome.clone() }
    }

    /// Whether the store reads for it, or is to.
    fn reads(&self) -> bool {
        matches!(self.step, Step::Reading | Step::Counting(_))
    }

    pub(crate) fn wake_ms(&self, core: &Core) -> u64 {
        match self.step {
            Step::Repairing(_) => core.now.mono_ms + core.options.pull_interval_ms,
            _ if self.unsaved && !self.saving => core.now.mono_ms,
            _ => self.due_ms,
        }
    }
}

impl Repairing {
    fn new(core: &Core, found: ScrubOutcome, ids: Vec<BlobId>) -> Self {
        let (waiting, asked) = (ids.iter().copied().collect(), BTreeSet::new());
        let (open, progress_ms) = (usize::MAX, core.now.mono_ms);
        let compared = BTreeMap::new();
        Repairing { found, ids, waiting, asked, open, progress_ms, compared }
    }

    /// Lets as many be fetched as there is room for.
    fn ask(&mut self, core: &Core, repairs: &mut Repairs) {
        while core.rules.supersede
            && let Some(id) = self.waiting.front()
            && repairs.want(core, *id)
        {
            self.asked.extend(self.waiting.pop_front());
        }
        self.asked.retain(|id| repairs.is_wanted(*id));
    }

    /// Whether some comparison is further than it ever was. One that begins anew each time, as with a node that refuses, is not.
    fn compare<'a>(&mut self, peers: impl Iterator<Item = (&'a NodeId, &'a Peer)>) -> bool {
        let mut is_further = false;
        for (node, peer) in peers {
            let (compared, most) = (peer.compared(), self.compared.get(node).copied());
            if compared > most.unwrap_or_default() {
                self.compared.insert(node.clone(), compared);
                is_further = true;
            }
        }
        is_further
    }

    /// Notes what is not done yet. Whether to wait for it no longer.
    fn is_over(&mut self, core: &Core, is_further: bool, is_compared: bool) -> bool {
        self.found.is_compared = is_compared;
        let places = usize::from(self.found.places > 0 && !is_compared);
        let open = self.asked.len() + self.waiting.len() + places;
        if open < self.open || (places > 0 && is_further) {
            self.progress_ms = core.now.mono_ms;
        }
        self.open = open;
        let without_progress_ms = core.now.mono_ms.saturating_sub(self.progress_ms);
        open == 0 || without_progress_ms >= core.options.scrub_patience_ms
    }
}

impl Replica {
    /// It is loaded: what the disk says of when it was verified holds.
    pub(crate) fn schedule_scrub(&mut self, core: &Core, stored: Option<Schedule>) {
        if !matches!(self.scrub.step, Step::Idle) {
            return;
        }
        let interval_ms = core.options.scrub_interval_ms;
        if let Some(stored) = stored {
            let schedule = match interval_ms {
                0 => stored,
                _ => stored.within(core.now.wall_ms, interval_ms),
            };
            self.scrub.schedule = schedule;
            // Else each start would put it off by an interval.
            self.scrub.unsaved = core.options.keeps_schedule && schedule != stored;
            self.plan_scrub(core);
            return;
        }
        let after_ms = self.scrub.after_ms;
        self.scrub.due_ms = core.now.mono_ms.saturating_add(after_ms);
        self.scrub.schedule.due_ms = core.now.wall_ms.saturating_add(after_ms);
        self.scrub.unsaved = core.options.keeps_schedule && interval_ms > 0;
    }

    fn plan_scrub(&mut self, core: &Core) {
        let interval_ms = core.options.scrub_interval_ms;
        self.scrub.due_ms = match interval_ms {
            0 => u64::MAX,
            _ => core.now.mono_ms + self.scrub.schedule.due_in_ms(core.now.wall_ms, interval_ms),
        };
    }

    /// Begins what is due, and goes on with what is under way.
    pub(crate) fn scrub_next(&mut self, core: &mut Core) {
        if self.scrub.unsaved && !self.scrub.saving {
            (self.scrub.unsaved, self.scrub.saving) = (false, true);
            let schedule = self.scrub.schedule;
            let operation = StoreOperation::SaveSchedule { schedule };
            core.store(self.partition, operation, StoreOwner::Schedule);
        }
        if self.scrub.due_ms <= core.now.mono_ms {
            if self.log.is_some() {
                let (run, bytes_per_s) = (core.next_scrub(), core.options.scrub_bytes_per_s);
                self.begin_scrub(core, run, bytes_per_s);
            } else {
                self.scrub.due_ms = core.now.mono_ms + core.options.pull_backoff_ms;
            }
        }
        self.follow_repairs(core);
    }

    pub(crate) fn on_schedule_saved(&mut self, answer: &StoreAnswer) {
        self.scrub.saving = false;
        if *answer != StoreAnswer::Noted(Ok(())) {
            let partition = self.partition;
            tracing::warn!(%partition, ?answer, "when the replica was verified could not be noted");
        }
    }

    /// Begins to verify the replica. What is under way of that ends.
    pub(crate) fn begin_scrub(&mut self, core: &mut Core, run: u64, bytes_per_s: u64) {
        if self.scrub.reads() {
            core.end_scrub(self.scrub.run);
        }
        (self.scrub.run, self.scrub.due_ms) = (run, u64::MAX);
        self.scrub.bytes_per_s = bytes_per_s;
        if !self.is_open {
            let failure = Some(Refusal::NotReady);
            self.end_scrub(core, ScrubOutcome { failure, ..ScrubOutcome::default() });
            return;
        }
        self.scrub.step = Step::Reading;
        let operation = StoreOperation::Scrub { run, bytes_per_s };
        core.store(self.partition, operation, StoreOwner::Scrub(run));
    }

    /// Makes way for a scrub of other replicas that somebody asks for: this one's is due at once, and comes behind it.
    pub(crate) fn let_pass(&mut self, core: &mut Core) {
        if self.scrub.reads() {
            self.stop_scrub(core, self.scrub.run);
        }
    }

    /// Ends the one with this number, if it is under way.
    pub(crate) fn stop_scrub(&mut self, core: &mut Core, run: u64) {
        if self.scrub.run != run {
            return;
        }
        let found = match &self.scrub.step {
            Step::Idle => return,
            // It ends when the store says so.
            Step::Reading => return core.end_scrub(run),
            Step::Repairing(repairing) => repairing.found.clone(),
            Step::Counting(found) => {
                core.end_scrub(run);
                found.clone()
            }
        };
        self.end_scrub(core, ScrubOutcome { stopped: true, left: found.damaged, ..found });
    }

    /// The replica was read.
    pub(crate) fn on_scrubbed(&mut self, core: &mut Core, run: u64, answer: StoreAnswer) {
        let is_current = self.scrub.run == run && matches!(self.scrub.step, Step::Reading);
        let found = match answer {
            StoreAnswer::Scrubbed(Ok(found)) => found,
            StoreAnswer::Scrubbed(Err(refusal)) | StoreAnswer::Failed(refusal) => {
                if is_current {
                    let failure = Some(refusal);
                    self.end_scrub(core, ScrubOutcome { failure, ..ScrubOutcome::default() });
                }
                return;
            }
            _ => return,
        };
        if found.unknown > 0 && core.rules.supersede {
            self.compare_all(core);
        }
        let outcome = ScrubOutcome {
            damaged: found.ids.len(),
            places: found.unknown,
            spare: found.spare,
            mended: found.mended,
            stopped: found.stopped,
            ..ScrubOutcome::default()
        };
        if is_current && !found.stopped && (!found.ids.is_empty() || found.unknown > 0) {
            self.scrub.step = Step::Repairing(Repairing::new(core, outcome, found.ids));
            self.follow_repairs(core);
            return;
        }
        found.ids.iter().for_each(|id| self.repairs.damaged(core, *id));
        if is_current {
            let left = outcome.damaged;
            self.end_scrub(core, ScrubOutcome { left, ..outcome });
        }
    }

    fn follow_repairs(&mut self, core: &mut Core) {
        let Step::Repairing(repairing) = &mut self.scrub.step else { return };
        let is_alone = self.peers.keys().all(|node| core.detector.is_down(node));
        let is_further = repairing.compare(self.peers.iter());
        repairing.ask(core, &mut self.repairs);
        // With nobody, nothing is compared.
        let is_compared = !self.peers.is_empty() && self.repairs.is_compared();
        if !repairing.is_over(core, is_further, is_compared) && !is_alone {
            return;
        }
        let Step::Repairing(repairing) = std::mem::take(&mut self.scrub.step) else { return };
        let Repairing { found, ids, .. } = repairing;
        if ids.is_empty() {
            self.end_scrub(core, found);
            return;
        }
        self.scrub.step = Step::Counting(found);
        let (run, bytes_per_s) = (self.scrub.run, self.scrub.bytes_per_s);
        let operation = StoreOperation::Recount { run, bytes_per_s, ids };
        core.store(self.partition, operation, StoreOwner::Recount(run));
    }

    /// What was damaged was read once more.
    pub(crate) fn on_recounted(&mut self, core: &mut Core, run: u64, answer: StoreAnswer) {
        let Step::Counting(found) = &self.scrub.step else { return };
        if self.scrub.run != run {
            return;
        }
        let found = found.clone();
        let outcome = match answer {
            StoreAnswer::Recounted(Ok(Recount { damaged, garbage })) => {
                let left = damaged.len();
                let repaired = found.damaged.saturating_sub(left + garbage);
                ScrubOutcome { repaired, left, garbage, ..found }
            }
            StoreAnswer::Recounted(Err(refusal)) | StoreAnswer::Failed(refusal) => {
                ScrubOutcome { left: found.damaged, failure: Some(refusal), ..found }
            }
            _ => ScrubOutcome { left: found.damaged, failure: Some(Refusal::NotReady), ..found },
        };
        self.end_scrub(core, outcome);
    }

    fn end_scrub(&mut self, core: &mut Core, outcome: ScrubOutcome) {
        let (interval_ms, wall_ms) = (core.options.scrub_interval_ms, core.now.wall_ms);
        let outcome = ScrubOutcome { ended_ms: wall_ms, ..outcome };
        let scrub = &mut self.scrub;
        scrub.step = Step::Idle;
        if outcome.failure.is_some() {
            scrub.schedule.due_ms =
                wall_ms + (interval_ms / RETRY_PART).max(RETRY_MS_MIN).min(interval_ms);
        } else if !outcome.stopped {
            scrub.schedule = Schedule { verified_ms: wall_ms, due_ms: wall_ms + interval_ms };
            scrub.unsaved = core.options.keeps_schedule;
        }
        note(self.partition, &outcome);
        let asked = core.asked_scrub.as_mut().filter(|asked| asked.run == self.scrub.run);
        if let Some(asked) = asked {
            asked.outcomes.insert(self.partition, outcome.clone());
        }
        self.scrub.outcome = Some(outcome);
        self.plan_scrub(core);
    }
}

/// For the log: what people have to know of.
fn note(partition: PartitionId, outcome: &ScrubOutcome) {
    let &ScrubOutcome { damaged, repaired, left, places, spare, mended, .. } = outcome;
    if let Some(refusal) = &outcome.failure {
        tracing::warn!(%partition, %refusal, "the replica could not be verified");
    } else if left > 0 && !outcome.stopped {
        tracing::error!(%partition, damaged, repaired, left, "damaged blobs could not be repaired");
    } else if damaged + places + spare > 0 {
        let is_compared = outcome.is_compared;
        tracing::warn!(%partition, damaged, repaired, places, is_compared, spare, mended, "verified, with damage");
    } else {
        tracing::debug!(%partition, stopped = outcome.stopped, "verified");
    }
}
