//! Which function a call is. Name, syntax and the operands' types decide exactly what Flink's generated code does
//! (`ScalarOperatorGens` and the call generators beside it); what is not here is refused.

mod numbers;
mod search;
mod texts;
mod times;

use crate::cast::{cast, coerce};
use crate::error::{Refusal, Result};
use crate::expr::{Expr, Operand};
use crate::function::{Comparison, Function, Operation};
use crate::types::{DataType, Kind};
use numbers::{arithmetic, compare, remainder, unary};
use search::search;
use texts::{like, of_text, replace, substring, trim};
use times::{extract, floor_to, to_timestamp_ltz};

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
        ("$REINTERPRET$1", "SPECIAL", 1) => reinterpret(&call, operands),
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

/// A time that is computed becomes the time of the row, behind a source that has made the watermark of it: the value is the same.
fn reinterpret(call: &Call<'_>, mut operands: Vec<Expr>) -> Result<Expr> {
    if operands.iter().any(|operand| operand.kind() != call.of.kind) {
        return call.no_form(&operands);
    }
    Ok(operands.remove(0))
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
