//! What the connection's thread and who takes messages share.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::options::Options;
use crate::unacknowledged::Delivery;
use crate::window::Window;

/// Messages that may wait for their acknowledgements; brokers of MQTT 5 are told.
pub(crate) const WAITING_MAX: usize = 1024;
/// Messages, and their bytes, that nobody has taken yet, from which on nothing is read.
const QUEUE_MAX: (usize, usize) = (2 * WAITING_MAX, 4 << 20);
/// A broker that is known to wait is silent for so long.
const SILENCE: Duration = Duration::from_millis(5);

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it was published.
    pub topic: String,
    /// What it says.
    pub payload: Vec<u8>,
}

/// Whether there is a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerLink {
    /// It is there, and sends what is published.
    Up,
    /// It is not, and why.
    Down(String),
}

/// How it goes with a broker. Numbers are since this process started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MqttStatus {
    /// The broker.
    pub broker: String,
    /// Topic filters.
    pub topics: Vec<String>,
    /// Whether it is there.
    pub link: BrokerLink,
    /// How often it was.
    pub connections: u64,
    /// Messages that came, without those that came again while they were here.
    pub messages: u64,
    /// Of them, those of which the broker said that it sends them again (DUP): they may have been here before.
    pub again: u64,
    /// Of them, those that were published with QoS 0: nobody sends them again.
    pub unsafe_messages: u64,
    /// Messages that the broker keeps until they are acknowledged.
    pub unacknowledged: usize,
}

/// To look at a subscriber from another thread.
#[derive(Debug, Clone)]
pub struct Monitor(pub(crate) std::sync::Arc<Shared>);

impl Monitor {
    /// How it goes.
    pub fn status(&self) -> MqttStatus {
        self.0.lock().status.clone()
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// Somebody may take something.
    came: Condvar,
    /// The connection has something to do.
    pub(crate) wake: Notify,
}

#[derive(Debug)]
pub(crate) struct Inner {
    queue: VecDeque<Message>,
    queue_bytes: usize,
    /// Messages that came, that were taken, and that are safe: each up to this number.
    came: u64,
    taken: u64,
    safe: u64,
    window: Window,
    last: Option<Instant>,
    stopping: bool,
    refused: Option<String>,
    pub(crate) status: MqttStatus,
}

/// What is taken.
#[derive(Debug)]
pub(crate) enum Taken {
    Message(Message),
    Nothing,
    Refused(String),
}

impl Shared {
    pub(crate) fn new(options: &Options) -> Self {
        let status = MqttStatus {
            broker: options.broker.to_string(),
            topics: options.topics.clone(),
            link: BrokerLink::Down("not connected yet".to_owned()),
            connections: 0,
            messages: 0,
            again: 0,
            unsafe_messages: 0,
            unacknowledged: 0,
        };
        let inner = Inner {
            queue: VecDeque::new(),
            queue_bytes: 0,
            came: 0,
            taken: 0,
            safe: 0,
            window: Window::default(),
            last: None,
            stopping: false,
            refused: None,
            status,
        };
        Self { inner: Mutex::new(inner), came: Condvar::new(), wake: Notify::new() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number that the next message gets.
    pub(crate) fn next(&self) -> u64 {
        self.lock().came + 1
    }

    /// A message that was not here.
    pub(crate) fn put(&self, delivery: Delivery) {
        let mut inner = self.lock();
        let Delivery { packet, again, topic, payload } = delivery;
        inner.came += 1;
        inner.status.messages += 1;
        inner.status.again += u64::from(again);
        inner.status.unsafe_messages += u64::from(packet == 0);
        inner.queue_bytes += payload.len();
        inner.queue.push_back(Message { topic, payload });
        let (now, waiting) = (Instant::now(), inner.waiting());
        inner.window.came(now, waiting);
        inner.last = Some(now);
        self.came.notify_all();
    }

    /// Whether nothing more is to be read from the network.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    /// Takes the next message, and waits for it a while.
    pub(crate) fn take(&self, patience: Duration) -> Taken {
        let began = Instant::now();
        let mut inner = self.lock();
        loop {
            let was_full = inner.is_full();
            if let Some(message) = inner.queue.pop_front() {
                inner.queue_bytes -= message.payload.len();
                inner.taken += 1;
                if was_full {
                    self.wake.notify_one();
                }
                return Taken::Message(message);
            }
            if let Some(refused) = &inner.refused {
                return Taken::Refused(refused.clone());
            }
            // Who waits for a broker that waits, waits for ever.
            let is_full = inner.window.is_full(inner.waiting());
            let patience = if is_full { patience.min(SILENCE) } else { patience };
            let Some(left) = patience.checked_sub(began.elapsed()) else { return Taken::Nothing };
            let left = left.max(Duration::from_millis(1));
            inner = self.came.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Everything that was taken is safe.
    pub(crate) fn acknowledge(&self) {
        let mut inner = self.lock();
        let (count, now) = ((inner.taken - inner.safe) as usize, Instant::now());
        inner.window.acknowledged(now, count);
        inner.safe = inner.taken;
        self.wake.notify_one();
    }

    /// Whether the broker sends nothing before something is acknowledged, as far as is known.
    pub(crate) fn is_waited_for(&self) -> bool {
        let inner = self.lock();
        let is_silent = inner.last.is_none_or(|last| last.elapsed() >= SILENCE);
        let waits = inner.window.is_full(inner.waiting()) && inner.queue.is_empty() && is_silent;
        waits || inner.taken - inner.safe >= WAITING_MAX as u64
    }

    /// Messages up to this one are safe.
    pub(crate) fn safe(&self) -> u64 {
        self.lock().safe
    }

    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.wake.notify_one();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// The broker does not want this client.
    pub(crate) fn refuse(&self, why: String) {
        let mut inner = self.lock();
        inner.status.link = BrokerLink::Down(why.clone());
        inner.refused = Some(why);
        self.came.notify_all();
    }

    pub(crate) fn link_is(&self, link: BrokerLink) {
        let mut inner = self.lock();
        inner.status.connections += u64::from(link == BrokerLink::Up);
        inner.status.link = link;
    }
}

impl Inner {
    fn is_full(&self) -> bool {
        self.queue.len() >= QUEUE_MAX.0 || self.queue_bytes >= QUEUE_MAX.1
    }

    /// Messages that came and are not safe.
    fn waiting(&self) -> usize {
        (self.came - self.safe) as usize
    }
}
