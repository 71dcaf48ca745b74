//! A windowed aggregate from its rows to its results, where all rows of a key are at this site (`WindowAggOperator` with
//! `SliceUnsharedSyncStateWindowAggProcessor` or `SliceSharedSyncStateWindowAggProcessor`).
//!
//! ```text
//!   row -> its slice, by key        TUMBLE    a window is a slice
//!                                   HOP       a window is all slices that end in it; the first one goes with it
//!   watermark -> windows that       CUMULATE  each slice is merged into the first one, which is the window so far
//!   are over, in the order of
//!   their ends -> a row per key
//! ```
//!
//! Flink has a local half, which buffers, and a global one, which decides what is late. Here a row goes to its slice at once,
//! which is the same: between two watermarks that end a slice, the buffer waits, and it is flushed in front of the second one.
//! So a row is late in the global half if it was when it came, and is counted in the same windows.
//!
//! - A window is over as soon as the watermark is at its last ms.
//! - A row is dropped if the **last** window that has its slice is over. Before that, it counts in those that are not.
//! - A window without a row gives none. With CUMULATE, rows of the windows before are its rows too.
//!
//! Everything is in memory, and nothing can be emitted early: more groups than there may be are an error.

use std::collections::{BTreeMap, HashMap};

use afterbay_edge_plan::{Assignment, GlobalAggregate, LocalAggregate, Part, Value, Window};

use crate::accumulate::{self, Changes};
use crate::buffer::encode;
use crate::error::EvalError;
use crate::results::{check_site, row_of};
use crate::saved::{Reader, SavedError, Writer};
use crate::slices::{is_over, next_trigger, slice_end, start, time_of};

type Result<T> = std::result::Result<T, EvalError>;

/// What is open, and what is over.
#[derive(Debug)]
pub(crate) struct Finals {
    local: LocalAggregate,
    global: GlobalAggregate,
    groups_max: usize,
    /// By the ends of slices.
    slices: BTreeMap<i64, Groups>,
    /// Groups in all slices.
    count: usize,
    watermark: i64,
    late: u64,
    scratch: Vec<u8>,
    changes: Changes,
}

/// Of one slice, by key, in the order in which keys came first.
#[derive(Debug, Default)]
struct Groups {
    index: HashMap<Box<[u8]>, usize>,
    groups: Vec<Group>,
}

#[derive(Debug, Clone)]
struct Group {
    key: Box<[Value]>,
    accumulated: Box<[Value]>,
}

impl Finals {
    pub(crate) fn new(local: LocalAggregate, global: GlobalAggregate, groups_max: usize) -> Self {
        Self {
            local,
            global,
            groups_max: groups_max.max(1),
            slices: BTreeMap::new(),
            count: 0,
            // Before the first watermark, nothing is late.
            watermark: i64::MIN,
            late: 0,
            scratch: Vec::new(),
            changes: Changes::default(),
        }
    }

    pub(crate) fn groups(&self) -> usize {
        self.count
    }

    /// Rows that were dropped, since all their windows were over.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }

    /// Adds a row to its group. After an error, everything is as it was.
    pub(crate) fn add(&mut self, row: &[Value]) -> Result<()> {
        let end = match self.local.windowing.assignment {
            Assignment::Time { column } => slice_end(&self.local.windowing, time_of(row, column)?),
            Assignment::Attached { end_column } => time_of(row, end_column)?,
        };
        if is_over(self.last_end(end)?, self.watermark) {
            self.late += 1;
            return Ok(());
        }
        check_site(&self.global, &self.local.grouping, row)?;
        self.scratch.clear();
        for &column in &self.local.grouping {
            encode(row.get(column).ok_or(EvalError::Type)?, &mut self.scratch)?;
        }
        let slice = self.slice_of(end);
        let parts = &self.local.parts;
        let groups = self.slices.get_mut(&slice);
        if let Some(group) = groups.and_then(|groups| groups.get_mut(&self.scratch)) {
            return self.changes.add(parts, &mut group.accumulated, row);
        }
        if self.count >= self.groups_max {
            return Err(EvalError::Groups { max: self.groups_max });
        }
        let accumulated = accumulate::first(parts, row)?;
        let key = self.local.grouping.iter().map(|&column| row[column].clone()).collect();
        let groups = self.slices.entry(slice).or_default();
        groups.insert(self.scratch.as_slice().into(), Group { key, accumulated });
        self.count += 1;
        Ok(())
    }

    /// Where the last window ends that has this slice. All its windows have a beginning and an end, or it is an error.
    fn last_end(&self, end: i64) -> Result<i64> {
        let (length, behind) = match self.local.windowing.window {
            Window::Tumbling { size, .. } => (size, 0),
            Window::Hopping { size, slide, .. } => (size, size - slide),
            Window::Cumulative { max_size, offset, .. } => {
                let last_ms = end.wrapping_sub(1);
                let so_far = end.wrapping_sub(start(last_ms, offset, max_size));
                (max_size, max_size.wrapping_sub(so_far))
            }
        };
        let is_attached = matches!(self.local.windowing.assignment, Assignment::Attached { .. });
        let begins = end.checked_sub(length);
        let last = end.checked_add(if is_attached { 0 } else { behind });
        begins.and(last).ok_or(EvalError::TimeRange)
    }

    /// The slice in which rows of this one are kept. With CUMULATE, one that is over is in the first one of its window.
    fn slice_of(&self, end: i64) -> i64 {
        match (self.local.windowing.assignment, self.local.windowing.window) {
            (Assignment::Time { .. }, Window::Cumulative { max_size, step, offset })
                if is_over(end, self.watermark) =>
            {
                start(end.wrapping_sub(1), offset, max_size).wrapping_add(step)
            }
            _ => end,
        }
    }

