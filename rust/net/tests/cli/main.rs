//! The command, from outside: programs that are started, and agents.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

mod agents;
mod looks;
mod programs;
mod runs;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use afterbay_test_form::PATIENCE;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// An agent's directory, and the command with it.
struct Net {
    folder: TempDir,
}

impl Net {
    fn new() -> Net {
        Net { folder: tempfile::tempdir().unwrap() }
    }

    fn directory(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    /// The command with these arguments. The library is one that does nothing.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterbay-net"));
        command
            .args(arguments)
            .env("AFTERBAY_NET_DIR", self.directory())
            .env("AFTERBAY_NET_LIBRARY", harmless_library())
            // A program that is held up is waited for, and not left out after the usual two seconds.
            .env("AFTERBAY_NET_PATIENCE", PATIENCE.as_secs().to_string())
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// The process of the agent that is there.
    fn agent(&self) -> Option<i32> {
        // Whatever its programs say.
        let said = self.run(&["status", "--json", "--patience", "1"]);
        let report: serde_json::Value = serde_json::from_str(&said.out).ok()?;
        i32::try_from(report["agent"]["process"].as_i64()?).ok()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        // Of a test that failed as well.
        if let Some(agent) = self.agent() {
            end(agent, Signal::TERM);
        }
    }
}

fn end(process: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(process).unwrap(), signal);
}

/// What a command said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    fn of(output: Output) -> Said {
        Said {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn failed(&self, code: i32, with: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.contains(with), "does not say '{with}': {self:?}");
    }
}

/// The C library, which every program has anyway.
fn harmless_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps.lines().filter_map(|line| line.split_ascii_whitespace().nth(5));
    let library = paths.map(Path::new).find(|path| path.ends_with("libc.so.6"));
    library.expect("tests are built for glibc").to_owned()
}
