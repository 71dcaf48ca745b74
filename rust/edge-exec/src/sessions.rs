//! Sessions: rows of a key that follow each other within a gap (`UnsliceSyncStateWindowAggProcessor`, `MergingWindowSet`).
//!
//! A row opens a session from its time until the gap behind it. Sessions of a key that overlap, or that touch, become one: so a
//! row may make one of two. A session is over when the watermark is at its last ms. A row is dropped if its session would be over
//! already; one that is late, but reaches into a session that is open, belongs to it.
//!
//! Everything is in memory, as in [`finals`](crate::finals).

use std::collections::{BTreeSet, HashMap};

use afterbay_edge_plan::{SessionAggregate, Value};

use crate::accumulate::{self, Changes};
use crate::buffer::encode;
use crate::error::EvalError;
use crate::results::{check_site, row_of};
use crate::saved::{Reader, SavedError, Writer};
use crate::slices::{is_over, time_of};

type Result<T> = std::result::Result<T, EvalError>;

/// What is open.
#[derive(Debug)]
pub(crate) struct Sessions {
    aggregate: SessionAggregate,
    sessions_max: usize,
    /// By the bytes of keys.
    keys: HashMap<Box<[u8]>, Key>,
    /// All sessions, by their ends.
    ends: BTreeSet<(i64, Box<[u8]>)>,
    watermark: i64,
    late: u64,
    scratch: Vec<u8>,
}

/// The sessions of a key, none of which touches another one, by their beginnings.
#[derive(Debug)]
struct Key {
    values: Box<[Value]>,
    sessions: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    start: i64,
    end: i64,
    accumulated: Vec<Value>,
}

impl Sessions {
    pub(crate) fn new(aggregate: SessionAggregate, sessions_max: usize) -> Self {
        Self {
            aggregate,
            sessions_max: sessions_max.max(1),
            keys: HashMap::new(),
            ends: BTreeSet::new(),
            // Before the first watermark, nothing is late.
            watermark: i64::MIN,
            late: 0,
            scratch: Vec::new(),
        }
    }

    pub(crate) fn groups(&self) -> usize {
        self.ends.len()
    }

    /// Rows that were dropped, since their sessions were over.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }

    /// Adds a row to its session. After an error, everything is as it was.
    pub(crate) fn add(&mut self, row: &[Value]) -> Result<()> {
        let time = time_of(row, self.aggregate.time_column)?;
        let end = time.checked_add(self.aggregate.gap).ok_or(EvalError::TimeRange)?;
        self.scratch.clear();
        for &column in &self.aggregate.grouping {
            encode(row.get(column).ok_or(EvalError::Type)?, &mut self.scratch)?;
        }
        let open = self
            .keys
            .get(self.scratch.as_slice())
            .map_or(&[] as &[Session], |key| key.sessions.as_slice());
        let first = open.partition_point(|session| session.end < time);
        let touched = open[first..].partition_point(|session| session.start <= end);
        let touched = first..first + touched;
        let merged = &open[touched.clone()];
        let start = merged.first().map_or(time, |session| session.start.min(time));
        let end = merged.last().map_or(end, |session| session.end.max(end));
        if is_over(end, self.watermark) {
            self.late += 1;
            return Ok(());
        }
        check_site(&self.aggregate.results, &self.aggregate.grouping, row)?;
        if merged.is_empty() && self.ends.len() >= self.sessions_max {
            return Err(EvalError::Groups { max: self.sessions_max });
        }
        let accumulated = self.accumulated(merged, row)?;
        let session = Session { start, end, accumulated };
        self.put(touched, session, row);
        Ok(())
    }

    /// What these sessions, and the row, make together.
    fn accumulated(&self, merged: &[Session], row: &[Value]) -> Result<Vec<Value>> {
        let parts = &self.aggregate.parts;
        let Some((first, others)) = merged.split_first() else {
            return Ok(accumulate::first(parts, row)?.into_vec());
        };
        let mut accumulated = first.accumulated.clone();
        for other in others {
            let both = accumulated.iter_mut().zip(&other.accumulated);
            for (part, (own, other)) in parts.iter().zip(both) {
                accumulate::merge(part, own, other)?;
            }
        }
        Changes::default().add(parts, &mut accumulated, row)?;
        Ok(accumulated)
    }

    /// Puts a session in the place of those of the row's key that it is made of.
    fn put(&mut self, merged: std::ops::Range<usize>, session: Session, row: &[Value]) {
        let bytes: Box<[u8]> = self.scratch.as_slice().into();
        let grouping = &self.aggregate.grouping;
        let key = self.keys.entry(bytes.clone()).or_insert_with(|| Key {
            values: grouping.iter().map(|&column| row[column].clone()).collect(),
            sessions: Vec::new(),
        });
        let end = session.end;
        for gone in key.sessions.splice(merged, [session]) {
            self.ends.remove(&(gone.end, bytes.clone()));
        }
        self.ends.insert((end, bytes));
    }

    /// Emits sessions that are over now, in the order of their ends.
    pub(crate) fn advance(
        &mut self,
        millis: i64,
        emit: &mut impl FnMut(&[Value]) -> Result<()>,
    ) -> Result<()> {
        if millis <= self.watermark {
            return Ok(());
        }
        self.watermark = millis;
        while let Some((end, _)) = self.ends.first()
            && is_over(*end, millis)
        {
            let Some((end, bytes)) = self.ends.pop_first() else { break };
            let Some(key) = self.keys.get_mut(&bytes) else { return Err(EvalError::Type) };
            // The first of a key's sessions ends first.
            let session = key.sessions.remove(0);
            let window = (session.start, end);
            let row = row_of(&self.aggregate.results, window, &key.values, &session.accumulated)?;
            if key.sessions.is_empty() {
                self.keys.remove(&bytes);
            }
            emit(&row)?;
        }
        Ok(())
    }

    /// In the order of ends, in which they were not added: what is loaded is the same.
    pub(crate) fn save(&self, out: &mut Writer) {
        out.number(self.watermark);
        out.number(self.late.cast_signed());
        out.count(self.ends.len());
        for (end, bytes) in &self.ends {
            let key = self.keys.get(bytes);
            let session = key.and_then(|key| {
                Some((key, key.sessions.iter().find(|session| session.end == *end)?))
            });
            // Each end is of a session.
            let Some((key, session)) = session else { continue };
            out.number(session.start);
            out.number(*end);
            out.values(&key.values);
            out.values(&session.accumulated);
        }
    }

    /// Has these sessions instead of its own.
    pub(crate) fn load(&mut self, saved: &mut Reader<'_>) -> std::result::Result<(), SavedError> {
        self.watermark = saved.number()?;
        self.late = saved.number()?.cast_unsigned();
        self.keys.clear();
        self.ends.clear();
        for _ in 0..saved.count()? {
            let (start, end) = (saved.number()?, saved.number()?);
            let values = saved.values(self.aggregate.grouping.len())?;
            let accumulated = saved.values(self.aggregate.parts.len())?.into_vec();
            let mut bytes = Vec::new();
            for value in &values {
                encode(value, &mut bytes).map_err(|_| SavedError("a key of another type"))?;
            }
            let bytes: Box<[u8]> = bytes.into();
            self.ends.insert((end, bytes.clone()));
            // Sessions of a key come by their ends, which is the order of their beginnings.
            let key = self.keys.entry(bytes);
            let key = key.or_insert_with(|| Key { values, sessions: Vec::new() });
            key.sessions.push(Session { start, end, accumulated });
        }
        Ok(())
    }
}
