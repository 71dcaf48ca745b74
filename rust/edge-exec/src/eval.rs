//! Expressions, row by row, as Flink's generated Java computes them.
//!
//! Whole numbers wrap around, their division cuts towards zero; comparisons of floating numbers are Java's; AND and OR know a
//! third value. Where `edge-plan` has resolved a function, nothing is decided here but by values.

use std::borrow::Cow;
use std::cmp::Ordering;

use afterbay_edge_plan::{
    Basis, Comparison, Expr, Function, MILLIS_PER_DAY, Number, Operation, Range, TimeField, Value,
    date_of,
};

use crate::cast;
use crate::error::EvalError;
use crate::text;

type Result<T> = std::result::Result<T, EvalError>;

/// The value of an expression for a row.
///
/// # Errors
/// See [`EvalError`].
pub fn eval<'a>(expr: &'a Expr, row: &'a [Value]) -> Result<Cow<'a, Value>> {
    match expr {
        Expr::Input { index, .. } => row.get(*index).map(Cow::Borrowed).ok_or(EvalError::Type),
        Expr::Literal { value, .. } => Ok(Cow::Borrowed(value)),
        Expr::Call { function, operands, .. } => call(function, operands, row),
    }
}

/// Whether a condition is true: null is not.
///
/// # Errors
/// See [`EvalError`].
pub fn holds(expr: &Expr, row: &[Value]) -> Result<bool> {
    Ok(matches!(*eval(expr, row)?, Value::Boolean(true)))
}

fn call<'a>(
    function: &'a Function,
    operands: &'a [Expr],
    row: &'a [Value],
) -> Result<Cow<'a, Value>> {
    let value = match function {
        Function::And => return three_valued(operands, row, false),
        Function::Or => return three_valued(operands, row, true),
        Function::Case => return case(operands, row),
        Function::Coalesce => return coalesce(operands, row),
        Function::IsNull => Value::Boolean(first(operands, row)?.is_null()),
        Function::IsNotNull => Value::Boolean(!first(operands, row)?.is_null()),
        Function::IsTrue => Value::Boolean(is(operands, row, true)?),
        Function::IsNotTrue => Value::Boolean(!is(operands, row, true)?),
        Function::IsFalse => Value::Boolean(is(operands, row, false)?),
        Function::IsNotFalse => Value::Boolean(!is(operands, row, false)?),
        Function::Concat => text::concat(operands, row)?,
        Function::Substring => text::substring(operands, row)?,
        Function::Compare { comparison, basis } => {
            let (left, right) = two(operands, row)?;
            compare(*comparison, *basis, &left, &right)?
        }
        Function::Arithmetic { operation, number } => {
            let (left, right) = two(operands, row)?;
            arithmetic(*operation, *number, &left, &right)?
        }
        Function::Shift { back } => {
            let (left, right) = two(operands, row)?;
            shift(&left, &right, *back)?
        }
        function => {
            let value = first(operands, row)?;
            if value.is_null() { Value::Null } else { unary(function, value)? }
        }
    };
    Ok(Cow::Owned(value))
}

fn first<'a>(operands: &'a [Expr], row: &'a [Value]) -> Result<Cow<'a, Value>> {
    eval(operands.first().ok_or(EvalError::Type)?, row)
}

fn two<'a>(operands: &'a [Expr], row: &'a [Value]) -> Result<(Cow<'a, Value>, Cow<'a, Value>)> {
    match operands {
        [left, right] => Ok((eval(left, row)?, eval(right, row)?)),
        _ => Err(EvalError::Type),
    }
}

fn is(operands: &[Expr], row: &[Value], expected: bool) -> Result<bool> {
    Ok(matches!(*first(operands, row)?, Value::Boolean(found) if found == expected))
}

/// AND ends with the first false, OR with the first true: `decides`.
fn three_valued<'a>(
    operands: &'a [Expr],
    row: &'a [Value],
    decides: bool,
) -> Result<Cow<'a, Value>> {
    let mut unknown = false;
    for operand in operands {
        match *eval(operand, row)? {
            Value::Boolean(value) if value == decides => {
                return Ok(Cow::Owned(Value::Boolean(decides)));
            }
            Value::Boolean(_) => {}
            Value::Null => unknown = true,
            _ => return Err(EvalError::Type),
        }
    }
    Ok(Cow::Owned(if unknown { Value::Null } else { Value::Boolean(!decides) }))
}

fn case<'a>(operands: &'a [Expr], row: &'a [Value]) -> Result<Cow<'a, Value>> {
    let mut rest = operands;
    loop {
        match rest {
            [otherwise] => return eval(otherwise, row),
            [condition, value, others @ ..] => {
                if holds(condition, row)? {
                    return eval(value, row);
                }
                rest = others;
            }
            [] => return Err(EvalError::Type),
        }
    }
}

fn coalesce<'a>(operands: &'a [Expr], row: &'a [Value]) -> Result<Cow<'a, Value>> {
    for operand in operands {
        let value = eval(operand, row)?;
        if !value.is_null() {
            return Ok(value);
        }
    }
    Ok(Cow::Owned(Value::Null))
}

