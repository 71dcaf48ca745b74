//! Agents that read from a broker over TLS.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use afterbay_test_form::Wait;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::broker::Broker;
use crate::mqtt::{TOPIC, VERSIONS, command_at, names, row, rows, wait_for_rows};
use crate::run;
use crate::site::{Process, World};

/// Who waits for one side looks at the other one so often.
const TURN: Duration = Duration::from_millis(2);

/// Somebody who signs certificates, with files in a folder.
struct Authority<'a> {
    world: &'a World,
    name: &'static str,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key.
struct Certificate {
    pem: PathBuf,
    key: PathBuf,
}

impl<'a> Authority<'a> {
    fn new(world: &'a World, name: &'static str) -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Self { world, name, issuer };
        std::fs::write(authority.roots(), authority.issuer.pem()).unwrap();
        authority
    }

    fn roots(&self) -> PathBuf {
        self.world.path(&format!("{}.pem", self.name))
    }

    /// Of this host, in a file of this name.
    fn sign(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Certificate {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let issuer: &Issuer<'_, KeyPair> = &self.issuer;
        let signed = params.signed_by(&key, issuer).unwrap();
        let file = |what: &str| self.world.path(&format!("{}-{name}{what}.pem", self.name));
        let made = Certificate { pem: file(""), key: file("-key") };
        std::fs::write(&made.pem, signed.pem()).unwrap();
        std::fs::write(&made.key, key.serialize_pem()).unwrap();
        made
    }
}

fn config(certificate: &Certificate, clients: Option<&Path>, is_old: bool) -> Arc<ServerConfig> {
    let version = if is_old { &TLS12 } else { &TLS13 };
    let (pem, key) = (&certificate.pem, &certificate.key);
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(roots) => {
            let mut store = RootCertStore::empty();
            store.add(CertificateDer::from_pem_file(roots).unwrap()).unwrap();
            let provider = Arc::new(default_provider());
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let chain = vec![CertificateDer::from_pem_file(pem).unwrap()];
    Arc::new(builder.with_single_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap())
}

/// TLS in front of a broker that has none.
struct Front {
    address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    broker: SocketAddr,
    config: Mutex<Arc<ServerConfig>>,
    /// Connections are closed before TLS stands.
    is_down: AtomicBool,
    /// Those that are there.
    connections: AtomicU64,
    /// Clients that have said that they do not like what they were shown.
    refusals: AtomicU64,
}

impl Front {
    fn start(broker: &Broker, config: Arc<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            broker: broker.address(),
            config: Mutex::new(config),
            is_down: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
        });
        let mine = inner.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                mine.connections.fetch_add(1, Ordering::SeqCst);
                let mine = mine.clone();
                std::thread::spawn(move || {
                    mine.pass(client);
                    mine.connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, inner }
    }

    fn url(&self) -> String {
        format!("mqtts://localhost:{}", self.address.port())
    }

    fn show(&self, config: Arc<ServerConfig>) {
        *self.inner.config.lock().unwrap() = config;
    }

    /// How many clients have gone because of what they were shown, when none is there any more.
    fn refusals(&self) -> u64 {
        Wait::block("no connection is left", || self.inner.connections.load(Ordering::SeqCst) == 0);
        self.inner.refusals.load(Ordering::SeqCst)
    }
}

