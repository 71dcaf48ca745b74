//! Which logs there have been, and which records of them each disk has taken over from others: as it was, whatever nodes say.
//!
//! A log lives until its disk is lost or put back. What is put back begins another life, which goes on from where the backup was
//! made. A record is of the life in which it was written:
//!
//! ```text
//!  life 1   1 ------- 10 ------- 20        another disk has taken over 15 records of it
//!  life 4        put back: 10 ------ 30    of these, 9 are in this life, too
//! ```

use std::collections::BTreeMap;

use afterbay_blob_cluster::{Lineage, Tokens};
use afterbay_blob_store::PartitionId;
use uuid::Uuid;

/// The number of a life, of all logs of a machine.
pub(crate) type Life = u64;

/// Before which record a disk has taken over the logs of a life.
pub(crate) type Taken = BTreeMap<(PartitionId, Life), u64>;

/// All lives that there were.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    count: Life,
    /// Of those that began with a backup: of which life it was, and which records came next.
    put_back: BTreeMap<Life, (Life, BTreeMap<PartitionId, u64>)>,
    /// In which life an epoch began.
    epochs: BTreeMap<Uuid, Life>,
}

impl Lives {
    /// Empty disks.
    pub(crate) fn begin(&mut self) -> Life {
        self.count += 1;
        self.count
    }

    /// A backup of a life goes on, with these records.
    pub(crate) fn go_on(&mut self, from: Life, next: BTreeMap<PartitionId, u64>) -> Life {
        let life = self.begin();
        self.put_back.insert(life, (from, next));
        life
    }

    /// In which life a record was written that a log has.
    fn of(&self, mut life: Life, partition: PartitionId, sequence: u64) -> Life {
        while let Some((from, next)) = self.put_back.get(&life)
            && next.get(&partition).is_none_or(|&next| sequence < next)
        {
            life = *from;
        }
        life
    }

    /// Whether who has taken over this has taken over a record that a log has in this life.
    pub(crate) fn has(
        &self,
        taken: &Taken,
        (partition, life, sequence): (PartitionId, Life, u64),
    ) -> bool {
        let written = self.of(life, partition, sequence);
        taken.iter().any(|(&(of, other), &before)| {
            of == partition && sequence < before && self.of(other, partition, sequence) == written
        })
    }

    /// These tokens are on a disk, in this life: what it has taken over besides.
    pub(crate) fn saved(
        &mut self,
        taken: &mut Taken,
        (partition, life): (PartitionId, Life),
        tokens: &Tokens,
    ) {
        if let Some(epoch) = tokens.lineage.current() {
            self.epochs.entry(epoch).or_insert(life);
        }
        for token in tokens.of.values() {
            for (life, before) in self.ends(&token.lineage, token.sequence) {
                let most = taken.entry((partition, life)).or_default();
                *most = before.max(*most);
            }
        }
    }

    /// Of which lives a token is, and how far it goes in each.
    fn ends(&self, lineage: &Lineage, sequence: u64) -> Vec<(Life, u64)> {
        let epochs = lineage.epochs();
        let next = epochs.iter().skip(1).map(|epoch| epoch.start).chain([sequence]);
        let ends = epochs.iter().zip(next).filter(|(epoch, end)| epoch.start < *end);
        ends.filter_map(|(epoch, end)| Some((*self.epochs.get(&epoch.id)?, end))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_of_the_life_in_which_it_was_written() {
        let partition = PartitionId(1);
        let mut lives = Lives::default();
        let first = lives.begin();
        let empty = lives.begin();
        let second = lives.go_on(first, BTreeMap::from([(partition, 10)]));
        let third = lives.go_on(second, BTreeMap::from([(partition, 20)]));
        let taken = |life, before| Taken::from([((partition, life), before)]);
        let has = |taken: &Taken, life, sequence| lives.has(taken, (partition, life, sequence));
        assert!(has(&taken(first, 15), first, 14) && !has(&taken(first, 15), first, 15));
        assert!(has(&taken(first, 15), second, 9), "from before the backup");
        assert!(!has(&taken(first, 15), second, 10), "another record has the number");
        assert!(has(&taken(third, 25), first, 9) && !has(&taken(third, 25), first, 10));
        assert!(has(&taken(third, 25), second, 19) && !has(&taken(third, 25), second, 20));
        assert!(!has(&taken(empty, 15), first, 5));
        let other = Taken::from([((PartitionId(2), first), 15)]);
        assert!(!has(&other, first, 5));
    }
}
