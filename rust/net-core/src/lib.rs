//! Shared-memory sockets, as a library that is loaded into unchanged programs does them. `net-preload` has the functions that
//! programs call; here is what they do.
//!
//! ```text
//!   open      who has connected offers rings, who has accepted claims them   agent, descriptors, worth
//!   io        blocking reads and writes                                    conn, receive, send, back (to TCP), iov, spin
//!   transport what carries the bytes: TCP, or memory                       tcp, shm
//!   poll, epoll   readiness: TCP's and the bells', together              registration
//!   files     close, dup, shutdown, splice, and the ways back to TCP      relay, relaying
//!   service   a thread that does what nobody of the program asks for       status, attention
//!   slot      which descriptor is which connection                         shared, owners, family, link, lock, fork, memory
//!   process   whether this is the process whose connections these are   streams: those of the C library
//!   config    what the environment says;  sys  system calls
//! ```
//!
//! # Invariants
//! - TCP's connection stays, and no byte of ours is in it. What is not understood is left to TCP.
//! - Every TCP connection is in the table from its beginning, with blank rings, and counts what it carries until it is worth real ones.
//! - Nothing waits while it holds a lock, but for the agent's answer, which takes two seconds at most: where a process looks for its
//!   agent, where a connection begins with rings (`AFTERBAY_NET_AFTER=0`), and in the call of a program by which a connection becomes
//!   worth them. The service never does, and while it uses a descriptor it waits for nothing at all: who closes waits for it
//!   (`attention`). Locks are taken in one order (`fork`).
//! - A process and its children share the state of their connections: any of them may use it, as with TCP.
#![cfg(target_os = "linux")]

mod agent;
mod attention;
mod back;
pub mod config;
mod conn;
mod descriptors;
pub mod epoll;
mod family;
pub mod files;
pub mod fork;
pub mod io;
pub mod iov;
mod link;
mod lock;
mod memory;
pub mod open;
mod owners;
pub mod poll;
pub mod process;
mod receive;
mod registration;
mod relay;
mod relaying;
mod send;
mod service;
mod shared;
pub mod slot;
mod spin;
mod status;
pub mod streams;
pub mod sys;
mod transport;
mod worth;

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use afterbay_net_proto::Reason;

use crate::config::{Config, DEFAULT_PATIENCE};

pub use afterbay_net_proto::Reason as Why;
pub use process::is_foreign;
pub use rustix::io::Errno;

static CONFIG: OnceLock<Config> = OnceLock::new();
static USES_IO_URING: AtomicBool = AtomicBool::new(false);

/// Begins, if the environment names an agent. Once, before the program does anything. What is wrong with the environment.
pub fn begin() -> Result<(), String> {
    if let Some(config) = Config::of(|name| std::env::var(name).ok())? {
        family::begin()?;
        if CONFIG.set(config).is_ok() {
            process::note();
            fork::watch();
        }
    }
    Ok(())
}

/// What the environment says; nothing if all is plain TCP.
pub fn config() -> Option<&'static Config> {
    CONFIG.get()
}

/// How long an agent may take to answer, and a relay to begin.
pub(crate) fn patience() -> Duration {
    config().map_or(DEFAULT_PATIENCE, |config| config.patience)
}

/// The program uses `io_uring`, which no call of ours sees: all is TCP from now on. Not where it cannot (`net run --no-io-uring`).
pub fn begin_io_uring() {
    if config().is_some()
        && !is_foreign()
        && sys::has_io_uring()
        && !USES_IO_URING.swap(true, Relaxed)
    {
        for (_, fd) in slot::all() {
            files::leave(fd, Reason::IoUring);
        }
    }
}

pub(crate) fn uses_io_uring() -> bool {
    USES_IO_URING.load(Relaxed)
}
