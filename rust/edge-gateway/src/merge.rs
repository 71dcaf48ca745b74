//! What sites send becomes partitions with a watermark each. No disk, no network, no clock.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use afterbay_edge_wire::{Frame, Line, Progress, Verdict, is_name};
use serde_json::value::RawValue;

use crate::error::{GatewayError, Result};
use crate::options::Partitions;
use crate::records::{Key, PartitionRecord, SiteRecord, StreamRecord, read, write};

/// The year 9999, which is as far as Flink's times go.
const WATERMARK_MAX: i64 = 253_402_300_799_999;

/// Of a row that is too large, so much is shown.
const NOTE_CHARACTERS: usize = 1000;
/// Bytes of all names of a stream's columns: they are a record of the output.
const COLUMNS_BYTES_MAX: usize = 256 << 10;

/// Bytes of all rows of a frame, with the names of their columns.
const FRAME_BYTES_MAX: usize = 64 << 20;

/// A row of the output: a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The stream; or, with `.large` behind it, a note of a row that is not there.
    pub stream: String,
    /// Whether it is late.
    pub late: bool,
    /// The partition.
    pub partition: u32,
    /// One line without its end.
    pub json: String,
}

/// A stream of a site goes on from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Its epoch.
    pub epoch: u64,
    /// The number that comes next.
    pub next: u64,
}

