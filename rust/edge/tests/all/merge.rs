//! Agents whose outbox fills up with parts, which are merged meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use afterbay_test_form::{Wait, edge_kills};
use serde_json::Value;

use crate::broker::Broker;
use crate::site::{Process, TUMBLE, World, append, readings};
use crate::{program, run};

/// Many parts of few keys: each row of another room than the one before makes one.
const MANY: [&str; 4] = ["--flush", "all", "--groups-max", "1"];
const MERGE: [&str; 4] = ["--outbox-bytes", "64KiB", "--when-full", "merge"];
const HOLD: [&str; 4] = ["--outbox-bytes", "64KiB", "--when-full", "hold"];

/// Ten readings a second of three rooms, some of them late.
fn dense(from: u64, count: u64) -> String {
    let mut text = String::new();
    for index in from..from + count {
        // Numbers without a pattern.
        let random = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let late = if random % 50 == 0 { random / 50 % 30 } else { 0 };
        let second = (index / 10).saturating_sub(late);
        let (day, hour) = (1 + second / 86_400, second / 3600 % 24);
        let (minute, second) = (second / 60 % 60, second % 60);
        writeln!(
            text,
            "{{\"room\":{},\"temperature\":{}.5,\"co2\":{},\"ts\":\"2026-01-{day:02} {hour:02}:{minute:02}:{second:02}Z\"}}",
            random % 3,
            5 + random / 3 % 30,
            300 + random / 7 % 900
        )
        .unwrap();
    }
    text
}

/// Of a room and slice, late at its site or not: sum of temperatures (halves, so that they are exact), both counts and the greatest.
type Totals = BTreeMap<(i64, i64, bool), (f64, i64, i64, f64)>;

fn add(totals: &mut Totals, row: [&Value; 6], watermark: i64) {
    let [room, sum, count, count1, max, end] = row;
    let whole = |value: &Value| value.as_i64().unwrap();
    let is_late = whole(end) - 1 <= watermark;
    let entry = totals.entry((whole(room), whole(end), is_late)).or_default();
    entry.0 += sum.as_f64().unwrap();
    entry.1 += whole(count);
    entry.2 += whole(count1);
    entry.3 = entry.3.max(max.as_f64().unwrap());
}

/// What all rows of the input come to, and how many parts they are for an agent with these arguments.
fn expected(world: &World, arguments: &[&str]) -> (Totals, usize) {
    let (code, out, err) = run(program()
        .args(["exec", "--site", "dev1", "--plan"])
        .arg(&world.plan)
        .arg("--input")
        .arg(world.input("dev1"))
        .args(arguments));
    assert_eq!((code, err.as_str()), (0, ""));
    let (mut totals, mut rows, mut watermark) = (Totals::new(), 0, 0);
    for line in out.lines() {
        let json: Value = serde_json::from_str(line).unwrap();
        if let Some(millis) = json["watermark"].as_i64() {
            watermark = millis;
            continue;
        }
        rows += 1;
        add(&mut totals, std::array::from_fn(|column| &json["row"][column]), watermark);
    }
    (totals, rows)
}

/// What the rows come to that the gateway has, and how many they are.
fn found(world: &World) -> (Totals, usize) {
    let text = std::fs::read_to_string(world.path("out/edge_partials/00000.ndjson")).unwrap();
    let (mut totals, mut rows) = (Totals::new(), 0);
    for line in text.lines() {
        let json: Value = serde_json::from_str(line).unwrap();
        if json["edge_row"] == true {
            rows += 1;
            let columns = ["room", "sum$0", "count$1", "count1$2", "max$3", "$slice_end"];
            let row = columns.map(|column| &json[column]);
            add(&mut totals, row, json["edge_watermark"].as_i64().unwrap());
        }
    }
    (totals, rows)
}

fn number(status: &Value, key: &str) -> u64 {
    status[key].as_u64().unwrap_or_else(|| panic!("{key}: {status}"))
}

/// Writes more than a quarter of an outbox, and waits until all is read and rows wait: how many readings that took.
fn until_rows_wait(world: &World, agent: &Process) -> u64 {
    let mut count = 0;
    let mut write = |more: u64| {
        append(&world.input("dev1"), &dense(count, more));
        count += more;
    };
    write(15_000);
    Wait::block("all is read, and rows wait", || {
        let status = agent.status();
        let is_read = status["inputBytes"] == std::fs::metadata(world.input("dev1")).unwrap().len();
        let waits = number(&status, "waitingRows") > 0;
        if is_read && !waits {
            // They have just become a frame.
            write(10);
        }
        is_read && waits
    });
    count
}

