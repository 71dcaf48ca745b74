//! Who, when, and where new ids and choices come from.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

/// The name of a node in the cluster map, such as `n1`. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(Arc<str>);

impl NodeId {
    /// The node with this name.
    pub fn new(name: &str) -> Self {
        NodeId(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which certificate a node shows to others: the SHA-256 of it as DER. Written `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Reads one. Colons between the digits are no matter: OpenSSL writes them.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?.chars().filter(|c| *c != ':');
        let digits: Vec<u32> = digits.map(|c| c.to_digit(16)).collect::<Option<_>>()?;
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (pair[0] << 4 | pair[1]) as u8;
        }
        Some(Fingerprint(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The two clocks of a node at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Now {
    /// Milliseconds since some moment before the node started; never goes back. For timeouts.
    pub mono_ms: u64,
    /// Milliseconds since 1970, as this node believes. For stamps and for deadlines that travel.
    pub wall_ms: u64,
}

/// Where a node's new ids and its choices come from: random in a server, from a seed in a simulation.
pub trait Source: Send + fmt::Debug {
    /// An id that nobody else has.
    fn uuid(&mut self) -> Uuid;

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: u64) -> u64;
}
