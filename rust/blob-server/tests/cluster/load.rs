//! What clients do meanwhile, and what has to be there afterwards.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use afterbay_blob_client::{Client, Code, PutHead};
use afterbay_blob_router::{BlobId, source};
use afterbay_test_form::Wait;
use bytes::Bytes;
use tokio::task::JoinHandle;

use crate::common::content;

/// Most blobs are one record, some have chunks.
fn body(number: u64) -> Bytes {
    let length =
        if number.is_multiple_of(9) { 150_000 + number % 7000 } else { number * 997 % 9000 };
    content(number, length as usize)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Alive,
    Deleted,
}

/// What was acknowledged, and what went wrong.
#[derive(Debug, Default)]
pub(super) struct Model {
    blobs: Mutex<BTreeMap<BlobId, (u64, State)>>,
    next: AtomicU64,
    done: AtomicU64,
    pub(super) tally: Mutex<BTreeMap<&'static str, u64>>,
    errors: Mutex<Vec<String>>,
}

impl Model {
    fn count(&self, what: &'static str) {
        *self.tally.lock().unwrap().entry(what).or_default() += 1;
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn wrong(&self, what: String) {
        self.errors.lock().unwrap().push(what);
    }

    pub(super) async fn put(&self, client: &Client) -> Option<BlobId> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        match client.put(PutHead::default(), source(body(number))).await {
            Ok(put) => {
                self.blobs.lock().unwrap().insert(put.id, (number, State::Alive));
                self.count("put");
                Some(put.id)
            }
            Err(error) => {
                self.wrong(format!("put {number}: {error}"));
                None
            }
        }
    }

    pub(super) async fn get(&self, client: &Client, id: BlobId) {
        let (number, _) = self.blobs.lock().unwrap()[&id];
        match read(client, id).await {
            Ok(bytes) if bytes == body(number) => self.count("get"),
            Ok(bytes) => self.wrong(format!("{id}: {} bytes that are others", bytes.len())),
            Err((_, error)) => self.wrong(format!("get {id}: {error}")),
        }
    }

    pub(super) async fn delete(&self, client: &Client, id: BlobId) -> bool {
        match client.delete(id).await {
            Ok(_) => {
                self.blobs.lock().unwrap().get_mut(&id).unwrap().1 = State::Deleted;
                self.count("delete");
                true
            }
            Err(error) => {
                self.wrong(format!("delete {id}: {error}"));
                false
            }
        }
    }

    pub(super) async fn undelete(&self, client: &Client, id: BlobId) {
        match client.undelete(id).await {
            Ok(()) => {
                self.blobs.lock().unwrap().get_mut(&id).unwrap().1 = State::Alive;
                self.count("undelete");
            }
            Err(error) => self.wrong(format!("undelete {id}: {error}")),
        }
    }

    /// What is not as it was acknowledged. One replica alone does not know whether a delete was taken back.
    pub(super) async fn check(&self, client: &Client, also_deleted: bool) -> Vec<String> {
        let blobs = self.blobs.lock().unwrap().clone();
        let mut wrong = Vec::new();
        for (id, (number, state)) in blobs {
            if state == State::Deleted && !also_deleted {
                continue;
            }
            match (state, read(client, id).await) {
                (State::Alive, Ok(bytes)) if bytes == body(number) => {}
                (State::Alive, Ok(_)) => wrong.push(format!("{id}: other bytes")),
                (State::Alive, Err((_, error))) => wrong.push(format!("{id}: {error}")),
                (State::Deleted, Err((Some(Code::Deleted), _))) => {}
                (State::Deleted, other) => wrong.push(format!("{id}: deleted, and {other:?}")),
            }
        }
        wrong
    }

    pub(super) fn errors(&self) -> Vec<String> {
        self.errors.lock().unwrap().clone()
    }

    /// Waits until so much more is done.
    pub(super) async fn until_done(&self, more: u64) {
        let wait = Wait::until("clients go on");
        let until = self.done.load(Ordering::Relaxed) + more;
        while self.done.load(Ordering::Relaxed) < until {
            wait.check((&self.tally, &self.errors));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn read(client: &Client, id: BlobId) -> Result<Bytes, (Option<Code>, String)> {
    let failed = |error: afterbay_blob_client::ClientError| (error.code(), error.to_string());
    client.get(id, None).await.map_err(failed)?.content.read_all().await.map_err(failed)
}

/// Clients that go on until they are stopped.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    workers: Vec<JoinHandle<()>>,
}

impl Load {
    pub(super) fn begin(model: &Arc<Model>, clients: &[Client]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let workers = (0..4).map(|worker| {
            let (model, clients, stop) = (model.clone(), clients.to_vec(), stop.clone());
            tokio::spawn(async move { work(worker, &model, &clients, &stop).await })
        });
        Load { workers: workers.collect(), stop }
    }

    pub(super) async fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for worker in self.workers {
            worker.await.unwrap();
        }
    }
}

/// Each has blobs of its own, and asks any of the frontends.
async fn work(worker: u64, model: &Model, clients: &[Client], stop: &AtomicBool) {
    let mut random = 0x9e37_79b9_7f4a_7c15 ^ (worker + 1);
    let (mut alive, mut deleted) = (Vec::new(), Vec::new());
    while !stop.load(Ordering::Relaxed) {
        random = next(random);
        let client = &clients[(random >> 8) as usize % clients.len()];
        let at = (random >> 20) as usize;
        match random % 16 {
            0..=6 => alive.extend(model.put(client).await),
            7..=12 if !alive.is_empty() => model.get(client, alive[at % alive.len()]).await,
            13..=14 if alive.len() > 2 => {
                let id = alive.swap_remove(at % alive.len());
                if model.delete(client, id).await {
                    deleted.push(id);
                }
            }
            15 if !deleted.is_empty() => {
                let id: BlobId = deleted.swap_remove(at % deleted.len());
                model.undelete(client, id).await;
                alive.push(id);
            }
            _ => {}
        }
    }
}

/// Xorshift.
fn next(mut random: u64) -> u64 {
    random ^= random << 13;
    random ^= random >> 7;
    random ^ random << 17
}
