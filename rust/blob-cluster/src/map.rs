//! The cluster map: which nodes there are, and which of them have a replica of each partition (Ambry, section 2.4.1).
//!
//! ```toml
//! version = 1
//!
//! [[node]]
//! id = "n1"
//! address = "10.0.0.1:7100"
//! certificate = "sha256:8f43…" # nodes speak TLS: all of them, or none
//!
//! [[partition]]
//! id = 1
//! replicas = ["n1", "n2", "n3"]
//! read_only = false # the default
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use afterbay_blob_format::PartitionId;
use toml_edit::{Document, Item, TableLike};

use crate::identity::{Fingerprint, NodeId};

/// The most nodes of a cluster.
pub const NODES_MAX: usize = 1024;
/// The most partitions of a cluster.
pub const PARTITIONS_MAX: usize = 65_536;
/// The most replicas of a partition.
pub const REPLICAS_MAX: usize = 16;
/// The most certificates of a node: the one that it shows, and the one that it will show next.
pub const CERTIFICATES_MAX: usize = 2;
const NAME_BYTES_MAX: usize = 64;

/// Which nodes there are, and what they have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterMap {
    /// Each change of the map has a higher one.
    pub version: u64,
    /// Where each node is reached.
    pub nodes: BTreeMap<NodeId, String>,
    /// By what each node is known to the others; none at all: nodes speak plaintext to each other.
    pub certificates: BTreeMap<NodeId, Vec<Fingerprint>>,
    /// Where the replicas are.
    pub partitions: BTreeMap<PartitionId, Placement>,
}

/// Where the replicas of a partition are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Placement {
    /// The nodes, each once, in the order of their names.
    pub replicas: Vec<NodeId>,
    /// No new blobs go there, whatever room there is.
    pub read_only: bool,
}

/// Why a cluster map was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {what}")]
pub struct MapError {
    /// The file.
    pub file: String,
    /// Its line, from 1 on.
    pub line: usize,
    /// What is wrong there, and what is allowed.
    pub what: String,
}

impl ClusterMap {
    /// Reads a map. `file` is what messages call it.
    pub fn parse(file: &str, text: &str) -> Result<Self, MapError> {
        Reader { file, text }.map()
    }

    /// Whether nodes speak TLS to each other.
    pub fn is_tls(&self) -> bool {
        !self.certificates.is_empty()
    }

    /// The certificates by one of which a node is known; none if there is no such node.
    pub fn certificates_of(&self, node: &NodeId) -> &[Fingerprint] {
        self.certificates.get(node).map_or(&[], Vec::as_slice)
    }

    /// The nodes that have a replica of a partition; none if there is no such partition.
    pub fn replicas(&self, partition: PartitionId) -> &[NodeId] {
        self.partitions.get(&partition).map_or(&[], |placement| &placement.replicas)
    }

    /// The partitions of which a node has a replica.
    pub fn partitions_of<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = PartitionId> + 'a {
        let has = move |placement: &Placement| placement.replicas.contains(node);
        self.partitions.iter().filter(move |(_, placement)| has(placement)).map(|(id, _)| *id)
    }
}

