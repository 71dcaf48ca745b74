//! The command line of shared-memory sockets: `./afterbay net`.
//!
//! ```text
//!   cli: run, agent, status, demote
//!    |     |
//!    |     +-- program    what a file is that shall run: can the library be loaded into it?   elf
//!    |     +-- preload    the library, and the environment that brings it into a program
//!    |
//!    +-- report     connections, for people and programs    metrics: for Prometheus
//!    +-- place      the agent's directory: one user's, and nobody else's
//!    +-- start      an agent that goes on by itself          inherited (this and seccomp have unsafe)
//!    +-- seccomp    programs that are to do without io_uring
//!    +-- support    what the kernel has to have
//! ```
//!
//! The guide is `docs/net.md`.
//!
//! # Invariants
//! - A program that cannot be accelerated runs all the same, and a line says why it is not.
//! - What `run` starts is the same process (`exec`), and no agent is its child.
//! - Nothing is written, and nobody asked, in a directory that somebody else can change.
#![cfg(target_os = "linux")]

pub mod cli;
mod elf;
mod inherited;
mod metrics;
mod place;
mod preload;
mod program;
mod report;
mod seccomp;
mod start;
mod support;

pub use elf::{Kind, Machine};
pub use place::{Place, PlaceError};
pub use program::{Found, Obstacle, ProgramError, Reason, find};
