//! A TOML table from which keys are taken, until none may be left. Errors are noted with their lines.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Item, TableLike};

use crate::error::AppError;

/// What is wrong, and where lines begin.
pub(crate) struct Notes<'a> {
    text: &'a str,
    pub(crate) errors: Vec<AppError>,
}

impl<'a> Notes<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, errors: Vec::new() }
    }

    pub(crate) fn line(&self, span: Option<Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start).min(self.text.len());
        1 + self.text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count()
    }

    pub(crate) fn error(&mut self, line: usize, what: impl Into<String>) {
        self.errors.push(AppError { line, what: what.into() });
    }
}

/// What somebody has written instead, with its article.
pub(crate) fn kind_of(name: &str) -> String {
    let article = if name.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// A table of the file.
pub(crate) struct Keys<'a> {
    table: &'a dyn TableLike,
    /// How messages call it.
    name: String,
    line: usize,
    /// Keys that somebody asked for.
    known: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    /// Notes an error and gives none if it is no table.
    pub(crate) fn new(
        item: &'a Item,
        name: &str,
        line: usize,
        notes: &mut Notes<'_>,
    ) -> Option<Self> {
        let Some(table) = item.as_table_like() else {
            notes.error(
                line,
                format!("{name} is {}, and a table is needed", kind_of(item.type_name())),
            );
            return None;
        };
        Some(Self { table, name: name.to_owned(), line, known: Vec::new() })
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// The entries of a table whose keys are names.
    pub(crate) fn entries(&self, notes: &Notes<'_>) -> Vec<(&'a str, usize, &'a Item)> {
        let line = |name: &str| {
            let key = self.table.key(name);
            notes.line(key.and_then(toml_edit::Key::span))
        };
        self.table.iter().map(|(name, item)| (name, line(name), item)).collect()
    }

    pub(crate) fn item(
        &mut self,
        key: &'static str,
        notes: &Notes<'_>,
    ) -> Option<(usize, &'a Item)> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let line = notes.line(self.table.key(key).and_then(toml_edit::Key::span));
        self.table.get(key).map(|item| (line, item))
    }

    pub(crate) fn optional_text(
        &mut self,
        key: &'static str,
        notes: &mut Notes<'_>,
    ) -> Option<(usize, &'a str)> {
        let (line, item) = self.item(key, notes)?;
        match item.as_str() {
            Some(text) => Some((line, text)),
            None => {
                let found = kind_of(item.type_name());
                notes.error(
                    line,
                    format!("{} of {} is {found}, and a string is needed", key, self.name),
                );
                None
            }
        }
    }

    pub(crate) fn text(
        &mut self,
        key: &'static str,
        notes: &mut Notes<'_>,
    ) -> Option<(usize, &'a str)> {
        if self.item(key, notes).is_none() {
            notes.error(self.line, format!("{} has no {key}", self.name));
            return None;
        }
        self.optional_text(key, notes)
    }

    /// One of these words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        allowed: &[(&str, T)],
        notes: &mut Notes<'_>,
    ) -> Option<T> {
        let (line, text) = self.optional_text(key, notes)?;
        if let Some((_, value)) = allowed.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
        notes.error(line, format!("{key} is {text:?}: {} are allowed", names.join(", ")));
        None
    }

    /// Strings, by name.
    pub(crate) fn texts(
        &mut self,
        key: &'static str,
        notes: &mut Notes<'_>,
    ) -> BTreeMap<String, String> {
        let Some((line, item)) = self.item(key, notes) else { return BTreeMap::new() };
        let name = format!("{key} of {}", self.name);
        let Some(keys) = Keys::new(item, &name, line, notes) else { return BTreeMap::new() };
        let mut texts = BTreeMap::new();
        for (option, line, item) in keys.entries(notes) {
            match item.as_str() {
                Some(text) => drop(texts.insert(option.to_owned(), text.to_owned())),
                None => {
                    let found = kind_of(item.type_name());
                    notes.error(
                        line,
                        format!("{option} of {name} is {found}, and a string is needed"),
                    );
                }
            }
        }
        texts
    }

    /// A list of strings.
    pub(crate) fn list(
        &mut self,
        key: &'static str,
        notes: &mut Notes<'_>,
    ) -> Vec<(usize, String)> {
        let Some((line, item)) = self.item(key, notes) else { return Vec::new() };
        let Some(array) = item.as_array() else {
            let found = kind_of(item.type_name());
            notes.error(line, format!("{key} of {} is {found}, and a list is needed", self.name));
            return Vec::new();
        };
        let mut texts = Vec::new();
        for value in array {
            let line = notes.line(value.span());
            match value.as_str() {
                Some(text) => texts.push((line, text.to_owned())),
                None => {
                    let what = format!(
                        "{key} of {} has {}, and strings are needed",
                        self.name,
                        kind_of(value.type_name())
                    );
                    notes.error(line, what);
                }
            }
        }
        texts
    }

    /// Notes every key that nobody asked for.
    pub(crate) fn end(self, notes: &mut Notes<'_>) {
        for (name, line, _) in self.entries(notes) {
            if !self.known.contains(&name) {
                let allowed = self.known.join(", ");
                notes
                    .error(line, format!("{} has no key {name}: {allowed} are allowed", self.name));
            }
        }
    }
}
