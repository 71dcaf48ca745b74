//! Windows, and the slices that Flink cuts them into (`SliceAssigners`).

use serde_json::Value as Json;

use crate::error::{Refusal, Result};
use crate::strict::{Object, text};
use crate::types::{Kind, data_type};

/// Windows of event time, all in ms. Aligned to 1970-01-01 00:00:00 plus the offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// `TUMBLE`.
    Tumbling {
        /// Length.
        size: i64,
        /// By how much they begin later.
        offset: i64,
    },
    /// `HOP`.
    Hopping {
        /// Length, a multiple of the slide.
        size: i64,
        /// From one's beginning to the next one's.
        slide: i64,
        /// By how much they begin later.
        offset: i64,
    },
    /// `CUMULATE`.
    Cumulative {
        /// Length of the longest, a multiple of the step.
        max_size: i64,
        /// From one's end to the next one's.
        step: i64,
        /// By how much they begin later.
        offset: i64,
    },
}

impl Window {
    /// Length of the slices of which every window is made.
    pub fn slice(&self) -> i64 {
        match *self {
            Self::Tumbling { size, .. } => size,
            Self::Hopping { slide, .. } => slide,
            Self::Cumulative { step, .. } => step,
        }
    }

    /// By how much windows begin later than 1970-01-01 00:00:00 and its multiples.
    pub fn offset(&self) -> i64 {
        match *self {
            Self::Tumbling { offset, .. }
            | Self::Hopping { offset, .. }
            | Self::Cumulative { offset, .. } => offset,
        }
    }
}

/// Reads a window as `WindowSpec` is written.
pub(crate) fn window(json: &Json, place: &str) -> Result<Window> {
    let mut object = Object::new(json, place)?;
    let kind = object.text("type")?;
    let offset = match object.optional("offset") {
        None => 0,
        Some(offset) => duration(offset, &object.place("offset"))?,
    };
    let mut length = |name: &str| {
        let at = object.place(name);
        let length = duration(object.required(name)?, &at)?;
        if length > 0 { Ok(length) } else { Err(Refusal::new(&at, "it has to be positive")) }
    };
    let (window, whole) = match kind {
        "TumblingWindow" => {
            let size = length("size")?;
            (Window::Tumbling { size, offset }, size)
        }
        "HoppingWindow" => {
            let (size, slide) = (length("size")?, length("slide")?);
            (Window::Hopping { size, slide, offset }, size)
        }
        "CumulativeWindow" => {
            let (max_size, step) = (length("maxSize")?, length("step")?);
            (Window::Cumulative { max_size, step, offset }, max_size)
        }
        other => {
            let what = format!("{other} has no slices: TUMBLE, HOP and CUMULATE have");
            return Err(Refusal::new(&object.place("type"), what));
        }
    };
    object.end()?;
    if whole % window.slice() != 0 {
        let what = format!("{whole} ms is no multiple of {} ms", window.slice());
        return Err(Refusal::new(place, what));
    }
    let unit = if let Window::Tumbling { size, .. } = window { size } else { window.slice() };
    if offset.abs() >= unit {
        return Err(Refusal::new(place, format!("offset {offset} ms is not below {unit} ms")));
    }
    Ok(window)
}

/// How rows come to their window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment {
    /// By their time.
    Time {
        /// The column of their time.
        column: usize,
    },
    /// Before, by a window function: the end of the window is a column.
    Attached {
        /// The column of the end.
        end_column: usize,
    },
}

/// Windows, and how rows come to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windowing {
    /// Which windows.
    pub window: Window,
    /// How rows come to them.
    pub assignment: Assignment,
}

/// Reads a windowing strategy over rows with as many columns. `zone` is the session's.
pub(crate) fn windowing(json: &Json, zone: &str, place: &str) -> Result<Windowing> {
    let mut object = Object::new(json, place)?;
    let strategy = object.text("strategy")?;
    let at = object.place("window");
    let window = window(object.required("window")?, &at)?;
    time_attribute(&mut object, zone)?;
    let assignment = match strategy {
        "TimeAttribute" => Assignment::Time { column: object.index("timeAttributeIndex")? },
        "WindowAttached" => {
            object.index("windowStart")?;
            Assignment::Attached { end_column: object.index("windowEnd")? }
        }
        other => {
            let what =
                format!("{other} does not run at a site: TimeAttribute and WindowAttached do");
            return Err(Refusal::new(&object.place("strategy"), what));
        }
    };
    object.end()?;
    Ok(Windowing { window, assignment })
}

