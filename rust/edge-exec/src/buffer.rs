//! Rows of open slices, added up by slice and key (`RecordsWindowBuffer`, `LocalAggCombiner`).
//!
//! Flink keeps rows and adds them up when it flushes; the sums are the same, in the same order, if they are made at once. It
//! flushes **everything** as soon as one slice is over, and before that when its memory is full. A row of a slice that is over
//! already is late, which is the global node's business: it stays until the next flush. What is not over may as well stay
//! ([`Flush::Over`](crate::Flush::Over)): the global node adds up however many parts there are.

use std::collections::HashMap;

use afterbay_edge_plan::{LocalAggregate, Value};

use crate::accumulate::{self, Changes};
use crate::error::EvalError;
use crate::saved::{Reader, SavedError, Writer};
use crate::slices::is_over;

/// What has not been emitted.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Slice and key in bytes, and where their group is.
    index: HashMap<Box<[u8]>, usize>,
    groups: Vec<Group>,
    earliest_end: i64,
    scratch: Vec<u8>,
    changes: Changes,
}

#[derive(Debug)]
struct Group {
    end: i64,
    key: Box<[Value]>,
    accumulated: Box<[Value]>,
}

impl Buffer {
    pub(crate) fn new() -> Self {
        let (index, groups) = (HashMap::new(), Vec::new());
        Self {
            index,
            groups,
            earliest_end: i64::MAX,
            scratch: Vec::new(),
            changes: Changes::default(),
        }
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Whether a slice in it is over.
    pub(crate) fn is_due(&self, watermark: i64) -> bool {
        is_over(self.earliest_end, watermark)
    }

    /// Adds a row to its group. After an error, everything is as it was.
    pub(crate) fn add(
        &mut self,
        aggregate: &LocalAggregate,
        end: i64,
        row: &[Value],
    ) -> Result<(), EvalError> {
        self.scratch.clear();
        self.scratch.extend_from_slice(&end.to_be_bytes());
        for &column in &aggregate.grouping {
            encode(row.get(column).ok_or(EvalError::Type)?, &mut self.scratch)?;
        }
        match self.index.get(self.scratch.as_slice()).copied() {
            Some(place) => {
                let accumulated = &mut self.groups[place].accumulated;
                self.changes.add(&aggregate.parts, accumulated, row)?;
            }
            None => self.begin_group(aggregate, end, row)?,
        }
        self.earliest_end = self.earliest_end.min(end);
        Ok(())
    }

    /// By the key in `scratch`.
    fn begin_group(
        &mut self,
        aggregate: &LocalAggregate,
        end: i64,
        row: &[Value],
    ) -> Result<(), EvalError> {
        let accumulated = accumulate::first(&aggregate.parts, row)?;
        let key = aggregate.grouping.iter().map(|&column| row[column].clone()).collect();
        self.index.insert(self.scratch.as_slice().into(), self.groups.len());
        self.groups.push(Group { end, key, accumulated });
        Ok(())
    }

    pub(crate) fn save(&self, out: &mut Writer) {
        out.count(self.groups.len());
        for group in &self.groups {
            out.number(group.end);
            out.values(&group.key);
            out.values(&group.accumulated);
        }
    }

    /// Has these groups instead of its own.
    pub(crate) fn load(
        &mut self,
        aggregate: &LocalAggregate,
        saved: &mut Reader<'_>,
    ) -> Result<(), SavedError> {
        *self = Self::new();
        for place in 0..saved.count()? {
            let end = saved.number()?;
            let key = saved.values(aggregate.grouping.len())?;
            let accumulated = saved.values(aggregate.parts.len())?;
            let mut bytes = end.to_be_bytes().to_vec();
            for value in &key {
                encode(value, &mut bytes).map_err(|_| SavedError("a key of another type"))?;
            }
            self.index.insert(bytes.into(), place);
            self.groups.push(Group { end, key, accumulated });
            self.earliest_end = self.earliest_end.min(end);
        }
        Ok(())
    }

    /// Takes everything out, in the order in which slices and keys came first: key, accumulators, end of the slice.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Vec<Value>> + use<> {
        self.index.clear();
        self.earliest_end = i64::MAX;
        std::mem::take(&mut self.groups).into_iter().map(Group::into_row)
    }

