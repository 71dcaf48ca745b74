//! Who may connect: strangers, sites whose key cannot be read, sites that have lost it, sites that do not listen.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use afterbay_edge_link::{
    Limits, Message, Receiver, Refusal, Sender, SiteKey, client_config, connect, server_name,
};
use afterbay_test_form::{NEVER, Wait};

use crate::site::{Process, TUMBLE, World, append, readings};

/// Strangers that say nothing keep no site out.
#[test]
fn strangers_hold_no_place() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = world.gateway(&["--connections", "1", "--handshakes", "3"]);
    let address = gateway.said["listen"].as_str().unwrap();
    let stranger = || {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    };
    let mut strangers: Vec<TcpStream> = (0..40).map(|_| stranger()).collect();
    let is_open = |mut socket: &TcpStream| match socket.read(&mut [0; 64]) {
        Ok(count) => count > 0,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    };
    let wait = Wait::until("the oldest have gone");
    loop {
        let open = strangers.iter().filter(|socket| is_open(socket)).count();
        // Asked for behind it: whoever has had to go is counted.
        let dropped = gateway.status()["handshakesDropped"].as_u64().unwrap();
        if dropped == 37 {
            break;
        }
        // On a machine that is busy, the time of some may be over before: then others are there in their stead. With one more than
        // there is room for, one more has to go, and no two.
        if open <= 3 {
            strangers.push(stranger());
        }
        wait.check((open, dropped));
    }
    let (code, error) = world.agent("dev1", &[]).end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
    drop(strangers);
}

#[test]
fn more_sites_than_are_allowed_wait() {
    let world = World::new("tumble", &["dev1", "dev2"]);
    world.write("dev2", &readings(0, 1000, 2));
    let gateway = world.gateway(&["--connections", "1"]);
    // It has patience, and asks without end: the gateway gives it up for no pause of this machine's.
    let (first, mut answers) = by_hand(&world, &gateway);
    let mut ask = {
        let first = first.clone();
        move || first.send(&Message::Ping).is_ok() && answers.receive().is_ok()
    };
    assert!(ask(), "it is connected");
    let asks = std::thread::spawn(move || {
        while ask() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let second = world.agent("dev2", &[]);
    Wait::block("it is told why it waits", || {
        let status = second.status();
        status["linkError"].as_str().is_some_and(|why| why.contains("1 sites are connected"))
    });
    assert!(!asks.is_finished(), "nobody has sent it away");
    first.close();
    asks.join().unwrap();
    let (code, error) = second.end();
    assert_eq!(code, 0, "{error}");
}

/// Such as when there are no descriptors left: a site must not end for ever because of that.
#[test]
fn a_key_that_cannot_be_read_now_ends_no_site() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = world.gateway(&[]);
    let (key, mine) = (world.path("keys/dev1.key"), world.path("mine.key"));
    std::fs::copy(&key, &mine).unwrap();
    // It is there all the time: a key that has gone is refused.
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&key, mode(0o644)).unwrap();
    let mut command = world.agent_command("dev1");
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let at = arguments.iter().position(|argument| argument == "--key-file").unwrap();
    command = crate::program();
    command.args(&arguments[..at]).arg("--key-file").arg(&mine).args(&arguments[at + 2..]);
    let agent = Process::start(&mut command);
    Wait::block("it is told why", || {
        let status = agent.status();
        status["linkError"].as_str().is_some_and(|why| why.contains("cannot read the key"))
    });
    Wait::block("the gateway says it too", || {
        gateway.status()["keyError"].as_str().is_some_and(|why| why.contains("dev1.key"))
    });
    std::fs::set_permissions(&key, mode(0o600)).unwrap();
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
    assert_eq!(gateway.status()["keyError"], serde_json::Value::Null, "it can be read now");
}

