//! Gateways that are not those that a site knows, and sites that begin anew.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use afterbay_edge_agent::{Agent, AgentOptions, Input, Link, WhenFull};
use afterbay_edge_exec::{Reader, Settings};
use afterbay_edge_gateway::output::Output;
use afterbay_edge_gateway::{
    Absent, Gateway, GatewayError, GatewayOptions, Partitions, Refused, Row,
};
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
    let length = std::fs::metadata(world.input("dev1")).unwrap().len();
    Wait::block("all is read and acknowledged", || {
        let status = agent.status();
        status["inputBytes"] == length && status["acknowledged"] == status["next"]
    });
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
    let (expected, found) = (world.expected("dev1", &TUMBLE), world.rows("edge_partials"));
    assert!(before > 100 && before < expected.len());
    assert_eq!(found["dev1"].len(), expected.len() - before);
    assert_eq!(found["dev1"], expected[before..]);
    Wait::block("the status shows it", || site(&gateway)["watermark"] == i64::MAX);
    assert_eq!((&site(&gateway)["gaps"], &site(&gateway)["lostRows"]), (&1.into(), &before.into()));
}

/// A gateway of its own protocol, for one connection at a time. An agent waits for it for some seconds only, and comes again: so a
/// thread takes connections as soon as they come, and those whose agent has gone again are none.
struct Fake(mpsc::Receiver<(Sender, Receiver, Message)>);

impl Fake {
    fn new(world: &World) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        world.relay.to(listener.local_addr().unwrap());
        let tls = server_config(&world.path("server.pem"), &world.path("server-key.pem")).unwrap();
        let key = SiteKey::read(&world.path("keys/dev1.key")).unwrap();
        let limits = Limits { handshake: PATIENCE, silence: PATIENCE };
        let (opened, all) = mpsc::channel();
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let accepted = accept(socket, tls.clone(), |_| Ok(Some(key.clone())), limits);
                let Ok((_, sender, mut receiver)) = accepted else { continue };
                let Ok(message) = receiver.receive() else { continue };
                if opened.send((sender, receiver, message)).is_err() {
                    return;
                }
            }
        });
        Self(all)
    }

    /// Takes a connection, and what it opens: epoch, and what was acknowledged.
    fn open(&self) -> (Sender, Receiver, u64, u64) {
        match self.0.recv_timeout(PATIENCE).unwrap() {
            (sender, receiver, Message::Open { epoch, acknowledged, .. }) => {
                (sender, receiver, epoch, acknowledged)
            }
            (_, _, other) => panic!("{other:?}"),
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

/// An agent in this process.
fn agent(world: &World, data: &str) -> JoinHandle<bool> {
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
        end_topic: None,
        sequence: None,
        publish: None,
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
    };
    let agent = Agent::open(options).unwrap();
    std::thread::spawn(move || agent.run(&pipeline, &reader).unwrap())
}

/// Clocks of sites begin with 1970, are ahead, or go back: a new data folder is a new epoch all the same.
#[test]
fn a_new_folder_asks_the_gateway_which_epoch_it_is() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let gateway = world.gateway(&[]);
    // An older agent had a clock that was far ahead.
    let (sender, mut receiver) = crate::strangers::by_hand(&world, &gateway);
    let ahead = 9_999_999_999_999;
    let columns = TUMBLE.map(str::to_owned).to_vec();
    let stream = "edge_partials".to_owned();
    sender
        .send(&Message::Open { stream: stream.clone(), epoch: ahead, acknowledged: 0, columns })
        .unwrap();
    assert_eq!(receiver.receive().unwrap(), next(ahead, 0));
    sender.send(&Message::Skip { stream, epoch: ahead, from: 0, to: 1, rows: 0 }).unwrap();
    assert_eq!(receiver.receive().unwrap(), next(ahead, 1));
    let mut rows = Vec::new();
    for round in 1..3 {
        assert!(agent(&world, &format!("new-{round}")).join().unwrap());
        Wait::block("all of it is there", || {
            let site = site(&gateway);
            site["epoch"] == ahead + round && site["watermark"] == i64::MAX
        });
        rows.push(site(&gateway)["rows"].as_u64().unwrap());
    }
    assert!(rows[0] > 100 && rows[1] == 2 * rows[0], "{rows:?}");
    // The epoch stays that of the folder.
    assert!(agent(&world, "new-2").join().unwrap());
    assert_eq!(site(&gateway)["epoch"], ahead + 2);
}

/// The frames themselves say it too, also those that were written before there was a gateway.
#[test]
fn frames_have_the_epoch_that_the_gateway_has_said() {
    let world = World::new("tumble", &["dev1"]);
    world.write("dev1", &readings(0, 1000, 1));
    let fake = Fake::new(&world);
    let agent = agent(&world, "data");
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

/// An output that takes no rows of a stream: nobody knows it before, and it may be mended.
#[derive(Clone, Default)]
struct Picky {
    records: Arc<Mutex<BTreeMap<String, String>>>,
    is_mended: Arc<AtomicBool>,
    /// Commits; from the first one on, it says so when a site comes.
    failed: Arc<AtomicU64>,
}

impl Picky {
    fn is_broken(&self, stream: &str) -> bool {
        stream == "broken" && !self.is_mended.load(Ordering::SeqCst)
    }
}

impl Output for Picky {
    fn recover(&mut self) -> Result<BTreeMap<String, String>, GatewayError> {
        Ok(self.records.lock().unwrap().clone())
    }

    fn refuses(&mut self, stream: &str) -> Option<Refused> {
        let says_so = self.failed.load(Ordering::SeqCst) > 0;
        (says_so && self.is_broken(stream)).then(|| Refused::NotNow("no broken rows".to_owned()))
    }

    fn commit(&mut self, rows: &[Row], all: &[(String, String)]) -> Result<(), GatewayError> {
        if let Some(row) = rows.iter().find(|row| self.is_broken(&row.stream)) {
            self.failed.fetch_add(1, Ordering::SeqCst);
            let (stream, reason) = (row.stream.clone(), "it is broken".to_owned());
            return Err(GatewayError::Stream { stream, reason });
        }
        self.records.lock().unwrap().extend(all.iter().cloned());
        Ok(())
    }
}

/// It ends no agent either: somebody may mend the topic.
#[test]
fn a_stream_that_the_output_does_not_take_stops_no_other_one() {
    let world = World::new("tumble", &["dev1", "dev2"]);
    world.write("dev1", &readings(0, 1000, 1));
    world.write("dev2", &readings(0, 1000, 2));
    let output = Picky::default();
    let gateway = gateway(&world, Box::new(output.clone()));
    let broken = world.agent("dev1", &["--stream", "broken"]);
    Wait::block("it is refused", || {
        let status = broken.status();
        status["linkError"].as_str().is_some_and(|why| why.contains("no broken rows"))
    });
    let (code, error) = world.agent("dev2", &[]).end();
    assert_eq!(code, 0, "{error}");
    // The first one had been taken before anybody knew, and no watermark came behind.
    assert_eq!(output.failed.load(Ordering::SeqCst), 1);
    output.is_mended.store(true, Ordering::SeqCst);
    let (code, error) = broken.end();
    assert_eq!(code, 0, "{error}");
    Wait::block("both are there", || {
        let status = gateway.status();
        let of = |name: &str| status.streams.iter().find(|one| one.stream == name).cloned();
        let rows = |name: &str| of(name).map_or(0, |one| one.sites.iter().map(|s| s.rows).sum());
        rows("broken") > 0 && rows("edge_partials") > 0
    });
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