impl Inner {
    fn pass(&self, client: TcpStream) {
        if self.is_down.load(Ordering::SeqCst) {
            return;
        }
        let config = self.config.lock().unwrap().clone();
        let mut tls = StreamOwned::new(ServerConnection::new(config).unwrap(), client);
        // What is wrong is said to the client by rustls; then it has to be read, and not be lost with a reset.
        while tls.conn.is_handshaking() {
            if let Err(error) = tls.conn.complete_io(&mut tls.sock) {
                let why = error.get_ref().and_then(|why| why.downcast_ref::<rustls::Error>());
                if matches!(why, Some(rustls::Error::AlertReceived(_))) {
                    self.refusals.fetch_add(1, Ordering::SeqCst);
                }
                return part(&tls.sock);
            }
        }
        let Ok(mut plain) = TcpStream::connect(self.broker) else { return };
        tls.sock.set_read_timeout(Some(TURN)).unwrap();
        plain.set_read_timeout(Some(TURN)).unwrap();
        let mut bytes = [0; 16 << 10];
        loop {
            match tls.read(&mut bytes) {
                Ok(count @ 1..) if plain.write_all(&bytes[..count]).is_ok() => {}
                Err(error) if is_turn(&error) => {}
                _ => break,
            }
            match plain.read(&mut bytes) {
                Ok(count @ 1..) if tls.write_all(&bytes[..count]).is_ok() => {}
                Err(error) if is_turn(&error) => {}
                _ => break,
            }
        }
        tls.conn.send_close_notify();
        let _ = tls.flush();
        let _ = plain.shutdown(Shutdown::Write);
        part(&tls.sock);
        part(&plain);
    }
}

fn is_turn(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Closes a connection so that what was written is read.
fn part(mut socket: &TcpStream) {
    let _ = socket.shutdown(Shutdown::Write);
    let _ = socket.set_read_timeout(Some(Duration::from_secs(1)));
    while let Ok(1..) = socket.read(&mut [0; 4096]) {}
}

fn command(world: &World, url: &str, version: &str, roots: &Path) -> Command {
    let mut command = command_at(world, url, version, "20ms", "data-dev1");
    command.arg("--mqtt-ca").arg(roots);
    command
}

/// An agent that ends by itself, and says this of the broker.
fn expect_end(command: &mut Command, url: &str, what: &[&str]) {
    let (code, error) = Process::start(command).end();
    assert_eq!(code, 1, "{error}");
    let broker = format!("afterbay edge: the broker {url}: ");
    assert!(error.contains(&broker), "{error}");
    what.iter().for_each(|what| assert!(error.contains(what), "{what}: {error}"));
}

/// A broker that wants a certificate and a user; MQTT 3.1.1 with TLS 1.2, and MQTT 5 with TLS 1.3.
#[test]
fn messages_come_over_tls() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let authority = Authority::new(&world, "authority");
        let clients = Authority::new(&world, "clients");
        let (shown, own) = (authority.sign("broker", |_| ()), clients.sign("dev1", |_| ()));
        let front = Front::start(&broker, config(&shown, Some(&clients.roots()), version == "3"));
        broker.state().login = Some(("me".to_owned(), "secret".to_owned()));
        std::fs::write(world.path("password"), "secret\n").unwrap();
        let _gateway = world.gateway(&[]);
        let start = || {
            let mut command = command(&world, &front.url(), version, &authority.roots());
            command.args(["--mqtt-user", "me", "--mqtt-password-file"]);
            command.arg(world.path("password"));
            command.arg("--mqtt-cert").arg(&own.pem).arg("--mqtt-key").arg(&own.key);
            let agent = Process::start(&mut command);
            Wait::block("the agent has subscribed", || broker.is_listened_to());
            agent
        };
        let agent = start();
        (0..500).for_each(|number| broker.publish(TOPIC, row(number)));
        // Larger than what fits into a record of TLS, or a socket.
        broker.publish(TOPIC, row(500) + &" ".repeat(1 << 20));
        wait_for_rows(&world, &names(0..501));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        let status = agent.status();
        assert_eq!(status["mqtt"]["broker"], front.url(), "{status}");
        assert_eq!(status["mqtt"]["brokerUp"], true, "{status}");
        // An aim: a site has little memory. Other systems than Linux do not say.
        assert!(agent.memory().is_none_or(|kib| kib < 30 << 10), "{:?} KiB", agent.memory());
        stranger(&agent);
        // Another connection goes on, as without TLS.
        broker.cut();
        Wait::block("the agent is there again", || {
            agent.status()["mqtt"]["connections"].as_u64() == Some(2) && broker.is_listened_to()
        });
        (501..600).for_each(|number| broker.publish(TOPIC, row(number)));
        wait_for_rows(&world, &names(0..600));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        let error = agent.terminate();
        assert!(error.contains(&format!("reads from {}", front.url())), "{error}");
        // The last words, behind all acknowledgements.
        Wait::block("the broker has heard of its end", || !broker.is_listened_to());
        assert_eq!(broker.state().goodbyes, 1);
        broker.publish(TOPIC, row(600));
        let _agent = start();
        wait_for_rows(&world, &names(0..601));
        assert_eq!(broker.state().stray, 0);
    }
}

