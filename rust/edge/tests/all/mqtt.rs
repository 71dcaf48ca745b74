//! Agents that read from a broker.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use afterbay_test_form::{PATIENCE, Wait, edge_kills};
use serde_json::Value;

use crate::broker::Broker;
use crate::site::{Process, TUMBLE, World};
use crate::{program, run};

pub(crate) const VERSIONS: [&str; 2] = ["3", "5"];
/// Columns that the plan `project` gives.
pub(crate) const PROJECT: [&str; 3] = ["room", "EXPR$1", "device"];
pub(crate) const TOPIC: &str = "sensors/a/temp";

/// A row; its number is in two columns, and its name in a third.
pub(crate) fn row(number: u64) -> String {
    let (minute, second) = (number / 60 % 60, number % 60);
    format!(
        "{{\"device\":\"m{number}.\",\"room\":{},\"temperature\":20.5,\"n\":{number},\"ts\":\"2026-01-01 00:{minute:02}:{second:02}Z\"}}",
        number % 10
    )
}

pub(crate) fn command(world: &World, broker: &Broker, version: &str) -> Command {
    command_of(world, broker, version, "20ms", "data-dev1")
}

pub(crate) fn lingering(world: &World, broker: &Broker, version: &str, linger: &str) -> Command {
    command_of(world, broker, version, linger, "data-dev1")
}

fn command_of(world: &World, broker: &Broker, version: &str, linger: &str, data: &str) -> Command {
    command_at(world, &broker.url(), version, linger, data)
}

/// With a broker at this address.
pub(crate) fn command_at(
    world: &World,
    url: &str,
    version: &str,
    linger: &str,
    data: &str,
) -> Command {
    let mut command = program();
    command.args(["agent", "--site", "dev1", "--linger", linger, "--admin", "127.0.0.1:0"]);
    command.arg("--plan").arg(&world.plan).arg("--data").arg(world.path(data));
    command.args(["--gateway", &world.relay.address.to_string()]);
    command.args(["--tls-server-name", "localhost"]);
    command.arg("--tls-roots").arg(world.path("server.pem"));
    command.arg("--key-file").arg(world.path("keys/dev1.key"));
    command.args(["--mqtt", url, "--mqtt-version", version, "--topic", "sensors/+/temp"]);
    command
}

pub(crate) fn start(world: &World, broker: &Broker, version: &str) -> Process {
    let agent = Process::start(&mut command(world, broker, version));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    agent
}

/// Rows that the gateway has committed, or none yet.
pub(crate) fn rows(world: &World) -> Vec<String> {
    let (text, _) = world.committed("edge_partials");
    let rows = text.lines().filter_map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["device"].as_str().map(str::to_owned)
    });
    rows.collect()
}

pub(crate) fn names(numbers: impl Iterator<Item = u64>) -> Vec<String> {
    numbers.map(|number| format!("m{number}.")).collect()
}

