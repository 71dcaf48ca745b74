//! Messages, and links between two threads.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use afterbay_edge_link::{
    KeyError, Limits, LinkError, Message, Receiver, Refusal, Sender, SiteKey, accept,
    client_config, connect, plain_frames, server_config, server_name,
};
use afterbay_test_form::{PATIENCE, Wait, edge_cases};
use proptest::prelude::*;
use tempfile::TempDir;

const LIMITS: Limits = Limits { handshake: PATIENCE, silence: PATIENCE };

type Accepted = Result<(String, Sender, Receiver), LinkError>;

/// A certificate, and somebody who accepts one connection.
struct Gateway {
    folder: TempDir,
    address: SocketAddr,
    accepted: JoinHandle<Accepted>,
}

fn gateway(key: SiteKey, limits: Limits) -> Gateway {
    gateway_with(limits, false, move |site| Ok((site == "dev1").then(|| key.clone())))
}

fn gateway_with(
    limits: Limits,
    old: bool,
    key_of: impl Fn(&str) -> Result<Option<SiteKey>, KeyError> + Send + 'static,
) -> Gateway {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, private) = certificate(&folder, "gateway");
    let mut config = server_config(&certificate, &private).unwrap();
    if old {
        Arc::make_mut(&mut config).alpn_protocols.clear();
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        accept(socket, config, key_of, limits)
    });
    Gateway { folder, address, accepted }
}

