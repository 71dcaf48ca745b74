//! The scrubs of a node: how fast they read, what they find, and what is told of the one that somebody asked for.
//!
//! The state machine says when one begins, and what becomes of the damage. Here is what the threads that read ask and tell: they
//! wait for their turn to read, hear that they are to end, and count.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use afterbay_blob_cluster::{AskedScrub, NodeStatus, ScrubWatch};
use afterbay_blob_store::{ByteRate, Finding, Pacer, PartitionId};
use serde::{Deserialize, Serialize};

use crate::home::PARTITIONS;
use crate::scrub_report::{RepairReport, ScrubReport, ScrubState, name_of_flaw, name_of_harm};

/// What reads by itself reads at least so many bytes in a second.
const OWN_BYTES_PER_S_MIN: u64 = 1 << 20;
/// It is so fast that all is read in this part of the interval: there is time left for what takes its place, and for restarts.
const OWN_PART: u64 = 2;
/// Runs that were ended are forgotten after so many others: more than a node has replicas, of which each may wait for its turn.
const ENDED_MAX: usize = 1 << 16;

/// What somebody asks a node for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScrubCommand {
    /// Verify replicas now. If a scrub that was asked for is under way, it goes on as it is.
    Start {
        /// Bytes to read in a second.
        bytes_per_s: u64,
        /// Of this partition alone.
        partition: Option<u64>,
    },
    /// How far is it?
    Status,
    /// End it.
    Stop,
}

