//! Lines of CSV (`CsvToRowDataConverters`): fields by position, quoted if need be. A row is a line.

use std::borrow::Cow;

use afterbay_edge_plan::{Scan, Value};

use super::field::switch;
use super::{LineError, Reader, Times, field};

/// How fields are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Csv {
    /// Fields of a line.
    columns: usize,
    /// Where the columns that go further stand.
    projection: Vec<usize>,
    delimiter: char,
    quote: Option<char>,
    null: Option<String>,
    comments: bool,
}

impl Csv {
    pub(super) fn new(scan: &Scan) -> Self {
        Self {
            columns: scan.columns.len(),
            projection: scan.projection.clone(),
            delimiter: ',',
            quote: Some('"'),
            null: None,
            comments: false,
        }
    }

    pub(super) fn option(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        match name {
            "field-delimiter" => self.delimiter = one_char(value)?,
            "quote-character" => self.quote = Some(one_char(value)?),
            "disable-quote-character" => {
                if switch(value)? {
                    self.quote = None;
                }
            }
            "null-literal" => self.null = Some(value.to_owned()),
            "allow-comments" => self.comments = switch(value)?,
            // Of writing, or of types that a site has not.
            "array-element-delimiter" | "write-bigdecimal-in-scientific-notation" => {}
            _ => return Err("this option is not known at a site"),
        }
        Ok(())
    }

    pub(super) fn row(&self, reader: &Reader, line: &str) -> Result<Option<Vec<Value>>, LineError> {
        if self.comments && line.starts_with('#') {
            return Ok(None);
        }
        let fields = self.split(line)?;
        if fields.len() != self.columns && !reader.ignores_errors {
            let what = format!("{} fields, and the table has {}", fields.len(), self.columns);
            return Err(LineError::Line(what));
        }
        let mut row = Vec::with_capacity(self.projection.len());
        for (index, &column) in self.projection.iter().enumerate() {
            let value = match fields.get(column) {
                None => Ok(Value::Null),
                Some(text) if self.null.as_deref() == Some(text) => Ok(Value::Null),
                Some(text) => field::parse(text, reader.columns[index].of.kind, Times::Sql),
            };
            row.push(reader.column(index, value)?);
        }
        Ok(Some(row))
    }

    fn split<'a>(&self, line: &'a str) -> Result<Vec<Cow<'a, str>>, LineError> {
        let mut fields = Vec::with_capacity(self.columns);
        let mut rest = line;
        loop {
            let (field, next) = match self.quote {
                Some(quote) if rest.starts_with(quote) => self.quoted(rest, quote)?,
                _ => match rest.split_once(self.delimiter) {
                    Some((field, next)) => (Cow::Borrowed(field), Some(next)),
                    None => (Cow::Borrowed(rest), None),
                },
            };
            fields.push(field);
            match next {
                Some(next) => rest = next,
                None => return Ok(fields),
            }
        }
    }

    /// A field in quotes, and what comes behind the delimiter.
    fn quoted<'a>(
        &self,
        field: &'a str,
        quote: char,
    ) -> Result<(Cow<'a, str>, Option<&'a str>), LineError> {
        let mut text = String::new();
        let mut rest = &field[quote.len_utf8()..];
        loop {
            let Some((part, after)) = rest.split_once(quote) else {
                return Err(LineError::Line(format!("a field begins with {quote} and never ends")));
            };
            text.push_str(part);
            if let Some(again) = after.strip_prefix(quote) {
                text.push(quote);
                rest = again;
                continue;
            }
            if after.is_empty() {
                return Ok((Cow::Owned(text), None));
            }
            return match after.strip_prefix(self.delimiter) {
                Some(next) => Ok((Cow::Owned(text), Some(next))),
                None => {
                    let what = format!("{:?} is needed behind the closing {quote}", self.delimiter);
                    Err(LineError::Line(what))
                }
            };
        }
    }
}

fn one_char(value: &str) -> Result<char, &'static str> {
    let mut chars = value.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some('t')) if value == "\\t" => Ok('\t'),
        (Some(c), None) => Ok(c),
        _ => Err("one character is allowed"),
    }
}
