//! Agents and a gateway: links that are cut, outboxes that are full, keys that are wrong, sites that are away.

use std::io::Write;
use std::process::Stdio;

use afterbay_test_form::Wait;
use serde_json::Value;

use crate::site::{Process, TUMBLE, World, append, readings};
use crate::{program, run};

fn site(gateway: &Process, name: &str) -> Value {
    let status = gateway.status();
    let sites = status["streams"][0]["sites"].as_array().cloned().unwrap_or_default();
    sites.into_iter().find(|site| site["site"] == name).unwrap_or(Value::Null)
}

#[test]
fn a_cut_link_is_only_late() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 2000, 1));
    let gateway = world.gateway(&[]);
    let mut agent = world.agent("dev1", &["--follow"]);
    Wait::block("rows have come", || site(&gateway, "dev1")["rows"].as_u64() > Some(0));
    agent.tells("dev1: connected");
    world.relay.cut();
    append(&world.input("dev1"), &readings(2000, 2000, 2));
    Wait::block("the agent waits with rows", || {
        let status = agent.status();
        status["linkUp"] == false && status["outboxBytes"].as_u64() > Some(0)
    });
    assert!(!agent.has_ended());
    agent.tells("not connected");
    std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
    Wait::block("the input is at its end", || agent.status()["finished"] == true);
    world.relay.mend();
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
    assert!(world.relay.bytes() > 0);
}

/// As on a machine that is moved, or busy with something else: connections stay, and nobody answers.
#[test]
fn a_gateway_that_pauses_for_long_loses_nothing() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 2000, 1));
    let gateway = world.gateway(&[]);
    let agent = world.agent("dev1", &["--follow"]);
    Wait::block("rows have come", || site(&gateway, "dev1")["rows"].as_u64() > Some(0));
    gateway.signal("-STOP");
    append(&world.input("dev1"), &readings(2000, 20_000, 2));
    Wait::block("rows have waited for five seconds", || {
        agent.status()["outboxAgeSeconds"].as_f64() >= Some(5.0)
    });
    gateway.signal("-CONT");
    append(&world.input("dev1"), &readings(22_000, 1000, 3));
    std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
    let of_site = site(&gateway, "dev1");
    assert_eq!((&of_site["gaps"], &of_site["lateRows"]), (&0.into(), &0.into()), "{of_site}");
}

/// Rows that go through as they are have a watermark each.
#[test]
fn rows_of_a_projection_carry_their_watermark() {
    let world = World::new("project", &["dev1"]);
    world.write("dev1", &readings(0, 300, 1));
    let _gateway = world.gateway(&[]);
    let (code, error) = world.agent("dev1", &[]).end();
    assert_eq!(code, 0, "{error}");
    let text = std::fs::read_to_string(world.path("out/edge_partials/00000.ndjson")).unwrap();
    let found = text.lines().filter_map(|line| {
        let json: Value = serde_json::from_str(line).unwrap();
        (json["edge_row"] == true).then(|| json["edge_watermark"].as_i64().unwrap())
    });
    let (_, out, _) = run(program()
        .args(["exec", "--site", "dev1", "--plan"])
        .arg(&world.plan)
        .arg("--input")
        .arg(world.input("dev1")));
    let mut watermark = 0;
    let mut expected = Vec::new();
    for line in out.lines() {
        let json: Value = serde_json::from_str(line).unwrap();
        match json["watermark"].as_i64() {
            Some(millis) => watermark = millis,
            None => expected.push(watermark),
        }
    }
    assert!(expected.len() > 50);
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn a_full_outbox_holds_the_source() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 20_000, 1));
    let agent = world.agent("dev1", &["--outbox-bytes", "64KiB"]);
    Wait::block("the source is held", || agent.status()["held"].is_string());
    let status = agent.status();
    assert!(status["inputBytes"].as_u64() < Some(1_000_000) && status["gaps"] == 0, "{status}");
    assert!(status["outboxBytes"].as_u64() <= Some(64 << 10), "{status}");
    agent.tells("nothing is read: the outbox has");
    let _gateway = world.gateway(&[]);
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
}

