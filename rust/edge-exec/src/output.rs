//! Rows as JSON arrays, from which every value can be read back exactly.

use std::fmt::Write;

use afterbay_edge_plan::{Field, Kind, MILLIS_PER_DAY, Value, date_of};

/// Writes a row as an array, in the order of its columns.
///
/// Whole numbers, `FLOAT` and `DOUBLE` are numbers (the shortest that is read back alike), but `"NaN"`, `"Infinity"` and
/// `"-Infinity"`; `BOOLEAN` is one; everything else is a string as Flink's JSON format writes it: `DECIMAL` with all its digits
/// behind the point, `2026-01-31`, `10:00:00`, `2026-01-31 10:00:00.123`, and a `Z` behind it with a zone.
pub fn write_row(fields: &[Field], row: &[Value], out: &mut String) {
    out.push('[');
    for (index, (field, value)) in fields.iter().zip(row).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(field.of.kind, value, out);
    }
    out.push(']');
}

fn write_value(kind: Kind, value: &Value, out: &mut String) {
    // Writing into a string does not fail.
    let _ = match value {
        Value::Null => out.write_str("null"),
        Value::Boolean(value) => write!(out, "{value}"),
        Value::Whole(days) if kind == Kind::Date => {
            out.push('"');
            date(*days, out);
            out.write_str("\"")
        }
        Value::Whole(millis) if matches!(kind, Kind::Time(_)) => {
            out.push('"');
            time(*millis, 0, out);
            out.write_str("\"")
        }
        Value::Whole(number) => write!(out, "{number}"),
        Value::Float(number) if number.is_finite() => text_of(number, out),
        Value::Float(number) => infinite(f64::from(*number), out),
        Value::Double(number) if number.is_finite() => text_of(number, out),
        Value::Double(number) => infinite(*number, out),
        Value::Decimal(unscaled) => decimal(*unscaled, kind, out),
        Value::Text(text) => text_of(text, out),
        Value::Timestamp { millis, nanos } => {
            out.push('"');
            date(millis.div_euclid(MILLIS_PER_DAY), out);
            out.push(' ');
            time(millis.rem_euclid(MILLIS_PER_DAY), *nanos, out);
            out.write_str(if matches!(kind, Kind::TimestampLtz(_)) { "Z\"" } else { "\"" })
        }
    };
}

fn text_of(value: &(impl serde::Serialize + ?Sized), out: &mut String) -> std::fmt::Result {
    out.write_str(&serde_json::to_string(value).map_err(|_| std::fmt::Error)?)
}

fn infinite(number: f64, out: &mut String) -> std::fmt::Result {
    out.write_str(if number.is_nan() {
        "\"NaN\""
    } else if number > 0.0 {
        "\"Infinity\""
    } else {
        "\"-Infinity\""
    })
}

fn decimal(unscaled: i128, kind: Kind, out: &mut String) -> std::fmt::Result {
    let scale = if let Kind::Decimal { scale, .. } = kind { usize::from(scale) } else { 0 };
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let point = if scale > 0 { "." } else { "" };
    write!(out, "\"{sign}{whole}{point}{fraction}\"")
}

fn date(days: i64, out: &mut String) {
    let (year, month, day) = date_of(days);
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
}

fn time(millis: i64, nanos: u32, out: &mut String) {
    let seconds = millis / 1000;
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = format!("{:03}{nanos:06}", millis % 1000);
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        let _ = write!(out, ".{fraction}");
    }
}
