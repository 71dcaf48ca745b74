//! Agents that read from mosquitto, as most sites have it. Without one, these tests say so, and `.ci/test.sh` counts them as left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use afterbay_test_form::{PATIENCE, Wait, edge_kills};
use rumqttc::{Client, Event, MqttOptions, NetworkOptions, Packet, QoS};
use serde_json::Value;

use crate::mqtt::{VERSIONS, command_at, names, row, rows, wait_for_rows};
use crate::site::{Process, World};

const TOPIC: &str = "sensors/a/temp";
const END: &str = "sensors/a/end";
/// Messages between two kills.
const MESSAGES: u64 = 200;

/// The program, installed or got by `tests/programs/fetch`.
fn program() -> Option<PathBuf> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/edge-programs");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), fetched]);
    let found = folders.map(|folder| folder.join("mosquitto")).find(|file| file.is_file());
    if found.is_none() {
        println!(
            "not run: there is no mosquitto; rust/edge/tests/programs/fetch rust/target/edge-programs gets it"
        );
    }
    found
}

/// A broker with a folder for what it keeps.
struct Mosquitto {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    child: Child,
}

impl Mosquitto {
    /// Starts one with these settings beside those that the guide has.
    fn start(program: &Path, folder: PathBuf, settings: &str) -> Self {
        std::fs::create_dir(&folder).unwrap();
        let wait = Wait::until("mosquitto has a port");
        loop {
            // Whoever takes it in between has it: then it is another one.
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            drop(listener);
            let text = format!(
                "listener {port} 127.0.0.1\nallow_anonymous true\nuser root\nmax_queued_messages 0\n\
                 max_inflight_messages 100\npersistence_location {}/\nlog_dest file {}\n{settings}\n",
                folder.display(),
                folder.join("log").display()
            );
            std::fs::write(folder.join("conf"), text).unwrap();
            let (program, folder) = (program.to_owned(), folder.clone());
            if let Some(child) = run(&program, &folder) {
                return Self { program, folder, port, child };
            }
            wait.check(port);
        }
    }

    fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// Waits until the disk has what it has acknowledged: it writes everything, each second at most.
    fn wait_until_saved(&self, last: u64) {
        let name = format!("\"m{last}.\"");
        Wait::block("mosquitto has written it", || {
            let all = std::fs::read(self.folder.join("mosquitto.db")).unwrap_or_default();
            all.windows(name.len()).any(|window| window == name.as_bytes())
        });
    }

    fn end(&mut self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        self.child.wait().unwrap();
    }

    /// Starts it again, where it was.
    fn start_again(&mut self) {
        let wait = Wait::until("mosquitto has its port again");
        loop {
            if let Some(child) = run(&self.program, &self.folder) {
                self.child = child;
                return;
            }
            wait.check(self.port);
        }
    }