fn certificate(folder: &TempDir, name: &str) -> (PathBuf, PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = folder.path().join(format!("{name}.pem"));
    let private = folder.path().join(format!("{name}-key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&private, made.signing_key.serialize_pem()).unwrap();
    (certificate, private)
}

impl Gateway {
    fn connect(
        &self,
        site: &str,
        key: &SiteKey,
        limits: Limits,
    ) -> Result<(Sender, Receiver), LinkError> {
        let config = client_config(&self.folder.path().join("gateway.pem")).unwrap();
        self.connect_with(config, site, key, limits)
    }

    fn connect_with(
        &self,
        config: Arc<rustls::ClientConfig>,
        site: &str,
        key: &SiteKey,
        limits: Limits,
    ) -> Result<(Sender, Receiver), LinkError> {
        let address = self.address.to_string();
        let name = server_name(&address, Some("localhost")).unwrap();
        connect(&address, name, config, site, key, limits)
    }
}

fn key() -> SiteKey {
    SiteKey::random().unwrap()
}

fn frame(number: usize) -> Message {
    Message::Frame(vec![number as u8; 1 + 997 * (number % 70)])
}

/// A site or a gateway that has never heard of columns names no protocol.
#[test]
fn columns_are_sent_only_if_both_know_them() {
    for (old_site, old_gateway, plain) in [
        (false, false, false),
        (true, false, false),
        (false, true, false),
        (true, true, false),
        (false, false, true),
    ] {
        let key = key();
        let gateway = {
            let known = key.clone();
            gateway_with(LIMITS, old_gateway, move |_| Ok(Some(known.clone())))
        };
        let config = client_config(&gateway.folder.path().join("gateway.pem")).unwrap();
        let mut config = if plain { plain_frames(&config) } else { config };
        if old_site {
            Arc::make_mut(&mut config).alpn_protocols.clear();
        }
        let (sender, _receiver) = gateway.connect_with(config, "dev1", &key, LIMITS).unwrap();
        let (_, back, _) = gateway.accepted.join().unwrap().unwrap();
        let both = !old_site && !old_gateway && !plain;
        assert_eq!(sender.takes_columns(), both, "{old_site} {old_gateway} {plain}");
        assert_eq!(back.takes_columns(), both);
    }
}

/// Both say more than a socket takes, at once.
#[test]
fn both_directions_at_once() {
    let key = key();
    let gateway = gateway(key.clone(), LIMITS);
    let (sender, mut receiver) = gateway.connect("dev1", &key, LIMITS).unwrap();
    let (site, back, mut there) = gateway.accepted.join().unwrap().unwrap();
    assert_eq!(site, "dev1");
    const COUNT: usize = 1000;
    let says = |sender: Sender| {
        std::thread::spawn(move || {
            (0..COUNT).for_each(|number| sender.send(&frame(number)).unwrap());
        })
    };
    let (site, cloud) = (says(sender.clone()), says(back));
    let heard = std::thread::spawn(move || {
        (0..COUNT).for_each(|number| assert_eq!(there.receive().unwrap(), frame(number)));
        there
    });
    (0..COUNT).for_each(|number| assert_eq!(receiver.receive().unwrap(), frame(number)));
    site.join().unwrap();
    cloud.join().unwrap();
    let mut there = heard.join().unwrap();
    sender.close();
    assert!(matches!(there.receive(), Err(LinkError::Closed | LinkError::Io(_))));
    assert!(receiver.receive().is_err());
}

#[test]
fn who_does_not_know_the_secret_is_refused() {
    let right = key();
    for (site, key) in [
        ("dev1", SiteKey { secret: key().secret, ..right.clone() }),
        ("dev1", SiteKey { access: "AB".to_owned(), ..right.clone() }),
        ("dev2", right.clone()),
    ] {
        let gateway = gateway(right.clone(), LIMITS);
        let refused = gateway.connect(site, &key, LIMITS).unwrap_err();
        assert!(matches!(&refused, LinkError::Refused { refusal: Refusal::Key, .. }), "{refused}");
        let error = gateway.accepted.join().unwrap().unwrap_err().to_string();
        assert!(error.contains(&format!("of site {site} is not known")), "{error}");
    }
}

#[test]
fn another_certificate_is_not_trusted() {
    let key = key();
    let gateway = gateway(key.clone(), LIMITS);
    let (other, _) = certificate(&gateway.folder, "other");
    let config = client_config(&other).unwrap();
    let error = gateway.connect_with(config, "dev1", &key, LIMITS).unwrap_err().to_string();
    assert!(error.starts_with("TLS: ") && error.contains("--tls-roots"), "{error}");
    assert!(gateway.accepted.join().unwrap().is_err());
}

/// Somebody who is there and says nothing is as good as nobody.
#[test]
fn a_silent_link_ends() {
    let key = key();
    let gateway = gateway(key.clone(), LIMITS);
    let silent = Limits { silence: Duration::from_millis(50), ..LIMITS };
    let (_sender, mut receiver) = gateway.connect("dev1", &key, silent).unwrap();
    let error = receiver.receive().unwrap_err();
    assert!(matches!(error, LinkError::Silent(_)), "{error}");
    drop(gateway.accepted);
}

/// A byte now and then does not hold a place: the handshake has one deadline for all of it.
#[test]
fn a_handshake_that_never_ends_is_ended() {
    let limits = Limits { handshake: Duration::from_millis(300), ..LIMITS };
    // A record of TLS that has 16 KiB, and somebody who says that it has begun, is fast, and then slow.
    for fast in [0, 1000] {
        let gateway = gateway(key(), limits);
        let mut socket = std::net::TcpStream::connect(gateway.address).unwrap();
        let mut bytes = vec![0x16, 3, 1, 0x3F, 0xFF, 1, 0, 0x3F, 0xF0, 3, 3];
        bytes.resize(11 + fast, 0);
        std::io::Write::write_all(&mut socket, &bytes).unwrap();
        let wait = Wait::until("it is ended");
        while !gateway.accepted.is_finished() {
            wait.check(fast);
            // Who has been closed says nothing more.
            let _ = std::io::Write::write_all(&mut socket, &[0]);
            std::thread::sleep(Duration::from_millis(20));
        }
        let error = gateway.accepted.join().unwrap().unwrap_err();
        assert!(matches!(error, LinkError::Slow(_)), "{error}");
    }
    // The same for a site whose gateway never says hello.
    let gateway = gateway(key(), LIMITS);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = Gateway { address: listener.local_addr().unwrap(), ..gateway };
    let error = silent.connect("dev1", &key(), limits).unwrap_err();
    assert!(matches!(error, LinkError::Slow(_)), "{error}");
}

/// A key that cannot be read just now is not a key that is not known.
#[test]
fn a_key_that_cannot_be_read_is_no_refusal_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let (path, key) = (folder.path().to_owned(), key());
    let gateway = gateway_with(LIMITS, false, move |_| match SiteKey::read(&path) {
        Err(error) if error.is_missing() => Ok(None),
        read => read.map(Some),
    });
    let refused = gateway.connect("dev1", &key, LIMITS).unwrap_err();
    assert!(
        matches!(&refused, LinkError::Refused { refusal: Refusal::Busy, text }
            if text.contains("cannot read the key of site dev1 just now") && !text.contains("/")),
        "{refused}"
    );
    assert!(matches!(gateway.accepted.join().unwrap(), Err(LinkError::Key(_))));
    assert!(SiteKey::read(&folder.path().join("none")).unwrap_err().is_missing());
}

/// Before somebody is known, no large message is taken.
#[test]
fn a_stranger_says_little() {
    let key = key();
    let gateway = gateway(key.clone(), LIMITS);
    let long = "x".repeat(2000);
    assert!(gateway.connect(&long, &key, LIMITS).is_err());
    let error = gateway.accepted.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("1024 are allowed here"), "{error}");
}

