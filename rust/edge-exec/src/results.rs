//! What a windowed aggregate gives in the end, and of which rows.

use afterbay_edge_plan::{GlobalAggregate, Number, Outcome, Value, WindowProperty};

use crate::error::EvalError;
use crate::eval::cut;

type Result<T> = std::result::Result<T, EvalError>;

/// The row of one key and window: key, outcomes, and what it says of the window. `parts` are its accumulators.
pub(crate) fn row_of(
    results: &GlobalAggregate,
    (start, end): (i64, i64),
    key: &[Value],
    parts: &[Value],
) -> Result<Vec<Value>> {
    let mut row = key.to_vec();
    for outcome in &results.outcomes {
        row.push(outcome_of(*outcome, parts)?);
    }
    let property = |property: &WindowProperty| {
        Value::millis(match property {
            WindowProperty::Start => start,
            WindowProperty::End => end,
            WindowProperty::Time => end.wrapping_sub(1),
        })
    };
    row.extend(results.properties.iter().map(property));
    Ok(row)
}

/// Null is at every site: if nothing else says at which one a row is, its group is not of this one alone.
pub(crate) fn check_site(
    results: &GlobalAggregate,
    grouping: &[usize],
    row: &[Value],
) -> Result<()> {
    let says = |&key: &usize| {
        let value = grouping.get(key).and_then(|&column| row.get(column));
        value.is_some_and(|value| !value.is_null())
    };
    if results.local_keys.iter().any(says) {
        Ok(())
    } else {
        Err(EvalError::NoSite { columns: results.local_names.join(", ") })
    }
}

/// What an aggregate gives of its parts.
fn outcome_of(outcome: Outcome, parts: &[Value]) -> Result<Value> {
    let part = |index: usize| parts.get(index).ok_or(EvalError::Type);
    let (sum, count, number) = match outcome {
        Outcome::Part(index) => return part(index).cloned(),
        Outcome::Average { sum, count, number } => (part(sum)?, part(count)?, number),
    };
    match (number, sum, count) {
        (_, _, Value::Whole(0)) => Ok(Value::Null),
        (Number::Float, Value::Double(sum), Value::Whole(count)) => {
            Ok(Value::Float((sum / *count as f64) as f32))
        }
        (Number::Double, Value::Double(sum), Value::Whole(count)) => {
            Ok(Value::Double(sum / *count as f64))
        }
        (number, Value::Whole(sum), Value::Whole(count)) => {
            Ok(Value::Whole(cut(sum.wrapping_div(*count), number)?))
        }
        _ => Err(EvalError::Type),
    }
}
