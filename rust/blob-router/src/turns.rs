//! Who changes a blob, one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, PoisonError, Weak};

use afterbay_blob_format::BlobId;
use tokio::sync::Mutex;

/// So many blobs may be left behind before it is looked which of them nobody changes any more.
const LEFT_MIN: usize = 64;

/// A lock for each blob that is changed. None for several: one that waits for a disk holds up nobody else. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns(Arc<StdMutex<Locks>>);

#[derive(Debug, Default)]
struct Locks {
    by_id: HashMap<BlobId, Weak<Mutex<()>>>,
    /// After the last look.
    alive: usize,
}

impl Turns {
    /// The lock of a blob.
    pub(crate) fn of(&self, id: BlobId) -> Arc<Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.by_id.get(&id).and_then(Weak::upgrade) {
            return lock;
        }
        if locks.by_id.len() >= LEFT_MIN + 2 * locks.alive {
            locks.by_id.retain(|_, lock| lock.strong_count() > 0);
            locks.alive = locks.by_id.len();
        }
        let lock = Arc::default();
        locks.by_id.insert(id, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use afterbay_blob_format::PartitionId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_lock_for_a_blob_as_long_as_somebody_has_it() {
        let turns = Turns::default();
        let id = |n: u128| BlobId { partition: PartitionId(1), uuid: Uuid::from_u128(n) };
        let first = turns.of(id(0));
        for n in 1..1000 {
            assert!(!Arc::ptr_eq(&first, &turns.of(id(n))));
            assert!(Arc::ptr_eq(&first, &turns.of(id(0))));
        }
        assert!(turns.0.lock().unwrap().by_id.len() <= LEFT_MIN + 2);
    }
}
