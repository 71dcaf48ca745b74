//! `run`.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use afterbay_net_proto::GroupName;
use clap::{Args, ValueEnum};

use super::values::{ring, size};
use super::{AgentDirectory, complain};
use crate::place::Place;
use crate::preload::{LD_PRELOAD, library, with_library};
use crate::program::{self, Obstacle, Reason};
use crate::{seccomp, support};

/// As `env`, `nice` and `timeout` end if they cannot do their own work.
const COULD_NOT_START: u8 = 125;
/// As shells end for a program that may not be executed.
const NOT_EXECUTABLE: u8 = 126;
/// As shells end for a program that is not there.
const NOT_FOUND: u8 = 127;

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay net run -- redis-server --port 6379\n  \
    afterbay net run --spin off --ring 1m --memory 2g -- java -jar broker.jar\n  \
    afterbay net run --group shop -- ./service --listen 0.0.0.0:8080\n\
    Connections move to memory if both ends run so, with the same agent and group. A program that is linked statically, written in Go, \
    built for musl or set-user-id runs as without this command, and a line says so.")]
pub(crate) struct RunArgs {
    /// Whether a thread that waits for bytes looks for them for some microseconds before it sleeps
    #[arg(long, value_enum, default_value = "auto")]
    spin: Spin,
    /// Bytes that a ring grows to, each direction of a connection having one; a power of two
    #[arg(long, value_name = "SIZE", default_value = "256k", value_parser = ring)]
    ring: u64,
    /// Bytes that all rings of the program may take; connections beyond stay on TCP
    #[arg(long, value_name = "SIZE", default_value = "512m", value_parser = size)]
    memory: u64,
    /// Trust group: only programs of one group share memory
    #[arg(long, value_name = "NAME", default_value = "default")]
    group: GroupName,
    #[command(flatten)]
    agent: AgentDirectory,
    /// Let the kernel refuse io_uring, which otherwise keeps its program on TCP. Programs do without; 'sudo' does not work in them
    #[arg(long)]
    no_io_uring: bool,
    /// Do not say why the program is not accelerated
    #[arg(long, short)]
    quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Spin {
    /// As long as it has paid, and not where processors are few
    Auto,
    /// Never
    Off,
}

impl Spin {
    fn as_str(self) -> &'static str {
        match self {
            Spin::Auto => "auto",
            Spin::Off => "off",
        }
    }
}

/// Becomes the program. If there is none to become: the exit code, and why.
pub(crate) fn run(args: &RunArgs) -> (u8, String) {
    let [name, arguments @ ..] = &args.program[..] else { return (2, "no program".to_owned()) };
    let found = match program::find(name, std::env::var_os("PATH").as_deref()) {
        Ok(found) => found,
        Err(error) => return (error.exit_code(), error.to_string()),
    };
    let mut command = Command::new(&found.path);
    // What a program calls itself decides what some are.
    command.arg0(name).args(arguments);
    if let Some(obstacle) = &found.obstacle
        && !args.quiet
    {
        complain(&format!("not accelerated, connections stay on TCP: {obstacle}"));
    }
    let may_preload = found.obstacle.as_ref().is_none_or(may_preload);
    match support::check() {
        // It runs as without this command.
        Err(unsupported) if may_preload && !args.quiet => {
            complain(&format!("not accelerated, connections stay on TCP: {unsupported}"));
        }
        Ok(()) if may_preload => {
            if let Err(reason) = accelerate(args, &mut command) {
                return (COULD_NOT_START, reason);
            }
        }
        _ => {}
    }
    if args.no_io_uring
        && let Err(error) = seccomp::refuse_io_uring()
    {
        return (COULD_NOT_START, format!("the kernel takes no filter of system calls: {error}"));
    }
    let error = command.exec();
    let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
    (code, format!("{}: {error}", found.path.display()))
}

/// Whether the library does no harm: what the program starts may be accelerated though it is not. Loaders of another kind end with
/// an error, or say one.
fn may_preload(obstacle: &Obstacle) -> bool {
    !matches!(obstacle.reason, Reason::Loader(_) | Reason::Machine(_))
}

fn accelerate(args: &RunArgs, command: &mut Command) -> Result<(), String> {
    let library = library()?;
    let place = args.agent.place().map_err(|error| error.to_string())?;
    start_agent(&place)?;
    command
        .env(LD_PRELOAD, with_library(std::env::var_os(LD_PRELOAD).as_deref(), &library))
        .env("AFTERBAY_NET_AGENT", place.socket())
        .env("AFTERBAY_NET_GROUP", args.group.as_str())
        .env("AFTERBAY_NET_RING", args.ring.to_string())
        .env("AFTERBAY_NET_MEMORY", args.memory.to_string())
        .env("AFTERBAY_NET_SPIN", args.spin.as_str());
    Ok(())
}

/// By a process of its own, so that the agent is not the program's child, which would wait for it.
fn start_agent(place: &Place) -> Result<(), String> {
    // Mostly it is there.
    if place.agent().is_ok() {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let started = Command::new(program)
        .args(["agent", "--if-none", "--dir"])
        .arg(place.as_ref() as &Path)
        .env_remove(LD_PRELOAD)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("the agent could not be started: {error}"))?;
    if started.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&started.stderr);
    let said = said.trim_end();
    Err(said.strip_prefix("afterbay net: ").unwrap_or(said).to_owned())
}
