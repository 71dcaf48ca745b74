//! Random requests, with a store that fails once at any of its requests, against a plain map.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_router::testing::MemoryStore;
use afterbay_blob_router::{
    BlobId, BlobService, ByteRange, Error, PutOptions, Router, RouterOptions, source,
};
use afterbay_test_form::router_cases;
use bytes::Bytes;
use proptest::prelude::*;

const CHUNK: usize = 100;

#[derive(Debug, Clone)]
enum Op {
    Put(usize),
    /// One of the blobs, by a number that is taken modulo how many there are.
    Delete(usize),
    Undelete(usize),
    Read(usize, Option<(u64, u64)>),
    Compact,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0..7 * CHUNK).prop_map(Op::Put),
        3 => any::<usize>().prop_map(Op::Delete),
        2 => any::<usize>().prop_map(Op::Undelete),
        3 => (any::<usize>(), proptest::option::of((0..700u64, 0..700u64)))
            .prop_map(|(blob, range)| Op::Read(blob, range)),
        1 => Just(Op::Compact),
    ]
}

fn steps() -> impl Strategy<Value = Vec<(Op, Option<u64>)>> {
    proptest::collection::vec((op(), proptest::option::weighted(0.4, 0..10u64)), 1..30)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Alive,
    Deleted,
    /// Deleted and, as far as the store is asked, compacted away.
    Gone,
}

struct World {
    store: Arc<MemoryStore>,
    router: Router,
    blobs: BTreeMap<BlobId, (Bytes, State)>,
    puts: u8,
    /// A delete or undelete of it failed: it is to be deleted again, as callers are told.
    again: Option<BlobId>,
}

type Checked = Result<(), String>;

