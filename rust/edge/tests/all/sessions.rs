//! Agents whose broker has lost a session, keeps one with other topics, or is not read for a while.

use std::time::Duration;

use afterbay_test_form::{PATIENCE, Wait};

use crate::broker::Broker;
use crate::mqtt::{TOPIC, VERSIONS, command, lingering, names, row, rows, start, wait_for_rows};
use crate::run;
use crate::site::{Process, World};

/// Commits follow the messages with which a broker waits. Those that it does not keep, of QoS 0 or of a session that it has lost,
/// are none of them.
#[test]
fn a_broker_waits_with_what_it_keeps_in_this_session() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    broker.state().window = 8;
    let agent = Process::start(&mut lingering(&world, &broker, "3", "4s"));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    (0..8).for_each(|number| broker.publish(TOPIC, row(number)));
    Wait::block("it has them", || agent.status()["mqtt"]["messages"] == 8);
    broker.forget();
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    (100..620).for_each(|number| broker.publish(TOPIC, row(number)));
    (620..720).for_each(|number| broker.publish_qos0(TOPIC, row(number)));
    // With four seconds for each window, it would take longer than anybody waits.
    assert!(520 / 8 * Duration::from_secs(4) > PATIENCE);
    Wait::block("all windows are acknowledged", || broker.kept() == 0);
    let status = agent.status();
    assert_eq!(status["mqtt"]["qos0"], 100, "{status}");
    let state = broker.state();
    assert_eq!((state.stray, state.most_in_flight), (0, 8));
}

/// A broker that has lost its sessions, and then a connection with the wish to subscribe: the next one finds a session that is
/// there, and has nothing in it.
#[test]
fn a_session_without_topics_is_not_taken_for_the_former_one() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let agent = start(&world, &broker, version);
        broker.state().loses_subscriptions = 1;
        broker.forget();
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        assert_eq!(broker.state().loses_subscriptions, 0);
        broker.publish(TOPIC, row(0));
        Wait::block("it is acknowledged", || broker.kept() == 0);
        assert_eq!(agent.status()["mqtt"]["messages"], 1);
    }
}

/// A session keeps what was subscribed to, and an agent that is started with other topics does not know what that was.
#[test]
fn messages_of_former_topics_are_left_out() {
    /// Messages that are not for it, of which 20 may be on their way.
    const OTHERS: u64 = 50;
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let _gateway = world.gateway(&[]);
        let agent = Process::start(command(&world, &broker, version).args(["--topic", "meters/#"]));
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        broker.publish("meters/x", row(0));
        broker.publish(TOPIC, row(1));
        wait_for_rows(&world, &names(0..2));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        agent.kill();
        broker.publish("meters/x", row(90));
        broker.publish(TOPIC, row(2));
        let agent = start(&world, &broker, version);
        broker.publish("meters/x", row(91));
        broker.publish(TOPIC, row(3));
        wait_for_rows(&world, &names(0..4));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        (0..OTHERS).for_each(|_| broker.publish("meters/y", row(92)));
        Wait::block("the others are acknowledged", || broker.kept() == 0);
        assert_eq!(rows(&world), names(0..4));
        let status = agent.status();
        let mqtt = &status["mqtt"];
        let counts = ["messages", "otherTopics", "unacknowledged"];
        let counts = counts.map(|name| mqtt[name].as_u64().unwrap());
        assert_eq!(counts, [2, OTHERS + 2, 0], "{status}");
        let text = agent.status_text();
        let line = "  others     52 messages that no --topic asks for, left out, the last one of meters/y\n";
        assert!(text.contains(line), "{text}");
        agent.tells("are left out: no --topic asks for them");
        let state = broker.state();
        assert_eq!(state.acknowledged, (0..OTHERS + 6).collect::<Vec<u64>>(), "in their order");
        assert_eq!(state.stray, 0);
    }
}

#[test]
fn a_filter_in_another_one_is_wrong_usage() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    for (topic, what) in [
        ("sensors/a/temp", "--topic sensors/a/temp: its messages come by --topic sensors/+/temp"),
        ("sensors/#", "--topic sensors/+/temp: its messages come by --topic sensors/#"),
    ] {
        let (code, _, error) = run(command(&world, &broker, "5").args(["--topic", topic]));
        assert_eq!(code, 2, "{topic}: {error}");
        assert!(error.contains(what) && error.contains("leave one of the two out"), "{error}");
    }
}

/// Where the messages end says nothing of where a file is to be read from.
#[test]
fn a_folder_of_messages_is_no_file_s() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let _gateway = world.gateway(&[]);
    let agent = start(&world, &broker, "5");
    broker.publish(TOPIC, row(0));
    wait_for_rows(&world, &names(0..1));
    Wait::block("it is acknowledged", || broker.kept() == 0);
    agent.kill();
    let lines: String = (1..9).map(|number| row(number) + "\n").collect();
    world.write("dev1", &lines);
    let (code, error) = world.agent("dev1", &[]).end();
    assert_eq!(code, 1, "{error}");
    let what = "dev1.ndjson: the data folder has rows of a pipe or a broker";
    assert!(error.contains(what) && error.contains("another data folder"), "{error}");
    // For messages, it is still right.
    let _agent = start(&world, &broker, "5");
    broker.publish(TOPIC, row(1));
    wait_for_rows(&world, &names(0..2));
}

/// While nothing is read, no pings are sent, and the broker gives the connection up. Acknowledgements that it never gets would
/// bring their messages again as new ones.
#[test]
fn after_a_long_pause_nothing_is_acknowledged_before_the_broker_has_answered() {
    std::thread::scope(|scope| {
        for version in VERSIONS {
            scope.spawn(move || pause_for_long(version, true));
            scope.spawn(move || pause_for_long(version, false));
        }
    });
}

fn pause_for_long(version: &str, is_given_up: bool) {
    /// Four of them are as much as may be in the queue: nothing waits in the network, where the end would be behind it.
    const PAYLOAD_BYTES: usize = 1 << 20;
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let mut command = command(&world, &broker, version);
    let agent = Process::start(command.args(["--outbox-bytes", "4KiB"]));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    (0..200).for_each(|number| broker.publish(TOPIC, row(number)));
    Wait::block("the agent holds", || agent.status()["held"].is_string());
    for number in 200..204 {
        broker.publish_qos0(TOPIC, row(number) + &" ".repeat(PAYLOAD_BYTES));
    }
    Wait::block("nothing was read for more than half of the keep-alive", || {
        agent.status()["mqtt"]["notReadSeconds"].as_f64() >= Some(8.0)
    });
    let text = agent.status_text();
    assert!(text.contains("  connected, not read for "), "{text}");
    if is_given_up {
        broker.cut();
    }
    let _gateway = world.gateway(&[]);
    Wait::block("everything is acknowledged", || broker.kept() == 0);
    let wait = Wait::until("what is committed is at the gateway");
    loop {
        let (mut found, status) = (rows(&world), agent.status());
        if status["rows"] == found.len() && found.len() >= 204 {
            found.sort();
            let mut expected = names(0..204);
            expected.sort();
            assert_eq!(found, expected, "each once");
            assert!(status["mqtt"]["notReadSeconds"].is_null(), "{status}");
            break;
        }
        wait.check((found.len(), status));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(broker.state().stray, 0);
}
