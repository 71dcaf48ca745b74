//! A text as a value of a type.

use afterbay_edge_plan::{Kind, Value, parse_date, parse_decimal, parse_time, parse_timestamp};

use crate::cast::{java_floating, java_trim};

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    /// `2026-01-31 10:00:00.123`, and a `Z` behind it with a zone.
    Sql,
    /// `2026-01-31T10:00:00.123`, and a `Z` behind it with a zone.
    Iso,
}

pub(crate) fn switch(value: &str) -> Result<bool, &'static str> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("true and false are allowed"),
    }
}

/// A text as it stands in a JSON string or a CSV field.
pub(crate) fn parse(text: &str, kind: Kind, times: Times) -> Result<Value, String> {
    let value = match kind {
        Kind::Char(_) | Kind::VarChar(_) => Some(Value::text(text)),
        // Java's `parseBoolean` knows no error.
        Kind::Boolean => Some(Value::Boolean(java_trim(text).eq_ignore_ascii_case("true"))),
        Kind::TinyInt => whole(text, i8::MIN.into(), i8::MAX.into()),
        Kind::SmallInt => whole(text, i16::MIN.into(), i16::MAX.into()),
        Kind::Int => whole(text, i32::MIN.into(), i32::MAX.into()),
        Kind::BigInt => whole(text, i64::MIN, i64::MAX),
        Kind::Float => java_floating(text).and_then(|text| text.parse().ok()).map(Value::Float),
        Kind::Double => java_floating(text).and_then(|text| text.parse().ok()).map(Value::Double),
        Kind::Decimal { precision, scale } => decimal(text, precision, scale),
        Kind::Date => parse_date(text).map(Value::Whole),
        // Flink's formats cut what is below a second.
        Kind::Time(_) => parse_time(text).map(|(millis, _)| Value::Whole(millis / 1000 * 1000)),
        Kind::Timestamp(precision) => timestamp(text, precision, times),
        Kind::TimestampLtz(precision) => {
            text.strip_suffix('Z').and_then(|text| timestamp(text, precision, times))
        }
        Kind::IntervalMillis => None,
    };
    value.ok_or_else(|| format!("{text:?} is no {kind}{}", example(kind, times)))
}

fn example(kind: Kind, times: Times) -> &'static str {
    match (kind, times) {
        (Kind::Timestamp(_), Times::Sql) => " such as 2026-01-31 10:00:00.123",
        (Kind::Timestamp(_), Times::Iso) => " such as 2026-01-31T10:00:00.123",
        (Kind::TimestampLtz(_), Times::Sql) => " such as 2026-01-31 10:00:00.123Z",
        (Kind::TimestampLtz(_), Times::Iso) => " such as 2026-01-31T10:00:00.123Z",
        _ => "",
    }
}

/// `Integer.parseInt` and its like: a sign and digits.
fn whole(text: &str, min: i64, max: i64) -> Option<Value> {
    let number = java_trim(text).parse().ok();
    number.filter(|number| (min..=max).contains(number)).map(Value::Whole)
}

/// `DecimalData.fromBigDecimal`: half up, and null for what has too many digits.
pub(crate) fn decimal(text: &str, precision: u8, scale: u8) -> Option<Value> {
    if let Some(unscaled) = parse_decimal(text, precision, scale) {
        return Some(Value::Decimal(unscaled));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let digits = mantissa.replacen('.', "", 1);
    let is_number = !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && exponent.parse::<i32>().is_ok();
    is_number.then_some(Value::Null)
}

/// With the digits that the type has, at least ms: below that, Flink's rows keep nothing of a short type.
fn timestamp(text: &str, precision: u8, times: Times) -> Option<Value> {
    const MILLIS_DIGITS: u8 = 3;
    let between = if times == Times::Sql { ' ' } else { 'T' };
    match parse_timestamp(text, between)? {
        Value::Timestamp { millis, .. } if precision <= MILLIS_DIGITS => {
            Some(Value::millis(millis))
        }
        value => Some(value),
    }
}
