//! Expressions of a plan: a column, a constant, or the call of a function that is known.

use serde_json::Value as Json;

use crate::error::{Refusal, Result};
use crate::function::Function;
use crate::resolve::resolve;
use crate::strict::{Object, short, text, unlike};
use crate::types::{DataType, Field, Kind, data_type};
use crate::value::{Value, parse_date, parse_decimal, parse_time, parse_timestamp};

/// How deep expressions may be: the interpreter calls itself as deep.
const DEPTH_MAX: usize = 100;

/// What is computed from a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A column of the row.
    Input {
        /// Which one, from 0.
        index: usize,
        /// Its type.
        of: DataType,
    },
    /// A constant.
    Literal {
        /// The value.
        value: Value,
        /// Its type.
        of: DataType,
    },
    /// A function of others.
    Call {
        /// Which one, with all that its operands' types decide.
        function: Function,
        /// Its operands, in order.
        operands: Vec<Expr>,
        /// The type of what it gives.
        of: DataType,
    },
}

impl Expr {
    /// The type of what it gives.
    pub fn of(&self) -> DataType {
        match self {
            Self::Input { of, .. } | Self::Literal { of, .. } | Self::Call { of, .. } => *of,
        }
    }

    /// The kind of what it gives.
    pub fn kind(&self) -> Kind {
        self.of().kind
    }

    /// Whether there may be rows for which it fails. Of decimals, it is assumed.
    pub(crate) fn may_fail(&self) -> bool {
        match self {
            Self::Input { .. } | Self::Literal { .. } => false,
            Self::Call { function, operands, .. } => {
                function.may_fail() || operands.iter().any(Self::may_fail)
            }
        }
    }

    /// Whether it gives the row's column of this number, unchanged.
    pub fn is_input(&self, column: usize) -> bool {
        matches!(self, Self::Input { index, .. } if *index == column)
    }
}

/// An operand as it stands in the plan: symbols and ranges are no values.
#[derive(Debug)]
pub(crate) enum Operand {
    Expr(Expr),
    /// `TRIM` and `BOTH`, for example.
    Symbol {
        kind: String,
        value: String,
    },
    Ranges {
        ranges: Vec<Range>,
        of: DataType,
    },
}

/// Values between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// From where.
    pub lower: Option<Bound>,
    /// Until where.
    pub upper: Option<Bound>,
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Where it is.
    pub value: Value,
    /// Whether it belongs to the range.
    pub closed: bool,
}

/// Reads an expression over these columns.
pub(crate) fn expr(json: &Json, inputs: &[Field], place: &str) -> Result<Expr> {
    match operand(json, inputs, place, 0)? {
        Operand::Expr(expr) => Ok(expr),
        _ => Err(Refusal::new(place, "this is no value")),
    }
}

fn operand(json: &Json, inputs: &[Field], place: &str, depth: usize) -> Result<Operand> {
    if depth > DEPTH_MAX {
        return Err(Refusal::new(place, format!("expressions are at most {DEPTH_MAX} deep")));
    }
    let mut object = Object::new(json, place)?;
    match object.text("kind")? {
        "INPUT_REF" => input(object, inputs, place).map(Operand::Expr),
        "LITERAL" => literal(object, place),
        "CALL" => call(object, inputs, place, depth).map(Operand::Expr),
        other => {
            let what = format!("{other} does not run at a site: INPUT_REF, LITERAL and CALL do");
            Err(Refusal::new(&object.place("kind"), what))
        }
    }
}

fn input(mut object: Object<'_>, inputs: &[Field], place: &str) -> Result<Expr> {
    let index = object.index("inputIndex")?;
    let at = object.place("type");
    let of = data_type(object.required("type")?, &at)?;
    object.end()?;
    let Some(field) = inputs.get(index) else {
        let what = format!("column {index} is needed, and there are {}", inputs.len());
        return Err(Refusal::new(place, what));
    };
    if field.of.kind != of.kind {
        let what = format!("{of} is needed, and column {:?} is {}", field.name, field.of);
        return Err(Refusal::new(&at, what));
    }
    Ok(Expr::Input { index, of })
}

fn literal(mut object: Object<'_>, place: &str) -> Result<Operand> {
    let at = object.place("type");
    let of = object.required("type")?;
    if let Some(kind) = object.optional_text("symbol")? {
        if *of != serde_json::json!({"type": "SYMBOL", "nullable": false}) {
            return Err(unlike(&at, "the type SYMBOL", of));
        }
        let value = object.text("value")?.to_owned();
        let kind = kind.to_owned();
        object.end()?;
        return Ok(Operand::Symbol { kind, value });
    }
    let of = data_type(of, &at)?;
    if let Some(sarg) = object.optional("sarg") {
        let place = object.place("sarg");
        object.end()?;
        return Ok(Operand::Ranges { ranges: ranges(sarg, of, &place)?, of });
    }
    let at = object.place("value");
    let value = object.required("value")?;
    object.end()?;
    let value = constant(value, of, &at)?;
    if value.is_null() && !of.nullable {
        return Err(Refusal::new(place, format!("null is no {of}")));
    }
    Ok(Operand::Expr(Expr::Literal { value, of }))
}

