//! Settings of a router.

use std::collections::HashMap;
use std::time::Duration;

use afterbay_blob_format::{MAX_CHUNKS, RECORD_HEADER_BYTES};
use afterbay_blob_store::Durability;

use crate::error::{Error, Result};

/// Settings of a router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterOptions {
    /// Bytes of a chunk. A blob that is longer is cut.
    pub chunk_bytes: u32,
    /// How many chunks of one put are on their way at once.
    pub put_window: usize,
    /// Bytes that one read of a get has.
    pub piece_bytes: u32,
    /// How many pieces of one get are read ahead.
    pub get_window: usize,
    /// Bytes that all requests together may hold; others wait.
    pub memory_bytes: u64,
    /// A request that waits longer for memory fails: those that hold some may wait for each other.
    pub memory_wait: Duration,
    /// Durability class of the containers that are not named in `containers`.
    pub durability: Durability,
    /// Durability classes of containers.
    pub containers: HashMap<u32, Durability>,
}

impl Default for RouterOptions {
    fn default() -> Self {
        RouterOptions {
            chunk_bytes: 4 << 20,
            put_window: 4,
            piece_bytes: 512 << 10,
            get_window: 4,
            memory_bytes: 256 << 20,
            memory_wait: Duration::from_secs(20),
            durability: Durability::Durable,
            containers: HashMap::new(),
        }
    }
}

impl RouterOptions {
    /// An error that names the option which cannot be as it is.
    pub fn check(&self) -> Result<()> {
        let require = |allowed: bool, reason: String| {
            if allowed { Ok(()) } else { Err(Error::Invalid(reason)) }
        };
        require(
            (1..=64 << 20).contains(&self.chunk_bytes),
            format!("chunk_bytes: {} is not between 1 and {}", self.chunk_bytes, 64 << 20),
        )?;
        require(
            (1..=64 << 20).contains(&self.piece_bytes),
            format!("piece_bytes: {} is not between 1 and {}", self.piece_bytes, 64 << 20),
        )?;
        require(
            (1..=1024).contains(&self.put_window),
            format!("put_window: {} is not between 1 and 1024", self.put_window),
        )?;
        require(
            (1..=1024).contains(&self.get_window),
            format!("get_window: {} is not between 1 and 1024", self.get_window),
        )?;
        let least = u64::from(self.chunk_bytes.max(self.piece_bytes));
        require(
            self.memory_bytes >= least,
            format!("memory_bytes: {} is less than one chunk of {least}", self.memory_bytes),
        )
    }

    /// The most bytes of a blob.
    pub fn content_bytes_max(&self) -> u64 {
        u64::from(self.chunk_bytes) * MAX_CHUNKS as u64
    }

    pub(crate) fn durability_of(&self, container: u32, asked: Option<Durability>) -> Durability {
        asked.or_else(|| self.containers.get(&container).copied()).unwrap_or(self.durability)
    }
}

/// Bytes that a record of `body` bytes takes, roughly: what placement has to know.
pub(crate) fn record_bytes(body: usize) -> u64 {
    (body + body / 16_384 + RECORD_HEADER_BYTES + 1024) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_named() {
        let refused = |change: fn(&mut RouterOptions)| {
            let mut options = RouterOptions::default();
            change(&mut options);
            options.check().err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(refused(|_| ()), "");
        assert!(refused(|o| o.chunk_bytes = 0).starts_with("chunk_bytes"));
        assert!(refused(|o| o.piece_bytes = 0).starts_with("piece_bytes"));
        assert!(refused(|o| o.put_window = 0).starts_with("put_window"));
        assert!(refused(|o| o.get_window = 0).starts_with("get_window"));
        assert!(refused(|o| o.memory_bytes = 1).starts_with("memory_bytes"));
    }

    #[test]
    fn the_request_outranks_the_container_and_it_the_default() {
        let containers = HashMap::from([(7, Durability::Fast)]);
        let options = RouterOptions { containers, ..RouterOptions::default() };
        assert_eq!(options.durability_of(1, None), Durability::Durable);
        assert_eq!(options.durability_of(7, None), Durability::Fast);
        assert_eq!(options.durability_of(7, Some(Durability::Paranoid)), Durability::Paranoid);
    }
}
