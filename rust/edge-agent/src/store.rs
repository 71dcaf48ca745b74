//! The outbox and the state, for both threads.
//!
//! # Invariants
//! - Entries of the outbox in front of `state.position` are safe, and so is the state. Only they are sent.
//! - Entries behind it have been seen by nobody.
//! - A gap is in the state before its entries go.
//! - Rows for the site's broker are in its log before the state has them; whatever becomes of that log, a commit goes on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use afterbay_edge_outbox::{Cursor, Outbox, OutboxError, Settings};
use afterbay_edge_wire::Frame;

use crate::batch::Part;
use crate::error::{AgentError, Result};
use crate::options::{AgentOptions, WhenFull};
use crate::publish::Local;
use crate::state::{Gap, Kept, State};
use crate::status::{AgentStatus, LinkStatus};

/// How long somebody waits until a disk is tried again.
const DISK_RETRY: Duration = Duration::from_millis(500);
/// A file of the outbox is so much of all: as much goes at once.
const FILES: u64 = 16;
/// Above one part of so many, rows wait to be merged. A link that is well has an eighth at most.
const BEHIND: u64 = 4;
/// Rows that wait to be merged are so much of all, and not more than that: each commit writes them.
const WAITING_BYTES_MAX: u64 = 1 << 20;

/// What a commit changes of the state.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub(crate) parts: Vec<Part>,
    /// For the site's broker, if those are others.
    pub(crate) published: Option<Vec<Part>>,
    /// Rows that wait.
    pub(crate) kept: Kept,
    /// Rows that were merged since the last commit.
    pub(crate) merged: u64,
    pub(crate) rows: u64,
    pub(crate) watermark: i64,
    pub(crate) finished: bool,
    pub(crate) place: crate::state::Place,
    pub(crate) input: Vec<u8>,
    pub(crate) run: Vec<u8>,
}