    /// Publishes, and waits until the broker has acknowledged it.
    fn publish(&self, topic: &str, payloads: impl Iterator<Item = String>) {
        let mut options = MqttOptions::new("sensor", "127.0.0.1", self.port);
        options.set_inflight(100);
        let (client, mut connection) = Client::new(options, 10);
        let mut network = NetworkOptions::new();
        network.set_connection_timeout(PATIENCE.as_secs());
        connection.eventloop.set_network_options(network);
        let payloads: Vec<String> = payloads.collect();
        let (topic, count) = (topic.to_owned(), payloads.len());
        let publisher = std::thread::spawn(move || {
            for payload in payloads {
                client.publish(&topic, QoS::AtLeastOnce, false, payload).unwrap();
            }
            client
        });
        let acknowledged = connection.iter().map(Result::unwrap);
        let acknowledged =
            acknowledged.filter(|event| matches!(event, Event::Incoming(Packet::PubAck(_))));
        assert_eq!(acknowledged.take(count).count(), count);
        drop(publisher.join().unwrap());
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        // It has ended, or ends with that.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// None if it has ended at once, as without its port.
fn run(program: &Path, folder: &Path) -> Option<Child> {
    let log = folder.join("log");
    let said = || std::fs::read_to_string(&log).unwrap_or_default().matches(" running").count();
    let before = said();
    let mut child = Command::new(program)
        .arg("-c")
        .arg(folder.join("conf"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait = Wait::until("mosquitto runs");
    loop {
        if said() > before {
            return Some(child);
        }
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        wait.check(&log);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The guide's settings, and what is lost by `kill -9` is a second's.
const KEEPS: &str = "persistence true\nautosave_interval 1";

fn agent(world: &World, broker: &Mosquitto, version: &str, arguments: &[&str]) -> Process {
    let mut command = command_at(world, &broker.url(), version, "20ms", "data-dev1");
    let agent = Process::start(command.args(["--end-topic", END]).args(arguments));
    Wait::block("the agent has subscribed", || agent.status()["mqtt"]["brokerUp"] == true);
    agent
}

/// Waits for its end: what it says last, of messages.
fn last_words(agent: Process) -> Value {
    let mut agent = agent;
    let out = agent.out.take().unwrap();
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    let lines: Vec<String> = std::io::BufRead::lines(out).map(Result::unwrap).collect();
    let status: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    status["mqtt"].clone()
}

fn numbers(round: u64) -> impl Iterator<Item = String> {
    (round * MESSAGES..(round + 1) * MESSAGES).map(row)
}

#[test]
fn an_agent_is_killed_beside_mosquitto_and_nothing_is_lost_or_doubled() {
    let Some(program) = program() else { return };
    for version in VERSIONS {
        let world = World::new("project", &["dev1"]);
        let broker = Mosquitto::start(&program, world.path("broker"), KEEPS);
        let _gateway = world.gateway(&[]);
        let arguments = ["--sequence", "n"];
        let mut running = agent(&world, &broker, version, &arguments);
        let (times, mut random) = (edge_kills().div_ceil(2), 0x5EED_0090_u64);
        for round in 0..times {
            broker.publish(TOPIC, numbers(round));
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Somewhere between a message and its acknowledgement: any moment is right.
            std::thread::sleep(Duration::from_micros(random % 60_000));
            running.kill();
            running = agent(&world, &broker, version, &arguments);
        }
        broker.publish(TOPIC, numbers(times));
        broker.publish(END, [String::new()].into_iter());
        let status = last_words(running);
        assert_eq!(status["badRows"], 0, "{status}");
        assert_eq!(rows(&world), names(0..(times + 1) * MESSAGES), "once, and in their order");
    }
}

/// What it has acknowledged and written comes once it is there again; what agents had acknowledged in its last second comes once
/// more.
#[test]
fn mosquitto_is_killed_and_nothing_that_it_has_written_is_lost() {
    let Some(program) = program() else { return };
    for version in VERSIONS {
        let world = World::new("project", &["dev1"]);
        let mut broker = Mosquitto::start(&program, world.path("broker"), KEEPS);
        let _gateway = world.gateway(&[]);
        let arguments = ["--sequence", "n"];
        let mut running = agent(&world, &broker, version, &arguments);
        // In the middle of what it acknowledges; then when it is asked to end, while messages are on their way.
        broker.publish(TOPIC, numbers(0));
        wait_for_rows(&world, &names(0..MESSAGES));
        broker.end("-KILL");
        broker.start_again();
        connected(&running, 2);
        broker.publish(TOPIC, numbers(1));
        broker.end("-TERM");
        broker.start_again();
        connected(&running, 3);
        wait_for_rows(&world, &names(0..2 * MESSAGES));
        // Both at once: nobody has taken them.
        running.kill();
        broker.publish(TOPIC, numbers(2));
        broker.wait_until_saved(3 * MESSAGES - 1);
        broker.end("-KILL");
        broker.start_again();
        running = agent(&world, &broker, version, &arguments);
        broker.publish(END, [String::new()].into_iter());
        let status = last_words(running);
        assert_eq!(rows(&world), names(0..3 * MESSAGES), "{status}");
    }
}

fn connected(agent: &Process, times: u64) {
    Wait::block("the agent is there again", || {
        let status = agent.status();
        status["mqtt"]["brokerUp"] == true && status["mqtt"]["connections"].as_u64() >= Some(times)
    });
}

/// The control: a broker that keeps nothing has forgotten the agent's session.
#[test]
fn mosquitto_without_persistence_loses_what_nobody_had_taken() {
    let Some(program) = program() else { return };
    let world = World::new("project", &["dev1"]);
    let mut broker = Mosquitto::start(&program, world.path("broker"), "persistence false");
    let _gateway = world.gateway(&[]);
    agent(&world, &broker, "5", &[]).kill();
    broker.publish(TOPIC, numbers(0));
    broker.end("-KILL");
    broker.start_again();
    let running = agent(&world, &broker, "5", &[]);
    broker.publish(TOPIC, numbers(1));
    broker.publish(END, [String::new()].into_iter());
    let status = last_words(running);
    assert_eq!(status["messages"], MESSAGES + 1, "{status}");
    let found: BTreeSet<String> = rows(&world).into_iter().collect();
    assert_eq!(found, names(MESSAGES..2 * MESSAGES).into_iter().collect());
}