pub(crate) fn wait_for_rows(world: &World, expected: &[String]) {
    let wait = Wait::until("the rows have come");
    loop {
        let found = rows(world);
        if found.len() >= expected.len() {
            assert_eq!(found, expected);
            return;
        }
        wait.check(found.len());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn messages_become_the_rows_that_lines_of_a_file_become() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let _gateway = world.gateway(&[]);
        let agent = start(&world, &broker, version);
        broker.publish(TOPIC, row(0));
        broker.publish("sensors/b/temp", format!("{}\n{}\r\n", row(1), row(2)));
        broker.publish("sensors/b/humidity", row(77));
        // What is no row is left out, and its message is done with.
        broker.publish(TOPIC, "");
        broker.publish(TOPIC, "nonsense");
        broker.publish(TOPIC, &b"\xff\xfe"[..]);
        broker.publish(TOPIC, format!("{}\n{{\"device\":\"no time\"}}\n{}", row(3), row(4)));
        broker.publish_qos0(TOPIC, row(5));
        wait_for_rows(&world, &names(0..6));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        let lines: String = (0..6).map(|number| row(number) + "\n").collect();
        world.write("dev1", &lines);
        assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &PROJECT));
        let status = agent.status();
        let mqtt = &status["mqtt"];
        assert_eq!(mqtt["brokerUp"], true, "{status}");
        let counts = ["messages", "sentAgain", "qos0", "unacknowledged", "badRows"];
        let counts = counts.map(|name| mqtt[name].as_u64().unwrap());
        assert_eq!(counts, [7, 0, 1, 0, 3], "{status}");
        let place = format!(
            "{} {TOPIC}:2: the time of events is null; filter such rows before they come here",
            broker.url()
        );
        assert_eq!(mqtt["lastBadRow"], place, "{status}");
        let admin = agent.said["admin"].as_str().unwrap();
        let (_, text, _) = run(program().args(["status", "--at", admin]));
        for line in [
            &format!("  broker     {}  connected\n", broker.url()),
            "  messages   7, 0 sent again, 0 unacknowledged\n",
            "  unsafe     1 messages with QoS 0\n",
            &format!("  bad rows   3, the last one: {place}\n"),
        ] {
            assert!(text.contains(line), "{text}");
        }
        // What is published while it is away waits for it, in its session.
        let error = agent.terminate();
        assert!(error.contains("bad rows were left out"), "{error}");
        Wait::block("the broker has heard of its end", || !broker.is_listened_to());
        assert_eq!(broker.state().goodbyes, 1);
        broker.publish(TOPIC, row(6));
        let _agent = start(&world, &broker, version);
        wait_for_rows(&world, &names(0..7));
        assert_eq!(broker.state().stray, 0);
    }
}

/// As FILE.end says it of a file: windows that are open are sent, and the agent ends; started again, it ends again.
#[test]
fn a_message_on_a_topic_of_its_own_is_the_end() {
    for version in VERSIONS {
        let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
        let _gateway = world.gateway(&[]);
        let begin = || {
            let mut command = command(&world, &broker, version);
            Process::start(command.args(["--end-topic", "sensors/end"]))
        };
        let mut agent = begin();
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        (0..40).for_each(|number| broker.publish(TOPIC, row(number)));
        broker.publish("sensors/end", "");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut agent.out.take().unwrap(), &mut text).unwrap();
        assert_eq!(agent.end().0, 0);
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((&last["finished"], &last["mqtt"]["messages"]), (&true.into(), &41.into()));
        Wait::block("all is acknowledged, and the end", || broker.kept() == 0);
        world.write("dev1", &(0..40).map(|number| row(number) + "\n").collect::<String>());
        assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
        assert_eq!(begin().end().0, 0);
        // Without it, there is no end that could have come.
        let (code, _, error) = run(&mut command(&world, &broker, version));
        assert!(code == 1 && error.contains("its input is at its end"), "{error}");
    }
    let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
    let mut wrong = command(&world, &broker, "5");
    let (code, _, error) = run(wrong.args(["--end-topic", "sensors/x/temp"]));
    assert!(code == 2 && error.contains("by --topic sensors/+/temp too"), "{error}");
}

/// What is of the outbox in front of what the state says: entries that count.
fn committed(data: &Path) -> String {
    let Ok(state) = std::fs::read(data.join("state")) else { return String::new() };
    // spec/edge-outbox.md: magic and checksum, five numbers of 4 bytes, the epoch.
    let position = u64::from_be_bytes(state[37..45].try_into().unwrap());
    let mut text = String::new();
    let Ok(files) = std::fs::read_dir(data.join("outbox")) else { return text };
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "log"));
    files.sort();
    for file in files {
        let bytes = std::fs::read(file).unwrap();
        let mut rest = bytes.as_slice();
        while rest.len() >= 16 {
            let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let entry = u64::from_be_bytes(rest[8..16].try_into().unwrap());
            if entry >= position || rest.len() < 16 + length {
                break;
            }
            text.push_str(&String::from_utf8_lossy(&rest[16..16 + length]));
            rest = &rest[16 + length..];
        }
    }
    text
}