/// Whoever has taken the key along is out, also if it is connected; and who looks after the gateway reads why.
#[test]
fn who_loses_its_key_has_to_end() {
    for is_replaced in [false, true] {
        let world = World::new("tumble", &["dev1", "dev2"]);
        world.write("dev1", &readings(0, 1000, 1));
        world.write("dev2", &readings(0, 1000, 2));
        let gateway = world.gateway(&[]);
        let agents = ["dev1", "dev2"].map(|site| world.agent(site, &["--follow"]));
        // Who still sends may find its link broken before it hears why.
        Wait::block("both have sent what they have", || {
            agents.iter().zip(["dev1", "dev2"]).all(|(agent, site)| {
                let status = agent.status();
                let bytes = std::fs::metadata(world.input(site)).unwrap().len();
                status["inputBytes"] == bytes && status["acknowledged"] == status["next"]
            })
        });
        let file = world.path("keys/dev1.key");
        let old = SiteKey::read(&file).unwrap();
        // In its place at once, and not gone in between.
        if is_replaced {
            let new = world.path("new.key");
            SiteKey::random().unwrap().write_new(&new).unwrap();
            std::fs::rename(new, &file).unwrap();
        } else {
            std::fs::rename(&file, world.path("away.key")).unwrap();
        }
        let [first, mut second] = agents;
        let (code, error) = first.end();
        let (to_site, to_gateway) = if is_replaced {
            (
                "site dev1 has another key now: dev1.key in the gateway's folder",
                "has another key now",
            )
        } else {
            (
                "site dev1 has no key any more: dev1.key has gone from the gateway's folder",
                "has gone",
            )
        };
        assert!(code == 1 && error.contains(to_site), "{error}");
        assert!(error.contains("and start its agent again"), "{error}");
        Wait::block("the gateway says so", || gateway.status()["revoked"][0]["site"] == "dev1");
        let status = gateway.status();
        let revoked = &status["revoked"][0];
        assert_eq!(status["revoked"].as_array().map(Vec::len), Some(1), "{status}");
        assert_eq!(revoked["file"], file.to_str().unwrap(), "{status}");
        assert_eq!(revoked["key"], old.access.as_str(), "{status}");
        assert_eq!(revoked["replaced"], is_replaced, "{status}");
        let to_gateway = format!(
            "{} {to_gateway}: site dev1 was sent away, which was connected with key {}; ",
            file.display(),
            old.access
        );
        let text = gateway.status_text();
        let line = text.lines().find(|line| line.starts_with("keys: since 2")).unwrap_or_default();
        assert!(line.contains(&format!(" UTC: {to_gateway}")), "{text}");
        gateway.tells(&format!(" UTC: {to_gateway}"));
        // It comes with the key that is there now.
        if !is_replaced {
            std::fs::rename(world.path("away.key"), &file).unwrap();
        }
        let (code, error) = world.agent("dev1", &[]).end();
        assert_eq!(code, 0, "{error}");
        assert_eq!(gateway.status()["revoked"], serde_json::json!([]));
        // The other one is not meant.
        append(&world.input("dev2"), &readings(1000, 1000, 3));
        std::fs::write(world.path("dev2.ndjson.end"), "").unwrap();
        Wait::block("the other one ends", || second.has_ended());
        let (code, error) = second.end();
        assert_eq!(code, 0, "{error}");
        gateway.terminate();
    }
}

/// As when a file system of its own is not mounted any more: what is there then is an empty folder.
#[test]
fn a_folder_of_keys_that_is_away_cuts_nobody_off() {
    let world = World::new("tumble", &["dev1", "dev2"]);
    world.write("dev1", &readings(0, 1000, 1));
    world.write("dev2", &readings(0, 1000, 2));
    let gateway = world.gateway(&[]);
    let agents = ["dev1", "dev2"].map(|site| world.agent(site, &["--follow"]));
    let all_are_up = || agents.iter().all(|agent| agent.status()["linkUp"] == true);
    Wait::block("both are connected", all_are_up);
    std::fs::rename(world.path("keys"), world.path("away")).unwrap();
    std::fs::create_dir(world.path("keys")).unwrap();
    Wait::block("the gateway says so", || {
        let why = gateway.status()["keyError"].as_str().map(str::to_owned);
        why.is_some_and(|why| why.contains("keys: it has no key any more"))
    });
    gateway.tells("it has no key any more");
    assert!(gateway.status_text().contains("keys: "), "{}", gateway.status_text());
    // Keys are looked at once a second; and who comes anew in between is let in.
    world.relay.cut();
    Wait::block("both links are cut", || {
        agents.iter().all(|agent| agent.status()["linkUp"] == false)
    });
    world.relay.mend();
    Wait::block("both are connected again", all_are_up);
    // What was read before, the gateway has.
    let status_of_all = || agents.each_ref().map(Process::status);
    let mut before = status_of_all();
    Wait::block("both have sent what they have", || {
        before = status_of_all();
        before.iter().zip(["dev1", "dev2"]).all(|(status, site)| {
            let bytes = std::fs::metadata(world.input(site)).unwrap().len();
            status["inputBytes"] == bytes && status["acknowledged"] == status["next"]
        })
    });
    for (site, seed) in [("dev1", 3), ("dev2", 4)] {
        append(&world.input(site), &readings(1000, 1000, seed));
    }
    Wait::block("rows of both go on", || {
        let now = status_of_all();
        let frames = |status: &serde_json::Value| status["acknowledged"].as_u64().unwrap();
        before.iter().zip(&now).all(|(before, now)| frames(now) > frames(before))
    });
    std::fs::remove_dir(world.path("keys")).unwrap();
    std::fs::rename(world.path("away"), world.path("keys")).unwrap();
    Wait::block("nothing is wrong", || gateway.status()["keyError"].is_null());
    for site in ["dev1", "dev2"] {
        std::fs::write(world.path(&format!("{site}.ndjson.end")), "").unwrap();
    }
    for agent in agents {
        let (code, error) = agent.end();
        assert_eq!(code, 0, "{error}");
    }
    for site in ["dev1", "dev2"] {
        assert_eq!(world.rows("edge_partials")[site], world.expected(site, &TUMBLE));
    }
    gateway.tells("keys can be read again");
    gateway.terminate();
}

