//! Lines of JSON (`JsonParserToRowDataConverters`).

use std::borrow::Cow;
use std::fmt;

use afterbay_edge_plan::{Kind, Value};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{LineError, Reader, field};

pub(super) fn row(reader: &Reader, line: &str) -> Result<Option<Vec<Value>>, LineError> {
    let mut json = serde_json::Deserializer::from_str(line);
    let texts = Columns(reader).deserialize(&mut json);
    let texts = texts.and_then(|texts| json.end().map(|()| texts));
    let texts = texts.map_err(|error| LineError::Line(format!("no JSON object: {error}")))?;
    let mut row = Vec::with_capacity(texts.len());
    for (index, raw) in texts.into_iter().enumerate() {
        let kind = reader.columns[index].of.kind;
        let value = match raw {
            Some(raw) => value(raw.get(), kind, reader),
            None if reader.fails_on_missing => Err("it is missing".to_owned()),
            None => Ok(Value::Null),
        };
        row.push(reader.column(index, value)?);
    }
    Ok(Some(row))
}

/// The columns of a line as they stand there; of one that is there twice, the last.
struct Columns<'a>(&'a Reader);

impl<'de> DeserializeSeed<'de> for Columns<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Columns<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut columns = vec![None; self.0.columns.len()];
        while let Some(Name(name)) = map.next_key::<Name<'de>>()? {
            match self.0.columns.iter().position(|field| field.name == *name) {
                Some(index) => columns[index] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(columns)
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

fn value(raw: &str, kind: Kind, reader: &Reader) -> Result<Value, String> {
    match raw.as_bytes().first() {
        Some(b'n') => Ok(Value::Null),
        Some(b'"') => {
            let text: Cow<'_, str> =
                serde_json::from_str::<Name<'_>>(raw).map_err(|error| error.to_string())?.0;
            field::parse(&text, kind, reader.times)
        }
        Some(b'{' | b'[') => Err(format!("an object or an array is no {kind}")),
        // A number or a truth value: Flink takes its text, but cuts a fraction for these two.
        _ if matches!(kind, Kind::Int | Kind::BigInt) && is_fraction(raw) => cut(raw, kind),
        _ => field::parse(raw, kind, reader.times),
    }
}

fn is_fraction(raw: &str) -> bool {
    raw.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        && raw.contains(['.', 'e', 'E'])
}

/// Jackson's `getIntValue` and `getLongValue` of a number with a fraction.
fn cut(raw: &str, kind: Kind) -> Result<Value, String> {
    let number: f64 = raw.parse().map_err(|_| format!("{raw} is no {kind}"))?;
    let (min, max) = match kind {
        Kind::Int => (f64::from(i32::MIN), f64::from(i32::MAX)),
        _ => (i64::MIN as f64, i64::MAX as f64),
    };
    if (min..=max).contains(&number) {
        Ok(Value::Whole(number as i64))
    } else {
        Err(format!("{raw} is no {kind}"))
    }
}
