//! Plans that Flink 2.3.0 has compiled (`tests/plans`), and what happens to them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod cuts;
mod halves;
mod never_panics;
mod strictness;
mod types;

use std::path::Path;

use afterbay_edge_plan::{Plan, PlanError};

/// The text of one of the plans.
fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let path = folder.join(format!("{name}.json"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn plan(name: &str) -> Plan {
    parse(&text(name)).unwrap()
}

fn parse(text: &str) -> Result<Plan, PlanError> {
    Plan::parse(text)
}

/// All plans of jobs.
const ALL: [&str; 22] = [
    "attached",
    "attached-hop",
    "computed-time",
    "cumulate",
    "distinct",
    "functions",
    "functions-of-numbers-and-time",
    "hop",
    "hopstar",
    "join",
    "kafka",
    "kafka-computed-time",
    "lastvalue",
    "lower",
    "more-functions",
    "offset",
    "project",
    "session",
    "tumble",
    "unbounded",
    "union",
    "upper",
];
