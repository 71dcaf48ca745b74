//! Agents that publish their rows on the site's broker.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use afterbay_test_form::{Wait, edge_kills};
use rumqttc::v5::mqttbytes::v5::PubAckReason;
use serde_json::Value;

use crate::broker::Broker;
use crate::mqtt::{PROJECT, TOPIC, VERSIONS, names, row, wait_for_rows};
use crate::site::{Process, TUMBLE, World, append, readings};
use crate::{mqtt, program, run};

const ROOMS: &str = "rooms/parts";
/// As many rows may come twice after a kill, and as many after a connection that was lost.
const SPAN: u64 = 200;
const SENT: u64 = 100;

/// An agent on a file.
fn command(world: &World, broker: &Broker, version: &str) -> Command {
    let mut command = world.agent_command("dev1");
    command.args(["--publish", ROOMS, "--publish-to", &broker.url(), "--mqtt-version", version]);
    command
}

fn start(world: &World, broker: &Broker, version: &str, arguments: &[&str]) -> Process {
    Process::start(command(world, broker, version).args(arguments))
}

/// All rows of the input, as they are published.
fn expected(world: &World, columns: &[&str]) -> Vec<String> {
    let rows = world.expected("dev1", columns);
    rows.iter().map(|row| format!("{{{}}}", row.strip_suffix(',').unwrap())).collect()
}

/// Rows at the gateway, as they are published.
fn at_the_gateway(world: &World) -> Vec<String> {
    let rows = &world.rows("edge_partials")["dev1"];
    rows.iter().map(|row| format!("{{{}}}", row.strip_suffix(',').unwrap())).collect()
}

fn set(rows: Vec<String>) -> BTreeSet<String> {
    rows.into_iter().collect()
}

/// So many are there more often than they should.
fn doubles(rows: &[String], expected: &[String]) -> u64 {
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(row).or_default() += 1);
    expected.iter().for_each(|row| *counts.entry(row).or_default() -= 1);
    counts.values().map(|count| u64::try_from(*count).unwrap_or(0)).sum()
}

#[track_caller]
fn number(status: &Value, key: &str) -> u64 {
    status["publish"][key].as_u64().unwrap_or_else(|| panic!("{key}: {status}"))
}

fn wait_until_published(agent: &Process) {
    Wait::block("all is read, and published", || {
        let status = agent.status();
        status["finished"] == true && number(&status, "waitingRows") == 0
    });
}

#[test]
fn rows_on_the_site_s_broker_are_those_at_the_gateway() {
    for version in VERSIONS {
        let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
        world.write("dev1", &readings(0, 3000, 1));
        let agent = start(&world, &broker, version, &[]);
        // As long as there is no gateway, it does not end: then it would wait for the broker for some seconds only.
        wait_until_published(&agent);
        let _gateway = world.gateway(&[]);
        let (code, error) = agent.end();
        assert_eq!(code, 0, "{error}");
        let expected = expected(&world, &TUMBLE);
        assert!(expected.len() > 300, "{}", expected.len());
        assert_eq!(broker.taken(ROOMS), expected, "each once, and in their order");
        assert_eq!(at_the_gateway(&world), expected);
        let mine = "afterbay-dev1-edge_partials-publish";
        assert!(broker.state().taken.iter().all(|message| message.client == mine));
        Wait::block("it has said that it goes", || broker.state().goodbyes == 1);
        // Started again, there is nothing to publish.
        let (code, error) = start(&world, &broker, version, &[]).end();
        assert_eq!(code, 0, "{error}");
        assert_eq!(broker.taken(ROOMS).len(), expected.len());
    }
}

