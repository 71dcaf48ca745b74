//! The newest records in the order of the log, for replicas that ask what is new.
//!
//! Only what is synced: a replica that was told of a record which a loss of power then takes back would never ask for
//! the one that gets its sequence number.

use std::collections::VecDeque;

use afterbay_blob_format::{BlobId, IndexEntry, PartitionId, RecordKind};

use crate::record::Record;

/// A record, as other replicas hear of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Its number in the log of this replica.
    pub sequence: u64,
    /// The blob.
    pub id: BlobId,
    /// What it says about it.
    pub kind: RecordKind,
    /// As in [`Record::life`].
    pub life: u32,
    /// As in [`Record::time_ms`].
    pub time_ms: u64,
    /// As in [`Record::expires_ms`].
    pub expires_ms: u64,
    /// Bytes of the record, all of it.
    pub length: u32,
}

impl Change {
    pub(crate) fn of(sequence: u64, partition: PartitionId, entry: &IndexEntry) -> Self {
        let IndexEntry { uuid, kind, life, time_ms, expires_ms, length, .. } = *entry;
        let id = BlobId { partition, uuid };
        Change { sequence, id, kind, life, time_ms, expires_ms, length }
    }

    /// The record itself, to be applied by another replica. `None` for a put, whose content has to be asked for where it is not
    /// there; but one of a later life says to who has the content what an undelete does, and is one here.
    pub fn record(&self) -> Option<Record> {
        let Change { id, kind, life, time_ms, expires_ms, .. } = *self;
        let (kind, expires_ms) = match kind {
            RecordKind::Put if life == 0 => return None,
            RecordKind::Put => (RecordKind::Undelete, 0),
            kind => (kind, expires_ms),
        };
        Some(Record { id, kind, life, time_ms, expires_ms, content: None })
    }
}

/// What came after a sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// In the order of the log. Fewer than there are, if there are more than were asked for.
    pub changes: Vec<Change>,
    /// What to ask for next.
    pub next_sequence: u64,
}

#[derive(Debug)]
pub(crate) struct Journal {
    /// All records from this one on are here.
    complete_from: u64,
    newest: VecDeque<Change>,
    capacity: usize,
}

impl Journal {
    pub(crate) fn new(complete_from: u64, capacity: usize) -> Self {
        Journal { complete_from, newest: VecDeque::new(), capacity }
    }

    pub(crate) fn push(&mut self, change: Change) {
        self.newest.push_back(change);
        if self.newest.len() > self.capacity
            && let Some(oldest) = self.newest.pop_front()
        {
            self.complete_from = oldest.sequence + 1;
        }
    }

    /// Forgets records before this one: some of them were compacted away, and nobody is to hear of these.
    pub(crate) fn forget_before(&mut self, sequence: u64) {
        let gone = self.newest.partition_point(|change| change.sequence < sequence);
        self.newest.drain(..gone);
        self.complete_from = self.complete_from.max(sequence);
    }

    /// Changes from `sequence` on and before `end`, at most `limit`; `None` if the journal does not reach so far back.
    pub(crate) fn since(&self, sequence: u64, end: u64, limit: usize) -> Option<Vec<Change>> {
        if sequence < self.complete_from {
            return None;
        }
        let begin = self.newest.partition_point(|change| change.sequence < sequence);
        let range = self.newest.range(begin..);
        Some(range.take_while(|change| change.sequence < end).take(limit).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afterbay_blob_format::PartitionId;

    #[test]
    fn it_forgets_the_oldest_and_says_so() {
        let mut journal = Journal::new(5, 3);
        let id = BlobId::random(PartitionId(1));
        for sequence in 5..10 {
            let (kind, life, time_ms, expires_ms, length) = (RecordKind::Put, 0, 1, 0, 88);
            journal.push(Change { sequence, id, kind, life, time_ms, expires_ms, length });
        }
        let told = |journal: &Journal, from, end, limit| {
            journal
                .since(from, end, limit)
                .map(|c| c.iter().map(|c| c.sequence).collect::<Vec<_>>())
        };
        let sequences = |from, end, limit| told(&journal, from, end, limit);
        assert_eq!(sequences(6, 10, 9), None);
        assert_eq!(sequences(7, 10, 9), Some(vec![7, 8, 9]));
        assert_eq!(sequences(7, 9, 9), Some(vec![7, 8]), "not what is not synced");
        assert_eq!(sequences(7, 10, 1), Some(vec![7]));
        assert_eq!(sequences(10, 10, 9), Some(vec![]));
        journal.forget_before(9);
        assert_eq!((told(&journal, 8, 10, 9), told(&journal, 9, 10, 9)), (None, Some(vec![9])));
        journal.forget_before(3);
        assert_eq!(told(&journal, 9, 10, 9), Some(vec![9]));
    }
}
