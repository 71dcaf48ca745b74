//! All files of an outbox.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::age::Age;
use crate::cursor::Cursor;
use crate::error::{OutboxError, Result};
use crate::segment::{Entries, HEAD_BYTES, PAYLOAD_BYTES_MAX, Segment, encode, first_of, io, name};

/// How much an outbox may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of all files.
    pub bytes_max: u64,
    /// Bytes from which on a file is followed by another one.
    pub segment_bytes: u64,
    /// Age from which on a file is followed by another one: what is younger is in another file than what is older.
    pub segment_age: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { bytes_max: 1 << 30, segment_bytes: 4 << 20, segment_age: Duration::from_secs(3600) }
    }
}

/// Entries that somebody has to get. See the crate.
#[derive(Debug)]
pub struct Outbox {
    folder: PathBuf,
    settings: Settings,
    /// By position; the last one is written.
    segments: VecDeque<Segment>,
    active: File,
    broken: bool,
    cut_bytes: u64,
    /// Held as long as the outbox lives.
    _lock: File,
}

impl Outbox {
    /// Opens an outbox, or makes one. What a crash has left of an entry is cut off.
    ///
    /// # Errors
    /// The disk fails, another process has it, or files are damaged or missing.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let lock = lock(folder)?;
        let mut segments = VecDeque::new();
        let firsts = firsts(folder)?;
        let mut cut_bytes = 0;
        for (index, &first) in firsts.iter().enumerate() {
            let is_last = index + 1 == firsts.len();
            let (segment, cut) = examine(folder, first, is_last)?;
            if let Some(before) = segments.back().map(|before: &Segment| before.end)
                && before != first
            {
                let path = segment.path;
                return Err(OutboxError::Missing { path, found: first, expected: before });
            }
            cut_bytes += cut;
            segments.push_back(segment);
        }
        let active = match segments.back() {
            Some(last) => {
                OpenOptions::new().append(true).open(&last.path).map_err(io(&last.path))?
            }
            None => {
                let (segment, file) = create(folder, 0)?;
                segments.push_back(segment);
                file
            }
        };
        Ok(Self {
            folder: folder.to_owned(),
            settings,
            segments,
            active,
            broken: false,
            cut_bytes,
            _lock: lock,
        })
    }

    /// Bytes that were cut off at the end when it was opened: of entries that were never synced, unless the disk is damaged.
    pub fn cut_bytes(&self) -> u64 {
        self.cut_bytes
    }

    /// Position of the first entry that is kept.
    pub fn first(&self) -> u64 {
        self.segments.front().map_or(0, |segment| segment.first)
    }

    /// Position of the next entry.
    pub fn next(&self) -> u64 {
        self.segments.back().map_or(0, |segment| segment.end)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Position behind the first file: as many entries go at once.
    pub fn oldest_end(&self) -> u64 {
        self.segments.front().map_or(0, |segment| segment.end)
    }

    /// Since the last entry of the first file was written, as far as can be believed; none if there is no entry.
    pub fn oldest_age(&self) -> Option<Age> {
        self.segments.front().filter(|segment| segment.bytes > 0).map(|segment| segment.written)
    }

    /// Writes an entry, and returns its position. It is safe after the next [`sync`](Self::sync).
    ///
    /// # Errors
    /// It is full or broken, or the disk fails: then it is broken.
    pub fn append(&mut self, payload: &[u8]) -> Result<u64> {
        let bytes = self.bytes() + (HEAD_BYTES + payload.len()) as u64;
        if bytes > self.settings.bytes_max {
            let bytes_max = self.settings.bytes_max;
            return Err(OutboxError::Full { bytes: self.bytes(), bytes_max });
        }
        self.append_beyond(payload)
    }

    /// The same, however full it is: for what is larger than all that is allowed, when nothing else is left.
    ///
    /// # Errors
    /// It is broken, or the disk fails: then it is broken.
    pub fn append_beyond(&mut self, payload: &[u8]) -> Result<u64> {
        self.check()?;
        if payload.len() > PAYLOAD_BYTES_MAX {
            let (bytes, bytes_max) = (payload.len(), PAYLOAD_BYTES_MAX);
            return Err(OutboxError::Large { bytes, bytes_max });
        }
        self.rotate()?;
        let position = self.next();
        let record = encode(position, payload);
        let written = self.active.write_all(&record);
        let Some(last) = self.segments.back_mut() else { return Err(self.broken()) };
        if let Err(source) = written {
            self.broken = true;
            return Err(OutboxError::Io { path: last.path.clone(), source });
        }
        let now = Age::zero();
        if last.bytes == 0 {
            last.began = now;
        }
        last.end += 1;
        last.bytes += record.len() as u64;
        last.written = now;
        Ok(position)
    }

    /// Makes all entries safe.
    ///
    /// # Errors
    /// The disk fails: then it is broken.
    pub fn sync(&mut self) -> Result<()> {
        self.check()?;
        let synced = self.active.sync_data();
        synced.map_err(|source| {
            self.broken = true;
            OutboxError::Io { path: self.folder.clone(), source }
        })
    }

    /// Somebody has every entry before this position. Files go of which that is all.
    ///
    /// # Errors
    /// The disk fails.
    pub fn acknowledge(&mut self, position: u64) -> Result<()> {
        while self.segments.len() > 1
            && self.segments.front().is_some_and(|segment| segment.end <= position)
        {
            let Some(segment) = self.segments.pop_front() else { break };
            std::fs::remove_file(&segment.path).map_err(io(&segment.path))?;
        }
        // The last file says which position is next. If all of it is there, another one can say it.
        if self.segments.len() == 1 && self.next() <= position && self.bytes() > 0 {
            self.check()?;
            self.start()?;
            return self.acknowledge(position);
        }
        Ok(())
    }

    /// Takes back all entries from this position on, as if they had never been written: nobody has seen them.
    ///
    /// # Errors
    /// The disk fails: then it is broken. Nothing is to be taken back behind a position that is not there.
    pub fn truncate(&mut self, position: u64) -> Result<()> {
        self.check()?;
        let done = self.take_back(position);
        self.broken |= done.is_err();
        done
    }

    fn take_back(&mut self, position: u64) -> Result<()> {
        // The last file first: what is left is a beginning, whenever this ends.
        while self.segments.len() > 1
            && self.segments.back().is_some_and(|last| last.first >= position)
        {
            let Some(segment) = self.segments.pop_back() else { break };
            std::fs::remove_file(&segment.path).map_err(io(&segment.path))?;
        }
        let Some(last) = self.segments.back_mut() else { return Ok(()) };
        if last.end > position {
            let mut entries = Entries::open(&last.path, last.first)?;
            for _ in last.first..position {
                entries.next()?;
            }
            last.bytes = entries.read;
            last.end = position.max(last.first);
        }
        let path = last.path.clone();
        self.active = OpenOptions::new().append(true).open(&path).map_err(io(&path))?;
        if self.active.metadata().map_err(io(&path))?.len() > last.bytes {
            self.active.set_len(last.bytes).map_err(io(&path))?;
        }
        self.active.sync_all().map_err(io(&path))?;
        sync_folder(&self.folder)
    }

    /// The next entry of a cursor, if it is in front of `end`; from the first one that is kept if its own is gone.
    ///
    /// # Errors
    /// The disk fails, or has changed something.
    pub fn next_of(&self, cursor: &mut Cursor, end: u64) -> Result<Option<(u64, Vec<u8>)>> {
        cursor.next(&self.segments, end.min(self.next()))
    }

    /// Closes the file of a cursor if it has gone: as long as somebody has it open, the disk does not have its room.
    pub fn release(&self, cursor: &mut Cursor) {
        cursor.release(&self.segments);
    }

    /// Calls `take` with each entry from this position on, or from the first that is kept, until it says false.
    ///
    /// # Errors
    /// The disk fails, or has changed something.
    pub fn read(&self, from: u64, mut take: impl FnMut(u64, Vec<u8>) -> bool) -> Result<()> {
        for segment in self.segments.iter().filter(|segment| segment.end > from) {
            let mut entries = Entries::open(&segment.path, segment.first)?;
            for _ in segment.first..segment.end {
                let Some((position, payload)) = entries.next()? else {
                    let path = segment.path.clone();
                    return Err(OutboxError::Damaged { path, at: entries.read });
                };
                if position >= from && !take(position, payload) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.broken { Err(self.broken()) } else { Ok(()) }
    }

    fn broken(&self) -> OutboxError {
        OutboxError::Broken(self.folder.clone())
    }

    /// Begins another file if this one is long enough.
    fn rotate(&mut self) -> Result<()> {
        let is_long = self.segments.back().is_some_and(|last| {
            let age = last.began.elapsed();
            last.bytes >= self.settings.segment_bytes
                || (last.bytes > 0 && age >= self.settings.segment_age)
        });
        if is_long { self.start() } else { Ok(()) }
    }

    /// Begins another file. The one before is safe first: only the last one may have a torn end.
    fn start(&mut self) -> Result<()> {
        self.sync()?;
        let (segment, file) =
            create(&self.folder, self.next()).inspect_err(|_| self.broken = true)?;
        self.active = file;
        self.segments.push_back(segment);
        Ok(())
    }
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let options = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = options.map_err(io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OutboxError::Locked(folder.to_owned())),
        Err(TryLockError::Error(source)) => Err(OutboxError::Io { path, source }),
    }
}

/// Where files begin, in order. Files of other names are nobody's business.
fn firsts(folder: &Path) -> Result<Vec<u64>> {
    let mut firsts = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io(folder))? {
        let entry = entry.map_err(io(folder))?;
        firsts.extend(entry.file_name().to_str().and_then(first_of));
    }
    firsts.sort_unstable();
    Ok(firsts)
}