#[test]
fn a_full_outbox_takes_more_of_the_input_if_it_merges() {
    let mut read = Vec::new();
    for policy in [HOLD, MERGE] {
        let world = World::new("tumble", &["dev1"]);
        world.write("dev1", &dense(0, 300));
        let agent = world.agent("dev1", &[&MANY[..], &policy, &["--follow"]].concat());
        // Where nothing is to be sent, a commit may be larger than the outbox.
        Wait::block("something is to be sent", || number(&agent.status(), "next") > 0);
        append(&world.input("dev1"), &dense(300, 39_700));
        std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
        Wait::block("the source is held", || agent.status()["held"].is_string());
        let status = agent.status();
        let merges = policy == MERGE;
        assert_eq!(number(&status, "mergedRows") > 0, merges, "{status}");
        assert!(number(&status, "outboxBytes") <= 64 << 10 && status["gaps"] == 0, "{status}");
        let held = status["held"].as_str().unwrap();
        assert_eq!(held.contains("have been merged as far as they can be"), merges, "{held}");
        assert_eq!(agent.status_text().contains("rows into others of their key"), merges);
        read.push(number(&status, "inputBytes"));
        let _gateway = world.gateway(&[]);
        let (code, error) = agent.end();
        assert_eq!(code, 0, "{error}");
        let (totals, parts) = expected(&world, &MANY);
        assert!(totals.keys().any(|(_, _, is_late)| *is_late), "some are late");
        let (sent, rows) = found(&world);
        assert_eq!(sent, totals, "{policy:?}");
        if merges {
            assert!(rows < parts, "{rows} of {parts}");
        } else {
            assert_eq!(rows, parts);
        }
    }
    assert!(read[1] > 4 * read[0], "{read:?}");
}

/// Where each row has another key and slice, nothing is gained, and nothing is lost.
#[test]
fn what_cannot_be_merged_is_held() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 20_000, 1));
    let agent = world.agent("dev1", &MERGE);
    Wait::block("the source is held", || agent.status()["held"].is_string());
    let status = agent.status();
    assert!(number(&status, "inputBytes") < 1_200_000, "{status}");
    agent.tells("nothing is read: the outbox has");
    let _gateway = world.gateway(&[]);
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    let (totals, _) = expected(&world, &["--flush", "over"]);
    let (sent, _) = found(&world);
    assert_eq!(sent.len(), totals.len());
    for (key, (sum, count, count1, max)) in totals {
        let (sent_sum, rest) = (sent[&key].0, (sent[&key].1, sent[&key].2, sent[&key].3));
        assert_eq!(rest, (count, count1, max), "{key:?}");
        // Rounded in another order.
        assert!((sent_sum - sum).abs() <= 1e-9 * sum.abs(), "{key:?}: {sent_sum} and {sum}");
    }
}

/// Rows that wait are in the state; also for an agent that merges no more.
#[test]
fn rows_that_wait_outlive_the_agent() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", "");
    let arguments = |round: u64| {
        let policy = if round % 3 == 2 { HOLD } else { MERGE };
        [&MANY[..], &policy, &["--follow"]].concat()
    };
    let mut agent = world.agent("dev1", &arguments(0));
    let first = until_rows_wait(&world, &agent);
    let (mut read, mut random) = (0, 0x5EED_0089_u64);
    for round in 0..2 * edge_kills() {
        append(&world.input("dev1"), &dense(first + round * 150, 150));
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Any moment is right.
        std::thread::sleep(std::time::Duration::from_micros(random % 200_000));
        let before = read;
        Wait::block("something is read, or nothing can be", || {
            let status = agent.status();
            read = number(&status, "inputBytes");
            read > before || status["held"].is_string()
        });
        agent.kill();
        agent = world.agent("dev1", &arguments(round + 1));
    }
    std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
    let _gateway = world.gateway(&[]);
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    let (totals, parts) = expected(&world, &MANY);
    let (sent, rows) = found(&world);
    assert_eq!(sent, totals);
    assert!(rows < parts, "{rows} of {parts}");
}

