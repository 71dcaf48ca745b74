//! Programs that run with the library, and their agent.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use afterbay_net_agent::AgentClient;
use afterbay_net_proto::Transport;
use afterbay_test_form::{PATIENCE, Wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How many seconds the library waits for an agent that is held up, and `status` for a program. After the usual two, a connection
/// would stay on TCP, and a program be left out.
pub(crate) const WAITS: &str = "AFTERBAY_NET_PATIENCE";

/// An agent, and programs that it brings together.
#[derive(Debug)]
pub(crate) struct Memory {
    folder: TempDir,
}

/// The library, which is built with these tests and lies beside them.
fn library() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let library = tests.with_file_name("libafterbay_net.so");
    assert!(library.exists(), "{} is not built", library.display());
    library
}

impl Memory {
    /// With an agent that runs.
    pub(crate) fn new() -> Memory {
        Memory::with_agent(&["agent"])
    }

    /// With one that says what it has done since it began.
    pub(crate) fn with_metrics() -> Memory {
        Memory::with_agent(&["agent", "--metrics", "127.0.0.1:0"])
    }

    fn with_agent(starts: &[&str]) -> Memory {
        let memory = Memory::without_agent();
        let started = memory.net(starts).output().unwrap();
        assert!(started.status.success(), "{started:?}");
        memory
    }

    pub(crate) fn without_agent() -> Memory {
        Memory { folder: tempfile::tempdir().unwrap() }
    }

