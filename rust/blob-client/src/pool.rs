//! Connections that are open and not used at the moment.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::Connection;
use crate::error::{ClientError, Result};
use crate::options::ClientOptions;

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) options: ClientOptions,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
}

/// A connection for one request. It is closed, unless it is given back.
#[derive(Debug)]
pub(crate) struct Lease {
    connection: Connection,
    pool: Arc<Pool>,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(options: ClientOptions) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(options.connections_max.max(1)));
        Arc::new(Pool { options, idle: Mutex::new(Vec::new()), free })
    }

    /// A connection, when there is one that is free.
    pub(crate) async fn lease(self: &Arc<Self>) -> Result<Lease> {
        let closed = |_| ClientError::Options("the client is closed".to_owned());
        let permit = self.free.clone().acquire_owned().await.map_err(closed)?;
        let connection = match self.take_idle() {
            Some(connection) => connection,
            None => Connection::open(&self.options).await?,
        };
        Ok(Lease { connection, pool: self.clone(), _permit: permit })
    }

    /// The one that was used last, if the server has not closed it.
    fn take_idle(&self) -> Option<Connection> {
        loop {
            let mut connection = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            let fresh = connection.used.elapsed() < self.options.idle_max;
            // Between requests the server says nothing, unless that it closes.
            if fresh && connection.reader.frame().now_or_never().is_none() {
                return Some(connection);
            }
        }
    }
}

impl Lease {
    /// Lets another request have the connection. All of the answer was read.
    pub(crate) fn give_back(mut self) {
        self.connection.used = Instant::now();
        let Lease { connection, pool, _permit } = self;
        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(crate) fn options(&self) -> &ClientOptions {
        &self.pool.options
    }
}

/// Waits for the server, not for ever.
pub(crate) async fn within<T>(
    options: &ClientOptions,
    answer: impl Future<Output = Result<T>>,
) -> Result<T> {
    let most = options.answer_timeout;
    tokio::time::timeout(most, answer).await.unwrap_or(Err(ClientError::Timeout(most)))
}
