//! Simulations as tests: seeds of which nothing is broken, controls that are found out, and the same events for the same seed.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::Command;

use afterbay_blob_sim::{FaultKind, Outcome, Trace, Without, simulate, sweep};
use afterbay_test_form::{is_long, simulated_seeds};

/// As many as a busy machine of two processors has use for.
const THREADS: usize = 2;
/// Within so many seeds, each control is found out.
const CONTROL_SEEDS: u64 = 500;

/// A seed that finds each rule left out. It moves when what is drawn from a seed changes: `--seeds 500 --without RULE` says where
/// to.
const FOUND: &[(&str, u64)] = &[
    ("sync_before_token", 121),
    ("horizon", 3),
    ("stamp", 1),
    ("incarnation", 1),
    ("epoch", 1),
    ("former", 61),
    ("settled", 3),
    ("same_log", 110),
    ("supersede", 76),
    ("deadline", 32),
    ("passed", 7),
    ("flush", 143),
    ("sync_before_acknowledgement", 1),
];

/// Seeds that found something once.
const REGRESSIONS: &[u64] = &[
    // A log that was put back took blobs, was started again, and took them for what others had known.
    580,
    // A damaged header of a segment was found when the replica was opened, after another disk was lost.
    493, 1254,
    // An undelete that all replicas were to acknowledge asked one whether there was a delete.
    577, 2314, // Of a delete that two replicas had acknowledged at `fast`, one lost it.
    699,  // A disk was put back while those that had heard what it forgot were away.
    271,
    // Tokens of two nodes were damaged, one after the other, and nobody had read them meanwhile.
    1650,
    // A disk that was lost was back, empty, before it was asked what it had forgotten.
    6396,
    // Nodes that had been put back were started again, and a backup of another one put all of them in doubt; in the second one,
    // what a log knew of its own past had been forgotten with its tokens.
    7840, 694,
    // A node was cut off and lost its disk; the backup of it had what nobody had taken over from it.
    2938, 7167,
];

fn program(arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_afterbay-blob-sim")).args(arguments).output();
    let done = done.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

fn broken(outcome: &Outcome) -> String {
    format!("seed {}: {:?}", outcome.settings.seed, outcome.violation)
}

#[test]
fn nothing_is_broken() {
    let seeds = simulated_seeds();
    let swept = sweep(1..=seeds, &Without::nothing(), THREADS, |_| {});
    assert!(swept.failed.is_none(), "{}", swept.failed.as_ref().map(broken).unwrap());
    assert_eq!(swept.seeds, seeds);
    // Something was done, and something went wrong meanwhile.
    let least = |count: u64, each: u64| assert!(count >= seeds * each, "{count} of {seeds} seeds");
    least(swept.done, 20);
    least(swept.read, 15);
    least(swept.faults.total(), 3);
    for &kind in FaultKind::ALL {
        let count = swept.faults.of(kind);
        assert!(100 * count >= seeds, "{kind} happened {count} times in {seeds} seeds");
    }
}

#[test]
fn what_was_found_once_is_mended() {
    for &seed in REGRESSIONS {
        let outcome = simulate(seed, &Without::nothing(), Trace::silent());
        assert!(outcome.violation.is_none(), "{}", broken(&outcome));
    }
}

#[test]
fn each_rule_is_needed() {
    let mut named: Vec<_> = FOUND.iter().map(|(rule, _)| *rule).collect();
    let mut names = Without::names();
    named.sort_unstable();
    names.sort_unstable();
    assert_eq!(named, names, "each rule has a control");
    for &(rule, seed) in FOUND {
        let without = Without::rule(rule).unwrap();
        let outcome = simulate(seed, &without, Trace::silent());
        assert!(outcome.violation.is_some(), "without {rule}, seed {seed} finds nothing");
        assert!(seed <= CONTROL_SEEDS);
        // That it is the rule which was left out, and not the seed.
        let whole = simulate(seed, &Without::nothing(), Trace::silent());
        assert!(whole.violation.is_none(), "{}", broken(&whole));
        if is_long() {
            let swept = sweep(1..=CONTROL_SEEDS, &without, THREADS, |_| {});
            assert!(swept.failed.is_some(), "without {rule}, {CONTROL_SEEDS} seeds find nothing");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_events_in_another_process() {
    let mut hashes = Vec::new();
    for seed in [1, 2, 3, 5, 8, 13] {
        let number = seed.to_string();
        let (code, printed, _) = program(&["--seed", &number, "--trace"]);
        let (_, again, _) = program(&["--seed", &number, "--trace"]);
        assert_eq!(code, Some(0));
        assert!(printed.lines().count() > 1000, "{} lines", printed.lines().count());
        // Not the texts: they are long.
        assert!(printed == again, "seed {seed}");
        let last = printed.lines().last().unwrap().to_owned();
        let outcome = simulate(seed, &Without::nothing(), Trace::hashed());
        let (hash, lines) = (outcome.trace.hash(), outcome.trace.lines());
        assert_eq!(last, format!("hash {hash:016x} of {lines} events"));
        hashes.push(hash);
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 6);
}

#[test]
fn a_rule_that_is_left_out_is_reported_with_all_that_is_needed_to_see_it_again() {
    let (code, printed, said) = program(&["--seeds", "500", "--without", "stamp", "--json"]);
    assert_eq!(code, Some(1));
    let found: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let command = found["broken"]["command"].as_str().unwrap();
    assert!(said.contains(command), "{said}");
    for part in
        ["seed  ", "faults  ", "broken after ", "blob  ", "found  ", "last events of it", "Write"]
    {
        assert!(said.contains(part), "no '{part}' in {said}");
    }
    assert!(!said.contains("not deterministic"), "{said}");
    let arguments: Vec<_> = command.split(' ').skip(3).collect();
    let (code, printed, _) = program(&arguments);
    assert_eq!(code, Some(1));
    assert!(printed.contains(" broken: "));
}

#[test]
fn wrong_arguments_are_refused_with_the_ones_that_there_are() {
    let (code, _, said) = program(&["--without", "luck"]);
    assert_eq!(code, Some(2));
    assert!(Without::names().iter().all(|name| said.contains(name)), "{said}");
    assert_eq!(program(&["--seeds", "0"]).0, Some(2));
    assert_eq!(program(&["--trace"]).0, Some(2));
    let (code, printed, _) = program(&["--seed", "1"]);
    assert_eq!(code, Some(0));
    assert!(printed.contains("nothing was broken"), "{printed}");
}
