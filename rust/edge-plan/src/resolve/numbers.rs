//! Comparisons and arithmetic.

use super::Call;
use crate::cast::{cast, widen};
use crate::error::Result;
use crate::expr::Expr;
use crate::function::{Basis, Comparison, Function, Number, Operation};
use crate::types::Kind;

pub(super) fn compare(
    call: &Call<'_>,
    comparison: Comparison,
    operands: Vec<Expr>,
) -> Result<Expr> {
    let Some((basis, operands)) = comparable(operands.clone()) else {
        return call.no_form(&operands);
    };
    call.gives(Kind::Boolean, Function::Compare { comparison, basis }, operands)
}

/// Both operands as one type, and how they are compared: `generateComparison`, and Java's rules for two numbers.
pub(super) fn comparable(operands: Vec<Expr>) -> Option<(Basis, Vec<Expr>)> {
    let (left, right) = (operands[0].kind(), operands[1].kind());
    let basis = basis(left, right)?;
    let kind = match basis {
        Basis::Float => Kind::Float,
        Basis::Double | Basis::DoubleInOrder => Kind::Double,
        Basis::Decimal { .. } => {
            let operands = operands.into_iter().map(as_decimal).collect::<Option<Vec<_>>>()?;
            return Some((basis, operands));
        }
        _ => return Some((basis, operands)),
    };
    let operands = operands.into_iter().map(|operand| widen(operand, kind));
    Some((basis, operands.collect::<Option<Vec<_>>>()?))
}

fn basis(left: Kind, right: Kind) -> Option<Basis> {
    let one = |is: fn(Kind) -> bool| is(left) || is(right);
    let both = |is: fn(Kind) -> bool| is(left) && is(right);
    if both(Kind::is_number) {
        return Some(if one(Kind::is_decimal) {
            if one(Kind::is_approximate) {
                Basis::DoubleInOrder
            } else {
                Basis::Decimal { left: scale(left), right: scale(right) }
            }
        } else if left == Kind::Double || right == Kind::Double {
            Basis::Double
        } else if one(Kind::is_approximate) {
            Basis::Float
        } else {
            Basis::Whole
        });
    }
    if both(Kind::is_text) {
        return Some(Basis::Text);
    }
    match (left, right) {
        (Kind::Boolean, Kind::Boolean) => Some(Basis::Boolean),
        (Kind::Date, Kind::Date)
        | (Kind::Time(_), Kind::Time(_))
        | (Kind::IntervalMillis, Kind::IntervalMillis) => Some(Basis::Whole),
        (Kind::Timestamp(_), Kind::Timestamp(_))
        | (Kind::TimestampLtz(_), Kind::TimestampLtz(_)) => Some(Basis::Timestamp),
        _ => None,
    }
}

/// Digits behind the point of a `DECIMAL`; whole numbers have none.
fn scale(kind: Kind) -> u8 {
    if let Kind::Decimal { scale, .. } = kind { scale } else { 0 }
}

/// A whole number as a decimal of its size.
fn as_decimal(operand: Expr) -> Option<Expr> {
    if operand.kind().is_decimal() {
        return Some(operand);
    }
    let precision = operand.kind().whole_digits()?;
    cast(operand, Kind::Decimal { precision, scale: 0 }, false)
}

pub(super) fn arithmetic(
    call: &Call<'_>,
    operation: Operation,
    operands: Vec<Expr>,
) -> Result<Expr> {
    let (left, right) = (operands[0].kind(), operands[1].kind());
    if left.is_timestamp() && right == Kind::IntervalMillis {
        let back = match operation {
            Operation::Plus => false,
            Operation::Minus => true,
            _ => return call.no_form(&operands),
        };
        return call.gives(left, Function::Shift { back }, operands);
    }
    match call.of.kind {
        Kind::Decimal { precision, scale } => {
            decimal_arithmetic(call, operation, operands, precision, scale)
        }
        kind => {
            let widened = operands.iter().cloned().map(|operand| widen(operand, kind));
            match (Number::of(kind), widened.collect::<Option<Vec<_>>>()) {
                (Some(number), Some(operands)) => {
                    call.make(Function::Arithmetic { operation, number }, operands)
                }
                _ => call.no_form(&operands),
            }
        }
    }
}

/// Sums and products whose type has all the digits they need: 38 at most. With fewer, Flink rounds or gives null.
fn decimal_arithmetic(
    call: &Call<'_>,
    operation: Operation,
    operands: Vec<Expr>,
    precision: u8,
    scale: u8,
) -> Result<Expr> {
    let shape = |operand: &Expr| match operand.kind() {
        Kind::Decimal { precision, scale } => Some((precision, scale)),
        kind if kind.is_whole_number() => kind.whole_digits().map(|digits| (digits, 0)),
        _ => None,
    };
    let (Some((left_digits, left)), Some((right_digits, right))) =
        (shape(&operands[0]), shape(&operands[1]))
    else {
        return call.no_form(&operands);
    };
    let needed = match operation {
        Operation::Plus | Operation::Minus => {
            let scale = left.max(right);
            ((left_digits - left).max(right_digits - right) + scale + 1, scale)
        }
        Operation::Times => (left_digits + right_digits, left + right),
        Operation::Divide | Operation::Remainder => return call.no_form(&operands),
    };
    let exact = needed.0 <= precision && needed.1 == scale;
    let decimals = operands.iter().cloned().map(as_decimal).collect::<Option<Vec<_>>>();
    match decimals {
        Some(operands) if exact => {
            let number = Number::Decimal { left, right };
            call.make(Function::Arithmetic { operation, number }, operands)
        }
        _ => call.no_form(&operands),
    }
}

/// `MOD` has the type of its right side: Java computes with the wider one, and cuts.
pub(super) fn remainder(call: &Call<'_>, operands: Vec<Expr>) -> Result<Expr> {
    let whole = operands.iter().all(|operand| operand.kind().is_whole_number());
    match Number::of(call.of.kind) {
        Some(number) if whole && call.of.kind.is_whole_number() => {
            let operation = Operation::Remainder;
            call.make(Function::Arithmetic { operation, number }, operands)
        }
        _ => call.no_form(&operands),
    }
}

pub(super) fn unary(
    call: &Call<'_>,
    function: fn(Number) -> Function,
    operands: Vec<Expr>,
) -> Result<Expr> {
    let kind = operands[0].kind();
    match Number::of(kind) {
        // Of decimals, -x and |x| only: FLOOR and CEIL have another type.
        Some(number)
            if !kind.is_decimal()
                || matches!(function(number), Function::Negate(_) | Function::Absolute(_)) =>
        {
            call.gives(kind, function(number), operands)
        }
        _ => call.no_form(&operands),
    }
}
