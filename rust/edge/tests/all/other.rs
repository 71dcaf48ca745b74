//! Gateways that are not those that a site knows, and sites that do not know what time it is.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use afterbay_edge_agent::{Agent, AgentOptions, Input, Link, WhenFull};
use afterbay_edge_exec::{Reader, Settings};
use afterbay_edge_gateway::output::Output;
use afterbay_edge_gateway::{Absent, Gateway, GatewayError, GatewayOptions, Partitions, Row};
use afterbay_edge_link::{
    Limits, Message, Receiver, Sender, SiteKey, accept, client_config, server_config, server_name,
};
use afterbay_edge_plan::{Operator, Plan, cut};
use afterbay_edge_wire::Frame;
use afterbay_test_form::{PATIENCE, Wait};
use serde_json::Value;

use crate::site::{Process, TUMBLE, World, append, readings};

fn site(gateway: &Process) -> Value {
    gateway.status()["streams"][0]["sites"][0].clone()
}

/// The numbers behind `--accept-gap` in an error.
fn gap_of(error: &str) -> String {
    let (_, behind) = error.split_once("--accept-gap ").unwrap_or_else(|| panic!("{error}"));
    behind.split([':', ' ']).next().unwrap().to_owned()
}

/// Sent again, rows would be doubled in what the former output has; skipped unseen, they would be lost.
#[test]
fn a_gateway_that_has_lost_its_output_is_refused_until_somebody_accepts_it() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 2000, 1));
    let gateway = world.gateway(&[]);
    let agent = world.agent("dev1", &["--follow"]);
    let is_acknowledged = |agent: &Process| {
        let status = agent.status();
        status["rows"].as_u64() > Some(100) && status["acknowledged"] == status["next"]
    };
    Wait::block("all is acknowledged", || is_acknowledged(&agent));
    let before = world.rows("edge_partials")["dev1"].len();
    gateway.kill();
    std::fs::rename(world.path("out"), world.path("out-lost")).unwrap();
    let gateway = world.gateway(&[]);
    let (code, first) = agent.end();
    assert!(code == 1 && first.contains("it is another one, or has lost its progress"), "{first}");
    // After a start, it knows it still.
    let (code, error) = world.agent("dev1", &["--follow"]).end();
    assert_eq!((code, gap_of(&error)), (1, gap_of(&first)), "{error}");
    Wait::block("the gateway has none", || site(&gateway)["rows"] == 0);
    // Other numbers than these accept nothing, such as one frame more.
    let gap = gap_of(&first);
    let frames: u64 = gap.strip_prefix("0..").unwrap().parse().unwrap();
    let more = format!("0..{}", frames + 1);
    let (code, error) = world.agent("dev1", &["--follow", "--accept-gap", &more]).end();
    assert_eq!((code, gap_of(&error)), (1, gap), "{error}");
    append(&world.input("dev1"), &readings(2000, 1000, 2));
    std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
    let (code, error) = world.agent("dev1", &["--follow", "--accept-gap", &gap_of(&first)]).end();
    assert_eq!(code, 0, "{error}");
    let expected = world.expected("dev1", &TUMBLE);
    assert_eq!(world.rows("edge_partials")["dev1"], expected[before..]);
    Wait::block("the status shows it", || site(&gateway)["watermark"] == i64::MAX);
    assert_eq!((&site(&gateway)["gaps"], &site(&gateway)["lostRows"]), (&1.into(), &before.into()));
}

/// A gateway of its own protocol, for one connection at a time.
struct Fake {
    listener: TcpListener,
    tls: std::sync::Arc<rustls::ServerConfig>,
    key: SiteKey,
}

