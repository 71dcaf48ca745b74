//! Changes of an input.

/// SplitMix64.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, below: usize) -> usize {
        (self.next() % below.max(1) as u64) as usize
    }
}

/// No input grows beyond this.
const BYTES_MAX: usize = 64 << 10;

/// Bytes at which parsers of text and of numbers turn.
const BYTES: [u8; 16] = *b"\x00\x01\x7f\x80\xff%+-/=&:\"<\n9";

/// Changes `input` in some places; `other` is an input to take pieces from.
pub(crate) fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        change(input, other, random);
    }
    input.truncate(BYTES_MAX);
}

fn change(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(input.len());
    let limit = random_limit(random);
    let length = 1 + random.below(limit);
    let end = (at + length).min(input.len());
    match random.below(11) {
        0 => with(input, at, |byte| *byte ^= 1 << random.below(8)),
        1 => with(input, at, |byte| *byte = random.next() as u8),
        2 => with(input, at, |byte| *byte = BYTES[random.below(BYTES.len())]),
        3 => with(input, at, |byte| *byte = byte.wrapping_add(1)),
        4 => with(input, at, |byte| *byte = byte.wrapping_sub(1)),
        5 => drop(input.drain(at..end)),
        6 => {
            let piece = input[at..end].to_vec();
            insert(input, at, &piece);
        }
        7 => {
            let byte = BYTES[random.below(BYTES.len())];
            insert(input, at, &vec![byte; length]);
        }
        8 => {
            let begin = random.below(other.len());
            let piece = &other[begin..(begin + length).min(other.len())];
            insert(input, at, piece);
        }
        9 => number(input, at, random),
        _ => input.truncate(at),
    }
}

/// Mostly short.
fn random_limit(random: &mut Random) -> usize {
    [2, 8, 8, 64, 512][random.below(5)]
}

fn with(input: &mut [u8], at: usize, change: impl FnOnce(&mut u8)) {
    if let Some(byte) = input.get_mut(at) {
        change(byte);
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(input.splice(at..at, piece.iter().copied()));
}

/// A number of 2, 4 or 8 bytes at which something may turn over.
fn number(input: &mut [u8], at: usize, random: &mut Random) {
    let bytes = [2, 4, 8][random.below(3)];
    let length = input.len() as u64;
    let values = [0, 1, length, length.wrapping_sub(1), u64::MAX, u64::MAX >> 1, 1 << 31, 1 << 16];
    let value = values[random.below(values.len())].wrapping_add(random.next() % 3).wrapping_sub(1);
    let encoded = value.to_be_bytes();
    if let Some(place) = input.get_mut(at..at + bytes) {
        place.copy_from_slice(&encoded[8 - bytes..]);
    }
}
