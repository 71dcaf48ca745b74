//! A process and its child that wait for one connection by one epoll: what one of them closes, the other one goes on with.

use std::process::Command;

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const SCRIPT: &str = include_str!("epolls.py");
const PYTHON: &str = "/usr/bin/python3";
/// A thread that looks each millisecond soon has slept more often, and one that never waits hardly ever does.
const TIMES_ASLEEP_MIN: u32 = 20;

#[track_caller]
fn is_told(mut command: Command, what: &str) -> Told {
    command.args(["-c", SCRIPT, what]);
    let mut program = Told::start(command);
    assert_eq!(program.hear(), "told");
    program
}

#[test]
fn a_child_goes_on_by_its_parents_epoll() {
    let memory = Memory::new();
    is_told(Command::new(PYTHON), "registered");
    is_told(memory.program_by_default(PYTHON), "registered");
}

#[test]
fn a_child_puts_into_its_parents_epoll_what_was_taken_out() {
    let memory = Memory::new();
    is_told(Command::new(PYTHON), "taken_out");
    is_told(memory.program_by_default(PYTHON), "taken_out");
    let program = is_told(memory.program(PYTHON), "taken_out");
    // The other end of it.
    let asks = memory.connection_of(program.id());
    assert!(bytes_of(&asks).1 > 0, "no rings: {asks:#}");
}

/// What the kernel says there again and again is another process's, and no reason to use a whole processor.
#[test]
fn a_wait_sleeps_though_another_process_has_something_ready_there() {
    let memory = Memory::new();
    let start = |what: &str| {
        let mut command = memory.program_by_default(PYTHON);
        command.args(["-c", SCRIPT, what]);
        Told::start(command)
    };
    for program in ["another_connection", "another_wish"].map(start) {
        let (said, _program) = program.says();
        let slept = said.strip_prefix("slept ").and_then(|times| times.parse::<u32>().ok());
        assert!(slept.is_some_and(|times| times > TIMES_ASLEEP_MIN), "{said}");
    }
}
