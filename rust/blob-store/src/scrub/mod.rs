//! Reads all that a partition has stored, from the disk, and says what is not as it was written.
//!
//! ```text
//!  MANIFEST             checksum; whose it is
//!  each sealed segment  its index: header, filter and fences, each page
//!                       its log: header; each record of the index: its header, which says what the index says, properties,
//!                       checksums, each block of the body; that nothing lies between records
//!  the active segment   the same up to the last record that can be read
//! ```
//!
//! Nothing is changed, and nobody waits: locks are held for copies in memory, and a segment that was compacted meanwhile is let
//! go within one step. What compaction and writers make from then on is not looked at: the one has read back what it copied,
//! the others come next time. Nor is the mark `SYNCED`, which may be damaged without harm.
//!
//! A page of an index that is damaged does not hide records: those of the log are looked for as they are when an index is
//! computed again.

mod index;
mod log;
mod window;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{BlobId, IndexEntry, RecordKind};

use crate::blob_state::Condition;
use crate::compaction::{Pacer, Unpaced};
use crate::directory::{Directory, Wait};
use crate::error::{Error, Result};
use crate::log_file::{FIRST_RECORD, LogFile};
use crate::partition::Partition;
use crate::sealed::{SealedSegment, index_number};

/// What is wrong with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// They are not those that were written.
    Damaged,
    /// The disk does not return them, and may another time.
    Unreadable,
}

/// Who misses bytes that are not as they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Harm {
    /// Who reads: they are of a blob that is here, or nobody knows of which; or the partition is not opened without them.
    Live,
    /// Nobody: they are of a blob that is deleted or expired, or of a record that another one has replaced.
    Garbage,
    /// Nobody: they are stored a second time, or computed again.
    Spare,
}

/// A place on the disk that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, in the partition's directory.
    pub file: String,
    /// Its first byte.
    pub offset: u64,
    /// How many bytes cannot be relied on. The wrong ones are among them.
    pub length: u64,
    /// What is wrong.
    pub flaw: Flaw,
    /// Who misses them.
    pub harm: Harm,
    /// The same for people: what the bytes are, and what is wrong with them.
    pub what: String,
    /// The blob that they belong to, if that is known.
    pub blob: Option<BlobId>,
}

impl Finding {
    /// Whether nobody knows what the bytes are.
    pub(crate) fn is_of_unknown(&self) -> bool {
        self.blob.is_none() && self.harm == Harm::Live
    }
}

/// What a scrub looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// Bytes that it read.
    pub bytes: u64,
    /// Segments that it read, the active one included.
    pub segments: usize,
    /// Segments that were compacted before it came to their end.
    pub compacted: usize,
    /// Whether the pacer ended it.
    pub stopped: bool,
}

/// What is wrong with some bytes: the flaw, and what to tell people.
type Wrong = (Flaw, String);

/// Why a scrub does not go on with a segment, or at all.
enum Halt {
    /// The pacer says so.
    Stopped,
    /// The segment was compacted.
    Compacted,
    Error(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Halt::Error(error)
    }
}

type Step<T> = std::result::Result<T, Halt>;

/// Whom bytes belong to.
#[derive(Clone, Copy)]
enum Owner<'a> {
    Record(&'a IndexEntry, &'a Arc<LogFile>),
    /// A record of which nobody knows what it was.
    Unknown,
    /// What can be had from elsewhere.
    Spare,
}

impl Partition {
    /// Verifies everything that is stored, read from the disk, in steps of a mebibyte at most: `pacer` is asked before each.
    /// What is not as it was written is given to `found`. Changes nothing. An error says that it could not go on: a file that
    /// cannot be opened, or the partition failed meanwhile.
    pub fn scrub(&self, pacer: &dyn Pacer, found: &mut dyn FnMut(Finding)) -> Result<Scrubbed> {
        let fails = self.failure().is_some();
        let directory = self.writer().directory.clone();
        let scrubbed = Scrubbed::default();
        Scrub { partition: self, directory, pacer, found, fails, scrubbed }.run()
    }

    /// Whether an index or the manifest is whole, read from the disk; an index whose segment was compacted is.
    pub(crate) fn is_spare_whole(&self, file: &str) -> Result<bool> {
        let mut is_whole = true;
        let mut found = |_: Finding| is_whole = false;
        let mut scrub = Scrub {
            partition: self,
            directory: self.writer().directory.clone(),
            pacer: &Unpaced,
            found: &mut found,
            fails: self.failure().is_some(),
            scrubbed: Scrubbed::default(),
        };
        let read = match index_number(file) {
            Some(number) => match scrub.sealed(number) {
                Some(segment) => scrub.index(segment).map(drop),
                None => Ok(()),
            },
            None => scrub.manifest(),
        };
        match read {
            Err(Halt::Error(error)) => Err(error),
            Ok(()) | Err(Halt::Stopped | Halt::Compacted) => Ok(is_whole),
        }
    }

    /// Bytes that [`Partition::scrub`] would read now.
    pub fn scrub_bytes(&self) -> u64 {
        let visible = self.shared.read();
        let indexes = visible.view.sealed.iter().map(|segment| segment.index.file_bytes());
        visible.used_bytes + indexes.sum::<u64>()
    }
}

