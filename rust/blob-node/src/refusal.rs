//! Why nodes do not talk: what who is refused is told, what is logged of it, and what `cluster status` shows. Each text names who and
//! what, and then the way out; `docs/blob-cluster.md` lists them.

use std::fmt;
use std::io;

use afterbay_blob_cluster::{Fingerprint, NodeId};

use crate::membership::Membership;

/// What is said of who has not said who it is.
const SOMEBODY: &str = "somebody";

/// Why nodes do not talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Fine = 0,
    /// Another version of the program.
    Version = 1,
    /// A node of another cluster.
    Cluster = 2,
    /// Another node than was wanted, or none of the map.
    Node = 3,
    /// Another map.
    Map = 4,
    /// It does not know the key's secret.
    Key = 5,
    /// Bytes that are no hello.
    Malformed = 6,
    /// One speaks TLS, and the other plaintext.
    Tls = 7,
    /// Another certificate than the map names.
    Certificate = 8,
}

/// Who has connected and is refused, and why.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    /// As far as it is known.
    pub(crate) from: String,
    pub(crate) text: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refused {}

/// Who connects, by its own words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) is_node: bool,
    pub(crate) name: &'a str,
}

impl fmt::Display for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_node { self.name } else { "who asks" })
    }
}

/// By a node, of who has connected to it.
impl Refused {
    fn new(code: Code, from: &str, text: String) -> Self {
        Refused { code, from: from.to_owned(), text }
    }

    pub(crate) fn no_node(own: &Membership) -> Self {
        let text = format!("node {} of a cluster of blob stores listens here", own.name());
        Refused::new(Code::Malformed, SOMEBODY, text)
    }

    pub(crate) fn no_hello() -> Self {
        let text = "what came is no hello of a node; run the same program on all nodes".to_owned();
        Refused::new(Code::Malformed, SOMEBODY, text)
    }

    pub(crate) fn other_version(theirs: u16, ours: u16) -> Self {
        Refused::new(Code::Version, "a node", version_text("a node", theirs, ours))
    }

    pub(crate) fn other_cluster(own: &Membership, from: Caller<'_>, theirs: &str) -> Self {
        let text = format!(
            "{name} is a node of cluster {ours}, and who asks is of cluster {theirs}; is the address in its map right, and \
             cluster-key the one of this cluster?",
            name = own.name(),
            ours = own.key.name()
        );
        Refused::new(Code::Cluster, from.name, text)
    }

    pub(crate) fn other_node_wanted(own: &Membership, from: Caller<'_>, wanted: &str) -> Self {
        let text = format!(
            "{} listens here, and {wanted} was wanted; compare the addresses in the maps",
            own.name()
        );
        Refused::new(Code::Node, from.name, text)
    }

    pub(crate) fn none_of_the_map(own: &Membership, from: Caller<'_>) -> Self {
        let text = format!(
            "{} is none of the other nodes in the map of {}; give all nodes the same map.toml, and start them again",
            from.name,
            own.name()
        );
        Refused::new(Code::Node, from.name, text)
    }

    pub(crate) fn other_map(own: &Membership, from: Caller<'_>, theirs: u64) -> Self {
        let ours = own.map.version;
        let how =
            if theirs == ours { "with other replicas or nodes" } else { "of another version" };
        let text = format!(
            "{} has version {ours} of the map, and {} version {theirs}, {how}; give all nodes the same map.toml and start them \
             again",
            own.name(),
            from.name
        );
        Refused::new(Code::Map, from.name, text)
    }

    pub(crate) fn other_key(own: &Membership, from: Caller<'_>) -> Self {
        let text = format!(
            "{from} does not know the key of cluster {}: its cluster-key is not the one that {} has",
            own.key.name(),
            own.name()
        );
        Refused::new(Code::Key, from.name, text)
    }

    /// It speaks TLS to a node that does not.
    pub(crate) fn tls_to_plaintext(own: &Membership) -> Self {
        let text = format!(
            "{name} speaks plaintext, and who connects TLS: the map of {name} names no certificates, and that of the other side \
             does; give all nodes the same map.toml, and start them again",
            name = own.name()
        );
        Refused::new(Code::Tls, SOMEBODY, text)
    }

