//! Two programs in Python, unchanged: where their bytes go, and that none is lost when that changes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use afterbay_test_form::Wait;

use crate::memory::{Memory, bytes_of, has_rings};

const SCRIPT: &str = include_str!("echo.py");

/// A program that is told what to do by lines, and says lines.
pub(crate) struct Told {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Told {
    pub(crate) fn start(mut command: Command) -> Told {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Told { input: process.stdin.take(), process, output }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn goes_on(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    #[track_caller]
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// As [`Told::hear`]: what is waited for in vain fails the test, instead of going on for ever.
    #[track_caller]
    pub(crate) fn says(mut self) -> (String, Told) {
        let hears = std::thread::spawn(move || (self.hear(), self));
        Wait::block("it says something", || hears.is_finished());
        hears.join().unwrap()
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    #[track_caller]
    pub(crate) fn exchanges(&mut self, bytes: u64) {
        self.tell(&bytes.to_string());
        assert_eq!(self.hear(), format!("{bytes} bytes"));
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Who starts a program: with the library, or not.
pub(crate) type Starts<'a> = &'a dyn Fn(&Path) -> Command;

/// The script's two programs.
fn pair(serves: Starts<'_>, asks: Starts<'_>) -> (Told, Told) {
    let python = Path::new("/usr/bin/python3");
    let mut command = serves(python);
    command.args(["-c", SCRIPT, "serve", "127.0.0.1"]);
    let mut server = Told::start(command);
    let port = server.hear();
    let mut command = asks(python);
    command.args(["-c", SCRIPT, "ask", "127.0.0.1", &port]);
    let mut client = Told::start(command);
    assert_eq!(client.hear(), "connected");
    // Each end takes bytes from memory from its first read on.
    client.exchanges(1);
    (server, client)
}

fn plainly(program: &Path) -> Command {
    Command::new(program)
}

/// The two ends of the connection, as the agent hears of them.
#[track_caller]
fn ends(memory: &Memory, server: &Told, client: &Told) -> [serde_json::Value; 2] {
    [server, client].map(|program| memory.connection_of(program.id()))
}

fn transports(connection: &serde_json::Value) -> [&str; 2] {
    ["out", "in"].map(|way| connection[way]["transport"].as_str().unwrap())
}

#[test]
fn bytes_go_through_memory() {
    let memory = Memory::new();
    let starts = |program: &Path| memory.program(program);
    let (server, mut client) = pair(&starts, &starts);
    client.exchanges(20_000_000);
    for end in ends(&memory, &server, &client) {
        let (tcp, ring) = bytes_of(&end);
        assert_eq!(tcp + ring, 40_000_002, "{end:#}");
        assert!(ring * 10 > (tcp + ring) * 9, "{end:#}");
        assert_eq!(
            (transports(&end), &end["reason"]),
            (["ring"; 2], &serde_json::Value::Null),
            "{end:#}"
        );
        assert_eq!(end["program"], "python3");
        assert_ne!(end["other_end"], serde_json::Value::Null);
    }
    assert!(has_rings(server.id()) && has_rings(client.id()));
}

#[test]
fn nothing_is_lost_when_somebody_wants_tcp() {
    for asked in [0, 1] {
        let memory = Memory::new();
        let starts = |program: &Path| memory.program(program);
        let (server, mut client) = pair(&starts, &starts);
        client.exchanges(1_000_000);
        let before = ends(&memory, &server, &client).map(|end| bytes_of(&end));
        assert!(before[0].1 > 0, "{before:?}");
        client.tell("100000000");
        Wait::block("some of it is under way", || {
            bytes_of(&ends(&memory, &server, &client)[0]).1 > before[0].1 + 1_000_000
        });
        memory.demote([server.id(), client.id()][asked]);
        assert_eq!(client.hear(), "100000000 bytes");
        let after = ends(&memory, &server, &client);
        for end in &after {
            assert_eq!(transports(end), ["tcp"; 2], "{end:#}");
        }
        assert_eq!(after[asked]["reason"], "somebody asked for it");
        assert_eq!(after[1 - asked]["reason"], "the other end went back to TCP");
        let rings = after.map(|end| bytes_of(&end).1);
        client.exchanges(1_000_000);
        assert_eq!(ends(&memory, &server, &client).map(|end| bytes_of(&end).1), rings);
    }
}

#[test]
fn nothing_is_lost_when_the_agent_is_killed() {
    let memory = Memory::new();
    let starts = |program: &Path| memory.program(program);
    let (server, mut client) = pair(&starts, &starts);
    client.exchanges(1_000_000);
    client.tell("100000000");
    Wait::block("some of it is under way", || {
        bytes_of(&ends(&memory, &server, &client)[0]).1 > 3_000_000
    });
    memory.kill_agent();
    assert_eq!(client.hear(), "100000000 bytes");
    client.exchanges(1_000_000);
    assert!(has_rings(server.id()) && has_rings(client.id()));
}

/// Controls: without an agent, or without the library at one end, nothing goes through memory.
#[test]
fn without_an_agent_nothing_goes_through_memory() {
    let memory = Memory::without_agent();
    let starts = |program: &Path| {
        let mut command = Command::new(program);
        command.envs(memory.environment());
        command
    };
    let (server, mut client) = pair(&starts, &starts);
    client.exchanges(20_000_000);
    assert!(!has_rings(server.id()) && !has_rings(client.id()));
}

#[test]
fn without_the_library_at_one_end_nothing_goes_through_memory() {
    let memory = Memory::new();
    let starts = |program: &Path| memory.program(program);
    for with_library in [0, 1] {
        let both: [Starts<'_>; 2] =
            if with_library == 0 { [&starts, &plainly] } else { [&plainly, &starts] };
        let (server, mut client) = pair(both[0], both[1]);
        client.exchanges(20_000_000);
        let (with, without) =
            if with_library == 0 { (&server, &client) } else { (&client, &server) };
        let connection = memory.connection_of(with.id());
        assert_eq!(bytes_of(&connection), (40_000_002, 0), "{connection:#}");
        let reason = connection["reason"].as_str().unwrap();
        let reasons = ["nobody offered rings", "nobody took the rings"];
        assert!(reason.starts_with(reasons[with_library]), "{reason}");
        assert!(memory.connections_of(without.id()).is_empty());
    }
}

/// Accepts, waits until the other end has written and gone, and starts a program on the socket: inetd's way.
const HANDS_ON: &str = "
import os, socket
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
print('accepted', flush=True)
input()
os.dup2(connection.fileno(), 0)
os.execv('/bin/cat', ['cat'])
";

const SENDS: &str = "
import socket, sys
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
input()
connection.sendall(b'all of it\\n' * 1_000)
connection.close()
print('gone', flush=True)
";

#[test]
fn a_program_that_is_started_on_a_socket_gets_all_that_nobody_has_read() {
    let memory = Memory::new();
    let python = |script: &str| {
        let mut command = memory.program(Path::new("/usr/bin/python3"));
        command.args(["-c", script]);
        command
    };
    let mut server = Told::start(python(HANDS_ON));
    let mut client = python(SENDS);
    client.arg(server.hear());
    let mut client = Told::start(client);
    assert_eq!(server.hear(), "accepted");
    client.tell("");
    assert_eq!(client.hear(), "gone");
    server.tell("");
    for _ in 0..1_000 {
        assert_eq!(server.hear(), "all of it");
    }
}
