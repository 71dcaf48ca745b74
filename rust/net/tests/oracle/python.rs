//! CPython's own tests of sockets, with the library and without: each comes to the same, and with it their connections have rings.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use afterbay_test_form::{counted, is_long};

use crate::memory::Memory;
use crate::programs::python_suite;

/// The tests' names, and what they came to.
type Outcomes = BTreeMap<String, String>;

/// Of each suite, so many connections get rings, at least. How many bytes went through them, nobody can ask any more when the tests are
/// done.
const PAIRS: u64 = 10;

/// How often tests that come to something else are run once more without the library, at most.
const AGAIN: usize = 3;

/// Runs tests with the machine's own Python, whose they are.
fn outcomes(suite: &Path, arguments: &[&str], mut command: Command) -> Outcomes {
    let said = command
        .args(["-m", "unittest", "-v"])
        .args(arguments)
        .env("PYTHONPATH", suite)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let outcomes = parse(&said);
    let ran =
        said.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse().ok());
    assert_eq!(ran, Some(outcomes.len()), "{said}");
    outcomes
}

/// `testDup (test.test_socket.BasicTCPTest.testDup) ... ok`, perhaps with a description or warnings between.
fn parse(said: &str) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut name = None;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once(" (test.") {
            name = rest.split_once(')').map(|(name, _)| name.to_owned());
        }
        let outcome = ["ok", "FAIL", "ERROR", "expected failure"]
            .into_iter()
            .find(|word| line.ends_with(word));
        let skipped = line.contains("... skipped").then_some("skipped");
        // What follows the dots is the outcome, on this line or, after a warning, on one of its own.
        if let Some(outcome) = outcome.or(skipped)
            && (line.contains(" ... ") || line == outcome)
            && let Some(name) = name.take()
        {
            outcomes.insert(name, outcome.to_owned());
        }
    }
    outcomes
}

fn compare(arguments: &[&str], at_least: usize) {
    let Some(suite) = python_suite() else { return };
    let python = Path::new("/usr/bin/python3");
    let memory = Memory::with_metrics();
    let plainly = outcomes(&suite, arguments, Command::new(python));
    assert!(plainly.len() >= at_least, "{} tests only", plainly.len());
    // The control.
    assert_eq!(memory.pairs(), 0, "rings without the library");
    let in_memory = outcomes(&suite, arguments, memory.program(python));
    let pairs = memory.pairs();
    let (tests, suite_name) = (in_memory.len(), arguments.join(" "));
    counted(&format!("net: CPython's {suite_name}: {tests} tests, {pairs} connections with rings"));
    assert!(pairs >= PAIRS, "{pairs} connections with rings only");
    assert!(plainly.keys().eq(in_memory.keys()), "{plainly:?}\n{in_memory:?}");
    let mut different = differences(plainly, in_memory);
    // Some of these tests are about time, and fail on a busy machine. They do so without the library too: what comes to the same
    // each time without it, and once to something else with it, is the library's.
    for _ in 0..AGAIN {
        if different.is_empty() {
            return;
        }
        let names: Vec<_> = different.iter().map(|(name, ..)| format!("test.{name}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let again = outcomes(&suite, &names, Command::new(python));
        different.retain(|(name, plainly, _)| again.get(name).is_none_or(|again| again == plainly));
    }
    assert!(different.is_empty(), "test, without, with the library: {different:#?}");
}

/// Tests that come to something else, and what they come to without and with the library.
fn differences(plainly: Outcomes, in_memory: Outcomes) -> Vec<(String, String, Option<String>)> {
    let with = plainly.into_iter().map(|(name, plainly)| {
        let with = in_memory.get(&name).cloned();
        (name, plainly, with)
    });
    with.filter(|(_, plainly, with)| Some(plainly) != with.as_ref()).collect()
}

#[test]
fn sockets_of_python_do_what_they_did() {
    compare(&["-k", "TCP", "test.test_socket"], 70);
}

#[test]
fn asyncio_does_what_it_did() {
    let tests = ["test_streams", "test_sock_lowlevel", "test_events"]
        .map(|name| format!("test.test_asyncio.{name}"));
    compare(&tests.each_ref().map(String::as_str), 300);
}

#[test]
fn servers_and_selectors_of_python_do_what_they_did() {
    if !is_long() {
        return println!("in the long form only");
    }
    compare(
        &[
            "test.test_epoll",
            "test.test_select",
            "test.test_selectors",
            "test.test_socketserver",
            "test.test_smtplib",
        ],
        150,
    );
}

#[test]
fn outcomes_are_read_as_unittest_writes_them() {
    let said = "testA (test.x.A.testA) ... ok\ntestB (test.x.A.testB)\nWhat it does. ... skipped 'why'\n\
                testC (test.x.A.testC) ... warning\nok\ntestD (test.x.A.testD) ... FAIL\n\nRan 4 tests in 1s\nok\n";
    let expected =
        [("x.A.testA", "ok"), ("x.A.testB", "skipped"), ("x.A.testC", "ok"), ("x.A.testD", "FAIL")];
    assert_eq!(
        parse(said),
        expected.map(|(name, outcome)| (name.to_owned(), outcome.to_owned())).into()
    );
}
