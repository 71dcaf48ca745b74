//! What an agent has done since it began.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_proto::Reason;

/// What an agent has done since it began. Any thread may look.
#[derive(Debug)]
pub struct Counters {
    offers: AtomicU64,
    pairs: AtomicU64,
    refused: [AtomicU64; Reason::ALL.len()],
}

impl Default for Counters {
    fn default() -> Self {
        let refused = [const { AtomicU64::new(0) }; Reason::ALL.len()];
        Counters { offers: AtomicU64::new(0), pairs: AtomicU64::new(0), refused }
    }
}

impl Counters {
    /// Offers that it kept.
    pub fn offers(&self) -> u64 {
        self.offers.load(Relaxed)
    }

    /// Claims that got rings.
    pub fn pairs(&self) -> u64 {
        self.pairs.load(Relaxed)
    }

    /// Offers and claims that it refused for a reason.
    pub fn refused(&self, reason: Reason) -> u64 {
        self.place(reason).map_or(0, |count| count.load(Relaxed))
    }

    pub(crate) fn count_offer(&self, result: Result<(), Reason>) {
        match result {
            Ok(()) => drop(self.offers.fetch_add(1, Relaxed)),
            Err(reason) => self.count_refusal(reason),
        }
    }

    pub(crate) fn count_pair(&self) {
        self.pairs.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_refusal(&self, reason: Reason) {
        if let Some(count) = self.place(reason) {
            count.fetch_add(1, Relaxed);
        }
    }

    fn place(&self, reason: Reason) -> Option<&AtomicU64> {
        let at = Reason::ALL.iter().position(|other| *other == reason)?;
        self.refused.get(at)
    }
}
