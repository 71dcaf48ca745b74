//! Load for blob stores, and the limits of the machine that it is measured against.
//!
//! ```text
//!  load --operation put ---> server ---> file of acknowledged objects ---> load --operation get
//!  open-loop                                                          \--> verify: every byte
//!  bare: a server without a store     loopback, disk: no server     index: the store without a server
//! ```
//!
//! The load is the same for all servers. Objects are known from their numbers, so that any process can tell whether a
//! byte is right. Each command ends with one line of JSON.

mod acknowledged;
mod bare;
mod cache;
mod content;
mod counted;
mod disk;
mod disk_read;
mod error;
mod index;
mod load;
mod loopback;
mod measured;
mod native;
mod open_loop;
mod process;
mod s3;
mod session;
mod sign;
mod threads;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;

#[derive(Debug, Parser)]
#[command(version, about = "Load for blob stores, and the limits it is measured against")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Clients put or get objects for a time, or so many of them.
    Load(load::LoadArguments),
    /// Clients put and get by a schedule, until standard input ends.
    OpenLoop(open_loop::OpenLoopArguments),
    /// Reads every acknowledged object once and compares every byte.
    Verify(verify::VerifyArguments),
    /// A server that answers from memory.
    Bare(bare::BareArguments),
    /// The limit of the network: one TCP stream.
    Loopback(loopback::LoopbackArguments),
    /// The limit of the disk: groups of appends with one fdatasync each.
    Disk(disk::DiskArguments),
    /// The limit of the disk for reads: objects in any order, around the page cache.
    DiskRead(disk_read::DiskReadArguments),
    /// Memory and reads of a partition's index.
    Index(index::IndexArguments),
    /// Drops files from the cache.
    Drop(cache::DropArguments),
    /// Becomes another program, which ends with the process that started this one.
    Run {
        /// The program and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        words: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(&Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("afterbay-blob-bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<()> {
    match command {
        Command::Load(arguments) => load::run(arguments),
        Command::OpenLoop(arguments) => open_loop::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Bare(arguments) => bare::run(arguments),
        Command::Loopback(arguments) => loopback::run(arguments),
        Command::Disk(arguments) => disk::run(arguments),
        Command::DiskRead(arguments) => disk_read::run(arguments),
        Command::Index(arguments) => index::run(arguments),
        Command::Drop(arguments) => cache::run(arguments),
        Command::Run { words } => process::become_program(words),
    }
}
