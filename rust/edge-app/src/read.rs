//! Keys and types of an app file.

use std::collections::BTreeMap;

use toml_edit::{Document, Item};

use crate::app::{Connection, Kind, NAME_CHARS_MAX, Sql, WhenFull, is_name};
use crate::error::AppError;
use crate::location::Location;
use crate::table::{Keys, Notes, kind_of};

/// What an app file says, before it is known whether it fits together.
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) services: BTreeMap<String, (usize, Kind)>,
    pub(crate) connections: Vec<Connection>,
    pub(crate) locations: BTreeMap<String, (usize, Location)>,
    /// Where local columns are named.
    pub(crate) local_lines: Vec<(String, usize, String)>,
}

pub(crate) fn read(text: &str) -> Result<Draft, Vec<AppError>> {
    let mut notes = Notes::new(text);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = notes.line(error.span());
            notes.error(line, format!("no TOML: {}", error.message().replace('\n', " ")));
            return Err(notes.errors);
        }
    };
    let draft = draft(document.as_item(), &mut notes);
    match draft {
        Some(draft) if notes.errors.is_empty() => Ok(draft),
        _ => {
            notes.errors.sort_by_key(|error| error.line);
            Err(notes.errors)
        }
    }
}

fn draft(root: &Item, notes: &mut Notes<'_>) -> Option<Draft> {
    let mut keys = Keys::new(root, "the app", 1, notes)?;
    let name = keys.text("name", notes).map(|(line, name)| {
        check_name(name, line, notes);
        name.to_owned()
    });
    let mut local_lines = Vec::new();
    let mut services = BTreeMap::new();
    for (name, line, item) in table(&mut keys, "services", notes) {
        check_name(name, line, notes);
        if let Some(kind) = service(name, line, item, &mut local_lines, notes) {
            services.insert(name.to_owned(), (line, kind));
        }
    }
    let connections = connections(&mut keys, notes);
    let mut locations = BTreeMap::new();
    for (name, line, item) in table(&mut keys, "locations", notes) {
        match item.as_str().map(|text| (text, Location::parse(text))) {
            Some((_, Some(location))) => drop(locations.insert(name.to_owned(), (line, location))),
            Some((text, None)) => {
                notes.error(line, format!("{name} is at {text:?}: {}", Location::FORMS));
            }
            None => {
                let what = format!("the location of {name} is {}", kind_of(item.type_name()));
                notes.error(line, format!("{what}, and a string is needed: {}", Location::FORMS));
            }
        }
    }
    keys.end(notes);
    Some(Draft { name: name?, services, connections, locations, local_lines })
}

fn check_name(name: &str, line: usize, notes: &mut Notes<'_>) {
    if !is_name(name) {
        let what = format!("1 to {NAME_CHARS_MAX} letters, digits, - and _ are allowed");
        notes.error(line, format!("{name:?} is no name: {what}"));
    }
}

fn table<'a>(
    keys: &mut Keys<'a>,
    key: &'static str,
    notes: &mut Notes<'_>,
) -> Vec<(&'a str, usize, &'a Item)> {
    match keys.item(key, notes) {
        None => {
            notes.error(keys.line(), format!("the app has no [{key}]"));
            Vec::new()
        }
        Some((line, item)) => {
            let table = Keys::new(item, key, line, notes);
            table.map(|table| table.entries(notes)).unwrap_or_default()
        }
    }
}

#[derive(Clone, Copy)]
enum KindName {
    Source,
    View,
    Statement,
    Sink,
    Store,
}

fn service(
    name: &str,
    line: usize,
    item: &Item,
    local_lines: &mut Vec<(String, usize, String)>,
    notes: &mut Notes<'_>,
) -> Option<Kind> {
    let mut keys = Keys::new(item, &format!("service {name}"), line, notes)?;
    let allowed = [
        ("source", KindName::Source),
        ("view", KindName::View),
        ("statement", KindName::Statement),
        ("sink", KindName::Sink),
        ("store", KindName::Store),
    ];
    if keys.item("kind", notes).is_none() {
        let what = "source, view, statement, sink and store are allowed";
        notes.error(line, format!("service {name} has no kind: {what}"));
        return None;
    }
    let kind = keys.choice("kind", &allowed, notes)?;
    let kind = match kind {
        KindName::View => sql(&mut keys, name, notes).map(Kind::View),
        KindName::Statement => sql(&mut keys, name, notes).map(Kind::Statement),
        KindName::Source => {
            let columns = columns(&mut keys, notes);
            let options = keys.texts("options", notes);
            let local = keys.list("local", notes);
            let lines = local.iter().map(|(line, column)| (name.to_owned(), *line, column.clone()));
            local_lines.extend(lines);
            let local = local.into_iter().map(|(_, column)| column).collect();
            columns.map(|columns| Kind::Source { columns, options, local })
        }
        KindName::Sink | KindName::Store => {
            let columns = columns(&mut keys, notes);
            let options = keys.texts("options", notes);
            columns.map(|columns| match kind {
                KindName::Sink => Kind::Sink { columns, options },
                _ => Kind::Store { columns, options },
            })
        }
    };
    keys.end(notes);
    kind
}

fn columns(keys: &mut Keys<'_>, notes: &mut Notes<'_>) -> Option<String> {
    let (line, columns) = keys.text("columns", notes)?;
    if columns.trim().is_empty() {
        notes.error(line, "columns is empty: they are written as in CREATE TABLE");
        return None;
    }
    Some(columns.to_owned())
}

fn sql(keys: &mut Keys<'_>, name: &str, notes: &mut Notes<'_>) -> Option<Sql> {
    let here = keys.optional_text("sql", notes);
    let file = keys.optional_text("sql-file", notes);
    match (here, file) {
        (Some((_, sql)), None) if !sql.trim().is_empty() => Some(Sql::Here(sql.to_owned())),
        (None, Some((_, file))) if !file.trim().is_empty() => Some(Sql::File(file.to_owned())),
        _ => {
            let what = format!("service {name} needs either sql or sql-file, not empty");
            notes.error(keys.line(), what);
            None
        }
    }
}

fn connections(keys: &mut Keys<'_>, notes: &mut Notes<'_>) -> Vec<Connection> {
    let Some((line, item)) = keys.item("connections", notes) else { return Vec::new() };
    let tables: Vec<&toml_edit::Table> = match item.as_array_of_tables() {
        Some(tables) => tables.iter().collect(),
        None => {
            let found = kind_of(item.type_name());
            notes.error(
                line,
                format!("connections is {found}: [[connections]] is needed, once for each"),
            );
            return Vec::new();
        }
    };
    let mut connections = Vec::new();
    for table in tables {
        let line = notes.line(table.span());
        let item = Item::Table(table.clone());
        connections.extend(connection(&item, line, notes));
    }
    connections
}

fn connection(item: &Item, line: usize, notes: &mut Notes<'_>) -> Option<Connection> {
    let mut keys = Keys::new(item, "a connection", line, notes)?;
    let from = keys.text("from", notes).map(|(_, name)| name.to_owned());
    let to = keys.text("to", notes).map(|(_, name)| name.to_owned());
    let allowed = [
        ("hold", WhenFull::Hold),
        ("drop-oldest", WhenFull::DropOldest),
        ("merge", WhenFull::Merge),
    ];
    let when_full = keys.choice("when-full", &allowed, notes);
    keys.end(notes);
    Some(Connection { from: from?, to: to?, when_full, line })
}
