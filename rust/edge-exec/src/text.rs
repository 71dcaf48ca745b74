//! Functions of texts (`BinaryStringDataUtil`), which count code points.

use afterbay_edge_plan::{Expr, Function, Value};

use crate::error::EvalError;
use crate::eval::eval;

type Result<T> = std::result::Result<T, EvalError>;

pub(crate) fn unary(function: &Function, text: &str) -> Result<Value> {
    Ok(match function {
        Function::Like(pattern) => Value::Boolean(pattern.matches(text)),
        Function::Replace(from, to) => Value::text(text.replace(&**from, to)),
        Function::Upper => Value::text(text.to_uppercase()),
        Function::Lower => Value::text(text.to_lowercase()),
        Function::CharLength => Value::Whole(i64::from(text.chars().count() as i32)),
        Function::Trim { leading, trailing } => {
            let text = if *leading { text.trim_start_matches(' ') } else { text };
            Value::text(if *trailing { text.trim_end_matches(' ') } else { text })
        }
        _ => return Err(EvalError::Type),
    })
}

pub(crate) fn concat(operands: &[Expr], row: &[Value]) -> Result<Value> {
    let mut all = String::new();
    for operand in operands {
        match &*eval(operand, row)? {
            Value::Null => return Ok(Value::Null),
            Value::Text(text) => all.push_str(text),
            _ => return Err(EvalError::Type),
        }
    }
    Ok(Value::text(all))
}

/// `substringSQL`.
pub(crate) fn substring(operands: &[Expr], row: &[Value]) -> Result<Value> {
    let mut values = Vec::with_capacity(operands.len());
    for operand in operands {
        let value = eval(operand, row)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        values.push(value);
    }
    let (text, position, length) = match values.iter().map(|value| &**value).collect::<Vec<_>>()[..]
    {
        [Value::Text(text), Value::Whole(position)] => (text, *position, i64::from(i32::MAX)),
        [Value::Text(text), Value::Whole(position), Value::Whole(length)] => {
            (text, *position, *length)
        }
        _ => return Err(EvalError::Type),
    };
    if length < 0 {
        return Ok(Value::Null);
    }
    let start = match position {
        0 => 0,
        1.. => position - 1,
        _ => text.chars().count() as i64 + position,
    };
    Ok(Value::text(match usize::try_from(start) {
        Err(_) => "",
        Ok(start) => first_chars(after_chars(text, start), length as usize),
    }))
}

pub(crate) fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

fn after_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or("", |(start, _)| &text[start..])
}