fn ranges(sarg: &Json, of: DataType, place: &str) -> Result<Vec<Range>> {
    let mut object = Object::new(sarg, place)?;
    let at = object.place("ranges");
    let ranges = object.array("ranges")?;
    object.only("nullAs", &"UNKNOWN".into())?;
    object.end()?;
    if ranges.is_empty() {
        return Err(Refusal::new(&at, "at least one range is needed"));
    }
    let range = |(index, range): (usize, &Json)| {
        let mut object = Object::new(range, &format!("{at}[{index}]"))?;
        let lower = bound(&mut object, "lower", of)?;
        let upper = bound(&mut object, "upper", of)?;
        object.end()?;
        Ok(Range { lower, upper })
    };
    ranges.iter().enumerate().map(range).collect()
}

fn bound(range: &mut Object<'_>, name: &str, of: DataType) -> Result<Option<Bound>> {
    let place = range.place(name);
    let Some(bound) = range.optional(name) else { return Ok(None) };
    let mut object = Object::new(bound, &place)?;
    let at = object.place("value");
    let value = constant(object.required("value")?, of, &at)?;
    if value.is_null() {
        return Err(Refusal::new(&at, "a bound is not null"));
    }
    let closed = match object.text("boundType")? {
        "CLOSED" => true,
        "OPEN" => false,
        other => {
            let what = format!("{other} is neither OPEN nor CLOSED");
            return Err(Refusal::new(&object.place("boundType"), what));
        }
    };
    object.end()?;
    Ok(Some(Bound { value, closed }))
}

/// A constant as `RexNodeJsonSerializer` writes it.
fn constant(json: &Json, of: DataType, place: &str) -> Result<Value> {
    if json.is_null() {
        return Ok(Value::Null);
    }
    let refused = || unlike(place, &format!("a {}", of.kind), json);
    let whole = |min: i64, max: i64| {
        let number = json.as_i64().filter(|number| (min..=max).contains(number));
        number.map(Value::Whole).ok_or_else(refused)
    };
    match of.kind {
        Kind::Boolean => json.as_bool().map(Value::Boolean).ok_or_else(refused),
        Kind::TinyInt => whole(i8::MIN.into(), i8::MAX.into()),
        Kind::SmallInt => whole(i16::MIN.into(), i16::MAX.into()),
        Kind::Int => whole(i32::MIN.into(), i32::MAX.into()),
        Kind::BigInt => whole(i64::MIN, i64::MAX),
        Kind::TimestampLtz(_) => {
            let what = "a constant point of time with a zone depends on the session's zone";
            Err(Refusal::new(place, format!("{what}: {}", short(json))))
        }
        kind => text_constant(text(json, place)?, kind).ok_or_else(refused),
    }
}

fn text_constant(text: &str, kind: Kind) -> Option<Value> {
    match kind {
        Kind::Float => decimal_digits(text)?.parse().ok().map(Value::Float),
        Kind::Double => decimal_digits(text)?.parse().ok().map(Value::Double),
        Kind::Decimal { precision, scale } => {
            parse_decimal(text, precision, scale).map(Value::Decimal)
        }
        Kind::Char(_) | Kind::VarChar(_) => Some(Value::text(text)),
        Kind::Date => parse_date(text).map(Value::Whole),
        Kind::Time(_) => match parse_time(text)? {
            (millis, 0) => Some(Value::Whole(millis)),
            _ => None,
        },
        Kind::Timestamp(_) => parse_timestamp(text, ' '),
        Kind::IntervalMillis => text.parse().ok().map(Value::Whole),
        _ => None,
    }
}

/// `BigDecimal`'s: no `inf`, no `NaN`.
fn decimal_digits(text: &str) -> Option<&str> {
    let known = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(known).then_some(text)
}

fn call(mut object: Object<'_>, inputs: &[Field], place: &str, depth: usize) -> Result<Expr> {
    let syntax = object.optional_text("syntax")?.unwrap_or("FUNCTION");
    let name_place = object.place("internalName");
    let Some(name) = object.optional_text("internalName")? else {
        let other = ["systemName", "catalogName"].map(|field| object.optional(field));
        let name = other.into_iter().flatten().next().map_or("without a name".to_owned(), short);
        let what = format!("function {name} is the user's own: only Flink's run at a site");
        return Err(Refusal::new(place, what));
    };
    let operands_place = object.place("operands");
    let operands = object.array("operands")?;
    let at = object.place("type");
    let of = data_type(object.required("type")?, &at)?;
    object.end()?;
    let read = |(index, json): (usize, &Json)| {
        operand(json, inputs, &format!("{operands_place}[{index}]"), depth + 1)
    };
    let operands = operands.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
    resolve(name, syntax, operands, of, &name_place)
}
