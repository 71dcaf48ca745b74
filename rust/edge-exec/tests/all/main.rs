//! What runs at a site, against Flink's semantics and models of them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod aggregates;
mod casts;
mod expressions;
mod finals;
mod formats;
mod left_out;
mod like;
mod logic;
mod sessions;
mod support;
mod waiting;
mod windows;
