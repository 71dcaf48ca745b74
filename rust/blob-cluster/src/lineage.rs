//! Which epochs a log has had: by them, a log that was put back to an older state is told from the one that it was.
//!
//! Each opening of a log begins an epoch, with an id that no other one has, at the number of the record that is written next.
//! Whoever restores a backup or a disk image opens the log again, told or not; so it goes on in another epoch than the log did
//! whose older state it is, and their lineages part where the backup was made:
//!
//! ```text
//!  the log           A@1 ------- B@10 ------ C@20 ------> 30     a peer has taken over 25 records: (C, 25)
//!  a backup of it    A@1 ------- B@10 -- 15
//!  is opened         A@1 ------- B@10 -- D@15 ----------> 40     the peer knows what lies before 15, and nothing else of it
//! ```
//!
//! Compared by numbers alone, records from 15 on would be taken for those of the peer (the leader epochs of Kafka, KIP-101, and
//! the timelines of PostgreSQL are for the same). An epoch is on the disk before the log takes a record in it.

use uuid::Uuid;

use crate::message::Epoch;
use crate::token::{Position, Token};

/// Epochs that a lineage has, at most: the first one, and the last ones. What was between them is one without a name, so that
/// the first one ends where it did.
const EPOCHS_MAX: usize = 32;

/// The epochs of a log, the newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lineage(Vec<Epoch>);

impl Lineage {
    /// These epochs, by their first record. An error is why there are no such.
    pub(crate) fn new(epochs: Vec<Epoch>) -> Result<Self, &'static str> {
        if epochs.len() > EPOCHS_MAX {
            Err("more epochs than a log remembers")
        } else if epochs.is_sorted_by_key(|epoch| epoch.start) {
            Ok(Lineage(epochs))
        } else {
            Err("epochs that are not in their order")
        }
    }

    /// All of them.
    pub fn epochs(&self) -> &[Epoch] {
        &self.0
    }

    /// The log is opened, and the next record gets the number `start`: epochs that begin behind it are of another past.
    pub(crate) fn begin(&mut self, id: Uuid, start: u64) {
        self.0.retain(|epoch| epoch.start <= start);
        if self.0.len() >= EPOCHS_MAX {
            self.0[1].id = Uuid::nil();
            self.0.remove(2);
        }
        self.0.push(Epoch { id, start });
    }

    /// The epoch that goes on.
    pub fn current(&self) -> Option<Uuid> {
        self.0.last().map(|epoch| epoch.id)
    }

    /// The first epoch says which log it is, whatever its state.
    pub(crate) fn incarnation(&self) -> Option<Uuid> {
        self.0.first().map(|epoch| epoch.id)
    }

    /// Where an epoch ends in a log that ends there.
    fn end_of(&self, at: usize, end: u64) -> u64 {
        self.0.get(at + 1).map_or(end, |next| next.start)
    }

    fn find(&self, id: Uuid) -> Option<usize> {
        self.0.iter().rposition(|epoch| epoch.id == id && !id.is_nil())
    }

    /// Whether who is there has taken over this log, which ends at `end`, and not another state of it.
    pub(crate) fn has(&self, position: &Position, end: u64) -> bool {
        let at = self.find(position.epoch);
        at.is_some_and(|at| position.sequence <= self.end_of(at, end))
    }

    /// Records of this log before this number were taken over by who has a token of it, or of another state of it.
    pub(crate) fn covered(&self, token: &Token) -> u64 {
        let of = &token.lineage;
        let common = of.0.iter().enumerate().rev().find_map(|(theirs, epoch)| {
            let ours = self.find(epoch.id)?;
            // Of the epoch that goes on, nobody has a token which is beyond its end.
            Some(self.end_of(ours, u64::MAX).min(of.end_of(theirs, token.sequence)))
        });
        // What lies before the first epoch that is known here may be the same.
        let before = || self.0.first().map_or(0, |first| first.start);
        common.unwrap_or_else(before).min(token.sequence)
    }
}

