//! Another program that goes on with a connection while bytes are in memory: a relay stands in, and if there can be none, nobody
//! takes it for the end of the stream.

use std::io::Read;
use std::process::Command;

use afterbay_test_form::Wait;
use rustix::process::{Pid, Signal, kill_process};

use crate::ends::Told;
use crate::family::has_namespaces;
use crate::memory::{Memory, bytes_of};

const SCRIPT: &str = include_str!("relays.py");
const PYTHON: &str = "/usr/bin/python3";
/// Connections of one program that relays go on with, as the script has it.
const SOME: usize = 16;

/// Both ends, when the writer has written, and the reader has taken a part of it.
struct Ends {
    reads: Told,
    writes: Told,
}

impl Ends {
    /// The reader in an environment of its own; it writes errors into a pipe.
    fn new(memory: &Memory, within: &[&str], how: &str, end: &str) -> (Ends, std::io::PipeReader) {
        let mut words = within.to_vec();
        words.extend([PYTHON, "-c", SCRIPT, "reads", how]);
        let mut command = memory.program(words[0]);
        command.args(&words[1..]).env("SCRIPT", SCRIPT);
        let (errors, into) = std::io::pipe().unwrap();
        command.stderr(into);
        let mut reads = Told::start(command);
        let mut command: Command = memory.program(PYTHON);
        command.args(["-c", SCRIPT, "writes", &reads.hear(), end]);
        let mut writes = Told::start(command);
        assert_eq!(writes.hear(), "written");
        assert_eq!(reads.hear(), "has a part");
        let (_, in_ring) = bytes_of(&memory.connection_of(writes.id()));
        assert!(in_ring > 0, "nothing in memory");
        (Ends { reads, writes }, errors)
    }

    /// The writer goes back to TCP, so that it does not send again what is in memory.
    fn leave_behind(&mut self, memory: &Memory) {
        memory.demote(self.writes.id());
        self.writes.tell("");
    }
}

#[test]
fn a_reset_comes_after_what_was_written_before() {
    let memory = Memory::new();
    let (Ends { mut reads, mut writes }, _errors) = Ends::new(&memory, &[], "exec", "reset");
    writes.tell("");
    assert_eq!(writes.hear(), "reset");
    reads.tell("");
    assert_eq!(reads.hear(), "begins");
    reads.tell("");
    assert_eq!(reads.hear(), "True 199200 ECONNRESET");
}

/// A program that has closed its end has ended the stream to its peer. Of it alone, TCP forgets a connection after a while.
#[test]
fn a_relay_does_not_outlive_its_program() {
    let memory = Memory::new();
    let (mut ends, _errors) = Ends::new(&memory, &[], "half", "stay");
    ends.leave_behind(&memory);
    let Ends { mut reads, mut writes } = ends;
    reads.tell("");
    assert_eq!(reads.hear(), "True");
    assert_eq!(reads.hear(), "closed");
    writes.tell("");
    assert_eq!(writes.hear(), "read b''");
    let said = std::thread::spawn(move || (writes.hear(), writes));
    Wait::block("the relay has ended", || said.is_finished());
    assert_eq!(said.join().unwrap().0, "the other end is gone");
}

#[test]
fn a_relay_changes_nothing_of_what_other_processes_see() {
    let memory = Memory::new();
    let (mut ends, _errors) = Ends::new(&memory, &[], "child", "stay");
    ends.leave_behind(&memory);
    ends.reads.tell("");
    let mut reads = ends.reads;
    let said = std::thread::spawn(move || (reads.hear(), reads));
    Wait::block("it does not wait", || said.is_finished());
    let (said, mut reads) = said.join().unwrap();
    assert_eq!(said, "EAGAIN");
    reads.tell("");
}

/// A relay says that it has begun when it has none of the other connections: they are the program's alone then, and go to its
/// successor too.
#[test]
fn a_program_that_becomes_another_one_leaves_it_all_connections() {
    let memory = Memory::new();
    let python = |words: &[&str]| {
        let mut command = memory.program(PYTHON);
        command.args(["-c", SCRIPT]).args(words).env("SCRIPT", SCRIPT);
        Told::start(command)
    };
    let mut reads = python(&["reads_some"]);
    let mut writes = python(&["writes_some", &reads.hear()]);
    assert_eq!(writes.hear(), "written");
    assert_eq!(reads.hear(), "has a part");
    for connection in memory.all_connections_of(reads.id(), SOME) {
        assert!(bytes_of(&connection).1 > 0, "nothing in memory: {connection:#}");
    }
    reads.tell("");
    for _ in 0..SOME {
        assert_eq!(reads.hear(), "True 39200");
    }
}

/// Other ends that do not answer are waited for together.
#[test]
fn a_program_that_is_started_does_not_wait_for_each_connection() {
    let memory = Memory::new();
    let python = |words: &[&str]| {
        let mut command = memory.program(PYTHON);
        command.args(["-c", SCRIPT]).args(words);
        Told::start(command)
    };
    let mut serves = python(&["serves_many"]);
    let mut asks = python(&["asks_many", &serves.hear()]);
    assert_eq!(asks.hear(), "asked");
    let process = Pid::from_raw(asks.id().cast_signed()).unwrap();
    kill_process(process, Signal::STOP).unwrap();
    serves.tell("");
    // Seconds for each of them would be longer than a test waits.
    let said = std::thread::spawn(move || (serves.hear(), serves));
    Wait::block("the program has started", || said.is_finished());
    assert_eq!(said.join().unwrap().0, "here");
}

fn is_lost(within: &[&str], how: &str) {
    let memory = Memory::new();
    let (mut ends, mut errors) = Ends::new(&memory, within, how, "stay");
    ends.leave_behind(&memory);
    let Ends { mut reads, mut writes } = ends;
    reads.tell("");
    assert_eq!(reads.hear(), "handed on");
    // Where there are no new processes, there are no new threads either, and nobody answers the agent.
    if within.is_empty() {
        let connection = memory.connection_of(reads.id());
        let reason = connection["reason"].as_str().unwrap();
        assert!(reason.contains("the connection was reset"), "{connection:#}");
    }
    writes.tell("");
    assert_eq!(writes.hear(), "ECONNRESET", "{how}");
    reads.tell("");
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    assert!(said.contains("cat: -: Connection reset by peer"), "{how}: {said:?}");
}

#[test]
fn without_descriptors_for_a_relay_both_ends_find_a_reset() {
    is_lost(&[], "limit");
}

#[test]
fn without_a_process_for_a_relay_both_ends_find_a_reset() {
    if has_namespaces() {
        is_lost(&["unshare", "-Ur", "--pid"], "fork");
    }
}
