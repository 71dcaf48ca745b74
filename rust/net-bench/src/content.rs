//! What is sent: blocks that carry their numbers, so that a byte that is lost, doubled or moved is seen, at next to no cost.

/// Bytes of a block's number, at its beginning.
pub(crate) const STAMP: usize = 8;

/// A block of `size` bytes, at least [`STAMP`], number 0.
pub(crate) fn block(size: usize) -> Vec<u8> {
    let mut block: Vec<u8> = (0..size).map(|at| (at.wrapping_mul(31) ^ (at >> 8)) as u8).collect();
    stamp(&mut block, 0);
    block
}

/// Makes it another block.
pub(crate) fn stamp(block: &mut [u8], number: u64) {
    block[..STAMP].copy_from_slice(&number.to_le_bytes());
}

/// Looks at a stream of blocks as it comes, in pieces of any length.
#[derive(Debug)]
pub(crate) struct Check {
    size: u64,
    at: u64,
    wrong: u64,
}

impl Check {
    pub(crate) fn new(size: usize) -> Self {
        Check { size: size as u64, at: 0, wrong: 0 }
    }

    /// The next bytes of the stream.
    pub(crate) fn see(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len() as u64;
        for number in self.at / self.size..end.div_ceil(self.size) {
            let block = number * self.size;
            let stamp = number.to_le_bytes();
            let from = self.at.max(block);
            let to = end.min(block + STAMP as u64);
            if from < to {
                let seen = &bytes[(from - self.at) as usize..(to - self.at) as usize];
                let right = &stamp[(from - block) as usize..(to - block) as usize];
                self.wrong += u64::from(seen != right);
            }
        }
        self.at = end;
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.at
    }

    /// Pieces of stamps that were others; a block that was cut off counts too.
    pub(crate) fn wrong(&self) -> u64 {
        self.wrong + u64::from(!self.at.is_multiple_of(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(size: usize, blocks: u64) -> Vec<u8> {
        let mut one = block(size);
        let mut all = Vec::new();
        for number in 0..blocks {
            stamp(&mut one, number);
            all.extend_from_slice(&one);
        }
        all
    }

    fn wrong(size: usize, bytes: &[u8], piece: usize) -> u64 {
        let mut check = Check::new(size);
        bytes.chunks(piece).for_each(|piece| check.see(piece));
        assert_eq!(check.bytes(), bytes.len() as u64);
        check.wrong()
    }

    #[test]
    fn whatever_the_pieces_a_right_stream_is_right() {
        for size in [8, 16, 100] {
            for piece in [1, 3, 7, 8, 50, 99, 100, 101, 1000] {
                assert_eq!(wrong(size, &stream(size, 20), piece), 0, "{size} {piece}");
            }
        }
    }

    #[test]
    fn lost_doubled_moved_and_missing_bytes_are_seen() {
        let right = stream(16, 300);
        for piece in [1, 7, 16, 64, 10_000] {
            let mut lost = right.clone();
            lost.drain(160..176);
            assert!(wrong(16, &lost, piece) > 0);
            let mut doubled = right.clone();
            let again = doubled[32..64].to_vec();
            doubled.splice(64..64, again);
            assert!(wrong(16, &doubled, piece) > 0);
            let mut one_less = right.clone();
            one_less.remove(12);
            assert!(wrong(16, &one_less, piece) > 0);
            assert!(wrong(16, &right[..right.len() - 1], piece) > 0);
        }
    }
}