    /// Emits windows that are over now, in the order of their ends.
    pub(crate) fn advance(
        &mut self,
        millis: i64,
        emit: &mut impl FnMut(&[Value]) -> Result<()>,
    ) -> Result<()> {
        if millis <= self.watermark {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.watermark, millis);
        let (mut passed, mut fired) = (before, Ok(()));
        while fired.is_ok()
            && let Some(end) = self.next_end(passed)
            && is_over(end, millis)
        {
            fired = self.fire(end, emit);
            passed = end.wrapping_sub(1);
        }
        if passed > before {
            // Once for all windows: at the end of an input, there may be as many of them as slices.
            self.count = self.slices.values().map(Groups::len).sum();
        }
        fired
    }

    /// The first window behind this watermark that has a row.
    fn next_end(&self, passed: i64) -> Option<i64> {
        let (&first, _) = self.slices.first_key_value()?;
        // A slice that is over is of windows that are not.
        let behind = || next_trigger(&self.local.windowing, passed).wrapping_add(1);
        Some(if is_over(first, passed) { behind() } else { first })
    }

    fn fire(&mut self, end: i64, emit: &mut impl FnMut(&[Value]) -> Result<()>) -> Result<()> {
        match (self.local.windowing.assignment, self.local.windowing.window) {
            (Assignment::Time { .. }, Window::Hopping { size, slide, .. }) => {
                let begin = end.wrapping_sub(size);
                let mut merged = Groups::default();
                // From the last one back (`HoppingSlicesIterable`): of a sum, the order can be seen.
                for (_, slice) in self.slices.range(begin.wrapping_add(1)..=end).rev() {
                    merged.merge(&self.local.parts, slice)?;
                }
                self.slices.remove(&begin.wrapping_add(slide));
                self.emit(end, &merged, emit)
            }
            (Assignment::Time { .. }, Window::Cumulative { max_size, step, offset }) => {
                let begin = start(end.wrapping_sub(1), offset, max_size);
                let first = begin.wrapping_add(step);
                let own = if end == first { None } else { self.slices.remove(&end) };
                let mut so_far = self.slices.remove(&first).unwrap_or_default();
                if let Some(own) = own {
                    so_far.merge(&self.local.parts, &own)?;
                }
                let emitted = self.emit(end, &so_far, emit);
                if end < begin.wrapping_add(max_size) {
                    self.slices.insert(first, so_far);
                }
                emitted
            }
            _ => {
                let groups = self.slices.remove(&end).unwrap_or_default();
                self.emit(end, &groups, emit)
            }
        }
    }

    fn emit(
        &self,
        end: i64,
        groups: &Groups,
        emit: &mut impl FnMut(&[Value]) -> Result<()>,
    ) -> Result<()> {
        let begin = match self.local.windowing.window {
            Window::Tumbling { size, .. } | Window::Hopping { size, .. } => end.wrapping_sub(size),
            Window::Cumulative { max_size, offset, .. } => {
                start(end.wrapping_sub(1), offset, max_size)
            }
        };
        for group in &groups.groups {
            let row = row_of(&self.global, (begin, end), &group.key, &group.accumulated)?;
            emit(&row)?;
        }
        Ok(())
    }

    pub(crate) fn save(&self, out: &mut Writer) {
        out.number(self.watermark);
        out.number(self.late.cast_signed());
        out.count(self.slices.len());
        for (end, slice) in &self.slices {
            out.number(*end);
            out.count(slice.groups.len());
            for group in &slice.groups {
                out.values(&group.key);
                out.values(&group.accumulated);
            }
        }
    }

    /// Has these groups instead of its own.
    pub(crate) fn load(&mut self, saved: &mut Reader<'_>) -> std::result::Result<(), SavedError> {
        self.watermark = saved.number()?;
        self.late = saved.number()?.cast_unsigned();
        self.slices.clear();
        for _ in 0..saved.count()? {
            let end = saved.number()?;
            let mut slice = Groups::default();
            for _ in 0..saved.count()? {
                let key = saved.values(self.local.grouping.len())?;
                let accumulated = saved.values(self.local.parts.len())?;
                let mut bytes = Vec::new();
                for value in &key {
                    encode(value, &mut bytes).map_err(|_| SavedError("a key of another type"))?;
                }
                slice.insert(bytes.into(), Group { key, accumulated });
            }
            self.slices.insert(end, slice);
        }
        self.count = self.slices.values().map(Groups::len).sum();
        Ok(())
    }
}

impl Groups {
    fn len(&self) -> usize {
        self.groups.len()
    }

    fn get_mut(&mut self, key: &[u8]) -> Option<&mut Group> {
        self.index.get(key).and_then(|&place| self.groups.get_mut(place))
    }

    /// A key that is not there.
    fn insert(&mut self, key: Box<[u8]>, group: Group) {
        self.index.insert(key, self.groups.len());
        self.groups.push(group);
    }

    /// Adds what another one has accumulated, key by key.
    fn merge(&mut self, parts: &[Part], other: &Self) -> Result<()> {
        // The places in `other`, in its order.
        let mut keys: Vec<(&[u8], usize)> =
            other.index.iter().map(|(key, &place)| (&**key, place)).collect();
        keys.sort_unstable_by_key(|&(_, place)| place);
        for (key, place) in keys {
            let Some(group) = other.groups.get(place) else { return Err(EvalError::Type) };
            match self.get_mut(key) {
                None => self.insert(key.into(), group.clone()),
                Some(own) => {
                    let both = own.accumulated.iter_mut().zip(group.accumulated.iter());
                    for (part, (own, other)) in parts.iter().zip(both) {
                        accumulate::merge(part, own, other)?;
                    }
                }
            }
        }
        Ok(())
    }
}
