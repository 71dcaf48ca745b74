//! Publishes messages until the broker has them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::client::SENT_MAX;
use crate::options::PublishOptions;
use crate::publishing;
use crate::shared::BrokerLink;
use crate::unpublished::Unpublished;

/// Messages, and their bytes, that are kept here; one message may be larger.
const KEPT_MAX: (usize, usize) = (2 * SENT_MAX, 1 << 20);

/// How it goes with a broker to which something is published. Numbers are since this process started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublisherStatus {
    /// The broker.
    pub broker: String,
    /// The topic.
    pub topic: String,
    /// Whether it is there, and takes messages.
    pub link: BrokerLink,
    /// How often it was.
    pub connections: u64,
    /// Messages that it has acknowledged.
    pub published: u64,
    /// Messages that were sent once more, since the broker had not acknowledged them: it may have had them.
    pub again: u64,
    /// Messages that it will never take.
    pub refused: u64,
    /// The last one: why.
    pub last_refused: Option<String>,
    /// Since when it has acknowledged nothing, if something is on its way.
    pub silent_since: Option<Instant>,
}

/// To look at a publisher from another thread.
#[derive(Debug, Clone)]
pub struct PublisherMonitor(Arc<Outgoing>);

impl PublisherMonitor {
    /// How it goes.
    pub fn status(&self) -> PublisherStatus {
        self.0.lock().status.clone()
    }
}

/// Messages for one topic, on a connection of their own. For one thread; another one connects, again and again if need be: a
/// broker that refuses them may take them later.
#[derive(Debug)]
pub struct Publisher {
    shared: Arc<Outgoing>,
    thread: Option<JoinHandle<()>>,
}

impl Publisher {
    /// Begins to connect. `moved` is called, on another thread, when [`done`](Self::done) may have grown.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(
        options: PublishOptions,
        moved: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Outgoing::new(&options, Box::new(moved)));
        let thread = publishing::start(options, shared.clone())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Takes a message, by a number that is above the one before. `again` says that an earlier process may have sent it.
    ///
    /// # Errors
    /// As many wait as may be kept; it is given back.
    pub fn put(&self, number: u64, payload: Vec<u8>, again: bool) -> Result<(), Vec<u8>> {
        let mut inner = self.shared.lock();
        let (count, bytes) = inner.unpublished.len();
        if count >= KEPT_MAX.0 || (count > 0 && bytes + payload.len() > KEPT_MAX.1) {
            return Err(payload);
        }
        inner.unpublished.put(number, payload, again);
        drop(inner);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Everything that was put in front of this number is with the broker, or will never be.
    pub fn done(&self) -> u64 {
        self.shared.lock().unpublished.done()
    }

    /// Whether the broker may have some of what is not done with.
    pub fn may_be_there(&self) -> bool {
        self.shared.lock().unpublished.may_be_there()
    }

    /// To look at it.
    pub fn monitor(&self) -> PublisherMonitor {
        PublisherMonitor(self.shared.clone())
    }

    /// Waits a moment for acknowledgements of what is on its way, sends nothing more, and closes the connection.
    pub fn stop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // It has told of its end, whatever that is.
            let _ = thread.join();
        }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the connection's thread and who puts messages share.
pub(crate) struct Outgoing {
    inner: Mutex<Inner>,
    /// The connection has something to do.
    pub(crate) wake: Notify,
    moved: Box<dyn Fn() + Send + Sync>,
}

pub(crate) struct Inner {
    pub(crate) unpublished: Unpublished,
    pub(crate) stopping: bool,
    pub(crate) status: PublisherStatus,
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("status", &self.lock().status).finish_non_exhaustive()
    }
}

impl Outgoing {
    pub(crate) fn new(options: &PublishOptions, moved: Box<dyn Fn() + Send + Sync>) -> Self {
        let status = PublisherStatus {
            broker: options.access.broker.to_string(),
            topic: options.topic.clone(),
            link: BrokerLink::Down("not connected yet".to_owned()),
            connections: 0,
            published: 0,
            again: 0,
            refused: 0,
            last_refused: None,
            silent_since: None,
        };
        let inner = Inner { unpublished: Unpublished::default(), stopping: false, status };
        Self { inner: Mutex::new(inner), wake: Notify::new(), moved }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// There is a connection.
    pub(crate) fn connected(&self) {
        let mut inner = self.lock();
        inner.status.connections += 1;
        inner.status.link = BrokerLink::Up;
    }

    /// There is none any more.
    pub(crate) fn lost(&self) {
        let mut inner = self.lock();
        inner.unpublished.lost();
        inner.status.silent_since = None;
    }

    pub(crate) fn is_down(&self, why: String) {
        self.lock().status.link = BrokerLink::Down(why);
    }

    /// The client has sent the next message.
    pub(crate) fn sent(&self, packet: u16) {
        let mut inner = self.lock();
        let again = inner.unpublished.sent(packet);
        inner.status.again += u64::from(again);
    }

    /// The broker has a message, or will never take it: then why.
    pub(crate) fn taken(&self, packet: u16, refused: Option<String>) {
        let mut inner = self.lock();
        let is_known = inner.unpublished.take(packet);
        inner.is_done(is_known, refused);
        drop(inner);
        (self.moved)();
    }

    /// The broker will never take the message that was to be sent next.
    pub(crate) fn refused_next(&self, why: String) {
        let mut inner = self.lock();
        let is_known = inner.unpublished.take_next();
        inner.is_done(is_known, Some(why));
        drop(inner);
        (self.moved)();
    }

    /// How long the broker has acknowledged nothing of what is on its way.
    pub(crate) fn silence(&self) -> Duration {
        self.lock().status.silent_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Messages that are done with.
    pub(crate) fn settled(&self) -> u64 {
        let inner = self.lock();
        inner.status.published + inner.status.refused
    }

    /// Messages that are on their way.
    pub(crate) fn handed(&self) -> usize {
        self.lock().unpublished.handed()
    }
}

impl Inner {
    fn is_done(&mut self, is_known: bool, refused: Option<String>) {
        self.status.silent_since = (self.unpublished.handed() > 0).then(Instant::now);
        if !is_known {
            return;
        }
        match refused {
            None => self.status.published += 1,
            Some(why) => {
                self.status.refused += 1;
                self.status.last_refused = Some(why);
            }
        }
    }
}
