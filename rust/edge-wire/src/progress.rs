//! How far a receiver is with a stream of a site.

use crate::frame::Frame;

/// The newest epoch, and the next sequence in it. A receiver keeps it together with what it has made of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The newest epoch that was seen.
    pub epoch: u64,
    /// The sequence that comes next in it.
    pub next: u64,
}

/// What is to be done with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its rows are new.
    Take,
    /// Its rows are there: acknowledge it again.
    Have,
    /// Something is missing before it: this sequence.
    Gap {
        /// What is to be sent.
        next: u64,
    },
    /// There is a newer epoch: its sender has to end.
    Fenced {
        /// The newer one.
        epoch: u64,
    },
}

impl Progress {
    /// Judges a frame, and counts it if its rows are to be taken.
    pub fn see(&mut self, frame: &Frame<'_>) -> Verdict {
        if frame.epoch < self.epoch {
            return Verdict::Fenced { epoch: self.epoch };
        }
        let next = if frame.epoch > self.epoch { 0 } else { self.next };
        match frame.sequence.cmp(&next) {
            std::cmp::Ordering::Less => Verdict::Have,
            std::cmp::Ordering::Greater => Verdict::Gap { next },
            std::cmp::Ordering::Equal => match next.checked_add(1) {
                Some(after) => {
                    *self = Self { epoch: frame.epoch, next: after };
                    Verdict::Take
                }
                // The last number of all is not used: nothing could follow it.
                None => Verdict::Gap { next },
            },
        }
    }
}
