//! What clients were told about a blob, and what must be true of it because of that.
//!
//! One client at a time changes a blob, and waits for the answer before it asks for the next change; others may read it. What was
//! answered with "done" must stay. What was never answered, or with "I do not know", may have happened, may happen later, or never.
//! A promise ends with more disks than it was made for: one that k replicas gave is broken by the loss of k disks before
//! what they had was copied. Then, too, it may have happened or not.

use std::collections::BTreeSet;
use std::time::Duration;

use afterbay_blob_store::{BlobId, Durability};
use bytes::Bytes;

/// What a disk lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// All that it had.
    All,
    /// What was acknowledged at `fast` at this time or later: what was before is synced.
    Unsynced {
        /// In simulated time.
        flushed_before: Duration,
    },
}

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// To store the blob.
    Put,
    /// To delete it.
    Delete,
    /// To take the delete back.
    Undelete,
    /// To let it expire then, in milliseconds since 1970; 0 is never.
    UpdateTtl(u64),
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client waits.
    Open,
    /// It was acknowledged.
    Done,
    /// It was refused, and nothing was changed.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// A change that a client asked for.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// What.
    pub(crate) action: Action,
    /// What an acknowledgement means for a disk.
    pub(crate) durability: Durability,
    /// The answer.
    pub(crate) outcome: Outcome,
    /// When it came.
    answered: Option<Duration>,
    /// So many replicas acknowledged it.
    copies: usize,
    /// Disks that lost it, if they had it, before all replicas were equal again.
    lost: BTreeSet<u32>,
    is_broken: bool,
}

impl Step {
    /// It was done, and nothing has happened to it that was not provided for.
    fn holds(&self) -> bool {
        self.outcome == Outcome::Done && !self.is_broken
    }

    /// It may have happened, may happen, or never.
    fn is_open(&self) -> bool {
        self.outcome != Outcome::Refused && !self.holds()
    }
}

/// Something that must be, must not be, or may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// It must be so.
    Yes,
    /// It must not be so.
    No,
    /// Both are right.
    Either,
}

/// A blob, and what clients asked for.
#[derive(Debug, Clone)]
pub(crate) struct Story {
    /// Its id.
    pub(crate) id: BlobId,
    /// Its content.
    pub(crate) body: Bytes,
    /// When it expires as it was put; 0 is never.
    pub(crate) expires_ms: u64,
    /// All changes in their order; the first is the put.
    pub(crate) steps: Vec<Step>,
}

impl Story {
    /// A client asks for a change.
    pub(crate) fn ask(&mut self, action: Action, durability: Durability) {
        self.steps.push(Step {
            action,
            durability,
            outcome: Outcome::Open,
            answered: None,
            copies: 0,
            lost: BTreeSet::new(),
            is_broken: false,
        });
    }

    /// The answer to the last change, of so many replicas.
    pub(crate) fn answer(&mut self, outcome: Outcome, copies: usize, at: Duration) {
        if let Some(step) = self.steps.last_mut() {
            (step.outcome, step.answered) = (outcome, Some(at));
            step.copies = copies;
            step.is_broken = step.lost.len() >= copies;
        }
    }