/// Nobody is there to send rows to: everything that is committed stays in the outbox.
#[test]
fn nothing_is_acknowledged_before_it_is_in_the_log() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let early = Arc::new(Mutex::new(Vec::new()));
        let (data, mine) = (world.path("data-dev1"), early.clone());
        broker.state().watch = Some(Box::new(move |message| {
            let text = String::from_utf8_lossy(&message.payload).into_owned();
            let name = text.split('"').nth(3).unwrap();
            if !committed(&data).contains(&format!("\"{name}\"")) {
                mine.lock().unwrap().push(message.number);
            }
        }));
        let agent = start(&world, &broker, version);
        (0..200).for_each(|number| broker.publish(TOPIC, row(number)));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        assert_eq!(*early.lock().unwrap(), Vec::<u64>::new());
        assert_eq!(broker.state().acknowledged, (0..200).collect::<Vec<u64>>(), "in their order");
        assert_eq!(broker.state().stray, 0);
        drop(agent);
    }
}

#[test]
fn a_full_outbox_leaves_messages_with_the_broker() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let mut command = command(&world, &broker, version);
        let agent = Process::start(command.args(["--outbox-bytes", "4KiB"]));
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        (0..600).for_each(|number| broker.publish(TOPIC, row(number)));
        Wait::block("the agent holds", || agent.status()["held"].is_string());
        let wait = Wait::until("it has as many as the broker sends");
        loop {
            let status = agent.status();
            if status["mqtt"]["unacknowledged"] == 20 {
                break;
            }
            wait.check(status);
        }
        assert!(broker.kept() > 300, "{}", broker.kept());
        assert_eq!(agent.status()["mqtt"]["brokerUp"], true);
        let _gateway = world.gateway(&[]);
        wait_for_rows(&world, &names(0..600));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        assert_eq!(agent.status()["mqtt"]["connections"], 1);
        let state = broker.state();
        assert_eq!((state.stray, state.most_in_flight), (0, 20));
    }
}

/// A broker that waits for acknowledgements, which wait for rows: no row would come before --linger is over. MQTT 5 says how many
/// messages may be on their way, MQTT 3.1.1 does not.
#[test]
fn a_broker_that_waits_gets_a_commit() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    broker.state().window = 0;
    let agent = Process::start(&mut command_of(&world, &broker, "5", "1h", "data-dev1"));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    (0..3000).for_each(|number| broker.publish(TOPIC, row(number)));
    Wait::block("two windows are acknowledged", || broker.kept() <= 3000 - 2 * 1024);
    assert!(broker.state().most_in_flight <= 1024);
    drop(agent);

    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    broker.state().window = 8;
    let _agent = Process::start(&mut command_of(&world, &broker, "3", "4s", "data-dev1"));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    // With four seconds for each window, it would take longer than anybody waits.
    assert!(520 / 8 * Duration::from_secs(4) > PATIENCE);
    (0..520).for_each(|number| broker.publish(TOPIC, row(number)));
    Wait::block("all windows are acknowledged", || broker.kept() == 0);
    let state = broker.state();
    assert_eq!((state.stray, state.most_in_flight), (0, 8));
}

#[test]
fn a_broker_that_goes_and_comes_back_is_waited_for() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let _gateway = world.gateway(&[]);
        broker.state().is_down = true;
        let agent = Process::start(&mut command(&world, &broker, version));
        Wait::block("the status says why", || {
            let status = agent.status();
            status["mqtt"]["brokerUp"] == false
                && status["mqtt"]["brokerError"] != "not connected yet"
        });
        broker.state().is_down = false;
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        let mut sent = BTreeSet::new();
        for round in 0..6 {
            (round * 100..round * 100 + 100).for_each(|number| {
                sent.insert(number);
                broker.publish(TOPIC, row(number));
            });
            if round % 3 == 2 {
                // With all that is on its way: identifiers begin anew, and those of before mean nothing any more.
                Wait::block("everything is acknowledged", || broker.kept() == 0);
                broker.forget();
            } else {
                broker.cut();
            }
            Wait::block("the agent is there again", || broker.is_listened_to());
        }
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        let found = || rows(&world).into_iter().collect::<BTreeSet<_>>();
        let expected: BTreeSet<String> = names(sent.into_iter()).into_iter().collect();
        Wait::block("no row is missing", || found() == expected);
        assert_eq!(broker.state().stray, 0, "acknowledged once for each time that it was sent");
        let status = agent.status();
        assert!(status["mqtt"]["connections"].as_u64().unwrap() >= 6, "{status}");
    }
}

