//! Two network namespaces with a cable between them, as two containers have them; of an ordinary user, and gone with the test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::ends::{Starts, Told};
use crate::memory::{Memory, bytes_of, has_rings};

/// Ends with its input.
const SCRIPT: &str = "set -e
mount -t tmpfs none /run
for side in a b; do ip netns add $side; done
ip link add va netns a type veth peer name vb netns b
ip -n a address add 10.77.0.1/24 dev va
ip -n b address add 10.77.0.2/24 dev vb
for side in a b; do ip -n $side link set lo up; ip -n $side link set v$side up; done
echo ready
cat";

struct Namespaces {
    holder: Child,
    _input: ChildStdin,
    _output: BufReader<ChildStdout>,
}

impl Namespaces {
    /// Whether this machine lets us; where tests must not be left out, it has to.
    fn new() -> Option<Namespaces> {
        let mut command = Command::new("unshare");
        command.args(["-Urnm", "sh", "-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let said = command.stderr(Stdio::piped()).spawn().and_then(|mut holder| {
            let input = holder.stdin.take().unwrap();
            let mut output = BufReader::new(holder.stdout.take().unwrap());
            let mut line = String::new();
            output.read_line(&mut line)?;
            match line.as_str() {
                "ready\n" => Ok(Namespaces { holder, _input: input, _output: output }),
                _ => Err(std::io::Error::other(format!("{:?}", holder.wait_with_output()?))),
            }
        });
        match said {
            Ok(namespaces) => Some(namespaces),
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "no network namespaces here: {error}");
                println!("not run: no network namespaces here (unshare -Urnm, ip): {error}");
                None
            }
        }
    }

    fn inside(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        let holder = self.holder.id().to_string();
        command
            .args(["--target", &holder, "--user", "--net", "--mount", "--preserve-credentials"])
            .args(words);
        command
    }

    /// A command in one of them.
    fn at(&self, side: &str, command: &Command) -> Command {
        let mut inside = self.inside(&["ip", "netns", "exec", side]);
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    /// Bytes that went over the cable, both ways.
    fn carried(&self) -> u64 {
        let said =
            self.inside(&["ip", "-n", "a", "-s", "-j", "link", "show", "va"]).output().unwrap();
        let said: Value =
            serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        ["rx", "tx"].iter().map(|way| said[0]["stats64"][way]["bytes"].as_u64().unwrap()).sum()
    }

    fn pair(&self, starts: Starts<'_>) -> (Told, Told) {
        let script = include_str!("echo.py");
        let python = Path::new("/usr/bin/python3");
        let mut serves = starts(python);
        serves.args(["-c", script, "serve", "10.77.0.1"]);
        let mut server = Told::start(self.at("a", &serves));
        let port = server.hear();
        let mut asks = starts(python);
        asks.args(["-c", script, "ask", "10.77.0.1", &port]);
        let mut client = Told::start(self.at("b", &asks));
        assert_eq!(client.hear(), "connected");
        (server, client)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

const BYTES: u64 = 20_000_000;

#[test]
fn between_containers_the_cable_carries_next_to_nothing() {
    let Some(namespaces) = Namespaces::new() else { return };
    let memory = Memory::new();
    let (server, mut client) = namespaces.pair(&|program| memory.program(program));
    // What comes before both ends have the rings.
    client.exchanges(100_000);
    let before = namespaces.carried();
    client.exchanges(BYTES);
    let carried = namespaces.carried() - before;
    assert!(carried * 100 <= 2 * BYTES, "{carried} of {} bytes; {:#}", 2 * BYTES, memory.look());
    for program in [&server, &client] {
        let connection = memory.connection_of(program.id());
        assert!(bytes_of(&connection).1 >= 2 * BYTES, "{connection:#}");
    }
    // And all of it again, when somebody wants to see it.
    memory.demote(server.id());
    let before = namespaces.carried();
    client.exchanges(BYTES);
    assert!(namespaces.carried() - before >= 2 * BYTES);
}

/// The control: without an agent, all of it goes over the cable.
#[test]
fn without_an_agent_the_cable_carries_all() {
    let Some(namespaces) = Namespaces::new() else { return };
    let memory = Memory::without_agent();
    let (server, mut client) = namespaces.pair(&|program| {
        let mut command = Command::new(program);
        command.envs(memory.environment());
        command
    });
    let before = namespaces.carried();
    client.exchanges(BYTES);
    assert!(namespaces.carried() - before >= 2 * BYTES);
    assert!(!has_rings(server.id()) && !has_rings(client.id()));
}