/// What is not taken, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is a newer epoch.
    Fenced(String),
    /// The site was told that more is safe than there is.
    Forgotten(String),
    /// The stream has other columns.
    Columns(String),
    /// It is no stream, or no row.
    Wrong(String),
    /// The output does not take the stream, until somebody mends that.
    NotNow(String),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    pub(crate) columns: Vec<String>,
    /// `"name":` of each, as JSON.
    names: Vec<String>,
    pub(crate) sites: BTreeMap<String, Site>,
    pub(crate) partitions: BTreeMap<u32, Partition>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Site {
    pub(crate) record: SiteRecord,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Partition {
    pub(crate) watermark: i64,
    /// What rows have shown.
    shown: i64,
}

/// What is known of all streams.
#[derive(Debug, Clone)]
pub struct Merge {
    partitions: Partitions,
    sites: BTreeSet<String>,
    streams: BTreeMap<String, Stream>,
    /// ms since 1970, as somebody has said.
    now: u64,
    /// Streams of which the output takes no rows. Nothing of them moves until a site opens them again.
    held: BTreeSet<String>,
    /// Records that have changed since they were taken.
    changed: BTreeSet<String>,
    rows: Vec<Row>,
    /// Of the rows.
    bytes: usize,
    row_bytes_max: usize,
    checks_numbers: bool,
}

impl Merge {
    /// Goes on from what was committed.
    ///
    /// # Errors
    /// A record is none.
    pub fn recover(records: &BTreeMap<String, String>, partitions: Partitions) -> Result<Self> {
        let (sites, streams) = (BTreeSet::new(), BTreeMap::new());
        let (held, changed, rows, checks_numbers) =
            (BTreeSet::new(), BTreeSet::new(), Vec::new(), true);
        let row_bytes_max = usize::MAX;
        let mut merge = Self {
            partitions,
            sites,
            streams,
            now: 0,
            held,
            changed,
            rows,
            bytes: 0,
            row_bytes_max,
            checks_numbers,
        };
        for (key, value) in records {
            let unknown = || {
                let reason = "it is none of a gateway's".to_owned();
                GatewayError::Record { key: key.clone(), reason }
            };
            match Key::parse(key).ok_or_else(unknown)? {
                Key::Stream(stream) => {
                    let record: StreamRecord = read(key, value)?;
                    merge.stream(stream).set_columns(record.columns);
                }
                Key::Site(stream, site) => {
                    let record: SiteRecord = read(key, value)?;
                    let partition = record.partition;
                    let stream = merge.stream(stream);
                    stream.sites.insert(site.to_owned(), Site { record });
                    stream.partitions.entry(partition).or_default();
                }
                Key::Partition(stream, number) => {
                    let PartitionRecord { watermark } = read(key, value)?;
                    let partition = Partition { watermark, shown: watermark };
                    merge.stream(stream).partitions.insert(number, partition);
                }
            }
        }
        Ok(merge)
    }

    /// Takes a number that has been taken before, and one that is not the next: a control of tests, which must find it.
    #[doc(hidden)]
    pub fn without_numbers(mut self) -> Self {
        self.checks_numbers = false;
        self
    }

    /// The output takes no larger rows: it gets a note instead.
    pub fn limit_rows(&mut self, bytes_max: usize) {
        self.row_bytes_max = bytes_max;
    }

    /// What time it is, ms since 1970: an epoch that begins is at least as large.
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// The output takes no rows of this stream, until [`open`](Self::open) is called.
    pub fn hold(&mut self, stream: &str) {
        self.held.insert(stream.to_owned());
    }

    fn stream(&mut self, name: &str) -> &mut Stream {
        self.streams.entry(name.to_owned()).or_default()
    }

    pub(crate) fn streams(&self) -> &BTreeMap<String, Stream> {
        &self.streams
    }

    /// These sites have keys. Each holds its partition of each stream up, until it has sent something or is excluded; a site
    /// without a key holds nobody up any more.
    pub fn register(&mut self, sites: &BTreeSet<String>) {
        if self.sites == *sites {
            return;
        }
        self.sites.clone_from(sites);
        let names: Vec<String> = self.streams.keys().cloned().collect();
        for stream in names {
            self.assign(&stream);
            // Who has lost its key holds nobody up.
            let known: Vec<String> = self.stream(&stream).sites.keys().cloned().collect();
            known.iter().for_each(|site| self.advance(&stream, site));
        }
    }

    /// A stream of a site begins or goes on. With epoch 0 it begins, and gets an epoch behind all that there were, which is to be
    /// committed before it is told. `acknowledged` is what the site was told before.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn open(
        &mut self,
        site: &str,
        stream: &str,
        (epoch, acknowledged): (u64, u64),
        columns: &[String],
    ) -> std::result::Result<Opened, Refused> {
        if !is_name(stream) {
            let what = format!("{stream:?} is no name: letters, digits, - and _ are allowed");
            return Err(Refused::Wrong(what));
        }
        if columns.iter().map(String::len).sum::<usize>() > COLUMNS_BYTES_MAX {
            let what = format!("names of columns have {COLUMNS_BYTES_MAX} bytes at most");
            return Err(Refused::Wrong(what));
        }
        match self.streams.get(stream).filter(|known| !known.columns.is_empty()) {
            Some(known) if known.columns != columns => {
                return Err(Refused::Columns(format!(
                    "stream {stream} has the columns {:?}, and site {site} sends {columns:?}: give one of them another --stream",
                    known.columns
                )));
            }
            Some(_) => {}
            None => {
                self.stream(stream).set_columns(columns.to_vec());
                self.changed.insert(Key::Stream(stream).text());
            }
        }
        self.held.remove(stream);
        self.sites.insert(site.to_owned());
        self.assign(stream);
        let now = self.now;
        let record = &mut self.site(stream, site).record;
        if epoch == 0 {
            // With the time, it is also behind those that a former output has had.
            (record.epoch, record.next) = (now.max(record.epoch.saturating_add(1)), 0);
            record.watermark = SiteRecord::default().watermark;
            let epoch = record.epoch;
            self.changed.insert(Key::Site(stream, site).text());
            return Ok(Opened { epoch, next: 0 });
        }
        if record.epoch > epoch {
            return Err(Refused::Fenced(fenced(site, stream, record.epoch, epoch)));
        }
        let next = if record.epoch == epoch { record.next } else { 0 };
        if next < acknowledged {
            return Err(Refused::Forgotten(forgotten(site, stream, epoch, next..acknowledged)));
        }
        Ok(Opened { epoch, next })
    }

    /// Takes a frame, if its number is the next one.
    ///
    /// # Errors
    /// It is not what was agreed on; nothing of it was taken.
    pub fn frame(&mut self, frame: &Frame<'_>) -> std::result::Result<Verdict, Refused> {
        let (name, site) = (frame.stream.as_ref(), frame.site.as_ref());
        let Some(stream) = self.streams.get(name).filter(|one| one.sites.contains_key(site)) else {
            return Err(Refused::Wrong(format!("site {site} has not opened stream {name}")));
        };
        let lines = frame.lines().map_err(|error| Refused::Wrong(error.to_string()))?;
        let rows = stream.rows(&lines)?;
        let checks = self.checks_numbers;
        let record = &mut self.site(name, site).record;
        let mut progress = Progress { epoch: record.epoch, next: record.next };
        let verdict = progress.see(frame);
        if checks && verdict != Verdict::Take {
            return Ok(verdict);
        }
        let is_new_epoch = progress.epoch != record.epoch;
        record.watermark =
            if is_new_epoch { frame.watermark } else { record.watermark.max(frame.watermark) };
        (record.epoch, record.next) = (progress.epoch, progress.next);
        let mut rows = rows.into_iter();
        self.moved(name, site);
        for line in &lines {
            match line {
                Line::Watermark(millis) => {
                    let record = &mut self.site(name, site).record;
                    record.watermark = record.watermark.max(*millis);
                    self.moved(name, site);
                }
                Line::Row(_) => self.write(name, site, rows.next().unwrap_or_default()),
            }
        }
        self.changed.insert(Key::Site(name, site).text());
        Ok(Verdict::Take)
    }

    /// Numbers of a stream will never come.
    ///
    /// # Errors
    /// It has not been opened.
    pub fn skip(
        &mut self,
        site: &str,
        stream: &str,
        epoch: u64,
        numbers: std::ops::Range<u64>,
        rows: u64,
    ) -> std::result::Result<Verdict, Refused> {
        if !self.streams.get(stream).is_some_and(|one| one.sites.contains_key(site)) {
            return Err(Refused::Wrong(format!("site {site} has not opened stream {stream}")));
        }
        let record = &mut self.site(stream, site).record;
        if epoch < record.epoch {
            return Ok(Verdict::Fenced { epoch: record.epoch });
        }
        let next = if epoch == record.epoch { record.next } else { 0 };
        if numbers.start > next {
            return Ok(Verdict::Gap { next });
        }
        if numbers.end <= next {
            return Ok(Verdict::Have);
        }
        if epoch > record.epoch {
            // A site that begins anew has no watermark, also if it begins with a gap.
            record.watermark = SiteRecord::default().watermark;
        }
        (record.epoch, record.next) = (epoch, numbers.end);
        record.gaps += 1;
        record.lost_rows = record.lost_rows.saturating_add(rows);
        self.changed.insert(Key::Site(stream, site).text());
        Ok(Verdict::Take)
    }

    /// A site of a stream has been away for too long, or not.
    pub fn exclude(&mut self, stream: &str, site: &str, away: bool) {
        let Some(known) = self.streams.get_mut(stream) else { return };
        let Some(one) = known.sites.get_mut(site) else { return };
        let watermark = known.partitions.get(&one.record.partition).map_or(0, |one| one.watermark);
        // Who is back holds nobody up until it has caught up: what the others had to wait for has been given up.
        let before = one.record.excluded;
        one.record.excluded = away || (before && one.record.watermark < watermark);
        if one.record.excluded != before {
            self.changed.insert(Key::Site(stream, site).text());
        }
        self.advance(stream, site);
    }

    /// Rows for the output, and behind them watermarks that no row has shown; all that is to be committed with them.
    pub fn take(&mut self) -> (Vec<Row>, Vec<(String, String)>) {
        for (name, stream) in &mut self.streams {
            for (&number, partition) in &mut stream.partitions {
                if partition.watermark > partition.shown {
                    partition.shown = partition.watermark;
                    let by = stream.sites.iter().find(|(_, site)| site.record.partition == number);
                    let by = by.map_or("", |(site, _)| site.as_str());
                    let json = format!(
                        "{{\"edge_site\":\"{by}\",\"edge_row\":false,\"edge_watermark\":{}}}",
                        clamp(partition.watermark)
                    );
                    let stream = name.clone();
                    self.rows.push(Row { stream, late: false, partition: number, json });
                }
            }
        }
        let changed = std::mem::take(&mut self.changed);
        let records = changed.into_iter().filter_map(|key| {
            let value = self.record(Key::parse(&key)?)?;
            Some((key, value))
        });
        let records = records.collect();
        self.bytes = 0;
        (std::mem::take(&mut self.rows), records)
    }

    /// Bytes of rows that wait to be taken.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn record(&self, key: Key<'_>) -> Option<String> {
        match key {
            Key::Stream(stream) => {
                let columns = self.streams.get(stream)?.columns.clone();
                Some(write(&StreamRecord { columns }))
            }
            Key::Site(stream, site) => {
                Some(write(&self.streams.get(stream)?.sites.get(site)?.record))
            }
            Key::Partition(stream, number) => {
                let watermark = self.streams.get(stream)?.partitions.get(&number)?.watermark;
                Some(write(&PartitionRecord { watermark }))
            }
        }
    }

    fn site(&mut self, stream: &str, site: &str) -> &mut Site {
        self.stream(stream).sites.entry(site.to_owned()).or_default()
    }

    /// Gives each site that has none a partition of a stream.
    fn assign(&mut self, stream: &str) {
        let (kind, sites) = (self.partitions, self.sites.clone());
        let known = self.streams.entry(stream.to_owned()).or_default();
        for site in sites {
            if known.sites.contains_key(&site) {
                continue;
            }
            let count = |number: u32| {
                known.sites.values().filter(|site| site.record.partition == number).count()
            };
            let partition = match kind {
                Partitions::Count(all) => (0..all).min_by_key(|&number| count(number)).unwrap_or(0),
                Partitions::Each => (0..).find(|&number| count(number) == 0).unwrap_or(0),
            };
            self.changed.insert(Key::Site(stream, &site).text());
            known.partitions.entry(partition).or_default();
            let record = SiteRecord { partition, ..SiteRecord::default() };
            known.sites.insert(site, Site { record });
        }
    }

    /// The watermark of a site's partition is the least of those that count; it never goes back.
    fn advance(&mut self, stream: &str, site: &str) {
        if self.held.contains(stream) {
            return;
        }
        let registered = &self.sites;
        let Some(known) = self.streams.get_mut(stream) else { return };
        let Some(number) = known.sites.get(site).map(|site| site.record.partition) else { return };
        let Some(partition) = known.partitions.get_mut(&number) else { return };
        let counts = known.sites.iter().filter(|(name, site)| {
            site.record.partition == number && !site.record.excluded && registered.contains(*name)
        });
        let least = counts.map(|(_, site)| site.record.watermark).min();
        if let Some(least) = least.filter(|least| *least > partition.watermark) {
            partition.watermark = least;
            self.changed.insert(Key::Partition(stream, number).text());
        }
    }

    /// A site has sent something: if it has caught up, it counts again.
    fn moved(&mut self, stream: &str, site: &str) {
        let Some(known) = self.streams.get_mut(stream) else { return };
        let Some(one) = known.sites.get_mut(site) else { return };
        let watermark = known.partitions.get(&one.record.partition).map_or(0, |one| one.watermark);
        one.record.excluded &= one.record.watermark < watermark;
        self.advance(stream, site);
    }

    fn write(&mut self, stream: &str, site: &str, mut json: String) {
        let Some(known) = self.streams.get_mut(stream) else { return };
        let Some(one) = known.sites.get_mut(site) else { return };
        let Some(partition) = known.partitions.get_mut(&one.record.partition) else { return };
        let late = one.record.watermark < partition.watermark;
        // Writing into a string does not fail.
        let _ = write!(
            json,
            "\"edge_site\":\"{site}\",\"edge_row\":true,\"edge_watermark\":{}}}",
            clamp(partition.watermark)
        );
        one.record.rows += 1;
        if json.len() > self.row_bytes_max {
            one.record.large += 1;
            let (json, partition) = (note(site, &one.record, &json), one.record.partition);
            self.bytes += json.len();
            self.rows.push(Row { stream: format!("{stream}.large"), late: false, partition, json });
            return;
        }
        if late {
            one.record.late += 1;
        } else {
            partition.shown = partition.watermark;
        }
        let (stream, partition) = (stream.to_owned(), one.record.partition);
        self.bytes += json.len();
        self.rows.push(Row { stream, late, partition, json });
    }
}