    /// It speaks plaintext to a node that speaks TLS.
    pub(crate) fn plaintext_to_tls(own: &Membership, from: Caller<'_>) -> Self {
        let text = format!(
            "{name} speaks TLS, and {from} plaintext: the map of {name} names certificates, and that of the other side none; give \
             all nodes the same map.toml, and start them again",
            name = own.name()
        );
        Refused::new(Code::Tls, from.name, text)
    }

    pub(crate) fn other_certificate(
        own: &Membership,
        from: &NodeId,
        shown: Option<Fingerprint>,
    ) -> Self {
        Refused::new(Code::Certificate, from.as_str(), certificate_text(own, from, shown))
    }

    /// It has ended the handshake with this alert, when it had seen the certificate of this node.
    pub(crate) fn not_taken(own: &Membership, alert: &io::Error) -> Self {
        let name = own.name();
        let shown = own.identity.as_ref().map(|identity| Fingerprint(identity.digest()));
        let shown = shown.map_or("no certificate".to_owned(), |shown| shown.to_string());
        let text = format!(
            "who connects does not take the certificate that {name} shows, {shown} ({alert}): the map.toml there names another one \
             for {name}; give it a map.toml that names this one, and start it again"
        );
        Refused::new(Code::Certificate, SOMEBODY, text)
    }
}

/// By who connects, of `to`: what that one has said, or what is against it.
pub(crate) fn refused(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

pub(crate) fn no_node_there() -> io::Error {
    refused("no node of a cluster listens there; compare the addresses in the maps".to_owned())
}

pub(crate) fn version_there(to: &NodeId, theirs: u16, ours: u16) -> io::Error {
    refused(version_text(to.as_str(), theirs, ours))
}

pub(crate) fn malformed_there(to: &NodeId) -> io::Error {
    refused(format!("{to} answers what is no handshake of a node; do both run the same program?"))
}

pub(crate) fn key_there(own: &Membership, to: &NodeId) -> io::Error {
    let cluster = own.key.name();
    refused(format!(
        "{to} does not know the key of cluster {cluster}: its cluster-key is not the one here"
    ))
}

pub(crate) fn plaintext_there(to: &NodeId) -> io::Error {
    refused(format!(
        "{to} does not speak TLS, and by the map here nodes do: its map.toml names no certificates, or another program listens \
         there; give all nodes the same map.toml, and start them again"
    ))
}

pub(crate) fn certificate_there(own: &Membership, to: &NodeId, shown: Fingerprint) -> io::Error {
    refused(certificate_text(own, to, Some(shown)))
}

/// TLS failed for another reason, which is none that nodes have.
pub(crate) fn tls_failed(error: &io::Error, to: &NodeId) -> io::Error {
    let text =
        format!("TLS with {to}: {error}; does another program listen at its address in the map?");
    io::Error::new(error.kind(), text)
}

/// What an error of the connection to `to` means.
pub(crate) fn closed(error: io::Error, to: &NodeId) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        let text = format!("{to} closed the connection; does it shut down, or is it no node?");
        return io::Error::new(error.kind(), text);
    }
    error
}

fn version_text(who: &str, theirs: u16, ours: u16) -> String {
    format!(
        "{who} speaks version {theirs} of the nodes' protocol, and this one {ours}; run the same program on all nodes"
    )
}

/// Of a node that shows another certificate than the map names, or none.
fn certificate_text(own: &Membership, node: &NodeId, shown: Option<Fingerprint>) -> String {
    let named: Vec<String> =
        own.map.certificates_of(node).iter().map(Fingerprint::to_string).collect();
    let named = named.join(" or ");
    let here =
        own.node.as_ref().map_or("the map here".to_owned(), |own| format!("the map of {own}"));
    let (shows, or_else) = match (shown, &own.node) {
        (None, _) => ("no certificate".to_owned(), String::new()),
        (Some(shown), Some(own)) => (
            format!("certificate {shown}"),
            format!(
                "; if the one it shows is its new one, give {own} a map.toml that names it, and start {own} again"
            ),
        ),
        (Some(shown), None) => (
            format!("certificate {shown}"),
            "; if the one it shows is its new one, use a map.toml that names it".to_owned(),
        ),
    };
    format!(
        "{node} shows {shows}, and {here} names {named}: its {node}-cert.pem is not of this map.toml; give {node} the files \
         {node}-cert.pem and {node}-key.pem of that certificate, and start it again{or_else}"
    )
}
