//! Conversions of a value that is not null.

use std::borrow::Cow;

use afterbay_edge_plan::{Cast, Kind, Number, Value, decimal_to_double, power_of_ten};

use crate::error::EvalError;
use crate::eval::cut;
use crate::text::first_chars;

type Result<T> = std::result::Result<T, EvalError>;

pub(crate) fn apply(cast: Cast, value: Cow<'_, Value>) -> Result<Value> {
    Ok(match (cast, &*value) {
        (Cast::Same, _) => value.into_owned(),
        (Cast::WholeToWhole(to), Value::Whole(number)) => Value::Whole(low_bits(*number, to)?),
        (Cast::WholeToFloat, Value::Whole(number)) => Value::Float(*number as f32),
        (Cast::WholeToDouble, Value::Whole(number)) => Value::Double(*number as f64),
        (Cast::FloatToDouble, Value::Float(number)) => Value::Double(f64::from(*number)),
        (Cast::DoubleToFloat, Value::Double(number)) => Value::Float(*number as f32),
        (Cast::FloatToWhole(to), Value::Float(number)) => {
            Value::Whole(floating_to_whole(f64::from(*number), to)?)
        }
        (Cast::DoubleToWhole(to), Value::Double(number)) => {
            Value::Whole(floating_to_whole(*number, to)?)
        }
        (Cast::WholeToDecimal { scale }, Value::Whole(number)) => {
            let unscaled = i128::from(*number).checked_mul(power_of_ten(scale));
            Value::Decimal(unscaled.ok_or(EvalError::DecimalOverflow)?)
        }
        (Cast::DecimalToDecimal { from, to }, Value::Decimal(unscaled)) => {
            Value::Decimal(rescale(*unscaled, from, to)?)
        }
        (Cast::DecimalToWhole { scale, to }, Value::Decimal(unscaled)) => {
            Value::Whole(low_bits((unscaled / power_of_ten(scale)) as i64, to)?)
        }
        (Cast::DecimalToDouble { precision, scale }, Value::Decimal(unscaled)) => {
            Value::Double(decimal_to_double(*unscaled, precision, scale))
        }
        (Cast::WholeToBoolean, Value::Whole(number)) => Value::Boolean(*number != 0),
        (Cast::BooleanToWhole, Value::Boolean(value)) => Value::Whole(i64::from(*value)),
        (Cast::WholeToText, Value::Whole(number)) => Value::text(number.to_string()),
        (Cast::BooleanToText, Value::Boolean(value)) => {
            Value::text(if *value { "TRUE" } else { "FALSE" })
        }
        (Cast::CutText(length), Value::Text(text)) => {
            Value::text(first_chars(text, length as usize))
        }
        (Cast::TextToWhole(to), Value::Text(text)) => Value::Whole(text_to_whole(text, to)?),
        (Cast::TextToFloat, Value::Text(text)) => Value::Float(
            java_floating(text)
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| no(text, "FLOAT"))?,
        ),
        (Cast::TextToDouble, Value::Text(text)) => Value::Double(
            java_floating(text)
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| no(text, "DOUBLE"))?,
        ),
        (Cast::TextToBoolean, Value::Text(text)) => Value::Boolean(text_to_boolean(text)?),
        _ => return Err(EvalError::Type),
    })
}

fn no(text: &str, to: &'static str) -> EvalError {
    EvalError::Cast { text: text.to_owned(), to }
}

fn number_of(kind: Kind) -> Result<Number> {
    Ok(match kind {
        Kind::TinyInt => Number::TinyInt,
        Kind::SmallInt => Number::SmallInt,
        Kind::Int => Number::Int,
        Kind::BigInt => Number::BigInt,
        _ => return Err(EvalError::Type),
    })
}

fn low_bits(number: i64, to: Kind) -> Result<i64> {
    cut(number, number_of(to)?)
}

/// Java goes to `int` first, into its range, and cuts that for what is smaller.
fn floating_to_whole(number: f64, to: Kind) -> Result<i64> {
    match to {
        Kind::BigInt => Ok(number as i64),
        to => low_bits(i64::from(number as i32), to),
    }
}

/// Half up, away from zero.
fn rescale(unscaled: i128, from: u8, to: u8) -> Result<i128> {
    if to >= from {
        let factor = power_of_ten(to - from);
        return unscaled.checked_mul(factor).ok_or(EvalError::DecimalOverflow);
    }
    let divisor = power_of_ten(from - to);
    let (quotient, rest) = (unscaled / divisor, unscaled % divisor);
    let up = rest.abs() >= divisor - rest.abs();
    Ok(quotient + if up { unscaled.signum() } else { 0 })
}

/// What `String#trim` takes: everything up to a blank.
pub(crate) fn java_trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// `BinaryStringDataUtil.toInt` and `toLong`: a sign, digits, and perhaps a point and digits that do not count. `.` alone is 0.
/// Only blanks around it are taken away (`BinaryStringData#trim`), not what else `String#trim` takes.
fn text_to_whole(text: &str, to: Kind) -> Result<i64> {
    let name = match to {
        Kind::TinyInt => "TINYINT",
        Kind::SmallInt => "SMALLINT",
        Kind::Int => "INT",
        _ => "BIGINT",
    };
    let refused = || no(text, name);
    let trimmed = text.trim_matches(' ');
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = whole.bytes().chain(fraction.bytes());
    if digits.is_empty() || !all.into_iter().all(|byte| byte.is_ascii_digit()) {
        return Err(refused());
    }
    let signed = &trimmed[..trimmed.len() - digits.len() + whole.len()];
    let number: i64 = if whole.is_empty() { 0 } else { signed.parse().map_err(|_| refused())? };
    let cut = low_bits(number, to)?;
    if cut == number { Ok(number) } else { Err(refused()) }
}

/// A text as Rust's parser wants it, if Java's takes it too: no hexadecimal ones, which are refused.
pub(crate) fn java_floating(text: &str) -> Option<&str> {
    let text = java_trim(text);
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, "NaN" | "Infinity") {
        return Some(text);
    }
    let text = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let known = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(known).then_some(text)
}

fn text_to_boolean(text: &str) -> Result<bool> {
    match text.to_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Ok(true),
        "f" | "false" | "n" | "no" | "0" => Ok(false),
        _ => Err(no(text, "BOOLEAN")),
    }
}