/// What threads that scrub share with who asks. All methods may be called by several threads at once.
#[derive(Debug, Default)]
pub(crate) struct Scrubs {
    /// The directory of the node.
    data: PathBuf,
    /// Each replica is verified so often.
    interval: Duration,
    ended: Mutex<Ended>,
    changed: Condvar,
    /// Of all scrubs since the start.
    verified_bytes: AtomicU64,
    asked: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Ended {
    runs: BTreeSet<u64>,
    all: bool,
}

impl Ended {
    fn has(&self, run: u64) -> bool {
        self.all || self.runs.contains(&run)
    }
}

/// What is counted of the scrub that somebody asked for.
#[derive(Debug, Default)]
struct Asked {
    run: u64,
    counted: ScrubReport,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scrubs {
    /// Of the node in this directory, which verifies each replica so often by itself.
    pub(crate) fn new(data: PathBuf, interval: Duration) -> Self {
        Scrubs { data, interval, ..Scrubs::default() }
    }

    /// Counts one from here on, of which there are `total_bytes` to read.
    pub(crate) fn follow(&self, run: u64, total_bytes: u64) {
        *lock(&self.asked) =
            Asked { run, counted: ScrubReport { total_bytes, ..ScrubReport::default() } };
    }

    /// Ends what is read by the number of `run`, now or when it begins.
    pub(crate) fn end(&self, run: u64) {
        let mut ended = lock(&self.ended);
        ended.runs.insert(run);
        while ended.runs.len() > ENDED_MAX {
            ended.runs.pop_first();
        }
        drop(ended);
        self.changed.notify_all();
    }

    /// Ends all, for good.
    pub(crate) fn close(&self) {
        lock(&self.ended).all = true;
        self.changed.notify_all();
    }

    /// Bytes that were verified since the start.
    pub(crate) fn verified_bytes(&self) -> u64 {
        self.verified_bytes.load(Ordering::Relaxed)
    }

    /// Waits; true if the run has to end.
    fn wait(&self, run: u64, duration: Duration) -> bool {
        let ended = lock(&self.ended);
        let waited = self.changed.wait_timeout_while(ended, duration, |ended| !ended.has(run));
        waited.unwrap_or_else(PoisonError::into_inner).0.has(run)
    }

    fn count(&self, run: u64, bytes: u64) {
        self.verified_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut asked = lock(&self.asked);
        if asked.run == run {
            asked.counted.verified_bytes += bytes;
        }
    }

    /// Bytes that a scrub reads in a second which nobody has said.
    fn own_bytes_per_s(&self, all_bytes: u64) -> u64 {
        let interval_s = self.interval.as_secs().max(1);
        (all_bytes.saturating_mul(OWN_PART) / interval_s).max(OWN_BYTES_PER_S_MIN)
    }

    /// How far the scrub is that somebody asked for.
    pub(crate) fn report(&self, status: &NodeStatus) -> ScrubReport {
        let Some(asked) = &status.scrub else { return ScrubReport::default() };
        let counted = {
            let counted = lock(&self.asked);
            if counted.run == asked.run { counted.counted.clone() } else { ScrubReport::default() }
        };
        let state = state_of(asked);
        let failures = asked.outcomes.iter().filter_map(|(id, outcome)| {
            let failure = outcome.failure.as_ref()?;
            Some(format!("partition {}: {failure}", id.0))
        });
        let unfinished: Vec<String> = failures.collect();
        let is_read = state == ScrubState::Completed && unfinished.is_empty();
        let ended_ms = asked.outcomes.values().map(|outcome| outcome.ended_ms).max();
        ScrubReport {
            state,
            bytes_per_s: asked.bytes_per_s,
            began_ms: asked.began_ms,
            ended_ms: ended_ms
                .filter(|_| !asked.is_running())
                .or((!asked.is_running()).then_some(asked.began_ms)),
            // What came or went meanwhile counts.
            total_bytes: if is_read { counted.verified_bytes } else { counted.total_bytes },
            unfinished,
            repair: Some(repair_of(asked, status)),
            ..counted
        }
    }
}

fn state_of(asked: &AskedScrub) -> ScrubState {
    let was_stopped = asked.outcomes.values().any(|outcome| outcome.stopped);
    match (asked.is_running(), asked.stopping) {
        (true, false) => ScrubState::Running,
        (true, true) => ScrubState::Stopping,
        (false, _) if was_stopped => ScrubState::Stopped,
        (false, _) => ScrubState::Completed,
    }
}

fn repair_of(asked: &AskedScrub, status: &NodeStatus) -> RepairReport {
    let under_way = status.replicas.iter().filter(|replica| {
        asked.partitions.contains(&replica.partition)
            && !asked.outcomes.contains_key(&replica.partition)
    });
    let mut repair = RepairReport {
        replicas: asked.partitions.len() as u64,
        replicas_done: asked.outcomes.len() as u64,
        open_blobs: under_way.map(|replica| replica.scrub.open as u64).sum(),
        ..RepairReport::default()
    };
    for outcome in asked.outcomes.values() {
        repair.damaged_blobs += outcome.damaged as u64;
        repair.repaired_blobs += outcome.repaired as u64;
        repair.left_blobs += outcome.left as u64;
        repair.garbage_blobs += outcome.garbage as u64;
        repair.places += outcome.places as u64;
        repair.places_left += if outcome.is_compared { 0 } else { outcome.places as u64 };
        repair.spare += outcome.spare as u64;
        repair.mended += outcome.mended as u64;
    }
    repair
}

/// The pace of one replica.
#[derive(Debug)]
struct Pace<'a> {
    scrubs: &'a Scrubs,
    run: u64,
    rate: ByteRate,
}

impl Pacer for Pace<'_> {
    fn pace(&self, bytes: u64) -> ControlFlow<()> {
        let wait = self.rate.take(bytes, Instant::now());
        if self.scrubs.wait(self.run, wait) {
            return ControlFlow::Break(());
        }
        self.scrubs.count(self.run, bytes);
        ControlFlow::Continue(())
    }
}

