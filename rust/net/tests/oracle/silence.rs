//! An agent that does not answer, and a program that does not since it is gone: nobody waits for them, or not for long.

use std::process::Command;

use afterbay_net_proto::{MESSAGE_BYTES_MAX, Message};
use afterbay_net_shm::passing;
use afterbay_test_form::Wait;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept, bind, listen, socket_with,
};

use crate::ends::Told;
use crate::memory::{Memory, WAITS};
use crate::sleeps::{LOOKS, said};

const PYTHON: &str = "/usr/bin/python3";
/// Both ends of a connection, in a program that a clock interrupts all the time if it is to.
const SCRIPT: &str = r#"
import os, signal, socket, sys
print("here", flush=True)
if sys.stdin.readline() == "clock\n":
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
listener = socket.create_server(("127.0.0.1", 0))
asks = socket.create_connection(listener.getsockname())
serves = listener.accept()[0]
for _ in range(100):
    asks.sendall(b"?")
    serves.sendall(serves.recv(1))
    asks.recv(1)
print("exchanged", flush=True)
if sys.stdin.readline() == "child\n" and os.fork() == 0:
    print("child", flush=True)
sys.stdin.readline()
"#;

/// It waits for its agent as programs do that are not told how long.
fn program(memory: &Memory) -> Told {
    let mut command = Command::new(PYTHON);
    command.args(["-c", SCRIPT]).envs(memory.environment()).env_remove(WAITS);
    let mut program = Told::start(command);
    assert_eq!(program.hear(), "here");
    program
}

/// Each signal ends a wait of the kernel's, which then began anew.
#[test]
fn signals_do_not_lengthen_the_wait_for_an_agent() {
    let memory = Memory::new();
    let mut program = program(&memory);
    let _stopped = memory.stop_agent();
    program.tell("clock");
    assert_eq!(program.says().0, "exchanged");
}

/// It has connections to look after meanwhile.
#[test]
fn the_thread_does_not_wait_for_an_agents_welcome() {
    let memory = Memory::new();
    let mut program = program(&memory);
    program.tell("");
    assert_eq!(program.hear(), "exchanged");
    memory.all_connections_of(program.id(), 2);
    memory.kill_agent();
    let path = memory.directory().join("agent.sock");
    let _ = std::fs::remove_file(&path);
    let flags = SocketFlags::CLOEXEC;
    let silent = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    bind(&silent, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&silent, 1).unwrap();
    let hears = std::thread::spawn(move || {
        let thread = accept(&silent).unwrap();
        [0, 1].map(|_| {
            let mut bytes = [0; MESSAGE_BYTES_MAX];
            let (length, _) = passing::receive(&thread, &mut bytes).unwrap();
            Message::decode(&bytes[..length], 0).unwrap()
        })
    });
    Wait::block("it says all that it has to say", || hears.is_finished());
    let said = hears.join().unwrap();
    assert!(matches!(said, [Message::Hello { .. }, Message::Serve]), "{said:?}");
}

/// A child that is killed while it waits for a byte, and a parent that goes on.
const KILLED: &str = r#"
import os, signal, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
asks = socket.create_connection(listener.getsockname())
serves = listener.accept()[0]
child = os.fork()
if child == 0:
    asks.close()
    print(os.getpid(), flush=True)
    serves.recv(1)
sys.stdin.readline()
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
for _ in range(200):
    asks.sendall(b"?")
    serves.sendall(serves.recv(1))
    asks.recv(1)
print("exchanged", flush=True)
sys.stdin.readline()
"#;

/// That it waited for TCP says nothing of those that have the connection still.
#[test]
fn a_process_that_was_killed_waits_for_nothing() {
    let memory = Memory::new();
    let mut command = memory.program_by_default(PYTHON);
    command.args(["-c", KILLED]);
    let mut program = Told::start(command);
    let child = format!("/proc/{}", program.hear());
    Wait::block("the child waits", || (0..LOOKS).all(|_| said(&child, "State:").starts_with('S')));
    program.tell("");
    assert_eq!(program.hear(), "exchanged");
    for end in memory.all_connections_of(program.id(), 2) {
        let transports = ["out", "in"].map(|way| end[way]["transport"].clone());
        assert_eq!(transports, ["ring"; 2], "{end:#}");
    }
}

/// A thread that waits for a byte since before there were rings, and a child that goes on when its parent is killed.
const LEFT: &str = r#"
import os, signal, socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
asks = socket.create_connection(listener.getsockname())
serves = listener.accept()[0]
waits = threading.Thread(target=serves.recv, args=(1,), daemon=True)
waits.start()
print(waits.native_id, flush=True)
sys.stdin.readline()
for _ in range(200):
    serves.sendall(b"!")
    asks.recv(1)
child = os.fork()
if child:
    signal.pause()
print(os.getpid(), flush=True)
sys.stdin.readline()
for _ in range(200):
    asks.sendall(b"?")
    serves.sendall(serves.recv(1))
    asks.recv(1)
print("exchanged", flush=True)
sys.stdin.readline()
"#;

/// As above, with rings.
#[test]
fn a_thread_of_a_process_that_was_killed_waits_for_nothing() {
    let memory = Memory::new();
    let mut command = memory.program_by_default(PYTHON);
    command.args(["-c", LEFT]);
    let mut program = Told::start(command);
    let thread = format!("/proc/{}/task/{}", program.id(), program.hear());
    Wait::block("it waits", || (0..LOOKS).all(|_| said(&thread, "State:").starts_with('S')));
    program.tell("");
    let child = program.hear().parse().unwrap();
    program.kill();
    program.tell("");
    assert_eq!(program.hear(), "exchanged");
    for end in memory.all_connections_of(child, 2) {
        let transports = ["out", "in"].map(|way| end[way]["transport"].clone());
        assert_eq!(transports, ["ring"; 2], "{end:#}");
    }
}

/// A child has what its parent had, but for its connection to the agent.
#[test]
fn a_program_that_is_gone_is_not_waited_for_though_its_child_lives() {
    let memory = Memory::new();
    let mut program = program(&memory);
    program.tell("");
    assert_eq!(program.hear(), "exchanged");
    memory.all_connections_of(program.id(), 2);
    program.tell("child");
    assert_eq!(program.hear(), "child");
    program.kill();
    Wait::block("the agent knows that it is gone", || {
        let status = memory.look();
        status["silent"] == 0 && status["programs"] == 0
    });
}