/// Another connection would read the same: it ends, and names the file.
#[test]
fn an_outbox_that_is_damaged_while_it_waits_ends_the_agent() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 2000, 1));
    let agent = world.agent("dev1", &["--follow"]);
    Wait::block("frames wait", || agent.status()["next"].as_u64() > Some(0));
    let path = world.path("data-dev1/outbox/00000000000000000000.log");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes[20..21], 20).unwrap();
    let _gateway = world.gateway(&[]);
    let (code, error) = agent.end();
    let what = format!("{}: damaged at byte 0", path.display());
    assert!(code == 1 && error.contains(&what), "{error}");
}

#[test]
fn a_full_outbox_drops_the_oldest_and_says_so() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 20_000, 1));
    let agent = world.agent("dev1", &["--outbox-bytes", "64KiB", "--when-full", "drop-oldest"]);
    Wait::block("all is read", || agent.status()["finished"] == true);
    let before = agent.status();
    assert!(before["gaps"].as_u64() > Some(1), "{before}");
    // An aim: a site has little memory. Other systems than Linux do not say.
    assert!(agent.memory().is_none_or(|kib| kib < 30 << 10), "{:?} KiB", agent.memory());
    // What was dropped is known after a start too.
    agent.kill();
    let agent = world.agent("dev1", &["--outbox-bytes", "64KiB", "--when-full", "drop-oldest"]);
    let gateway = world.gateway(&[]);
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    let expected = world.expected("dev1", &TUMBLE);
    let found = world.rows("edge_partials").remove("dev1").unwrap();
    let lost = expected.len() - found.len();
    assert!(lost > 0 && !found.is_empty());
    assert_eq!(found, expected[lost..], "the newest ones are there");
    Wait::block("the status shows it", || site(&gateway, "dev1")["watermark"] == i64::MAX);
    let site = site(&gateway, "dev1");
    assert_eq!((&site["lostRows"], &before["droppedRows"]), (&lost.into(), &lost.into()));
    assert_eq!(site["gaps"], 1);
    let out = gateway.status_text();
    assert!(out.contains(&format!("gaps 1 ({lost} rows)")), "{out}");
}

/// In a namespace, the agent's data are on a disk of their own; a limit of each file's bytes is what any system has.
#[test]
fn a_full_disk_holds_the_source() {
    let made = std::process::Command::new("unshare").args(["-rm", "true"]).status();
    if made.is_ok_and(|status| status.success()) {
        // In it, the disk is full soon; nobody else sees it.
        let mount = "mount -t tmpfs -o size=160k none \"$0\" && exec \"$@\"";
        is_held(&["unshare", "-rm", "sh", "-c", mount], "No space left");
    } else {
        // Written as it is: what a test prints is only seen when it fails.
        let what = "a_full_disk_holds_the_source: no namespaces here ('unshare -rm'), so without a disk that is full\n";
        std::io::stderr().write_all(what.as_bytes()).unwrap();
    }
    let limit = "ulimit -f 512 && trap '' XFSZ && exec \"$@\"";
    is_held(&["sh", "-c", limit], "File too large");
}

/// Runs an agent with a disk that is full before all is read.
fn is_held(program: &[&str], what: &str) {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 30_000, 1));
    let data = world.path("data-dev1");
    std::fs::create_dir(&data).unwrap();
    let agent = world.agent_command("dev1");
    let mut command = std::process::Command::new(program[0]);
    command.args(&program[1..]).arg(&data).arg(agent.get_program()).args(agent.get_args());
    let agent = Process::start(&mut command);
    Wait::block("the source is held", || {
        agent.status()["held"].as_str().is_some_and(|held| held.contains(what))
    });
    let _gateway = world.gateway(&[]);
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
}

