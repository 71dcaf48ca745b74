//! What a connection between nodes runs over: TCP, and TLS 1.3 on it if the map names certificates.
//!
//! Each node shows its certificate, and is the one of which the map names it; authorities, names and times of certificates do not
//! count. `cluster status` shows none, and is known by the cluster's key.

use std::io;

use afterbay_blob_cluster::{Fingerprint, NodeId};
use afterbay_blob_proto::Binding;
use afterbay_tls::{digest_of, other_certificate, pinned_client_config};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::{TlsAcceptor, TlsConnector, rustls};

use crate::membership::Membership;
use crate::refusal::{Refused, certificate_there, closed, plaintext_there, tls_failed};

/// How a connection begins that speaks TLS: with the record of a handshake. A node's hello begins with another byte.
pub(crate) const TLS_RECORD: u8 = 22;
/// RFC 9266.
const EXPORTER: &[u8] = b"EXPORTER-Channel-Binding";

pub(crate) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// One of the two. What is written has to be flushed.
pub(crate) type Stream = Box<dyn Duplex>;

/// What is known of a connection before its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) is_tls: bool,
    /// Ties the proofs of the cluster's key to this session: they cannot be handed on from another one.
    pub(crate) binding: Binding,
    /// The certificate that the other side has shown.
    pub(crate) shown: Option<Fingerprint>,
}

impl Session {
    pub(crate) const PLAINTEXT: Session = Session { is_tls: false, binding: [0; 32], shown: None };