/// What a sender has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    /// There are frames.
    Frames,
    /// Nothing has come for a while.
    Idle,
    /// It has to end.
    Stop,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Store {
    site: String,
    stream: String,
    folder: PathBuf,
    settings: Settings,
    age_max: Duration,
    when_full: WhenFull,
    since: Instant,
    /// Rows for the site's broker, if there is one.
    local: Option<Arc<Local>>,
    inner: Mutex<Inner>,
    /// How it was when something changed last: who asks waits for no disk.
    shown: Mutex<AgentStatus>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner {
    /// None while the disk fails.
    outbox: Option<Outbox>,
    state: State,
    acknowledged: u64,
    held: Option<String>,
    stopping: bool,
    failed: Option<AgentError>,
    link: LinkStatus,
    connections: u64,
}

type Guard<'a> = MutexGuard<'a, Inner>;

impl Store {
    /// Opens a data folder, or makes one; entries that no commit has are taken back.
    pub(crate) fn open(options: &AgentOptions) -> Result<Self> {
        let folder = options.data.clone();
        let settings = Settings {
            bytes_max: options.outbox_bytes,
            segment_bytes: (options.outbox_bytes / FILES).clamp(4 << 10, 4 << 20),
            segment_age: options.outbox_age / 8,
        };
        let mut outbox = Outbox::open(&folder.join("outbox"), settings)?;
        let mut state = match State::read(&folder)? {
            Some(state) => state,
            None => first(&folder, &outbox, options.fingerprint)?,
        };
        check(&folder, &outbox, &state, options.fingerprint)?;
        outbox.truncate(state.position)?;
        // Whatever has gone from the outbox was dropped as a gap, or acknowledged. If more has gone, the gap was acknowledged too.
        state.gap = state.gap.filter(|gap| gap.to >= outbox.first());
        let acknowledged = state.gap.map_or(outbox.first(), |gap| gap.from).max(state.acknowledged);
        if let Some(gap) = state.gap {
            outbox.acknowledge(gap.to)?;
        }
        let publish = options.publish.as_ref();
        let local = publish.map(|publish| Local::open(&folder, publish.bytes, state.rows));
        let local = local.transpose()?.map(Arc::new);
        let inner = Inner {
            acknowledged,
            outbox: Some(outbox),
            state,
            held: None,
            stopping: false,
            failed: None,
            link: LinkStatus::Down("not connected yet".to_owned()),
            connections: 0,
        };
        let (site, stream, since) = (options.site.clone(), options.stream.clone(), Instant::now());
        let shown = Mutex::new(status_of(&inner, (&site, &stream), settings.bytes_max, since));
        Ok(Self {
            site,
            stream,
            folder,
            settings,
            age_max: options.outbox_age,
            when_full: options.when_full,
            since,
            local,
            inner: Mutex::new(inner),
            shown,
            changed: Condvar::new(),
        })
    }

    /// Rows for the site's broker, if there is one.
    pub(crate) fn local(&self) -> Option<&Arc<Local>> {
        self.local.as_ref()
    }

    /// What was committed last.
    pub(crate) fn state(&self) -> State {
        self.lock().state.clone()
    }

    /// Commits; waits for room, and for a disk that takes it. How long it took without that; none if it has to end instead.
    pub(crate) fn commit(&self, progress: &Progress) -> Result<Option<Duration>> {
        let mut inner = self.lock();
        let took = loop {
            if inner.stopping {
                return Ok(None);
            }
            let began = Instant::now();
            match self.try_commit(&mut inner, progress) {
                Ok(()) => break began.elapsed(),
                Err(OutboxError::Full { bytes, bytes_max }) => {
                    let merges = match self.when_full {
                        WhenFull::Merge => {
                            ", and rows that wait have been merged as far as they can be"
                        }
                        WhenFull::Hold | WhenFull::DropOldest => "",
                    };
                    inner.held = Some(format!(
                        "the outbox has {bytes} bytes of {bytes_max} that are allowed{merges}"
                    ));
                    self.show(&inner);
                    inner = self.wait(inner, Duration::MAX);
                }
                Err(error) if is_of_disk(&error) => {
                    if let Some(local) = self.local.as_ref().filter(|_| is_full(&error)) {
                        local.make_way();
                    }
                    inner.held = Some(error.to_string());
                    inner.outbox = None;
                    // What is there can be sent meanwhile, and makes room.
                    let _ = self.reopen(&mut inner);
                    self.show(&inner);
                    inner = self.wait(inner, DISK_RETRY);
                    inner.outbox = None;
                }
                Err(error) => return Err(error.into()),
            }
        };
        inner.held = None;
        self.tell(&inner);
        Ok(Some(took))
    }

    fn try_commit(
        &self,
        inner: &mut Inner,
        progress: &Progress,
    ) -> std::result::Result<(), OutboxError> {
        self.reopen(inner)?;
        let frames = self.frames(&inner.state, &progress.parts)?;
        let bytes: u64 = frames.iter().map(|frame| frame.len() as u64 + 16).sum();
        self.make_room(inner, bytes)?;
        let Some(outbox) = &mut inner.outbox else { return Err(self.broken()) };
        let written = frames.iter().try_for_each(|frame| outbox.append_beyond(frame).map(|_| ()));
        let written = written.and_then(|()| if frames.is_empty() { Ok(()) } else { outbox.sync() });
        if let Err(error) = written {
            inner.outbox = None;
            return Err(error);
        }
        let state = State {
            position: outbox.next(),
            watermark: progress.watermark,
            rows: inner.state.rows + progress.rows,
            merged_rows: inner.state.merged_rows + progress.merged,
            kept: progress.kept.clone(),
            finished: progress.finished,
            acknowledged: inner.acknowledged,
            place: progress.place.clone(),
            input: progress.input.clone(),
            run: progress.run.clone(),
            ..inner.state.clone()
        };
        let Some(local) = &self.local else { return self.save(inner, state) };
        local.append(inner.state.rows, progress.published.as_ref().unwrap_or(&progress.parts));
        self.save(inner, state)?;
        local.commit();
        Ok(())
    }

    /// Takes back what is there of a commit that failed.
    fn reopen(&self, inner: &mut Inner) -> std::result::Result<(), OutboxError> {
        if inner.outbox.is_none() {
            let mut outbox = Outbox::open(&self.folder.join("outbox"), self.settings)?;
            outbox.truncate(inner.state.position)?;
            inner.outbox = Some(outbox);
        }
        Ok(())
    }

    fn save(&self, inner: &mut Inner, state: State) -> std::result::Result<(), OutboxError> {
        if let Err(source) = state.write(&self.folder) {
            // The new state may be there or not: both are right as long as nothing is sent.
            inner.outbox = None;
            return Err(OutboxError::Io { path: self.folder.join("state"), source });
        }
        inner.state = state;
        Ok(())
    }

    fn frames(
        &self,
        state: &State,
        parts: &[Part],
    ) -> std::result::Result<Vec<Vec<u8>>, OutboxError> {
        let encoded = (state.position..).zip(parts).map(|(sequence, part)| {
            let frame = Frame {
                site: self.site.as_str().into(),
                stream: self.stream.as_str().into(),
                epoch: state.epoch,
                sequence,
                watermark: part.watermark,
                payload: part.payload.as_slice().into(),
            };
            frame.encode().map_err(|_| OutboxError::Large {
                bytes: part.payload.len(),
                bytes_max: afterbay_edge_wire::PAYLOAD_BYTES_MAX,
            })
        });
        encoded.collect()
    }

    /// Sees to it that so many bytes may be written. What is larger than all that is allowed goes when nothing else is left.
    fn make_room(&self, inner: &mut Inner, bytes: u64) -> std::result::Result<(), OutboxError> {
        let bytes_max = match self.when_full {
            // The rest is for rows that wait, which are in the state.
            WhenFull::Merge => self.settings.bytes_max - waiting_bytes(self.settings.bytes_max),
            WhenFull::Hold | WhenFull::DropOldest => self.settings.bytes_max,
        };
        loop {
            let Some(outbox) = &inner.outbox else { return Err(self.broken()) };
            let held = outbox.bytes();
            let nothing_left = inner.acknowledged >= inner.state.position || held == 0;
            if held + bytes <= bytes_max || nothing_left {
                return Ok(());
            }
            match self.when_full {
                WhenFull::Hold | WhenFull::Merge => {
                    return Err(OutboxError::Full { bytes: held, bytes_max });
                }
                WhenFull::DropOldest => self.drop_oldest(inner)?,
            }
        }
    }

    /// How many bytes of rows may wait to be merged, if they are.
    pub(crate) fn waiting_bytes(&self) -> Option<usize> {
        let bytes = waiting_bytes(self.settings.bytes_max);
        // Below 2^20.
        (self.when_full == WhenFull::Merge).then_some(bytes as usize)
    }

    /// Whether so much is to be sent that rows may as well wait for others.
    pub(crate) fn is_behind(&self) -> bool {
        let inner = self.lock();
        let bytes = inner.outbox.as_ref().map_or(0, Outbox::bytes);
        inner.acknowledged < inner.state.position && bytes >= self.settings.bytes_max / BEHIND
    }

    /// Drops the first file, and says so in the state before.
    fn drop_oldest(&self, inner: &mut Inner) -> std::result::Result<(), OutboxError> {
        let Some(outbox) = &inner.outbox else { return Err(self.broken()) };
        let (from, to) = (outbox.first().max(inner.acknowledged), outbox.oldest_end());
        if to > from {
            let rows = rows_of(outbox, from, to)?;
            let before = inner.state.gap.filter(|gap| gap.to == from);
            let gap = Gap {
                from: before.map_or(from, |gap| gap.from),
                to,
                rows: rows + before.map_or(0, |gap| gap.rows),
            };
            let state = State {
                gap: Some(gap),
                gaps: inner.state.gaps + 1,
                dropped_rows: inner.state.dropped_rows + rows,
                ..inner.state.clone()
            };
            self.save(inner, state)?;
        }
        let Some(outbox) = &mut inner.outbox else { return Err(self.broken()) };
        outbox.acknowledge(to)
    }

    /// Drops what is too old, if that is allowed. A disk that fails now will fail at the next commit.
    pub(crate) fn drop_old(&self) -> Result<()> {
        let mut inner = self.lock();
        while self.when_full == WhenFull::DropOldest && self.is_old(&inner) {
            match self.drop_oldest(&mut inner) {
                Ok(()) => {}
                Err(error) if is_of_disk(&error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.tell(&inner);
        Ok(())
    }

    fn is_old(&self, inner: &Inner) -> bool {
        let age = inner.outbox.as_ref().and_then(Outbox::oldest_age);
        let is_old = age.is_some_and(|age| age.elapsed() > self.age_max);
        inner.acknowledged < inner.state.position && is_old
    }

    /// Waits until there are frames behind this place.
    pub(crate) fn wait_for(&self, cursor: &mut Cursor, patience: Duration) -> Wake {
        let began = Instant::now();
        let mut inner = self.lock();
        loop {
            if inner.stopping {
                return Wake::Stop;
            }
            if let Some(outbox) = &inner.outbox {
                outbox.release(cursor);
                if inner.state.position > cursor.position() {
                    return Wake::Frames;
                }
            }
            let Some(left) = patience.checked_sub(began.elapsed()) else { return Wake::Idle };
            inner = self.wait(inner, left);
        }
    }

    /// The epoch, and how much of it was acknowledged.
    pub(crate) fn place(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.state.epoch, inner.acknowledged)
    }

    /// Notes the epoch that the gateway has said, if there is none yet.
    pub(crate) fn set_epoch(&self, epoch: u64) -> std::io::Result<()> {
        let mut inner = self.lock();
        if inner.state.epoch == epoch {
            return Ok(());
        }
        let state = State { epoch, ..inner.state.clone() };
        state.write(&self.folder)?;
        inner.state = state;
        self.show(&inner);
        Ok(())
    }

    /// Notes at the end what was acknowledged. If the disk does not take it, less is known after a start.
    pub(crate) fn remember(&self) {
        let mut inner = self.lock();
        if inner.acknowledged > inner.state.acknowledged {
            let state = State { acknowledged: inner.acknowledged, ..inner.state.clone() };
            let _ = self.save(&mut inner, state);
        }
    }

    /// Rows of this epoch in front of a position, at most.
    pub(crate) fn rows_before(&self, position: u64) -> Result<u64> {
        let inner = self.lock();
        let in_frames = inner.state.rows - inner.state.merged_rows - inner.state.kept.rows;
        let Some(outbox) = &inner.outbox else { return Ok(in_frames) };
        Ok(in_frames - rows_of(outbox, position, inner.state.position)?)
    }

    /// A place to send from.
    pub(crate) fn cursor(&self, from: u64) -> Cursor {
        Cursor::new(from)
    }

    /// The first frame of a cursor, and what was dropped in front of it.
    pub(crate) fn read(&self, cursor: &mut Cursor) -> Result<(Option<Gap>, Option<Vec<u8>>)> {
        let inner = self.lock();
        let Some(outbox) = &inner.outbox else { return Ok((None, None)) };
        let (from, to) = (cursor.position(), outbox.first());
        let known = inner.state.gap.map_or(0, |gap| gap.rows);
        let gap = (from < to).then_some(Gap { from, to, rows: known });
        let entry = outbox.next_of(cursor, inner.state.position)?;
        let frame = entry.map(|(_, frame)| frame);
        if !inner.state.asks_epoch {
            return Ok((gap, frame));
        }
        Ok((gap, frame.map(|frame| of_epoch(frame, inner.state.epoch))))
    }

    /// The gateway has everything in front of this. False if that is more than there is.
    pub(crate) fn acknowledge(&self, next: u64) -> Result<bool> {
        let mut inner = self.lock();
        if next > inner.state.position {
            return Ok(false);
        }
        inner.acknowledged = inner.acknowledged.max(next);
        if inner.state.gap.is_some_and(|gap| gap.to <= next) {
            // Written with the next commit: to say it twice does no harm.
            inner.state.gap = None;
        }
        if let Some(outbox) = &mut inner.outbox {
            match outbox.acknowledge(next) {
                Ok(()) => {}
                // What a commit will find too.
                Err(error) if is_of_disk(&error) => inner.held = Some(error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        self.tell(&inner);
        Ok(true)
    }

    /// Waits until the gateway has everything, or somebody wants it to end: then false.
    pub(crate) fn wait_until_sent(&self) -> bool {
        let mut inner = self.lock();
        while !inner.stopping && inner.acknowledged < inner.state.position {
            inner = self.wait(inner, Duration::MAX);
        }
        !inner.stopping
    }

    /// Ends everything.
    pub(crate) fn stop(&self, error: Option<AgentError>) {
        let mut inner = self.lock();
        inner.stopping = true;
        if inner.failed.is_none() {
            inner.failed = error;
        }
        self.changed.notify_all();
    }

    /// What has ended it, if something has.
    pub(crate) fn failed(&self) -> Option<AgentError> {
        self.lock().failed.take()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Waits for a while, or until it has to end.
    pub(crate) fn pause(&self, time: Duration) {
        let began = Instant::now();
        let mut inner = self.lock();
        while !inner.stopping
            && let Some(left) = time.checked_sub(began.elapsed())
        {
            inner = self.wait(inner, left);
        }
    }

    /// Notes whether there is a gateway.
    pub(crate) fn link_is(&self, link: LinkStatus) {
        let mut inner = self.lock();
        inner.connections += u64::from(link == LinkStatus::Up);
        inner.link = link;
        self.show(&inner);
    }

    /// How it is; waits for no disk.
    pub(crate) fn status(&self) -> AgentStatus {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn show(&self, inner: &Inner) {
        let names = (self.site.as_str(), self.stream.as_str());
        let status = status_of(inner, names, self.settings.bytes_max, self.since);
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// Something is otherwise than before: shows it, and wakes who waits for it.
    fn tell(&self, inner: &Inner) {
        self.show(inner);
        self.changed.notify_all();
    }

    fn lock(&self) -> Guard<'_> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, inner: Guard<'a>, time: Duration) -> Guard<'a> {
        // A day is as good as for ever, and no overflow.
        let time = time.min(Duration::from_secs(86_400));
        self.changed.wait_timeout(inner, time).unwrap_or_else(PoisonError::into_inner).0
    }

    fn broken(&self) -> OutboxError {
        OutboxError::Broken(self.folder.clone())
    }
}

fn status_of(
    inner: &Inner,
    (site, stream): (&str, &str),
    outbox_bytes_max: u64,
    since: Instant,
) -> AgentStatus {
    let outbox = inner.outbox.as_ref();
    let waits = inner.acknowledged < inner.state.position;
    AgentStatus {
        site: site.to_owned(),
        stream: stream.to_owned(),
        epoch: inner.state.epoch,
        next: inner.state.position,
        acknowledged: inner.acknowledged,
        rows: inner.state.rows,
        watermark: inner.state.watermark,
        input_bytes: inner.state.place.offset,
        finished: inner.state.finished,
        outbox_bytes: outbox.map_or(0, Outbox::bytes),
        outbox_bytes_max,
        oldest: outbox.and_then(Outbox::oldest_age).filter(|_| waits),
        gaps: inner.state.gaps,
        dropped_rows: inner.state.dropped_rows,
        merged_rows: inner.state.merged_rows,
        waiting_rows: inner.state.kept.rows,
        late_rows: 0,
        held: inner.held.clone(),
        link: inner.link.clone(),
        connections: inner.connections,
        messages: None,
        publish: None,
        since,
    }
}

/// Of an outbox of so many, how many are for rows that wait.
fn waiting_bytes(bytes_max: u64) -> u64 {
    (bytes_max / FILES).min(WAITING_BYTES_MAX)
}

/// Whether a disk may take it later.
fn is_of_disk(error: &OutboxError) -> bool {
    matches!(error, OutboxError::Io { .. } | OutboxError::Broken(_))
}

/// Whether the disk has no more room.
fn is_full(error: &OutboxError) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error, OutboxError::Io { source, .. } if matches!(source.kind(), QuotaExceeded | StorageFull))
}

/// The state of a folder that has none.
fn first(folder: &Path, outbox: &Outbox, fingerprint: u32) -> Result<State> {
    let path = folder.join("state");
    if outbox.next() > 0 {
        let reason = "it is missing, and the outbox has entries; move the data folder away: a new epoch begins, and the input is read anew";
        return Err(AgentError::File { path, reason: reason.to_owned() });
    }
    // It has to grow from one data folder of a site to the next, which no clock of a site does for sure: the gateway knows which
    // epochs there were.
    let state = State { fingerprint, epoch: 0, asks_epoch: true, ..State::default() };
    state.write(folder).map_err(|error| AgentError::File { path, reason: error.to_string() })?;
    Ok(state)
}

fn check(folder: &Path, outbox: &Outbox, state: &State, fingerprint: u32) -> Result<()> {
    let path = folder.join("state");
    if state.fingerprint != fingerprint {
        let reason = "it is of another plan, table, stream, or of other settings of the run; give those again, or another data folder";
        return Err(AgentError::File { path, reason: reason.to_owned() });
    }
    if outbox.next() < state.position {
        let reason = format!(
            "{} entries of the outbox were synced, and {} are there: the disk has lost some; move the data folder away: a new epoch begins, and the input is read anew",
            state.position,
            outbox.next()
        );
        return Err(AgentError::File { path, reason });
    }
    Ok(())
}

/// A frame that may have been written before its epoch was known.
fn of_epoch(bytes: Vec<u8>, epoch: u64) -> Vec<u8> {
    let Ok(mut frame) = Frame::decode(&bytes) else { return bytes };
    if frame.epoch == epoch {
        return bytes;
    }
    frame.epoch = epoch;
    // What was decoded can be encoded.
    frame.encode().unwrap_or_default()
}

/// Rows of frames that nobody has read.
fn rows_of(outbox: &Outbox, from: u64, to: u64) -> std::result::Result<u64, OutboxError> {
    let mut rows = 0;
    outbox.read(from, |position, frame| {
        if position >= to {
            return false;
        }
        let lines = Frame::decode(&frame).map_or(0, |frame| frame.rows());
        rows += lines;
        true
    })?;
    Ok(rows)
}

#[cfg(test)]
mod tests;
