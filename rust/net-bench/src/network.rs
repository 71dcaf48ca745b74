//! The networks between two programs: none, or those that containers of one host and of two have. An ordinary user makes them
//! in namespaces of its own; they are gone with this process.

use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use clap::ValueEnum;

use crate::error::{Error, Result, doing};

/// How two programs of a host talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// TCP over the loopback interface.
    Loopback,
    /// A Unix socket.
    Unix,
    /// TCP between two containers: a veth pair for each, and a bridge.
    Veth,
    /// TCP between containers of two hosts: the same, and VXLAN between the bridges.
    Vxlan,
    /// As veth, and eBPF's sockmap in the kernel; needs root.
    Sockmap,
    /// As veth, and both programs run by `afterbay net run`.
    Memory,
    /// As memory, and no agent runs: all is TCP.
    NoAgent,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Loopback => "loopback",
            Way::Unix => "unix",
            Way::Veth => "veth",
            Way::Vxlan => "vxlan",
            Way::Sockmap => "sockmap",
            Way::Memory => "memory",
            Way::NoAgent => "no-agent",
        }
    }

    fn script(self) -> Option<String> {
        let network = match self {
            Way::Loopback | Way::Unix => return None,
            Way::Veth | Way::Sockmap | Way::Memory | Way::NoAgent => BRIDGE,
            Way::Vxlan => VXLAN,
        };
        Some(format!("{BEFORE}{network}{AFTER}"))
    }
}

/// Containers `a` and `b`, each with an interface whose other end gets a namespace and a bridge there.
const BEFORE: &str = "set -e
mount -t tmpfs none /run
space() { ip netns add $1; ip -n $1 link set lo up; }
bridge() { space $1; ip -n $1 link add bridge type bridge; ip -n $1 link set bridge up; }
container() {
    space $1
    ip link add inside netns $1 type veth peer name to-$1 netns $2
    ip -n $2 link set to-$1 master bridge up
    ip -n $1 address add 10.77.0.$3/24 dev inside
    ip -n $1 link set inside up
}
";

const BRIDGE: &str = "bridge host
container a host 1
container b host 2
";

/// VXLAN takes 50 bytes of each packet.
const VXLAN: &str = "bridge host-a
bridge host-b
ip link add cable netns host-a type veth peer name cable netns host-b
tunnel() {
    ip -n $1 address add 10.78.0.$2/24 dev cable
    ip -n $1 link set cable up
    ip -n $1 link add tunnel type vxlan id 7 local 10.78.0.$2 remote 10.78.0.$3 dstport 4789 dev cable
    ip -n $1 link set tunnel master bridge up
}
tunnel host-a 1 2
tunnel host-b 2 1
container a host-a 1
container b host-b 2
for name in a b; do ip -n $name link set inside mtu 1450; done
";

/// What is there ends with the standard input.
const AFTER: &str = "echo ready
cat
";

/// The side of the server is `a`, that of the clients `b`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    A,
    B,
}

/// A network that is there as long as this is.
#[derive(Debug)]
pub(crate) struct Network {
    holder: Option<Holder>,
}

#[derive(Debug)]
struct Holder {
    process: Child,
    _input: ChildStdin,
    _output: BufReader<ChildStdout>,
}

impl Network {
    pub(crate) fn of(way: Way) -> Result<Self> {
        let Some(script) = way.script() else { return Ok(Network { holder: None }) };
        match Holder::start(&script) {
            Ok(holder) => Ok(Network { holder: Some(holder) }),
            Err(cause) => Err(Error::NoNamespaces { way: way.name(), cause }),
        }
    }

    /// Where a TCP server of side A listens.
    pub(crate) fn address(&self) -> Ipv4Addr {
        match self.holder {
            Some(_) => Ipv4Addr::new(10, 77, 0, 1),
            None => Ipv4Addr::LOCALHOST,
        }
    }

    /// A command at one side.
    pub(crate) fn at(&self, side: Side, words: &[String]) -> Result<Command> {
        let mut all: Vec<String> = Vec::new();
        if let Some(holder) = &self.holder {
            let target = holder.process.id().to_string();
            let enter = [
                "nsenter",
                "--target",
                &target,
                "--user",
                "--net",
                "--mount",
                "--preserve-credentials",
            ];
            let name = match side {
                Side::A => "a",
                Side::B => "b",
            };
            all.extend(enter.iter().chain(&["ip", "netns", "exec", name]).map(ToString::to_string));
        }
        all.extend(words.iter().cloned());
        let [program, arguments @ ..] = all.as_slice() else {
            return Err(Error::Said("no program is named".to_owned()));
        };
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }
}

impl Holder {
    fn start(script: &str) -> std::result::Result<Self, String> {
        let mut process = Command::new("unshare")
            .args(["-Urnm", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("unshare: {e}"))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("no pipes".to_owned());
        };
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).map_err(|e| format!("unshare: {e}"))?;
        if line == "ready\n" {
            return Ok(Holder { process, _input: input, _output: output });
        }
        drop(input);
        let said = process.wait_with_output().map_err(|e| format!("unshare: {e}"))?;
        Err(String::from_utf8_lossy(&said.stderr).trim().to_owned())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads the first line that a process says.
pub(crate) fn first_line(process: &mut Child) -> Result<(String, BufReader<ChildStdout>)> {
    let output =
        process.stdout.take().ok_or_else(|| Error::Said("the server has no output".to_owned()))?;
    let mut output = BufReader::new(output);
    let mut line = String::new();
    output.read_line(&mut line).map_err(doing("hear where the server listens"))?;
    match line.trim_end() {
        "" => Err(Error::Said("the server ended before it listened".to_owned())),
        address => Ok((address.to_owned(), output)),
    }
}
