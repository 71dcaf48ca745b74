//! How a connection between nodes begins: both sides prove that they know the cluster's key, and say of which cluster, by which
//! map and in which version they speak. Who does not fit is told why.
//!
//! ```text
//!  who connects                                            who accepts
//!    magic, version, length, hello                 ----->
//!                                                  <-----  magic, version, code, length, random number or text
//!    proof                                         ----->
//!                                                  <-----  code, length, proof or text
//!
//!  hello: role | name | whom it wants | cluster | map's version | map's digest | random number
//! ```
//!
//! Texts have a length of one byte before them; numbers are big-endian. The proofs are those of the native protocol
//! ([`afterbay_blob_proto`], HMAC-SHA256 over both random numbers), over all that both have said, and on TLS over what ties them
//! to the session ([`crate::tls`]). On plaintext, what is sent afterwards is neither encrypted nor signed.

use std::io;

use afterbay_blob_cluster::NodeId;
use afterbay_blob_proto::{Nonce, client_proof, prove, server_proof};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::membership::Membership;
use crate::refusal::{
    Caller, Code, Refused, closed, key_there, malformed_there, no_node_there, refused,
    version_there,
};
use crate::tls::{Session, TLS_RECORD};

const MAGIC: &[u8; 8] = b"AFTRBNOD";
/// Of the handshake and of all that follows.
const VERSION: u16 = 1;
const HELLO_BYTES_MAX: u16 = 1024;
const TEXT_BYTES_MAX: usize = 1024;

/// Who has connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Peer {
    Node(NodeId),
    /// Asks how the node is.
    Observer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hello {
    is_node: bool,
    from: String,
    to: String,
    cluster: String,
    map_version: u64,
    map_digest: u64,
    nonce: Nonce,
}

impl Hello {
    fn encode(&self) -> Vec<u8> {
        let mut out = vec![u8::from(self.is_node)];
        for text in [&self.from, &self.to, &self.cluster] {
            // Names of nodes and keys are shorter.
            let length = text.len().min(u8::MAX.into());
            out.push(length as u8);
            out.extend_from_slice(&text.as_bytes()[..length]);
        }
        out.extend_from_slice(&self.map_version.to_be_bytes());
        out.extend_from_slice(&self.map_digest.to_be_bytes());
        out.extend_from_slice(&self.nonce);
        out
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (role, mut rest) = bytes.split_first()?;
        let mut text = || {
            let (length, after) = rest.split_first()?;
            let (text, after) = after.split_at_checked((*length).into())?;
            rest = after;
            String::from_utf8(text.to_vec()).ok()
        };
        let (from, to, cluster) = (text()?, text()?, text()?);
        let (map_version, rest) = rest.split_first_chunk()?;
        let (map_digest, rest) = rest.split_first_chunk()?;
        Some(Hello {
            is_node: *role == 1,
            from,
            to,
            cluster,
            map_version: u64::from_be_bytes(*map_version),
            map_digest: u64::from_be_bytes(*map_digest),
            nonce: rest.try_into().ok()?,
        })
    }

    /// What the proofs are about besides the random numbers.
    fn claims(&self) -> String {
        let Hello { is_node, from, to, cluster, map_version, map_digest, .. } = self;
        format!("{cluster}/{is_node}/{from}/{to}/{map_version}/{map_digest:016x}")
    }
}

fn nonce() -> io::Result<Nonce> {
    let mut nonce = Nonce::default();
    SystemRandom::new().fill(&mut nonce).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(nonce)
}

/// Begins a connection to `to`. An error says what the other side has against it.
pub(crate) async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    own: &Membership,
    to: &NodeId,
    session: &Session,
) -> io::Result<()> {
    let hello = Hello {
        is_node: own.node.is_some(),
        from: own.name().to_owned(),
        to: to.as_str().to_owned(),
        cluster: own.key.name().to_owned(),
        map_version: own.map.version,
        map_digest: own.map_digest,
        nonce: nonce()?,
    };
    let (encoded, claims, secret) = (hello.encode(), hello.claims(), own.key.secret());
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&VERSION.to_be_bytes());
    out.extend_from_slice(&(encoded.len() as u16).to_be_bytes());
    out.extend_from_slice(&encoded);
    send(stream, &out).await?;
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic).await.map_err(|e| closed(e, to))?;
    if magic != *MAGIC {
        return Err(no_node_there());
    }
    let version = stream.read_u16().await?;
    if version != VERSION {
        return Err(version_there(to, version, VERSION));
    }
    let answer = answer(stream, to).await?;
    let other: Nonce = answer.try_into().map_err(|_| malformed_there(to))?;
    let proof = client_proof(secret, &claims, &other, &hello.nonce, &session.binding);
    send(stream, &proof).await?;
    let found = self::answer(stream, to).await?;
    let found = found.try_into().map_err(|_| malformed_there(to))?;
    let expected = server_proof(secret, &claims, &other, &hello.nonce, &session.binding);
    if prove(&expected, &found) { Ok(()) } else { Err(key_there(own, to)) }
}