#[test]
fn keys_are_for_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dev1.key");
    let key = key();
    key.write_new(&path).unwrap();
    assert_eq!(SiteKey::read(&path).unwrap(), key);
    assert!(!format!("{key:?}").contains(&key.secret));
    let error = key.write_new(&path).unwrap_err().to_string();
    assert!(error.contains("dev1.key: File exists"), "{error}");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let error = SiteKey::read(&path).unwrap_err().to_string();
    assert!(error.contains("mode 640"), "{error}");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::write(&path, "access-key = x\nsecret-key = short\n").unwrap();
    let error = SiteKey::read(&path).unwrap_err().to_string();
    assert!(error.contains("16 characters or more"), "{error}");
}

fn message() -> impl Strategy<Value = Message> {
    let text = "[a-zä]{0,20}";
    prop_oneof![
        any::<[u8; 32]>().prop_map(|nonce| Message::Hello { nonce }),
        (text, text, any::<[u8; 32]>(), any::<[u8; 32]>())
            .prop_map(|(site, key, nonce, proof)| Message::Prove { site, key, nonce, proof }),
        any::<[u8; 32]>().prop_map(|proof| Message::Welcome { proof }),
        (0_usize..6, text).prop_map(|(index, text)| {
            let all = [
                Refusal::Key,
                Refusal::Fenced,
                Refusal::Columns,
                Refusal::Protocol,
                Refusal::Busy,
                Refusal::Forgotten,
            ];
            Message::Refused { refusal: all[index], text }
        }),
        (text, any::<[u64; 2]>(), prop::collection::vec(text, 0..5)).prop_map(
            |(stream, [epoch, acknowledged], columns)| Message::Open {
                stream,
                epoch,
                acknowledged,
                columns
            }
        ),
        (text, any::<u64>(), any::<u64>()).prop_map(|(stream, epoch, next)| Message::Next {
            stream,
            epoch,
            next
        }),
        prop::collection::vec(any::<u8>(), 0..50).prop_map(Message::Frame),
        (text, any::<[u64; 4]>()).prop_map(|(stream, [epoch, from, to, rows])| Message::Skip {
            stream,
            epoch,
            from,
            to,
            rows
        }),
        Just(Message::Ping),
        Just(Message::Pong),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn what_is_said_is_heard(message in message()) {
        let bytes = message.encode();
        prop_assert_eq!(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize, bytes.len() - 4);
        prop_assert_eq!(Message::decode(&bytes[4..]).unwrap(), message.clone());
        if !matches!(message, Message::Frame(_)) {
            for length in 4..bytes.len() {
                prop_assert!(Message::decode(&bytes[4..length]).is_err());
            }
            prop_assert!(Message::decode(&[&bytes[4..], &[0]].concat()).is_err());
        }
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0_u8..12) {
        if let Ok(message) = Message::decode(&[&[kind], &bytes[..]].concat()) {
            prop_assert_eq!(Message::decode(&message.encode()[4..]).unwrap(), message);
        }
    }
}