/// Who has started them may be killed with -9, and can tell them nothing.
#[test]
fn a_program_ends_with_who_has_started_it() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let flag = "--while-stdin-open";
    let mut command = world.gateway_command();
    let mut gateway = Process::start(command.arg(flag).stdin(Stdio::piped()));
    world.relay.to(gateway.said["listen"].as_str().unwrap().parse().unwrap());
    let mut command = world.agent_command("dev1");
    let mut agent = Process::start(command.args(["--follow", flag]).stdin(Stdio::piped()));
    Wait::block("both work", || agent.status()["acknowledged"].as_u64() > Some(0));
    assert!(!agent.has_ended() && !gateway.has_ended());
    drop((agent.child.stdin.take(), gateway.child.stdin.take()));
    for process in [agent, gateway] {
        assert_eq!(process.end().0, 0);
    }
    let arguments: Vec<_> = world.agent_command("dev1").get_args().map(ToOwned::to_owned).collect();
    let input = world.input("dev1");
    let arguments = arguments.into_iter().map(|one| if one == input { "-".into() } else { one });
    let (code, _, error) = run(program().args(arguments).arg(flag));
    assert!(code == 2 && error.contains("--input - reads it: give one"), "{error}");
}

#[test]
fn a_gateway_needs_one_output() {
    let world = World::new("tumble", &["dev1"]);
    let arguments: Vec<_> = world.gateway_command().get_args().map(ToOwned::to_owned).collect();
    let at = arguments.iter().position(|argument| argument == "--output").unwrap();
    for (more, what) in [
        (&[][..], "--output <DIR>"),
        (&["--output", "x", "--bootstrap", "localhost:1"], "cannot be used with"),
        (&["--bootstrap", "localhost:1", "--partitions", "each"], "give --partitions COUNT"),
        (&["--output", "x", "--partitions", "0"], "1 to 10000"),
        (&["--output", "x", "--absent", "soon"], "90s or 24h"),
        (&["--output", "x", "--topic-prefix", "a/b"], "150 letters, digits"),
    ] {
        let (code, _, error) = run(program().args(&arguments[..at]).args(more));
        assert!(code == 2 && error.contains(what), "{more:?}: {error}");
    }
    let (code, _, error) = run(world.agent_command("dev1").args(["--outbox-bytes", "many"]));
    assert!(code == 2 && error.contains("'many' is not like 64MiB"), "{error}");
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let world = World::new("tumble", &["dev1"]);
    let text = readings(0, 1000, 7);
    world.write("dev1", &text);
    let _gateway = world.gateway(&[]);
    let mut command = world.agent_command("dev1");
    // The last one counts.
    command.args(["--input", "-"]);
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let at = arguments.iter().position(|argument| argument == "--input").unwrap();
    let mut command = program();
    command.args(&arguments[..at]).args(&arguments[at + 2..]).stdin(Stdio::piped());
    let mut agent = Process::start(&mut command);
    let mut input = agent.child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
}

#[test]
fn who_is_not_known_is_told_why() {
    let world = World::new("tumble", &["dev1", "dev2"]);
    world.write("dev1", &readings(0, 100, 1));
    world.write("dev2", &readings(0, 100, 1));
    let gateway = world.gateway(&[]);
    // Another site's key.
    let mut command = world.agent_command("dev1");
    std::fs::rename(world.path("keys/dev1.key"), world.path("dev1.key")).unwrap();
    std::fs::copy(world.path("keys/dev2.key"), world.path("keys/dev1.key")).unwrap();
    std::fs::rename(world.path("keys/dev1.key"), world.path("other.key")).unwrap();
    std::fs::rename(world.path("dev1.key"), world.path("keys/dev1.key")).unwrap();
    let at = command.get_args().position(|argument| argument == "--key-file").unwrap();
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    command = program();
    command.args(&arguments[..at]).args(&arguments[at + 2..]);
    command.arg("--key-file").arg(world.path("other.key"));
    let (code, error) = Process::start(&mut command).end();
    assert!(code == 1 && error.contains("of site dev1 is not known, or its secret"), "{error}");
    // A name that is not in the certificate.
    let mut other = program();
    other.args(arguments.iter().map(|argument| {
        if argument == "localhost" { "example.org".into() } else { argument.clone() }
    }));
    let agent = Process::start(&mut other);
    Wait::block("the agent says why", || {
        agent.status()["linkError"].as_str().is_some_and(|why| {
            why.contains("not valid for name") && why.contains("--tls-server-name")
        })
    });
    agent.kill();
    // A key that others can read.
    let key = world.path("keys/dev1.key");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&key, open).unwrap();
    let (code, _, error) = run(&mut world.agent_command("dev1"));
    assert!(code == 1 && error.contains("others can read it (mode 644)"), "{error}");
    // A name of a table that is another one's.
    let (code, error) = world.agent("dev2", &["--stream", "rows"]).end();
    assert_eq!(code, 0, "{error}");
    let other = World { plan: crate::plan("project"), ..world };
    let fresh = other.path("fresh");
    std::fs::rename(other.path("data-dev2"), &fresh).unwrap();
    let (code, error) = other.agent("dev2", &["--stream", "rows"]).end();
    assert!(code == 1 && error.contains("stream rows has the columns"), "{error}");
    drop(gateway);
}