/// With the same user and certificate, on a connection of its own; its refusals end nothing.
#[test]
fn rows_are_published_over_tls() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let authority = Authority::new(&world, "authority");
        let clients = Authority::new(&world, "clients");
        let (shown, own) = (authority.sign("broker", |_| ()), clients.sign("dev1", |_| ()));
        let front = Front::start(&broker, config(&shown, Some(&clients.roots()), version == "3"));
        broker.state().login = Some(("me".to_owned(), "secret".to_owned()));
        std::fs::write(world.path("password"), "secret\n").unwrap();
        let lines: String = (0..500).map(|number| row(number) + "\n").collect();
        world.write("dev1", &lines);
        let start = |roots: &Path| {
            let mut command = world.agent_command("dev1");
            command.args(["--follow", "--publish", "rooms", "--publish-to", &front.url()]);
            command.args(["--mqtt-version", version, "--mqtt-user", "me", "--mqtt-password-file"]);
            command.arg(world.path("password")).arg("--mqtt-ca").arg(roots);
            command.arg("--mqtt-cert").arg(&own.pem).arg("--mqtt-key").arg(&own.key);
            Process::start(&mut command)
        };
        let agent = start(&clients.roots());
        Wait::block("the status says why not", || {
            let status = agent.status();
            let why = status["publish"]["brokerError"].as_str().unwrap_or_default();
            why.contains("its certificate is not of the authority in ")
        });
        agent.terminate();
        let agent = start(&authority.roots());
        Wait::block("the rows are published", || broker.taken("rooms").len() >= 500);
        let found: Vec<String> = broker
            .taken("rooms")
            .iter()
            .map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap())
            .map(|row| row["device"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(found, names(0..500));
        // What is left for its last second is to say that it goes.
        Wait::block("the agent knows it", || agent.status()["publish"]["waitingRows"] == 0);
        agent.terminate();
        Wait::block("the broker has heard of its end", || broker.state().goodbyes == 1);
    }
}

/// Another process that comes to the socket by which an agent's own client speaks is closed, and heard by nobody.
#[cfg(target_os = "linux")]
fn stranger(agent: &Process) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};

    let name = format!("@afterbay-edge-mqtt-{}-", agent.child.id());
    let all = std::fs::read_to_string("/proc/net/unix").unwrap();
    let socket = all.lines().find_map(|line| line.rfind(&name).map(|at| &line[at + 1..])).unwrap();
    let address = SocketAddr::from_abstract_name(socket).unwrap();
    let mut stranger = UnixStream::connect_addr(&address).unwrap();
    let wait = Wait::until("the stranger is closed");
    stranger.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    // It may be closed already, with a reset or without.
    let _ = stranger.write_all(b"hello");
    while let Err(error) = stranger.read(&mut [0]) {
        if !is_turn(&error) {
            break;
        }
        wait.check(error);
    }
    assert_eq!(agent.status()["mqtt"]["connections"], 1);
}

#[cfg(not(target_os = "linux"))]
fn stranger(_agent: &Process) {}

