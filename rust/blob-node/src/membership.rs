//! Who a node is: in which cluster, by which map, with which key.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;
use std::io;
use std::sync::Arc;

use afterbay_blob_cluster::{ClusterMap, NodeId};
use afterbay_tls::Identity;
use ring::digest::{SHA256, digest};

/// The key that the nodes of a cluster share.
#[derive(Clone)]
pub struct ClusterKey {
    name: Arc<str>,
    secret: Arc<str>,
}

impl fmt::Debug for ClusterKey {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterKey").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ClusterKey {
    /// A key. Its name is no secret, and is that of the cluster.
    pub fn new(name: &str, secret: &str) -> Self {
        ClusterKey { name: name.into(), secret: secret.into() }
    }

    /// The name of the cluster.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }
}

/// A node, or somebody who asks how it is, as it presents itself to others. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Membership {
    /// Which node; `None`: who asks how the nodes are.
    pub(crate) node: Option<NodeId>,
    pub(crate) key: ClusterKey,
    pub(crate) map: Arc<ClusterMap>,
    pub(crate) map_digest: u64,
    /// What it shows to others; `None`: nothing, and it accepts plaintext alone.
    pub(crate) identity: Option<Identity>,
}

impl Membership {
    /// A node of a cluster.
    pub fn node(node: NodeId, map: Arc<ClusterMap>, key: ClusterKey) -> Self {
        Membership { node: Some(node), ..Membership::observer(map, key) }
    }

    /// Somebody who asks how the nodes are.
    pub fn observer(map: Arc<ClusterMap>, key: ClusterKey) -> Self {
        let map_digest = digest_of(&map);
        Membership { node: None, key, map, map_digest, identity: None }
    }

    /// The same, with the certificate of this node. It is not looked at if the map names none; if it does, there has to be one.
    pub fn with_identity(self, identity: Option<Identity>) -> io::Result<Self> {
        let identity = identity.filter(|_| self.map.is_tls());
        if self.map.is_tls() && identity.is_none() {
            let text = format!("the map names certificates, and node {} has none", self.name());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(Membership { identity, ..self })
    }

    pub(crate) fn name(&self) -> &str {
        self.node.as_ref().map_or("", NodeId::as_str)
    }

    pub(crate) fn others(&self) -> BTreeMap<NodeId, String> {
        let mut others = self.map.nodes.clone();
        others.retain(|node, _| Some(node) != self.node.as_ref());
        others
    }
}

/// Tells maps apart whose nodes would not agree on where replicas are. Addresses are left out: a node may be known by another
/// one to each of the others. So are certificates: they are replaced node after node.
fn digest_of(map: &ClusterMap) -> u64 {
    let mut text = String::new();
    for node in map.nodes.keys() {
        let _ = writeln!(text, "node {node}");
    }
    for (id, placement) in &map.partitions {
        let _ = write!(text, "partition {} {}", id.0, placement.read_only);
        placement.replicas.iter().for_each(|node| {
            let _ = write!(text, " {node}");
        });
        text.push('\n');
    }
    let digest = digest(&SHA256, text.as_bytes());
    digest.as_ref().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_of_text(text: &str) -> u64 {
        digest_of(&ClusterMap::parse("map.toml", text).unwrap())
    }

    #[test]
    fn maps_are_told_apart_by_their_replicas() {
        let text = "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n[[node]]\nid = \"n2\"\naddress = \"b:1\"\n\
                    [[partition]]\nid = 1\nreplicas = [\"n1\", \"n2\"]\n";
        let digest = digest_of_text(text);
        assert_eq!(
            digest_of_text(&text.replace("a:1", "c:2")),
            digest,
            "the same under another address"
        );
        for (from, to) in [
            ("[\"n1\", \"n2\"]", "[\"n1\"]"),
            ("id = 1\n", "id = 2\n"),
            ("[\"n1\", \"n2\"]\n", "[\"n1\", \"n2\"]\nread_only = true\n"),
        ] {
            assert_ne!(digest_of_text(&text.replace(from, to)), digest, "{to}");
        }
    }

    #[test]
    fn the_secret_is_not_shown() {
        assert!(!format!("{:?}", ClusterKey::new("AB", "precious")).contains("precious"));
    }
}