/// An agent with a new data folder takes the place of the old one.
#[test]
fn a_newer_epoch_ends_the_older_one() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = world.gateway(&[]);
    let first = world.agent("dev1", &["--follow"]);
    Wait::block("rows have come", || site(&gateway, "dev1")["rows"].as_u64() > Some(0));
    let epoch = first.status()["epoch"].as_u64().unwrap();
    let mut second = world.agent_command("dev1");
    let arguments: Vec<_> = second.get_args().map(ToOwned::to_owned).collect();
    let at = arguments.iter().position(|argument| argument == "--data").unwrap();
    second = program();
    second.args(&arguments[..at]).args(&arguments[at + 2..]).arg("--follow");
    second.arg("--data").arg(world.path("data-new"));
    let second = Process::start(&mut second);
    Wait::block("it has a newer one", || second.status()["epoch"].as_u64() > Some(epoch));
    Wait::block("the newer one counts", || site(&gateway, "dev1")["epoch"].as_u64() > Some(epoch));
    append(&world.input("dev1"), &readings(1000, 1000, 2));
    let (code, error) = first.end();
    assert!(code == 1 && error.contains("has begun anew (epoch "), "{error}");
}

#[test]
fn an_agent_goes_on_only_with_what_it_had() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let _gateway = world.gateway(&[]);
    let (code, error) = world.agent("dev1", &[]).end();
    assert_eq!(code, 0, "{error}");
    let (code, _, error) = run(world.agent_command("dev1").args(["--flush", "all"]));
    assert!(code == 1 && error.contains("it is of another plan, table"), "{error}");
    let other = World::new("tumble", &["dev1"]);
    other.write("dev1", &readings(0, 1000, 2));
    let _other_gateway = other.gateway(&[]);
    let agent = other.agent("dev1", &["--follow"]);
    Wait::block("rows have come", || agent.status()["acknowledged"].as_u64() > Some(0));
    agent.kill();
    other.write("dev1", &readings(0, 2000, 3));
    let (code, error) = other.agent("dev1", &["--follow"]).end();
    assert!(code == 1 && error.contains("are not those of the file that was read"), "{error}");
    // Its first bytes are the same, and there are more of them.
    let _ = std::fs::remove_dir_all(other.path("data-dev1"));
    let header = "\n".repeat(2000);
    other.write("dev1", &(header.clone() + &readings(0, 1000, 2)));
    let agent = other.agent("dev1", &["--follow", "--stream", "again"]);
    Wait::block("rows have come", || agent.status()["acknowledged"].as_u64() > Some(0));
    agent.kill();
    other.write("dev1", &(header + &readings(0, 2000, 3)));
    let (code, error) = other.agent("dev1", &["--follow", "--stream", "again"]).end();
    assert!(code == 1 && error.contains("are not those of the file that was read"), "{error}");
    other.write("dev1", "");
    let (code, error) = other.agent("dev1", &["--follow", "--stream", "again"]).end();
    assert!(code == 1 && error.contains("it was replaced or cut"), "{error}");
}