impl Fake {
    fn new(world: &World) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        world.relay.to(listener.local_addr().unwrap());
        let tls = server_config(&world.path("server.pem"), &world.path("server-key.pem")).unwrap();
        Self { listener, tls, key: SiteKey::read(&world.path("keys/dev1.key")).unwrap() }
    }

    /// Takes a connection, and what it opens: epoch, and what was acknowledged.
    fn open(&self) -> (Sender, Receiver, u64, u64) {
        let (socket, _) = self.listener.accept().unwrap();
        let limits = Limits { handshake: PATIENCE, silence: PATIENCE };
        let (_, sender, mut receiver) =
            accept(socket, self.tls.clone(), |_| Ok(Some(self.key.clone())), limits).unwrap();
        match receiver.receive().unwrap() {
            Message::Open { epoch, acknowledged, .. } => (sender, receiver, epoch, acknowledged),
            other => panic!("{other:?}"),
        }
    }
}

fn next(epoch: u64, next: u64) -> Message {
    Message::Next { stream: "edge_partials".to_owned(), epoch, next }
}

/// The agent looks itself, whatever the gateway says of what it was told.
#[test]
fn an_agent_refuses_a_gateway_that_has_less_than_it_had_said() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 2000, 1));
    let fake = Fake::new(&world);
    let agent = world.agent("dev1", &["--follow"]);
    let (sender, mut receiver, epoch, acknowledged) = fake.open();
    assert_eq!(acknowledged, 0);
    sender.send(&next(epoch, 0)).unwrap();
    while !matches!(receiver.receive().unwrap(), Message::Frame(_)) {}
    sender.send(&next(epoch, 1)).unwrap();
    Wait::block("it knows", || agent.status()["acknowledged"] == 1);
    sender.close();
    let (sender, mut receiver, epoch, acknowledged) = fake.open();
    assert_eq!(acknowledged, 1);
    sender.send(&next(epoch, 0)).unwrap();
    let heard = receiver.receive();
    assert!(heard.is_err(), "nothing is sent: {heard:?}");
    let (code, error) = agent.end();
    assert!(code == 1 && error.contains("has 0 frames of epoch"), "{error}");
    assert_eq!(gap_of(&error), "0..1");
}

/// An agent in this process, with a clock of its own.
fn agent(world: &World, data: &str, clock: fn() -> SystemTime) -> JoinHandle<bool> {
    let text = std::fs::read_to_string(&world.plan).unwrap();
    let all = cut(&Plan::parse(&text).unwrap());
    let pipeline = all.pipelines.into_iter().next().unwrap();
    let Operator::Scan(scan) = &pipeline.nodes[0].operator else { panic!("no table") };
    let reader = Reader::new(scan, None, None).unwrap();
    let address = world.relay.address.to_string();
    let options = AgentOptions {
        site: "dev1".to_owned(),
        stream: "edge_partials".to_owned(),
        input: Input::File { path: world.input("dev1"), follow: false },
        sequence: None,
        data: world.path(data),
        link: Link {
            name: server_name(&address, Some("localhost")).unwrap(),
            address,
            tls: client_config(&world.path("server.pem")).unwrap(),
            key: SiteKey::read(&world.path("keys/dev1.key")).unwrap(),
            limits: Limits::default(),
        },
        settings: Settings::default(),
        fingerprint: 1,
        linger: Duration::from_millis(20),
        outbox_bytes: 1 << 20,
        outbox_age: Duration::from_secs(3600),
        when_full: WhenFull::Hold,
        accept_gap: None,
        clock,
    };
    let agent = Agent::open(options).unwrap();
    std::thread::spawn(move || agent.run(&pipeline, &reader).unwrap())
}

/// Devices without a battery begin with 1970 at each start: a new data folder is a new epoch all the same.
#[test]
fn a_site_without_a_clock_asks_the_gateway_which_epoch_it_is() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = world.gateway(&[]);
    assert!(agent(&world, "data-1", SystemTime::now).join().unwrap());
    Wait::block("it is there", || site(&gateway)["watermark"] == i64::MAX);
    let before = site(&gateway);
    for round in 1..3 {
        assert!(agent(&world, &format!("new-{round}"), || UNIX_EPOCH).join().unwrap());
        let epoch = before["epoch"].as_u64().unwrap() + round;
        Wait::block("it is there anew", || site(&gateway)["epoch"] == epoch);
        Wait::block("all of it", || {
            site(&gateway)["rows"].as_u64()
                == before["rows"].as_u64().map(|rows| (1 + round) * rows)
        });
    }
    // The epoch stays that of the folder.
    assert!(agent(&world, "new-2", || UNIX_EPOCH).join().unwrap());
    assert_eq!(site(&gateway)["epoch"], before["epoch"].as_u64().unwrap() + 2);
}

