//! A partition from outside, on disks that are simulated and on a real one.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod bad_sectors;
mod bad_sectors_sealed;
mod common;
mod compaction_reads;
mod damage;
mod expired_model;
mod kill;
mod model;
mod operations;
mod replica_changes;
mod replica_model;
mod replica_repair;
mod replicas;
mod scrub;
mod scrub_model;
mod syncs;