/// Their identifiers are other messages' on the next one.
#[test]
fn what_is_committed_without_a_connection_is_acknowledged_on_none() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let mut command = command(&world, &broker, version);
        let agent = Process::start(command.args(["--outbox-bytes", "4KiB"]));
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        // Until there is a gateway, nothing more is committed.
        (0..600).for_each(|number| broker.publish(TOPIC, row(number)));
        let mut all = 0;
        Wait::block("the agent holds, and has as many as the broker sends", || {
            let status = agent.status();
            all = status["mqtt"]["messages"].as_u64().unwrap();
            let is_full = status["mqtt"]["unacknowledged"] == 20
                && status["rows"].as_u64() == all.checked_sub(20);
            status["held"].is_string() && is_full
        });
        // The broker is started again, without its sessions, and takes its time.
        broker.forget_and_go();
        Wait::block("the agent knows it", || agent.status()["mqtt"]["brokerUp"] == false);
        assert_eq!(agent.status()["rows"], all - 20, "they are not committed");
        let _gateway = world.gateway(&[]);
        Wait::block("they are committed", || agent.status()["rows"] == all);
        broker.state().is_down = false;
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        (600..610).for_each(|number| broker.publish(TOPIC, row(number)));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        assert_eq!(agent.status()["rows"], all + 10);
        let state = broker.state();
        assert_eq!((state.stray, state.again), (0, 0));
    }
}

/// Many messages of QoS 0, of which no broker waits for anything: what is not read waits in the network.
#[test]
fn a_queue_that_is_full_is_not_filled_further() {
    /// Each of them is a quarter of what may be in the queue.
    const PAYLOAD_BYTES: usize = 1 << 20;
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    // Few commits: while the broker writes what is read slowly, it answers nothing, and pings are waited for only so long.
    broker.state().window = 0;
    let mut command = lingering(&world, &broker, "5", "500ms");
    let agent = Process::start(command.args(["--outbox-bytes", "4KiB"]));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    (0..100).for_each(|number| broker.publish(TOPIC, row(number)));
    Wait::block("something is to be sent", || agent.status()["next"].as_u64() > Some(0));
    (100..200).for_each(|number| broker.publish(TOPIC, row(number)));
    Wait::block("the agent holds", || agent.status()["held"].is_string());
    let broker = Arc::new(broker);
    let publishes = broker.clone();
    std::thread::spawn(move || {
        // Until nobody reads: then it waits, for the gateway.
        for number in 200..240 {
            publishes.publish_qos0(TOPIC, row(number) + &" ".repeat(PAYLOAD_BYTES));
        }
    });
    Wait::block("the queue is full", || agent.status()["mqtt"]["qos0"].as_u64() >= Some(4));
    assert!(agent.memory().is_none_or(|kib| kib < 45_000), "{:?} KiB", agent.memory());
    let _gateway = world.gateway(&[]);
    let expected: BTreeSet<String> = names(0..240).into_iter().collect();
    Wait::block("no row is missing", || {
        rows(&world).into_iter().collect::<BTreeSet<_>>() == expected
    });
    assert!(agent.memory().is_none_or(|kib| kib < 45_000), "{:?} KiB", agent.memory());
}