impl Stream {
    fn set_columns(&mut self, columns: Vec<String>) {
        let name = |column: &String| format!("{}:", serde_json::Value::from(column.as_str()));
        self.names = columns.iter().map(name).collect();
        self.columns = columns;
    }

    /// The beginning of each row's object, with the site's columns.
    fn rows(&self, lines: &[Line<'_>]) -> std::result::Result<Vec<String>, Refused> {
        let rows = lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(*row),
            Line::Watermark(_) => None,
        });
        let names: usize = self.names.iter().map(String::len).sum();
        let bytes: usize = rows.clone().map(|row| row.len() + names).sum();
        if bytes > FRAME_BYTES_MAX {
            return Err(Refused::Wrong(format!(
                "rows of a frame would have {bytes} bytes with the names of their columns, and {FRAME_BYTES_MAX} are allowed: give columns shorter names"
            )));
        }
        let rows = rows.map(|row| {
            let values: Vec<&RawValue> = serde_json::from_str(row)
                .map_err(|error| Refused::Wrong(format!("a row is no JSON array: {error}")))?;
            if values.len() != self.names.len() {
                return Err(Refused::Wrong(format!(
                    "a row of {} values, and the stream has {} columns",
                    values.len(),
                    self.names.len()
                )));
            }
            let mut json = String::with_capacity(row.len() + 32 * values.len() + 96);
            json.push('{');
            for (name, value) in self.names.iter().zip(values) {
                json.push_str(name);
                json.push_str(value.get());
                json.push(',');
            }
            Ok(json)
        });
        rows.collect()
    }
}

