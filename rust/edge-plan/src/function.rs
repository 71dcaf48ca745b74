//! The functions that run at a site. Each is resolved by its name, its syntax and its operands' types to exactly what
//! Flink's generated code does (`ScalarOperatorGens` and the call generators beside it); what is not here is refused.

use crate::cast::{Cast, cast, coerce, widen};
use crate::error::{Refusal, Result};
use crate::expr::{Bound, Expr, Operand, Range};
use crate::pattern::Pattern;
use crate::types::{DataType, Kind};
use crate::value::Value;

/// A function, with all that is decided before the first row.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// `=`, `<` and their like. Null if an operand is.
    Compare {
        /// Which one.
        comparison: Comparison,
        /// As what the operands are compared, which both of them are.
        basis: Basis,
    },
    /// Three-valued, from left to right: what comes after a false is not computed.
    And,
    /// Three-valued, from left to right: what comes after a true is not computed.
    Or,
    /// Three-valued.
    Not,
    /// Never null, as the five below.
    IsNull,
    /// Not `IS NULL`.
    IsNotNull,
    /// Null is not true.
    IsTrue,
    /// Not `IS TRUE`.
    IsNotTrue,
    /// Null is not false.
    IsFalse,
    /// Not `IS FALSE`.
    IsNotFalse,
    /// `+ - * / %` of two operands of one number type, by Java's rules: whole numbers wrap around, a division of whole numbers by
    /// zero is an error, of others infinite.
    Arithmetic {
        /// Which one.
        operation: Operation,
        /// Of which numbers.
        number: Number,
    },
    /// `-x`.
    Negate(Number),
    /// `ABS(x)`: the smallest whole number stays negative.
    Absolute(Number),
    /// `FLOOR(x)`.
    Floor(Number),
    /// `CEIL(x)`.
    Ceiling(Number),
    /// A timestamp and ms.
    Shift {
        /// Minus instead of plus.
        back: bool,
    },
    /// Condition, value, condition, value, …, value: the first whose condition is true.
    Case,
    /// The first that is not null.
    Coalesce,
    /// `CAST`, or `TRY_CAST`.
    Cast {
        /// From what to what.
        cast: Cast,
        /// Null instead of an error.
        or_null: bool,
    },
    /// `IN` and `BETWEEN` of constants, as Calcite writes them: whether one of the ranges has the operand.
    Search {
        /// The ranges, none of them empty.
        ranges: Vec<Range>,
        /// As what operand and bounds are compared.
        basis: Basis,
    },
    /// `LIKE` of a constant.
    Like(Pattern),
    /// `UPPER`.
    Upper,
    /// `LOWER`.
    Lower,
    /// `CHAR_LENGTH`, in code points.
    CharLength,
    /// Text, first code point from 1 (from the end if negative), and perhaps how many: null if that is negative.
    Substring,
    /// `||` and `CONCAT`: null if an operand is.
    Concat,
    /// Blanks of one or both ends go.
    Trim {
        /// At the beginning.
        leading: bool,
        /// At the end.
        trailing: bool,
    },
    /// `REPLACE` of constants: what is looked for, and what takes its place.
    Replace(Box<str>, Box<str>),
    /// `EXTRACT` of a `TIMESTAMP`, or of a `DATE`: what of it. Before 1970, as Java's division and remainder, which is Flink's way.
    Extract(TimeField),
    /// `FLOOR(x TO unit)` of a `TIMESTAMP`: the unit in ms.
    FloorTo(i64),
    /// `TO_TIMESTAMP_LTZ` of a number.
    ToTimestampLtz {
        /// ms, or else s.
        millis: bool,
    },
}