/// What cannot be written is seen at the gateway too, and not only at the site that waits.
#[test]
fn a_stream_that_the_output_does_not_take_is_in_the_status() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = world.gateway(&[]);
    std::fs::write(world.path("out/edge_partials"), "a file").unwrap();
    let agent = world.agent("dev1", &[]);
    Wait::block("the status says why", || {
        let status = gateway.status();
        let stream = &status["streams"][0];
        let why = stream["held"].as_str().unwrap_or_default();
        stream["stream"] == "edge_partials" && why.contains("it is no folder; move it away")
    });
    let text = gateway.status_text();
    assert!(text.contains("stream edge_partials\n  held: "), "{text}");
    std::fs::remove_file(world.path("out/edge_partials")).unwrap();
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    Wait::block("it is held no more", || gateway.status()["streams"][0]["held"].is_null());
    assert_eq!(world.rows("edge_partials")["dev1"], world.expected("dev1", &TUMBLE));
}

/// Connects as a site by hand.
pub(crate) fn by_hand(world: &World, gateway: &Process) -> (Sender, Receiver) {
    let address = gateway.said["listen"].as_str().unwrap();
    let key = SiteKey::read(&world.path("keys/dev1.key")).unwrap();
    let limits = Limits { handshake: NEVER, silence: NEVER };
    let name = server_name(address, Some("localhost")).unwrap();
    let config = client_config(&world.path("server.pem")).unwrap();
    connect(address, name, config, "dev1", &key, limits).unwrap()
}

/// What it is told piles up nowhere.
#[test]
fn who_asks_and_does_not_listen_has_to_end() {
    let world = World::new("tumble", &["dev1"]);
    let gateway = world.gateway(&[]);
    let (sender, _receiver) = by_hand(&world, &gateway);
    let before = gateway.memory();
    let wait = Wait::until("it ends");
    let mut asked = 0_u64;
    while sender.send(&Message::Ping).is_ok() {
        asked += 1;
        if asked.is_multiple_of(100_000) {
            wait.check(asked);
        }
    }
    assert!(asked > 1000, "{asked}");
    // Other systems than Linux do not say it.
    let grown = gateway.memory().zip(before).map(|(after, before)| after - before);
    assert!(grown.is_none_or(|kib| kib < 16 << 10), "{grown:?} KiB more for {asked} questions");
}

/// A site that is known may send what it likes: it is told what is wrong, and others go on.
#[test]
fn who_sends_what_is_no_frame_has_to_end() {
    let world = World::new("tumble", &["dev1", "dev2"]);
    world.write("dev2", &readings(0, 1000, 2));
    let gateway = world.gateway(&[]);
    let (sender, mut receiver) = by_hand(&world, &gateway);
    let (stream, columns) = ("mine".to_owned(), vec!["x".to_owned()]);
    sender.send(&Message::Open { stream, epoch: 7, acknowledged: 0, columns }).unwrap();
    assert!(matches!(receiver.receive().unwrap(), Message::Next { epoch: 7, next: 0, .. }));
    sender.send(&Message::Frame(b"ABEF and more".to_vec())).unwrap();
    match receiver.receive().unwrap() {
        Message::Refused { refusal: Refusal::Protocol, text } => {
            assert_eq!(text, "13 bytes are no frame: 40 are needed");
        }
        other => panic!("{other:?}"),
    }
    let (code, error) = world.agent("dev2", &[]).end();
    assert_eq!(code, 0, "{error}");
}