#[test]
fn a_broker_that_is_another_one_ends_the_agent() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let (ours, other) = (Authority::new(&world, "ours"), Authority::new(&world, "other"));
    let good = ours.sign("broker", |_| ());
    let front = Front::start(&broker, config(&good, None, false));
    let url = front.url();
    let command = |url: &str, roots: PathBuf| command(&world, url, "5", &roots);
    let mut tried = 0;
    // It does not try again, and has not been told a user or a topic.
    let mut expect = |command: &mut Command, url: &str, what: &[&str]| {
        expect_end(command, url, what);
        tried += 1;
        // Who gives a handshake up that takes too long has seen nothing.
        assert_eq!(front.refusals(), tried, "{what:?}");
        assert!(!broker.is_listened_to());
    };
    let of_roots = ["is not of the authority in ", "other.pem; give --mqtt-ca"];
    expect(&mut command(&url, other.roots()), &url, &of_roots);
    // A certificate of its own, and the file has another one.
    expect(&mut command(&url, world.path("server.pem")), &url, &["is not of the authority in "]);
    let by_address = url.replace("localhost", "127.0.0.1");
    let of_name = ["is not for \"127.0.0.1\"", "--mqtt-server-name", "localhost"];
    expect(&mut command(&by_address, ours.roots()), &by_address, &of_name);
    let old = ours.sign("old", |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    front.show(config(&old, None, false));
    expect(&mut command(&url, ours.roots()), &url, &["has expired; give it a new one"]);
    // The same again, with the name.
    front.show(config(&good, None, false));
    let mut named = command(&by_address, ours.roots());
    let _agent = Process::start(named.args(["--mqtt-server-name", "localhost"]));
    Wait::block("the agent has subscribed", || broker.is_listened_to());
}

/// That of a broker without an authority, as `edge certificate` makes it.
#[test]
fn a_certificate_that_is_signed_by_itself_is_its_own_authority() {
    let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
    let shown = Certificate { pem: world.path("server.pem"), key: world.path("server-key.pem") };
    let front = Front::start(&broker, config(&shown, None, false));
    let mut command = command(&world, &front.url(), "5", &shown.pem);
    let _agent = Process::start(&mut command);
    Wait::block("the agent has subscribed", || broker.is_listened_to());
    // Who forgets that it is TLS is told.
    let plain = front.url().replace("mqtts://", "mqtt://");
    let agent = Process::start(&mut command_at(&world, &plain, "5", "20ms", "other"));
    Wait::block("the status says what it may be", || {
        let status = agent.status();
        let why = status["mqtt"]["brokerError"].as_str().unwrap_or_default();
        why.contains("if it speaks TLS there, give mqtts://")
    });
}

#[test]
fn a_client_that_is_not_wanted_ends() {
    for is_old in [false, true] {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let ours = Authority::new(&world, "ours");
        let (shown, stranger) = (ours.sign("broker", |_| ()), Authority::new(&world, "stranger"));
        let (own, strange) = (ours.sign("dev1", |_| ()), stranger.sign("dev1", |_| ()));
        let front = Front::start(&broker, config(&shown, Some(&ours.roots()), is_old));
        let command = || command(&world, &front.url(), "5", &ours.roots());
        let without = ["it wants a certificate of its clients; give --mqtt-cert and --mqtt-key"];
        expect_end(&mut command(), &front.url(), &without);
        let mut other = command();
        other.arg("--mqtt-cert").arg(&strange.pem).arg("--mqtt-key").arg(&strange.key);
        let with = ["it does not take the certificate ", "stranger-dev1.pem; give --mqtt-cert"];
        expect_end(&mut other, &front.url(), &with);
        // Who it is by TLS is right; by MQTT it is not.
        broker.state().login = Some(("me".to_owned(), "secret".to_owned()));
        std::fs::write(world.path("password"), "guessed\n").unwrap();
        let mut login = command();
        login.arg("--mqtt-cert").arg(&own.pem).arg("--mqtt-key").arg(&own.key);
        login.args(["--mqtt-user", "me", "--mqtt-password-file"]).arg(world.path("password"));
        let with = ["it refuses the user \"me\" or its password; see --mqtt-user"];
        expect_end(&mut login, &front.url(), &with);
    }
}

