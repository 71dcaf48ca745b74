//! Many seeds, side by side; each is simulated by one thread.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::faults::FaultCounts;
use crate::run::{Outcome, simulate};
use crate::trace::Trace;
use crate::without::Without;

/// What came out of many seeds.
#[derive(Debug, Default)]
pub struct Sweep {
    /// How many were simulated.
    pub seeds: u64,
    /// Events of all.
    pub steps: u64,
    /// Simulated seconds of all.
    pub seconds: u64,
    /// Faults of all that really happened.
    pub faults: FaultCounts,
    /// Changes that were acknowledged, of all.
    pub done: u64,
    /// Reads that returned a blob, of all.
    pub read: u64,
    /// The lowest seed of which something was broken.
    pub failed: Option<Outcome>,
}

impl Sweep {
    fn add(&mut self, outcome: &Outcome) {
        self.seeds += 1;
        self.steps += outcome.steps;
        self.seconds += outcome.took.as_secs();
        self.faults.add_all(&outcome.faults);
        self.done += outcome.counts.done;
        self.read += outcome.counts.read;
    }
}

/// Simulates seeds until something is broken by one: the lowest one of which that is so is found, however many threads
/// there are. `each` hears of each that ends well.
pub fn sweep(
    seeds: RangeInclusive<u64>,
    without: &Without,
    threads: usize,
    each: impl Fn(&Outcome) + Sync,
) -> Sweep {
    let next = AtomicU64::new(*seeds.start());
    // No seed above the lowest one that failed is begun.
    let last = AtomicU64::new(*seeds.end());
    let done = Mutex::new((Sweep::default(), BTreeMap::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > last.load(Ordering::Relaxed) {
                break;
            }
            let outcome = simulate(seed, without, Trace::silent());
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.0.add(&outcome);
            if outcome.violation.is_some() {
                last.fetch_min(seed, Ordering::Relaxed);
                done.1.insert(seed, outcome);
            } else {
                each(&outcome);
            }
        }
    };
    std::thread::scope(|scope| {
        (0..threads.max(1)).for_each(|_| {
            scope.spawn(work);
        });
    });
    let (mut sweep, mut failed) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    sweep.failed = failed.pop_first().map(|(_, outcome)| outcome);
    sweep
}