impl World {
    fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        let options = RouterOptions {
            chunk_bytes: CHUNK as u32,
            piece_bytes: 30,
            memory_bytes: 64 << 10,
            ..RouterOptions::default()
        };
        let router = Router::new(store.clone(), options).unwrap();
        World { store, router, blobs: BTreeMap::new(), puts: 0, again: None }
    }

    fn pick(&self, number: usize) -> Option<(BlobId, Bytes, State)> {
        let at = number.checked_rem(self.blobs.len())?;
        self.blobs.iter().nth(at).map(|(id, (content, state))| (*id, content.clone(), *state))
    }

    fn set(&mut self, id: BlobId, state: State) {
        self.blobs.entry(id).and_modify(|blob| blob.1 = state);
    }

    /// The so many-th request to the store fails, if there are so many.
    async fn step(&mut self, op: &Op, fails_at: Option<u64>) -> Checked {
        let asked = AtomicU64::new(0);
        self.store.fail(move |_, _| {
            let error = || Error::Unavailable { place: "disk".into(), reason: "no".into() };
            (Some(asked.fetch_add(1, Ordering::Relaxed)) == fails_at).then(error)
        });
        let done = self.apply(op, fails_at.is_some()).await;
        self.store.heal();
        done?;
        if let Some(id) = self.again.take() {
            self.router.delete(id).await.map_err(|e| format!("a second delete: {e}"))?;
            self.set(id, State::Deleted);
        }
        let alive = self.blobs.values().filter(|blob| blob.1 == State::Alive);
        let records = alive.map(|(content, _)| match content.len().div_ceil(CHUNK) {
            0 | 1 => 1,
            chunks => chunks + 1,
        });
        self.settle(records.sum()).await?;
        self.look().await
    }

    /// Waits until so many records are alive: what failed puts leave is deleted in the background, and must not meet the next
    /// fault.
    async fn settle(&self, records: usize) -> Checked {
        // All of it runs on this thread, and waits for nothing else.
        for _ in 0..10_000 {
            let free = self.router.memory_free_bytes() == 64 << 10;
            if self.store.alive().len() == records && free {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
        Err(format!("{} records, not {records}; {:?}", self.store.alive().len(), self.router))
    }

    async fn apply(&mut self, op: &Op, may_fail: bool) -> Checked {
        match op {
            Op::Put(length) => {
                self.puts = self.puts.wrapping_add(1);
                let content = Bytes::from(vec![self.puts; *length]);
                match self.router.put(source(content.clone()), PutOptions::default()).await {
                    Ok(put) => drop(self.blobs.insert(put.id, (content, State::Alive))),
                    Err(error) => require(may_fail, &error)?,
                }
            }
            Op::Delete(number) => {
                let Some((id, _, state)) = self.pick(*number) else { return Ok(()) };
                match self.router.delete(id).await {
                    Ok(()) => self.set(id, State::Deleted),
                    Err(Error::NotFound(_)) if state == State::Gone => {}
                    Err(error) => {
                        require(may_fail, &error)?;
                        self.again = Some(id).filter(|_| state != State::Gone);
                    }
                }
            }
            Op::Undelete(number) => {
                let Some((id, _, state)) = self.pick(*number) else { return Ok(()) };
                match (self.router.undelete(id).await, state) {
                    (Ok(()), State::Deleted) => self.set(id, State::Alive),
                    (Err(Error::NotDeleted(_)), State::Alive) => {}
                    (Err(Error::NotFound(_)), State::Gone) => {}
                    (Err(error), _) if may_fail => {
                        require(may_fail, &error)?;
                        // Its chunks may be alive: whoever does not ask again has to delete it.
                        self.again = Some(id).filter(|_| state == State::Deleted);
                    }
                    (other, state) => return Err(format!("undelete of {state:?}: {other:?}")),
                }
            }
            Op::Read(number, range) => {
                let Some((id, content, state)) = self.pick(*number) else { return Ok(()) };
                let range = range.map(|(first, last)| ByteRange::Inclusive(first, last));
                let wanted = match range {
                    None => Some(0..content.len() as u64),
                    Some(range) => range.of(content.len() as u64),
                };
                let got = match self.router.get(id, range).await {
                    Ok(got) => got.read().await,
                    Err(error) => Err(error),
                };
                match (got, state, wanted) {
                    (Ok(read), State::Alive, Some(wanted)) => {
                        let wanted = wanted.start as usize..wanted.end as usize;
                        if read != content.slice(wanted) {
                            return Err("other bytes".to_owned());
                        }
                    }
                    (Err(Error::Range { .. }), State::Alive, None) => {}
                    (Err(Error::Deleted(_)), State::Deleted, _) => {}
                    (Err(Error::NotFound(_)), State::Gone, _) => {}
                    (Err(_), _, _) if may_fail => {}
                    (other, state, _) => return Err(format!("get of {state:?}: {other:?}")),
                }
            }
            Op::Compact => {
                self.store.compact();
                for blob in self.blobs.values_mut().filter(|blob| blob.1 == State::Deleted) {
                    blob.1 = State::Gone;
                }
            }
        }
        Ok(())
    }

    /// All blobs are what they must be: alive and whole, or not to be had.
    async fn look(&mut self) -> Checked {
        let ids: Vec<BlobId> = self.blobs.keys().copied().collect();
        for id in ids {
            let (content, state) = self.blobs[&id].clone();
            let found = match self.router.get(id, None).await {
                Ok(got) => {
                    Some(got.read().await.map_err(|e| format!("a blob that is alive: {e}"))?)
                }
                Err(Error::Deleted(_) | Error::NotFound(_)) => None,
                Err(error) => return Err(error.to_string()),
            };
            let right = match (&found, state) {
                (Some(found), State::Alive) => *found == content,
                (None, State::Deleted | State::Gone) => true,
                _ => false,
            };
            if !right {
                return Err(format!("{state:?}, but {:?} bytes", found.map(|found| found.len())));
            }
        }
        Ok(())
    }

    /// Nothing is left when all blobs are deleted, and nobody holds memory.
    async fn end(&mut self) -> Checked {
        for id in self.blobs.keys() {
            match self.router.delete(*id).await {
                Ok(()) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        self.settle(0).await
    }
}

fn require(allowed: bool, error: &Error) -> Checked {
    if allowed { Ok(()) } else { Err(format!("an error without a fault: {error}")) }
}

fn run(steps: &[(Op, Option<u64>)]) -> Checked {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut world = World::new();
        for (op, fails_at) in steps {
            world.step(op, *fails_at).await.map_err(|e| format!("{op:?}, {fails_at:?}: {e}"))?;
        }
        world.end().await
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: router_cases(), failure_persistence: None, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_router_is_a_map(steps in steps()) {
        run(&steps).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn ranges_are_those_of_a_list(length in 0..50u64, a in 0..60u64, b in 0..60u64) {
        let all: Vec<u64> = (0..length).collect();
        for (range, wanted) in [
            (ByteRange::From(a), all.iter().filter(|i| **i >= a).collect::<Vec<_>>()),
            (ByteRange::Inclusive(a, b), all.iter().filter(|i| (a..=b).contains(i)).collect()),
            (ByteRange::Last(a), all.iter().filter(|i| **i + a >= length).collect()),
        ] {
            let found: Vec<u64> = range.of(length).into_iter().flatten().collect();
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), wanted);
        }
    }
}