/// Nobody has to make more of them first.
#[test]
fn rows_that_wait_go_as_soon_as_the_link_is_back() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", "");
    let agent = world.agent("dev1", &[&MANY[..], &MERGE, &["--follow"]].concat());
    until_rows_wait(&world, &agent);
    let gateway = world.gateway(&[]);
    Wait::block("none waits, and the gateway has all", || {
        let status = agent.status();
        number(&status, "waitingRows") == 0 && status["acknowledged"] == status["next"]
    });
    let status = agent.status();
    Wait::block("the gateway shows the site's watermark", || {
        gateway.status()["streams"][0]["sites"][0]["watermark"] == status["watermark"]
    });
    let rows = number(&status, "rows") - number(&status, "mergedRows");
    assert_eq!(found(&world).1 as u64, rows, "{status}");
}

/// All parts of the input, as they are published.
fn as_published(world: &World) -> Vec<String> {
    let rows = world.expected_with("dev1", &TUMBLE, &MANY);
    rows.iter().map(|row| format!("{{{}}}", row.strip_suffix(',').unwrap())).collect()
}

/// Local control sees the same as with any other policy.
#[test]
fn rows_on_the_site_s_broker_are_not_merged() {
    let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
    world.write("dev1", &dense(0, 12_000));
    let publish = ["--publish", "rooms/parts", "--publish-to", &broker.url()];
    let agent = world.agent("dev1", &[&MANY[..], &MERGE, &publish].concat());
    Wait::block("all is read, and published", || {
        let status = agent.status();
        status["finished"] == true && status["publish"]["waitingRows"] == 0
    });
    let status = agent.status();
    let rows = as_published(&world);
    assert_eq!(number(&status, "rows"), rows.len() as u64, "{status}");
    assert_eq!(broker.taken("rooms/parts"), rows);
    let metrics = agent.metrics();
    let merged = number(&status, "mergedRows");
    let of = "{site=\"dev1\",stream=\"edge_partials\"}";
    for line in [
        format!("edge_agent_merged_rows_total{of} {merged}\n"),
        format!("edge_agent_waiting_rows{of} 0\n"),
        format!("edge_agent_held{of} 0\n"),
    ] {
        assert!(metrics.contains(&line), "{metrics}");
    }
    let _gateway = world.gateway(&[]);
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    let (totals, parts) = expected(&world, &MANY);
    let (sent, sent_rows) = found(&world);
    assert_eq!(sent, totals);
    assert_eq!(sent_rows as u64 + merged, parts as u64);
}

/// An agent that merges no more puts them into frames; on the broker, they have been.
#[test]
fn rows_that_wait_are_on_the_site_s_broker_once() {
    let (world, broker) = (World::new("tumble", &["dev1"]), Broker::start());
    world.write("dev1", "");
    let publish = ["--follow", "--publish", "rooms/parts", "--publish-to", &broker.url()];
    let agent = world.agent("dev1", &[&MANY[..], &MERGE, &publish].concat());
    until_rows_wait(&world, &agent);
    Wait::block("all is published", || agent.status()["publish"]["waitingRows"] == 0);
    // Not killed: nothing that the broker has is sent again.
    agent.terminate();
    std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
    let agent = world.agent("dev1", &[&MANY[..], &HOLD, &publish].concat());
    Wait::block("all is read, and published", || {
        let status = agent.status();
        status["finished"] == true && status["publish"]["waitingRows"] == 0
    });
    assert_eq!(number(&agent.status(), "waitingRows"), 0, "they are in frames");
    assert_eq!(broker.taken("rooms/parts"), as_published(&world));
}

#[test]
fn a_plan_without_parts_is_refused() {
    let projection = World::new("project", &["dev1"]);
    let local = &["--local", "room"];
    let finals = World { local, ..World::new("tumble", &["dev1"]) };
    for (world, why) in [(projection, "has no aggregate"), (finals, "results are final")] {
        world.write("dev1", "");
        let (code, out, error) = run(world.agent_command("dev1").args(["--when-full", "merge"]));
        assert_eq!((code, out.as_str()), (2, ""), "{error}");
        let way_out = "--when-full hold), or let the oldest go (--when-full drop-oldest)";
        assert!(error.contains(why) && error.contains(way_out), "{error}");
        assert!(!world.path("data-dev1").exists(), "nothing is begun");
    }
}
