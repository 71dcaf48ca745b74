//! Functions of times.

use super::Call;
use crate::error::Result;
use crate::expr::{Expr, Operand};
use crate::function::{Function, TimeField};
use crate::types::Kind;
use crate::value::Value;

/// A unit, and a value that it is taken of.
fn of_unit(
    call: &Call<'_>,
    unit: Option<Operand>,
    value: Option<Operand>,
) -> Result<(String, Expr)> {
    match (unit, value) {
        (Some(Operand::Symbol { kind, value: unit }), Some(Operand::Expr(value)))
            if kind == "TIME_UNIT_RANGE" =>
        {
            Ok((unit, value))
        }
        _ => call.refuse("a unit of time and a value are needed"),
    }
}

pub(super) fn extract(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
    let mut operands = operands.into_iter();
    let (unit, value) = of_unit(call, operands.next(), operands.next())?;
    let is_timestamp = matches!(value.kind(), Kind::Timestamp(_));
    let field = match unit.as_str() {
        "YEAR" => TimeField::Year,
        "MONTH" => TimeField::Month,
        "DAY" => TimeField::Day,
        "HOUR" if is_timestamp => TimeField::OfDay { of: 86_400_000, unit: 3_600_000 },
        "MINUTE" if is_timestamp => TimeField::OfDay { of: 3_600_000, unit: 60_000 },
        "SECOND" if is_timestamp => TimeField::OfDay { of: 60_000, unit: 1000 },
        _ => return call.refuse(format!("{unit} of {} does not run at a site", value.kind())),
    };
    if operands.next().is_some() || !(is_timestamp || value.kind() == Kind::Date) {
        return call.no_form(&[value]);
    }
    call.gives(Kind::BigInt, Function::Extract(field), vec![value])
}

pub(super) fn floor_to(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
    let mut operands = operands.into_iter();
    let value = operands.next();
    let (unit, value) = of_unit(call, operands.next(), value)?;
    let millis = match unit.as_str() {
        "SECOND" => 1000,
        "MINUTE" => 60_000,
        "HOUR" => 3_600_000,
        "DAY" => 86_400_000,
        _ => return call.refuse(format!("TO {unit} does not run at a site")),
    };
    if !matches!(value.kind(), Kind::Timestamp(_)) {
        return call.no_form(&[value]);
    }
    let kind = value.kind();
    call.gives(kind, Function::FloorTo(millis), vec![value])
}

pub(super) fn to_timestamp_ltz(call: &Call<'_>, mut operands: Vec<Expr>) -> Result<Expr> {
    let millis = match &operands[1] {
        Expr::Literal { value: Value::Whole(3), .. } => true,
        Expr::Literal { value: Value::Whole(0), .. } => false,
        _ => return call.refuse("the number of digits is 0 or 3"),
    };
    if !operands[0].kind().is_whole_number() {
        return call.no_form(&operands);
    }
    operands.truncate(1);
    call.gives(Kind::TimestampLtz(3), Function::ToTimestampLtz { millis }, operands)
}
