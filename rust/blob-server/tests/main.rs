//! The server from outside, and over disks that are simulated.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod buckets;
mod cli;
mod cluster;
mod cluster_acks;
mod cluster_scrub;
mod common;
mod cut_off;
mod cycles;
mod disks;
mod docs;
mod keys;
mod kill;
mod leftovers;
mod life_cycles;
mod lists;
mod monitoring;
mod no_room;
mod node;
mod power;
mod protocol;
mod public_acls;
mod s3;
mod s3_limits;
mod scrub;
mod shutdown;
mod stale_uploads;
mod trees;
mod wrong_door;
