//! Aggregates that have a local part: what of them a site computes.

use serde_json::Value as Json;

use crate::error::{Refusal, Result};
use crate::function::Number;
use crate::strict::{Object, array, index};
use crate::types::{DataType, Field, Kind, LENGTH_MAX, data_type};

/// One column of a local aggregate's row: part of an aggregate's accumulator (`DeclarativeAggregateFunction`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// What it accumulates.
    pub accumulator: Accumulator,
    /// A `BOOLEAN` column: rows where it is not true do not count.
    pub filter: Option<usize>,
}

/// What is accumulated of the rows of one key and slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    /// All rows: from 0.
    CountRows,
    /// Rows in which this column is not null: from 0.
    Count {
        /// The column.
        column: usize,
    },
    /// The sum of what is not null. Whole numbers wrap around.
    Sum {
        /// The column.
        column: usize,
        /// The type of the sum.
        number: Number,
        /// What its values are before they are added.
        of: Kind,
        /// From 0 (`AVG`), or from null (`SUM`).
        from_zero: bool,
    },
    /// The least: the first of those that are equal. A NaN is less than nothing and nothing is less than a NaN, so that it stays
    /// if it is the first.
    Min {
        /// The column.
        column: usize,
        /// Its type.
        of: Kind,
    },
    /// The greatest, as `Min`.
    Max {
        /// The column.
        column: usize,
        /// Its type.
        of: Kind,
    },
}

/// What an aggregate gives in the end, of the parts of all of them (`getValueExpression`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A part as it is.
    Part(usize),
    /// A sum by a count, both of them parts; null if nothing was counted. Of whole numbers, what is behind the point goes.
    Average {
        /// The sum: BIGINT or DOUBLE.
        sum: usize,
        /// How many were added.
        count: usize,
        /// The type of the average.
        number: Number,
    },
}