impl ScrubWatch for Scrubs {
    fn pacer(&self, run: u64, bytes_per_s: u64, all_bytes: u64) -> Box<dyn Pacer + '_> {
        let bytes_per_s = match bytes_per_s {
            0 => self.own_bytes_per_s(all_bytes),
            said => said,
        };
        Box::new(Pace { scrubs: self, run, rate: ByteRate::new(bytes_per_s) })
    }

    fn found(&self, run: u64, partition: PartitionId, finding: &Finding) {
        let directory = self.data.join(PARTITIONS).join(partition.to_string());
        let directory = directory.display().to_string();
        let mut asked = lock(&self.asked);
        let shown = if asked.run == run {
            asked.counted.add(&directory, finding)
        } else {
            ScrubReport::default().add(&directory, finding)
        };
        drop(asked);
        tracing::error!(
            %partition,
            file = shown.file,
            offset = shown.offset,
            length = shown.length,
            flaw = name_of_flaw(finding.flaw),
            harm = name_of_harm(finding.harm),
            blob = shown.blob,
            what = shown.what,
            "scrub: not as it was written"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::thread;

    use afterbay_blob_cluster::{NodeId, Refusal, ScrubOutcome};
    use afterbay_blob_store::{Flaw, Harm};

    use super::*;

    fn scrubs() -> Scrubs {
        Scrubs::new(PathBuf::from("/data/n1"), Duration::from_secs(1000))
    }

    #[test]
    fn what_nobody_has_said_is_read_twice_as_fast_as_is_needed() {
        let scrubs = scrubs();
        assert_eq!(scrubs.own_bytes_per_s(10_000 << 20), 20 << 20);
        assert_eq!(scrubs.own_bytes_per_s(1 << 20), 1 << 20, "not as slow as that");
    }

    #[test]
    fn a_run_ends_whether_it_has_begun_or_not() {
        let scrubs = scrubs();
        let second = scrubs.pacer(2, u64::MAX / 2, 1);
        thread::scope(|scope| {
            // It would take a century.
            let paced = scope.spawn(|| scrubs.pacer(1, 1, 1).pace(u64::from(u32::MAX)));
            scrubs.end(1);
            assert!(paced.join().unwrap().is_break());
        });
        scrubs.end(3);
        assert!(scrubs.pacer(3, u64::MAX / 2, 1).pace(1).is_break());
        assert!(second.pace(1).is_continue(), "another one goes on");
        scrubs.close();
        assert!(second.pace(1).is_break());
    }

    fn finding() -> Finding {
        Finding {
            file: "1.log".to_owned(),
            offset: 7,
            length: 9,
            flaw: Flaw::Damaged,
            harm: Harm::Live,
            what: "body".to_owned(),
            blob: None,
        }
    }

    fn status(scrub: Option<AskedScrub>) -> NodeStatus {
        NodeStatus { node: NodeId::new("n1"), down: Vec::new(), replicas: Vec::new(), scrub }
    }

    #[test]
    fn what_was_asked_for_is_counted_apart() {
        let scrubs = scrubs();
        assert_eq!(scrubs.report(&status(None)), ScrubReport::default());
        scrubs.follow(7, 100);
        let (asked, other) = (scrubs.pacer(7, u64::MAX / 2, 1), scrubs.pacer(8, u64::MAX / 2, 1));
        for (pacer, run) in [(&asked, 7), (&other, 8)] {
            assert!(pacer.pace(60).is_continue());
            scrubs.found(run, PartitionId(2), &finding());
        }
        let mut of = AskedScrub {
            run: 7,
            bytes_per_s: 5,
            began_ms: 1000,
            partitions: vec![PartitionId(1), PartitionId(2)],
            outcomes: BTreeMap::new(),
            stopping: false,
        };
        let report = scrubs.report(&status(Some(of.clone())));
        assert_eq!((report.state, report.ended_ms), (ScrubState::Running, None));
        assert_eq!((report.verified_bytes, report.total_bytes, report.found.live), (60, 100, 1));
        assert!(report.findings[0].file.starts_with("/data/n1/partitions/"), "{report:?}");
        assert_eq!(scrubs.verified_bytes(), 120);
        let outcome = ScrubOutcome {
            damaged: 5,
            repaired: 3,
            left: 1,
            garbage: 1,
            places: 2,
            spare: 2,
            mended: 1,
            ended_ms: 3000,
            ..ScrubOutcome::default()
        };
        let failed = ScrubOutcome {
            failure: Some(Refusal::NotReady),
            ended_ms: 2000,
            ..ScrubOutcome::default()
        };
        of.outcomes.extend([(PartitionId(1), outcome), (PartitionId(2), failed)]);
        let report = scrubs.report(&status(Some(of)));
        assert_eq!((report.state, report.ended_ms), (ScrubState::Completed, Some(3000)));
        assert!(report.unfinished[0].starts_with("partition 2: "), "{report:?}");
        let repair = report.repair.unwrap();
        let counts =
            (repair.damaged_blobs, repair.repaired_blobs, repair.left_blobs, repair.places_left);
        assert_eq!((repair.replicas_done, counts), (2, (5, 3, 1, 2)));
    }
}
