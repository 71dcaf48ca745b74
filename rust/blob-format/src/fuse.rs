//! The filter of an index segment of format 2: a binary fuse filter (Graf and Lemire 2022) of four slots a key and 12 bits a
//! slot.
//!
//! ```text
//!   block 0    block 1    block 2    block 3    block 4
//!  |...a......|......a...|.a........|........a.|..........|     key a begins in block 0
//!  |..........|..b.......|....b.....|b.........|.....b....|     key b in block 1
//! ```
//!
//! A key has one slot in each of four adjoining blocks; the exclusive or of their contents is the key's fingerprint. So a key
//! that is not there looks as if it were once in 4096 times, for 13.5 bits a key, where a Bloom filter would need 17. It is made
//! once, of all keys: as an index segment is.
//!
//! Making it is peeling: a slot that only one key has is filled last, for that key, and the key is taken out of its other three
//! slots, until no key is left. If some are, another seed is tried, and now and then more blocks.

use uuid::Uuid;

use crate::bloom::mix;

/// Bits of a slot, and of a fingerprint.
const SLOT_BITS: u32 = 12;
/// Blocks that a key has slots in.
const BLOCKS_OF_KEY: u32 = 4;
/// A block has at most two to the power of so many slots.
const BLOCK_EXPONENT_MAX: u32 = 16;
/// After so many seeds there are more blocks.
const SEEDS_OF_SIZE: u32 = 3;
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Which keys may be there. Never denies one that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FuseFilter {
    salt: (u64, u64),
    shape: Shape,
    /// Two slots in three bytes.
    slots: Vec<u8>,
}

/// How the slots are divided, and which hash is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Of the hash.
    pub(crate) seed: u32,
    /// Blocks that keys may begin in; three more follow.
    pub(crate) starts: u32,
    /// A block has two to the power of this slots.
    pub(crate) exponent: u32,
}

impl Shape {
    /// Of a filter for so many keys, before any seed was tried. Smaller filters need more room for each key.
    fn of(keys: usize) -> Self {
        let exponent = (2 * keys.max(2).ilog2() + 1) / 3;
        let exponent = exponent.saturating_sub(1).clamp(1, BLOCK_EXPONENT_MAX);
        let percent = match keys {
            50_000.. => 112,
            10_000.. => 120,
            1_000.. => 140,
            _ => 180,
        };
        // An index segment has at most 2^20 entries.
        let blocks = (keys * percent).div_ceil(100).div_ceil(1 << exponent) as u32;
        Shape { seed: 0, starts: blocks.saturating_sub(BLOCKS_OF_KEY - 1).max(1), exponent }
    }

    fn next(self) -> Self {
        let seed = self.seed + 1;
        let more = if seed.is_multiple_of(SEEDS_OF_SIZE) { self.starts / 16 + 1 } else { 0 };
        Shape { seed, starts: self.starts + more, ..self }
    }

    fn slots(self) -> usize {
        (self.starts as usize + BLOCKS_OF_KEY as usize - 1) << self.exponent
    }

    /// Bytes of the stored slots; `None` if no filter has this shape.
    pub(crate) fn stored_bytes(self) -> Option<usize> {
        let possible = (1..=BLOCK_EXPONENT_MAX).contains(&self.exponent)
            && (1..=1 << 20).contains(&self.starts);
        possible.then(|| self.slots() * SLOT_BITS as usize / 8)
    }

    /// The slots of a key, and its fingerprint.
    fn places(self, key: u64) -> ([usize; 4], u16) {
        let seeded = key.wrapping_add((u64::from(self.seed) + 1).wrapping_mul(GOLDEN));
        let place = mix(seeded);
        let more = mix(place ^ GOLDEN);
        let starts = u128::from(self.starts) << self.exponent;
        let first = ((u128::from(place) * starts) >> 64) as usize;
        let block = first >> self.exponent;
        let mask = (1 << self.exponent) - 1;
        let other = |i: usize| {
            let offset = (more >> (BLOCK_EXPONENT_MAX as usize * (i - 1))) as usize & mask;
            ((block + i) << self.exponent) + offset
        };
        ([first, other(1), other(2), other(3)], (more >> (64 - SLOT_BITS)) as u16)
    }
}

