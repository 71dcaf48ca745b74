//! Lines that become rows, as Flink's formats read them (`flink-json`, `flink-csv`).

mod csv;
mod field;
mod json;

use std::fmt;

use afterbay_edge_plan::{Field, Scan, Value};
use thiserror::Error;

use csv::Csv;
use field::Times;

/// What lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An object each.
    Json,
    /// Fields, by position.
    Csv,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "json",
            Self::Csv => "csv",
        })
    }
}

/// The table's format is none that a site reads.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// No format at all.
    #[error(
        "table {table} has format {found:?}: json and csv are read at a site; --format says what the input is"
    )]
    Unknown {
        /// The table.
        table: String,
        /// What it says.
        found: String,
    },
    /// An option that would change what rows are.
    #[error("option {option:?} of table {table} is {found:?}: {allowed}")]
    Option {
        /// The table.
        table: String,
        /// The option.
        option: String,
        /// What it says.
        found: String,
        /// What it may say.
        allowed: &'static str,
    },
}

/// A line that is no row.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LineError {
    /// As a whole.
    #[error("{0}")]
    Line(String),
    /// In one column.
    #[error("column {column:?}: {what}")]
    Column {
        /// Which one.
        column: String,
        /// What is wrong with it.
        what: String,
    },
}

/// Reads lines of one table.
#[derive(Debug)]
pub struct Reader {
    /// The columns that go further.
    columns: Vec<Field>,
    format: Lines,
    ignores_errors: bool,
    fails_on_missing: bool,
    times: Times,
}

#[derive(Debug)]
enum Lines {
    Json,
    Csv(Csv),
}

impl Reader {
    /// For the table that a pipeline reads. What is given goes before what the table says.
    ///
    /// # Errors
    /// The table has a format, or an option of it, that is not known.
    pub fn new(
        scan: &Scan,
        format: Option<Format>,
        ignores_errors: Option<bool>,
    ) -> Result<Self, FormatError> {
        let (prefix, said) = match (scan.options.get("format"), scan.options.get("value.format")) {
            (Some(format), _) => ("", format.as_str()),
            (None, Some(format)) => ("value.", format.as_str()),
            (None, None) => ("", "none"),
        };
        let format = match (format, said) {
            (Some(format), _) => format,
            (None, "json") => Format::Json,
            (None, "csv") => Format::Csv,
            (None, other) => {
                let (table, found) = (scan.table.clone(), other.to_owned());
                return Err(FormatError::Unknown { table, found });
            }
        };
        let prefix = format!("{prefix}{format}.");
        let mut reader = Self {
            columns: scan.output(),
            format: Lines::Json,
            ignores_errors: false,
            fails_on_missing: false,
            times: Times::Sql,
        };
        let mut csv = Csv::new(scan);
        for (option, value) in &scan.options {
            let Some(name) = option.strip_prefix(&prefix) else { continue };
            let known = match format {
                Format::Json => reader.json_option(name, value),
                Format::Csv if name == "ignore-parse-errors" => {
                    field::switch(value).map(|ignores| reader.ignores_errors = ignores)
                }
                Format::Csv => csv.option(name, value),
            };
            known.map_err(|allowed| FormatError::Option {
                table: scan.table.clone(),
                option: option.clone(),
                found: value.clone(),
                allowed,
            })?;
        }
        if format == Format::Csv {
            reader.format = Lines::Csv(csv);
        }
        reader.ignores_errors = ignores_errors.unwrap_or(reader.ignores_errors);
        Ok(reader)
    }

    fn json_option(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        match (name, value) {
            ("ignore-parse-errors", _) => self.ignores_errors = field::switch(value)?,
            ("fail-on-missing-field", _) => self.fails_on_missing = field::switch(value)?,
            ("timestamp-format.standard", "SQL") => self.times = Times::Sql,
            ("timestamp-format.standard", "ISO-8601") => self.times = Times::Iso,
            ("timestamp-format.standard", _) => return Err("SQL and ISO-8601 are allowed"),
            // Of writing, or without an influence on rows.
            ("decode.json-parser.enabled", _) => {}
            (name, _) if name.starts_with("encode.") || name.starts_with("map-null-key.") => {}
            _ => return Err("this option is not known at a site"),
        }
        Ok(())
    }

    /// A line without its end. None if it is blank, or bad and such lines are ignored.
    ///
    /// # Errors
    /// The line is no row, and that is not ignored.
    pub fn read(&self, line: &str) -> Result<Option<Vec<Value>>, LineError> {
        if line.trim().is_empty() {
            return Ok(None);
        }
        let row = match &self.format {
            Lines::Json => json::row(self, line),
            Lines::Csv(csv) => csv.row(self, line),
        };
        match row {
            Err(_) if self.ignores_errors => Ok(None),
            row => row,
        }
    }

    /// What one column says; a bad value is null if such errors are ignored.
    fn column(&self, index: usize, value: Result<Value, String>) -> Result<Value, LineError> {
        let field = &self.columns[index];
        let error = |what: String| LineError::Column { column: field.name.clone(), what };
        match value {
            Ok(Value::Null) if !field.of.nullable => Err(error("null in a NOT NULL column".into())),
            Ok(value) => Ok(value),
            Err(_) if self.ignores_errors && field.of.nullable => Ok(Value::Null),
            Err(what) => Err(error(what)),
        }
    }
}
