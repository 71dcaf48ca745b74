//! `app`, `cut` and `exec`.

mod app;
mod cut;
mod exec;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use afterbay_edge_plan::{Cut, Plan, cut as cut_plan};
use clap::{Parser, Subcommand};
use thiserror::Error;

/// Arguments, as `clap` reads them.
#[derive(Debug, Parser)]
#[command(
    name = "afterbay edge",
    version,
    about = "Runs the lower half of a Flink SQL job where its data is made",
    after_help = "Examples:\n  \
        afterbay edge app traffic.toml\n  \
        afterbay edge cut --plan job.json\n  \
        afterbay edge cut --plan job.json --lower lower.json --upper upper.json\n  \
        afterbay edge exec --plan job.json --site dev1 --input readings.ndjson\n  \
        mosquitto_sub -t readings | afterbay edge exec --plan job.json --site dev1 --input -\n\
        A plan is what COMPILE PLAN 'job.json' FOR INSERT INTO … writes, in Flink 2.3, with\n\
        SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE'.\n\
        Exit codes: 0 done; 1 not done, the reason is on the standard error; 2 wrong usage.\n\
        The guide is docs/edge.md."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says whether an app file is right, and what it says
    App(app::AppArgs),
    /// Says of each node of a plan whether it runs at the sites, and why not; writes both halves
    Cut(cut::CutArgs),
    /// Runs what a plan has for the sites, on a file
    Exec(exec::ExecArgs),
}

/// What went wrong, for people.
#[derive(Debug, Error)]
enum Failed {
    #[error("{0}")]
    Done(String),
    /// What the user has written is wrong.
    #[error("{0}")]
    Usage(String),
    /// Who reads the output has gone: nobody is to be told.
    #[error("the output is closed")]
    Closed,
}

type Result<T> = std::result::Result<T, Failed>;

/// Runs what the arguments of this process say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::App(args) => app::run(&args),
        Command::Cut(args) => cut::run(&args),
        Command::Exec(args) => exec::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Closed) => ExitCode::FAILURE,
        Err(failed) => {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "afterbay edge: {failed}");
            if matches!(failed, Failed::Usage(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

fn failed(place: &Path, what: impl std::fmt::Display) -> Failed {
    Failed::Done(format!("{}: {what}", place.display()))
}

/// The standard output did not take it.
fn unwritten(error: std::io::Error) -> Failed {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        Failed::Closed
    } else {
        Failed::Done(format!("standard output: {error}"))
    }
}

fn read_plan(path: &Path) -> Result<(Plan, Cut)> {
    let text = std::fs::read_to_string(path).map_err(|error| failed(path, error))?;
    let plan = Plan::parse(&text).map_err(|error| failed(path, error))?;
    let cut = cut_plan(&plan);
    Ok((plan, cut))
}
