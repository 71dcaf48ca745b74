//! An agent, and programs that are started with the library.

use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use afterbay_net_agent::{Agent, AgentClient, Destinations};
use afterbay_net_proto::{Record, Transport};
use afterbay_test_form::{PATIENCE, Wait};
use tempfile::TempDir;

/// How long programs may take to say what they have.
const ANSWERS: Duration = Duration::from_secs(2);
/// The group of all programs here.
const GROUP: &str = "tests";

/// Python itself, and not what finds it; if it is missing, a line says that the test was not run. Where tests must not be left out,
/// it has to be there.
pub(crate) fn python() -> Option<&'static str> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let words = ["-c", "import sys; print(sys.executable)"];
        let output = Command::new("python3").args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    });
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no python3 here");
        eprintln!("not run: python3 is missing");
    }
    found.as_deref()
}

pub(crate) fn has_python() -> bool {
    python().is_some()
}

/// The library, which cargo has built beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let places = [folder.join("libafterbay_net.so"), folder.join("../libafterbay_net.so")];
    places.into_iter().find(|place| place.exists()).unwrap().canonicalize().unwrap()
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/peer.py")
}

/// An agent, and what it needs.
pub(crate) struct World {
    /// Operations after which programs move a connection to memory; as they do by default if nothing is said.
    after: Option<u32>,
    folder: TempDir,
    stop: Option<PipeWriter>,
    agent: Option<JoinHandle<()>>,
}

impl World {
    /// Connections are offered rings when they begin.
    pub(crate) fn new() -> Self {
        Self::after(0)
    }

    /// Connections get rings after so many operations.
    pub(crate) fn after(operations: u32) -> Self {
        let mut world = Self::by_default();
        world.after = Some(operations);
        world
    }

    /// Connections get rings when they do by default.
    pub(crate) fn by_default() -> Self {
        let mut world = Self::without_agent();
        let mut agent = Agent::listen(&world.path(), Destinations::Exact).unwrap();
        let (stopped, stop) = std::io::pipe().unwrap();
        let thread = thread::spawn(move || agent.serve(stopped).unwrap());
        (world.stop, world.agent) = (Some(stop), Some(thread));
        world
    }

    /// Programs are told of an agent that is not there.
    pub(crate) fn without_agent() -> Self {
        World { after: None, folder: tempfile::tempdir().unwrap(), stop: None, agent: None }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    pub(crate) fn stop_agent(&mut self) {
        drop(self.stop.take());
        if let Some(agent) = self.agent.take() {
            agent.join().unwrap();
        }
    }

    pub(crate) fn asker(&self) -> AgentClient {
        AgentClient::connect(&self.path(), &GROUP.parse().unwrap()).unwrap()
    }

    /// A command that the library is loaded into.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("LD_PRELOAD", library())
            .env("AFTERBAY_NET_AGENT", self.path())
            .env("AFTERBAY_NET_GROUP", GROUP)
            .env("AFTERBAY_NET_RING", "64k")
            // An agent that is held up is waited for: after the usual two seconds, a connection would stay on TCP.
            .env("AFTERBAY_NET_PATIENCE", PATIENCE.as_secs().to_string());
        if let Some(after) = self.after {
            command.env("AFTERBAY_NET_AFTER", after.to_string());
        }
        command
    }

    /// Starts one of the script's programs.
    pub(crate) fn start(&self, words: &[&str]) -> Program {
        let mut command = self.command(python().unwrap());
        command.arg(script()).args(words);
        Program::start(command)
    }

    /// Connections, when they are as they have to be.
    pub(crate) fn status_when(
        &self,
        what: &'static str,
        is: impl Fn(&[(u32, Record)]) -> bool,
    ) -> Vec<(u32, Record)> {
        let wait = Wait::until(what);
        loop {
            // One that is stopped says nothing.
            let connections = self.asker().status(ANSWERS).unwrap().connections;
            if is(&connections) {
                return connections;
            }
            wait.check(&connections);
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop_agent();
    }
}

/// Both directions are in rings.
pub(crate) fn is_in_rings(record: &Record) -> bool {
    record.out.transport == Transport::Ring && record.input.transport == Transport::Ring
}

/// A program that runs.
pub(crate) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    pub(crate) fn start(mut command: Command) -> Self {
        // With all processes that it starts, it ends with its test.
        let pipes = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Program { child, input, output }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A line for its standard input.
    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line; nothing at the end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    #[track_caller]
    pub(crate) fn says(&mut self, line: &str) {
        assert_eq!(self.line(), line);
    }

    pub(crate) fn port(&mut self) -> String {
        let line = self.line();
        line.strip_prefix("port ").unwrap_or_else(|| panic!("{line:?}")).to_owned()
    }

    /// It may go on: its standard input ends.
    pub(crate) fn go_on(&mut self) {
        drop(self.input.take());
    }

    #[track_caller]
    pub(crate) fn ends(mut self) {
        self.go_on();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args(["-s", signal, &self.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
