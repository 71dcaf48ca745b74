//! Numbers that look random, the same for the same seed on every machine.

/// A generator for one purpose. Each part of a simulation has its own, so that a change of one part does not change what the
/// others draw. SplitMix64 (Steele, Lea, Flood 2014): no state but one number, so that generators are cheap to make.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of `seed` for `purpose`.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        // FNV-1a.
        let named = purpose.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = Random(named);
        let mixed = random.number();
        Random(seed ^ mixed)
    }

    /// Any number.
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number from 0 on, below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // The upper half of the product: no worse than a remainder, and faster.
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// True in `count` of a million cases.
    pub(crate) fn happens(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < u64::from(per_million)
    }

    /// True in one of `cases`.
    pub(crate) fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// A number around `mean` as times between independent events are: many small ones, few large ones. An exponential
    /// distribution, with straight lines between powers of two: no logarithm that another machine computes otherwise.
    pub(crate) fn around(&mut self, mean: u64) -> u64 {
        let number = self.number();
        let halvings = u128::from(number.leading_zeros());
        let fraction = 0xffff - u128::from(self.number() & 0xffff);
        // ln 2 = 45426 / 65536.
        let scaled = u128::from(mean) * 45_426 * (halvings * 65_536 + fraction);
        (scaled >> 32) as u64
    }

    /// One of `from`; `None` if there is none.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len() as u64) as usize)
    }

    /// Brings `items` into any order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 7);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.number().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_of_other_purposes_and_seeds_differ() {
        let first = |seed, purpose| Random::new(seed, purpose).number();
        assert_eq!(first(1, "network"), first(1, "network"));
        let mut drawn: Vec<_> =
            (0..50).flat_map(|seed| [first(seed, "network"), first(seed, "clients")]).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 100);
    }

    #[test]
    fn numbers_are_spread_over_their_range() {
        let mut random = Random::new(7, "test");
        let mut counts = [0_u32; 10];
        for _ in 0..10_000 {
            counts[random.below(10) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
        assert_eq!(random.below(0), 0);
        let drawn: Vec<_> = (0..1000).map(|_| random.between(3, 5)).collect();
        assert!([3, 4, 5].iter().all(|number| drawn.contains(number)));
        assert!(drawn.iter().all(|number| (3..=5).contains(number)));
    }

    #[test]
    fn times_around_a_mean_have_that_mean_and_a_long_tail() {
        let mut random = Random::new(7, "test");
        let drawn: Vec<_> = (0..20_000).map(|_| random.around(1000)).collect();
        let mean = drawn.iter().sum::<u64>() / 20_000;
        assert!((930..1070).contains(&mean), "{mean}");
        let long = drawn.iter().filter(|&&time| time > 3000).count();
        assert!((600..1500).contains(&long), "{long} of 20000, e^-3 are 996");
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut items: Vec<_> = (0..100).collect();
        Random::new(7, "test").shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