/// Kills an agent at random moments, so often, and sometimes its connection; then rows are at the gateway.
fn kill(version: &str, arguments: &[&str], seed: u64) -> Vec<String> {
    /// Messages between two kills: more than are done with before the second one.
    const MESSAGES: u64 = 400;
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let _gateway = world.gateway(&[]);
    let begin = || {
        let agent = Process::start(command(&world, &broker, version).args(arguments));
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        agent
    };
    let mut agent = begin();
    let mut random = seed | 1;
    // Of each version.
    let times = edge_kills().div_ceil(2);
    for round in 0..times {
        let messages = (round * MESSAGES..(round + 1) * MESSAGES).map(row);
        if round % 3 == 2 {
            broker.publish_and_cut(TOPIC, messages);
        } else {
            messages.for_each(|message| broker.publish(TOPIC, message));
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Somewhere between a message and its acknowledgement: any moment is right.
        std::thread::sleep(Duration::from_micros(random % 120_000));
        agent.kill();
        agent = begin();
    }
    Wait::block("everything is acknowledged", || broker.kept() == 0);
    let expected: BTreeSet<String> = names(0..times * MESSAGES).into_iter().collect();
    let wait = Wait::until("no row is missing");
    loop {
        // Everything is committed: how many rows there are is known.
        let (found, committed) = (rows(&world), agent.status()["rows"].as_u64().unwrap());
        if found.len() as u64 == committed {
            assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected);
            let state = broker.state();
            assert_eq!(state.stray, 0);
            assert!(state.again > 0, "the kills have met nothing");
            return found;
        }
        wait.check((found.len(), committed));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_is_lost_when_an_agent_is_killed() {
    for version in VERSIONS {
        kill(version, &[], 0x5EED_0083);
    }
}

#[test]
fn nothing_is_doubled_either_if_rows_have_numbers() {
    for version in VERSIONS {
        let found = kill(version, &["--sequence", "n"], 0x5EED_0084);
        assert_eq!(found, names(0..found.len() as u64), "once, and in their order");
    }
}

#[test]
fn numbers_grow_within_their_key() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let _gateway = world.gateway(&[]);
    let mut keyed = command(&world, &broker, "5");
    let agent = Process::start(keyed.args(["--sequence", "n", "--by", "room"]));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    // Of rooms 0 to 9; then all of them again, in one message, and one without a number.
    let lines: Vec<String> = (0..20).map(row).collect();
    (10..20).for_each(|number| broker.publish(TOPIC, row(number)));
    broker.publish(TOPIC, lines.join("\n"));
    broker.publish(TOPIC, row(21).replace("\"n\":21,", ""));
    broker.publish(TOPIC, row(20));
    let expected = [names(10..20), names(20..21)].concat();
    wait_for_rows(&world, &expected);
    Wait::block("everything is acknowledged", || broker.kept() == 0);
    let status = agent.status();
    let mqtt = &status["mqtt"];
    assert_eq!((&mqtt["repeatedRows"], &mqtt["badRows"]), (&20.into(), &1.into()), "{status}");
    assert!(mqtt["lastBadRow"].as_str().unwrap().contains("column of --sequence is null"));
    agent.terminate();
    let mut other = command(&world, &broker, "5");
    let (code, _, error) = run(other.args(["--sequence", "n"]));
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("--sequence n by room; give that again"), "{error}");
    // Without them, the next commit would forget all numbers.
    let (code, error) = Process::start(&mut command(&world, &broker, "5")).end();
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("--sequence n by room; give that again"), "{error}");
    let mut none = command(&world, &broker, "5");
    let (code, _, error) = run(none.args(["--sequence", "seq"]));
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("has no column seq, but device"), "{error}");
}

