//! Whether the parts of an app fit together.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::{App, Kind, Service};
use crate::error::AppError;
use crate::read::Draft;

pub(crate) fn check(draft: Draft) -> Result<App, Vec<AppError>> {
    let mut errors = Vec::new();
    places(&draft, &mut errors);
    ends(&draft, &mut errors);
    needs(&draft, &mut errors);
    local(&draft, &mut errors);
    if errors.is_empty() {
        directions(&draft, &mut errors);
        circle(&draft, &mut errors);
    }
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.line);
        return Err(errors);
    }
    let Draft { name, services, connections, mut locations, .. } = draft;
    let service = |(name, (line, kind)): (String, (usize, Kind))| {
        let (_, location) = locations.remove(&name)?;
        Some((name, Service { kind, location, line }))
    };
    let services = services.into_iter().filter_map(service).collect();
    Ok(App { name, services, connections })
}

fn error(errors: &mut Vec<AppError>, line: usize, what: String) {
    errors.push(AppError { line, what });
}

/// Names for messages.
fn names<T>(services: &BTreeMap<String, T>) -> String {
    if services.is_empty() {
        return "there are none".to_owned();
    }
    let names: Vec<&str> = services.keys().map(String::as_str).collect();
    format!("there are {}", names.join(", "))
}

fn places(draft: &Draft, errors: &mut Vec<AppError>) {
    for (name, (line, _)) in &draft.services {
        if !draft.locations.contains_key(name) {
            let forms = crate::location::Location::FORMS;
            error(errors, *line, format!("service {name} has no place in [locations]: {forms}"));
        }
    }
    for (name, (line, _)) in &draft.locations {
        if !draft.services.contains_key(name) {
            error(
                errors,
                *line,
                format!("no service is called {name}: {}", names(&draft.services)),
            );
        }
    }
}

fn ends(draft: &Draft, errors: &mut Vec<AppError>) {
    let mut seen = BTreeSet::new();
    for connection in &draft.connections {
        for name in [&connection.from, &connection.to] {
            if !draft.services.contains_key(name) {
                let what = format!("no service is called {name}: {}", names(&draft.services));
                error(errors, connection.line, what);
            }
        }
        if !seen.insert((&connection.from, &connection.to)) {
            let what = format!("{} and {} are connected twice", connection.from, connection.to);
            error(errors, connection.line, what);
        }
        if let Some((_, kind @ Kind::Sink { .. })) = draft.services.get(&connection.from) {
            let what =
                format!("{} is a {}, from which nothing comes", connection.from, kind.name());
            error(errors, connection.line, what);
        }
        if let Some((_, kind @ Kind::Source { .. })) = draft.services.get(&connection.to) {
            let what = format!("{} is a {}, into which nothing goes", connection.to, kind.name());
            error(errors, connection.line, what);
        }
    }
}

/// A service that nothing goes into, or nothing comes from, does nothing.
fn needs(draft: &Draft, errors: &mut Vec<AppError>) {
    if draft.services.is_empty() {
        error(errors, 1, "the app has no service".to_owned());
    }
    for (name, (line, kind)) in &draft.services {
        let takes = draft.connections.iter().any(|connection| connection.to == *name);
        let gives = draft.connections.iter().any(|connection| connection.from == *name);
        if !takes && !matches!(kind, Kind::Source { .. }) {
            error(errors, *line, format!("nothing is connected to {} {name}", kind.name()));
        }
        if !gives && !matches!(kind, Kind::Sink { .. } | Kind::Store { .. }) {
            error(errors, *line, format!("{} {name} is connected to nothing", kind.name()));
        }
    }
}

fn local(draft: &Draft, errors: &mut Vec<AppError>) {
    for (name, line, column) in &draft.local_lines {
        let Some((_, Kind::Source { columns, .. })) = draft.services.get(name) else { continue };
        let known = column_names(columns);
        if !known.contains(&column.as_str()) {
            let what = format!("source {name} has no column {column}: it has {}", known.join(", "));
            error(errors, *line, what);
        }
    }
}

/// The first word of each part between commas that are in no bracket, without backticks: no parser, Flink reads it again.
fn column_names(columns: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let between = |c: char| {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let first = |part: &'_ str| part.split_whitespace().next().map(str::len);
    let mut names = Vec::new();
    for part in columns.split(between) {
        let part = part.trim_start();
        if let Some(length) = first(part) {
            let name = part[..length].trim_matches('`');
            if !["WATERMARK", "PRIMARY"].contains(&name.to_ascii_uppercase().as_str()) {
                names.push(name);
            }
        }
    }
    names
}

fn directions(draft: &Draft, errors: &mut Vec<AppError>) {
    for connection in &draft.connections {
        let place = |name: &String| draft.locations.get(name).map(|(_, location)| location);
        let (Some(from), Some(to)) = (place(&connection.from), place(&connection.to)) else {
            continue;
        };
        let ends = format!("{} ({from}) and {} ({to})", connection.from, connection.to);
        if !from.is_edge() && to.is_edge() {
            let what = format!("{ends}: nothing goes from the cloud to a site");
            error(errors, connection.line, what);
        }
        if from.is_edge() && to.is_edge() && from != to {
            let what =
                format!("{ends}: two services at sites that are connected have one location");
            error(errors, connection.line, what);
        }
        let leaves_a_site = from.is_edge() && !to.is_edge();
        if connection.when_full.is_some() && !leaves_a_site {
            let what = format!("{ends}: when-full is of connections from a site to the cloud");
            error(errors, connection.line, what);
        }
    }
}

/// Takes away what nothing unknown goes into, until there is nothing left, or a circle.
fn circle(draft: &Draft, errors: &mut Vec<AppError>) {
    let mut left: BTreeSet<&str> = draft.services.keys().map(String::as_str).collect();
    loop {
        let waits = |name: &str| {
            let mut inputs = draft.connections.iter().filter(|connection| connection.to == name);
            inputs.any(|connection| left.contains(connection.from.as_str()))
        };
        let free: Vec<&str> = left.iter().copied().filter(|name| !waits(name)).collect();
        if free.is_empty() {
            break;
        }
        for name in free {
            left.remove(name);
        }
    }
    let Some(&start) = left.first() else { return };
    // Backwards from any that is left: each has an input that is left, so that some name comes twice.
    let mut path = vec![start];
    loop {
        let name = path[path.len() - 1];
        let input = draft
            .connections
            .iter()
            .find(|connection| connection.to == name && left.contains(connection.from.as_str()));
        let Some(input) = input else { return };
        if let Some(begin) = path.iter().position(|seen| *seen == input.from) {
            let mut circle: Vec<&str> = path[begin..].to_vec();
            circle.push(path[begin]);
            circle.reverse();
            let what = format!("services go round in a circle: {}", circle.join(" -> "));
            return error(errors, input.line, what);
        }
        path.push(&input.from);
    }
}