/// TLS keeps what is not flushed.
async fn send<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// What follows a code, if it is a good one.
async fn answer<S: AsyncRead + Unpin>(stream: &mut S, to: &NodeId) -> io::Result<Vec<u8>> {
    let code = stream.read_u8().await.map_err(|e| closed(e, to))?;
    let length = stream.read_u16().await?.into();
    if length > TEXT_BYTES_MAX {
        return Err(malformed_there(to));
    }
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).await?;
    if code == Code::Fine as u8 {
        return Ok(answer);
    }
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let text: String = String::from_utf8_lossy(&answer).chars().map(shown).collect();
    Err(refused(text))
}

/// Sees who has connected. Who is refused is told why.
pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    own: &Membership,
    session: &Session,
) -> io::Result<Result<Peer, Refused>> {
    let greeted = match greet(stream, own, session).await? {
        Ok(hello) => prove_each_other(stream, own, session, hello).await?,
        Err(refused) => {
            let mut out = MAGIC.to_vec();
            out.extend_from_slice(&VERSION.to_be_bytes());
            out.extend(coded(refused.code, refused.text.as_bytes()));
            send(stream, &out).await?;
            Err(refused)
        }
    };
    Ok(greeted)
}

fn coded(code: Code, payload: &[u8]) -> Vec<u8> {
    let payload = &payload[..payload.len().min(TEXT_BYTES_MAX)];
    let length = (payload.len() as u16).to_be_bytes();
    [&[code as u8], &length[..], payload].concat()
}

/// Reads a hello that this node can do with.
async fn greet<S: AsyncRead + Unpin>(
    stream: &mut S,
    own: &Membership,
    session: &Session,
) -> io::Result<Result<Hello, Refused>> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic).await?;
    if !session.is_tls && magic.starts_with(&[TLS_RECORD]) {
        return Ok(Err(Refused::tls_to_plaintext(own)));
    }
    if magic != *MAGIC {
        return Ok(Err(Refused::no_node(own)));
    }
    let version = stream.read_u16().await?;
    if version != VERSION {
        return Ok(Err(Refused::other_version(version, VERSION)));
    }
    let length = stream.read_u16().await?;
    let mut bytes = vec![0; length.min(HELLO_BYTES_MAX).into()];
    stream.read_exact(&mut bytes).await?;
    let Some(hello) = Hello::parse(&bytes) else {
        return Ok(Err(Refused::no_hello()));
    };
    Ok(match hello.against(own, session) {
        Some(refused) => Err(refused),
        None => Ok(hello),
    })
}

impl Hello {
    /// What a node has against who says so.
    fn against(&self, own: &Membership, session: &Session) -> Option<Refused> {
        let name = own.name();
        if self.cluster != own.key.name() {
            return Some(Refused::other_cluster(own, self.caller(), &self.cluster));
        }
        if self.to != name {
            return Some(Refused::other_node_wanted(own, self.caller(), &self.to));
        }
        if own.map.is_tls() && !session.is_tls {
            return Some(Refused::plaintext_to_tls(own, self.caller()));
        }
        if !self.is_node {
            return None;
        }
        if self.from == name || !own.map.nodes.keys().any(|node| node.as_str() == self.from) {
            return Some(Refused::none_of_the_map(own, self.caller()));
        }
        let from = NodeId::new(&self.from);
        let is_known = |shown| own.map.certificates_of(&from).contains(&shown);
        if own.map.is_tls() && !session.shown.is_some_and(is_known) {
            return Some(Refused::other_certificate(own, &from, session.shown));
        }
        if (self.map_version, self.map_digest) != (own.map.version, own.map_digest) {
            return Some(Refused::other_map(own, self.caller(), self.map_version));
        }
        None
    }

