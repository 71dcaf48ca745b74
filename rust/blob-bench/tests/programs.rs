//! The program against itself: its load on its bare server, and what it finds there.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_afterbay-blob-bench");

struct Bare {
    process: Child,
    address: String,
}

impl Bare {
    fn start() -> Self {
        let mut process = Command::new(PROGRAM)
            .args(["run", PROGRAM, "bare"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening ").unwrap().to_owned();
        Bare { process, address }
    }

    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    fn call(&self, file: &Path, more: &[&str]) -> Value {
        let (command, more) = more.split_first().unwrap();
        let file = file.to_str().unwrap();
        let mut words = vec![*command, "--protocol=s3", "--address", &self.address];
        words.extend(["--size=5000", "--acknowledged", file]);
        words.extend(more);
        json(&words)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.end();
    }
}

/// The load by a schedule, whose phases are named while it goes on.
struct OpenLoop {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    named: u64,
}

impl OpenLoop {
    /// It says ten times in a second how far it is.
    const LINES_MAX: usize = 1_200;

    fn start(addresses: &str, file: &Path, more: &[&str]) -> Self {
        let mut process = Command::new(PROGRAM)
            .args(["open-loop", "--protocol=s3", "--size=5000", "--address", addresses])
            .arg("--acknowledged")
            .arg(file)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        OpenLoop { process, input, output: BufReader::new(output), named: 0 }
    }

    fn phase(&mut self, name: &str) {
        writeln!(self.input.as_mut().unwrap(), "{name}").unwrap();
        self.named += 1;
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "it has ended");
        serde_json::from_str(&line).unwrap()
    }

    /// Waits until there is so much more in the phase that was named last.
    fn until(&mut self, what: &str, more: u64) {
        let mut first = None;
        for _ in 0..Self::LINES_MAX {
            let line = self.line();
            if line["named"].as_u64() == Some(self.named) {
                let count = line[what].as_u64().unwrap();
                if count >= *first.get_or_insert(count) + more {
                    return;
                }
            }
        }
        unreachable!("no {more} more {what}");
    }

    fn figures(&mut self) -> Value {
        self.input = None;
        loop {
            let line = self.line();
            if line["phases"].is_array() {
                return line;
            }
        }
    }
}

impl Drop for OpenLoop {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn json(words: &[&str]) -> Value {
    let output = Command::new(PROGRAM).args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Of the first of these times in which something was counted, however busy the machine is.
fn counted(what: &str, call: impl Fn(&str) -> Value) -> Value {
    let mut measured = Value::Null;
    for seconds in ["--seconds=0.3", "--seconds=3", "--seconds=30"] {
        measured = call(seconds);
        if measured[what].as_u64().unwrap() > 0 {
            return measured;
        }
    }
    unreachable!("no {what} in {measured}")
}

#[test]
fn what_was_put_is_verified_and_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let bare = Bare::start();
    let put = bare.call(&file, &["load", "--operation=put", "--count=50", "--clients=3"]);
    assert_eq!((put["requests"].as_u64(), put["bytes"].as_u64()), (Some(50), Some(250_000)));
    assert_eq!(put["errors"].as_u64(), Some(0), "{put}");
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 50);
    let verified = bare.call(&file, &["verify"]);
    assert_eq!((verified["requests"].as_u64(), verified["wrong"].as_u64()), (Some(50), Some(0)));
    let pid = bare.process.id().to_string();
    let get = counted("requests", |seconds| {
        bare.call(&file, &["load", "--operation=get", seconds, "--server-pid", &pid])
    });
    assert_eq!((get["errors"].as_u64(), get["wrong"].as_u64()), (Some(0), Some(0)));
    assert!(get["server"]["rss_bytes"].as_u64().unwrap() > 250_000);
    assert!(get["p50_us"].as_u64() <= get["p99_us"].as_u64());
    let once = bare.call(&file, &["load", "--operation=get", "--count=1000"]);
    assert_eq!(once["requests"].as_u64(), Some(50), "each object once");
}

/// The control: one byte of one object is another one.
#[test]
fn a_byte_that_differs_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let bare = Bare::start();
    bare.call(&file, &["load", "--operation=put", "--count=50", "--differs=17"]);
    let verified = bare.call(&file, &["verify"]);
    assert_eq!((verified["wrong"].as_u64(), verified["first_wrong"].as_u64()), (Some(1), Some(17)));
    // So do gets that read each object once.
    let once = bare.call(&file, &["load", "--operation=get", "--count=1000"]);
    assert_eq!((once["requests"].as_u64(), once["wrong"].as_u64()), (Some(50), Some(1)));
    assert_eq!(once["first_wrong"].as_u64(), Some(17));
}

#[test]
fn requests_that_fail_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let bare = Bare::start();
    std::fs::write(&file, "1\n2\n").unwrap();
    let get = bare.call(&file, &["load", "--operation=get", "--count=2"]);
    assert_eq!((get["requests"].as_u64(), get["errors"].as_u64()), (Some(0), Some(2)));
    assert!(get["first_error"].as_str().unwrap().contains("404"));
    let verified = bare.call(&file, &["verify"]);
    assert_eq!((verified["requests"].as_u64(), verified["errors"].as_u64()), (Some(0), Some(2)));
}