/// What of a time is extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeField {
    /// Of the calendar.
    Year,
    /// 1 to 12.
    Month,
    /// 1 to 31.
    Day,
    /// A remainder, and how often a unit is in it; both in ms.
    OfDay {
        /// Remainder of this.
        of: i64,
        /// The unit.
        unit: i64,
    },
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`.
    Equal,
    /// `<>`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
}

/// As what two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Whole numbers, and all that is one inside.
    Whole,
    /// As Java's `float`: a NaN is unequal to everything.
    Float,
    /// As Java's `double`.
    Double,
    /// By `Double.compare`, which is what Flink does as soon as one side is a `DECIMAL`: a NaN is above everything and equal to
    /// itself, −0.0 is below 0.0.
    DoubleInOrder,
    /// Decimals, exactly.
    Decimal {
        /// Digits behind the point on the left.
        left: u8,
        /// Digits behind the point on the right.
        right: u8,
    },
    /// By bytes of UTF-8.
    Text,
    /// False before true.
    Boolean,
    /// By time.
    Timestamp,
}

/// What is done with two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Times,
    /// `/`.
    Divide,
    /// `%`, with the sign of the left side.
    Remainder,
}

/// Numbers with which is calculated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// 8 bits.
    TinyInt,
    /// 16 bits.
    SmallInt,
    /// 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// Decimals whose result has as many digits as it needs, so that nothing is rounded and nothing overflows.
    Decimal {
        /// Digits behind the point on the left.
        left: u8,
        /// Digits behind the point on the right.
        right: u8,
    },
}

impl Number {
    pub(crate) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::TinyInt => Some(Self::TinyInt),
            Kind::SmallInt => Some(Self::SmallInt),
            Kind::Int => Some(Self::Int),
            Kind::BigInt => Some(Self::BigInt),
            Kind::Float => Some(Self::Float),
            Kind::Double => Some(Self::Double),
            Kind::Decimal { scale, .. } => Some(Self::Decimal { left: scale, right: scale }),
            _ => None,
        }
    }
}

/// Names that are understood, for messages.
const KNOWN: &str = "= <> < <= > >= AND OR NOT, IS [NOT] NULL, IS [NOT] TRUE, IS [NOT] FALSE, + - * / MOD ABS FLOOR CEIL, CASE IF COALESCE, CAST TRY_CAST, IN BETWEEN LIKE, UPPER LOWER CHAR_LENGTH SUBSTRING || CONCAT TRIM LTRIM RTRIM REPLACE, EXTRACT, FLOOR TO, TO_TIMESTAMP_LTZ";

/// A call on the way to its function.
struct Call<'a> {
    name: &'a str,
    place: &'a str,
    of: DataType,
}

impl Call<'_> {
    fn refuse<T>(&self, what: impl std::fmt::Display) -> Result<T> {
        let name = self.name.trim_start_matches('$');
        let name = name.strip_suffix("$1").unwrap_or(name);
        Err(Refusal::new(self.place, format!("{name}: {what}")))
    }

    /// For operands of these types, of which the function has no form.
    fn no_form<T>(&self, operands: &[Expr]) -> Result<T> {
        let kinds: Vec<String> =
            operands.iter().map(|operand| operand.kind().to_string()).collect();
        let what = "does not run at a site for operands of these types, or with this result";
        self.refuse(format!("{what}: ({}) -> {}", kinds.join(", "), self.of.kind))
    }

    fn make(&self, function: Function, operands: Vec<Expr>) -> Result<Expr> {
        Ok(Expr::Call { function, operands, of: self.of })
    }

    /// As `make`, for a result that has to be of this kind.
    fn gives(&self, kind: Kind, function: Function, operands: Vec<Expr>) -> Result<Expr> {
        if self.of.kind == kind { self.make(function, operands) } else { self.no_form(&operands) }
    }
}

pub(crate) fn resolve(
    name: &str,
    syntax: &str,
    operands: Vec<Operand>,
    of: DataType,
    place: &str,
) -> Result<Expr> {
    let call = Call { name, place, of };
    match (name, syntax) {
        ("$SEARCH$1", "INTERNAL") => return search(&call, operands),
        ("$TRIM$1", "FUNCTION") => return trim(&call, operands),
        ("$EXTRACT$1", "FUNCTION") => return extract(&call, operands),
        ("$FLOOR$1", "FUNCTION") if operands.len() == 2 => return floor_to(&call, operands),
        _ => {}
    }
    let value = |operand| match operand {
        Operand::Expr(expr) => Ok(expr),
        Operand::Symbol { value, .. } => call.refuse(format!("with {value} it is not known")),
        Operand::Ranges { .. } => call.refuse("ranges stand in SEARCH only"),
    };
    let operands = operands.into_iter().map(value).collect::<Result<Vec<_>>>()?;
    let count = operands.len();
    match (name, syntax, count) {
        ("$=$1", "BINARY", 2) => compare(&call, Comparison::Equal, operands),
        ("$<>$1", "BINARY", 2) => compare(&call, Comparison::Unequal, operands),
        ("$<$1", "BINARY", 2) => compare(&call, Comparison::Less, operands),
        ("$<=$1", "BINARY", 2) => compare(&call, Comparison::AtMost, operands),
        ("$>$1", "BINARY", 2) => compare(&call, Comparison::Greater, operands),
        ("$>=$1", "BINARY", 2) => compare(&call, Comparison::AtLeast, operands),
        ("$AND$1", "BINARY", 2..) => logic(&call, Function::And, operands),
        ("$OR$1", "BINARY", 2..) => logic(&call, Function::Or, operands),
        ("$NOT$1", "PREFIX", 1) => logic(&call, Function::Not, operands),
        ("$IS TRUE$1", "POSTFIX", 1) => logic(&call, Function::IsTrue, operands),
        ("$IS NOT TRUE$1", "POSTFIX", 1) => logic(&call, Function::IsNotTrue, operands),
        ("$IS FALSE$1", "POSTFIX", 1) => logic(&call, Function::IsFalse, operands),
        ("$IS NOT FALSE$1", "POSTFIX", 1) => logic(&call, Function::IsNotFalse, operands),
        ("$IS NULL$1", "POSTFIX", 1) => call.gives(Kind::Boolean, Function::IsNull, operands),
        ("$IS NOT NULL$1", "POSTFIX", 1) => {
            call.gives(Kind::Boolean, Function::IsNotNull, operands)
        }
        ("$+$1", "BINARY" | "SPECIAL", 2) => arithmetic(&call, Operation::Plus, operands),
        ("$-$1", "BINARY" | "SPECIAL", 2) => arithmetic(&call, Operation::Minus, operands),
        ("$*$1", "BINARY", 2) => arithmetic(&call, Operation::Times, operands),
        ("$/$1", "BINARY", 2) => arithmetic(&call, Operation::Divide, operands),
        ("$MOD$1", "FUNCTION", 2) | ("$%$1", "BINARY", 2) => remainder(&call, operands),
        ("$-$1", "PREFIX", 1) => unary(&call, Function::Negate, operands),
        ("$ABS$1", "FUNCTION", 1) => unary(&call, Function::Absolute, operands),
        ("$FLOOR$1", "FUNCTION", 1) => unary(&call, Function::Floor, operands),
        ("$CEIL$1", "FUNCTION", 1) => unary(&call, Function::Ceiling, operands),
        ("$CASE$1", "SPECIAL", 3..) if count % 2 == 1 => case(&call, operands),
        ("$IF$1", "FUNCTION", 3) => case(&call, operands),
        ("$COALESCE$1", "FUNCTION", 1..) => coalesce(&call, operands),
        ("$CAST$1", "SPECIAL", 1) => convert(&call, operands, false),
        ("$TRY_CAST$1", "SPECIAL", 1) => convert(&call, operands, true),
        ("$LIKE$1", "SPECIAL", 2 | 3) => like(&call, operands),
        ("$UPPER$1", "FUNCTION", 1) => of_text(&call, Function::Upper, operands),
        ("$LOWER$1", "FUNCTION", 1) => of_text(&call, Function::Lower, operands),
        ("$||$1", "BINARY", 2) | ("$CONCAT$1", "FUNCTION", 1..) => {
            of_text(&call, Function::Concat, operands)
        }
        ("$REPLACE$1", "FUNCTION", 3) => replace(&call, operands),
        ("$LTRIM$1", "FUNCTION", 1) => {
            of_text(&call, Function::Trim { leading: true, trailing: false }, operands)
        }
        ("$RTRIM$1", "FUNCTION", 1) => {
            of_text(&call, Function::Trim { leading: false, trailing: true }, operands)
        }
        ("$CHAR_LENGTH$1" | "$CHARACTER_LENGTH$1", "FUNCTION", 1) => {
            if !operands[0].kind().is_text() {
                return call.no_form(&operands);
            }
            call.gives(Kind::Int, Function::CharLength, operands)
        }
        ("$SUBSTRING$1" | "$SUBSTR$1", "FUNCTION", 2 | 3) => substring(&call, operands),
        ("$TO_TIMESTAMP_LTZ$1", "FUNCTION", 2) => to_timestamp_ltz(&call, operands),
        _ => {
            let what = format!(
                "as {syntax} with {count} operands it does not run at a site; these do: {KNOWN}"
            );
            call.refuse(what)
        }
    }
}

fn logic(call: &Call<'_>, function: Function, operands: Vec<Expr>) -> Result<Expr> {
    if operands.iter().any(|operand| operand.kind() != Kind::Boolean) {
        return call.no_form(&operands);
    }
    call.gives(Kind::Boolean, function, operands)
}

fn compare(call: &Call<'_>, comparison: Comparison, operands: Vec<Expr>) -> Result<Expr> {
    let Some((basis, operands)) = comparable(operands.clone()) else {
        return call.no_form(&operands);
    };
    call.gives(Kind::Boolean, Function::Compare { comparison, basis }, operands)
}

/// Both operands as one type, and how they are compared: `generateComparison`, and Java's rules for two numbers.
fn comparable(operands: Vec<Expr>) -> Option<(Basis, Vec<Expr>)> {
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

fn arithmetic(call: &Call<'_>, operation: Operation, operands: Vec<Expr>) -> Result<Expr> {
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
fn remainder(call: &Call<'_>, operands: Vec<Expr>) -> Result<Expr> {
    let whole = operands.iter().all(|operand| operand.kind().is_whole_number());
    match Number::of(call.of.kind) {
        Some(number) if whole && call.of.kind.is_whole_number() => {
            let operation = Operation::Remainder;
            call.make(Function::Arithmetic { operation, number }, operands)
        }
        _ => call.no_form(&operands),
    }
}

fn unary(call: &Call<'_>, function: fn(Number) -> Function, operands: Vec<Expr>) -> Result<Expr> {
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

fn case(call: &Call<'_>, operands: Vec<Expr>) -> Result<Expr> {
    let last = operands.len() - 1;
    let is_condition = |index: usize| index.is_multiple_of(2) && index != last;
    let conditions_are = operands
        .iter()
        .enumerate()
        .all(|(index, operand)| !is_condition(index) || operand.kind() == Kind::Boolean);
    let coerced = operands.iter().cloned().enumerate().map(|(index, operand)| {
        if is_condition(index) { Some(operand) } else { coerce(operand, call.of.kind) }
    });
    match coerced.collect::<Option<Vec<_>>>() {
        Some(operands) if conditions_are => call.make(Function::Case, operands),
        _ => call.no_form(&operands),
    }
}

fn coalesce(call: &Call<'_>, operands: Vec<Expr>) -> Result<Expr> {
    let coerced = operands.iter().cloned().map(|operand| coerce(operand, call.of.kind));
    match coerced.collect::<Option<Vec<_>>>() {
        Some(operands) => call.make(Function::Coalesce, operands),
        None => call.no_form(&operands),
    }
}

fn convert(call: &Call<'_>, mut operands: Vec<Expr>, or_null: bool) -> Result<Expr> {
    let Some(operand) = operands.pop() else { return call.no_form(&operands) };
    match cast(operand.clone(), call.of.kind, or_null) {
        Some(Expr::Call { function, operands, .. }) => call.make(function, operands),
        _ => call.no_form(&[operand]),
    }
}

/// `x IN (1, 2)` and `x BETWEEN 1 AND 2`.
fn search(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
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

fn like(call: &Call<'_>, mut operands: Vec<Expr>) -> Result<Expr> {
    let is_text = operands.iter().all(|operand| operand.kind().is_text());
    if !is_text || call.of.kind != Kind::Boolean {
        return call.no_form(&operands);
    }
    let constants = operands.split_off(1);
    let texts: Option<Vec<&str>> = constants.iter().map(constant_text).collect();
    let Some(texts) = texts else {
        return call.refuse("only constant patterns run at a site");
    };
    match Pattern::new(texts[0], texts.get(1).copied()) {
        Ok(pattern) => call.make(Function::Like(pattern), operands),
        Err(what) => call.refuse(what),
    }
}

fn constant_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal { value: Value::Text(text), .. } => Some(text),
        _ => None,
    }
}

fn of_text(call: &Call<'_>, function: Function, operands: Vec<Expr>) -> Result<Expr> {
    let is_text = operands.iter().all(|operand| operand.kind().is_text());
    if is_text && call.of.kind.is_text() {
        call.make(function, operands)
    } else {
        call.no_form(&operands)
    }
}

fn trim(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
    let mut operands = operands.into_iter();
    let (
        Some(Operand::Symbol { kind, value }),
        Some(Operand::Expr(what)),
        Some(Operand::Expr(text)),
        None,
    ) = (operands.next(), operands.next(), operands.next(), operands.next())
    else {
        return call.refuse("side, what goes and a text are needed");
    };
    if kind != "TRIM" || constant_text(&what) != Some(" ") {
        return call.refuse("only blanks are taken away at a site");
    }
    let (leading, trailing) = match value.as_str() {
        "BOTH" => (true, true),
        "LEADING" => (true, false),
        "TRAILING" => (false, true),
        other => return call.refuse(format!("{other} is no side")),
    };
    of_text(call, Function::Trim { leading, trailing }, vec![text])
}

fn replace(call: &Call<'_>, mut operands: Vec<Expr>) -> Result<Expr> {
    let constants = operands.split_off(1);
    let texts: Option<Vec<&str>> = constants.iter().map(constant_text).collect();
    match texts.as_deref() {
        Some([from, to]) if !from.is_empty() => {
            of_text(call, Function::Replace((*from).into(), (*to).into()), operands)
        }
        _ => call.refuse("only constants, the first of them not empty, run at a site"),
    }
}

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

fn extract(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
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

fn floor_to(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
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

fn substring(call: &Call<'_>, operands: Vec<Expr>) -> Result<Expr> {
    let counted = operands[1..].iter().all(|operand| operand.kind() == Kind::Int);
    if operands[0].kind().is_text() && counted && call.of.kind.is_text() {
        call.make(Function::Substring, operands)
    } else {
        call.no_form(&operands)
    }
}

fn to_timestamp_ltz(call: &Call<'_>, mut operands: Vec<Expr>) -> Result<Expr> {
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
