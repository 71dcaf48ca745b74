//! What objects consist of: known from their number, cheap to send, and different everywhere.

use bytes::Bytes;

/// Bytes of an object that say which one it is.
pub(crate) const HEAD_BYTES: usize = 16;

/// How much random data objects are cut from, beyond the size of one. More than a processor's caches hold.
const POOL_BYTES: usize = 8 << 20;

/// Beginnings of neighbouring objects are so far apart in the pool. Odd, so that no two of many are alike.
const STRIDE_BYTES: usize = 65_537;

/// Objects of one size. The same seed gives the same objects in each process.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    seed: u64,
    size: usize,
    pool: Bytes,
    /// One byte of this object is another one: what a verification has to find.
    differs: Option<u64>,
}

/// The bytes of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) head: Bytes,
    pub(crate) tail: Bytes,
}

impl Content {
    /// Of objects that have `size` bytes, at least [`HEAD_BYTES`].
    pub(crate) fn new(seed: u64, size: usize) -> Self {
        let mut random = Random(seed);
        let words = (POOL_BYTES + size).div_ceil(8);
        let pool: Vec<u8> = (0..words).flat_map(|_| random.next().to_le_bytes()).collect();
        Content { seed, size, pool: pool.into(), differs: None }
    }

    /// The same, but for one byte of one object.
    pub(crate) fn differing(self, index: Option<u64>) -> Self {
        Content { differs: index, ..self }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Object number `index`.
    pub(crate) fn object(&self, index: u64) -> Object {
        let head: Vec<u8> =
            [self.seed.to_le_bytes(), index.to_le_bytes()].into_iter().flatten().collect();
        // A position in the pool: less than its length, whatever the number.
        let begin = (index % POOL_BYTES as u64) as usize * STRIDE_BYTES % POOL_BYTES;
        let length = self.size - HEAD_BYTES;
        let tail = self.pool.slice(begin..begin + length);
        let tail = if self.differs == Some(index) { with_another_byte(&tail) } else { tail };
        Object { head: head.into(), tail }
    }
}

fn with_another_byte(bytes: &Bytes) -> Bytes {
    let mut bytes = bytes.to_vec();
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 1;
    }
    bytes.into()
}

impl Object {
    pub(crate) fn length(&self) -> usize {
        self.head.len() + self.tail.len()
    }
}

/// What of an answer is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Its length, and the bytes that say which object it is.
    Head,
    /// Every byte.
    All,
}

/// Compares an answer with what it should be, as it comes.
#[derive(Debug)]
pub(crate) struct Check {
    expected: Object,
    depth: Depth,
    at: usize,
    is_equal: bool,
}

impl Check {
    pub(crate) fn new(expected: Object, depth: Depth) -> Self {
        Check { expected, depth, at: 0, is_equal: true }
    }

    /// The next bytes of the answer.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let in_head = HEAD_BYTES.saturating_sub(self.at).min(bytes.len());
        if in_head > 0 {
            self.is_equal &= bytes[..in_head] == self.expected.head[self.at..self.at + in_head];
        }
        if self.depth == Depth::All {
            let begin = (self.at + in_head).saturating_sub(HEAD_BYTES);
            let rest = &bytes[in_head..];
            self.is_equal &= self.expected.tail.get(begin..begin + rest.len()) == Some(rest);
        }
        self.at += bytes.len();
    }

    /// Bytes that came so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.at as u64
    }

    /// Whether that was all of it, and right.
    pub(crate) fn is_right(&self) -> bool {
        self.is_equal && self.at == self.expected.length()
    }
}

/// Splitmix64: the same numbers everywhere.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Numbers below `count` in any order, each once.
    pub(crate) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(object: &Object) -> Vec<u8> {
        [&object.head[..], &object.tail[..]].concat()
    }

    fn is_right(content: &Content, depth: Depth, answer: &[u8], piece: usize) -> bool {
        let mut check = Check::new(content.object(7), depth);
        answer.chunks(piece).for_each(|some| check.take(some));
        check.is_right()
    }

    #[test]
    fn objects_are_known_from_their_number() {
        let content = Content::new(1, 1000);
        assert_eq!(content.object(7), Content::new(1, 1000).object(7));
        assert_eq!(content.object(7).length(), 1000);
        assert_ne!(content.object(7).tail, content.object(8).tail);
        assert_ne!(content.object(7).tail, Content::new(2, 1000).object(7).tail);
        assert_eq!(content.object(u64::MAX).length(), 1000);
        assert_eq!(Content::new(1, HEAD_BYTES).object(0).length(), HEAD_BYTES);
    }

    #[test]
    fn every_byte_counts() {
        let content = Content::new(1, 1000);
        let right = bytes(&content.object(7));
        for piece in [1, 7, 16, 17, 999, 1000] {
            assert!(is_right(&content, Depth::All, &right, piece), "{piece}");
            for at in [0, 15, 16, 500, 999] {
                let mut wrong = right.clone();
                wrong[at] ^= 1;
                assert!(!is_right(&content, Depth::All, &wrong, piece), "{at} in {piece}");
                assert_eq!(is_right(&content, Depth::Head, &wrong, piece), at >= HEAD_BYTES);
            }
        }
    }

    #[test]
    fn other_lengths_are_wrong() {
        let content = Content::new(1, 1000);
        let right = bytes(&content.object(7));
        let longer = [&right[..], &[0]].concat();
        for depth in [Depth::Head, Depth::All] {
            assert!(is_right(&content, depth, &right, 100));
            assert!(!is_right(&content, depth, &right[..999], 100));
            assert!(!is_right(&content, depth, &longer, 100));
            assert!(!is_right(&content, depth, &[], 100));
        }
    }

    #[test]
    fn one_byte_of_one_object_differs() {
        let content = Content::new(1, 1000);
        let differing = content.clone().differing(Some(7));
        let (one, other) = (bytes(&content.object(7)), bytes(&differing.object(7)));
        assert_eq!(one.iter().zip(&other).filter(|(a, b)| a != b).count(), 1);
        assert_eq!(content.object(8), differing.object(8));
    }

    #[test]
    fn an_order_has_each_number_once() {
        let mut order = Random(3).order(1000);
        assert_ne!(order, Random(4).order(1000));
        assert_eq!(order, Random(3).order(1000));
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
        assert!(Random(3).order(0).is_empty());
    }
}
