//! Unchanged programs (Python's), started with the library: what they exchange is what they exchange by TCP, and goes through
//! rings.

#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod calls;
mod death;
mod demotion;
mod hostile;
mod namespaces;
mod processes;
mod streams;
mod world;