/// Reads the strategy of a global aggregate, whose windows have to be those of its local one. `end_column` is the column in which
/// that gives the end of a slice or window. Returns the type of the time of events.
pub(crate) fn merged_windowing(
    json: &Json,
    zone: &str,
    local: &Windowing,
    end_column: usize,
    place: &str,
) -> Result<Kind> {
    let mut object = Object::new(json, place)?;
    let at = object.place("window");
    if window(object.required("window")?, &at)? != local.window {
        return Err(Refusal::new(&at, "the local aggregate has other windows"));
    }
    let time = time_attribute(&mut object, zone)?;
    match local.assignment {
        Assignment::Time { .. } => {
            object.only("strategy", &"SliceAttached".into())?;
            object.only("sliceEnd", &Json::from(end_column))?;
        }
        Assignment::Attached { .. } => {
            object.only("strategy", &"WindowAttached".into())?;
            // The beginning is not between them: the end says it.
            object.only("windowStart", &Json::from(-1))?;
            object.only("windowEnd", &Json::from(end_column))?;
        }
    }
    object.end()?;
    Ok(time)
}

/// Sessions, and where a row's time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionWindowing {
    pub(crate) gap: i64,
    pub(crate) time_column: usize,
    pub(crate) time: Kind,
}

/// Reads the strategy of sessions of these keys.
pub(crate) fn session_windowing(
    json: &Json,
    zone: &str,
    grouping: &[usize],
    place: &str,
) -> Result<SessionWindowing> {
    let mut object = Object::new(json, place)?;
    let at = object.place("window");
    let mut window = Object::new(object.required("window")?, &at)?;
    let kind = window.text("type")?;
    if kind != "SessionWindow" {
        let what = format!(
            "{kind} in one phase does not run at a site: in two it does, with table.optimizer.agg-phase-strategy = TWO_PHASE and no aggregate that has one only, such as LAST_VALUE"
        );
        return Err(Refusal::new(&window.place("type"), what));
    }
    let at = window.place("gap");
    let gap = duration(window.required("gap")?, &at)?;
    if gap <= 0 {
        return Err(Refusal::new(&at, "it has to be positive"));
    }
    // Of other keys, a session would be one of several groups.
    window.only("partition_key_indices", &Json::from(grouping))?;
    window.end()?;
    object.only("strategy", &"TimeAttribute".into())?;
    let time = time_attribute(&mut object, zone)?;
    let time_column = object.index("timeAttributeIndex")?;
    object.end()?;
    Ok(SessionWindowing { gap, time_column, time })
}

/// The time of events, whose windows a site has: `TIMESTAMP`, or `TIMESTAMP_LTZ` in UTC.
fn time_attribute(object: &mut Object<'_>, zone: &str) -> Result<Kind> {
    let at = object.place("timeAttributeType");
    let time = data_type(object.required("timeAttributeType")?, &at)?.kind;
    if !time.is_timestamp() {
        return Err(Refusal::new(&at, format!("{time} is no time of events")));
    }
    if matches!(time, Kind::TimestampLtz(_)) && zone != "UTC" {
        let what = format!(
            "windows of {time} follow table.local-time-zone, which is {zone}: only UTC runs at a site"
        );
        return Err(Refusal::new(&at, what));
    }
    object.only("isRowtime", &true.into())?;
    Ok(time)
}

/// ISO 8601 as `Duration#toString` writes it: `PT10S`, `PT1H30M`, `PT-0.5S`. Whole ms.
fn duration(json: &Json, place: &str) -> Result<i64> {
    let written = text(json, place)?;
    let refused = || Refusal::new(place, format!("{written:?} is no duration such as PT10S"));
    parse_duration(written).ok_or_else(refused)
}

fn parse_duration(written: &str) -> Option<i64> {
    let mut rest = written.strip_prefix("PT")?;
    if rest.is_empty() {
        return None;
    }
    let mut millis = 0_i64;
    let mut units = [('H', 3_600_000), ('M', 60_000), ('S', 1000)].into_iter();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_uppercase())?;
        let (number, unit) = rest.split_at(end);
        let (_, in_millis) = units.find(|(name, _)| unit.starts_with(*name))?;
        millis = millis.checked_add(times(number, in_millis)?)?;
        rest = &unit[1..];
    }
    Some(millis)
}

/// A number, perhaps with up to three digits of a fraction, of so many ms.
fn times(number: &str, unit: i64) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole.strip_prefix('-').unwrap_or(whole)) || !digits(fraction) || fraction.len() > 3
    {
        return None;
    }
    let thousandths: i64 = format!("{fraction:0<3}").parse().ok()?;
    if thousandths > 0 && unit != 1000 {
        return None;
    }
    let thousandths = if whole.starts_with('-') { -thousandths } else { thousandths };
    whole.parse::<i64>().ok()?.checked_mul(unit)?.checked_add(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_java() {
        for (written, millis) in [
            ("PT10S", Some(10_000)),
            ("PT1H30M", Some(5_400_000)),
            ("PT24H", Some(86_400_000)),
            ("PT0.5S", Some(500)),
            ("PT-0.5S", Some(-500)),
            ("PT1M0.001S", Some(60_001)),
            ("PT0S", Some(0)),
            ("PT", None),
            ("PT1S1H", None),
            ("P1D", None),
            ("PT1.5H", None),
            ("PT0.0001S", None),
            ("PT+1S", None),
            ("PTS", None),
            ("PT9223372036854775807S", None),
        ] {
            assert_eq!(parse_duration(written), millis, "{written}");
        }
    }
}
