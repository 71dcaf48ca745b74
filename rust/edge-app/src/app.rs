//! An application.

use std::collections::BTreeMap;

use crate::check;
use crate::error::Errors;
use crate::location::Location;
use crate::read;

/// An application whose parts fit together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// Its name.
    pub name: String,
    /// Its services, by name.
    pub services: BTreeMap<String, Service>,
    /// What goes from one service to another, in the order of the file.
    pub connections: Vec<Connection>,
}

/// A part of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub location: Location,
    /// Its line in the file.
    pub line: usize,
}

/// What a service is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A table that is read.
    Source {
        /// Columns and watermark, as in CREATE TABLE.
        columns: String,
        /// As in WITH.
        options: BTreeMap<String, String>,
        /// Columns of which no value is at two sites: what is grouped by one of them is final at its site.
        local: Vec<String>,
    },
    /// A query with a name.
    View(Sql),
    /// An INSERT.
    Statement(Sql),
    /// A table that is written.
    Sink {
        /// Columns, as in CREATE TABLE.
        columns: String,
        /// As in WITH.
        options: BTreeMap<String, String>,
    },
    /// A table that is written and read.
    Store {
        /// Columns, as in CREATE TABLE.
        columns: String,
        /// As in WITH.
        options: BTreeMap<String, String>,
    },
}

impl Kind {
    /// As the file says it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Source { .. } => "source",
            Self::View(_) => "view",
            Self::Statement(_) => "statement",
            Self::Sink { .. } => "sink",
            Self::Store { .. } => "store",
        }
    }
}

/// Where the text of a statement is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sql {
    /// In the app file.
    Here(String),
    /// In a file beside it.
    File(String),
}

/// What goes from one service to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The service that gives.
    pub from: String,
    /// The service that takes.
    pub to: String,
    /// What happens when the site's disk has no more room for it; only from a site to the cloud.
    pub when_full: Option<WhenFull>,
    /// Its line in the file.
    pub line: usize,
}

/// What a site does with more than fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// Takes no more from the source.
    Hold,
    /// Drops the oldest, and reports the gap.
    DropOldest,
    /// Adds up parts of the same window.
    Merge,
}

impl App {
    /// Reads an app file.
    ///
    /// # Errors
    /// Everything that is wrong with its keys and types; if nothing is, everything that does not fit together.
    pub fn parse(text: &str) -> Result<Self, Errors> {
        let draft = read::read(text).map_err(Errors)?;
        check::check(draft).map_err(Errors)
    }

    /// Services that give something to this one.
    pub fn inputs(&self, name: &str) -> impl Iterator<Item = &str> {
        self.connections.iter().filter(move |one| one.to == name).map(|one| one.from.as_str())
    }
}

/// Characters of a name.
pub(crate) const NAME_CHARS_MAX: usize = 63;

/// What may be a name: it becomes one of a table, a file and a topic.
pub(crate) fn is_name(text: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= NAME_CHARS_MAX && text.chars().all(known)
}
