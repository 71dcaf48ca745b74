//! redis, unchanged: a server and its clients.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use afterbay_test_form::Wait;

use crate::memory::{Memory, bytes_of, has_rings};
use crate::programs::{Installed, redis};

/// Increments that clients ask for in one go.
const INCREMENTS: u64 = 200_000;

/// A process, as long as this lives.
struct Running(Child);

/// A server, as long as this lives.
struct Server<'a> {
    memory: &'a Memory,
    redis: &'a Installed,
    process: Running,
    address: SocketAddr,
}

/// Of the loopback interface, and nobody else's: what is bound to another address takes none of its ports.
fn own_address() -> Ipv4Addr {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id() << 2 | COUNT.fetch_add(1, Relaxed) & 3;
    Ipv4Addr::from_bits(127 << 24 | number & 0xff_ffff)
}

impl<'a> Server<'a> {
    fn start(memory: &'a Memory, redis: &'a Installed, with: &dyn Fn(PathBuf) -> Command) -> Self {
        // It takes no port 0.
        let address = TcpListener::bind((own_address(), 0)).unwrap().local_addr().unwrap();
        let process = with(redis.program("redis-server"))
            .args([
                "--port",
                &address.port().to_string(),
                "--bind",
                &address.ip().to_string(),
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
            ])
            .arg(memory.folder())
            .envs(redis.environment())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let server = Server { memory, redis, process: Running(process), address };
        Wait::block("redis answers", || server.ask(&["PING"], &plainly) == "PONG");
        server
    }

    fn client(&self, program: &str, with: &dyn Fn(PathBuf) -> Command) -> Command {
        let mut command = with(self.redis.program(program));
        let (ip, port) = (self.address.ip().to_string(), self.address.port().to_string());
        command.args(["-h", &ip, "-p", &port]).envs(self.redis.environment());
        command
    }

    fn ask(&self, words: &[&str], with: &dyn Fn(PathBuf) -> Command) -> String {
        let said = self.client("redis-cli", with).args(words).output().unwrap();
        String::from_utf8(said.stdout).unwrap().trim_end().to_owned()
    }

    /// A client that asks for increments, as fast as it can.
    fn increments(&self, with: &dyn Fn(PathBuf) -> Command) -> Child {
        let requests = self.memory.folder().join("requests");
        std::fs::write(&requests, "INCR counter\r\n".repeat(INCREMENTS as usize)).unwrap();
        let input = std::fs::File::open(requests).unwrap();
        let mut client = self.client("redis-cli", with);
        client.arg("--pipe").stdin(input).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn check(&self, increments: Child, times: u64) {
        let said = increments.wait_with_output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains(&format!("errors: 0, replies: {INCREMENTS}")), "{said}");
        assert_eq!(self.ask(&["GET", "counter"], &plainly), (times * INCREMENTS).to_string());
    }

    /// Bytes of all its connections by TCP and through memory.
    fn bytes(&self) -> (u64, u64) {
        let of_each = self.memory.connections_of(self.process.0.id());
        of_each.iter().map(bytes_of).fold((0, 0), |sum, bytes| (sum.0 + bytes.0, sum.1 + bytes.1))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn plainly(program: PathBuf) -> Command {
    Command::new(program)
}

#[test]
fn what_redis_says_goes_through_memory() {
    let Some(redis) = redis() else { return };
    let memory = Memory::new();
    let with = |program: PathBuf| memory.program_by_default(program);
    let server = Server::start(&memory, &redis, &with);
    assert_eq!(server.ask(&["SET", "key", "value"], &with), "OK");
    assert_eq!(server.ask(&["GET", "key"], &with), "value");
    server.check(server.increments(&with), 1);
    // Connections that stay until they are looked at.
    let mut benchmark = server.client("redis-benchmark", &with);
    benchmark.args(["-P", "16", "-c", "8", "-n", "100000000", "-t", "set", "-d", "100", "-q"]);
    let benchmark = Running(benchmark.stdout(Stdio::null()).spawn().unwrap());
    Wait::block("some of it went through memory", || server.bytes().1 > 50_000_000);
    let (tcp, ring) = server.bytes();
    assert!(ring * 10 > (tcp + ring) * 9, "{tcp} by TCP, {ring} through memory");
    // All of them back, while they are used.
    memory.demote(server.process.0.id());
    let ring = server.bytes().1;
    Wait::block("it goes on by TCP", || server.bytes().0 > 50_000_000 + tcp);
    assert_eq!(server.bytes().1, ring);
    drop(benchmark);
    assert_eq!(server.ask(&["GET", "key"], &with), "value");
    let said = server
        .client("redis-benchmark", &with)
        .args(["-P", "16", "-n", "20000", "-t", "get", "-q"])
        .output()
        .unwrap();
    assert!(
        said.status.success()
            && String::from_utf8_lossy(&said.stdout).contains("requests per second"),
        "{said:?}"
    );
}

#[test]
fn redis_loses_nothing_when_somebody_wants_tcp_or_the_agent_is_killed() {
    let Some(redis) = redis() else { return };
    let memory = Memory::new();
    let with = |program: PathBuf| memory.program(program);
    let server = Server::start(&memory, &redis, &with);
    let client = server.increments(&with);
    Wait::block("it is under way", || server.ask(&["EXISTS", "counter"], &plainly) == "1");
    // A client that has ended by now has nothing that could go back.
    let _ = memory.net(&["demote", &server.process.0.id().to_string()]).output().unwrap();
    server.check(client, 1);
    let client = server.increments(&with);
    let more = INCREMENTS.to_string();
    Wait::block("it is under way", || server.ask(&["GET", "counter"], &plainly) != more);
    memory.kill_agent();
    server.check(client, 2);
    // New connections are TCP's.
    server.check(
        server.increments(&|program| {
            let mut command = Command::new(program);
            command.envs(memory.environment());
            command
        }),
        3,
    );
}

#[test]
fn redis_without_an_agent_has_no_memory_of_rings() {
    let Some(redis) = redis() else { return };
    let memory = Memory::without_agent();
    let with = |program: PathBuf| {
        let mut command = Command::new(program);
        command.envs(memory.environment());
        command
    };
    let server = Server::start(&memory, &redis, &with);
    server.check(server.increments(&with), 1);
    assert!(!has_rings(server.process.0.id()));
}