/// One whose epochs have these ids, and begin there.
#[cfg(test)]
pub(crate) fn lineage(epochs: &[(u128, u64)]) -> Lineage {
    let mut lineage = Lineage::default();
    for &(id, start) in epochs {
        lineage.begin(Uuid::from_u128(id), start);
    }
    lineage
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(epoch: u128, sequence: u64) -> Position {
        Position { incarnation: Uuid::from_u128(1), epoch: Uuid::from_u128(epoch), sequence }
    }

    #[test]
    fn a_position_behind_the_end_of_its_epoch_is_of_another_state() {
        let log = lineage(&[(1, 1), (2, 10), (4, 15)]);
        for (epoch, sequence, has) in
            [(1, 1, true), (1, 10, true), (1, 11, false), (2, 15, true), (2, 16, false)]
        {
            assert_eq!(log.has(&position(epoch, sequence), 40), has, "{epoch} {sequence}");
        }
        assert!(log.has(&position(4, 40), 40) && !log.has(&position(4, 41), 40));
        assert!(!log.has(&position(3, 25), 40), "an epoch of another past");
    }

    #[test]
    fn what_two_states_have_in_common_was_taken_over() {
        let log = lineage(&[(1, 1), (2, 10), (4, 15)]);
        let covered = |epochs: &[(u128, u64)], sequence| {
            log.covered(&Token { lineage: lineage(epochs), sequence })
        };
        assert_eq!(covered(&[(1, 1), (2, 10), (3, 20)], 25), 15, "until the backup");
        assert_eq!(covered(&[(1, 1), (2, 10), (3, 12)], 25), 12, "they parted before");
        assert_eq!(covered(&[(1, 1), (2, 10), (3, 20)], 12), 12, "it did not come that far");
        assert_eq!(covered(&[(1, 1), (2, 10), (4, 15)], 30), 30, "the same");
        assert_eq!(covered(&[(1, 1), (3, 8)], 30), 8);
        assert_eq!(covered(&[(7, 1), (8, 20)], 30), 1, "another log");
        let young = lineage(&[(9, 20)]);
        let token = Token { lineage: lineage(&[(1, 1)]), sequence: 30 };
        assert_eq!(young.covered(&token), 20, "what came before is not known any more");
    }

    #[test]
    fn a_log_that_was_put_back_forgets_epochs_behind_its_end_and_keeps_the_first() {
        let mut log = lineage(&[(1, 1), (2, 10), (3, 20)]);
        log.begin(Uuid::from_u128(4), 15);
        assert_eq!(log, lineage(&[(1, 1), (2, 10), (4, 15)]));
        for number in 5..100 {
            log.begin(Uuid::from_u128(number), 15 + number as u64);
        }
        assert_eq!(log.epochs().len(), EPOCHS_MAX);
        assert_eq!(log.incarnation(), Some(Uuid::from_u128(1)));
        assert_eq!(log.current(), Some(Uuid::from_u128(99)));
        assert!(log.has(&position(98, 114), 200) && !log.has(&position(5, 20), 200));
    }

    #[test]
    fn epochs_that_are_forgotten_leave_the_first_one_its_end() {
        let mut log = lineage(&[(1, 1)]);
        for number in 2..100 {
            log.begin(Uuid::from_u128(number), 10 * number as u64);
            assert!(log.has(&position(1, 20), 2_000) && !log.has(&position(1, 21), 2_000));
            // A backup of the first epoch, and a peer that had taken over the log until then.
            let token = Token { lineage: log.clone(), sequence: 10 * number as u64 };
            assert_eq!(lineage(&[(1, 1), (200, 15)]).covered(&token), 15);
            assert_eq!(lineage(&[(1, 1), (200, 25)]).covered(&token), 20, "{number}");
        }
        assert!(!log.has(&position(0, 1), 2_000), "no epoch has no name");
        assert_eq!(Lineage::new(log.epochs().to_vec()), Ok(log.clone()));
        // The end of what lies between is not known any more, and no token of it counts.
        assert_eq!(log.covered(&Token { lineage: lineage(&[(1, 1), (2, 20)]), sequence: 30 }), 20);
    }
}
