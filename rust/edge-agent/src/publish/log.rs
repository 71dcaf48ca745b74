//! Rows that wait for the site's broker, on disk: an outbox of its own, in `DATA/publish`.
//!
//! ```text
//!   entry:  0      8        16
//!           +------+--------+---------------------------+
//!           | base | number | rows as JSON arrays, a    |      big-endian, u64 each
//!           |      |        | line each                 |
//!           +------+--------+---------------------------+
//! ```
//! **base** is how many rows the site had emitted before the commit of these: entries of a commit that the state does not have are
//! known by it, and taken back. **number** is that of the first row, of all that were ever to be published here.
//!
//! # Invariants
//! - Only rows that are committed are read. Rows in front of `next` are with the broker, or dropped and counted.
//! - No more than [`SPAN`] rows behind the saved place are handed out: as many may come twice after a kill.
//! - It never fails its owner, and never waits for a broker. With more than its bytes, the oldest file goes. What the disk does not
//!   take is dropped and counted, and the reason kept.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use afterbay_edge_mqtt::SENT_MAX;
use afterbay_edge_outbox::{Cursor, Outbox, OutboxError, Settings};

use super::place::{FILE, Place, PlaceFile};
use crate::batch::Part;

/// Rows that may be sent without a newer place on disk.
pub(crate) const SPAN: u64 = 2 * SENT_MAX as u64;
/// A file of the log is so much of all: as much goes at once.
const FILES: u64 = 16;
/// How often the place is saved, at most, if rows move slowly.
const SAVE_EVERY: Duration = Duration::from_millis(100);
/// The last file goes when everything is published, if it has as many bytes.
const KEEP_BYTES: u64 = 64 << 10;
/// Between two attempts to open it, for who reads.
const DISK_RETRY: Duration = Duration::from_millis(500);

type Result<T> = std::result::Result<T, OutboxError>;

/// Rows of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    base: u64,
    /// Of its first row.
    pub(crate) number: u64,
    /// A JSON array each.
    pub(crate) lines: String,
}

impl Entry {
    /// Rows of a part of a batch, without its watermarks.
    fn of(base: u64, number: u64, payload: &[u8]) -> Self {
        let mut lines = String::new();
        let text = String::from_utf8_lossy(payload);
        for row in text.lines().filter(|line| line.starts_with('[')) {
            lines.push_str(row);
            lines.push('\n');
        }
        Self { base, number, lines }
    }

    fn rows(&self) -> u64 {
        self.lines.lines().count() as u64
    }

    /// The number behind its last row.
    fn end(&self) -> u64 {
        self.number + self.rows()
    }

    fn encode(&self) -> Vec<u8> {
        let (base, number) = (self.base.to_be_bytes(), self.number.to_be_bytes());
        [&base, &number, self.lines.as_bytes()].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (base, rest) = bytes.split_first_chunk::<8>()?;
        let (number, lines) = rest.split_first_chunk::<8>()?;
        let lines = std::str::from_utf8(lines).ok()?.to_owned();
        let (base, number) = (u64::from_be_bytes(*base), u64::from_be_bytes(*number));
        Some(Self { base, number, lines })
    }
}

/// What becomes of a row that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permit {
    /// It may be sent; an earlier process may have done so.
    Send { again: bool },
    /// Not before the broker has acknowledged others.
    Wait,
    /// It is published, or was dropped.
    Done,
}

/// How it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogStatus {
    pub(crate) waiting: u64,
    pub(crate) bytes: u64,
    pub(crate) dropped: u64,
    pub(crate) trouble: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Log {
    folder: PathBuf,
    settings: Settings,
    /// None while the disk fails.
    outbox: Option<Outbox>,
    failed_at: Option<Instant>,
    trouble: Option<String>,
    file: PlaceFile,
    cursor: Cursor,
    /// Entries in front of this position are of commits, and the number behind the last of their rows.
    committed: (u64, u64),
    /// The same with the commit that is under way.
    appended: (u64, u64),
    /// Rows of that commit which the disk did not take.
    unwritten: u64,
    next: u64,
    dropped: u64,
    /// Rows in front of this one may have been sent by an earlier process.
    doubtful: u64,
    saved: Place,
    saved_at: Instant,
    save_every: Duration,
    /// Entries that were read: the position, and the number, behind each.
    read: VecDeque<(u64, u64)>,
}

