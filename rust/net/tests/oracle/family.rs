//! Processes that have a connection together, and do not see each other: it is theirs until the last one of them lets it go.

use std::process::{Command, Stdio};

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const SCRIPT: &str = include_str!("family.py");
/// The program is where it was, and its children are in a namespace of their own.
const APART: [&str; 3] = ["-Ur", "--pid", "/usr/bin/python3"];

pub(crate) fn has_namespaces() -> bool {
    let made =
        Command::new("unshare").args(["-Ur", "--pid", "true"]).stderr(Stdio::null()).status();
    let is_there = made.is_ok_and(|status| status.success());
    if !is_there {
        assert!(std::env::var_os("CI").is_none(), "no namespaces of processes here");
        println!("not run: no namespaces of processes here (unshare -Ur --pid)");
    }
    is_there
}

/// What the program that asks finds: after a child of the other one is gone, and after one could not be made.
fn found(starts: impl Fn(&str) -> Command) -> (Told, Told) {
    let mut command = starts("unshare");
    command.args(APART).args(["-c", SCRIPT, "serves"]);
    let mut serves = Told::start(command);
    let mut command = starts("/usr/bin/python3");
    command.args(["-c", SCRIPT, "asks", &serves.hear()]);
    let mut asks = Told::start(command);
    assert_eq!(asks.hear(), "in memory");
    (serves, asks)
}

fn check(mut serves: Told, mut asks: Told) {
    serves.tell("");
    assert_eq!(serves.hear(), "the child is gone");
    // It may look for bytes before there are any.
    asks.tell("");
    serves.tell("");
    assert_eq!(asks.hear(), "after the child");
    assert_eq!(asks.hear(), "unread");
    serves.tell("");
    assert_eq!(serves.hear(), "no second child");
    asks.tell("");
    assert_eq!(asks.hear(), "ECONNRESET");
    serves.tell("");
}

#[test]
fn a_child_of_another_namespace_knows_that_its_parent_lives() {
    if !has_namespaces() {
        return;
    }
    let (serves, asks) = found(|program| Command::new(program));
    check(serves, asks);
    let memory = Memory::new();
    let ways: [fn(&Memory, &str) -> Command; 2] = [
        |memory, program| memory.program(program),
        |memory, program| memory.program_by_default(program),
    ];
    for starts in ways {
        let (serves, asks) = found(|program| starts(&memory, program));
        let status = memory.connection_of(asks.id());
        assert!(bytes_of(&status).1 > 0, "{status:#}");
        check(serves, asks);
    }
}
