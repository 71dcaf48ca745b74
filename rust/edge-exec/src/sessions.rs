//! Sessions: rows of a key that follow each other within a gap (`UnsliceSyncStateWindowAggProcessor`, `MergingWindowSet`).
//!
//! A row opens a session from its time until the gap behind it. Sessions of a key that overlap, or that touch, become one: so a
//! row may make one of two. A session is over when the watermark is at its last ms. A row is dropped if its session would be over
//! already; one that is late, but reaches into a session that is open, belongs to it.
//!
//! Everything is in memory, as in [`finals`](crate::finals).

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use afterbay_edge_plan::{Part, SessionAggregate, Value};

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
    keys: HashMap<Arc<[u8]>, Key>,
    /// All sessions, by their ends.
    ends: BTreeSet<(i64, Arc<[u8]>)>,
    watermark: i64,
    late: u64,
    scratch: Vec<u8>,
    changes: Changes,
}

/// The sessions of a key, none of which touches another one, by their beginnings.
#[derive(Debug)]
struct Key {
    /// There is one copy of them.
    bytes: Arc<[u8]>,
    values: Box<[Value]>,
    sessions: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    start: i64,
    end: i64,
    accumulated: Box<[Value]>,
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
            changes: Changes::default(),
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
        let key = self.keys.get_mut(self.scratch.as_slice());
        let open = key.as_ref().map_or(&[] as &[Session], |key| key.sessions.as_slice());
        let first = open.partition_point(|session| session.end < time);
        let count = open[first..].partition_point(|session| session.start <= end);
        let touched = &open[first..first + count];
        let start = touched.first().map_or(time, |session| session.start.min(time));
        let end = touched.last().map_or(end, |session| session.end.max(end));
        if is_over(end, self.watermark) {
            self.late += 1;
            return Ok(());
        }
        check_site(&self.aggregate.results, &self.aggregate.grouping, row)?;
        if let Some(key) = key
            && count == 1
        {
            // Of most rows: nothing is copied but what they change.
            let session = &mut key.sessions[first];
            self.changes.add(&self.aggregate.parts, &mut session.accumulated, row)?;
            session.start = start;
            let before = std::mem::replace(&mut session.end, end);
            if before != end {
                self.ends.remove(&(before, key.bytes.clone()));
                self.ends.insert((end, key.bytes.clone()));
            }
            return Ok(());
        }
        if count == 0 && self.ends.len() >= self.sessions_max {
            return Err(EvalError::Groups { max: self.sessions_max });
        }
        self.put(first..first + count, (start, end), row)
    }

    /// Puts one session in the place of these of the key in `scratch`, of none or several, which the row makes one.
    fn put(&mut self, merged: Range<usize>, (start, end): (i64, i64), row: &[Value]) -> Result<()> {
        let Self { aggregate, keys, ends, scratch, changes, .. } = self;
        let key = keys.get(scratch.as_slice());
        let sessions = key.map_or(&[] as &[Session], |key| &key.sessions[merged.clone()]);
        let accumulated = accumulated(&aggregate.parts, changes, sessions, row)?;
        let bytes: Arc<[u8]> =
            key.map_or_else(|| scratch.as_slice().into(), |key| key.bytes.clone());
        let key = keys.entry(bytes.clone()).or_insert_with(|| Key {
            bytes: bytes.clone(),
            values: aggregate.grouping.iter().map(|&column| row[column].clone()).collect(),
            sessions: Vec::new(),
        });
        for gone in key.sessions.splice(merged, [Session { start, end, accumulated }]) {
            ends.remove(&(gone.end, bytes.clone()));
        }
        ends.insert((end, bytes));
        Ok(())
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
            let accumulated = saved.values(self.aggregate.parts.len())?;
            let mut bytes = Vec::new();
            for value in &values {
                encode(value, &mut bytes).map_err(|_| SavedError("a key of another type"))?;
            }
            let known = self.keys.get(bytes.as_slice());
            let bytes: Arc<[u8]> =
                known.map_or_else(|| bytes.as_slice().into(), |key| key.bytes.clone());
            self.ends.insert((end, bytes.clone()));
            // Sessions of a key come by their ends, which is the order of their beginnings.
            let key = self.keys.entry(bytes.clone());
            let key = key.or_insert_with(|| Key { bytes, values, sessions: Vec::new() });
            key.sessions.push(Session { start, end, accumulated });
        }
        Ok(())
    }
}

