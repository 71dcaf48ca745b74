//! Parts that wait and have been seen by nobody: those of one key and slice become one.
//!
//! ```text
//!   run -> [row a 10][wm 5][row a 20][row b 10][wm 7][row a 10]       what came
//!          [row a 10 + a 10][wm 5][row a 20][row b 10][wm 7]          what waits, unless 5 or 7 ends a window of slice 10
//! ```
//!
//! # What comes of them is the same
//! The upper half adds up however many parts of a key and slice there are ([`LocalAggregate`]'s global half), and leaves a part out
//! of the windows that are over by its watermark. So a part is added to an earlier one only if **the same windows of its slice are
//! over at both places**: what is late stays as late as it was, and nothing else becomes late, since no row goes behind a watermark
//! that it was in front of. Parts of one key and slice keep their order. Of watermarks with nothing between them, the last one
//! says it.
//!
//! A part stays by itself where an order could be seen: sums of decimals that would have too many digits, and `MIN` and `MAX` of a
//! NaN. Sums of `FLOAT` and `DOUBLE` are rounded in another order, as they are by every number of parts.

use std::collections::HashMap;

use afterbay_edge_plan::{LocalAggregate, Operator, Pipeline, Rows, Value};
use thiserror::Error;

use crate::accumulate::merged;
use crate::buffer::encode;
use crate::run::Output;
use crate::saved::{Reader, SavedError, Writer};
use crate::slices::windows_over;

/// Bytes that a row has in memory and in what is saved, beside its values.
const ROW_BYTES: usize = 16;

/// A pipeline whose rows are not parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoParts {
    /// Rows of the table, perhaps less of each.
    #[error("the lower half of this plan has no aggregate: each of its rows is one of the site's")]
    Rows,
    /// Of a key that is local to the site.
    #[error(
        "results are final at this site: there is one row for each key and window, and no two of them are parts of one"
    )]
    Final,
}

/// Rows and watermarks of a run that wait, with parts of one key and slice merged. One thread.
#[derive(Debug)]
pub struct Waiting {
    aggregate: LocalAggregate,
    events: Vec<Event>,
    /// The last row of a key and slice with so many windows over, by their bytes.
    index: HashMap<Box<[u8]>, usize>,
    watermark: i64,
    rows: u64,
    bytes: usize,
    merged: u64,
    scratch: Vec<u8>,
}

#[derive(Debug)]
enum Event {
    Row(Box<[Value]>),
    Watermark(i64),
}

impl Waiting {
    /// Nothing, behind this watermark, of the parts that a pipeline gives.
    ///
    /// # Errors
    /// Its rows are not parts.
    pub fn of(pipeline: &Pipeline, watermark: i64) -> Result<Self, NoParts> {
        let last = pipeline.nodes.last().map(|node| &node.operator);
        match last {
            Some(Operator::LocalAggregate(aggregate)) => {
                Ok(Self::new(aggregate.clone(), watermark))
            }
            _ if pipeline.rows() == Rows::Final => Err(NoParts::Final),
            _ => Err(NoParts::Rows),
        }
    }

    fn new(aggregate: LocalAggregate, watermark: i64) -> Self {
        let (events, index, scratch) = (Vec::new(), HashMap::new(), Vec::new());
        Self { aggregate, events, index, watermark, rows: 0, bytes: 0, merged: 0, scratch }
    }

    /// Rows that wait.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes of them, about as many as [`save`](Self::save) gives.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// ms: the last watermark that has come.
    pub fn last_watermark(&self) -> i64 {
        self.watermark
    }

    /// Whether neither a row nor a watermark waits.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Rows that were merged into others since somebody has asked.
    pub fn take_merged(&mut self) -> u64 {
        std::mem::take(&mut self.merged)
    }