/// The parts of an aggregate, and the names and types that the plan gives their columns.
struct Call {
    /// The name of the column above.
    name: String,
    /// Of what the whole aggregate gives.
    of: DataType,
    parts: Vec<(&'static str, Accumulator, Kind)>,
    filter: Option<usize>,
    /// The type of what an `AVG` is of.
    averaged: Option<Kind>,
}

/// What comes of the parts in the end, in the order of the calls: columns, and how they are made.
pub(crate) fn outcomes(
    calls: &[Json],
    inputs: &[Field],
    place: &str,
) -> Result<Vec<(Field, Outcome)>> {
    let mut next = 0;
    let mut outcomes = Vec::new();
    for (number, json) in calls.iter().enumerate() {
        let place = format!("{place}[{number}]");
        let call = call(json, inputs, &place)?;
        let outcome = match call.averaged {
            None => Outcome::Part(next),
            Some(kind) => Outcome::Average {
                sum: next,
                count: next + 1,
                number: average(kind, call.of, &place)?,
            },
        };
        next += call.parts.len();
        outcomes.push((Field { name: call.name, of: call.of }, outcome));
    }
    Ok(outcomes)
}

fn average(kind: Kind, of: DataType, place: &str) -> Result<Number> {
    if kind.is_decimal() {
        let what = "AVG of a DECIMAL is rounded twice, which only Flink does: its parts go to the cloud, as those of the aggregates beside it";
        return Err(Refusal::new(place, what));
    }
    match Number::of(kind) {
        Some(number) if of.kind == kind => Ok(number),
        _ => Err(Refusal::new(place, format!("AVG of {kind} does not give {of}"))),
    }
}

/// Reads the calls over these columns. `counts_rows` for windows whose upper half needs the number of rows, which Flink appends.
pub(crate) fn parts(
    calls: &[Json],
    inputs: &[Field],
    counts_rows: bool,
    place: &str,
) -> Result<Vec<(String, Part, DataType)>> {
    let mut parts = Vec::new();
    let mut counted = !counts_rows;
    for (number, json) in calls.iter().enumerate() {
        let call = call(json, inputs, &format!("{place}[{number}]"))?;
        for (name, accumulator, kind) in call.parts {
            counted |= accumulator == Accumulator::CountRows && call.filter.is_none();
            parts.push((name, Part { accumulator, filter: call.filter }, kind));
        }
    }
    if !counted {
        let count = Part { accumulator: Accumulator::CountRows, filter: None };
        parts.push(("count1", count, Kind::BigInt));
    }
    let name = |(index, (name, part, kind)): (usize, (&str, Part, Kind))| {
        (format!("{name}${index}"), part, DataType { kind, nullable: true })
    };
    Ok(parts.into_iter().enumerate().map(name).collect())
}

fn call(json: &Json, inputs: &[Field], place: &str) -> Result<Call> {
    let mut object = Object::new(json, place)?;
    let column_above = object.text("name")?.to_owned();
    let syntax = object.optional_text("syntax")?;
    let name_place = object.place("internalName");
    let Some(name) = object.optional_text("internalName")? else {
        let what = "aggregates of the user's own do not run at a site";
        return Err(Refusal::new(place, what));
    };
    for switch in ["distinct", "approximate", "ignoreNulls"] {
        if object.boolean(switch)? {
            let what = match switch {
                "distinct" => "DISTINCT needs the set of all values, which no table carries",
                _ => "this does not run at a site",
            };
            return Err(Refusal::new(&object.place(switch), what));
        }
    }
    let column = |index: usize, at: &str| {
        let what = || format!("column {index} is needed, and there are {}", inputs.len());
        inputs.get(index).map(|field| field.of.kind).ok_or_else(|| Refusal::new(at, what()))
    };
    let filter_place = object.place("filterArg");
    let filter = match usize::try_from(object.number("filterArg")?) {
        Err(_) => None,
        Ok(filter) => {
            if column(filter, &filter_place)? != Kind::Boolean {
                return Err(Refusal::new(&filter_place, "a BOOLEAN column is needed"));
            }
            Some(filter)
        }
    };
    let at = object.place("argList");
    let arguments = array(object.required("argList")?, &at)?;
    let argument = match arguments {
        [] => None,
        [one] => {
            let index = index(one, &at)?;
            Some((index, column(index, &at)?))
        }
        _ => return Err(Refusal::new(&at, "one column at most is needed")),
    };
    let type_place = object.place("type");
    let of = data_type(object.required("type")?, &type_place)?;
    object.end()?;
    let parts = match (name, syntax, argument) {
        ("$COUNT$1", Some("FUNCTION_STAR"), None) => {
            vec![("count1", Accumulator::CountRows, Kind::BigInt)]
        }
        ("$COUNT$1", Some("FUNCTION_STAR"), Some((column, _))) => {
            vec![("count", Accumulator::Count { column }, Kind::BigInt)]
        }
        ("$SUM$1", None, Some((column, kind))) => {
            vec![("sum", sum(column, kind, false, &at)?, sum_kind(kind))]
        }
        ("$AVG$1", None, Some((column, kind))) => vec![
            ("sum", sum(column, kind, true, &at)?, average_kind(kind)),
            ("count", Accumulator::Count { column }, Kind::BigInt),
        ],
        ("$MIN$1", None, Some((column, kind))) if ordered(kind) => {
            vec![("min", Accumulator::Min { column, of: kind }, extreme_kind(kind))]
        }
        ("$MAX$1", None, Some((column, kind))) if ordered(kind) => {
            vec![("max", Accumulator::Max { column, of: kind }, extreme_kind(kind))]
        }
        _ => {
            let operand = argument.map_or_else(|| "*".to_owned(), |(_, kind)| kind.to_string());
            let name = name.trim_start_matches('$').trim_end_matches("$1");
            let what = format!(
                "{name}({operand}) does not run at a site; COUNT, SUM, AVG, MIN and MAX do"
            );
            return Err(Refusal::new(&name_place, what));
        }
    };
    let gives = match (name, argument) {
        ("$COUNT$1", _) => of.kind == Kind::BigInt,
        ("$SUM$1", Some((_, kind))) => of.kind == sum_kind(kind),
        ("$AVG$1", _) => of.kind.is_number(),
        (_, Some((_, kind))) => of.kind == kind,
        (_, None) => false,
    };
    if !gives {
        return Err(Refusal::new(&type_place, format!("{name} does not give {of}")));
    }
    let averaged = argument.filter(|_| name == "$AVG$1").map(|(_, kind)| kind);
    Ok(Call { name: column_above, of, parts, filter, averaged })
}

/// What `MIN` and `MAX` have a form for.
fn ordered(kind: Kind) -> bool {
    kind.is_number()
        || kind.is_text()
        || matches!(kind, Kind::Boolean | Kind::Date | Kind::Time(_))
        || kind.is_timestamp()
}

fn sum(column: usize, of: Kind, from_zero: bool, place: &str) -> Result<Accumulator> {
    let kind = if from_zero { average_kind(of) } else { sum_kind(of) };
    match Number::of(kind) {
        Some(number) if of.is_number() => Ok(Accumulator::Sum { column, number, of, from_zero }),
        _ => Err(Refusal::new(place, format!("{of} is not added up"))),
    }
}

/// `FlinkTypeSystem#deriveSumType`.
fn sum_kind(kind: Kind) -> Kind {
    match kind {
        Kind::Decimal { scale, .. } => Kind::Decimal { precision: 38, scale },
        kind => kind,
    }
}

/// What a `MinAggFunction` or `MaxAggFunction` keeps: every text is a STRING.
fn extreme_kind(kind: Kind) -> Kind {
    if kind.is_text() { Kind::VarChar(LENGTH_MAX) } else { kind }
}

/// What an `AvgAggFunction` adds up in.
fn average_kind(kind: Kind) -> Kind {
    match kind {
        Kind::Float => Kind::Double,
        kind if kind.is_whole_number() => Kind::BigInt,
        kind => sum_kind(kind),
    }
}
