//! A pipeline that runs: rows go in, rows and watermarks come out, in the order in which Flink's chained operators pass them on.

use afterbay_edge_plan::{
    Assignment, Calc, GlobalAggregate, LocalAggregate, Node, Operator, Pipeline, Value, Watermark,
    Window,
};

use crate::buffer::Buffer;
use crate::error::EvalError;
use crate::eval::{eval, holds};
use crate::finals::Finals;
use crate::saved::{Reader, SavedError, Writer};
use crate::sessions::Sessions;
use crate::slices::{next_trigger, slice_end, time_of, windows};

/// Watermark of the end of the input.
pub const END_OF_INPUT: i64 = i64::MAX;

/// What is emitted when a slice is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flush {
    /// Everything, as Flink does: line by line the same.
    #[default]
    All,
    /// Slices that are over: one row for each key and slice, but for what is late. The job's rows are the same.
    Over,
}

/// What Flink takes from its configuration, and how much is emitted at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// `pipeline.auto-watermark-interval` in ms: a watermark is passed on as soon as it is further by more than that. With 0, the
    /// output depends on the input alone, in Flink too; else Flink passes it on by the clock as well.
    pub watermark_interval: i64,
    /// Groups of keys and slices, or sessions, in memory: with more, everything is flushed, as Flink does when its buffer is full.
    /// Where results are final, more are an error.
    pub groups_max: usize,
    /// What is emitted when a slice is over.
    pub flush: Flush,
}

impl Default for Settings {
    fn default() -> Self {
        Self { watermark_interval: 200, groups_max: 100_000, flush: Flush::All }
    }
}

/// Where a pipeline's output goes.
pub trait Output {
    /// A row, with the columns of [`Pipeline::output`].
    fn row(&mut self, row: &[Value]);

    /// Nothing older than this comes any more, but what is late.
    fn watermark(&mut self, millis: i64);
}

/// A pipeline, and all that it remembers. For one thread.
#[derive(Debug)]
pub struct Run {
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Watermark(Assigner),
    Calc(Calc),
    Windows { window: Window, time_column: usize },
    Aggregate(Box<Slicing>),
    Final(Box<Finals>),
    Sessions(Box<Sessions>),
}

impl Run {
    /// Before the first row.
    pub fn new(pipeline: &Pipeline, settings: Settings) -> Self {
        let mut steps = Vec::new();
        for (index, node) in pipeline.nodes.iter().enumerate() {
            steps.extend(match &node.operator {
                Operator::Scan(scan) => {
                    let watermark = scan.watermark.clone();
                    watermark.map(|watermark| Step::Watermark(Assigner::new(watermark, settings)))
                }
                Operator::Watermark(watermark) => {
                    Some(Step::Watermark(Assigner::new(watermark.clone(), settings)))
                }
                Operator::Calc(calc) => Some(Step::Calc(calc.clone())),
                Operator::Windows { window, time_column } => {
                    Some(Step::Windows { window: *window, time_column: *time_column })
                }
                Operator::LocalAggregate(aggregate) => {
                    Some(match upper_half(&pipeline.nodes[index..]) {
                        Some(global) => {
                            let groups_max = settings.groups_max;
                            let finals = Finals::new(aggregate.clone(), global.clone(), groups_max);
                            Step::Final(Box::new(finals))
                        }
                        None => {
                            Step::Aggregate(Box::new(Slicing::new(aggregate.clone(), settings)))
                        }
                    })
                }
                Operator::Sessions(aggregate) => {
                    let sessions = Sessions::new(aggregate.clone(), settings.groups_max);
                    Some(Step::Sessions(Box::new(sessions)))
                }
                // Of the step of the aggregate.
                Operator::Exchange | Operator::GlobalAggregate(_) => None,
            });
        }
        Self { steps }
    }

    /// Takes a row with the columns of the scan.
    ///
    /// # Errors
    /// The row cannot be computed. It may be left out: the run is as it was before, but for windows of a function (TUMBLE, HOP,
    /// CUMULATE) that had the row before the one in which it failed.
    pub fn push(&mut self, row: &[Value], output: &mut impl Output) -> Result<(), EvalError> {
        pass_row(&mut self.steps, row, output)
    }

