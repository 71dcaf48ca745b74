//! `app`: whether an app file is right, and what it says.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use afterbay_edge_app::{App, Kind, Sql, WhenFull};
use clap::Args;
use serde_json::{Value as Json, json};

use super::{Failed, Result, failed, unwritten};

#[derive(Debug, Args)]
pub(crate) struct AppArgs {
    /// The app file
    #[arg(value_name = "APP")]
    app: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &AppArgs) -> Result<()> {
    let text = std::fs::read_to_string(&args.app).map_err(|error| failed(&args.app, error))?;
    let app = App::parse(&text).map_err(|errors| {
        let name = args.app.display();
        let lines = errors.0.iter().map(|error| format!("{name}:{error}"));
        Failed::Usage(lines.collect::<Vec<_>>().join("\nafterbay edge: "))
    })?;
    let text = if args.json { format!("{}\n", to_json(&app)) } else { to_text(&app) };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(unwritten)
}

fn to_text(app: &App) -> String {
    let mut text = format!("{}\n", app.name);
    for (name, service) in &app.services {
        let inputs: Vec<&str> = app.inputs(name).collect();
        let from =
            if inputs.is_empty() { String::new() } else { format!(" <- {}", inputs.join(", ")) };
        // Writing into a string does not fail.
        let _ = writeln!(text, "  {}  {} {name}{from}", service.location, service.kind.name());
    }
    text
}

fn to_json(app: &App) -> Json {
    let services = app.services.iter().map(|(name, service)| {
        let mut json = json!({
            "name": name, "kind": service.kind.name(),
            "location": service.location.to_string(), "line": service.line
        });
        match &service.kind {
            Kind::Source { columns, options, local } => {
                json["columns"] = columns.as_str().into();
                json["options"] = json!(options);
                json["local"] = json!(local);
            }
            Kind::Sink { columns, options } | Kind::Store { columns, options } => {
                json["columns"] = columns.as_str().into();
                json["options"] = json!(options);
            }
            Kind::View(Sql::Here(sql)) | Kind::Statement(Sql::Here(sql)) => {
                json["sql"] = sql.as_str().into();
            }
            Kind::View(Sql::File(file)) | Kind::Statement(Sql::File(file)) => {
                json["sqlFile"] = file.as_str().into();
            }
        }
        json
    });
    let connections = app.connections.iter().map(|connection| {
        let when_full = connection.when_full.map(|when| match when {
            WhenFull::Hold => "hold",
            WhenFull::DropOldest => "drop-oldest",
            WhenFull::Merge => "merge",
        });
        json!({"from": connection.from, "to": connection.to, "whenFull": when_full, "line": connection.line})
    });
    let (services, connections): (Vec<_>, Vec<_>) = (services.collect(), connections.collect());
    json!({"name": app.name, "services": services, "connections": connections})
}
