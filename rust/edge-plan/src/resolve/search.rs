//! `IN` and `BETWEEN` of constants.

use super::Call;
use super::numbers::comparable;
use crate::error::Result;
use crate::expr::{Bound, Expr, Operand, Range};
use crate::function::Function;
use crate::types::{DataType, Kind};
use crate::value::Value;

/// `x IN (1, 2)` and `x BETWEEN 1 AND 2`.
pub(super) fn search(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
    let mut operands = operands.into_iter();
    let (Some(Operand::Expr(operand)), Some(Operand::Ranges { ranges, of }), None) =
        (operands.next(), operands.next(), operands.next())
    else {
        return call.refuse("a value and its ranges are needed");
    };
    let points = ranges.iter().all(is_point) || ranges.iter().all(is_gap);
    // Points are found in a set by their bits, in which −0.0 is not 0.0 and a NaN is found.
    if points && (operand.kind().is_approximate() || of.kind.is_approximate()) {
        return call.refuse("single FLOATs and DOUBLEs are not looked for at a site: ranges are");
    }
    let constant = Expr::Literal { value: Value::Null, of: DataType { nullable: true, ..of } };
    let Some((basis, mut both)) = comparable(vec![operand.clone(), constant]) else {
        return call.refuse(format!("{} is not compared with {}", operand.kind(), of.kind));
    };
    let bound_cast = both.pop();
    let Some(operand) = both.pop() else { return call.refuse("a value is needed") };
    let to = bound_cast.map_or(of.kind, |bound| bound.kind());
    let convert = |range: Range| {
        let bound = |bound: Option<Bound>| {
            let of_bound = |bound: Bound| {
                let value = constant_as(bound.value, of.kind, to)?;
                Some(Bound { value, ..bound })
            };
            match bound {
                None => Some(None),
                Some(bound) => of_bound(bound).map(Some),
            }
        };
        Some(Range { lower: bound(range.lower)?, upper: bound(range.upper)? })
    };
    match ranges.into_iter().map(convert).collect::<Option<Vec<_>>>() {
        Some(ranges) => {
            call.gives(Kind::Boolean, Function::Search { ranges, basis }, vec![operand])
        }
        None => call.refuse(format!("{} is not compared with {}", operand.kind(), of.kind)),
    }
}

fn is_point(range: &Range) -> bool {
    match (&range.lower, &range.upper) {
        (Some(lower), Some(upper)) => lower.closed && upper.closed && lower.value == upper.value,
        _ => false,
    }
}

/// What is between points.
fn is_gap(range: &Range) -> bool {
    let open = |bound: &Option<Bound>| bound.as_ref().is_none_or(|bound| !bound.closed);
    open(&range.lower) && open(&range.upper)
}

/// A constant of one number type as one of another.
fn constant_as(value: Value, from: Kind, to: Kind) -> Option<Value> {
    if from == to {
        return Some(value);
    }
    match (value, from, to) {
        (Value::Whole(number), _, Kind::Double) => Some(Value::Double(number as f64)),
        (Value::Whole(number), _, Kind::Float) => Some(Value::Float(number as f32)),
        (Value::Whole(number), _, Kind::Decimal { scale: 0, .. }) => {
            Some(Value::Decimal(number.into()))
        }
        (Value::Float(number), _, Kind::Double) => Some(Value::Double(number.into())),
        (Value::Decimal(unscaled), Kind::Decimal { precision, scale }, Kind::Double) => {
            Some(Value::Double(crate::cast::decimal_to_double(unscaled, precision, scale)))
        }
        _ => None,
    }
}