    fn caller(&self) -> Caller<'_> {
        Caller { is_node: self.is_node, name: &self.from }
    }

    fn peer(&self) -> Peer {
        if self.is_node { Peer::Node(NodeId::new(&self.from)) } else { Peer::Observer }
    }
}

async fn prove_each_other<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    own: &Membership,
    session: &Session,
    hello: Hello,
) -> io::Result<Result<Peer, Refused>> {
    let nonce = nonce()?;
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&VERSION.to_be_bytes());
    out.extend(coded(Code::Fine, &nonce));
    send(stream, &out).await?;
    let mut found = [0; 32];
    stream.read_exact(&mut found).await?;
    let (claims, secret) = (hello.claims(), own.key.secret());
    let expected = client_proof(secret, &claims, &nonce, &hello.nonce, &session.binding);
    if !prove(&expected, &found) {
        let refused = Refused::other_key(own, hello.caller());
        send(stream, &coded(refused.code, refused.text.as_bytes())).await?;
        return Ok(Err(refused));
    }
    let proof = server_proof(secret, &claims, &nonce, &hello.nonce, &session.binding);
    send(stream, &coded(Code::Fine, &proof)).await?;
    Ok(Ok(hello.peer()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use afterbay_blob_cluster::ClusterMap;

    use crate::membership::ClusterKey;

    use super::*;

    const MAP: &str = "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n[[node]]\nid = \"n2\"\naddress = \"b:1\"\n\
                       [[partition]]\nid = 1\nreplicas = [\"n1\", \"n2\"]\n";

    fn member(node: &str, map: &str, key: (&str, &str)) -> Membership {
        let map = Arc::new(ClusterMap::parse("map.toml", map).unwrap());
        Membership::node(NodeId::new(node), map, ClusterKey::new(key.0, key.1))
    }

    const KEY: (&str, &str) = ("ABCLUSTER", "a secret of the cluster");

    async fn meet(
        from: &Membership,
        to: &str,
        at: &Membership,
    ) -> (Result<(), String>, Result<Peer, (Code, String)>) {
        meet_over(from, to, at, [Session::PLAINTEXT; 2]).await
    }

    /// By what each of the two takes for the session.
    async fn meet_over(
        from: &Membership,
        to: &str,
        at: &Membership,
        sessions: [Session; 2],
    ) -> (Result<(), String>, Result<Peer, (Code, String)>) {
        let (mut a, mut b) = tokio::io::duplex(4096);
        let to = NodeId::new(to);
        let connecting = connect(&mut a, from, &to, &sessions[0]);
        let (connected, accepted) = tokio::join!(connecting, accept(&mut b, at, &sessions[1]));
        let accepted = accepted.unwrap().map_err(|refused| (refused.code, refused.from));
        (connected.map_err(|error| error.to_string()), accepted)
    }

    #[tokio::test]
    async fn who_fits_is_let_in() {
        let (n1, n2) = (member("n1", MAP, KEY), member("n2", MAP, KEY));
        let met = meet(&n1, "n2", &n2).await;
        assert_eq!(met, (Ok(()), Ok(Peer::Node(NodeId::new("n1")))));
        let observer = Membership { node: None, ..n1.clone() };
        assert_eq!(meet(&observer, "n2", &n2).await, (Ok(()), Ok(Peer::Observer)));
        let other_map = member("n1", &MAP.replace("version = 1", "version = 7"), KEY);
        let observer = Membership { node: None, ..other_map };
        assert_eq!(meet(&observer, "n2", &n2).await.0, Ok(()), "to see what is wrong");
    }

    #[tokio::test]
    async fn a_proof_is_of_one_session() {
        let (n1, n2) = (member("n1", MAP, KEY), member("n2", MAP, KEY));
        let session = |byte| Session { is_tls: true, binding: [byte; 32], shown: None };
        let met = meet_over(&n1, "n2", &n2, [session(1), session(1)]).await;
        assert_eq!(met, (Ok(()), Ok(Peer::Node(NodeId::new("n1")))));
        // Somebody between two sessions hands on what they say.
        let (_, accepted) = meet_over(&n1, "n2", &n2, [session(1), session(2)]).await;
        assert_eq!(accepted.unwrap_err(), (Code::Key, "n1".to_owned()));
    }

    #[tokio::test]
    async fn who_does_not_is_told_why_by_name() {
        let n2 = member("n2", MAP, KEY);
        let three =
            MAP.replace("[[partition]]", "[[node]]\nid = \"n3\"\naddress = \"c:1\"\n[[partition]]");
        for (from, to, code, says) in [
            (member("n1", MAP, ("ABOTHER", "x")), "n2", Code::Cluster, "of cluster ABOTHER"),
            (
                member("n1", MAP, (KEY.0, "wrong")),
                "n2",
                Code::Key,
                "n1 does not know the key of cluster ABCLUSTER",
            ),
            (member("n1", MAP, KEY), "n3", Code::Node, "n2 listens here, and n3 was wanted"),
            (member("n3", &three, KEY), "n2", Code::Node, "n3 is none of the other nodes"),
            (member("n2", MAP, KEY), "n2", Code::Node, "n2 is none of the other nodes"),
            (
                member("n1", &MAP.replace("version = 1", "version = 2"), KEY),
                "n2",
                Code::Map,
                "version 2, of another version",
            ),
            (
                member("n1", &MAP.replace("[\"n1\", \"n2\"]", "[\"n1\"]"), KEY),
                "n2",
                Code::Map,
                "with other replicas",
            ),
        ] {
            let (connected, accepted) = meet(&from, to, &n2).await;
            let refused = connected.unwrap_err();
            assert!(refused.contains(says), "{refused}");
            assert_eq!(accepted.unwrap_err(), (code, from.name().to_owned()));
        }
    }

    /// Why `from` does not take n2 for what it is.
    async fn refused_by(stream: &mut tokio::io::DuplexStream, from: &Membership) -> String {
        let connected = connect(stream, from, &NodeId::new("n2"), &Session::PLAINTEXT).await;
        connected.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn other_versions_and_other_programs_are_named() {
        let n2 = member("n2", MAP, KEY);
        for (sent, says) in [
            (&b"AFTRBNOD\x00\x09\x00\x00"[..], "speaks version 9"),
            (b"GET / HTTP/1.1\r\n\r\n", "listens here"),
            (b"AFTRBNOD\x00\x01\x00\x02xy", "no hello"),
        ] {
            let (mut a, mut b) = tokio::io::duplex(4096);
            a.write_all(sent).await.unwrap();
            let refused = accept(&mut b, &n2, &Session::PLAINTEXT).await;
            let refused = refused.unwrap().unwrap_err();
            assert!(refused.text.contains(says), "{refused}");
        }
        let n1 = member("n1", MAP, KEY);
        for (sent, says) in [
            (&b"AFTRBNOD\x00\x09\x00\x00\x00"[..], "speaks version 9"),
            (b"HTTP/1.1 400 Bad Request\r\n", "no node of a cluster"),
            (b"AFTRBNOD\x00\x01\x00\xff\xff", "no handshake"),
            (b"AFTRBNOD\x00\x01\x00\x00\x01x", "no handshake"),
        ] {
            let (mut a, mut b) = tokio::io::duplex(4096);
            b.write_all(sent).await.unwrap();
            let refused = refused_by(&mut a, &n1).await;
            assert!(refused.contains(says), "{refused}");
        }
    }

    #[tokio::test]
    async fn a_server_without_the_secret_is_refused() {
        let n1 = member("n1", MAP, KEY);
        let (mut a, mut b) = tokio::io::duplex(4096);
        let mut answer = [&MAGIC[..], &VERSION.to_be_bytes()].concat();
        answer.extend(coded(Code::Fine, &[7; 32]));
        answer.extend(coded(Code::Fine, &[7; 32]));
        b.write_all(&answer).await.unwrap();
        let refused = refused_by(&mut a, &n1).await;
        assert!(refused.contains("n2 does not know the key"), "{refused}");
    }

    #[test]
    fn hellos_are_read_back_and_parts_are_none() {
        let hello = Hello {
            is_node: true,
            from: "n1".to_owned(),
            to: "n2".to_owned(),
            cluster: "AB".to_owned(),
            map_version: 3,
            map_digest: u64::MAX - 1,
            nonce: [9; 32],
        };
        let encoded = hello.encode();
        assert_eq!(Hello::parse(&encoded), Some(hello));
        for length in 0..encoded.len() {
            assert_eq!(Hello::parse(&encoded[..length]), None, "{length} bytes");
        }
    }
}
