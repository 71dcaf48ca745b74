//! Ids for blobs, whose reservation is durable before they are used.
//!
//! A reservation is a commit. So that no put waits for one, ids are reserved some dozens at a time, for each partition, and
//! more are fetched while half of them are still there.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use afterbay_blob_format::{BlobId, PartitionId};
use tokio::sync::OnceCell;

use crate::command::{Command, Outcome};
use crate::error::{NamesError, Result};
use crate::names::Names;
use crate::now_ms;

/// Ids of one reservation.
const BATCH: usize = 64;

/// The reservations of a frontend's session. Cheap to clone.
#[derive(Clone)]
pub struct Reservations(Arc<Inner>);

struct Inner {
    names: Arc<dyn Names>,
    frontend: String,
    session: OnceCell<u64>,
    pools: Mutex<HashMap<PartitionId, Arc<Pool>>>,
    /// Handed out, and neither named nor given up.
    used: Mutex<HashSet<BlobId>>,
}

#[derive(Default)]
struct Pool {
    ids: Mutex<Vec<BlobId>>,
    /// One at a time fetches more.
    fetching: tokio::sync::Mutex<()>,
    ahead: AtomicBool,
}

impl std::fmt::Debug for Reservations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reservations").field("session", &self.0.session).finish_non_exhaustive()
    }
}

impl Reservations {
    /// Begins a session: what `frontend` reserved before and did not name becomes garbage. Two processes must not have
    /// the same frontend's name at the same time.
    pub async fn begin(names: Arc<dyn Names>, frontend: &str) -> Result<Self> {
        let this = Self::later(names, frontend);
        this.session().await?;
        Ok(this)
    }

    /// The same, with a session that begins when the first id is taken: for names that cannot be changed yet.
    pub fn later(names: Arc<dyn Names>, frontend: &str) -> Self {
        let (pools, used, session) = (Mutex::default(), Mutex::default(), OnceCell::new());
        let frontend = frontend.to_owned();
        Reservations(Arc::new(Inner { names, frontend, session, pools, used }))
    }

    async fn session(&self) -> Result<u64> {
        let begin = || async {
            let begin = Command::BeginSession { frontend: self.0.frontend.clone() };
            match self.0.names.apply(begin).await? {
                Outcome::Session(session) => Ok(session),
                _ => {
                    let reason = "a session was answered by something else".to_owned();
                    Err(NamesError::Invalid { what: "answer", reason })
                }
            }
        };
        self.0.session.get_or_try_init(begin).await.copied()
    }

    /// An id in `partition` that no blob has had, reserved durably.
    pub async fn take(&self, partition: PartitionId) -> Result<BlobId> {
        let pool = lock(&self.0.pools).entry(partition).or_default().clone();
        loop {
            if let Some((id, left)) = pool.pop() {
                lock(&self.0.used).insert(id);
                if left == BATCH / 2 && !pool.ahead.swap(true, Ordering::Relaxed) {
                    self.fetch_ahead(partition, pool);
                }
                return Ok(id);
            }
            self.fetch(partition, &pool).await?;
        }
    }

    async fn fetch(&self, partition: PartitionId, pool: &Pool) -> Result<()> {
        let _one = pool.fetching.lock().await;
        if !lock(&pool.ids).is_empty() {
            return Ok(());
        }
        self.reserve(partition, pool).await
    }

    async fn reserve(&self, partition: PartitionId, pool: &Pool) -> Result<()> {
        let blobs: Vec<_> = (0..BATCH).map(|_| BlobId::random(partition)).collect();
        let (frontend, session) = (self.0.frontend.clone(), self.session().await?);
        let reserve = Command::Reserve { frontend, session, blobs: blobs.clone() };
        self.0.names.apply(reserve).await?;
        lock(&pool.ids).extend(blobs);
        Ok(())
    }

    fn fetch_ahead(&self, partition: PartitionId, pool: Arc<Pool>) {
        let this = self.clone();
        tokio::spawn(async move {
            // Who finds the pool empty tries again and hears the error.
            if let Err(error) = this.reserve(partition, &pool).await {
                tracing::warn!(%error, "no ids were reserved ahead");
            }
            pool.ahead.store(false, Ordering::Relaxed);
        });
    }

    /// Watches over a blob that was written under an id taken from here, until it is named.
    pub fn watch(&self, id: BlobId) -> Reserved {
        Reserved { reservations: self.clone(), id, kept: false }
    }

    /// Whether an id was taken from here and is neither named nor given up.
    pub fn is_used(&self, id: BlobId) -> bool {
        lock(&self.0.used).contains(&id)
    }

    /// Says that the blobs go with another one from now on.
    pub async fn adopt(&self, blobs: Vec<BlobId>) -> Result<()> {
        self.forget(&blobs);
        self.0.names.apply(Command::Adopt { blobs }).await.map(|_| ())
    }

    /// Gives up ids, whether blobs were written under them or not. Done behind the caller's back; if it fails, the next
    /// session does it.
    pub fn give_up(&self, blobs: Vec<BlobId>) {
        self.forget(&blobs);
        let names = self.0.names.clone();
        // Without a runtime the process is at its end.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let discard = Command::Discard { blobs, now_ms: now_ms() };
                if let Err(error) = names.apply(discard).await {
                    tracing::warn!(%error, "blobs that were given up stay until the next start");
                }
            });
        }
    }

    fn forget(&self, blobs: &[BlobId]) {
        let mut used = lock(&self.0.used);
        for blob in blobs {
            used.remove(blob);
        }
    }
}

impl Pool {
    /// An id, and how many are left.
    fn pop(&self) -> Option<(BlobId, usize)> {
        let mut ids = lock(&self.ids);
        let id = ids.pop()?;
        Some((id, ids.len()))
    }
}

/// A written blob that is not named yet: dropped, it becomes garbage.
#[derive(Debug)]
pub struct Reserved {
    reservations: Reservations,
    id: BlobId,
    kept: bool,
}

impl Reserved {
    /// The blob.
    pub fn id(&self) -> BlobId {
        self.id
    }

    /// It has been named.
    pub fn named(mut self) {
        self.kept = true;
        self.reservations.forget(&[self.id]);
    }
}

impl Drop for Reserved {
    /// Nothing happens to a blob that was named after all: the names know better.
    fn drop(&mut self) {
        if !self.kept {
            self.reservations.give_up(vec![self.id]);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