    fn of(
        binding: Result<Binding, rustls::Error>,
        shown: Option<&[CertificateDer<'_>]>,
    ) -> io::Result<Self> {
        let binding = binding.map_err(io::Error::other)?;
        let shown = shown.and_then(|chain| chain.first());
        let shown = shown.map(|certificate| Fingerprint(digest_of(certificate)));
        Ok(Session { is_tls: true, binding, shown })
    }
}

/// Begins a connection to `to` by what the map says. With TLS, that it is `to` is proved.
pub(crate) async fn begin(
    stream: TcpStream,
    own: &Membership,
    to: &NodeId,
) -> io::Result<(Stream, Session)> {
    if !own.map.is_tls() {
        return Ok((Box::new(stream) as Stream, Session::PLAINTEXT));
    }
    let named = own.map.certificates_of(to).iter().map(|fingerprint| fingerprint.0).collect();
    let config = pinned_client_config(own.identity.as_ref(), named).map_err(io::Error::other)?;
    // It is not sent.
    let name = ServerName::try_from("node").map_err(io::Error::other)?;
    let connected = TlsConnector::from(config).connect(name, stream).await;
    let stream = connected.map_err(|error| not_begun(error, own, to))?;
    let (_, tls) = stream.get_ref();
    let binding = tls.export_keying_material([0; 32], EXPORTER, Some(b""));
    let session = Session::of(binding, tls.peer_certificates())?;
    Ok((Box::new(stream) as Stream, session))
}

fn not_begun(error: io::Error, own: &Membership, to: &NodeId) -> io::Error {
    if let Some(found) = other_certificate(&error) {
        return certificate_there(own, to, Fingerprint(found));
    }
    match of_tls(&error) {
        Some(rustls::Error::InvalidMessage(_)) => plaintext_there(to),
        Some(_) => tls_failed(&error, to),
        None => closed(error, to),
    }
}

fn of_tls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Takes a connection. Who speaks plaintext to a node that speaks TLS is let in so far that the handshake can tell it so.
pub(crate) async fn take(
    stream: TcpStream,
    own: &Membership,
) -> io::Result<Result<(Stream, Session), Refused>> {
    let plaintext = |stream: TcpStream| Ok(Ok((Box::new(stream) as Stream, Session::PLAINTEXT)));
    let Some(identity) = &own.identity else { return plaintext(stream) };
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 || first != [TLS_RECORD] {
        return plaintext(stream);
    }
    let stream = match TlsAcceptor::from(identity.server_config()).accept(stream).await {
        Ok(stream) => stream,
        Err(error) => return not_taken(error, own).map(Err),
    };
    let (_, tls) = stream.get_ref();
    let binding = tls.export_keying_material([0; 32], EXPORTER, Some(b""));
    let session = Session::of(binding, tls.peer_certificates())?;
    Ok(Ok((Box::new(stream) as Stream, session)))
}

fn not_taken(error: io::Error, own: &Membership) -> io::Result<Refused> {
    match of_tls(&error) {
        Some(rustls::Error::AlertReceived(_)) => Ok(Refused::not_taken(own, &error)),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::{Arc, Mutex};

    use afterbay_blob_cluster::ClusterMap;
    use afterbay_test_form::PATIENCE;
    use afterbay_tls::Identity;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use crate::handshake::{Peer, accept, connect};
    use crate::membership::ClusterKey;

    use super::*;

    fn identity() -> Identity {
        let made = rcgen::generate_simple_self_signed(vec!["node".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        fs::write(&certificate, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        Identity::read(&certificate, &key).unwrap()
    }

    /// Two nodes, known by these certificates, or that speak plaintext.
    fn map(certificates: Option<[&Identity; 2]>) -> Arc<ClusterMap> {
        let certificate = |at: usize| {
            let of = |all: [&Identity; 2]| format!("certificate = \"{}\"\n", print(all[at]));
            certificates.map(of).unwrap_or_default()
        };
        let text = format!(
            "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n{}[[node]]\nid = \"n2\"\naddress = \"b:1\"\n{}[[partition]]\n\
             id = 1\nreplicas = [\"n1\", \"n2\"]\n",
            certificate(0),
            certificate(1)
        );
        Arc::new(ClusterMap::parse("map.toml", &text).unwrap())
    }

    fn print(identity: &Identity) -> Fingerprint {
        Fingerprint(identity.digest())
    }

    fn member(node: &str, map: &Arc<ClusterMap>, identity: Option<&Identity>) -> Membership {
        let key = ClusterKey::new("AB", "secret");
        let own = Membership::node(NodeId::new(node), map.clone(), key);
        own.with_identity(identity.cloned()).unwrap()
    }

    fn observer(map: &Arc<ClusterMap>) -> Membership {
        Membership::observer(map.clone(), ClusterKey::new("AB", "secret"))
    }

    type Met = (Result<Stream, String>, Result<(Peer, Stream), String>);

    /// `from` connects to `at`, and wants it to be n2. `seen` gets all that goes there.
    async fn meet(from: &Membership, at: &Membership, seen: Arc<Mutex<Vec<u8>>>) -> Met {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let relay = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let by_relay = relay.local_addr().unwrap();
        tokio::spawn(async move {
            let (near, _) = relay.accept().await.unwrap();
            let far = TcpStream::connect(address).await.unwrap();
            let ((mut near_in, mut near_out), (mut far_in, mut far_out)) =
                (near.into_split(), far.into_split());
            let there = async move {
                let mut buffer = vec![0; 64 << 10];
                while let Ok(count @ 1..) = near_in.read(&mut buffer).await {
                    seen.lock().unwrap().extend_from_slice(&buffer[..count]);
                    if far_out.write_all(&buffer[..count]).await.is_err() {
                        break;
                    }
                }
            };
            // That a side is gone is no matter here.
            let back = async move { drop(tokio::io::copy(&mut far_in, &mut near_out).await) };
            tokio::join!(there, back);
        });
        let connected = async {
            let stream = TcpStream::connect(by_relay).await.unwrap();
            let to = NodeId::new("n2");
            let (mut stream, session) = begin(stream, from, &to).await?;
            connect(&mut stream, from, &to, &session).await?;
            Ok::<_, io::Error>(stream)
        };
        let accepted = async {
            let (stream, _) = listener.accept().await.unwrap();
            let (mut stream, session) = match take(stream, at).await? {
                Ok(taken) => taken,
                Err(refused) => return Ok(Err(refused)),
            };
            let accepted = accept(&mut stream, at, &session).await?;
            Ok::<_, io::Error>(accepted.map(|peer| (peer, stream)))
        };
        let met = timeout(PATIENCE, async { tokio::join!(connected, accepted) });
        let (connected, accepted) = met.await.unwrap();
        let accepted = match accepted {
            Ok(Ok(accepted)) => Ok(accepted),
            Ok(Err(refused)) => Err(refused.to_string()),
            Err(error) => Err(error.to_string()),
        };
        (connected.map_err(|error| error.to_string()), accepted)
    }

    /// What both say when they do not meet.
    async fn refusals(from: &Membership, at: &Membership) -> (String, String) {
        let (connected, accepted) = meet(from, at, Arc::default()).await;
        (connected.err().unwrap(), accepted.err().unwrap())
    }

    /// Whether who listens on the way reads what a node says.
    async fn is_read_on_the_way(from: &Membership, at: &Membership) -> bool {
        const SECRET: &[u8] = b"what is in a blob";
        let seen = Arc::<Mutex<Vec<u8>>>::default();
        let (connected, accepted) = meet(from, at, seen.clone()).await;
        let (mut there, (peer, mut here)) = (connected.unwrap(), accepted.unwrap());
        assert_eq!(peer, Peer::Node(NodeId::new("n1")));
        there.write_all(SECRET).await.unwrap();
        there.flush().await.unwrap();
        let mut found = [0; SECRET.len()];
        timeout(PATIENCE, here.read_exact(&mut found)).await.unwrap().unwrap();
        assert_eq!(found, SECRET);
        let seen = seen.lock().unwrap();
        assert!(seen.len() > SECRET.len());
        seen.windows(SECRET.len()).any(|bytes| bytes == SECRET)
    }

    #[tokio::test]
    async fn what_nodes_say_is_encrypted_if_the_map_says_so() {
        let (one, two) = (identity(), identity());
        let tls = map(Some([&one, &two]));
        let (n1, n2) = (member("n1", &tls, Some(&one)), member("n2", &tls, Some(&two)));
        assert!(!is_read_on_the_way(&n1, &n2).await);
        let (connected, accepted) = meet(&observer(&tls), &n2, Arc::default()).await;
        assert!(connected.is_ok());
        assert_eq!(accepted.unwrap().0, Peer::Observer);
        let plain = map(None);
        let (n1, n2) = (member("n1", &plain, None), member("n2", &plain, None));
        assert!(is_read_on_the_way(&n1, &n2).await, "or nothing would be noticed");
    }

    #[tokio::test]
    async fn who_shows_another_certificate_is_refused_by_both() {
        let (one, two, other) = (identity(), identity(), identity());
        let tls = map(Some([&one, &two]));
        let n1 = member("n1", &tls, Some(&one));
        let liar = member("n2", &tls, Some(&other));
        let both = format!("n2 shows certificate {}, and", print(&other));
        let names = |whose: &str| format!("{whose} names {}: its n2-cert.pem", print(&two));
        let (connected, accepted) = refusals(&n1, &liar).await;
        assert!(connected.starts_with(&both), "{connected}");
        assert!(connected.contains(&names("the map of n1")), "{connected}");
        let says = format!("does not take the certificate that n2 shows, {} (", print(&other));
        assert!(accepted.contains(&says), "{accepted}");
        assert!(accepted.ends_with("names this one, and start it again"), "{accepted}");
        let way = "if the one it shows is its new one, give n1 a map.toml that names it, and start n1 again";
        assert!(connected.ends_with(way), "{connected}");
        let (connected, _) = refusals(&observer(&tls), &liar).await;
        assert!(connected.contains(&names("the map here")), "{connected}");
        assert!(connected.ends_with("use a map.toml that names it"), "{connected}");
        let n2 = member("n2", &tls, Some(&two));
        let liar = member("n1", &tls, Some(&other));
        let (connected, accepted) = refusals(&liar, &n2).await;
        let says = format!("n1 shows certificate {}, and the map of n2 names", print(&other));
        assert!(accepted.starts_with(&says), "{accepted}");
        assert_eq!(connected, accepted);
        // One of another node is another one too.
        let liar = member("n1", &tls, Some(&two));
        let (_, accepted) = refusals(&liar, &n2).await;
        assert!(accepted.starts_with("n1 shows certificate"), "{accepted}");
        let silent = Membership { identity: None, ..n1 };
        let (_, accepted) = refusals(&silent, &n2).await;
        assert!(accepted.starts_with("n1 shows no certificate, and"), "{accepted}");
        assert!(
            accepted.ends_with("n1-key.pem of that certificate, and start it again"),
            "{accepted}"
        );
    }

    #[tokio::test]
    async fn who_speaks_plaintext_and_who_does_not_are_told() {
        let (one, two) = (identity(), identity());
        let (tls, plain) = (map(Some([&one, &two])), map(None));
        let n2 = member("n2", &tls, Some(&two));
        for (from, who) in
            [(member("n1", &plain, None), "n1 plaintext"), (observer(&plain), "who asks plaintext")]
        {
            let (connected, accepted) = refusals(&from, &n2).await;
            assert!(accepted.starts_with(&format!("n2 speaks TLS, and {who}")), "{accepted}");
            assert_eq!(connected, accepted);
        }
        let n2 = member("n2", &plain, None);
        for from in [member("n1", &tls, Some(&one)), observer(&tls)] {
            let (connected, accepted) = refusals(&from, &n2).await;
            assert!(connected.starts_with("n2 does not speak TLS, and"), "{connected}");
            assert!(
                accepted.starts_with("n2 speaks plaintext, and who connects TLS"),
                "{accepted}"
            );
        }
    }

    #[test]
    fn a_node_of_a_map_with_certificates_has_one() {
        let (one, two) = (identity(), identity());
        let own = |map| Membership::node(NodeId::new("n1"), map, ClusterKey::new("AB", "secret"));
        let tls = map(Some([&one, &two]));
        let refused = own(tls).with_identity(None).unwrap_err().to_string();
        assert!(refused.contains("n1 has none"), "{refused}");
        let plain = own(map(None)).with_identity(Some(one)).unwrap();
        assert!(plain.identity.is_none(), "it speaks plaintext all the same");
    }
}