/// As users of a broker do it: sensors, and who reads the results, are clients of the same one.
#[test]
fn messages_go_in_and_rows_come_out_without_a_gateway() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let mut command = mqtt::command(&world, &broker, version);
        let agent = Process::start(command.args(["--publish", ROOMS, "--client-id", "site"]));
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        (0..300).for_each(|number| broker.publish(TOPIC, row(number)));
        let lines: String = (0..300).map(|number| row(number) + "\n").collect();
        world.write("dev1", &lines);
        let expected = expected(&world, &PROJECT);
        Wait::block("the rows are published", || broker.taken(ROOMS).len() >= expected.len());
        assert_eq!(broker.taken(ROOMS), expected);
        assert!(broker.state().taken.iter().all(|message| message.client == "site-publish"));
        let mut status = Value::Null;
        Wait::block("the agent knows it", || {
            status = agent.status();
            number(&status, "rows") == 300 && number(&status, "waitingRows") == 0
        });
        assert_eq!((&status["linkUp"], &status["acknowledged"]), (&false.into(), &0.into()));
        assert_eq!((number(&status, "waitingRows"), number(&status, "droppedRows")), (0, 0));
        let text = agent.status_text();
        for line in [
            &format!("  publish    {ROOMS} at {}  connected\n", broker.url()),
            "  published  300 rows, 0 sent again, 0 waiting in 0 of 16777216 bytes\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        let metrics = agent.metrics();
        let of = "{site=\"dev1\",stream=\"edge_partials\"}";
        for line in [
            format!("edge_agent_publish_up{of} 1\n"),
            format!("edge_agent_publish_rows_total{of} 300\n"),
            format!("edge_agent_publish_dropped_rows_total{of} 0\n"),
        ] {
            assert!(metrics.contains(&line), "{metrics}");
        }
        // The gateway gets the same when it comes.
        let _gateway = world.gateway(&[]);
        wait_for_rows(&world, &names(0..300));
        let error = agent.terminate();
        assert!(error.contains(&format!("; publishes to {ROOMS} at {}", broker.url())), "{error}");
    }
}

/// The outbox drops what the gateway does not take; the site's rows are all there.
#[test]
fn an_outbox_that_drops_takes_nothing_from_the_site() {
    let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
    world.write("dev1", &readings(0, 20_000, 1));
    let arguments = ["--outbox-bytes", "64KiB", "--when-full", "drop-oldest"];
    let agent = start(&world, &broker, "5", &arguments);
    wait_until_published(&agent);
    let status = agent.status();
    assert!(status["droppedRows"].as_u64() > Some(0) && status["linkUp"] == false, "{status}");
    assert_eq!(broker.taken(ROOMS), expected(&world, &TUMBLE));
}

/// The input is read, and the gateway has everything, whatever the broker does.
#[test]
fn nobody_waits_for_a_broker_that_takes_nothing() {
    for (version, is_down) in [("3", true), ("5", false)] {
        let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
        let text = readings(0, 20_000, 1);
        world.write("dev1", &text);
        (broker.state().is_down, broker.state().is_deaf) = (is_down, !is_down);
        let _gateway = world.gateway(&[]);
        let arguments = ["--follow", "--publish-bytes", "64KiB"];
        let agent = start(&world, &broker, version, &arguments);
        let mut status = Value::Null;
        Wait::block("all is read, the gateway has it, and some was dropped", || {
            status = agent.status();
            let is_read = status["inputBytes"] == text.len();
            let is_sent = status["acknowledged"] == status["next"];
            // It is given up, and is there again, if it takes nothing for long.
            let is_as_told = status["publish"]["brokerUp"] == !is_down;
            is_read && is_sent && is_as_told && number(&status, "droppedRows") > 0
        });
        let (dropped, waiting) = (number(&status, "droppedRows"), number(&status, "waitingRows"));
        assert_eq!(dropped + waiting, status["rows"].as_u64().unwrap(), "{status}");
        assert!(number(&status, "bytes") <= 64 << 10, "{status}");
        let text = agent.status_text();
        assert!(text.contains(&format!("  not there  {dropped} rows, dropped\n")), "{text}");
        agent.kill();
        // The broker is there again: what was not dropped comes.
        (broker.state().is_down, broker.state().is_deaf) = (false, false);
        let agent = start(&world, &broker, version, &arguments);
        assert_eq!(number(&agent.status(), "droppedRows"), dropped, "after a kill, too");
        end(&world, agent);
        let expected = expected(&world, &TUMBLE);
        let (all, taken) = (set(expected.clone()), broker.taken(ROOMS));
        let newest = set(expected[usize::try_from(dropped).unwrap()..].to_vec());
        let found = set(taken.clone());
        assert!(found.is_superset(&newest) && found.is_subset(&all));
        assert!(doubles(&taken, &expected) <= SPAN);
        assert_eq!(at_the_gateway(&world), expected);
    }
}

/// What waits for a broker that is away is on the same disk, and would fill it.
#[test]
fn a_full_disk_holds_nothing_up_for_a_broker_that_is_away() {
    let made = Command::new("unshare").args(["-rm", "true"]).status();
    if !made.is_ok_and(|status| status.success()) {
        // Written as it is: what a test prints is only seen when it fails.
        let what = "a_full_disk_holds_nothing_up_for_a_broker_that_is_away: no namespaces here ('unshare -rm')\n";
        std::io::stderr().write_all(what.as_bytes()).unwrap();
        return;
    }
    let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
    broker.state().is_down = true;
    world.write("dev1", &readings(0, 30_000, 1));
    let data = world.path("data-dev1");
    std::fs::create_dir(&data).unwrap();
    let _gateway = world.gateway(&[]);
    let agent = command(&world, &broker, "5");
    let mount = "mount -t tmpfs -o size=160k none \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", mount]).arg(&data);
    command.arg(agent.get_program()).args(agent.get_args());
    let (code, error) = Process::start(&mut command).end();
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("of the rows to be published, "), "{error}");
    assert_eq!(at_the_gateway(&world), expected(&world, &TUMBLE));
}

