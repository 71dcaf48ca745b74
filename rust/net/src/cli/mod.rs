//! The command line: `afterbay-net`, or `./afterbay net`.

mod agent;
mod demote;
mod run;
mod status;
mod values;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::place::{Place, PlaceError};

/// Arguments, as `clap` reads them.
#[derive(Debug, Parser)]
#[command(
    name = "afterbay net",
    bin_name = "afterbay net",
    version,
    about = "Lets programs of this host that talk through TCP talk through shared memory, unchanged",
    after_help = "Examples:\n  \
        afterbay net run -- redis-server --port 6379\n  \
        afterbay net run -- redis-benchmark -p 6379 -P 16\n  \
        afterbay net status\n  \
        afterbay net demote 4711\n\
        Exit codes: 0 done; 1 not done, the reason is on the standard error; 2 wrong usage. Those of 'run' are its program's; 125 it could not be started, \
        126 it may not be executed, 127 it was not found.\n\
        The guide is docs/net.md."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a program whose connections move to shared memory where the other end is such a program too
    Run(run::RunArgs),
    /// Starts an agent, which brings the two ends of connections together; 'run' does so by itself
    Agent(agent::AgentArgs),
    /// Shows connections: their programs, bytes by TCP and through memory, and why one is on TCP
    Status(status::StatusArgs),
    /// Brings connections back to TCP while they are used
    Demote(demote::DemoteArgs),
}

/// Which agent.
#[derive(Debug, Args)]
struct AgentDirectory {
    /// Directory of the agent, which only its user can open; by default one of this user's, below $XDG_RUNTIME_DIR or /tmp
    #[arg(long = "agent", value_name = "DIR", env = "AFTERBAY_NET_DIR")]
    directory: Option<PathBuf>,
}

impl AgentDirectory {
    fn place(&self) -> Result<Place, PlaceError> {
        self.directory.as_deref().map_or_else(|| Ok(Place::of_user()), Place::at)
    }
}

/// How long a program is waited for that is asked what it has.
#[derive(Debug, Args)]
struct Patience {
    /// Seconds. For tests, which may be held up for longer on a busy machine
    #[arg(
        long = "patience",
        hide = true,
        value_name = "SECONDS",
        env = "AFTERBAY_NET_PATIENCE",
        default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    seconds: u32,
}

impl Patience {
    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }
}

/// What went wrong, for people.
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Runs what the arguments of this process say.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        // It comes back only if there is no program to go on as.
        Command::Run(args) => {
            let (code, reason) = run::run(&args);
            complain(&reason);
            return ExitCode::from(code);
        }
        Command::Agent(args) => agent::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Demote(args) => demote::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// Says something on the standard error. Without one there is nobody to tell.
fn complain(text: &dyn std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "afterbay net: {text}");
}

/// Writes to the standard output. That nobody reads it any more is no error.
fn print(text: &str) -> Result<(), Failed> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
