//! What a program has written when it ends, or becomes another one, and nobody has read yet: it arrives, as it does by TCP.

use std::process::Command;

use afterbay_test_form::Wait;

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const SCRIPT: &str = include_str!("lingers.py");
const PYTHON: &str = "/usr/bin/python3";
/// How the writer ends.
const ENDS: [&str; 9] = [
    "_exit",
    "exit",
    "exec",
    "exec_of_an_heir",
    "close",
    "close_and_exec",
    "linger",
    "shutdown",
    "stream",
];
const ALL: &str = "True 65536 end";

fn python(mut command: Command, words: &[&str]) -> Told {
    command.args(["-c", SCRIPT]).args(words);
    Told::start(command)
}

#[track_caller]
fn is_gone(writes: &mut Told, how: &str) {
    let wait = Wait::until("the writer is gone");
    while writes.goes_on() {
        wait.check(how);
    }
}

/// The reader has not begun to read.
#[test]
fn a_writer_that_ends_at_once_has_written_all() {
    let memory = Memory::new();
    for how in ENDS {
        for is_plain in [true, false] {
            let command = || if is_plain { Command::new(PYTHON) } else { memory.program(PYTHON) };
            let mut reads = python(command(), &["reads", "at once"]);
            let mut writes = python(command(), &["writes", &reads.hear(), how, "at once"]);
            assert_eq!(reads.hear(), "exchanged");
            is_gone(&mut writes, how);
            reads.tell("");
            let (said, reads) = reads.says();
            assert_eq!(said, ALL, "{how}");
            if !is_plain {
                let connection = memory.connection_of(reads.id());
                let (by_tcp, in_ring) = bytes_of(&connection);
                // A reader that has not heard of the ring gets nothing there from a program that goes back.
                assert!(in_ring > 32 << 10 || how == "exec_of_an_heir", "{how}: {connection:#}");
                assert!(by_tcp + in_ring > 64 << 10, "{how}: {connection:#}");
            }
        }
    }
}

/// A reader, and its writer, whose bytes are in memory.
fn in_memory(memory: &Memory, writes: [&str; 3]) -> (Told, Told) {
    let mut reads = python(memory.program(PYTHON), &["reads", "later"]);
    let port = reads.hear();
    let [what, how, when] = writes;
    let mut writes = python(memory.program(PYTHON), &[what, &port, how, when]);
    assert_eq!(reads.hear(), "exchanged");
    assert_eq!(writes.hear(), "written");
    (reads, writes)
}

/// The reader goes back to TCP, whose buffers are full soon.
fn go_back(memory: &Memory, reads: &Told, writes: &Told) {
    let bytes = || bytes_of(&memory.connection_of(writes.id()));
    let (by_tcp, in_ring) = bytes();
    assert!(in_ring > 32 << 10, "nothing in memory");
    memory.begin_to_demote(reads.id());
    Wait::block("the writer has sent some by TCP", || bytes().0 > by_tcp);
}

/// The rest waits in memory: it was the writer's to send it.
fn leaves_what_waits(how: &str, is_demoted: bool) {
    let memory = Memory::new();
    let (mut reads, mut writes) = in_memory(&memory, ["writes", how, "later"]);
    if is_demoted {
        go_back(&memory, &reads, &writes);
    }
    writes.tell("");
    is_gone(&mut writes, how);
    reads.tell("");
    let (said, _reads) = reads.says();
    assert_eq!(said, ALL, "{how}");
}

/// The reader has gone back to TCP. A stream's last bytes wait for room, as they do by TCP.
#[test]
fn a_writer_that_ends_leaves_what_waits_for_room() {
    let ends = ENDS.iter().filter(|&&how| how != "stream");
    ends.for_each(|how| leaves_what_waits(how, true));
}

/// The writer itself goes back, since another program has its descriptor then.
#[test]
fn a_writer_that_becomes_another_program_leaves_what_waits_for_room() {
    leaves_what_waits("exec_of_an_heir", false);
}

/// A child that has the connection too, and does nothing with it, has no thread that sends what waits. It is there still.
#[test]
fn what_a_killed_process_leaves_comes_when_its_idle_child_ends() {
    let memory = Memory::new();
    let (mut reads, mut writes) = in_memory(&memory, ["leaves_to_child", "", ""]);
    go_back(&memory, &reads, &writes);
    writes.kill();
    reads.tell("");
    // Its child's input, too.
    writes.tell("");
    let (said, _reads) = reads.says();
    assert_eq!(said, ALL);
}