/// Lets an agent that follows its input end, when everything is published: its link is away until then.
fn end(world: &World, agent: Process) {
    world.relay.cut();
    std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
    wait_until_published(&agent);
    world.relay.mend();
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
}

/// Kills of the agent at random moments, and of the broker with messages at random places.
#[test]
fn nothing_is_lost_on_the_way_to_the_broker() {
    /// Readings between two kills.
    const READINGS: u64 = 1500;
    let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
    broker.state().dies_every = 397;
    let _gateway = world.gateway(&[]);
    let begin = |round: u64| {
        let version = VERSIONS[usize::try_from(round % 2).unwrap()];
        start(&world, &broker, version, &["--follow"])
    };
    world.write("dev1", "");
    let mut agent = begin(0);
    let mut random = 0x5EED_0087_u64;
    let times = edge_kills();
    for round in 0..times {
        let before = broker.state().taken.len();
        append(&world.input("dev1"), &readings(round * READINGS, READINGS, round));
        if round % 2 == 0 {
            Wait::block("rows are on their way", || broker.state().taken.len() > before);
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Somewhere between the reading of the input and the last acknowledgement: any moment is right.
        std::thread::sleep(Duration::from_micros(random % 120_000));
        agent.kill();
        agent = begin(round + 1);
    }
    end(&world, agent);
    let expected = expected(&world, &TUMBLE);
    assert!(expected.len() as u64 > times * READINGS / 8, "{}", expected.len());
    assert_eq!(at_the_gateway(&world), expected, "once, and in their order");
    let taken = broker.taken(ROOMS);
    assert_eq!(set(taken.clone()), set(expected.clone()));
    let (deaths, kept) = broker.state().deaths;
    let doubles = doubles(&taken, &expected);
    assert!(kept > 0 && doubles >= 1, "{kept} deaths, {doubles} doubles: they have met nothing");
    assert!(doubles <= times * SPAN + deaths * SENT, "{doubles}");
}

#[test]
fn what_was_sent_again_is_counted() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        world.write("dev1", "");
        let agent = start(&world, &broker, version, &["--follow"]);
        Wait::block("the agent is there", || agent.status()["publish"]["brokerUp"] == true);
        broker.state().is_deaf = true;
        let lines: String = (0..10).map(|number| row(number) + "\n").collect();
        append(&world.input("dev1"), &lines);
        Wait::block("rows are on their way", || broker.state().unheard == 10);
        assert!(agent.status()["publish"]["silentSeconds"].is_number());
        broker.state().is_deaf = false;
        broker.cut();
        Wait::block("they are there", || number(&agent.status(), "waitingRows") == 0);
        let status = agent.status();
        assert_eq!((number(&status, "rows"), number(&status, "sentAgain")), (10, 10), "{status}");
        assert_eq!(number(&status, "connections"), 2);
        assert_eq!(broker.taken(ROOMS), expected(&world, &PROJECT));
    }
}

/// The agent is there for the cloud, too: a broker that does not want rows ends nothing.
#[test]
fn a_broker_that_does_not_take_rows_is_told_of_and_ends_nothing() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let lines: String = (0..50).map(|number| row(number) + "\n").collect();
    world.write("dev1", &lines);
    let _gateway = world.gateway(&[]);
    let why = |agent: &Process, what: &str| {
        let wait = Wait::until("the status says why");
        loop {
            let status = agent.status();
            let why = status["publish"]["brokerError"].as_str().unwrap_or_default();
            if why.contains(what) {
                assert_eq!(status["publish"]["brokerUp"], false);
                return;
            }
            wait.check(status);
        }
    };
    broker.state().denies = Some(PubAckReason::NotAuthorized);
    let agent = start(&world, &broker, "5", &["--follow"]);
    why(&agent, "does not take what is published to \"rooms/parts\": NotAuthorized; let this user");
    wait_for_rows(&world, &names(0..50));
    // Between two attempts: it connects again and again.
    let wait = Wait::until("the text says why, too");
    loop {
        let text = agent.status_text();
        if text.contains("50 waiting in ") && text.contains("  not connected: it does") {
            break;
        }
        wait.check(text);
    }
    agent.tells("; does not publish to mqtt://127.0.0.1");
    agent.terminate();
    broker.state().login = Some(("me".to_owned(), "secret".to_owned()));
    let agent = start(&world, &broker, "3", &["--follow"]);
    why(&agent, "it wants a user; give --mqtt-user");
    agent.terminate();
    // What waits is published when the broker takes it.
    (broker.state().login, broker.state().denies) = (None, None);
    let agent = start(&world, &broker, "5", &["--follow"]);
    Wait::block("they are there", || number(&agent.status(), "waitingRows") == 0);
    assert_eq!(set(broker.taken(ROOMS)), set(expected(&world, &PROJECT)));
}

