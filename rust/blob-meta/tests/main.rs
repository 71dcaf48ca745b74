//! The names from outside, on disks that are simulated and on a real one.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod common;
mod crash;
mod group;
mod model;
mod no_room;
mod open_time;
mod stale_uploads;
