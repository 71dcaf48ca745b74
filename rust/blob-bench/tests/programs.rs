//! The program against itself: its load on its bare server, and what it finds there.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