impl Log {
    /// Opens it, or makes one. Entries of commits behind so many rows are taken back.
    pub(crate) fn open(folder: &Path, bytes_max: u64, rows: u64) -> Result<Self> {
        let segment_bytes = (bytes_max / FILES).clamp(4 << 10, 1 << 20);
        let settings = Settings { bytes_max, segment_bytes, segment_age: Duration::MAX };
        let mut outbox = Outbox::open(folder, settings)?;
        let opened = PlaceFile::open(folder);
        let (file, place) =
            opened.map_err(|source| OutboxError::Io { path: folder.join(FILE), source })?;
        let (position, numbers) = committed(&outbox, rows)?;
        outbox.truncate(position)?;
        let start = place.map_or(0, |place| place.next);
        let (first, end) = numbers.unwrap_or((start, start));
        let next = place.map_or(first, |place| place.next).clamp(first, end);
        let doubtful = place.map_or(end, |place| place.sent).min(end);
        let dropped = place.map_or(0, |place| place.dropped);
        Ok(Self {
            folder: folder.to_owned(),
            settings,
            cursor: Cursor::new(outbox.first()),
            outbox: Some(outbox),
            failed_at: None,
            trouble: None,
            file,
            committed: (position, end),
            appended: (position, end),
            unwritten: 0,
            next,
            dropped,
            doubtful,
            saved: place.unwrap_or(Place { next, sent: next, dropped }),
            saved_at: Instant::now(),
            save_every: SAVE_EVERY,
            read: VecDeque::new(),
        })
    }

    pub(crate) fn status(&self) -> LogStatus {
        let waiting = self.committed.1 - self.next;
        let bytes = self.outbox.as_ref().map_or(0, Outbox::bytes);
        LogStatus {
            waiting,
            bytes: if waiting > 0 { bytes } else { 0 },
            dropped: self.dropped,
            trouble: self.trouble.clone(),
        }
    }

    /// Writes and syncs rows of a commit that is under way, behind so many rows of earlier ones. What an attempt before has left is
    /// taken back.
    pub(crate) fn append(&mut self, base: u64, parts: &[Part]) {
        (self.appended, self.unwritten) = (self.committed, 0);
        let mut number = self.committed.1;
        let entries = parts.iter().map(|part| {
            let entry = Entry::of(base, number, &part.payload);
            number = entry.end();
            entry
        });
        let entries: Vec<Entry> = entries.filter(|entry| entry.rows() > 0).collect();
        if entries.is_empty() {
            return;
        }
        match self.write(&entries) {
            Ok(position) => {
                self.appended = (position, number);
                self.trouble = None;
            }
            Err(error) => {
                self.unwritten = number - self.committed.1;
                self.fail(&error);
            }
        }
    }

    fn write(&mut self, entries: &[Entry]) -> Result<u64> {
        self.reopen()?;
        let entries: Vec<Vec<u8>> = entries.iter().map(Entry::encode).collect();
        let bytes: u64 = entries.iter().map(|entry| entry.len() as u64 + 16).sum();
        if let Some(outbox) = &mut self.outbox
            && outbox.next() > self.committed.0
        {
            outbox.truncate(self.committed.0)?;
        }
        while self.outbox.as_ref().is_some_and(|outbox| {
            outbox.bytes() > 0 && outbox.bytes() + bytes > self.settings.bytes_max
        }) {
            self.drop_oldest()?;
        }
        let Some(outbox) = &mut self.outbox else {
            return Err(OutboxError::Broken(self.folder.clone()));
        };
        // What is larger than all that is allowed goes when nothing else is left.
        entries.iter().try_for_each(|entry| outbox.append_beyond(entry).map(|_| ()))?;
        outbox.sync()?;
        Ok(outbox.next())
    }

    /// The commit that was under way is done: its rows may be read.
    pub(crate) fn commit(&mut self) {
        self.committed = self.appended;
        let unwritten = std::mem::take(&mut self.unwritten);
        if unwritten > 0 {
            self.dropped += unwritten;
            self.save();
        }
    }

    /// The disk is full: the oldest file goes, if there is one.
    pub(crate) fn make_way(&mut self) {
        // It may have failed before, for the same reason.
        let mut made = self.reopen();
        if made.is_ok() && self.outbox.as_ref().is_some_and(|outbox| outbox.bytes() > 0) {
            made = self.drop_oldest();
        }
        if let Err(error) = made {
            self.fail(&error);
        }
    }

    /// Drops the first file, and says so on disk before.
    fn drop_oldest(&mut self) -> Result<()> {
        let Some(outbox) = &self.outbox else { return Ok(()) };
        let to = outbox.oldest_end();
        let behind = if to < self.committed.0 { number_at(outbox, to)? } else { None };
        let number = behind.unwrap_or(self.committed.1);
        if number > self.next {
            self.dropped += number - self.next;
            self.next = number;
            self.save();
            // If that is lost, so is a count.
            let _ = self.file.sync();
        }
        match &mut self.outbox {
            Some(outbox) => outbox.acknowledge(to),
            None => Ok(()),
        }
    }

