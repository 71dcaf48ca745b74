//! Accumulators of windowed aggregates (`DeclarativeAggregateFunction`s, as `AggsHandlerCodeGenerator` runs them).

use std::cmp::Ordering;

use afterbay_edge_plan::{Accumulator, Basis, Kind, Number, Part, Value};

use crate::error::EvalError;
use crate::eval::{cut, order};

type Result<T> = std::result::Result<T, EvalError>;

/// What an accumulator is before the first row.
fn initial(part: &Part) -> Value {
    match part.accumulator {
        Accumulator::CountRows | Accumulator::Count { .. } => Value::Whole(0),
        Accumulator::Min { .. } | Accumulator::Max { .. } => Value::Null,
        Accumulator::Sum { from_zero: false, .. } => Value::Null,
        Accumulator::Sum { number, .. } => match number {
            Number::Float => Value::Float(0.0),
            Number::Double => Value::Double(0.0),
            Number::Decimal { .. } => Value::Decimal(0),
            _ => Value::Whole(0),
        },
    }
}

/// Accumulators of one row.
pub(crate) fn first(parts: &[Part], row: &[Value]) -> Result<Box<[Value]>> {
    let first = |part: &Part| {
        let initial = initial(part);
        Ok(added(part, &initial, row)?.unwrap_or(initial))
    };
    parts.iter().map(first).collect()
}

/// What a row makes of accumulators, of those that it changes: they take the place of the former ones when all of them are right.
/// Nothing else is copied, since most rows do not change the texts that are kept.
#[derive(Debug, Default)]
pub(crate) struct Changes(Vec<Option<Value>>);

impl Changes {
    /// Adds a row. After an error, the accumulators are as they were.
    pub(crate) fn add(
        &mut self,
        parts: &[Part],
        accumulated: &mut [Value],
        row: &[Value],
    ) -> Result<()> {
        self.0.clear();
        for (part, accumulated) in parts.iter().zip(accumulated.iter()) {
            self.0.push(added(part, accumulated, row)?);
        }
        for (accumulated, change) in accumulated.iter_mut().zip(self.0.drain(..)) {
            if let Some(change) = change {
                *accumulated = change;
            }
        }
        Ok(())
    }
}

/// What an accumulator is with a row more; `None` if the row does not change it.
fn added(part: &Part, accumulated: &Value, row: &[Value]) -> Result<Option<Value>> {
    if let Some(filter) = part.filter
        && !matches!(row.get(filter), Some(Value::Boolean(true)))
    {
        return Ok(None);
    }
    let column = match part.accumulator {
        Accumulator::CountRows => return one_more(accumulated),
        Accumulator::Count { column }
        | Accumulator::Sum { column, .. }
        | Accumulator::Min { column, .. }
        | Accumulator::Max { column, .. } => column,
    };
    let value = row.get(column).ok_or(EvalError::Type)?;
    if value.is_null() {
        return Ok(None);
    }
    match part.accumulator {
        Accumulator::CountRows | Accumulator::Count { .. } => one_more(accumulated),
        Accumulator::Sum { number, from_zero, .. } => {
            sum(number, from_zero, accumulated, value).map(Some)
        }
        Accumulator::Min { of, .. } => beyond(of, Ordering::Less, accumulated, value),
        Accumulator::Max { of, .. } => beyond(of, Ordering::Greater, accumulated, value),
    }
}