    /// Takes out what is of slices that are over, and leaves the rest.
    pub(crate) fn take_over(&mut self, watermark: i64) -> impl Iterator<Item = Vec<Value>> + use<> {
        let is_over = |group: &Group| is_over(group.end, watermark);
        // Where the groups that stay will be.
        let mut stay = 0;
        let places: Vec<Option<usize>> = self
            .groups
            .iter()
            .map(|group| {
                let place = (!is_over(group)).then_some(stay);
                stay += usize::from(place.is_some());
                place
            })
            .collect();
        self.index.retain(|_, place| match places.get(*place).copied().flatten() {
            Some(new) => {
                *place = new;
                true
            }
            None => false,
        });
        let (over, rest): (Vec<Group>, Vec<Group>) =
            std::mem::take(&mut self.groups).into_iter().partition(is_over);
        self.earliest_end = rest.iter().map(|group| group.end).min().unwrap_or(i64::MAX);
        self.groups = rest;
        over.into_iter().map(Group::into_row)
    }
}

impl Group {
    fn into_row(self) -> Vec<Value> {
        let end = Value::Whole(self.end);
        self.key.into_iter().chain(self.accumulated).chain([end]).collect()
    }
}

/// A value of a key so that different ones differ, whatever stands beside them.
pub(crate) fn encode(value: &Value, bytes: &mut Vec<u8>) -> Result<(), EvalError> {
    match value {
        Value::Null => bytes.push(0),
        Value::Boolean(value) => bytes.extend_from_slice(&[1, u8::from(*value)]),
        Value::Whole(value) => {
            bytes.push(2);
            bytes.extend_from_slice(&value.to_be_bytes());
        }
        Value::Decimal(value) => {
            bytes.push(3);
            bytes.extend_from_slice(&value.to_be_bytes());
        }
        Value::Text(text) => {
            bytes.push(4);
            bytes.extend_from_slice(&text.len().to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Value::Timestamp { millis, nanos } => {
            bytes.push(5);
            bytes.extend_from_slice(&millis.to_be_bytes());
            bytes.extend_from_slice(&nanos.to_be_bytes());
        }
        // The plan refuses them: their bits differ where their values do not.
        Value::Float(_) | Value::Double(_) => return Err(EvalError::Type),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use afterbay_edge_plan::{Accumulator, Assignment, Kind, Part, Window, Windowing};

    use super::*;

    fn text(value: &Value) -> &str {
        let Value::Text(text) = value else { panic!("{value:?}") };
        text
    }

    /// A copy would lie elsewhere, since the former one is still there when it is made.
    #[test]
    fn a_row_that_does_not_change_an_accumulator_does_not_copy_it() {
        let of = Kind::VarChar(9);
        let part = |accumulator| Part { accumulator, filter: None };
        let aggregate = LocalAggregate {
            grouping: vec![0],
            parts: vec![
                part(Accumulator::CountRows),
                part(Accumulator::Min { column: 1, of }),
                part(Accumulator::Max { column: 1, of }),
            ],
            accumulated: Vec::new(),
            windowing: Windowing {
                window: Window::Tumbling { size: 1000, offset: 0 },
                assignment: Assignment::Attached { end_column: 2 },
            },
        };
        let mut buffer = Buffer::new();
        let add = |buffer: &mut Buffer, name: &str| {
            let row = [Value::Whole(7), Value::text(name), Value::Whole(1000)];
            buffer.add(&aggregate, 1000, &row).unwrap();
        };
        add(&mut buffer, "m");
        add(&mut buffer, "z");
        let places = |buffer: &Buffer| {
            let accumulated = &buffer.groups[0].accumulated;
            [text(&accumulated[1]).as_ptr(), text(&accumulated[2]).as_ptr()]
        };
        let before = places(&buffer);
        add(&mut buffer, "n");
        assert_eq!(places(&buffer), before);
        // One of them changes, and the other one stays where it is.
        add(&mut buffer, "a");
        assert_eq!(places(&buffer)[1], before[1]);
        let rows: Vec<_> = buffer.take().collect();
        let expected = [Value::Whole(7), Value::Whole(4), Value::text("a"), Value::text("z")];
        assert_eq!(rows, [[&expected[..], &[Value::Whole(1000)]].concat()]);
    }
}