fn compare(comparison: Comparison, basis: Basis, left: &Value, right: &Value) -> Result<Value> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    // None: at least one of them is a NaN, which is unequal to all.
    let ordering = order(basis, left, right)?;
    let holds = match comparison {
        Comparison::Equal => ordering == Some(Ordering::Equal),
        Comparison::Unequal => ordering != Some(Ordering::Equal),
        Comparison::Less => ordering == Some(Ordering::Less),
        Comparison::AtMost => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => ordering == Some(Ordering::Greater),
        Comparison::AtLeast => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
    };
    Ok(Value::Boolean(holds))
}

pub(crate) fn order(basis: Basis, left: &Value, right: &Value) -> Result<Option<Ordering>> {
    Ok(match (basis, left, right) {
        (Basis::Whole, Value::Whole(left), Value::Whole(right)) => Some(left.cmp(right)),
        (Basis::Float, Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Basis::Double, Value::Double(left), Value::Double(right)) => left.partial_cmp(right),
        (Basis::DoubleInOrder, Value::Double(left), Value::Double(right)) => {
            Some(double_compare(*left, *right))
        }
        (Basis::Decimal { left: a, right: b }, Value::Decimal(left), Value::Decimal(right)) => {
            Some(compare_decimals(*left, a, *right, b))
        }
        (Basis::Text, Value::Text(left), Value::Text(right)) => {
            Some(left.as_bytes().cmp(right.as_bytes()))
        }
        (Basis::Boolean, Value::Boolean(left), Value::Boolean(right)) => Some(left.cmp(right)),
        (
            Basis::Timestamp,
            Value::Timestamp { millis: left, nanos: left_nanos },
            Value::Timestamp { millis: right, nanos: right_nanos },
        ) => Some((left, left_nanos).cmp(&(right, right_nanos))),
        _ => return Err(EvalError::Type),
    })
}

/// `Double.compare`: all NaNs are one, above infinity.
fn double_compare(left: f64, right: f64) -> Ordering {
    let canonical = |number: f64| if number.is_nan() { f64::NAN.abs() } else { number };
    canonical(left).total_cmp(&canonical(right))
}

/// Exactly, also where the digits of both together are too many for 128 bits.
fn compare_decimals(left: i128, left_scale: u8, right: i128, right_scale: u8) -> Ordering {
    use afterbay_edge_plan::power_of_ten;
    if left_scale > right_scale {
        return compare_decimals(right, right_scale, left, left_scale).reverse();
    }
    let factor = power_of_ten(right_scale - left_scale);
    let whole = right.div_euclid(factor);
    left.cmp(&whole).then_with(|| 0.cmp(&right.rem_euclid(factor)))
}

fn arithmetic(operation: Operation, number: Number, left: &Value, right: &Value) -> Result<Value> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    match (left, right, number) {
        (Value::Whole(left), Value::Whole(right), number) => {
            Ok(Value::Whole(cut(whole(operation, *left, *right)?, number)?))
        }
        (Value::Float(left), Value::Float(right), Number::Float) => {
            Ok(Value::Float(floating(operation, *left, *right)))
        }
        (Value::Double(left), Value::Double(right), Number::Double) => {
            Ok(Value::Double(floating(operation, *left, *right)))
        }
        (Value::Decimal(left), Value::Decimal(right), Number::Decimal { left: a, right: b }) => {
            decimal(operation, (*left, a), (*right, b))
        }
        _ => Err(EvalError::Type),
    }
}

/// Of 64 bits: the low bits of fewer are the same, but for a quotient, which only overflows where it is cut anyway.
fn whole(operation: Operation, left: i64, right: i64) -> Result<i64> {
    Ok(match operation {
        Operation::Plus => left.wrapping_add(right),
        Operation::Minus => left.wrapping_sub(right),
        Operation::Times => left.wrapping_mul(right),
        Operation::Divide | Operation::Remainder if right == 0 => {
            return Err(EvalError::DivisionByZero);
        }
        Operation::Divide => left.wrapping_div(right),
        Operation::Remainder => left.wrapping_rem(right),
    })
}

/// The low bits, as Java's casts leave them.
pub(crate) fn cut(number: i64, to: Number) -> Result<i64> {
    Ok(match to {
        Number::TinyInt => i64::from(number as i8),
        Number::SmallInt => i64::from(number as i16),
        Number::Int => i64::from(number as i32),
        Number::BigInt => number,
        _ => return Err(EvalError::Type),
    })
}

fn floating<F>(operation: Operation, left: F, right: F) -> F
where
    F: std::ops::Add<Output = F>
        + std::ops::Sub<Output = F>
        + std::ops::Mul<Output = F>
        + std::ops::Div<Output = F>
        + std::ops::Rem<Output = F>,
{
    match operation {
        Operation::Plus => left + right,
        Operation::Minus => left - right,
        Operation::Times => left * right,
        Operation::Divide => left / right,
        Operation::Remainder => left % right,
    }
}

