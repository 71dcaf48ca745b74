//! What the kernel says beside a connection's bytes, and what it does with them that rings do not have.

use std::process::Command;

use serde_json::Value;

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const SCRIPT: &str = include_str!("beside.py");
const PYTHON: &str = "/usr/bin/python3";

fn start(mut command: Command, words: &[&str]) -> Told {
    command.args(["-c", SCRIPT]).args(words);
    Told::start(command)
}

/// What the program says until the line.
#[track_caller]
fn hear_until(program: &mut Told, end: &str) -> Vec<String> {
    let mut said = Vec::new();
    loop {
        let line = program.hear();
        if line == end {
            return said;
        }
        assert!(!line.is_empty(), "it ended after {said:?}");
        said.push(line);
    }
}

/// What it says, and its connections before and after it asks for times.
fn times(command: Command, how: &str, memory: Option<&Memory>) -> (Vec<String>, [Vec<Value>; 2]) {
    let known = |program: &Told, count| {
        memory.map_or(Vec::new(), |memory| memory.all_connections_of(program.id(), count))
    };
    let mut program = start(command, &["times", how]);
    let mut said = hear_until(&mut program, "plain or in rings");
    let before = known(&program, 2);
    program.tell("");
    said.extend(hear_until(&mut program, "end"));
    let after = known(&program, 4);
    program.tell("");
    (said, [before, after])
}

#[test]
fn what_the_kernel_says_beside_the_bytes_is_the_programs() {
    let memory = Memory::new();
    for (command, how) in
        [(memory.program_by_default(PYTHON), "queue"), (memory.program(PYTHON), "no queue")]
    {
        let (by_tcp, _) = times(Command::new(PYTHON), how, None);
        let (said, [before, after]) = times(command, how, Some(&memory));
        assert_eq!(said, by_tcp, "{how}");
        let times_of = "[(1, 29, 16)]";
        assert_eq!(by_tcp.iter().filter(|line| *line == times_of).count(), 2, "{by_tcp:?}");
        assert!(before.iter().all(|end| bytes_of(end).1 > 0), "no rings: {before:#?}");
        let reads =
            after.iter().filter(|end| end["reason"].as_str().unwrap_or("").contains("timestamps"));
        assert!(reads.count() >= 3, "{after:#?}");
    }
}

/// The library asks the kernel nothing more than the program does.
#[test]
fn a_connection_without_rings_is_spliced_by_the_kernel_alone() {
    let memory = Memory::new();
    let mut program = start(memory.program_by_default(PYTHON), &["splices"]);
    assert_eq!(program.hear(), "spliced");
    let reads = |end: &Value| end["in"]["tcp_bytes"] == 2_500;
    let ends = memory.all_connections_of(program.id(), 2);
    assert_eq!(ends.iter().filter(|end| reads(end)).count(), 1, "{ends:#?}");
    for end in ends {
        assert_eq!(bytes_of(&end).1, 0, "{end:#}");
    }
    program.tell("");
}

/// The rest is lost, as by TCP, and what has been written before is not.
#[test]
fn a_stream_that_does_not_wait_is_closed_with_more_than_there_is_room_for() {
    let memory = Memory::new();
    for command in [Command::new(PYTHON), memory.program(PYTHON)] {
        let mut program = start(command, &["closes_full"]);
        assert_eq!(program.hear(), "-1 EAGAIN");
        assert_eq!(program.hear(), "True True");
        program.tell("");
    }
}