#[test]
fn what_a_broker_refuses_is_said_with_a_way_out() {
    use rumqttc::ConnectReturnCode as Three;
    use rumqttc::v5::mqttbytes::v5::ConnectReturnCode as Five;
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        std::fs::write(world.path("password"), "secret\nnot this\n").unwrap();
        let login = ["--mqtt-user", "me", "--mqtt-password-file"];
        let expect = |arguments: &[&str], what: &[&str]| {
            let mut command = command(&world, &broker, version);
            command.args(arguments);
            if arguments.contains(&"--mqtt-password-file") {
                command.arg(world.path("password"));
            }
            let (code, error) = Process::start(&mut command).end();
            assert_eq!(code, 1, "{error}");
            let broker = format!("afterbay edge: the broker {}: ", broker.url());
            assert!(error.contains(&broker), "{error}");
            what.iter().for_each(|what| assert!(error.contains(what), "{what}: {error}"));
        };
        let other = if version == "3" { "5" } else { "3" };
        for (three, five, what) in [
            (Three::NotAuthorized, Five::NotAuthorized, "client \"afterbay-dev1-edge_partials\""),
            (Three::BadClientId, Five::ClientIdentifierNotValid, "--client-id"),
            (
                Three::RefusedProtocolVersion,
                Five::UnsupportedProtocolVersion,
                &format!("give --mqtt-version {other}"),
            ),
        ] {
            broker.state().refusal = Some((three, five));
            expect(&[], &[what]);
        }
        broker.state().refusal = None;
        broker.state().login = Some(("me".to_owned(), "other".to_owned()));
        expect(&[], &["it wants a user", "--mqtt-password-file"]);
        expect(&login, &["the user \"me\" or its password"]);
        broker.state().login = Some(("me".to_owned(), "secret".to_owned()));
        broker.state().denied.insert("secret/#".to_owned());
        broker.state().only_qos0.insert("some/#".to_owned());
        let denied = [&["--topic", "secret/#"], &login[..]].concat();
        expect(&denied, &["topic \"secret/#\" is refused", "another --topic"]);
        let denied = [&["--topic", "some/#"], &login[..]].concat();
        expect(&denied, &["topic \"some/#\" is granted with QoS 0 only"]);
        // Two agents with the same session.
        broker.state().login = None;
        let first = start(&world, &broker, version);
        let second = Process::start(&mut command_of(&world, &broker, version, "20ms", "other"));
        if version == "5" {
            let (code, error) = first.end();
            assert_eq!(code, 1, "{error}");
            assert!(error.contains("another client has connected with the client id"), "{error}");
        } else {
            // MQTT 3.1.1 has no words for it: what is seen is that the broker closes connections.
            drop((first, second));
            broker.state().closes = true;
            let agent = Process::start(&mut command(&world, &broker, version));
            Wait::block("the status says what it may be", || {
                let status = agent.status();
                let why = status["mqtt"]["brokerError"].as_str().unwrap_or_default();
                why.contains("another client may have the client id")
            });
        }
    }
}

#[test]
fn what_makes_no_sense_on_the_command_line_is_wrong_usage() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    for (arguments, what) in [
        (&["--input", "x"][..], "cannot be used with"),
        (&["--topic", "a/b+"], "+ stands for a whole level"),
        (&["--mqtt-user", "me"], "--mqtt-password-file"),
        (&["--mqtt-ca", "x"], "is without TLS, and --mqtt-ca is for TLS"),
        (&["--mqtt-cert", "x"], "--mqtt-key"),
        (&["--mqtt-server-name", "x"], "--mqtt-ca"),
        (&["--client-id", ""], "1 to 65535 bytes"),
        (&["--follow"], "cannot be used with"),
    ] {
        let (code, _, error) = run(command(&world, &broker, "5").args(arguments));
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(what), "{arguments:?}: {error}");
    }
    let url = broker.url().replace("mqtt://", "mqtts://");
    let (code, _, error) = run(&mut command_at(&world, &url, "5", "20ms", "data-dev1"));
    assert!(code == 2 && error.contains("needs --mqtt-ca FILE"), "{error}");
    let (code, _, error) = run(&mut command(&world, &broker, "4"));
    assert!(code == 2 && error.contains("possible values: 3, 5"), "{error}");
    let mut missing = command(&world, &broker, "5");
    // As they were called before.
    missing.args(["--user", "me", "--password-file"]).arg(world.path("none"));
    let (code, _, error) = run(&mut missing);
    assert!(code == 1 && error.contains("none: No such file"), "{error}");
}