fn decimal(operation: Operation, left: (i128, u8), right: (i128, u8)) -> Result<Value> {
    use afterbay_edge_plan::power_of_ten;
    let scale = left.1.max(right.1);
    let scaled = |(number, from): (i128, u8)| number.checked_mul(power_of_ten(scale - from));
    let result = match operation {
        Operation::Plus => scaled(left).zip(scaled(right)).and_then(|(a, b)| a.checked_add(b)),
        Operation::Minus => scaled(left).zip(scaled(right)).and_then(|(a, b)| a.checked_sub(b)),
        Operation::Times => left.0.checked_mul(right.0),
        Operation::Divide | Operation::Remainder => return Err(EvalError::Type),
    };
    result.map(Value::Decimal).ok_or(EvalError::DecimalOverflow)
}

fn shift(left: &Value, right: &Value, back: bool) -> Result<Value> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Timestamp { millis, nanos }, Value::Whole(by)) => {
            let millis = if back { millis.wrapping_sub(*by) } else { millis.wrapping_add(*by) };
            Ok(Value::Timestamp { millis, nanos: *nanos })
        }
        _ => Err(EvalError::Type),
    }
}

/// Functions of one value, which is not null.
fn unary(function: &Function, value: Cow<'_, Value>) -> Result<Value> {
    match (function, &*value) {
        (Function::Not, Value::Boolean(value)) => Ok(Value::Boolean(!value)),
        (Function::Negate(number), Value::Whole(value)) => {
            Ok(Value::Whole(cut(value.wrapping_neg(), *number)?))
        }
        (Function::Negate(_), Value::Float(value)) => Ok(Value::Float(-value)),
        (Function::Negate(_), Value::Double(value)) => Ok(Value::Double(-value)),
        (Function::Absolute(number), Value::Whole(value)) => {
            Ok(Value::Whole(cut(value.wrapping_abs(), *number)?))
        }
        (Function::Absolute(_), Value::Float(value)) => Ok(Value::Float(value.abs())),
        (Function::Absolute(_), Value::Double(value)) => Ok(Value::Double(value.abs())),
        (Function::Negate(_), Value::Decimal(value)) => Ok(Value::Decimal(-value)),
        (Function::Absolute(_), Value::Decimal(value)) => Ok(Value::Decimal(value.abs())),
        (Function::Floor(_) | Function::Ceiling(_), Value::Whole(value)) => {
            Ok(Value::Whole(*value))
        }
        (Function::Floor(_), Value::Float(value)) => Ok(Value::Float(value.floor())),
        (Function::Floor(_), Value::Double(value)) => Ok(Value::Double(value.floor())),
        (Function::Ceiling(_), Value::Float(value)) => Ok(Value::Float(value.ceil())),
        (Function::Ceiling(_), Value::Double(value)) => Ok(Value::Double(value.ceil())),
        (Function::ToTimestampLtz { millis }, Value::Whole(value)) => {
            Ok(to_timestamp(*value, if *millis { 1 } else { 1000 }))
        }
        (Function::Extract(field), Value::Timestamp { millis, .. }) => {
            Ok(Value::Whole(match field {
                TimeField::OfDay { of, unit } => millis % of / unit,
                field => of_calendar(*field, millis / MILLIS_PER_DAY),
            }))
        }
        (Function::Extract(field), Value::Whole(days)) => {
            Ok(Value::Whole(of_calendar(*field, *days)))
        }
        (Function::FloorTo(unit), Value::Timestamp { millis, .. }) => {
            Ok(Value::millis(millis.wrapping_sub(millis.rem_euclid(*unit))))
        }
        (Function::Search { ranges, basis }, value) => search(ranges, *basis, value),
        (Function::Cast { cast, or_null }, _) => match cast::apply(*cast, value) {
            Err(_) if *or_null => Ok(Value::Null),
            result => result,
        },
        (function, Value::Text(text)) => text::unary(function, text),
        _ => Err(EvalError::Type),
    }
}

/// Null beyond the years 0 to 9999 (`DateTimeUtils.toTimestampData`).
fn to_timestamp(value: i64, millis: i64) -> Value {
    const MIN: i64 = -62_167_219_200_000;
    const MAX: i64 = 253_402_300_799_999;
    match value.checked_mul(millis) {
        Some(millis @ MIN..=MAX) => Value::millis(millis),
        _ => Value::Null,
    }
}

fn of_calendar(field: TimeField, days: i64) -> i64 {
    let (year, month, day) = date_of(days);
    match field {
        TimeField::Year => year,
        TimeField::Month => month.into(),
        TimeField::Day | TimeField::OfDay { .. } => day.into(),
    }
}

fn search(ranges: &[Range], basis: Basis, value: &Value) -> Result<Value> {
    let flipped = match basis {
        Basis::Decimal { left, right } => Basis::Decimal { left: right, right: left },
        basis => basis,
    };
    for range in ranges {
        let above = match &range.lower {
            None => true,
            Some(bound) => match order(flipped, &bound.value, value)? {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => bound.closed,
                _ => false,
            },
        };
        let below = match &range.upper {
            None => true,
            Some(bound) => match order(basis, value, &bound.value)? {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => bound.closed,
                _ => false,
            },
        };
        if above && below {
            return Ok(Value::Boolean(true));
        }
    }
    Ok(Value::Boolean(false))
}