    /// The input is at its end.
    ///
    /// # Errors
    /// What comes out cannot be computed: a fault of Afterbay's, since only what cannot fail is behind windows.
    pub fn finish(&mut self, output: &mut impl Output) -> Result<(), EvalError> {
        pass_watermark(&mut self.steps, END_OF_INPUT, output)
    }

    /// Emits parts that are open, as Flink does before a checkpoint. The result of the job is the same.
    pub fn flush(&mut self, output: &mut impl Output) {
        for step in &mut self.steps {
            if let Step::Aggregate(slicing) = step {
                slicing.flush(output);
            }
        }
    }

    /// All that it remembers.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Writer::new();
        for step in &self.steps {
            match step {
                Step::Watermark(assigner) => {
                    out.number(assigner.current);
                    out.number(assigner.passed);
                }
                Step::Aggregate(slicing) => {
                    out.number(slicing.watermark);
                    out.number(slicing.next_trigger);
                    slicing.buffer.save(&mut out);
                }
                Step::Final(finals) => finals.save(&mut out),
                Step::Sessions(sessions) => sessions.save(&mut out),
                Step::Calc(_) | Step::Windows { .. } => {}
            }
        }
        out.end()
    }

    /// Remembers what [`save`](Self::save) has written, of the same pipeline.
    ///
    /// # Errors
    /// It is not of this pipeline, or damaged; then this run is of no use any more.
    pub fn load(&mut self, saved: &[u8]) -> Result<(), SavedError> {
        let mut saved = Reader::new(saved)?;
        for step in &mut self.steps {
            match step {
                Step::Watermark(assigner) => {
                    assigner.current = saved.number()?;
                    assigner.passed = saved.number()?;
                }
                Step::Aggregate(slicing) => {
                    slicing.watermark = saved.number()?;
                    slicing.next_trigger = saved.number()?;
                    slicing.buffer.load(&slicing.aggregate, &mut saved)?;
                }
                Step::Final(finals) => finals.load(&mut saved)?,
                Step::Sessions(sessions) => sessions.load(&mut saved)?,
                Step::Calc(_) | Step::Windows { .. } => {}
            }
        }
        saved.end()
    }

    /// Groups in memory.
    pub fn groups(&self) -> usize {
        let groups = |step: &Step| match step {
            Step::Aggregate(slicing) => slicing.buffer.groups(),
            Step::Final(finals) => finals.groups(),
            Step::Sessions(sessions) => sessions.groups(),
            _ => 0,
        };
        self.steps.iter().map(groups).sum()
    }

    /// Rows that were dropped as late, as Flink drops them. Only where results are final: of parts, Flink decides above.
    pub fn late_rows(&self) -> u64 {
        let late = |step: &Step| match step {
            Step::Final(finals) => finals.late(),
            Step::Sessions(sessions) => sessions.late(),
            _ => 0,
        };
        self.steps.iter().map(late).sum()
    }
}

/// The global aggregate of the local one that is the first of these nodes.
fn upper_half(nodes: &[Node]) -> Option<&GlobalAggregate> {
    match nodes {
        [
            _,
            Node { operator: Operator::Exchange, .. },
            Node { operator: Operator::GlobalAggregate(global), .. },
            ..,
        ] => Some(global),
        _ => None,
    }
}

fn pass_row(steps: &mut [Step], row: &[Value], output: &mut impl Output) -> Result<(), EvalError> {
    let Some((step, rest)) = steps.split_first_mut() else {
        output.row(row);
        return Ok(());
    };
    match step {
        Step::Watermark(assigner) => {
            let before = (assigner.current, assigner.passed);
            let watermark = assigner.see(row)?;
            if let Err(error) = pass_row(rest, row, output) {
                // Who leaves the row out goes on without its time: behind that, all others might be late.
                (assigner.current, assigner.passed) = before;
                return Err(error);
            }
            watermark.map_or(Ok(()), |watermark| pass_watermark(rest, watermark, output))
        }
        Step::Calc(calc) => {
            if let Some(condition) = &calc.condition
                && !holds(condition, row)?
            {
                return Ok(());
            }
            let computed = calc.projection.iter().map(|expr| Ok(eval(expr, row)?.into_owned()));
            let computed = computed.collect::<Result<Vec<_>, EvalError>>()?;
            pass_row(rest, &computed, output)
        }
        Step::Windows { window, time_column } => {
            let time = row[*time_column].clone();
            let Value::Timestamp { millis, .. } = time else { return Err(EvalError::NoTime) };
            for (start, end) in windows(window, millis) {
                let columns = [start, end, end - 1].map(Value::millis);
                let row: Vec<Value> = row.iter().cloned().chain(columns).collect();
                pass_row(rest, &row, output)?;
            }
            Ok(())
        }
        Step::Aggregate(slicing) => slicing.add(row, output),
        Step::Final(finals) => finals.add(row),
        Step::Sessions(sessions) => sessions.add(row),
    }
}

