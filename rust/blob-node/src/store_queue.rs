//! Carries out what the state machine asks of the store, on threads that wait for the disk.
//!
//! # Bounds
//! - [`THREADS_MAX`] operations are carried out at once, and beside them [`COMPACTIONS_MAX`] compactions and [`SCRUBS_MAX`] scrubs,
//!   which take long and so hold up nothing else. What is beyond waits.
//! - What came by a message counts in the inbox until it is stored. Blobs of this node's own clients hold [`OWN_BYTES_MAX`] until
//!   then: those that others have acknowledged may still wait for this disk. Beyond, they are refused here, and fetched from the
//!   others later.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use afterbay_blob_cluster::{LocalStore, Refusal, StoreAnswer, StoreOperation};
use afterbay_blob_store::{Partition, PartitionId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::driver::{Event, Events};

/// Half of the threads that tokio has for what blocks.
const THREADS_MAX: usize = 256;
const COMPACTIONS_MAX: usize = 2;
const SCRUBS_MAX: usize = 1;
/// At least what a server alone holds of requests by default.
const OWN_BYTES_MAX: usize = 256 << 20;

/// What an operation counts for, until it is done.
pub(crate) type Memory = Option<Arc<OwnedSemaphorePermit>>;

/// Of one node. Answers come as [`Event::Stored`].
#[derive(Debug)]
pub(crate) struct StoreQueue {
    store: Arc<LocalStore>,
    events: Events,
    threads: Arc<Semaphore>,
    compactions: Arc<Semaphore>,
    scrubs: Arc<Semaphore>,
    own_bytes: Arc<Semaphore>,
}

impl StoreQueue {
    pub(crate) fn new(store: Arc<LocalStore>, events: Events) -> Self {
        StoreQueue {
            store,
            events,
            threads: Arc::new(Semaphore::new(THREADS_MAX)),
            compactions: Arc::new(Semaphore::new(COMPACTIONS_MAX)),
            scrubs: Arc::new(Semaphore::new(SCRUBS_MAX)),
            own_bytes: Arc::new(Semaphore::new(OWN_BYTES_MAX)),
        }
    }

    /// Carries it out, now or later; it is answered in any case. `memory` is that of the message that it came by; `None` if it
    /// came by none.
    pub(crate) fn add(
        &self,
        call: u64,
        partition: PartitionId,
        operation: StoreOperation,
        memory: &Memory,
    ) {
        let Some(memory) = memory.clone().map_or_else(|| self.own(&operation), |m| Some(Some(m)))
        else {
            return answer(&self.events, call, StoreAnswer::Failed(Refusal::Busy));
        };
        let turns = match operation {
            StoreOperation::Compact { .. } => &self.compactions,
            // What reads much, and is not waited for.
            StoreOperation::Scrub { .. } | StoreOperation::Recount { .. } => &self.scrubs,
            _ => &self.threads,
        };
        let (store, events) = (self.store.clone(), self.events.clone());
        let carry_out = move |turn: OwnedSemaphorePermit| {
            let execute = AssertUnwindSafe(|| store.execute(partition, operation));
            let answered = catch_unwind(execute).unwrap_or_else(|_| {
                tracing::error!(%partition, "an operation of the store panicked: start the node again");
                let text = "an operation of the store panicked; start the node again";
                StoreAnswer::Failed(Refusal::Store(text.to_owned()))
            });
            drop((turn, memory));
            answer(&events, call, answered);
        };
        match turns.clone().try_acquire_owned() {
            Ok(turn) => drop(tokio::task::spawn_blocking(move || carry_out(turn))),
            Err(_) => {
                let (turns, events) = (turns.clone(), self.events.clone());
                tokio::spawn(async move {
                    match turns.acquire_owned().await {
                        Ok(turn) => drop(tokio::task::spawn_blocking(move || carry_out(turn))),
                        Err(_) => answer(&events, call, StoreAnswer::Failed(Refusal::NotReady)),
                    }
                });
            }
        }
    }

    /// Bytes that a scrub of these replicas would read now.
    pub(crate) fn scrub_bytes(&self, partitions: &[PartitionId]) -> u64 {
        let here = partitions.iter().filter_map(|id| self.store.partition(*id));
        here.map(Partition::scrub_bytes).sum()
    }

    /// The memory of what came by no message; `None` if there is none left.
    fn own(&self, operation: &StoreOperation) -> Option<Memory> {
        let bytes = operation.bytes().min(OWN_BYTES_MAX) as u32;
        if bytes == 0 {
            return Some(None);
        }
        let held = self.own_bytes.clone().try_acquire_many_owned(bytes).ok()?;
        Some(Some(Arc::new(held)))
    }

    /// Nothing that waits is begun any more; it is answered.
    pub(crate) fn close(&self) {
        for turns in [&self.threads, &self.compactions, &self.scrubs] {
            turns.close();
        }
    }
}

fn answer(events: &Events, call: u64, answer: StoreAnswer) {
    // Nobody listens any more if the node has stopped.
    let _ = events.send(Event::Stored(call, answer));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use afterbay_blob_store::sim::{Fault, SimDisk};
    use afterbay_blob_store::{
        BlobId, Content, Durability, Options, Record, RecordKind, SystemClock,
    };
    use afterbay_test_form::PATIENCE;
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    use super::*;

    const PARTITION: PartitionId = PartitionId(1);
    const BODY_BYTES: usize = 1000;

    struct Queue {
        queue: StoreQueue,
        happened: mpsc::UnboundedReceiver<Event>,
        disk: SimDisk,
    }

    fn queue() -> Queue {
        let disk = SimDisk::new(1);
        let options =
            Options { capacity_bytes: 1 << 20, segment_bytes: 64 << 10, ..Options::default() };
        Partition::create(&*disk.directory(), PARTITION, &options).unwrap();
        let clock = Arc::new(SystemClock);
        let partition = Partition::open(disk.directory(), options, clock.clone()).unwrap();
        let tokens = SimDisk::new(2).directory();
        let store = Arc::new(LocalStore::new(clock, tokens, vec![partition]));
        let (events, happened) = mpsc::unbounded_channel();
        Queue { queue: StoreQueue::new(store, events), happened, disk }
    }

    impl Queue {
        fn add(&self, call: u64, operation: StoreOperation) {
            self.queue.add(call, PARTITION, operation, &None);
        }

        /// So many answers, by their calls.
        async fn answers(&mut self, count: usize) -> BTreeMap<u64, StoreAnswer> {
            let mut answers = BTreeMap::new();
            while answers.len() < count {
                match timeout(PATIENCE, self.happened.recv()).await.unwrap() {
                    Some(Event::Stored(call, answer)) => {
                        assert_eq!(answers.insert(call, answer), None);
                    }
                    other => panic!("{other:?}"),
                }
            }
            answers
        }
    }

    fn apply(body_bytes: usize) -> StoreOperation {
        let id = BlobId::random(PARTITION);
        let content = (body_bytes > 0).then(|| Content {
            container: 0,
            properties: Vec::new().into(),
            body: vec![7; body_bytes].into(),
        });
        let kind = if content.is_some() { RecordKind::Put } else { RecordKind::Delete };
        let record = Record { id, kind, life: 0, time_ms: 1, expires_ms: 0, content };
        let (records, durability) = (vec![record], Durability::Durable);
        StoreOperation::Apply { records, durability, from_client: true, deadline_ms: None }
    }

    #[tokio::test]
    async fn what_waits_for_the_disk_is_bounded() {
        let mut queue = queue();
        let (own_bytes, threads) = (queue.queue.own_bytes.clone(), queue.queue.threads.clone());
        let room = 10 * apply(BODY_BYTES).bytes() + BODY_BYTES;
        let others = own_bytes.try_acquire_many((OWN_BYTES_MAX - room) as u32).unwrap();
        let busy = threads.try_acquire_many(THREADS_MAX as u32).unwrap();
        for call in 0..12 {
            queue.add(call, apply(BODY_BYTES));
        }
        let refused = queue.answers(2).await;
        assert_eq!(refused.keys().copied().collect::<Vec<_>>(), [10, 11]);
        assert!(refused.values().all(|a| *a == StoreAnswer::Failed(Refusal::Busy)), "{refused:?}");
        // What is small is taken all the same, and what came by a message has its memory.
        queue.add(12, apply(0));
        let message = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        queue.queue.add(13, PARTITION, apply(BODY_BYTES), &Some(Arc::new(message)));
        drop(busy);
        let done = queue.answers(12).await;
        assert!(done.values().all(|a| *a == StoreAnswer::Applied(vec![Ok(())])), "{done:?}");
        drop(others);
        assert_eq!(own_bytes.available_permits(), OWN_BYTES_MAX);
    }

    #[tokio::test]
    async fn what_takes_long_holds_up_nothing_else_and_is_not_begun_at_the_end() {
        let mut queue = queue();
        let scrubs = queue.queue.scrubs.clone();
        let _scrub = scrubs.try_acquire_many(SCRUBS_MAX as u32).unwrap();
        queue.add(1, StoreOperation::Scrub { run: 1, bytes_per_s: 0 });
        queue.add(2, apply(BODY_BYTES));
        queue.add(3, StoreOperation::Flush);
        let done = queue.answers(2).await;
        assert_eq!(done.keys().copied().collect::<Vec<_>>(), [2, 3]);
        queue.queue.close();
        assert_eq!(queue.answers(1).await[&1], StoreAnswer::Failed(Refusal::NotReady));
    }

    #[tokio::test]
    async fn an_operation_that_panics_is_answered() {
        let mut queue = queue();
        queue.disk.fail_after(0, Fault::Panic);
        queue.add(1, apply(BODY_BYTES));
        let answers = queue.answers(1).await;
        assert!(
            matches!(&answers[&1], StoreAnswer::Failed(Refusal::Store(text)) if text.contains("panicked")),
            "{answers:?}"
        );
        assert_eq!(queue.queue.threads.available_permits(), THREADS_MAX);
        assert_eq!(queue.queue.own_bytes.available_permits(), OWN_BYTES_MAX);
    }
}
