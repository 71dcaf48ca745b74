//! Accumulators of windowed aggregates (`DeclarativeAggregateFunction`s, as `AggsHandlerCodeGenerator` runs them).

use std::cmp::Ordering;

use afterbay_edge_plan::{Accumulator, Basis, Kind, Number, Part, Value};

use crate::error::EvalError;
use crate::eval::{cut, order};

type Result<T> = std::result::Result<T, EvalError>;

/// What an accumulator is before the first row.
pub(crate) fn initial(part: &Part) -> Value {
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

/// Adds a row.
pub(crate) fn add(part: &Part, accumulated: &mut Value, row: &[Value]) -> Result<()> {
    if let Some(filter) = part.filter
        && !matches!(row.get(filter), Some(Value::Boolean(true)))
    {
        return Ok(());
    }
    let column = match part.accumulator {
        Accumulator::CountRows => return count(accumulated),
        Accumulator::Count { column }
        | Accumulator::Sum { column, .. }
        | Accumulator::Min { column, .. }
        | Accumulator::Max { column, .. } => column,
    };
    let value = row.get(column).ok_or(EvalError::Type)?;
    if value.is_null() {
        return Ok(());
    }
    match part.accumulator {
        Accumulator::CountRows | Accumulator::Count { .. } => count(accumulated),
        Accumulator::Sum { number, .. } => sum(number, accumulated, value),
        Accumulator::Min { of, .. } => keep(of, Ordering::Less, accumulated, value),
        Accumulator::Max { of, .. } => keep(of, Ordering::Greater, accumulated, value),
    }
}

/// Adds what another one has accumulated of other rows (`mergeExpressions`). A sum of decimals that has too many digits is null,
/// as in Flink: there is no row at which this could fail.
pub(crate) fn merge(part: &Part, accumulated: &mut Value, other: &Value) -> Result<()> {
    match part.accumulator {
        Accumulator::CountRows | Accumulator::Count { .. } => {
            let (Value::Whole(count), Value::Whole(other)) = (&mut *accumulated, other) else {
                return Err(EvalError::Type);
            };
            *count = count.wrapping_add(*other);
            Ok(())
        }
        _ if other.is_null() => Ok(()),
        Accumulator::Sum { number, .. } => match sum(number, accumulated, other) {
            Err(EvalError::DecimalOverflow) => {
                *accumulated = Value::Null;
                Ok(())
            }
            done => done,
        },
        Accumulator::Min { of, .. } => keep(of, Ordering::Less, accumulated, other),
        Accumulator::Max { of, .. } => keep(of, Ordering::Greater, accumulated, other),
    }
}

fn count(accumulated: &mut Value) -> Result<()> {
    let Value::Whole(count) = accumulated else { return Err(EvalError::Type) };
    *count = count.wrapping_add(1);
    Ok(())
}

fn sum(number: Number, accumulated: &mut Value, value: &Value) -> Result<()> {
    let widened = match (number, value) {
        (Number::Double, Value::Float(value)) => Value::Double(f64::from(*value)),
        (_, value) => value.clone(),
    };
    match (&mut *accumulated, widened) {
        (Value::Null, widened) => *accumulated = widened,
        (Value::Whole(sum), Value::Whole(value)) => *sum = cut(sum.wrapping_add(value), number)?,
        (Value::Float(sum), Value::Float(value)) => *sum += value,
        (Value::Double(sum), Value::Double(value)) => *sum += value,
        (Value::Decimal(sum), Value::Decimal(value)) => {
            let limit = afterbay_edge_plan::power_of_ten(38);
            let total = sum.checked_add(value).filter(|total| total.abs() < limit);
            *sum = total.ok_or(EvalError::DecimalOverflow)?;
        }
        _ => return Err(EvalError::Type),
    }
    Ok(())
}

/// Replaces what is kept by a value that is beyond it. Equal ones and NaNs are not beyond anything.
fn keep(of: Kind, beyond: Ordering, kept: &mut Value, value: &Value) -> Result<()> {
    if kept.is_null() || order(basis(of), value, kept)? == Some(beyond) {
        *kept = value.clone();
    }
    Ok(())
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