/// What is written instead of a row that is too large: which one it is, and how it begins.
fn note(site: &str, record: &SiteRecord, json: &str) -> String {
    let (epoch, sequence) = (record.epoch, record.next.saturating_sub(1));
    let begins: String = json.chars().take(NOTE_CHARACTERS).collect();
    let begins = serde_json::Value::from(begins);
    let bytes = json.len();
    format!(
        "{{\"edge_site\":\"{site}\",\"edge_epoch\":{epoch},\"edge_sequence\":{sequence},\"edge_bytes\":{bytes},\"edge_begins\":{begins}}}"
    )
}

fn forgotten(site: &str, stream: &str, epoch: u64, lost: std::ops::Range<u64>) -> String {
    let (next, told) = (lost.start, lost.end);
    format!(
        "site {site} was told that {told} frames of stream {stream}, epoch {epoch}, are safe, and this gateway has {next}: it is another one, or has lost its progress. Give the gateway the --output, or the --bootstrap and --topic-prefix, that it had; or start the agent once with --accept-gap {next}..{told}: it goes on with frame {told}, and what is before counts as lost here"
    )
}

pub(crate) fn fenced(site: &str, stream: &str, newer: u64, epoch: u64) -> String {
    format!(
        "stream {stream} of site {site} has begun anew (epoch {newer}, and this is {epoch}): another agent of this site runs, or this one has an old data folder"
    )
}

fn clamp(watermark: i64) -> i64 {
    watermark.min(WATERMARK_MAX)
}
