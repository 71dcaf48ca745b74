//! What the operating system says about a process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::Serialize;

use crate::error::{Error, Result, in_system};

/// Of the times in /proc/PID/stat.
const TICKS_PER_S: f64 = 100.0;

/// What a process has used so far; nothing that is not told is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Usage {
    cpu_s: f64,
    read_bytes: u64,
    written_bytes: u64,
}

/// What a process used between two moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Used {
    /// Processor time, of the kernel for it, too.
    pub(crate) cpu_s: f64,
    /// Bytes that came from disks.
    pub(crate) read_bytes: u64,
    /// Bytes that it caused to be written to disks.
    pub(crate) written_bytes: u64,
    /// Resident set at the end.
    pub(crate) rss_bytes: u64,
    /// The largest one so far.
    pub(crate) rss_max_bytes: u64,
}

impl Usage {
    /// Of a process that runs.
    pub(crate) fn of(pid: u32) -> Self {
        let text = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
        let io = text("io").unwrap_or_default();
        Usage {
            cpu_s: text("stat").and_then(|stat| cpu_s(&stat)).unwrap_or_default(),
            read_bytes: field(&io, "read_bytes:"),
            written_bytes: field(&io, "write_bytes:"),
        }
    }

    /// What it has used since then.
    pub(crate) fn until_now(self, pid: u32) -> Used {
        let now = Usage::of(pid);
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        Used {
            cpu_s: now.cpu_s - self.cpu_s,
            read_bytes: now.read_bytes - self.read_bytes,
            written_bytes: now.written_bytes - self.written_bytes,
            rss_bytes: field(&status, "VmRSS:") * 1024,
            rss_max_bytes: field(&status, "VmHWM:") * 1024,
        }
    }
}

impl Used {
    /// Of two processes together.
    pub(crate) fn plus(self, other: Used) -> Used {
        Used {
            cpu_s: self.cpu_s + other.cpu_s,
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            rss_bytes: self.rss_bytes + other.rss_bytes,
            rss_max_bytes: self.rss_max_bytes + other.rss_max_bytes,
        }
    }
}

fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}

/// The name of the program, in parentheses, may have spaces in it; user and system time are the fields 14 and 15.
fn cpu_s(stat: &str) -> Option<f64> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some((ticks(11)? + ticks(12)?) as f64 / TICKS_PER_S)
}

/// Becomes another program, which the kernel kills when the process that started this one ends: a server under test
/// does not outlive a test that was killed.
pub(crate) fn become_program(words: &[String]) -> Result<()> {
    let (program, arguments) =
        words.split_first().ok_or_else(|| Error::Usage("no program is named".to_owned()))?;
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|e| in_system("ask for the signal at the end of the parent")(e.into()))?;
    Err(in_system("start the program")(Command::new(program).args(arguments).exec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "17 (a) b c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20";
        assert_eq!(cpu_s(stat), Some(2.0));
        assert_eq!(cpu_s("17 (a) S"), None);
    }

    #[test]
    fn fields_are_found() {
        assert_eq!(field("VmHWM:\t  12 kB\nVmRSS:\t 7 kB\n", "VmRSS:"), 7);
        assert_eq!(field("", "VmRSS:"), 0);
    }

    #[test]
    fn this_process_uses_time() {
        let pid = std::process::id();
        let start = Usage::of(pid);
        // It is counted in hundredths, and only while it runs.
        let mut used = start.until_now(pid);
        while used.cpu_s == 0.0 {
            used = start.until_now(pid);
        }
        assert!(used.rss_bytes > 0 && used.rss_max_bytes >= used.rss_bytes);
    }
}