    /// The next entry that is committed, if there is one.
    pub(crate) fn read(&mut self) -> Option<Entry> {
        if self.failed_at.is_some_and(|at| at.elapsed() >= DISK_RETRY)
            && let Err(error) = self.reopen()
        {
            self.fail(&error);
        }
        let outbox = self.outbox.as_ref()?;
        outbox.release(&mut self.cursor);
        match outbox.next_of(&mut self.cursor, self.committed.0) {
            Ok(Some((position, payload))) => {
                let entry = Entry::decode(&payload)?;
                self.read.push_back((position + 1, entry.end()));
                Some(entry)
            }
            Ok(None) => None,
            Err(error) => {
                self.fail(&error);
                None
            }
        }
    }

    /// What is to become of a row that was read.
    pub(crate) fn permit(&mut self, number: u64) -> Permit {
        if number < self.next {
            return Permit::Done;
        }
        let permit = Permit::Send { again: number < self.doubtful };
        if number < self.saved.sent {
            return permit;
        }
        let sent = self.next + SPAN;
        // Not for each row.
        if number >= sent || sent < self.saved.sent + SENT_MAX as u64 {
            return Permit::Wait;
        }
        self.save();
        permit
    }

    /// The broker has, or will never take, all rows in front of this number.
    pub(crate) fn done(&mut self, number: u64) {
        self.next = self.next.max(number.min(self.committed.1));
        let mut behind = None;
        while let Some((position, number)) = self.read.front()
            && *number <= self.next
        {
            behind = Some(*position);
            self.read.pop_front();
        }
        if let Some(position) = behind
            && let Err(error) = self.forget(position)
        {
            self.fail(&error);
        }
        if self.next > self.saved.next && self.saved_at.elapsed() >= self.save_every {
            self.save();
        }
    }

    /// Entries in front of this position are of no use any more.
    fn forget(&mut self, position: u64) -> Result<()> {
        let Some(outbox) = &mut self.outbox else { return Ok(()) };
        let (oldest, next) = (outbox.oldest_end(), outbox.next());
        // Another last file for each commit would be four syncs.
        let is_worth_it = oldest < next || outbox.bytes() >= KEEP_BYTES;
        if position >= oldest && is_worth_it { outbox.acknowledge(position) } else { Ok(()) }
    }

    /// Nothing is sent any more; whether something was that is not done with.
    pub(crate) fn finish(&mut self, may_be_there: bool) {
        let sent = if may_be_there { self.saved.sent.max(self.next) } else { self.next };
        self.save_as(sent);
    }

    fn save(&mut self) {
        self.save_as(self.next + SPAN);
    }

    fn save_as(&mut self, sent: u64) {
        let place = Place { next: self.next, sent, dropped: self.dropped };
        if let Err(error) = self.file.write(place) {
            self.trouble = Some(format!("{}: {error}", self.folder.join(FILE).display()));
        }
        (self.saved, self.saved_at) = (place, Instant::now());
    }

    fn fail(&mut self, error: &OutboxError) {
        self.trouble = Some(error.to_string());
        self.outbox = None;
        self.failed_at = Some(Instant::now());
        self.cursor = Cursor::new(self.cursor.position());
    }

    /// Opens it anew, without what is not committed.
    fn reopen(&mut self) -> Result<()> {
        if self.outbox.is_some() {
            return Ok(());
        }
        let mut outbox = Outbox::open(&self.folder, self.settings)?;
        outbox.truncate(self.committed.0)?;
        self.committed.0 = self.committed.0.min(outbox.next());
        self.unwritten += self.appended.1 - self.committed.1;
        self.appended = self.committed;
        self.outbox = Some(outbox);
        (self.failed_at, self.trouble) = (None, None);
        Ok(())
    }
}

/// The position behind all entries of commits, of which the state has so many rows, and the numbers of their first row and behind
/// their last one.
fn committed(outbox: &Outbox, rows: u64) -> Result<(u64, Option<(u64, u64)>)> {
    let (mut position, mut numbers) = (outbox.next(), None);
    outbox.read(outbox.first(), |at, payload| match Entry::decode(&payload) {
        Some(entry) if entry.base < rows => {
            let first = numbers.map_or(entry.number, |(first, _)| first);
            numbers = Some((first, entry.end()));
            true
        }
        _ => {
            position = at;
            false
        }
    })?;
    Ok((position, numbers))
}

/// The number of the first row of an entry.
fn number_at(outbox: &Outbox, position: u64) -> Result<Option<u64>> {
    let mut number = None;
    outbox.read(position, |_, payload| {
        number = Entry::decode(&payload).map(|entry| entry.number);
        false
    })?;
    Ok(number)
}

#[cfg(test)]
mod tests;
