//! Load for sockets: the same over each way that two programs of a host can talk.
//!
//! ```text
//!   run --way veth --work stream
//!    |-- network: namespaces, cables, bridges of its own        (gone when this process is)
//!    |-- serve   in the namespace of one container   <--.
//!    `-- load    in that of the other one  -------------'  one line of JSON: rates, CPU of both, bytes on the wire
//! ```
//!
//! Both ends check what they read: a byte that is wrong, missing or twice is counted. redis's load does not look at its answers, so
//! values are written and read back beside it. Way `memory` starts both ends by
//! `afterbay net run` on the network of way `veth`; nothing else differs.

mod content;
mod error;
mod load;
mod network;
mod process;
mod redis;
mod run;
mod serve;
mod socket;
mod sockmap;
mod work;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;

#[derive(Debug, Parser)]
#[command(version, about = "Load for sockets, over each way that two programs of a host can talk")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A server and its clients on a network of their own, measured for a time.
    Run(run::RunArguments),
    /// The server alone; ends with its standard input.
    Serve(serve::ServeArguments),
    /// The clients alone.
    Load(load::LoadArguments),
    /// Becomes another program, which ends with the process that started this one.
    Become {
        /// The program and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        words: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(&Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("afterbay-net-bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<()> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Load(arguments) => load::run(arguments),
        Command::Become { words } => process::become_program(words),
    }
}