fn pass_watermark(
    steps: &mut [Step],
    millis: i64,
    output: &mut impl Output,
) -> Result<(), EvalError> {
    let Some((step, rest)) = steps.split_first_mut() else {
        output.watermark(millis);
        return Ok(());
    };
    match step {
        Step::Watermark(assigner) => assigner.passed = assigner.passed.max(millis),
        Step::Aggregate(slicing) => slicing.advance(millis, output),
        // Rows of windows go on before the watermark that ends them.
        Step::Final(finals) => finals.advance(millis, &mut |row| pass_row(rest, row, output))?,
        Step::Sessions(sessions) => {
            sessions.advance(millis, &mut |row| pass_row(rest, row, output))?;
        }
        Step::Calc(_) | Step::Windows { .. } => {}
    }
    pass_watermark(rest, millis, output)
}

/// `WatermarkAssignerOperator`: a row goes on before its watermark, and nothing up to 0 is passed on.
#[derive(Debug)]
struct Assigner {
    watermark: Watermark,
    interval: i64,
    current: i64,
    passed: i64,
}

impl Assigner {
    fn new(watermark: Watermark, settings: Settings) -> Self {
        Self { watermark, interval: settings.watermark_interval, current: 0, passed: 0 }
    }

    /// Notes a row; returns a watermark that is to be passed on behind it.
    fn see(&mut self, row: &[Value]) -> Result<Option<i64>, EvalError> {
        if eval(&self.watermark.rowtime, row)?.is_null() {
            return Err(EvalError::NoTime);
        }
        match *eval(&self.watermark.expr, row)? {
            Value::Null => {}
            Value::Timestamp { millis, .. } => self.current = self.current.max(millis),
            _ => return Err(EvalError::Type),
        }
        if self.current.wrapping_sub(self.passed) > self.interval {
            self.passed = self.current;
            return Ok(Some(self.current));
        }
        Ok(None)
    }
}

/// `LocalSlicingWindowAggOperator`.
#[derive(Debug)]
struct Slicing {
    aggregate: LocalAggregate,
    groups_max: usize,
    flush: Flush,
    buffer: Buffer,
    watermark: i64,
    next_trigger: i64,
}

impl Slicing {
    fn new(aggregate: LocalAggregate, settings: Settings) -> Self {
        let groups_max = settings.groups_max.max(1);
        let (flush, buffer) = (settings.flush, Buffer::new());
        Self { aggregate, groups_max, flush, buffer, watermark: 0, next_trigger: 0 }
    }

    fn add(&mut self, row: &[Value], output: &mut impl Output) -> Result<(), EvalError> {
        let end = match self.aggregate.windowing.assignment {
            Assignment::Time { column } => {
                slice_end(&self.aggregate.windowing, time_of(row, column)?)
            }
            Assignment::Attached { end_column } => time_of(row, end_column)?,
        };
        if self.buffer.groups() >= self.groups_max {
            self.flush(output);
        }
        self.buffer.add(&self.aggregate, end, row)
    }

    fn advance(&mut self, millis: i64, output: &mut impl Output) {
        if millis <= self.watermark {
            return;
        }
        self.watermark = millis;
        if millis >= self.next_trigger {
            if self.buffer.is_due(millis) {
                self.emit(millis, output);
            }
            self.next_trigger = next_trigger(&self.aggregate.windowing, millis);
        }
    }

    fn emit(&mut self, millis: i64, output: &mut impl Output) {
        match self.flush {
            Flush::All => self.flush(output),
            Flush::Over => self.buffer.take_over(millis).for_each(|row| output.row(&row)),
        }
    }

    fn flush(&mut self, output: &mut impl Output) {
        for row in self.buffer.take() {
            output.row(&row);
        }
    }
}