/// The frames themselves say it too, also those that were written before there was a gateway.
#[test]
fn frames_have_the_epoch_that_the_gateway_has_said() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let fake = Fake::new(&world);
    let agent = agent(&world, "data", || UNIX_EPOCH);
    let (sender, mut receiver, epoch, _) = fake.open();
    assert_eq!(epoch, 0);
    sender.send(&next(7, 0)).unwrap();
    let mut count = 0;
    loop {
        match receiver.receive() {
            Ok(Message::Frame(bytes)) => {
                let frame = Frame::decode(&bytes).unwrap();
                assert_eq!((frame.epoch, frame.sequence), (7, count));
                count += 1;
                sender.send(&next(7, count)).unwrap();
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    assert!(agent.join().unwrap() && count > 0);
}

/// An output whose disk fails.
struct Worn;

impl Output for Worn {
    fn recover(&mut self) -> Result<BTreeMap<String, String>, GatewayError> {
        Ok(BTreeMap::new())
    }

    fn commit(&mut self, _: &[Row], _: &[(String, String)]) -> Result<(), GatewayError> {
        Err(GatewayError::Sync { path: "rows".into(), reason: "worn".to_owned() })
    }
}

/// An output that takes small rows only.
#[derive(Default)]
struct Small(BTreeMap<String, String>);

impl Output for Small {
    fn row_bytes_max(&self) -> usize {
        100
    }

    fn recover(&mut self) -> Result<BTreeMap<String, String>, GatewayError> {
        Ok(self.0.clone())
    }

    fn commit(&mut self, rows: &[Row], all: &[(String, String)]) -> Result<(), GatewayError> {
        let is_large = |row: &&Row| row.json.len() > 100 && row.stream == "edge_partials";
        if let Some(row) = rows.iter().find(is_large) {
            return Err(GatewayError::Output(format!("too large: {}", row.json)));
        }
        self.0.extend(all.iter().cloned());
        Ok(())
    }
}

/// The gateway of these tests, in this process.
fn gateway(world: &World, output: Box<dyn Output>) -> Gateway {
    let options = GatewayOptions {
        listen: "127.0.0.1:0".to_owned(),
        tls: server_config(&world.path("server.pem"), &world.path("server-key.pem")).unwrap(),
        keys: world.path("keys"),
        partitions: Partitions::Count(1),
        absent: Absent::Wait,
        limits: Limits::default(),
        connections_max: 10,
        handshakes_max: 10,
    };
    let gateway = Gateway::start(options, output).unwrap();
    world.relay.to(gateway.address());
    gateway
}

/// The stream goes on, and says how many rows are not there.
#[test]
fn rows_that_the_output_does_not_take_hold_nobody_up() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = gateway(&world, Box::new(Small::default()));
    let (code, error) = world.agent("dev1", &[]).end();
    assert_eq!(code, 0, "{error}");
    Wait::block("the status shows it", || {
        gateway.status().streams.iter().any(|one| one.sites[0].watermark == i64::MAX)
    });
    let site = &gateway.status().streams[0].sites[0];
    assert!(site.large > 0 && site.large == site.rows, "{site:?}");
}

/// Another commit of the same process could succeed, and mean nothing.
#[test]
fn a_gateway_ends_when_a_sync_has_failed() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = gateway(&world, Box::new(Worn));
    let agent = world.agent("dev1", &["--follow"]);
    Wait::block("it has ended", || gateway.failed().is_some());
    let error = gateway.failed().unwrap().to_string();
    assert!(error.contains("rows: a sync failed (worn)") && error.contains("start it again"));
    assert_eq!(agent.status()["acknowledged"], 0);
    gateway.stop();
}
