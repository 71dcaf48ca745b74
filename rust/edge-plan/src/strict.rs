//! JSON objects whose every field is known: what nobody asked for is refused.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{Refusal, Result};

/// An object of the plan, from which fields are taken until none may be left.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    place: String,
    fields: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Object<'a> {
    pub(crate) fn new(value: &'a Value, place: &str) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(Refusal::new(place, format!("an object is needed, not {}", short(value))));
        };
        let fields = map.iter().map(|(name, value)| (name.as_str(), value)).collect();
        Ok(Self { place: place.to_owned(), fields })
    }

    /// The path of a field.
    pub(crate) fn place(&self, name: &str) -> String {
        let separator = if self.place.ends_with(':') { " " } else { "." };
        format!("{}{separator}{name}", self.place)
    }

    pub(crate) fn optional(&mut self, name: &str) -> Option<&'a Value> {
        self.fields.remove(name)
    }

    pub(crate) fn required(&mut self, name: &str) -> Result<&'a Value> {
        let place = self.place.clone();
        self.optional(name).ok_or_else(|| Refusal::new(&place, format!("{name} is missing")))
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<&'a str> {
        let place = self.place(name);
        text(self.required(name)?, &place)
    }

    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<&'a str>> {
        let place = self.place(name);
        self.optional(name).map(|value| text(value, &place)).transpose()
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Result<bool> {
        let place = self.place(name);
        let value = self.required(name)?;
        value.as_bool().ok_or_else(|| unlike(&place, "true or false", value))
    }

    pub(crate) fn number(&mut self, name: &str) -> Result<i64> {
        let place = self.place(name);
        let value = self.required(name)?;
        value.as_i64().ok_or_else(|| unlike(&place, "a whole number", value))
    }

    /// A number from 0, such as a column's.
    pub(crate) fn index(&mut self, name: &str) -> Result<usize> {
        let place = self.place(name);
        index(self.required(name)?, &place)
    }

    pub(crate) fn array(&mut self, name: &str) -> Result<&'a [Value]> {
        let place = self.place(name);
        array(self.required(name)?, &place)
    }

    /// The only value that is known for this field.
    pub(crate) fn only(&mut self, name: &str, known: &Value) -> Result<()> {
        let place = self.place(name);
        let value = self.required(name)?;
        if value == known { Ok(()) } else { Err(unlike(&place, &short(known), value)) }
    }

    /// Refuses what is left.
    pub(crate) fn end(self) -> Result<()> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(name) => {
                let what = "this field is not known, and what it means neither".to_owned();
                Err(Refusal { place: self.place(name), what })
            }
        }
    }
}

pub(crate) fn text<'a>(value: &'a Value, place: &str) -> Result<&'a str> {
    value.as_str().ok_or_else(|| unlike(place, "a string", value))
}

pub(crate) fn index(value: &Value, place: &str) -> Result<usize> {
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| unlike(place, "a whole number from 0", value))
}

pub(crate) fn array<'a>(value: &'a Value, place: &str) -> Result<&'a [Value]> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| unlike(place, "an array", value))
}

pub(crate) fn unlike(place: &str, needed: &str, found: &Value) -> Refusal {
    Refusal::new(place, format!("{needed} is needed, not {}", short(found)))
}

/// A value as messages show it.
pub(crate) fn short(value: &Value) -> String {
    const CHARS_MAX: usize = 60;
    let whole = value.to_string();
    match whole.char_indices().nth(CHARS_MAX) {
        None => whole,
        Some((end, _)) => format!("{}…", &whole[..end]),
    }
}
