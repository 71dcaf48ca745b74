//! The Bloom filter of an index segment of format 1. Newer ones have another filter (`fuse`); these are read as long as there
//! are such indexes.
//!
//! Part of the format, so its hash is written down here and in the specification and does not change with a library.
//! Double hashing (Kirsch and Mitzenmacher 2006): the `i`-th bit is derived from two hashes. UUIDs are nearly hashes
//! themselves; the salt keeps whoever chooses them from choosing which bits they hit.

use uuid::Uuid;

/// Bits of a filter for each entry. With [`PROBES`]: 0.3 % of absent keys are not recognised as such.
pub(crate) const BITS_PER_ENTRY: usize = 12;

/// Bits that each key sets.
pub(crate) const PROBES: u64 = 8;

/// Which keys may be there. Never denies one that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloomFilter {
    salt: (u64, u64),
    words: Vec<u64>,
}

impl BloomFilter {
    /// An empty filter for `entries` keys, salted with the identity of the segment.
    pub fn new(entries: usize, salt: Uuid) -> Self {
        let words = (entries * BITS_PER_ENTRY).div_ceil(64).max(1);
        BloomFilter { salt: salt.as_u64_pair(), words: vec![0; words] }
    }

    /// Takes over the stored form: words, big-endian. `None` if it is not whole words, or none.
    pub fn parse(stored: &[u8], salt: Uuid) -> Option<Self> {
        if stored.is_empty() || !stored.len().is_multiple_of(8) {
            return None;
        }
        let words = stored
            .chunks_exact(8)
            .map(|word| word.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            .collect();
        Some(BloomFilter { salt: salt.as_u64_pair(), words })
    }

    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// Adds a key.
    pub fn insert(&mut self, key: Uuid) {
        for bit in self.bits(key) {
            self.words[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// False if the key was not added; true if it was, and by chance.
    pub fn may_contain(&self, key: Uuid) -> bool {
        self.bits(key).all(|bit| self.words[bit / 64] & 1 << (bit % 64) != 0)
    }

    fn bits(&self, key: Uuid) -> impl Iterator<Item = usize> + use<> {
        let (high, low) = key.as_u64_pair();
        let first = mix(high ^ self.salt.0);
        let step = mix(low ^ self.salt.1 ^ first) | 1;
        let count = self.words.len() as u128 * 64;
        (0..PROBES).map(move |i| {
            let hash = first.wrapping_add(i.wrapping_mul(step));
            ((u128::from(hash) * count) >> 64) as usize
        })
    }

    /// Bytes that it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.words.len() * 8
    }
}

/// The finaliser of MurmurHash3 (64 bits).
pub(crate) fn mix(mut value: u64) -> u64 {
    value = (value ^ value >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ value >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ value >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: Uuid = Uuid::from_u128(0x1234_5678);

    fn keys(from: u128) -> impl Iterator<Item = Uuid> {
        // Keys in a row, the worst that a hash can be given.
        (from..from + 10_000).map(Uuid::from_u128)
    }

    #[test]
    fn never_denies_a_key_and_seldom_takes_an_absent_one() {
        let mut filter = BloomFilter::new(10_000, SALT);
        keys(0).for_each(|key| filter.insert(key));
        assert!(keys(0).all(|key| filter.may_contain(key)));
        let wrong = keys(1 << 64).filter(|&key| filter.may_contain(key)).count();
        assert!(wrong < 80, "{wrong} of 10,000: 31 are expected");
    }

    #[test]
    fn stored_and_back() {
        let mut filter = BloomFilter::new(100, SALT);
        keys(0).take(100).for_each(|key| filter.insert(key));
        assert_eq!(BloomFilter::parse(&filter.encode(), SALT), Some(filter));
        assert_eq!(BloomFilter::parse(&[0; 7], SALT), None);
        assert_eq!(BloomFilter::parse(&[], SALT), None);
    }
}