struct Scrub<'a> {
    partition: &'a Partition,
    directory: Arc<dyn Directory>,
    pacer: &'a dyn Pacer,
    found: &'a mut dyn FnMut(Finding),
    /// It took no writes when this began: nobody waits to open it again.
    fails: bool,
    scrubbed: Scrubbed,
}

impl Scrub<'_> {
    fn run(mut self) -> Result<Scrubbed> {
        match self.all() {
            Ok(()) => {}
            Err(Halt::Error(error)) => return Err(error),
            Err(Halt::Stopped | Halt::Compacted) => self.scrubbed.stopped = true,
        }
        Ok(self.scrubbed)
    }

    fn all(&mut self) -> Step<()> {
        self.manifest()?;
        for number in self.numbers() {
            match self.segment(number) {
                Ok(()) => self.scrubbed.segments += 1,
                Err(Halt::Compacted) => self.scrubbed.compacted += 1,
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// The segments of this moment. None of them is held: the room of one that is compacted can be given back.
    fn numbers(&self) -> Vec<u64> {
        let visible = self.partition.shared.read();
        let sealed = visible.view.sealed.iter().map(|segment| segment.log.header.number);
        sealed.chain([visible.view.active.header.number]).collect()
    }

    fn sealed(&self, number: u64) -> Option<Arc<SealedSegment>> {
        let visible = self.partition.shared.read();
        let mut sealed = visible.view.sealed.iter();
        sealed.find(|segment| segment.log.header.number == number).cloned()
    }

    fn segment(&mut self, number: u64) -> Step<()> {
        if let Some(segment) = self.sealed(number) {
            let entries = self.index(segment)?;
            let segment = self.sealed(number).ok_or(Halt::Compacted)?;
            return self.log(&segment.log, segment.length.into(), &entries);
        }
        let (log, end, entries) = self.active();
        // It may have been sealed, and compacted even, since it was looked for.
        if log.header.number == number {
            self.log(&log, end, &entries)
        } else if self.sealed(number).is_some() {
            self.segment(number)
        } else {
            Err(Halt::Compacted)
        }
    }

    /// The active segment with its records, and where they end.
    fn active(&self) -> (Arc<LogFile>, u64, Vec<IndexEntry>) {
        // Nothing is half done while it is held.
        let writer = self.partition.writer();
        let tail = u64::from(writer.tail);
        let visible = self.partition.shared.read();
        let log = visible.view.active.clone();
        let mut entries: Vec<_> = visible.recent.values().copied().collect();
        drop((visible, writer));
        entries.sort_unstable_by_key(|entry| entry.offset);
        let last = entries.last().map_or(FIRST_RECORD.into(), IndexEntry::end);
        // After a write that failed, nobody knows what is behind the last record that can be read.
        let end = if self.partition.failure().is_some() { last } else { tail };
        (log, end, entries)
    }

    /// Asks whether to read `bytes` more of the segment `number`.
    fn pace(&mut self, bytes: u64, number: Option<u64>) -> Step<()> {
        if self.pacer.pace(bytes).is_break() {
            return Err(Halt::Stopped);
        }
        if let Some(failure) = self.partition.failure().filter(|_| !self.fails) {
            return Err(failure.into());
        }
        self.scrubbed.bytes += bytes;
        match number {
            Some(number) if !self.is_here(number) => Err(Halt::Compacted),
            _ => Ok(()),
        }
    }

    fn is_here(&self, number: u64) -> bool {
        let visible = self.partition.shared.read();
        let sealed = visible.view.sealed.iter().map(|segment| &segment.log);
        let mut logs = sealed.chain([&visible.view.active]);
        logs.any(|log| log.header.number == number)
    }

    fn report(&mut self, file: &str, bytes: Range<u64>, wrong: Wrong, owner: Owner<'_>) {
        let (flaw, what) = wrong;
        let partition = self.partition.id();
        let (harm, blob) = match owner {
            Owner::Record(entry, log) => {
                (self.harm(entry, log), Some(BlobId { partition, uuid: entry.uuid }))
            }
            Owner::Unknown => (Harm::Live, None),
            Owner::Spare => (Harm::Spare, None),
        };
        let (file, offset, length) = (file.to_owned(), bytes.start, bytes.end - bytes.start);
        (self.found)(Finding { file, offset, length, flaw, harm, what, blob });
    }

    /// Who misses a record. If the indexes do not say, somebody may.
    fn harm(&self, entry: &IndexEntry, log: &Arc<LogFile>) -> Harm {
        let now_ms = self.partition.writer().clock.now_ms();
        let Ok(state) = self.partition.shared.find(entry.uuid, &[], Wait::ForDisk) else {
            return Harm::Live;
        };
        let is_replaced = entry.kind == RecordKind::Put
            && state
                .put
                .as_ref()
                .is_some_and(|put| !Arc::ptr_eq(&put.log, log) || put.entry.offset != entry.offset);
        match state.condition(now_ms) {
            Condition::Alive if !is_replaced => Harm::Live,
            _ => Harm::Garbage,
        }
    }
}

/// Records of two lists, in the order of the log.
fn merged(known: Vec<IndexEntry>, read: Vec<IndexEntry>) -> Vec<IndexEntry> {
    let offsets: BTreeSet<u32> = known.iter().map(|entry| entry.offset).collect();
    let others = read.into_iter().filter(|entry| !offsets.contains(&entry.offset));
    let mut all: Vec<_> = known.into_iter().chain(others).collect();
    all.sort_unstable_by_key(|entry| entry.offset);
    all
}