    /// Gives everything out, in its order.
    pub fn drain(&mut self, output: &mut impl Output) {
        for event in std::mem::take(&mut self.events) {
            match event {
                Event::Row(row) => output.row(&row),
                Event::Watermark(millis) => output.watermark(millis),
            }
        }
        self.index.clear();
        (self.rows, self.bytes) = (0, 0);
    }

    /// All that waits.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.count(self.events.len());
        for event in &self.events {
            match event {
                Event::Row(row) => {
                    out.count(1);
                    out.values(row);
                }
                Event::Watermark(millis) => {
                    out.count(0);
                    out.number(*millis);
                }
            }
        }
        out.end()
    }

    /// Has, behind its own watermark, what [`save`](Self::save) has written, of the same pipeline.
    ///
    /// # Errors
    /// It is not of this pipeline, or damaged; then this is of no use any more.
    pub fn load(&mut self, saved: &[u8]) -> Result<(), SavedError> {
        *self = Self::new(self.aggregate.clone(), self.watermark);
        let mut saved = Reader::new(saved)?;
        let columns = self.aggregate.grouping.len() + self.aggregate.parts.len() + 1;
        for _ in 0..saved.count()? {
            if saved.count()? == 0 {
                self.watermark(saved.number()?);
                continue;
            }
            let row = saved.values(columns)?;
            if !self.find(&row) {
                return Err(SavedError("a row that is of no key and slice"));
            }
            self.push(row, true);
        }
        saved.end()
    }

    /// Puts into `scratch` what rows have in common that may be merged. False for a row that has no such place.
    fn find(&mut self, row: &[Value]) -> bool {
        let Some(Value::Whole(end)) = row.last() else { return false };
        let over = windows_over(&self.aggregate.windowing, *end, self.watermark);
        self.scratch.clear();
        self.scratch.extend_from_slice(&end.to_be_bytes());
        self.scratch.extend_from_slice(&over.to_be_bytes());
        let key = &row[..self.aggregate.grouping.len()];
        key.iter().all(|value| encode(value, &mut self.scratch).is_ok())
    }

    /// Behind all others; others may be merged into it, by what is in `scratch`, if it has such a place.
    fn push(&mut self, row: Box<[Value]>, has_place: bool) {
        self.bytes += bytes_of(&row);
        self.rows += 1;
        if has_place {
            self.index.insert(self.scratch.as_slice().into(), self.events.len());
        }
        self.events.push(Event::Row(row));
    }

    /// Adds a row to the one of `scratch`, if there is one and it can be.
    fn merge(&mut self, row: &[Value]) -> bool {
        let place = self.index.get(self.scratch.as_slice());
        let Some(Event::Row(kept)) = place.and_then(|&place| self.events.get_mut(place)) else {
            return false;
        };
        let (from, to) = (self.aggregate.grouping.len(), kept.len() - 1);
        let Some(sum) = merged(&self.aggregate.parts, &kept[from..to], &row[from..to]) else {
            return false;
        };
        self.bytes -= bytes_of(kept);
        kept[from..to].iter_mut().zip(sum).for_each(|(own, sum)| *own = sum);
        self.bytes += bytes_of(kept);
        self.merged += 1;
        true
    }
}

impl Output for Waiting {
    fn row(&mut self, row: &[Value]) {
        let has_place = self.find(row);
        if !has_place || !self.merge(row) {
            self.push(row.into(), has_place);
        }
    }

    fn watermark(&mut self, millis: i64) {
        if millis <= self.watermark {
            return;
        }
        self.watermark = millis;
        match self.events.last_mut() {
            Some(Event::Watermark(last)) => *last = millis,
            _ => {
                self.bytes += ROW_BYTES;
                self.events.push(Event::Watermark(millis));
            }
        }
    }
}

fn bytes_of(row: &[Value]) -> usize {
    let bytes = |value: &Value| match value {
        Value::Text(text) => 5 + text.len(),
        Value::Decimal(_) => 17,
        Value::Timestamp { .. } => 13,
        _ => 9,
    };
    ROW_BYTES + row.iter().map(bytes).sum::<usize>()
}