#[test]
fn a_row_that_is_too_large_is_left_out_and_a_broker_that_wants_few_gets_few() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    broker.state().limits = Some((5, 300));
    let large = row(20).replace("m20.", &"x".repeat(400));
    let lines = (0..40).map(|number| if number == 20 { large.clone() } else { row(number) } + "\n");
    world.write("dev1", &lines.collect::<String>());
    let agent = start(&world, &broker, "5", &["--follow"]);
    Wait::block("they are there", || {
        let status = agent.status();
        number(&status, "rows") == 39 && number(&status, "waitingRows") == 0
    });
    let status = agent.status();
    assert_eq!(number(&status, "refusedRows"), 1);
    let why = status["publish"]["lastRefusedRow"].as_str().unwrap();
    assert!(why.contains("bytes, and this broker takes 300"), "{why}");
    let mut expected = expected(&world, &PROJECT);
    expected.retain(|row| !row.contains("xxx"));
    assert_eq!(set(broker.taken(ROOMS)), set(expected));
    let text = agent.status_text();
    assert!(text.contains("  refused    1 rows, the last one: it has "), "{text}");
    assert!(agent.terminate().contains("and 1 were refused by it"));
}

#[test]
fn what_makes_no_sense_on_the_command_line_is_wrong_usage() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let url = broker.url();
    let tls = url.replace("mqtt://", "mqtts://");
    for (arguments, what) in [
        (&["--publish", "sensors/+/x"][..], "one topic is needed"),
        (&["--publish", "$SYS/x"], "one topic is needed"),
        (
            &["--publish", "sensors/x/temp"],
            "published there comes in by --topic sensors/+/temp again",
        ),
        (
            &["--publish", "sensors/x/temp", "--publish-to", "mqtt://another"],
            "if messages at --publish-to reach the broker of --mqtt, what is published there comes in",
        ),
        (
            &["--publish", "a", "--end-topic", "a"],
            "--publish a is the topic of --end-topic, too: the first row there would be the end",
        ),
        (
            &["--publish", "a", "--client-id", "b-publish", "--publish-client-id", "b-publish"],
            "one name",
        ),
        (&["--publish-to", &url], "--publish <TOPIC>"),
        (&["--publish-client-id", "x"], "--publish <TOPIC>"),
        (&["--publish-bytes", "1MiB"], "--publish <TOPIC>"),
        (&["--publish", "a", "--publish-to", "localhost"], "is not like mqtt://"),
        (&["--publish", "a", "--publish-to", &tls], "needs --mqtt-ca FILE"),
        (
            &[
                "--publish",
                "a",
                "--publish-to",
                &tls,
                "--mqtt-ca",
                "x",
                "--mqtt-user",
                "me",
                "--mqtt-password-file",
                "x",
            ],
            "for anybody to read; give --mqtt mqtts://",
        ),
        (&["--publish", "a", "--publish-bytes", "many"], "'many' is not like 64MiB"),
    ] {
        let (code, _, error) = run(mqtt::command(&world, &broker, "5").args(arguments));
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(what), "{arguments:?}: {error}");
    }
    for (arguments, what) in [
        (&["--publish", "a"][..], "--publish a needs a broker: give --publish-to mqtt://HOST:PORT"),
        (&["--mqtt-ca", "x"], "--mqtt-ca is for a broker: give --mqtt, or --publish with"),
    ] {
        let (code, _, error) = run(world.agent_command("dev1").args(arguments));
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(what), "{arguments:?}: {error}");
    }
    // A log that cannot be read is no reason to lose what goes to the gateway, but one to say so.
    let log = world.path("data-dev1/publish");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(&log, "").unwrap();
    world.write("dev1", "");
    let (code, _, error) = run(&mut command(&world, &broker, "5"));
    assert!(code == 1 && error.contains("for nobody else: move the folder away"), "{error}");
    let (code, out, _) = run(program().args(["agent", "--help"]));
    assert!(code == 0 && out.contains("--publish <TOPIC>"), "{out}");
}
