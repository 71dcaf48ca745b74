//! Calls that few programs make come to what they come to on TCP.

use std::path::PathBuf;
use std::process::Command;

use afterbay_test_form::Wait;
use serde_json::Value;

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const SCRIPT: &str = include_str!("calls.py");
const PYTHON: &str = "/usr/bin/python3";

fn start(mut command: Command, what: &str) -> Told {
    command.args(["-c", SCRIPT, what]);
    Told::start(command)
}

/// What a program says until its end.
#[track_caller]
pub(crate) fn said(program: &mut Told) -> Vec<String> {
    let mut said = Vec::new();
    loop {
        let line = program.hear();
        if line == "end" {
            return said;
        }
        assert!(!line.is_empty(), "it ended after {said:?}");
        said.push(line);
    }
}

/// The program, if it says the same as on TCP.
#[track_caller]
fn says_the_same(command: Command, what: &str) -> Told {
    let by_tcp = said(&mut start(Command::new(PYTHON), what));
    let mut program = start(command, what);
    assert_eq!(said(&mut program), by_tcp, "{what}");
    program
}

#[test]
fn they_come_to_the_same_in_memory() {
    let memory = Memory::new();
    for what in [
        "an_epoll_in_an_epoll",
        "numbers_of_bytes",
        "ranges_that_are_closed",
        "another_file_over_a_socket_that_a_thread_reads",
    ] {
        let program = says_the_same(memory.program(PYTHON), what);
        let ends = memory.all_connections_of(program.id(), 2);
        assert!(ends.iter().all(|end| bytes_of(end).1 > 0), "{what}: no rings: {ends:#?}");
    }
}

/// How many ends have rings, and how many say that these would take too much memory.
fn ends_by_memory(ends: &[Value]) -> [usize; 2] {
    let has_no_room = |end: &&Value| {
        end["reason"].as_str().is_some_and(|reason| reason.contains("more memory than they may"))
    };
    [ends.iter().filter(|end| bytes_of(end).1 > 0).count(), ends.iter().filter(has_no_room).count()]
}

/// Each connection begins with two rings of 64 KiB.
#[test]
fn beyond_a_programs_memory_connections_are_on_tcp() {
    let memory = Memory::new();
    let starts = ["run", "--spin", "off", "--eager", "--memory", "512k", "--", PYTHON];
    let mut program = says_the_same(memory.net(&starts), "many_connections");
    let [with, without] = ends_by_memory(&memory.all_connections_of(program.id(), 24));
    assert!((2..=8).contains(&with) && with / 2 + without == 12, "{with} {without}");
    program.tell("");
    let mut closed = said(&mut program);
    closed.dedup();
    assert_eq!(closed, ["b''"]);
    let [with, without] = ends_by_memory(&memory.all_connections_of(program.id(), 14));
    assert_eq!([with, without], [2, 6], "a new one has the room of those that are closed");
}

/// Waits until all ends of the program are on TCP, for that reason or since their other end is.
#[track_caller]
fn are_on_tcp(memory: &Memory, program: &Told, ends: usize, reason: &'static str) {
    let wait = Wait::until(reason);
    let is_on_tcp = |end: &Value| ["out", "in"].iter().all(|way| end[way]["transport"] == "tcp");
    let says_why = |end: &&Value| end["reason"].as_str().is_some_and(|why| why.contains(reason));
    loop {
        let known = memory.all_connections_of(program.id(), ends);
        if known.iter().all(is_on_tcp) && known.iter().filter(says_why).count() >= ends / 2 {
            return;
        }
        wait.check(&known);
    }
}

/// Where the kernel has TLS, it has the connection from then on; where it has none, nothing has changed.
#[test]
fn a_connection_whose_tls_is_the_kernels_is_on_tcp() {
    let memory = Memory::new();
    let has_tls = said(&mut start(Command::new(PYTHON), "tls_in_the_kernel"))[0] == "tls";
    let program = says_the_same(memory.program(PYTHON), "tls_in_the_kernel");
    if has_tls {
        are_on_tcp(&memory, &program, 2, "the kernel's TLS");
    } else {
        println!("this kernel has no TLS");
        let ends = memory.all_connections_of(program.id(), 2);
        assert!(ends.iter().all(|end| bytes_of(end).1 > 0), "no rings: {ends:#?}");
    }
}

/// It sets up a ring by a system call, or comes with the library that does so unseen.
#[test]
fn a_program_with_io_uring_is_on_tcp() {
    let memory = Memory::new();
    let has_io_uring = said(&mut start(Command::new(PYTHON), "io_uring")) == ["ring"];
    let calls = says_the_same(memory.program(PYTHON), "io_uring");
    let mut with_library = memory.program(PYTHON);
    with_library.env("LD_PRELOAD", library_called(&memory, "liburing.so.2"));
    let comes_with_library = says_the_same(with_library, "nothing_else");
    if has_io_uring {
        are_on_tcp(&memory, &calls, 4, "io_uring");
        are_on_tcp(&memory, &comes_with_library, 2, "io_uring");
    } else {
        println!("this kernel has no io_uring");
    }
    // The control: any other library.
    let mut with_library = memory.program(PYTHON);
    with_library.env("LD_PRELOAD", library_called(&memory, "libother.so.2"));
    let program = says_the_same(with_library, "nothing_else");
    let ends = memory.all_connections_of(program.id(), 2);
    assert!(ends.iter().all(|end| bytes_of(end).1 > 0), "no rings: {ends:#?}");
}

/// A copy of a library that this process has, too.
fn library_called(memory: &Memory, name: &str) -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let library = maps
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .find(|path| path.contains("/libgcc_s.so"))
        .expect("programs of Rust have libgcc_s");
    let copy = memory.folder().join(name);
    std::fs::copy(library, &copy).unwrap();
    copy
}
