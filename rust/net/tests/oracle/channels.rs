//! Channels, selectors and sockets of Java, unchanged: what they come to, and that bytes go through memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::calls::said;
use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/Channels.java");
/// What the last connection carries, in both directions.
const BYTES: u64 = 40_000_000;

/// A JVM that compiles what it runs, if there is one.
fn java() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = home
        .into_iter()
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join("java"))
        .find(|java| java.exists() && java.with_file_name("javac").exists());
    if found.is_none() {
        println!("not run: there is no java of a JDK, neither in JAVA_HOME nor in PATH");
    }
    found
}

fn start(mut command: Command) -> Told {
    command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", PROGRAM]);
    Told::start(command)
}

#[test]
fn what_java_does_comes_to_the_same_in_memory() {
    let Some(java) = java() else { return };
    let by_tcp = said(&mut start(Command::new(&java)));
    let memory = Memory::new();
    let mut program = start(memory.program_by_default(&java));
    assert_eq!(said(&mut program), by_tcp);
    println!("{by_tcp:#?}");
    for end in memory.all_connections_of(program.id(), 2) {
        let (by_tcp, through_memory) = bytes_of(&end);
        assert!(by_tcp + through_memory > BYTES, "{end:#}");
        assert!(through_memory > BYTES / 10 * 9, "{by_tcp} of {BYTES} bytes by TCP: {end:#}");
    }
}