impl FuseFilter {
    /// The filter of these keys, salted with the identity of the segment.
    pub(crate) fn of(keys: impl Iterator<Item = Uuid>, salt: Uuid) -> Self {
        let salt = salt.as_u64_pair();
        let mut keys: Vec<u64> = keys.map(|key| salted(key, salt)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut shape = Shape::of(keys.len());
        loop {
            if let Some(order) = peel(&keys, shape) {
                return FuseFilter { salt, shape, slots: fill(&keys, shape, &order) };
            }
            shape = shape.next();
        }
    }

    /// Takes over the stored slots. `None` if they are not as many as the shape says.
    pub(crate) fn parse(stored: &[u8], shape: Shape, salt: Uuid) -> Option<Self> {
        let fits = shape.stored_bytes() == Some(stored.len());
        fits.then(|| FuseFilter { salt: salt.as_u64_pair(), shape, slots: stored.to_vec() })
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The stored form of the slots.
    pub(crate) fn stored(&self) -> &[u8] {
        &self.slots
    }

    /// False if the key is not there; true if it is, and by chance.
    pub(crate) fn may_contain(&self, key: Uuid) -> bool {
        let (places, fingerprint) = self.shape.places(salted(key, self.salt));
        places.iter().fold(fingerprint, |rest, &slot| rest ^ get(&self.slots, slot)) == 0
    }
}

/// UUIDs are nearly hashes themselves; the salt keeps whoever chooses them from choosing which slots they hit.
fn salted(key: Uuid, salt: (u64, u64)) -> u64 {
    let (high, low) = key.as_u64_pair();
    low ^ salt.1 ^ mix(high ^ salt.0)
}

/// The keys, each with the slot that is its own once those before it are taken out. `None` if there is no such order.
fn peel(keys: &[u64], shape: Shape) -> Option<Vec<(u32, u32)>> {
    let mut counts = vec![0u32; shape.slots()];
    // The exclusive or of the numbers of all keys of a slot: of a single one, its number.
    let mut numbers = vec![0u32; shape.slots()];
    for (number, &key) in keys.iter().enumerate() {
        for slot in shape.places(key).0 {
            counts[slot] += 1;
            numbers[slot] ^= number as u32;
        }
    }
    let single = |(slot, &count): (usize, &u32)| (count == 1).then_some(slot);
    let mut singles: Vec<usize> = counts.iter().enumerate().filter_map(single).collect();
    let mut order = Vec::with_capacity(keys.len());
    while let Some(slot) = singles.pop() {
        if counts[slot] != 1 {
            continue;
        }
        let number = numbers[slot];
        order.push((number, slot as u32));
        for slot in shape.places(keys[number as usize]).0 {
            counts[slot] -= 1;
            numbers[slot] ^= number;
            if counts[slot] == 1 {
                singles.push(slot);
            }
        }
    }
    (order.len() == keys.len()).then_some(order)
}

fn fill(keys: &[u64], shape: Shape, order: &[(u32, u32)]) -> Vec<u8> {
    let mut slots = vec![0; shape.slots() * SLOT_BITS as usize / 8];
    for &(number, own) in order.iter().rev() {
        let (places, fingerprint) = shape.places(keys[number as usize]);
        // Its own slot is empty so far.
        let content = places.iter().fold(fingerprint, |rest, &slot| rest ^ get(&slots, slot));
        set(&mut slots, own as usize, content);
    }
    slots
}

/// Where a slot begins: its byte, and the bit in it.
fn position(slot: usize) -> (usize, u32) {
    (slot * SLOT_BITS as usize / 8, 4 * (slot as u32 % 2))
}

fn get(slots: &[u8], slot: usize) -> u16 {
    let (byte, bit) = position(slot);
    (u16::from_le_bytes([slots[byte], slots[byte + 1]]) >> bit) & 0xfff
}

fn set(slots: &mut [u8], slot: usize, content: u16) {
    let (byte, bit) = position(slot);
    let [low, high] = (content << bit).to_le_bytes();
    slots[byte] |= low;
    slots[byte + 1] |= high;
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: Uuid = Uuid::from_u128(0x1234_5678);

    fn keys(from: u128, count: usize) -> impl Iterator<Item = Uuid> {
        // Keys in a row, the worst that a hash can be given.
        (from..).take(count).map(Uuid::from_u128)
    }

    #[test]
    fn never_denies_a_key_and_seldom_takes_an_absent_one() {
        for count in [0, 1, 2, 3, 10, 85, 86, 1000, 20_000, 131_072] {
            let filter = FuseFilter::of(keys(0, count), SALT);
            assert!(keys(0, count).all(|key| filter.may_contain(key)), "{count} keys");
            let wrong = keys(1 << 64, 100_000).filter(|&key| filter.may_contain(key)).count();
            assert!(wrong < 60, "{count} keys: {wrong} of 100,000; 24 are expected");
            let again = FuseFilter::parse(filter.stored(), filter.shape(), SALT);
            assert_eq!(again, Some(filter));
        }
    }

    #[test]
    fn a_key_may_be_given_twice() {
        let filter = FuseFilter::of(keys(0, 100).chain(keys(50, 100)), SALT);
        assert!(keys(0, 150).all(|key| filter.may_contain(key)));
    }

    #[test]
    fn fourteen_bits_a_key() {
        let stored = FuseFilter::of(keys(7, 131_072), SALT).stored().len();
        let bits = stored as f64 * 8.0 / 131_072.0;
        assert!(bits < 14.0, "{bits}");
    }

    #[test]
    fn what_has_no_shape_is_refused() {
        let filter = FuseFilter::of(keys(0, 10), SALT);
        let shape = filter.shape();
        let parse = |shape| FuseFilter::parse(filter.stored(), shape, SALT);
        assert!(parse(shape).is_some());
        assert_eq!(parse(Shape { starts: 0, ..shape }), None);
        assert_eq!(parse(Shape { starts: u32::MAX, ..shape }), None);
        assert_eq!(parse(Shape { exponent: 40, ..shape }), None);
        assert_eq!(parse(Shape { exponent: 0, ..shape }), None);
        assert_eq!(FuseFilter::parse(&filter.stored()[1..], shape, SALT), None);
    }
}