/// What these sessions, and the row, make together.
fn accumulated(
    parts: &[Part],
    changes: &mut Changes,
    sessions: &[Session],
    row: &[Value],
) -> Result<Box<[Value]>> {
    let Some((first, others)) = sessions.split_first() else {
        return accumulate::first(parts, row);
    };
    // A copy: the row may be refused, and then they stay as they are.
    let mut accumulated = first.accumulated.clone();
    for other in others {
        let both = accumulated.iter_mut().zip(&other.accumulated);
        for (part, (own, other)) in parts.iter().zip(both) {
            accumulate::merge(part, own, other)?;
        }
    }
    changes.add(parts, &mut accumulated, row)?;
    Ok(accumulated)
}

#[cfg(test)]
mod tests {
    use afterbay_edge_plan::{Accumulator, GlobalAggregate, Kind};

    use super::*;

    /// Where texts are: a copy would lie elsewhere, since the former one is still there when it is made.
    fn places(session: &Session) -> Vec<*const u8> {
        let texts = session.accumulated.iter().map(|value| match value {
            Value::Text(text) => text.as_ptr(),
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    fn add(sessions: &mut Sessions, name: &str, time: i64) {
        sessions.add(&[Value::Whole(7), Value::text(name), Value::millis(time)]).unwrap();
    }

    #[test]
    fn a_row_copies_neither_its_key_nor_an_accumulator_that_it_does_not_change() {
        let of = Kind::VarChar(9);
        let part = |accumulator| Part { accumulator, filter: None };
        let aggregate = SessionAggregate {
            grouping: vec![0],
            parts: vec![
                part(Accumulator::Min { column: 1, of }),
                part(Accumulator::Max { column: 1, of }),
            ],
            time_column: 2,
            gap: 1000,
            results: GlobalAggregate {
                local_keys: vec![0],
                local_names: vec!["k".to_owned()],
                outcomes: Vec::new(),
                properties: Vec::new(),
            },
        };
        let mut sessions = Sessions::new(aggregate, 2);
        add(&mut sessions, "m", 0);
        add(&mut sessions, "z", 500);
        let open = |sessions: &Sessions| {
            let key = sessions.keys.values().next().unwrap();
            let of_ends = sessions.ends.iter().filter(|(_, bytes)| Arc::ptr_eq(bytes, &key.bytes));
            assert_eq!((of_ends.count(), sessions.keys.len()), (sessions.ends.len(), 1));
            let session = &key.sessions[0];
            ((session.start, session.end), sessions.ends.first().unwrap().0, places(session))
        };
        let ((_, end), first_end, before) = open(&sessions);
        assert_eq!((end, first_end), (1500, 1500));
        // Within the session, behind it and in front of it.
        for (time, span) in [(100, (0, 1500)), (1500, (0, 2500)), (-500, (-500, 2500))] {
            add(&mut sessions, "n", time);
            assert_eq!(open(&sessions), (span, span.1, before.clone()), "{time}");
        }
        // Another session, and the row that makes one of both.
        add(&mut sessions, "y", 3600);
        assert_eq!((sessions.groups(), open(&sessions).0), (2, (-500, 2500)));
        add(&mut sessions, "x", 2700);
        let (span, first_end, _) = open(&sessions);
        assert_eq!((sessions.groups(), span, first_end), (2, (-500, 2500), 2500));
        add(&mut sessions, "w", 2500);
        let (span, first_end, _) = open(&sessions);
        assert_eq!((sessions.groups(), span, first_end), (1, (-500, 4600), 4600));
    }
}
