//! Bytes that are in a ring when its reader leaves it, and its writer cannot send them again: none is lost, none comes twice.

use std::io::Read;
use std::path::Path;

use afterbay_test_form::{Wait, net_writers_that_go};

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const SCRIPT: &str = include_str!("leaves.py");

/// How the writer goes before that. The first ones are gone; the others go on by TCP.
const WRITERS: [&str; 5] = ["close", "exit", "kill", "half", "demote"];

/// How the reader leaves the ring.
const READERS: [&str; 8] =
    ["reading", "stream", "splice", "exec", "standard_input", "child", "passing", "demoted"];

fn content(with_more: bool) -> Vec<u8> {
    let mut all: Vec<u8> = (0..7500).flat_map(|at| format!("{at:07}\n").into_bytes()).collect();
    if with_more {
        all.extend(b"more");
    }
    all
}

fn check(reader: &str, writer: &str, is_eager: bool) {
    let memory = Memory::new();
    let python = |words: &[&str]| {
        let python = Path::new("/usr/bin/python3");
        let mut command =
            if is_eager { memory.program(python) } else { memory.program_by_default(python) };
        command.args(["-c", SCRIPT]).args(words);
        command
    };
    let mut reads = python(&["reads", reader]);
    let (mut output, into) = std::io::pipe().unwrap();
    reads.stderr(into);
    let mut reads = Told::start(reads);
    let port = reads.hear();
    let mut writes = Told::start(python(&["writes", &port, writer]));
    assert_eq!(reads.hear(), "has a part");
    assert_eq!(writes.hear(), "written", "{reader}, {writer}");
    let (_, in_ring) = bytes_of(&memory.connection_of(reads.id()));
    assert!(in_ring > 0, "{reader}, {writer}: nothing in memory");
    match writer {
        "kill" => writes.kill(),
        "demote" => {
            // Its library tells the agent of itself on its own time.
            memory.connection_of(writes.id());
            memory.demote(writes.id());
        }
        _ => {}
    }
    let goes_on = writer == "demote";
    if goes_on {
        writes.tell("");
        assert_eq!(writes.hear(), "more");
    }
    if reader == "demoted" {
        memory.demote(reads.id());
    }
    reads.tell("");
    let copied = std::thread::spawn(move || {
        let mut came = Vec::new();
        output.read_to_end(&mut came).map(|_| came)
    });
    Wait::block("the reader has all", || copied.is_finished());
    let came = copied.join().unwrap().unwrap();
    let expected = content(goes_on);
    assert_eq!(came.len(), expected.len(), "{reader}, {writer}");
    assert!(came == expected, "{reader}, {writer}: other bytes");
}

/// In the normal form, each with some of the writers, so that all of them come, on connections that have rings from the beginning or
/// later.
fn check_all(reader: &str) {
    let first = READERS.iter().position(|other| *other == reader).unwrap();
    for way in 0..net_writers_that_go() {
        check(reader, WRITERS[(first + 2 * way) % WRITERS.len()], way % 2 == 0);
    }
}

#[test]
fn by_reading() {
    check_all("reading");
}

#[test]
fn by_stream() {
    check_all("stream");
}

#[test]
fn by_splice() {
    check_all("splice");
}

#[test]
fn by_exec() {
    check_all("exec");
}

#[test]
fn by_standard_input() {
    check_all("standard_input");
}

#[test]
fn by_child() {
    check_all("child");
}

#[test]
fn by_passing() {
    check_all("passing");
}

/// Somebody wants it on TCP, and it is there as far as it can be.
#[test]
fn by_reading_after_somebody_wanted_tcp() {
    check_all("demoted");
}
