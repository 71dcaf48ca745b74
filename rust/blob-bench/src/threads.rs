//! Clients are threads, each with an event loop of its own: none waits for another one's bytes to be checked.

use std::thread::{self, JoinHandle};

use tokio::runtime::Builder;

use crate::error::{Error, Result, in_system};

/// Runs a future on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(in_system("start an event loop"))?
        .block_on(work)
}

/// Starts `count` clients, at least one.
pub(crate) fn start<T, F>(count: usize, client: impl Fn() -> F) -> Vec<JoinHandle<Result<T>>>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    (0..count.max(1)).map(|_| thread::spawn(client())).collect()
}

/// What one of them found.
pub(crate) fn join<T>(client: JoinHandle<Result<T>>) -> Result<T> {
    client.join().map_err(|_| Error::Thread)?
}
