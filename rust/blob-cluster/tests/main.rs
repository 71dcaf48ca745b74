//! Nodes with real partitions on simulated disks, in one thread and in simulated time. The simulation of `blob-sim` looks for
//! what is rare; here is what must happen, one thing at a time.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests")]

mod failures;
mod gets;
mod harness;
mod model;
mod repairs;
mod replication;
mod rules;
mod scrubs;
mod writes;
