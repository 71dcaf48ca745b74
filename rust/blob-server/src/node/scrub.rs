//! Scrubs: one at a time on a node, on all of its disks at once, at a rate for each of them.
//!
//! What was found is known as long as the server runs; the log has it for longer.

use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use afterbay_blob_node::{ScrubReport, ScrubState, name_of_flaw, name_of_harm};
use afterbay_blob_router::{Error, Result};
use afterbay_blob_store::{
    Clock, Finding, Flaw, Harm, Pacer, Partition, PartitionId, Scrubbed, SystemClock,
};

use super::disk::Disk;
use super::hosted::Hosted;
use super::layout::Layout;
use super::pacer::{Stop, TokenBucket};
use super::roster::AbsentDisk;

/// The scrub that runs, or the last one.
#[derive(Debug, Default)]
pub(crate) struct Scrubs {
    current: Mutex<Current>,
}

#[derive(Debug, Default)]
struct Current {
    scrub: Option<Arc<Scrub>>,
    threads: Vec<JoinHandle<()>>,
    /// The node shuts down.
    closed: bool,
}

#[derive(Debug)]
struct Scrub {
    stop: Stop,
    report: Mutex<ScrubReport>,
    /// Of this partition alone.
    only: Option<PartitionId>,
}

/// A partition to be read, and how many bytes that was to be at the start.
type Planned = (Arc<Hosted>, u64);

impl Scrubs {
    /// Starts a scrub of all disks, or of one partition; tells about the one that runs, if one does.
    pub(crate) fn start(
        &self,
        disks: &[Arc<Disk>],
        absent: &[AbsentDisk],
        bytes_per_s: u64,
        only: Option<PartitionId>,
    ) -> Result<ScrubReport> {
        if bytes_per_s == 0 {
            let reason = "a scrub that reads 0 bytes a second does not end; give 1 or more";
            return Err(Error::Invalid(reason.to_owned()));
        }
        let mut current = lock(&self.current);
        let unavailable = |reason: String| Error::Unavailable { place: "scrub".to_owned(), reason };
        if current.closed {
            return Err(unavailable("the server is shutting down".to_owned()));
        }
        let plan: Vec<_> = disks.iter().map(|disk| (disk.clone(), planned(disk, only))).collect();
        let is_here = plan.iter().any(|(_, partitions)| !partitions.is_empty());
        if let Some(partition) = only.filter(|_| !is_here) {
            let reason = format!("partition {partition} is on no disk that is here");
            return Err(Error::Invalid(reason));
        }
        if let Some(running) = current.scrub.as_ref().and_then(|scrub| scrub.joined(only)) {
            return running;
        }
        // What is on other disks is not asked for.
        let absent = if only.is_none() { absent } else { &[] };
        let scrub = Arc::new(Scrub::new(&plan, absent, bytes_per_s, only));
        // They were told to end, or have.
        current.threads.clear();
        current.threads.push(spawn(&scrub, plan).map_err(|e| unavailable(e.to_string()))?);
        let report = lock(&scrub.report).clone();
        current.scrub = Some(scrub);
        tracing::info!(bytes_per_s, bytes = report.total_bytes, "scrub began");
        Ok(report)
    }

    pub(crate) fn report(&self) -> ScrubReport {
        let current = lock(&self.current);
        current
            .scrub
            .as_ref()
            .map_or_else(ScrubReport::default, |scrub| lock(&scrub.report).clone())
    }

    /// Tells the one that runs to stop, if one does.
    pub(crate) fn stop(&self) -> ScrubReport {
        lock(&self.current).scrub.as_ref().map_or_else(ScrubReport::default, |scrub| scrub.stop())
    }

