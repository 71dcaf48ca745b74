//! redis with the load that it brings: 50 connections, 16 commands at a time.

use std::fs;
use std::io::{Seek, Write};
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

/// Keys whose values are written before the load, and read back then and after it: by one connection each time, with more commands than
/// a connection carries before it moves.
const VALUES: usize = 256;
/// Parts of a value. Each is another number.
const PARTS: usize = 125;

pub(crate) fn run(ground: &Ground, arguments: &RunArguments) -> Result<String> {
    let programs = Programs::of(arguments.redis.as_deref());
    let address = ground.address();
    let (listens, to) = match ground.socket() {
        Some(path) => {
            (["--port", "0", "--unixsocket", &path].map(str::to_owned), vec!["-s".to_owned(), path])
        }
        None => (
            ["--port", PORT, "--bind", &address].map(str::to_owned),
            ["-h", &address, "-p", PORT].map(str::to_owned).to_vec(),
        ),
    };
    let quiet =
        ["--save", "", "--appendonly", "no", "--protected-mode", "no", "--loglevel", "warning"];
    let mut words: Vec<&str> = listens.iter().map(String::as_str).collect();
    words.extend(quiet);
    let server = ground.start(Side::A, &programs.words(SERVER, &words), Stdio::null())?;
    let clients = Clients { ground, programs: &programs, to };
    clients.wait_until_ready()?;
    let wrong_before = clients.write_values()? + clients.read_values()?;
    let commands = (arguments.seconds * COMMANDS_PER_SECOND).round().to_string();
    let connections = arguments.connections.max(CONNECTIONS).to_string();
    let words = ["-P", "16", "-c", &connections, "-n", &commands, "-t", "get", "--csv"];
    let bytes_before = clients.bytes()?;
    let before = (cpu_s(server.0.id()), cpu_s_of_children(), ground.network_bytes(Side::B)?);
    let said = clients.run(LOAD, &words, Stdio::null())?;
    let server_cpu_s = cpu_s(server.0.id()) - before.0;
    let client_cpu_s = cpu_s_of_children() - before.1;
    let network_bytes = ground.network_bytes(Side::B)? - before.2;
    let bytes = clients.bytes()? - bytes_before;
    let wrong = wrong_before + clients.read_values()?;
    let table = Table::of(&said)?;
    let counted = Counted {
        operations: commands.parse().unwrap_or_default(),
        bytes,
        seconds: arguments.seconds * COMMANDS_PER_SECOND / table.column("rps")?,
        wrong,
        mean_us: Some(table.column("avg_latency_ms")? * 1e3),
        p50_us: Some(table.column("p50_latency_ms")? * 1e3),
        p99_us: Some(table.column("p99_latency_ms")? * 1e3),
        p999_us: None,
        max_us: Some(table.column("max_latency_ms")? * 1e3),
        client_cpu_s,
        server_cpu_s,
        network_bytes,
    };
    Ok(serde_json::json!(counted).to_string())
}

/// The server's clients.
struct Clients<'a> {
    ground: &'a Ground,
    programs: &'a Programs,
    /// Where they find it.
    to: Vec<String>,
}

impl Clients<'_> {
    fn words(&self, program: &str, more: &[&str]) -> Vec<String> {
        let mut words: Vec<&str> = self.to.iter().map(String::as_str).collect();
        words.extend(more);
        self.programs.words(program, &words)
    }

    fn run(&self, program: &str, more: &[&str], input: Stdio) -> Result<String> {
        self.ground.finish(Side::B, &self.words(program, more), input)
    }

    /// Its own client asks: TCP's answer alone would be that of a socket which nobody reads yet.
    fn wait_until_ready(&self) -> Result<()> {
        let end = Instant::now() + WAIT;
        loop {
            let words = self.words(CLIENT, &["ping"]);
            let asked = self.ground.command(Side::B, &words)?.stdin(Stdio::null()).output();
            if asked.map_err(doing(format!("start {CLIENT}")))?.stdout.starts_with(b"PONG") {
                return Ok(());
            }
            if Instant::now() > end {
                let to = self.to.join(" ");
                return Err(Error::Said(format!("{SERVER} does not answer ({CLIENT} {to})")));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// How many were not written.
    fn write_values(&self) -> Result<u64> {
        self.tell(|key| format!("SET value:{key} {}", value(key)), |_| "OK".to_owned())
    }

    /// How many are not what was written.
    fn read_values(&self) -> Result<u64> {
        self.tell(|key| format!("GET value:{key}"), value)
    }

    /// A command for each key, by one connection. How many answers are others.
    fn tell(
        &self,
        command: impl Fn(usize) -> String,
        answer: impl Fn(usize) -> String,
    ) -> Result<u64> {
        let commands: Vec<String> = (0..VALUES).map(command).collect();
        let mut input = tempfile::tempfile().map_err(doing("make a file of commands"))?;
        writeln!(input, "{}", commands.join("\n")).map_err(doing("write commands"))?;
        input.rewind().map_err(doing("read commands"))?;
        let said = self.run(CLIENT, &[], input.into())?;
        Ok(differences(&said, (0..VALUES).map(answer)))
    }

    /// What the server has read and written so far, without the headers of packets.
    fn bytes(&self) -> Result<u64> {
        payload(&self.run(CLIENT, &["info", "stats"], Stdio::null())?)
    }
}

/// Of one line, and another one for each key.
fn value(key: usize) -> String {
    (0..PARTS).map(|part| format!("{:08}", key * PARTS + part)).collect()
}

/// How many lines are others than they have to be, or missing, or too many.
fn differences(said: &str, expected: impl Iterator<Item = String>) -> u64 {
    let mut said = said.lines();
    let others = expected.filter(|line| said.next() != Some(line.as_str())).count();
    (others + said.count()) as u64
}

/// Of what the server says of itself.
fn payload(said: &str) -> Result<u64> {
    let figure = |name: &str| {
        let text = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let figure = text.and_then(|text| text.parse::<u64>().ok());
        figure.ok_or_else(|| Error::Said(format!("{SERVER} says no {name}")))
    };
    Ok(figure("total_net_input_bytes")? + figure("total_net_output_bytes")?)
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

    #[test]
    fn values_that_are_wrong_missing_or_twice_are_counted() {
        let right = [0, 1, 2].map(value);
        let count = |said: &[&String]| {
            let said: Vec<&str> = said.iter().map(|line| line.as_str()).collect();
            differences(&said.join("\n"), right.iter().cloned())
        };
        let [a, b, c] = right.each_ref();
        assert_eq!(value(1).len(), 1000);
        assert_eq!(count(&[a, b, c]), 0);
        assert_eq!(count(&[a, c, b]), 2);
        assert_eq!(count(&[a, b]), 1);
        assert_eq!(count(&[a, b, c, c]), 1);
        assert_eq!(count(&[]), 3);
    }

    #[test]
    fn payload_is_what_the_server_has_read_and_written() {
        let said = "# Stats\r\ntotal_net_input_bytes:700\r\ntotal_net_output_bytes:50\r\n";
        assert_eq!(payload(said).unwrap(), 750);
        assert!(payload("total_net_input_bytes:700").is_err());
    }
}