/// What passes does not end the agent: nobody there, a broker that is started, a clock that is not set yet.
#[test]
fn a_broker_that_is_away_is_waited_for_over_tls() {
    for version in VERSIONS {
        let (world, broker) = (World::new("project", &["dev1"]), Broker::start());
        let _gateway = world.gateway(&[]);
        let ours = Authority::new(&world, "ours");
        let (good, new) = (
            ours.sign("broker", |_| ()),
            ours.sign("new", |params| params.not_before = date_time_ymd(2999, 1, 1)),
        );
        let front = Front::start(&broker, config(&new, None, false));
        front.inner.is_down.store(true, Ordering::SeqCst);
        let agent = Process::start(&mut command(&world, &front.url(), version, &ours.roots()));
        let says = |what: &str| {
            let wait = Wait::until("the status says why");
            loop {
                let status = agent.status();
                let why = status["mqtt"]["brokerError"].as_str().unwrap_or_default();
                if why.contains(what) {
                    break;
                }
                wait.check(status);
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        says("it has closed the connection before TLS stood; if it speaks MQTT without TLS");
        front.inner.is_down.store(false, Ordering::SeqCst);
        says("its certificate is not valid yet; set the clock here");
        front.show(config(&good, None, false));
        Wait::block("the agent has subscribed", || broker.is_listened_to());
        broker.publish(TOPIC, row(0));
        wait_for_rows(&world, &names(0..1));
        // Else it comes twice, as QoS 1 may.
        Wait::block("everything is acknowledged", || broker.kept() == 0);
        // Down again, with connections that have stood.
        front.inner.is_down.store(true, Ordering::SeqCst);
        broker.cut();
        says("it has closed the connection");
        broker.publish(TOPIC, row(1));
        front.inner.is_down.store(false, Ordering::SeqCst);
        wait_for_rows(&world, &names(0..2));
        Wait::block("everything is acknowledged", || broker.kept() == 0);
    }
    let world = World::new("project", &["dev1"]);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("mqtts://{nobody}");
    let mut agent = Process::start(&mut command(&world, &url, "5", &world.path("server.pem")));
    Wait::block("the status says why", || {
        let status = agent.status();
        status["mqtt"]["brokerError"].as_str().is_some_and(|why| why.contains("refused"))
    });
    assert!(!agent.has_ended());
    assert_eq!(rows(&world), Vec::<String>::new());
}

/// Such as the port of its web page.
#[test]
fn what_speaks_no_tls_is_no_broker() {
    let world = World::new("project", &["dev1"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mqtts://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            part(&client);
        }
    });
    let mut command = command(&world, &url, "5", &world.path("server.pem"));
    expect_end(&mut command, &url, &["what it says is no TLS; give --mqtt the port"]);
}

#[test]
fn files_that_are_of_no_use_are_named() {
    let world = World::new("project", &["dev1"]);
    let ours = Authority::new(&world, "ours");
    let (one, two) = (ours.sign("one", |_| ()), ours.sign("two", |_| ()));
    std::fs::write(world.path("empty"), "").unwrap();
    let expect = |roots: &Path, own: Option<(&Path, &Path)>, what: [&str; 2]| {
        let mut command = command(&world, "mqtts://localhost:1", "5", roots);
        if let Some((certificate, key)) = own {
            command.arg("--mqtt-cert").arg(certificate).arg("--mqtt-key").arg(key);
        }
        let (code, _, error) = run(&mut command);
        let begins = "afterbay edge: mqtts://localhost:1: TLS: ";
        assert!(code == 1 && error.starts_with(begins), "{error}");
        what.iter().for_each(|what| assert!(error.contains(what), "{what}: {error}"));
    };
    let (roots, empty) = (ours.roots(), world.path("empty"));
    expect(&world.path("none"), None, ["none: ", "No such file"]);
    expect(&empty, None, ["empty: ", "BEGIN CERTIFICATE"]);
    expect(&roots, Some((&empty, &one.key)), ["empty: ", "BEGIN CERTIFICATE"]);
    expect(&roots, Some((&one.pem, &empty)), ["empty: ", "BEGIN PRIVATE KEY"]);
    expect(&roots, Some((&one.pem, &two.key)), ["ours-one.pem: ", "does not go with the key"]);
    // Who runs the tests may be one who may read everything.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(&one.key, mode).unwrap();
    if std::fs::read(&one.key).is_err() {
        expect(&roots, Some((&one.pem, &one.key)), ["ours-one-key.pem: ", "leave to read it"]);
    }
}
