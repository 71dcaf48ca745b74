//! How long answers take: what a second request waits for before it is sent to another replica.

const SAMPLES: usize = 128;

/// The latencies of the last answers.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    newest: Vec<u64>,
    next: usize,
}

impl Latencies {
    pub(crate) fn add(&mut self, ms: u64) {
        if self.newest.len() < SAMPLES {
            self.newest.push(ms);
        } else {
            self.newest[self.next] = ms;
        }
        self.next = (self.next + 1) % SAMPLES;
    }

    /// Of 20 answers, 19 came within so many milliseconds; `None` as long as there are fewer.
    pub(crate) fn p95_ms(&self) -> Option<u64> {
        if self.newest.len() < 20 {
            return None;
        }
        let mut sorted = self.newest.clone();
        let at = (sorted.len() * 95).div_ceil(100) - 1;
        Some(*sorted.select_nth_unstable(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_count() {
        let mut latencies = Latencies::default();
        (0..19).for_each(|_| latencies.add(1));
        assert_eq!(latencies.p95_ms(), None);
        latencies.add(50);
        assert_eq!(latencies.p95_ms(), Some(1));
        latencies.add(50);
        latencies.add(50);
        assert_eq!(latencies.p95_ms(), Some(50));
        (0..SAMPLES).for_each(|_| latencies.add(7));
        assert_eq!(latencies.p95_ms(), Some(7));
        assert_eq!(latencies.newest.len(), SAMPLES);
    }
}
