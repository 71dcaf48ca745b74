//! What a scrub found, for people and monitoring.

use afterbay_blob_store::{Finding, Flaw, Harm};
use serde::{Deserialize, Serialize};

/// So many findings are shown. All of them are counted, and in the log.
const SHOWN_MAX: usize = 1000;

/// What the scrub that runs, or the last one since the start, has read and found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScrubReport {
    /// How far it is.
    pub state: ScrubState,
    /// It ran already when it was to be started: its rate is that of its own start.
    #[serde(default)]
    pub joined: bool,
    /// Bytes that it reads in a second, of each disk.
    pub bytes_per_s: u64,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// Bytes that it has verified.
    pub verified_bytes: u64,
    /// Bytes that there are to verify. What comes or goes meanwhile counts when its partition has been read.
    pub total_bytes: u64,
    /// How much is not as it was written.
    pub found: ScrubCounts,
    /// The first 1000 of those places.
    pub findings: Vec<ScrubFinding>,
    /// What could not be verified to its end, and why.
    pub unfinished: Vec<String>,
    /// What became of the damage; `None` on one machine, which has nothing to repair it from.
    #[serde(default)]
    pub repair: Option<RepairReport>,
}

/// What a node of a cluster did about what its scrub found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RepairReport {
    /// Its replicas, and those that are done.
    pub replicas: u64,
    /// So many of them are verified, repaired and counted.
    pub replicas_done: u64,
    /// Damaged blobs that are still to be written again, in replicas that are not done.
    pub open_blobs: u64,
    /// Blobs of which something that counts was damaged.
    pub damaged_blobs: u64,
    /// So many of them were written again, and were whole when they were read once more, from the disk.
    pub repaired_blobs: u64,
    /// So many were not, in replicas that are done.
    pub left_blobs: u64,
    /// Of so many, nothing but content is damaged that was deleted or has expired.
    pub garbage_blobs: u64,
    /// Places of which nobody knows whose they were.
    pub places: u64,
    /// So many of them are in replicas that could not be compared with all others.
    pub places_left: u64,
    /// Files with damage in what is stored a second time, or can be computed again.
    pub spare: u64,
    /// So many of them were written again, and were whole when they were read once more.
    pub mended: u64,
}

/// How far a scrub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScrubState {
    /// There was none since the start of the server.
    #[default]
    Never,
    /// It runs.
    Running,
    /// It was told to stop, and ends within a step.
    Stopping,
    /// It was stopped before its end.
    Stopped,
    /// It has come to its end. What it could not read through, if anything, is named.
    Completed,
}

/// Places that are not as they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScrubCounts {
    /// Of blobs that are here, or nobody knows of which.
    pub live: u64,
    /// Of blobs that are deleted or expired: nobody misses them.
    pub garbage: u64,
    /// Of what is stored a second time, or computed again.
    pub spare: u64,
    /// How many of all these cannot be read, and may be another time.
    pub unreadable: u64,
}

/// A place that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScrubFinding {
    /// The file.
    pub file: String,
    /// Its first byte.
    pub offset: u64,
    /// How many bytes cannot be relied on.
    pub length: u64,
    /// `damaged` or `unreadable`.
    pub flaw: String,
    /// Whom it harms: `live`, `garbage` or `spare`, as in [`ScrubCounts`].
    pub harm: String,
    /// What it is, and what is wrong with it.
    pub what: String,
    /// The blob, or the chunk of one, if it is known.
    pub blob: Option<String>,
}

impl ScrubReport {
    /// Whether it goes on.
    pub fn is_running(&self) -> bool {
        matches!(self.state, ScrubState::Running | ScrubState::Stopping)
    }

    /// Counts a finding in a file of this directory. What is shown of it, whether it is kept or not.
    pub fn add(&mut self, directory: &str, finding: &Finding) -> ScrubFinding {
        let counts = &mut self.found;
        *match finding.harm {
            Harm::Live => &mut counts.live,
            Harm::Garbage => &mut counts.garbage,
            Harm::Spare => &mut counts.spare,
        } += 1;
        counts.unreadable += u64::from(finding.flaw == Flaw::Unreadable);
        let shown = ScrubFinding {
            file: format!("{directory}/{}", finding.file),
            offset: finding.offset,
            length: finding.length,
            flaw: name_of_flaw(finding.flaw).to_owned(),
            harm: name_of_harm(finding.harm).to_owned(),
            what: finding.what.clone(),
            blob: finding.blob.map(|id| id.to_string()),
        };
        if self.findings.len() < SHOWN_MAX {
            self.findings.push(shown.clone());
        }
        shown
    }
}

impl ScrubCounts {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.live + self.garbage + self.spare
    }
}

/// `damaged`, `unreadable`.
pub fn name_of_flaw(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Damaged => "damaged",
        Flaw::Unreadable => "unreadable",
    }
}

/// `live`, `garbage`, `spare`.
pub fn name_of_harm(harm: Harm) -> &'static str {
    match harm {
        Harm::Live => "live",
        Harm::Garbage => "garbage",
        Harm::Spare => "spare",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_ones_shown() {
        let mut report = ScrubReport::default();
        let finding = |offset, harm, flaw| Finding {
            file: "1.log".to_owned(),
            offset,
            length: 1,
            flaw,
            harm,
            what: "body".to_owned(),
            blob: None,
        };
        for offset in 0..1500 {
            report.add("/data/p", &finding(offset, Harm::Live, Flaw::Damaged));
        }
        report.add("/data/p", &finding(0, Harm::Garbage, Flaw::Unreadable));
        let shown = report.add("/data/p", &finding(7, Harm::Spare, Flaw::Damaged));
        assert_eq!((shown.file.as_str(), shown.harm.as_str()), ("/data/p/1.log", "spare"));
        let expected = ScrubCounts { live: 1500, garbage: 1, spare: 1, unreadable: 1 };
        assert_eq!((report.found, report.found.all()), (expected, 1502));
        assert_eq!(report.findings.len(), SHOWN_MAX);
        assert_eq!(report.findings[999].offset, 999);
    }
}