/// Reads the tables of a file; errors know where.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn error(&self, span: Option<Range<usize>>, what: impl Into<String>) -> MapError {
        let start = span.map_or(0, |span| span.start).min(self.text.len());
        let line = 1 + self.text.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count();
        MapError { file: self.file.to_owned(), line, what: what.into() }
    }

    fn map(&self) -> Result<ClusterMap, MapError> {
        let document = Document::parse(self.text)
            .map_err(|e| self.error(e.span(), format!("not TOML: {}", e.message())))?;
        let root = document.as_table();
        self.only(root, "the map", &["version", "node", "partition"])?;
        let version = self.number(root, "the map", None, "version", 1)?;
        let mut nodes = BTreeMap::new();
        let tables = self.tables(root, "node", NODES_MAX)?;
        for table in &tables {
            let (id, address) = self.node(table)?;
            if nodes.insert(id.clone(), address).is_some() {
                let what = format!("node {id} is there twice; each has an id of its own");
                return Err(self.error(table.span(), what));
            }
        }
        let certificates = self.certificates(&tables)?;
        let mut partitions = BTreeMap::new();
        for table in self.tables(root, "partition", PARTITIONS_MAX)? {
            let (id, placement) = self.partition(table, &nodes)?;
            if partitions.insert(id, placement).is_some() {
                let what = format!("partition {} is there twice; each has an id of its own", id.0);
                return Err(self.error(table.span(), what));
            }
        }
        Ok(ClusterMap { version, nodes, certificates, partitions })
    }

    fn node(&self, table: &toml_edit::Table) -> Result<(NodeId, String), MapError> {
        let what = "a [[node]]";
        self.only(table, what, &["id", "address", "certificate"])?;
        let (span, id) = self.string(table, what, table.span(), "id")?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
        if id.is_empty() || id.len() > NAME_BYTES_MAX || !id.chars().all(allowed) {
            let what = format!(
                "id = {id:?}: 1 to {NAME_BYTES_MAX} of A-Z, a-z, 0-9, '-', '_' and '.' are allowed"
            );
            return Err(self.error(span, what));
        }
        let (span, address) = self.string(table, what, table.span(), "address")?;
        let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        if port.and_then(|(_, port)| port.parse::<u16>().ok()).is_none_or(|port| port == 0) {
            let what = format!("address = {address:?}: \"host:port\", with a port from 1 to 65535");
            return Err(self.error(span, what));
        }
        Ok((NodeId::new(&id), address))
    }

    /// Those of all nodes, or none.
    fn certificates(
        &self,
        tables: &[&toml_edit::Table],
    ) -> Result<BTreeMap<NodeId, Vec<Fingerprint>>, MapError> {
        let mut owners = BTreeMap::new();
        let mut certificates = BTreeMap::new();
        let mut without = None;
        for table in tables {
            let (_, id) = self.string(*table, "a [[node]]", table.span(), "id")?;
            let node = NodeId::new(&id);
            let Some(item) = table.get("certificate") else {
                without = without.or(Some((node, table.span())));
                continue;
            };
            let named = self.fingerprints(item)?;
            for fingerprint in &named {
                if let Some(other) = owners.insert(*fingerprint, node.clone()) {
                    let what = format!(
                        "certificate: {fingerprint} is there twice, of {other} and of {node}; each node has its own"
                    );
                    return Err(self.error(item.span(), what));
                }
            }
            certificates.insert(node, named);
        }
        let with = certificates.keys().next();
        if let (Some((without, span)), Some(with)) = (without, with) {
            let what = format!(
                "node {without} has no certificate, and {with} has one: nodes speak TLS all, or none; give {without} one \
                 ('cluster certificate' makes it), or take the others away"
            );
            return Err(self.error(span, what));
        }
        Ok(certificates)
    }

    /// One in quotes, or a list of them.
    fn fingerprints(&self, item: &Item) -> Result<Vec<Fingerprint>, MapError> {
        let texts: Vec<Option<&str>> = match item.as_array() {
            Some(array) => array.iter().map(toml_edit::Value::as_str).collect(),
            None => vec![item.as_str()],
        };
        let fingerprints: Option<Vec<Fingerprint>> =
            texts.iter().map(|text| text.and_then(Fingerprint::parse)).collect();
        let found = fingerprints.filter(|found| (1..=CERTIFICATES_MAX).contains(&found.len()));
        found.ok_or_else(|| {
            let what = format!(
                "certificate: \"sha256:\" and 64 hexadecimal digits are needed, or a list of 1 to {CERTIFICATES_MAX} of them"
            );
            self.error(item.span(), what)
        })
    }

    fn partition(
        &self,
        table: &toml_edit::Table,
        nodes: &BTreeMap<NodeId, String>,
    ) -> Result<(PartitionId, Placement), MapError> {
        let what = "a [[partition]]";
        self.only(table, what, &["id", "replicas", "read_only"])?;
        let id = PartitionId(self.number(table, what, table.span(), "id", 0)?);
        let item = self.item(table, what, table.span(), "replicas")?;
        let array = item
            .as_array()
            .filter(|array| (1..=REPLICAS_MAX).contains(&array.len()))
            .ok_or_else(|| {
                let what = format!("replicas: a list of 1 to {REPLICAS_MAX} nodes is needed");
                self.error(item.span(), what)
            })?;
        let mut replicas = BTreeSet::new();
        for value in array {
            let node = value.as_str().map(NodeId::new).filter(|node| nodes.contains_key(node));
            let node = node.ok_or_else(|| {
                let known: Vec<&str> = nodes.keys().map(NodeId::as_str).collect();
                let found =
                    value.as_str().map_or(value.type_name().to_owned(), |s| format!("{s:?}"));
                let what = format!("replicas: {found} is no node; there are {}", known.join(", "));
                self.error(value.span(), what)
            })?;
            if !replicas.insert(node.clone()) {
                let what = format!("replicas: {node} is there twice; one replica per node");
                return Err(self.error(value.span(), what));
            }
        }
        let read_only = match table.get("read_only") {
            None => false,
            Some(item) => item.as_bool().ok_or_else(|| {
                self.error(item.span(), "read_only: true or false is needed".to_owned())
            })?,
        };
        Ok((id, Placement { replicas: replicas.into_iter().collect(), read_only }))
    }

    fn only(&self, table: &dyn TableLike, of: &str, known: &[&str]) -> Result<(), MapError> {
        for (key, item) in table.iter() {
            if !known.contains(&key) {
                let span = table.key(key).and_then(toml_edit::Key::span).or_else(|| item.span());
                let what = format!("{of} has no key {key:?}; there are {}", known.join(", "));
                return Err(self.error(span, what));
            }
        }
        Ok(())
    }

    fn tables<'t>(
        &self,
        root: &'t toml_edit::Table,
        key: &str,
        most: usize,
    ) -> Result<Vec<&'t toml_edit::Table>, MapError> {
        let item = self.item(root, "the map", None, key)?;
        let tables: Vec<_> = item
            .as_array_of_tables()
            .ok_or_else(|| {
                self.error(item.span(), format!("{key}: write [[{key}]], once for each"))
            })?
            .iter()
            .collect();
        if tables.len() > most {
            let span = tables[most].span();
            return Err(self.error(span, format!("more than {most} [[{key}]]; fewer are needed")));
        }
        Ok(tables)
    }

    fn item<'t>(
        &self,
        table: &'t dyn TableLike,
        of: &str,
        span: Option<Range<usize>>,
        key: &str,
    ) -> Result<&'t Item, MapError> {
        table.get(key).ok_or_else(|| self.error(span, format!("{of} needs the key {key}")))
    }

    fn string(
        &self,
        table: &dyn TableLike,
        of: &str,
        span: Option<Range<usize>>,
        key: &str,
    ) -> Result<(Option<Range<usize>>, String), MapError> {
        let item = self.item(table, of, span, key)?;
        match item.as_str() {
            Some(text) => Ok((item.span(), text.to_owned())),
            None => Err(self.error(item.span(), format!("{key}: a string in quotes is needed"))),
        }
    }

    fn number(
        &self,
        table: &dyn TableLike,
        of: &str,
        span: Option<Range<usize>>,
        key: &str,
        least: u64,
    ) -> Result<u64, MapError> {
        let item = self.item(table, of, span, key)?;
        let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
        number.filter(|number| *number >= least).ok_or_else(|| {
            self.error(item.span(), format!("{key}: a whole number from {least} on is needed"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"version = 7

[[node]]
id = "n2"
address = "10.0.0.2:7100"

[[node]]
id = "n1"
address = "[::1]:7100"

[[partition]]
id = 1
replicas = ["n2", "n1"]

[[partition]]
id = 2
replicas = ["n2"]
read_only = true
"#;

    #[test]
    fn a_map_is_read() {
        let map = ClusterMap::parse("map.toml", GOOD).unwrap();
        let (n1, n2) = (NodeId::new("n1"), NodeId::new("n2"));
        assert_eq!(map.version, 7);
        assert_eq!(map.nodes[&n2], "10.0.0.2:7100");
        assert_eq!(map.replicas(PartitionId(1)), [n1.clone(), n2.clone()]);
        assert!(map.replicas(PartitionId(3)).is_empty());
        assert!(map.partitions[&PartitionId(2)].read_only);
        assert_eq!(map.partitions_of(&n1).collect::<Vec<_>>(), [PartitionId(1)]);
        assert_eq!(map.partitions_of(&n2).count(), 2);
    }

    /// A fingerprint in quotes, all bytes of which are the same.
    fn quoted(byte: u8) -> String {
        format!("\"{}\"", Fingerprint([byte; 32]))
    }

    /// With these values of `certificate`.
    fn with_certificates(of_n2: &str, of_n1: &str) -> String {
        let text = GOOD.replace("2:7100\"\n", &format!("2:7100\"\ncertificate = {of_n2}\n"));
        text.replace("1]:7100\"\n", &format!("1]:7100\"\ncertificate = {of_n1}\n"))
    }

    #[test]
    fn nodes_are_known_by_their_certificates() {
        let (n1, n2) = (NodeId::new("n1"), NodeId::new("n2"));
        let plain = ClusterMap::parse("map.toml", GOOD).unwrap();
        assert!(!plain.is_tls() && plain.certificates_of(&n1).is_empty());
        // As OpenSSL writes it.
        let colons = format!("\"sha256:{}\"", ["AB"; 32].join(":"));
        let text = with_certificates(&colons, &format!("[{}, {}]", quoted(1), quoted(2)));
        let map = ClusterMap::parse("map.toml", &text).unwrap();
        assert!(map.is_tls());
        assert_eq!(map.certificates_of(&n2), [Fingerprint([0xab; 32])]);
        assert_eq!(map.certificates_of(&n1), [Fingerprint([1; 32]), Fingerprint([2; 32])]);
        assert_eq!(map.nodes, plain.nodes);
    }

    #[test]
    fn errors_of_certificates_name_their_line() {
        let refused = |text: &str| ClusterMap::parse("map.toml", text).unwrap_err().to_string();
        let is_needed = "\"sha256:\" and 64 hexadecimal digits";
        let digits = "ab".repeat(32);
        for wrong in [
            "7".to_owned(),
            "[]".to_owned(),
            format!("\"{digits}\""),
            format!("\"sha256:{}\"", &digits[1..]),
            format!("\"sha256:{digits}a\""),
            format!("\"sha256:{}g\"", &digits[1..]),
            format!("[{}, {}, {}]", quoted(1), quoted(2), quoted(3)),
            format!("[{}, 7]", quoted(1)),
        ] {
            let error = refused(&with_certificates(&quoted(9), &wrong));
            assert!(error.starts_with("map.toml, line 11: "), "{wrong}: {error}");
            assert!(error.contains(is_needed), "{wrong}: {error}");
        }
        let error = refused(&with_certificates(&quoted(9), &quoted(9)));
        assert!(error.starts_with("map.toml, line 11: "), "{error}");
        assert!(error.contains("is there twice, of n2 and of n1"), "{error}");
        for (taken_out, line, says) in [
            (5, 3, "node n2 has no certificate, and n1 has one"),
            (10, 8, "node n1 has no certificate, and n2 has one"),
        ] {
            let text = with_certificates(&quoted(1), &quoted(2));
            let mut lines: Vec<_> = text.lines().collect();
            let taken = lines.remove(taken_out);
            assert!(taken.starts_with("certificate"), "{taken}");
            let error = refused(&lines.join("\n"));
            assert!(error.starts_with(&format!("map.toml, line {line}: ")), "{error}");
            assert!(error.contains(says) && error.contains("all, or none"), "{error}");
        }
    }

    #[test]
    fn errors_name_file_line_and_what_is_allowed() {
        let refused = |from: &str, to: &str| {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            ClusterMap::parse("map.toml", &text).unwrap_err().to_string()
        };
        for (from, to, line, says) in [
            ("version = 7", "version = 0", 1, "a whole number from 1 on"),
            ("version = 7", "version = \"7\"", 1, "a whole number"),
            ("version = 7\n", "\n", 1, "needs the key version"),
            ("version = 7", "versoin = 7", 1, "there are version, node, partition"),
            ("version = 7", "version = ", 1, "not TOML"),
            ("id = \"n1\"", "id = \"n2\"", 7, "node n2 is there twice"),
            ("id = \"n1\"", "id = \"n 1\"", 8, "'_' and '.' are allowed"),
            ("id = \"n1\"", "id = 1", 8, "a string in quotes"),
            ("id = \"n1\"\n", "", 7, "needs the key id"),
            ("10.0.0.2:7100", "10.0.0.2", 5, "\"host:port\""),
            ("10.0.0.2:7100", "10.0.0.2:0", 5, "1 to 65535"),
            ("id = 1", "id = -1", 12, "a whole number from 0 on"),
            ("id = 2", "id = 1", 15, "partition 1 is there twice"),
            ("[\"n2\", \"n1\"]", "[\"n2\", \"n3\"]", 13, "\"n3\" is no node; there are n1, n2"),
            ("[\"n2\", \"n1\"]", "[\"n2\", \"n2\"]", 13, "n2 is there twice"),
            ("[\"n2\", \"n1\"]", "[]", 13, "a list of 1 to 16 nodes"),
            ("[\"n2\", \"n1\"]", "\"n2\"", 13, "a list of 1 to 16 nodes"),
            ("read_only = true", "read_only = 1", 18, "true or false"),
            ("read_only = true", "readonly = true", 18, "there are id, replicas, read_only"),
        ] {
            let error = refused(from, to);
            assert!(error.starts_with(&format!("map.toml, line {line}: ")), "{from}: {error}");
            assert!(error.contains(says), "{from}: {error}");
        }
    }
}
