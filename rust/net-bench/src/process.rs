//! What the operating system says about processes and interfaces.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::error::{Error, Result, doing};

/// Fields of /proc/PID/stat behind the name: user and system time, then the same of children that have ended.
const OF_PROCESS: [usize; 2] = [11, 12];
const OF_CHILDREN: [usize; 2] = [13, 14];

/// Processor seconds of a process so far, of the kernel for it too.
pub(crate) fn cpu_s(pid: u32) -> f64 {
    seconds(&format!("/proc/{pid}/stat"), OF_PROCESS)
}

/// Those of the children of this process that have ended.
pub(crate) fn cpu_s_of_children() -> f64 {
    seconds("/proc/self/stat", OF_CHILDREN)
}

fn seconds(file: &str, at: [usize; 2]) -> f64 {
    let stat = fs::read_to_string(file).unwrap_or_default();
    let per_s = rustix::param::clock_ticks_per_second() as f64;
    ticks(&stat, at).unwrap_or_default() as f64 / per_s
}

/// The name of the program, in parentheses, may have spaces in it.
fn ticks(stat: &str, at: [usize; 2]) -> Option<u64> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    at.iter().map(|&at| fields.get(at)?.parse::<u64>().ok()).sum()
}

/// Bytes that the interfaces of this network namespace have received and sent.
pub(crate) fn network_bytes() -> u64 {
    interface_bytes(&fs::read_to_string("/proc/self/net/dev").unwrap_or_default())
}

pub(crate) fn interface_bytes(table: &str) -> u64 {
    table
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(_, figures)| {
            let figures: Vec<u64> =
                figures.split_whitespace().filter_map(|one| one.parse().ok()).collect();
            figures.first().unwrap_or(&0) + figures.get(8).unwrap_or(&0)
        })
        .sum()
}

/// Becomes another program, which the kernel kills when the process that started this one ends: a server does not outlive a
/// run that was killed.
pub(crate) fn become_program(words: &[String]) -> Result<()> {
    let [program, arguments @ ..] = words else {
        return Err(Error::Said("become: no program is named".to_owned()));
    };
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|e| doing("ask for the signal at the end of the parent")(e.into()))?;
    Err(doing(format!("start {program}"))(Command::new(program).args(arguments).exec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "17 (a) b c) S 1 2 3 4 5 6 7 8 9 10 150 50 7 8 20";
        assert_eq!(ticks(stat, OF_PROCESS), Some(200));
        assert_eq!(ticks(stat, OF_CHILDREN), Some(15));
        assert_eq!(ticks("17 (a) S", OF_PROCESS), None);
    }

    #[test]
    fn all_interfaces_count_both_ways() {
        let table = "Inter-|   Receive |  Transmit\n face |bytes packets |bytes\n    lo: 100 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n  va:1000 2 0 0 0 0 0 0 5 2 0 0 0 0 0 0\n";
        assert_eq!(interface_bytes(table), 1115);
    }
}
