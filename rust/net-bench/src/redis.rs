//! redis with the load that it brings: 50 connections, 16 commands at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result, doing};
use crate::load::Counted;
use crate::network::Side;
use crate::process::{cpu_s, cpu_s_of_children};
use crate::run::{Ground, RunArguments};

const PORT: &str = "6399";
const CONNECTIONS: usize = 50;
const COMMANDS_PER_SECOND: f64 = 100_000.0;
const WAIT: Duration = Duration::from_secs(20);
const SERVER: &str = "redis-server";
const LOAD: &str = "redis-benchmark";
const CLIENT: &str = "redis-cli";

pub(crate) fn run(ground: &Ground, arguments: &RunArguments) -> Result<String> {
    let programs = Programs::of(arguments.redis.as_deref());
    let address = ground.address();
    let quiet =
        ["--save", "", "--appendonly", "no", "--protected-mode", "no", "--loglevel", "warning"];
    let mut words = vec!["--port", PORT, "--bind", &address];
    words.extend(quiet);
    let server = ground.start(Side::A, &programs.words(SERVER, &words), Stdio::null())?;
    wait_until_ready(ground, &programs, &address)?;
    let commands = (arguments.seconds * COMMANDS_PER_SECOND).round().to_string();
    let connections = arguments.connections.max(CONNECTIONS).to_string();
    let words = [
        "-h",
        &address,
        "-p",
        PORT,
        "-P",
        "16",
        "-c",
        &connections,
        "-n",
        &commands,
        "-t",
        "get",
        "--csv",
    ];
    let before = (cpu_s(server.0.id()), cpu_s_of_children(), ground.network_bytes(Side::B)?);
    let said = ground.finish(Side::B, &programs.words(LOAD, &words))?;
    let server_cpu_s = cpu_s(server.0.id()) - before.0;
    let client_cpu_s = cpu_s_of_children() - before.1;
    let network_bytes = ground.network_bytes(Side::B)? - before.2;
    let table = Table::of(&said)?;
    let counted = Counted {
        operations: commands.parse().unwrap_or_default(),
        seconds: arguments.seconds * COMMANDS_PER_SECOND / table.column("rps")?,
        mean_us: Some(table.column("avg_latency_ms")? * 1e3),
        p50_us: Some(table.column("p50_latency_ms")? * 1e3),
        p99_us: Some(table.column("p99_latency_ms")? * 1e3),
        max_us: Some(table.column("max_latency_ms")? * 1e3),
        client_cpu_s,
        server_cpu_s,
        network_bytes,
        ..Counted::default()
    };
    Ok(serde_json::json!(counted).to_string())
}

/// Its own client asks: TCP's answer alone would be that of a socket which nobody reads yet.
fn wait_until_ready(ground: &Ground, programs: &Programs, address: &str) -> Result<()> {
    let end = Instant::now() + WAIT;
    loop {
        let words = programs.words(CLIENT, &["-h", address, "-p", PORT, "ping"]);
        let asked = ground.command(Side::B, &words)?.stdin(Stdio::null()).output();
        if asked.map_err(doing(format!("start {CLIENT}")))?.stdout.starts_with(b"PONG") {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(Error::Said(format!("{SERVER} does not answer at {address}:{PORT}")));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Where redis is, and how it finds its libraries, which come with it if it was not installed.
struct Programs {
    folder: Option<PathBuf>,
    libraries: Option<String>,
}

impl Programs {
    fn of(folder: Option<&Path>) -> Self {
        let beside = folder.and_then(|folder| Some(folder.parent()?.join("lib")));
        let libraries = beside.and_then(|lib| {
            let folders = fs::read_dir(lib).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
            folders.filter(|path| path.join("libjemalloc.so.2").exists()).last()
        });
        Programs {
            folder: folder.map(ToOwned::to_owned),
            libraries: libraries.map(|path| format!("LD_LIBRARY_PATH={}", path.display())),
        }
    }

    fn words(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let path =
            self.folder.as_ref().map_or(PathBuf::from(program), |folder| folder.join(program));
        let libraries = self.libraries.iter().flat_map(|set| ["env".to_owned(), set.clone()]);
        libraries
            .chain([path.display().to_string()])
            .chain(arguments.iter().map(ToString::to_string))
            .collect()
    }
}

/// What redis-benchmark says with --csv: a line of names, and one of values.
struct Table {
    names: Vec<String>,
    values: Vec<String>,
}

impl Table {
    fn of(said: &str) -> Result<Self> {
        let cells = |line: &str| -> Vec<String> {
            line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
        };
        let mut lines = said.lines().skip_while(|line| !line.contains("rps"));
        match (lines.next(), lines.next()) {
            (Some(names), Some(values)) => Ok(Table { names: cells(names), values: cells(values) }),
            _ => Err(Error::Said(format!("{LOAD} says no table: {said}"))),
        }
    }

    fn column(&self, name: &str) -> Result<f64> {
        let at = self.names.iter().position(|one| one == name);
        at.and_then(|at| self.values.get(at)?.parse().ok())
            .ok_or_else(|| Error::Said(format!("{LOAD} says no {name}; redis 7 or newer does")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_name() {
        let said = "WARNING: no config\n\"test\",\"rps\",\"avg_latency_ms\"\n\"GET\",\"1250.50\",\"0.512\"\n";
        let table = Table::of(said).unwrap();
        assert_eq!(table.column("rps").unwrap(), 1250.5);
        assert_eq!(table.column("avg_latency_ms").unwrap(), 0.512);
        assert!(table.column("p99").is_err() && Table::of("ready").is_err());
    }
}
