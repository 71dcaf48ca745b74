//! What a child does between `vfork` and `exec` with descriptors of its own: nothing of it is its parent's, whose memory it uses.

#![allow(unsafe_code, reason = "a child that uses its parent's memory")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::process::Command;

use crate::ends::Told;
use crate::memory::Memory;

/// Says that this process is the program below.
const IS_PROGRAM: &str = "AFTERBAY_NET_VFORKS";

fn exchange(ends: &mut [TcpStream; 2], bytes: &[u8]) {
    for (from, to) in [(0, 1), (1, 0)] {
        ends[from].write_all(bytes).unwrap();
        let mut came = vec![0; bytes.len()];
        ends[to].read_exact(&mut came).unwrap();
        assert_eq!(came, bytes);
    }
}

/// Both ends of a connection; and children that close it, and have other files in its place.
fn runs() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let asks = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut ends = [asks, listener.accept().unwrap().0];
    // By default, they have rings after 41 operations.
    for _ in 0..60 {
        exchange(&mut ends, b"before");
    }
    let (mut output, input) = std::io::pipe().unwrap();
    let [asks, serves] = ends.each_ref().map(AsRawFd::as_raw_fd);
    let did = in_child(|| child(asks, serves, input.as_raw_fd()));
    assert_eq!(did, 0, "what the child did");
    drop(input);
    let mut said = String::new();
    output.read_to_string(&mut said).unwrap();
    assert_eq!(said, "of the child");
    for _ in 0..3 {
        exchange(&mut ends, b"after");
    }
    println!("exchanged");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// The status of a child between `vfork` and its end.
fn in_child(f: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child writes nothing that its parent does not expect, and ends without returning.
    #[expect(deprecated, reason = "programs call it")]
    let child = unsafe { libc::vfork() };
    if child == 0 {
        let did = f();
        // SAFETY: it runs nothing of the parent's.
        unsafe { libc::_exit(did) };
    }
    let mut status = 0;
    // SAFETY: the kernel writes to it.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "{status}");
    libc::WEXITSTATUS(status)
}

/// As helpers of Java and of Python do, which bring their pipes to low numbers, and write there what went wrong.
fn child(asks: RawFd, serves: RawFd, output: RawFd) -> i32 {
    // SAFETY: calls on numbers, and on bytes that are there.
    unsafe {
        libc::close(asks);
        let zeros = libc::open(c"/dev/zero".as_ptr(), libc::O_RDONLY);
        let mut byte = [1_u8];
        if zeros != asks || libc::read(asks, byte.as_mut_ptr().cast(), 1) != 1 || byte != [0] {
            return 1;
        }
        libc::fcntl(zeros, libc::F_SETFL, libc::O_NONBLOCK);
        // A number of the parent's goes to another one of its.
        if libc::dup2(output, serves) != serves || libc::dup2(serves, asks) != asks {
            return 2;
        }
        let said = b"of the child";
        let length = said.len() as isize;
        if libc::write(asks, said.as_ptr().cast(), said.len()) != length {
            return 3;
        }
        let mut pipe = [0; 2];
        libc::close(serves);
        if libc::pipe(pipe.as_mut_ptr()) != 0 || !pipe.contains(&serves) {
            return 4;
        }
    }
    0
}

#[test]
fn a_child_between_vfork_and_exec_does_not_touch_its_parents_connections() {
    if std::env::var_os(IS_PROGRAM).is_some() {
        return runs();
    }
    let memory = Memory::new();
    let program = std::env::current_exe().unwrap();
    check(&memory, memory.program(&program));
    check(&memory, memory.program_by_default(&program));
}

fn check(memory: &Memory, mut command: Command) {
    command
        .args(["--exact", std::thread::current().name().unwrap(), "--nocapture"])
        .env(IS_PROGRAM, "");
    let mut program = Told::start(command);
    while program.hear() != "exchanged" {
        assert!(program.goes_on(), "it ended");
    }
    for end in memory.all_connections_of(program.id(), 2) {
        for way in ["out", "in"] {
            assert_eq!(end[way]["transport"], "ring", "{end:#}");
        }
    }
    program.tell("");
}