    /// A place for files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    /// `afterbay net` with these arguments.
    pub(crate) fn net(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterbay-net"));
        command.args(arguments).env("AFTERBAY_NET_DIR", self.directory());
        command
            .env("AFTERBAY_NET_LIBRARY", library())
            .env(WAITS, PATIENCE.as_secs().to_string())
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null());
        command
    }

    /// A program by `net run`, whose connections are offered memory when they begin.
    pub(crate) fn program(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.net(&["run", "--spin", "off", "--eager", "--"]);
        command.arg(program.as_ref());
        command
    }

    /// A program by `net run` as everybody starts it.
    pub(crate) fn program_by_default(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.net(&["run", "--"]);
        command.arg(program.as_ref());
        command
    }

    /// What `net run` puts into a program's environment, also where there is no agent.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.environment_after(0)
    }

    /// And connections get rings after so many operations.
    pub(crate) fn environment_after(&self, operations: u32) -> Vec<(String, String)> {
        let values = [
            ("LD_PRELOAD", library().display().to_string()),
            ("AFTERBAY_NET_AGENT", self.directory().join("agent.sock").display().to_string()),
            ("AFTERBAY_NET_GROUP", "default".to_owned()),
            ("AFTERBAY_NET_RING", (256 << 10).to_string()),
            ("AFTERBAY_NET_MEMORY", (512 << 20).to_string()),
            ("AFTERBAY_NET_SPIN", "off".to_owned()),
            ("AFTERBAY_NET_AFTER", operations.to_string()),
            (WAITS, PATIENCE.as_secs().to_string()),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// What all programs say: none is stopped.
    pub(crate) fn status(&self) -> Value {
        status(&mut self.net(&["status", "--json"]))
    }

    /// As [`Memory::status`], without programs that are stopped, or held up for two seconds.
    pub(crate) fn look(&self) -> Value {
        status(&mut self.looks())
    }

    fn looks(&self) -> Command {
        let mut command = self.net(&["status", "--json"]);
        command.env_remove(WAITS);
        command
    }

    /// Connections of a process. No program is stopped.
    pub(crate) fn connections_of(&self, process: u32) -> Vec<Value> {
        connections_in(&self.status(), process)
    }

    /// All connections of a process, whose library tells the agent of itself on its own time.
    #[track_caller]
    pub(crate) fn all_connections_of(&self, process: u32, count: usize) -> Vec<Value> {
        let wait = Wait::until("the agent knows of the connections");
        loop {
            let connections = connections_in(&self.look(), process);
            if connections.len() == count {
                return connections;
            }
            wait.check(&connections);
        }
    }

    /// The one connection of a process.
    #[track_caller]
    pub(crate) fn connection_of(&self, process: u32) -> Value {
        self.all_connections_of(process, 1).remove(0)
    }

    pub(crate) fn demote(&self, process: u32) {
        let process = process.to_string();
        let mut command = self.net(&["demote", "--timeout", "120", &process]);
        let said = command.env_remove(WAITS).output().unwrap();
        assert!(said.status.success(), "{said:?}; {:#}", self.look());
    }

    /// As `net demote`, without a wait until it is so: what a process has goes back. Its library tells the agent of itself on its own
    /// time, and is told only then.
    pub(crate) fn begin_to_demote(&self, process: u32) -> AgentClient {
        let mut agent = self.asker();
        Wait::block("its library is told", || agent.demote(process, 0).unwrap() > 0);
        agent
    }

    /// As `net demote`, many times in a second: what a process has goes back, and has gone back when this returns.
    pub(crate) fn demote_quickly(&self, process: u32) -> Result<(), String> {
        let mut agent = self.begin_to_demote(process);
        let wait = Wait::until("it goes back");
        loop {
            let status = agent.status(PATIENCE).unwrap();
            let own = status.connections.iter().filter(|(pid, _)| *pid == process);
            let mut flows = own.clone().flat_map(|(_, record)| [record.out, record.input]);
            if flows.all(|flow| flow.transport == Transport::Tcp) {
                return Ok(());
            }
            if !wait.may_go_on() {
                return Err(format!("does not go back: {:?}", own.collect::<Vec<_>>()));
            }
        }
    }

    fn asker(&self) -> AgentClient {
        let group = "default".parse().unwrap();
        AgentClient::connect(&self.directory().join("agent.sock"), &group).unwrap()
    }

    /// Bytes that these processes have written by TCP and into rings, of connections that they have now. A process of which the agent
    /// does not know yet has none.
    pub(crate) fn written_by(&self, processes: [u32; 2]) -> (u64, u64) {
        let status = self.asker().status(PATIENCE).unwrap();
        let own = status.connections.iter().filter(|(process, _)| processes.contains(process));
        own.map(|(_, record)| record.out)
            .fold((0, 0), |sum, out| (sum.0 + out.tcp_bytes, sum.1 + out.ring_bytes))
    }

    /// Connections whose two ends the agent has brought together since it began, those that are closed too; of
    /// [`Memory::with_metrics`].
    pub(crate) fn pairs(&self) -> u64 {
        let log = std::fs::read_to_string(self.directory().join("agent.log")).unwrap();
        let line = log.lines().find(|line| line.contains("metrics")).unwrap();
        let (_, port) = line.rsplit_once(':').unwrap();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        let address = format!("127.0.0.1:{port}");
        let wait = Wait::until("the agent says how many connections it has brought together");
        loop {
            let page = metrics(&address);
            match page.as_deref().ok().and_then(pairs_in) {
                Some(pairs) => return pairs,
                None => wait.check(page),
            }
        }
    }

    /// `kill -9` of the agent.
    pub(crate) fn kill_agent(&self) {
        end(self.agent().unwrap(), Signal::KILL);
        Wait::block("the agent is dead", || self.agent().is_none());
    }

    /// SIGSTOP of the agent, until what is returned is dropped.
    pub(crate) fn stop_agent(&self) -> Stopped {
        let agent = self.agent().unwrap();
        end(agent, Signal::STOP);
        Stopped(agent)
    }

    fn agent(&self) -> Option<u32> {
        let said = self.looks().output().unwrap();
        let status: Value = serde_json::from_slice(&said.stdout).ok()?;
        u32::try_from(status["agent"]["process"].as_u64()?).ok()
    }
}

/// A process that is stopped.
#[derive(Debug)]
pub(crate) struct Stopped(u32);

impl Drop for Stopped {
    fn drop(&mut self) {
        end(self.0, Signal::CONT);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(agent) = self.agent() {
            end(agent, Signal::TERM);
        }
    }
}

/// What the agent says there, perhaps not all of it: a client is let go after some seconds.
fn metrics(address: &str) -> std::io::Result<String> {
    let mut client = TcpStream::connect(address)?;
    write!(client, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")?;
    let mut page = String::new();
    client.read_to_string(&mut page)?;
    Ok(page)
}

fn pairs_in(page: &str) -> Option<u64> {
    let (_, from) = page.split_once("\nafterbay_net_pairs_total ")?;
    from.split_once('\n')?.0.parse().ok()
}

fn status(command: &mut Command) -> Value {
    let said = command.output().unwrap();
    serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"))
}

fn connections_in(status: &Value, process: u32) -> Vec<Value> {
    let all = status["connections"].as_array().unwrap().iter();
    all.filter(|connection| connection["process"] == process).cloned().collect()
}

fn end(process: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(process.cast_signed()).unwrap(), signal);
}

/// Bytes by TCP and through memory of a connection, in both directions.
pub(crate) fn bytes_of(connection: &Value) -> (u64, u64) {
    let sum =
        |name: &str| ["out", "in"].iter().map(|way| connection[way][name].as_u64().unwrap()).sum();
    (sum("tcp_bytes"), sum("ring_bytes"))
}

/// Whether a process has memory of a ring. Where there is no agent to ask.
pub(crate) fn has_rings(process: u32) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    maps.contains("memfd:afterbay-net")
}
