//! What has come out of a run since the last commit, as lines of frames; or merged, if the outbox is not to fill up with parts.
//!
//! ```text
//!   Hold, DropOldest:   run -> Batch -> frames
//!   Merge:              run -> Waiting (parts of one key and slice are one) -> Batch -> frames
//!                                `-- goes into the state as it is, while the outbox has much to send
//! ```

use afterbay_edge_exec::{Output, Waiting};
use afterbay_edge_plan::{Pipeline, Value};

use crate::batch::{Batch, Part};
use crate::error::{AgentError, Result};
use crate::state::{Kept, State};
use crate::store::Store;

/// See the module.
#[derive(Debug)]
pub(crate) struct Gathered {
    frames: Batch,
    merging: Option<Merging>,
    /// Rows as they came, for the site's broker, if rows are published and frames have others.
    published: Option<Batch>,
    /// Rows that came out of the run since the last commit.
    rows: u64,
    /// The last watermark that came out of it, and whether that was since the last commit.
    watermark: i64,
    moved: bool,
}

/// Rows that wait for others of their key and slice.
#[derive(Debug)]
struct Merging {
    waiting: Waiting,
    /// With more, they go into frames.
    bytes_max: usize,
}

/// What a commit has of it.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) parts: Vec<Part>,
    /// For the site's broker, if those are others.
    pub(crate) published: Option<Vec<Part>>,
    pub(crate) rows: u64,
    /// The last one in frames.
    pub(crate) watermark: i64,
    pub(crate) kept: Kept,
    /// Rows that were merged into others.
    pub(crate) merged: u64,
}

impl Gathered {
    /// Behind what a state has, of the pipeline that it is of. Rows that wait there go into frames if they are not to wait any more.
    pub(crate) fn open(
        store: &Store,
        pipeline: &Pipeline,
        state: &State,
        failed: &impl Fn(String) -> AgentError,
    ) -> Result<Self> {
        let fields = pipeline.output().to_vec();
        let mut frames = Batch::new(fields.clone(), state.watermark);
        let bytes_max = store.waiting_bytes();
        if bytes_max.is_none() && state.kept.bytes.is_empty() {
            return Ok(Self::behind(frames, None, None, state.watermark));
        }
        let waiting = Waiting::of(pipeline, state.watermark);
        let mut waiting = waiting.map_err(AgentError::Merge)?;
        if !state.kept.bytes.is_empty() {
            waiting.load(&state.kept.bytes).map_err(|error| failed(error.to_string()))?;
        }
        let watermark = waiting.last_watermark();
        // Watermarks are not published. Rows that wait were, when they came.
        let published = store.local().map(|_| Batch::new(fields, watermark));
        let merging = match bytes_max {
            Some(bytes_max) => Some(Merging { waiting, bytes_max }),
            None => {
                waiting.drain(&mut frames);
                None
            }
        };
        Ok(Self::behind(frames, merging, published, watermark))
    }

    fn behind(
        frames: Batch,
        merging: Option<Merging>,
        published: Option<Batch>,
        watermark: i64,
    ) -> Self {
        Self { frames, merging, published, rows: 0, watermark, moved: false }
    }

    /// Rows that came since the last commit.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether nothing has come since the last commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0 && !self.moved
    }

    /// Whether it is as much as a frame.
    pub(crate) fn is_large(&self) -> bool {
        self.frames.is_large()
    }

    /// Whether rows or watermarks wait for others.
    pub(crate) fn has_waiting(&self) -> bool {
        self.merging.as_ref().is_some_and(|merging| !merging.waiting.is_empty())
    }

    /// Takes everything out; or all but what waits, of which a copy goes into the state.
    pub(crate) fn take(&mut self, keeps: bool) -> Taken {
        let (mut kept, mut merged) = (Kept::default(), 0);
        let published = self.published.as_mut().map(Batch::take);
        if let Some(merging) = &mut self.merging {
            if !keeps {
                merging.waiting.drain(&mut self.frames);
            }
            if !merging.waiting.is_empty() {
                kept = Kept { rows: merging.waiting.rows(), bytes: merging.waiting.save() };
            }
            merged = merging.waiting.take_merged();
        } else {
            // From here on, frames have rows as they come.
            self.published = None;
        }
        let watermark = self.frames.watermark();
        let taken = Taken {
            parts: self.frames.take(),
            published,
            rows: self.rows,
            watermark,
            kept,
            merged,
        };
        (self.rows, self.moved) = (0, false);
        taken
    }
}

impl Output for Gathered {
    fn row(&mut self, row: &[Value]) {
        self.rows += 1;
        if let Some(published) = &mut self.published {
            published.row(row);
        }
        let Some(merging) = &mut self.merging else { return self.frames.row(row) };
        merging.waiting.row(row);
        if merging.waiting.bytes() >= merging.bytes_max {
            merging.waiting.drain(&mut self.frames);
        }
    }

    fn watermark(&mut self, millis: i64) {
        self.moved |= millis > self.watermark;
        self.watermark = self.watermark.max(millis);
        match &mut self.merging {
            Some(merging) => Output::watermark(&mut merging.waiting, millis),
            None => Output::watermark(&mut self.frames, millis),
        }
    }
}