#[test]
fn loopback_and_a_server_that_is_not_there() {
    counted("bytes", |seconds| json(&["loopback", seconds]));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let words = ["--protocol=s3", "--address=127.0.0.1:1", "--size=100", "--wait-s=0"];
    let output = Command::new(PROGRAM)
        .args(["load", "--operation=put", "--count=1"])
        .args(words)
        .arg("--acknowledged")
        .arg(&file)
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("127.0.0.1:1: no answer in 0 s"));
}

#[test]
fn requests_by_a_schedule_count_in_their_phases() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let bare = Bare::start();
    let mut load = OpenLoop::start(&bare.address, &file, &["--rate=500", "--clients=4"]);
    for phase in ["calm", "away"] {
        load.phase(phase);
        // Four more: they may have ended in the moment before.
        load.until("requests", 24);
    }
    let figures = load.figures();
    let phases = figures["phases"].as_array().unwrap();
    let names: Vec<_> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["warm-up", "calm", "away"]);
    for phase in &phases[1..] {
        assert!(phase["requests"].as_u64() >= Some(20), "{phase}");
        assert!(phase["p50_us"].as_u64() > Some(0), "{phase}");
        assert!(phase["p50_us"].as_u64() <= phase["p99_us"].as_u64(), "{phase}");
    }
    let requests = figures["requests"].as_u64().unwrap();
    // What was under way when a phase began is in two of them.
    let all: u64 = phases.iter().map(|phase| phase["requests"].as_u64().unwrap()).sum();
    assert!(all >= requests, "{figures}");
    assert_eq!((figures["errors"].as_u64(), figures["wrong"].as_u64()), (Some(0), Some(0)));
    let stored = std::fs::read_to_string(&file).unwrap().lines().count() as u64;
    assert_eq!(figures["stored"].as_u64(), Some(stored));
    assert!(stored < requests, "puts and gets in turns: {figures}");
    let verified = bare.call(&file, &["verify"]);
    assert_eq!(verified["requests"].as_u64(), Some(stored));
    assert_eq!((verified["errors"].as_u64(), verified["wrong"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn a_byte_that_differs_is_found_by_a_schedule() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let bare = Bare::start();
    let more = ["--rate=500", "--clients=1", "--differs=0"];
    let mut load = OpenLoop::start(&bare.address, &file, &more);
    load.until("requests", 5);
    load.figures();
    let verified = bare.call(&file, &["verify"]);
    assert_eq!((verified["wrong"].as_u64(), verified["first_wrong"].as_u64()), (Some(1), Some(0)));
}

/// What is due later than it can be done is late by as much, though each request is short.
#[test]
fn who_waits_for_a_turn_is_in_the_figures() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let bare = Bare::start();
    let mut load = OpenLoop::start(&bare.address, &file, &["--rate=1000000", "--clients=1"]);
    for _ in 0..20 {
        load.line();
    }
    let figures = load.figures();
    let phase = &figures["phases"][0];
    let (us, seconds) = (phase["max_us"].as_u64().unwrap(), phase["seconds"].as_f64().unwrap());
    assert!(us as f64 > 0.4e6 * seconds, "{figures}");
}

#[test]
fn requests_to_a_server_that_was_killed_are_counted_as_failed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let mut bare = Bare::start();
    let mut load = OpenLoop::start(&bare.address, &file, &["--rate=500", "--clients=2"]);
    load.phase("calm");
    // Two more: they may be of the phase before.
    load.until("requests", 12);
    load.phase("away");
    bare.end();
    load.until("errors", 12);
    let figures = load.figures();
    assert!(figures["errors"].as_u64() >= Some(10), "{figures}");
    assert!(figures["phases"][2]["errors"].as_u64() >= Some(10), "{figures}");
    assert!(figures["phases"][1]["requests"].as_u64() >= Some(10), "{figures}");
    assert!(figures["first_error"].is_string(), "{figures}");
}

/// Each session is at another server than the one before: what is at the second one only is not at the first.
#[test]
fn sessions_are_at_all_servers_in_turn() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    for more in [50, 500, 5_000] {
        let (first, second) = (Bare::start(), Bare::start());
        let addresses = format!("{},{}", first.address, second.address);
        let mut load = OpenLoop::start(&addresses, &file, &["--rate=500", "--clients=2"]);
        load.until("requests", more);
        let figures = load.figures();
        assert_eq!(figures["errors"].as_u64(), Some(0), "a client reads its own: {figures}");
        let found = |bare: &Bare| bare.call(&file, &["verify"])["requests"].as_u64().unwrap();
        let (at_first, at_second) = (found(&first), found(&second));
        assert_eq!(Some(at_first + at_second), figures["stored"].as_u64(), "{figures}");
        // One that was busy may have left all to the other client.
        if at_first > 0 && at_second > 0 {
            return;
        }
    }
    unreachable!("one server has nothing");
}