    /// Ends the one that runs, for good. Blocks.
    pub(crate) fn close(&self) {
        let threads = {
            let mut current = lock(&self.current);
            current.closed = true;
            std::mem::take(&mut current.threads)
        };
        self.stop();
        for thread in threads {
            // Its panics are caught.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn planned(disk: &Disk, only: Option<PartitionId>) -> Vec<Planned> {
    let bytes = |hosted: &Hosted| hosted.partition().map_or(0, |partition| partition.scrub_bytes());
    let partitions = disk.partitions().into_iter();
    let partitions = partitions.filter(|hosted| only.is_none_or(|only| only == hosted.id));
    partitions.map(|hosted| (hosted.clone(), bytes(&hosted))).collect()
}

/// One thread for each disk, and one that waits for their end.
fn spawn(scrub: &Arc<Scrub>, plan: Vec<(Arc<Disk>, Vec<Planned>)>) -> io::Result<JoinHandle<()>> {
    let scrub = scrub.clone();
    let all = move || {
        std::thread::scope(|scope| {
            for (disk, partitions) in &plan {
                let scrub = &scrub;
                let work = move || scrub.disk(disk, partitions);
                let builder = std::thread::Builder::new().name("blob-scrub".to_owned());
                if let Err(error) = builder.spawn_scoped(scope, work) {
                    scrub.unfinished(format!("{}: {error}", disk.place()));
                }
            }
        });
        scrub.end();
    };
    std::thread::Builder::new().name("blob-scrub".to_owned()).spawn(all)
}

impl Scrub {
    fn new(
        plan: &[(Arc<Disk>, Vec<Planned>)],
        absent: &[AbsentDisk],
        bytes_per_s: u64,
        only: Option<PartitionId>,
    ) -> Self {
        let total =
            plan.iter().flat_map(|(_, partitions)| partitions).map(|(_, bytes)| bytes).sum();
        let unfinished = absent.iter().map(|disk| format!("{}: {}", disk.name(), disk.reason));
        for (disk, _) in plan {
            for (flaw, harm) in KINDS {
                findings_gauge(&disk.place(), flaw, harm).set(0.0);
            }
        }
        let report = ScrubReport {
            state: ScrubState::Running,
            bytes_per_s,
            began_ms: SystemClock.now_ms(),
            total_bytes: total,
            unfinished: unfinished.collect(),
            ..ScrubReport::default()
        };
        Scrub { stop: Stop::default(), report: Mutex::new(report), only }
    }

    /// What who asks for one is told as long as this one runs: not of more than it reads.
    fn joined(&self, only: Option<PartitionId>) -> Option<Result<ScrubReport>> {
        let running = Some(lock(&self.report).clone()).filter(ScrubReport::is_running)?;
        Some(match self.only {
            Some(this) if only != Some(this) => Err(Error::Invalid(format!(
                "a scrub of partition {this} alone runs; wait for its end, or end it by 'scrub --stop'"
            ))),
            _ => Ok(ScrubReport { joined: true, ..running }),
        })
    }

    /// What is known of it right then: it may end at once.
    fn stop(&self) -> ScrubReport {
        let mut report = lock(&self.report);
        if report.is_running() {
            report.state = ScrubState::Stopping;
            self.stop.stop();
        }
        report.clone()
    }

    fn end(&self) {
        let mut report = lock(&self.report);
        let completed = report.state == ScrubState::Running;
        report.state = if completed { ScrubState::Completed } else { ScrubState::Stopped };
        report.ended_ms = Some(SystemClock.now_ms());
        let ScrubReport { verified_bytes, found, .. } = *report;
        let unfinished = report.unfinished.len();
        if completed && unfinished == 0 && self.only.is_none() {
            metrics::gauge!("afterbay_blob_scrub_last_completed_seconds")
                .set(SystemClock.now_ms() as f64 / 1000.0);
        }
        let (live, garbage, spare) = (found.live, found.garbage, found.spare);
        tracing::info!(completed, verified_bytes, live, garbage, spare, unfinished, "scrub ended");
    }

    fn unfinished(&self, what: String) {
        tracing::error!(what, "could not be scrubbed");
        lock(&self.report).unfinished.push(what);
    }

    fn disk(&self, disk: &Disk, partitions: &[Planned]) {
        let bytes_per_s = lock(&self.report).bytes_per_s;
        let place = disk.place();
        let bucket = TokenBucket::new(bytes_per_s, &self.stop);
        let pacer = Paced { bucket, scrub: self, place: &place };
        for (hosted, planned) in partitions {
            let scrubbed = catch_unwind(AssertUnwindSafe(|| self.partition(disk, hosted, &pacer)));
            let scrubbed = scrubbed.unwrap_or_else(|_| {
                metrics::counter!("afterbay_blob_panics_total", "part" => "scrub").increment(1);
                Err("the scrub panicked; the server's standard error says where".to_owned())
            });
            match scrubbed {
                Ok(Scrubbed { stopped: true, .. }) => return,
                Ok(Scrubbed { bytes, .. }) => self.settle(*planned, bytes),
                Err(reason) => {
                    self.unfinished(format!("partition {} on {place}: {reason}", hosted.id));
                }
            }
        }
    }

    /// What was to be read of a partition, and what was.
    fn settle(&self, planned: u64, bytes: u64) {
        let mut report = lock(&self.report);
        report.total_bytes = (report.total_bytes + bytes).saturating_sub(planned);
    }

    fn partition(
        &self,
        disk: &Disk,
        hosted: &Hosted,
        pacer: &Paced<'_>,
    ) -> std::result::Result<Scrubbed, String> {
        let partition = hosted.partition().map_err(|e| e.to_string())?;
        let is_opened_again = partition.failure().filter(|_| !disk.volume.is_read_only());
        if let Some(failure) = is_opened_again {
            return Err(failure.to_string());
        }
        let directory = format!("{}/{}", pacer.place, Layout::path_of(hosted.id));
        self.read(&partition, &directory, pacer).map_err(|e| e.to_string())
    }

    fn read(
        &self,
        partition: &Partition,
        directory: &str,
        pacer: &Paced<'_>,
    ) -> afterbay_blob_store::Result<Scrubbed> {
        partition.scrub(pacer, &mut |finding: Finding| {
            let shown = lock(&self.report).add(directory, &finding);
            findings_gauge(pacer.place, finding.flaw, finding.harm).increment(1.0);
            tracing::error!(
                partition = %partition.id(),
                file = shown.file,
                offset = shown.offset,
                length = shown.length,
                flaw = shown.flaw,
                harm = shown.harm,
                blob = shown.blob,
                what = shown.what,
                "scrub: not as it was written"
            );
        })
    }
}

const KINDS: [(Flaw, Harm); 6] = [
    (Flaw::Damaged, Harm::Live),
    (Flaw::Damaged, Harm::Garbage),
    (Flaw::Damaged, Harm::Spare),
    (Flaw::Unreadable, Harm::Live),
    (Flaw::Unreadable, Harm::Garbage),
    (Flaw::Unreadable, Harm::Spare),
];

fn findings_gauge(place: &str, flaw: Flaw, harm: Harm) -> metrics::Gauge {
    let (flaw, harm) = (name_of_flaw(flaw), name_of_harm(harm));
    metrics::gauge!("afterbay_blob_scrub_findings", "disk" => place.to_owned(), "flaw" => flaw, "harm" => harm)
}

/// The pace of one disk, which counts what may be read.
struct Paced<'a> {
    bucket: TokenBucket<'a>,
    scrub: &'a Scrub,
    place: &'a str,
}

impl Pacer for Paced<'_> {
    fn pace(&self, bytes: u64) -> ControlFlow<()> {
        self.bucket.pace(bytes)?;
        lock(&self.scrub.report).verified_bytes += bytes;
        metrics::counter!("afterbay_blob_scrubbed_bytes_total", "disk" => self.place.to_owned())
            .increment(bytes);
        ControlFlow::Continue(())
    }
}