/// Adds what another one has accumulated of other rows (`mergeExpressions`).
pub(crate) fn merge(part: &Part, accumulated: &mut Value, other: &Value) -> Result<()> {
    let merged = match part.accumulator {
        Accumulator::CountRows | Accumulator::Count { .. } => {
            let (Value::Whole(count), Value::Whole(other)) = (&*accumulated, other) else {
                return Err(EvalError::Type);
            };
            Some(Value::Whole(count.wrapping_add(*other)))
        }
        // Only a sum of decimals that begins with zero and has been lost is null: it stays so.
        Accumulator::Sum { from_zero: true, .. } if other.is_null() => Some(Value::Null),
        _ if other.is_null() => None,
        Accumulator::Sum { number, from_zero, .. } => {
            Some(sum(number, from_zero, accumulated, other)?)
        }
        Accumulator::Min { of, .. } => beyond(of, Ordering::Less, accumulated, other)?,
        Accumulator::Max { of, .. } => beyond(of, Ordering::Greater, accumulated, other)?,
    };
    if let Some(merged) = merged {
        *accumulated = merged;
    }
    Ok(())
}

/// What two parts are together, if whoever merges them with more has the same in the end as of the two of them: none where the order
/// could be seen.
pub(crate) fn merged(parts: &[Part], left: &[Value], right: &[Value]) -> Option<Vec<Value>> {
    let one = |((part, left), right): ((&Part, &Value), &Value)| {
        let is_extreme =
            matches!(part.accumulator, Accumulator::Min { .. } | Accumulator::Max { .. });
        if is_extreme && (is_nan(left) || is_nan(right)) {
            return None;
        }
        let mut sum = left.clone();
        merge(part, &mut sum, right).ok()?;
        // Too many digits: in Flink, that is null, and the next part is added to nothing.
        let is_lost = sum.is_null() && !(left.is_null() && right.is_null());
        (!is_lost).then_some(sum)
    };
    parts.iter().zip(left).zip(right).map(one).collect()
}

fn is_nan(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_nan(),
        Value::Double(number) => number.is_nan(),
        _ => false,
    }
}

fn one_more(accumulated: &Value) -> Result<Option<Value>> {
    let Value::Whole(count) = accumulated else { return Err(EvalError::Type) };
    Ok(Some(Value::Whole(count.wrapping_add(1))))
}

/// A sum with a value more, which is not null. One of decimals that has more than 38 digits is null, as in Flink
/// (`DecimalDataUtils.add`), and no error: the next value begins it anew, but where it began with zero, as that of an average. There,
/// null and a value are null.
fn sum(number: Number, from_zero: bool, accumulated: &Value, value: &Value) -> Result<Value> {
    let widened = match (number, value) {
        (Number::Double, Value::Float(value)) => Value::Double(f64::from(*value)),
        (_, value) => value.clone(),
    };
    Ok(match (accumulated, widened) {
        (Value::Null, _) if from_zero => Value::Null,
        (Value::Null, widened) => widened,
        (Value::Whole(sum), Value::Whole(value)) => {
            Value::Whole(cut(sum.wrapping_add(value), number)?)
        }
        (Value::Float(sum), Value::Float(value)) => Value::Float(sum + value),
        (Value::Double(sum), Value::Double(value)) => Value::Double(sum + value),
        (Value::Decimal(sum), Value::Decimal(value)) => {
            let limit = afterbay_edge_plan::power_of_ten(38);
            let total = sum.checked_add(value).filter(|total| total.abs() < limit);
            total.map_or(Value::Null, Value::Decimal)
        }
        _ => return Err(EvalError::Type),
    })
}

/// A value that is beyond what is kept, and takes its place. Equal ones and NaNs are not beyond anything.
fn beyond(of: Kind, side: Ordering, kept: &Value, value: &Value) -> Result<Option<Value>> {
    let is_beyond = kept.is_null() || order(basis(of), value, kept)? == Some(side);
    Ok(is_beyond.then(|| value.clone()))
}

fn basis(kind: Kind) -> Basis {
    match kind {
        Kind::Float => Basis::Float,
        Kind::Double => Basis::Double,
        Kind::Decimal { scale, .. } => Basis::Decimal { left: scale, right: scale },
        Kind::Char(_) | Kind::VarChar(_) => Basis::Text,
        Kind::Boolean => Basis::Boolean,
        Kind::Timestamp(_) | Kind::TimestampLtz(_) => Basis::Timestamp,
        _ => Basis::Whole,
    }
}
