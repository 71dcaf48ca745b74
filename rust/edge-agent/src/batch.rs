//! Rows and watermarks that become frames.
//!
//! A frame says what the site emitted before its first row. Watermarks between and behind its rows are lines of their own: a
//! number. Of several in a row, the last one counts. So a frame is what the run has given, in its order.

use std::fmt::Write;

use afterbay_edge_exec::{Output, write_row};
use afterbay_edge_plan::{Field, Value};

/// Bytes from which on another frame begins.
const FRAME_BYTES: usize = 128 << 10;

/// What will be a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// ms, before the first row.
    pub(crate) watermark: i64,
    /// Lines.
    pub(crate) payload: Vec<u8>,
}

/// What has come out of a run since the last commit.
#[derive(Debug)]
pub(crate) struct Batch {
    fields: Vec<Field>,
    parts: Vec<Part>,
    lines: String,
    /// Before the first of `lines`.
    before: i64,
    /// The last one that came out.
    watermark: i64,
    /// Whether no line says it yet.
    moved: bool,
    bytes: usize,
}

impl Batch {
    /// After a run that has emitted this watermark last.
    pub(crate) fn new(fields: Vec<Field>, watermark: i64) -> Self {
        Self {
            fields,
            parts: Vec::new(),
            lines: String::new(),
            before: watermark,
            watermark,
            moved: false,
            bytes: 0,
        }
    }

    /// The last watermark that came out.
    pub(crate) fn watermark(&self) -> i64 {
        self.watermark
    }

    /// Whether it is as much as a frame.
    pub(crate) fn is_large(&self) -> bool {
        self.bytes >= FRAME_BYTES
    }

    /// Takes everything out.
    pub(crate) fn take(&mut self) -> Vec<Part> {
        if self.moved {
            if self.lines.is_empty() {
                self.before = self.watermark;
            } else {
                self.mark();
            }
            self.moved = false;
            self.end();
        } else if !self.lines.is_empty() {
            self.end();
        }
        self.bytes = 0;
        std::mem::take(&mut self.parts)
    }

    fn mark(&mut self) {
        // Writing into a string does not fail.
        let _ = writeln!(self.lines, "{}", self.watermark);
    }

    fn end(&mut self) {
        let payload = std::mem::take(&mut self.lines).into_bytes();
        self.parts.push(Part { watermark: self.before, payload });
        self.before = self.watermark;
    }
}

impl Output for Batch {
    fn row(&mut self, row: &[Value]) {
        if self.moved {
            if self.lines.is_empty() {
                self.before = self.watermark;
            } else {
                self.mark();
            }
            self.moved = false;
        }
        let before = self.lines.len();
        write_row(&self.fields, row, &mut self.lines);
        self.lines.push('\n');
        self.bytes += self.lines.len() - before;
        if self.lines.len() >= FRAME_BYTES {
            self.end();
        }
    }

    fn watermark(&mut self, millis: i64) {
        self.moved |= millis > self.watermark;
        self.watermark = self.watermark.max(millis);
    }
}