    /// Whether a client waits for the answer to a change.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.steps.last().is_some_and(|step| step.outcome == Outcome::Open)
    }

    /// A disk lost what it had, or only what need not be synced.
    pub(crate) fn lose(&mut self, disk: u32, loss: Loss) {
        for step in &mut self.steps {
            let is_lost = match loss {
                Loss::All => true,
                Loss::Unsynced { flushed_before } => {
                    step.durability == Durability::Fast
                        && step.answered.is_none_or(|at| at >= flushed_before)
                }
            };
            if is_lost {
                step.lost.insert(disk);
                step.is_broken |= step.lost.len() >= step.copies;
            }
        }
    }

    /// If it is deleted, or may be, it comes back as it was put: nobody can know what was said of it since. Whether it is.
    pub(crate) fn forget_deletes(&mut self) -> bool {
        let may_be_deleted = self.is_deleted() != Expected::No;
        if may_be_deleted {
            let of = |step: &&mut Step| step.action != Action::Put && step.outcome == Outcome::Done;
            self.steps.iter_mut().filter(of).for_each(|step| step.is_broken = true);
        }
        may_be_deleted
    }

    /// All replicas have the same, on the disk: what holds now does not depend on who was lost before. Of a change that is not
    /// answered yet, replicas may have acknowledged it that were lost.
    pub(crate) fn all_have_it(&mut self) {
        let answered = self.steps.iter_mut().filter(|step| step.outcome != Outcome::Open);
        answered.for_each(|step| step.lost.clear());
    }

    /// Whether its content must be somewhere, unless it is deleted or expired.
    pub(crate) fn must_exist(&self) -> bool {
        self.steps.first().is_some_and(Step::holds)
    }

    /// Whether it is deleted.
    pub(crate) fn is_deleted(&self) -> Expected {
        let all = || self.steps.iter().filter(|step| step.outcome != Outcome::Refused);
        let is = |action| move |step: &&Step| step.action == action;
        let Some(last) =
            all().rfind(|step| matches!(step.action, Action::Delete | Action::Undelete))
        else {
            return Expected::No;
        };
        // A change whose end nobody knows may also happen behind all that came later.
        match last.action {
            Action::Delete if all().filter(is(Action::Undelete)).any(Step::is_open) => {
                Expected::Either
            }
            Action::Delete if last.holds() => Expected::Yes,
            // That it took back a delete says that all before are in a life that is over.
            Action::Undelete if all().filter(is(Action::Delete)).all(Step::holds) => {
                if last.holds() { Expected::No } else { Expected::Either }
            }
            _ => Expected::Either,
        }
    }

    /// Whether each replica that acknowledged the last delete still has it.
    pub(crate) fn is_deleted_everywhere_it_was(&self) -> bool {
        let last = self.steps.iter().rfind(|step| step.action == Action::Delete && step.holds());
        last.is_none_or(|step| step.lost.is_empty())
    }

    /// When it may expire; 0 is never.
    pub(crate) fn expiries(&self) -> BTreeSet<u64> {
        let updates = || {
            self.steps.iter().filter_map(|step| match step.action {
                Action::UpdateTtl(expires_ms) => Some((step, expires_ms)),
                _ => None,
            })
        };
        let last = updates().rfind(|(step, _)| step.holds());
        let certain = last.map_or(self.expires_ms, |(_, expires_ms)| expires_ms);
        let open = updates().filter(|(step, _)| step.is_open());
        open.map(|(_, expires_ms)| expires_ms).chain([certain]).collect()
    }

    /// Whether anybody ever asked that it expires before this time. Of such a blob a node whose clock is wrong may have
    /// dropped the content.
    pub(crate) fn ever_expires_before(&self, time_ms: u64) -> bool {
        let asked = self.steps.iter().filter_map(|step| match step.action {
            Action::UpdateTtl(expires_ms) => Some(expires_ms),
            _ => None,
        });
        asked.chain([self.expires_ms]).any(|expires_ms| expires_ms != 0 && expires_ms < time_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afterbay_blob_store::PartitionId;

    fn story(steps: &[(Action, Outcome)]) -> Story {
        let id = BlobId::random(PartitionId(1));
        let mut story = Story { id, body: Bytes::new(), expires_ms: 7, steps: Vec::new() };
        for (action, outcome) in [(Action::Put, Outcome::Done)].iter().chain(steps) {
            story.ask(*action, Durability::Durable);
            assert!(story.is_waited_for());
            story.answer(*outcome, 2, Duration::from_secs(5));
        }
        story
    }

    #[test]
    fn who_waits_for_no_answer_knows_whether_it_is_deleted() {
        use Action::{Delete, Undelete};
        use Outcome::{Done, Open, Refused, Unknown};
        let expected = |steps: &[_]| story(steps).is_deleted();
        assert_eq!(expected(&[]), Expected::No);
        assert_eq!(expected(&[(Delete, Refused)]), Expected::No);
        assert_eq!(expected(&[(Delete, Done)]), Expected::Yes);
        assert_eq!(expected(&[(Delete, Done), (Undelete, Refused)]), Expected::Yes);
        assert_eq!(expected(&[(Delete, Unknown)]), Expected::Either);
        assert_eq!(expected(&[(Delete, Open)]), Expected::Either);
        assert_eq!(expected(&[(Delete, Done), (Undelete, Done)]), Expected::No);
        assert_eq!(expected(&[(Delete, Done), (Undelete, Unknown)]), Expected::Either);
        assert_eq!(expected(&[(Delete, Unknown), (Undelete, Done)]), Expected::Either);
        assert_eq!(
            expected(&[(Delete, Done), (Undelete, Unknown), (Delete, Done)]),
            Expected::Either
        );
        assert_eq!(
            expected(&[(Delete, Unknown), (Delete, Done), (Undelete, Refused)]),
            Expected::Yes
        );
    }

    #[test]
    fn the_last_expiry_holds_and_others_that_nobody_knows_of_may() {
        use Outcome::{Done, Refused, Unknown};
        let expiries = |steps: &[(u64, Outcome)]| {
            let steps: Vec<_> =
                steps.iter().map(|&(at, outcome)| (Action::UpdateTtl(at), outcome)).collect();
            story(&steps).expiries().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(expiries(&[]), [7]);
        assert_eq!(expiries(&[(1, Done), (0, Done), (3, Refused)]), [0]);
        assert_eq!(expiries(&[(1, Unknown), (2, Done)]), [1, 2]);
        assert_eq!(expiries(&[(2, Unknown)]), [2, 7]);
        let story = story(&[(Action::UpdateTtl(0), Unknown)]);
        assert!(story.ever_expires_before(8) && !story.ever_expires_before(7));
    }

    #[test]
    fn a_promise_of_two_copies_is_broken_by_two_disks_but_not_by_one_twice() {
        let mut kept = story(&[]);
        kept.lose(1, Loss::All);
        kept.lose(1, Loss::All);
        let flushed_before = Duration::from_secs(5);
        kept.lose(2, Loss::Unsynced { flushed_before });
        assert!(kept.must_exist(), "it was synced");
        kept.all_have_it();
        kept.lose(2, Loss::All);
        assert!(kept.must_exist());
        kept.lose(3, Loss::All);
        assert!(!kept.must_exist());
        kept.all_have_it();
        assert!(!kept.must_exist(), "what is lost does not come back by itself");
        let mut fast = story(&[]);
        fast.steps[0].durability = Durability::Fast;
        let flushed = |ms| Loss::Unsynced { flushed_before: Duration::from_millis(ms) };
        fast.lose(1, flushed(5_001));
        fast.lose(2, flushed(5_001));
        assert!(fast.must_exist(), "it was flushed");
        fast.lose(1, flushed(5_000));
        fast.lose(2, flushed(5_000));
        assert!(!fast.must_exist());
    }

    #[test]
    fn that_it_was_deleted_is_forgotten_and_what_comes_later_counts() {
        use Action::{Delete, Undelete, UpdateTtl};
        use Outcome::{Done, Unknown};
        let mut alive = story(&[(UpdateTtl(9), Done), (Delete, Done), (Undelete, Done)]);
        assert!(!alive.forget_deletes());
        assert_eq!((alive.is_deleted(), alive.expiries()), (Expected::No, [9].into()));
        let mut deleted = story(&[(UpdateTtl(9), Done), (Delete, Done)]);
        assert!(deleted.forget_deletes() && deleted.must_exist());
        assert_eq!((deleted.is_deleted(), deleted.expiries()), (Expected::Either, [7, 9].into()));
        deleted.ask(Delete, Durability::Durable);
        deleted.answer(Done, 2, Duration::from_secs(6));
        assert_eq!(deleted.is_deleted(), Expected::Yes);
        assert!(story(&[(Delete, Unknown)]).forget_deletes());
    }

    #[test]
    fn what_is_lost_before_the_answer_counts() {
        let mut story = story(&[]);
        story.ask(Action::Delete, Durability::Durable);
        story.lose(1, Loss::All);
        story.all_have_it();
        story.lose(2, Loss::All);
        story.answer(Outcome::Done, 2, Duration::ZERO);
        assert_eq!(story.is_deleted(), Expected::Either);
    }
}
