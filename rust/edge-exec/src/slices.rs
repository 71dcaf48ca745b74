//! Slices of windows, and when they are over (`SliceAssigners`, `TimeWindowUtil`). All times are ms of UTC.

use afterbay_edge_plan::{Assignment, Value, Window, Windowing};

use crate::error::EvalError;

/// The beginning of the slice, or window, of this length that has this time (`TimeWindow.getWindowStartWithOffset`).
pub fn start(time: i64, offset: i64, length: i64) -> i64 {
    time.wrapping_sub(time.wrapping_sub(offset).rem_euclid(length))
}

/// The end of the slice of a row's time.
pub fn slice_end(windowing: &Windowing, time: i64) -> i64 {
    let length = windowing.window.slice();
    start(time, windowing.window.offset(), length).wrapping_add(length)
}

/// Whether the watermark says that all before this end has come (`isWindowFired`).
pub fn is_over(end: i64, watermark: i64) -> bool {
    end != i64::MAX && watermark >= end.wrapping_sub(1)
}

/// How many of the windows that have a slice are over. -1 if only the watermark says so that is there before the first one: in
/// Flink, nothing is over by that.
pub(crate) fn windows_over(windowing: &Windowing, end: i64, watermark: i64) -> i64 {
    if !is_over(end, watermark) {
        return 0;
    }
    if watermark <= 0 {
        return -1;
    }
    let (last, step) = match (windowing.assignment, windowing.window) {
        (Assignment::Attached { .. }, _) | (_, Window::Tumbling { .. }) => (end, 1),
        (_, Window::Hopping { size, slide, .. }) => (end.saturating_add(size - slide), slide),
        (_, Window::Cumulative { max_size, step, offset }) => {
            (start(end.wrapping_sub(1), offset, max_size).saturating_add(max_size), step)
        }
    };
    let reached = watermark.saturating_add(1).min(last);
    reached.wrapping_sub(end) / step + 1
}

/// The next watermark at which a slice may be over (`getNextTriggerWatermarkWithOffset`, in UTC).
pub fn next_trigger(windowing: &Windowing, watermark: i64) -> i64 {
    if watermark == i64::MAX {
        return watermark;
    }
    let length = windowing.window.slice();
    let trigger = start(watermark, windowing.window.offset(), length).wrapping_add(length - 1);
    if trigger > watermark { trigger } else { trigger.wrapping_add(length) }
}

/// All windows that have this time: beginnings and ends (`SlidingWindowAssigner`, `CumulativeWindowAssigner`).
pub fn windows(window: &Window, time: i64) -> Vec<(i64, i64)> {
    match *window {
        Window::Tumbling { size, offset } => {
            let start = start(time, offset, size);
            vec![(start, start + size)]
        }
        Window::Hopping { size, slide, offset } => {
            let last = start(time, offset, slide);
            let starts = (0..size / slide).map(|number| last - number * slide);
            starts.map(|start| (start, start + size)).collect()
        }
        Window::Cumulative { max_size, step, offset } => {
            let begin = start(time, offset, max_size);
            let first = start(time, offset, step) + step;
            let ends = (0..max_size / step).map(|number| first + number * step);
            ends.take_while(|&end| end <= begin + max_size).map(|end| (begin, end)).collect()
        }
    }
}

/// A row's time, or the end of its window.
pub(crate) fn time_of(row: &[Value], column: usize) -> Result<i64, EvalError> {
    match row.get(column) {
        Some(Value::Timestamp { millis, .. }) => Ok(*millis),
        Some(Value::Null) => Err(EvalError::NoTime),
        _ => Err(EvalError::Type),
    }
}