/// What has the name now is longer than what was read: it was never read.
#[test]
fn a_file_that_takes_the_place_of_another_one_is_not_taken_for_it() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let _gateway = world.gateway(&[]);
    let agent = world.agent("dev1", &["--follow"]);
    let length = std::fs::metadata(world.input("dev1")).unwrap().len();
    Wait::block("all is read", || agent.status()["inputBytes"] == length);
    let longer = readings(0, 1000, 1) + &readings(1000, 1000, 2);
    std::fs::write(world.path("new"), longer).unwrap();
    std::fs::rename(world.path("new"), world.input("dev1")).unwrap();
    let (code, error) = agent.end();
    assert!(code == 1 && error.contains("it was replaced or cut"), "{error}");
}

/// Two sites in one partition; one is away for longer than the others want to wait.
#[test]
fn who_is_away_for_too_long_is_late() {
    let world = World::new("tumble", &["dev1", "dev2"]);
    world.write("dev1", &readings(0, 2000, 1));
    world.write("dev2", &readings(0, 1000, 2));
    let gateway = world.gateway(&["--absent", "200ms"]);
    let agent = world.agent("dev1", &["--follow"]);
    Wait::block("the other one does not count", || {
        let partition = &gateway.status()["streams"][0]["partitions"][0];
        partition["watermark"].as_i64() > Some(0) && site(&gateway, "dev2")["excluded"] == true
    });
    let watermark = gateway.status()["streams"][0]["partitions"][0]["watermark"].clone();
    let late = world.agent("dev2", &["--follow"]);
    Wait::block("its rows are there", || site(&gateway, "dev2")["lateRows"].as_u64() > Some(0));
    // It catches up, and counts again.
    append(&world.input("dev2"), &readings(1000, 3000, 2));
    Wait::block("it has caught up", || {
        let site = site(&gateway, "dev2");
        site["excluded"] == false && site["watermark"].as_i64() > watermark.as_i64()
    });
    for site in ["dev1", "dev2"] {
        std::fs::write(world.path(&format!("{site}.ndjson.end")), "").unwrap();
    }
    for agent in [agent, late] {
        let (code, error) = agent.end();
        assert_eq!(code, 0, "{error}");
    }
    let (in_time, late) = (world.rows("edge_partials"), world.rows("edge_partials.late"));
    let expected = world.expected("dev2", &TUMBLE);
    let both: Vec<String> = late["dev2"].iter().chain(&in_time["dev2"]).cloned().collect();
    assert!(!late["dev2"].is_empty() && !in_time["dev2"].is_empty());
    assert_eq!(both, expected);
    Wait::block("the status shows it", || site(&gateway, "dev2")["watermark"] == i64::MAX);
    assert_eq!(site(&gateway, "dev2")["lateRows"], late["dev2"].len());
    assert_eq!(in_time["dev1"], world.expected("dev1", &TUMBLE));
    assert!(!late.contains_key("dev1"));
}

#[test]
fn a_site_that_has_not_come_holds_the_others_up() {
    let world = World::new("tumble", &["dev1", "dev2"]);
    world.write("dev1", &readings(0, 1000, 1));
    world.write("dev2", &readings(0, 1000, 2));
    let gateway = world.gateway(&[]);
    let (code, error) = world.agent("dev1", &[]).end();
    assert_eq!(code, 0, "{error}");
    Wait::block("the status shows it", || site(&gateway, "dev1")["watermark"] == i64::MAX);
    assert_eq!(gateway.status()["streams"][0]["partitions"][0]["watermark"], 0);
    let (code, error) = world.agent("dev2", &[]).end();
    assert_eq!(code, 0, "{error}");
    let rows = world.rows("edge_partials");
    for site in ["dev1", "dev2"] {
        assert_eq!(rows[site], world.expected(site, &TUMBLE));
    }
    // What is shown is looked at now and then; what is acknowledged is there before.
    Wait::block("the status shows it", || site(&gateway, "dev2")["watermark"] == i64::MAX);
    let out = gateway.status_text();
    assert!(out.contains("partition 0  watermark at the end"), "{out}");
    let (code, _, error) = run(program().args(["status", "--at", "127.0.0.1:1"]));
    assert!(code == 1 && error.contains("--at says where it is"), "{error}");
}
