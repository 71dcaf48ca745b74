//! Functions of texts.

use super::Call;
use crate::error::Result;
use crate::expr::{Expr, Operand};
use crate::function::Function;
use crate::pattern::Pattern;
use crate::types::Kind;
use crate::value::Value;

pub(super) fn like(call: &Call<'_>, mut operands: Vec<Expr>) -> Result<Expr> {
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

pub(super) fn of_text(call: &Call<'_>, function: Function, operands: Vec<Expr>) -> Result<Expr> {
    let is_text = operands.iter().all(|operand| operand.kind().is_text());
    if is_text && call.of.kind.is_text() {
        call.make(function, operands)
    } else {
        call.no_form(&operands)
    }
}

pub(super) fn trim(call: &Call<'_>, operands: Vec<Operand>) -> Result<Expr> {
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

pub(super) fn replace(call: &Call<'_>, mut operands: Vec<Expr>) -> Result<Expr> {
    let constants = operands.split_off(1);
    let texts: Option<Vec<&str>> = constants.iter().map(constant_text).collect();
    match texts.as_deref() {
        Some([from, to]) if !from.is_empty() => {
            of_text(call, Function::Replace((*from).into(), (*to).into()), operands)
        }
        _ => call.refuse("only constants, the first of them not empty, run at a site"),
    }
}

pub(super) fn substring(call: &Call<'_>, operands: Vec<Expr>) -> Result<Expr> {
    let counted = operands[1..].iter().all(|operand| operand.kind() == Kind::Int);
    if operands[0].kind().is_text() && counted && call.of.kind.is_text() {
        call.make(Function::Substring, operands)
    } else {
        call.no_form(&operands)
    }
}