/// Reads a file through, and cuts off the end of the last one that is not right.
fn examine(folder: &Path, first: u64, is_last: bool) -> Result<(Segment, u64)> {
    let path = folder.join(name(first));
    let mut entries = Entries::open(&path, first)?;
    let mut end = first;
    while entries.next()?.is_some() {
        end += 1;
    }
    let metadata = std::fs::metadata(&path).map_err(io(&path))?;
    let length = metadata.len();
    let written = metadata.modified().map_or_else(|_| Age::zero(), Age::of_file);
    let cut = length - entries.read;
    if cut > 0 && !is_last {
        return Err(OutboxError::Damaged { path, at: entries.read });
    }
    if is_last {
        // Synced even if nothing is cut: an entry that only the page cache has would be sent, get lost, and another one would
        // get its position.
        let file = OpenOptions::new().write(true).open(&path).map_err(io(&path))?;
        // Nothing else is changed: the time of a file is its entries' age.
        let done = if cut > 0 { file.set_len(entries.read) } else { Ok(()) };
        done.and_then(|()| file.sync_all()).map_err(io(&path))?;
    }
    Ok((Segment { path, first, end, bytes: entries.read, began: written, written }, cut))
}

/// A file without entries, which is there after a crash too.
fn create(folder: &Path, first: u64) -> Result<(Segment, File)> {
    let path = folder.join(name(first));
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(io(&path))?;
    file.sync_all().map_err(io(&path))?;
    sync_folder(folder)?;
    let now = Age::zero();
    Ok((Segment { path, first, end: first, bytes: 0, began: now, written: now }, file))
}

fn sync_folder(folder: &Path) -> Result<()> {
    let directory = File::open(folder).map_err(io(folder))?;
    directory.sync_all().map_err(io(folder))
}
