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
    /// Messages of topics that nobody asks for: the session has them from before.
    pub others: u64,
    /// The topic of the last one.
    pub last_other: Option<String>,
    /// Since when nothing is read, as enough waits to be taken.
    pub unread_since: Option<Instant>,
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
    queue: VecDeque<Queued>,
    queue_bytes: usize,
    /// Messages, by their numbers.
    all: Passed,
    /// Of them, those that the broker keeps in the session that it has now.
    kept: Passed,
    window: Window,
    last: Option<Instant>,
    stopping: bool,
    refused: Option<String>,
    pub(crate) status: MqttStatus,
}

/// Messages that came, that were taken, and that are safe: how many.
#[derive(Debug, Default)]
struct Passed {
    came: u64,
    taken: u64,
    safe: u64,
}

/// What waits to be taken.
#[derive(Debug)]
struct Queued {
    /// None is one that nobody has asked for: it has its number, as those around it have to be acknowledged in their order.
    message: Option<Message>,
    /// Whether it counts among those that the broker keeps.
    is_kept: bool,
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
            broker: options.access.broker.to_string(),
            topics: options.topics.clone(),
            link: BrokerLink::Down("not connected yet".to_owned()),
            connections: 0,
            messages: 0,
            again: 0,
            unsafe_messages: 0,
            unacknowledged: 0,
            others: 0,
            last_other: None,
            unread_since: None,
        };
        Self::with(status)
    }

    fn with(status: MqttStatus) -> Self {
        let inner = Inner {
            queue: VecDeque::new(),
            queue_bytes: 0,
            all: Passed::default(),
            kept: Passed::default(),
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
        self.lock().all.came + 1
    }

    /// Another connection. What an earlier session had kept, or settings let through, says nothing about this one.
    pub(crate) fn connected(&self, is_same_session: bool) {
        let mut inner = self.lock();
        inner.window = Window::default();
        if !is_same_session {
            inner.kept = Passed::default();
            inner.queue.iter_mut().for_each(|queued| queued.is_kept = false);
        }
    }

    /// A message that was not here.
    pub(crate) fn put(&self, delivery: Delivery) {
        let mut inner = self.lock();
        let Delivery { packet, again, topic, payload } = delivery;
        let is_kept = packet != 0;
        inner.status.messages += 1;
        inner.status.again += u64::from(again);
        inner.status.unsafe_messages += u64::from(!is_kept);
        inner.queue_bytes += payload.len();
        inner.came(Queued { message: Some(Message { topic, payload }), is_kept });
        self.came.notify_all();
    }

    /// A message that was not here, and that nobody has asked for: it is safe as soon as all before it are.
    pub(crate) fn skip(&self, delivery: Delivery) {
        let mut inner = self.lock();
        inner.status.others += 1;
        inner.status.last_other = Some(delivery.topic);
        inner.came(Queued { message: None, is_kept: delivery.packet != 0 });
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
            if let Some(message) = inner.pop() {
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
        let (count, now) = (inner.unsafe_kept(), Instant::now());
        inner.window.acknowledged(now, count);
        inner.all.safe = inner.all.taken;
        inner.kept.safe = inner.kept.taken;
        self.wake.notify_one();
    }

    /// Whether the broker sends nothing before something is acknowledged, as far as is known.
    pub(crate) fn is_waited_for(&self) -> bool {
        let inner = self.lock();
        let is_silent = inner.last.is_none_or(|last| last.elapsed() >= SILENCE);
        let waits = inner.window.is_full(inner.waiting()) && inner.queue.is_empty() && is_silent;
        waits || inner.unsafe_kept() >= WAITING_MAX
    }

    /// Messages up to this one are safe.
    pub(crate) fn safe(&self) -> u64 {
        self.lock().all.safe
    }

    /// Since when nothing is read, if so.
    pub(crate) fn unread(&self, since: Option<Instant>) {
        self.lock().status.unread_since = since;
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

    fn came(&mut self, queued: Queued) {
        let is_kept = queued.is_kept;
        self.all.came += 1;
        self.kept.came += u64::from(is_kept);
        self.queue.push_back(queued);
        self.pass_skipped();
        if is_kept {
            let (now, waiting) = (Instant::now(), self.waiting());
            self.window.came(now, waiting);
            self.last = Some(now);
        }
    }

    /// Takes the first message. What is first then is a message too.
    fn pop(&mut self) -> Option<Message> {
        let Queued { message, is_kept } = self.queue.pop_front()?;
        self.queue_bytes -= message.as_ref().map_or(0, |message| message.payload.len());
        self.all.taken += 1;
        self.kept.taken += u64::from(is_kept);
        self.pass_skipped();
        message
    }

    /// Takes what nobody has asked for from the front.
    fn pass_skipped(&mut self) {
        while let Some(Queued { message: None, is_kept }) = self.queue.front() {
            let kept = u64::from(*is_kept);
            self.queue.pop_front();
            if self.all.safe == self.all.taken {
                self.all.safe += 1;
                self.kept.safe += kept;
            }
            self.all.taken += 1;
            self.kept.taken += kept;
        }
    }

    /// Messages that the broker keeps, and that are not safe here.
    fn waiting(&self) -> usize {
        (self.kept.came - self.kept.safe) as usize
    }

    /// Of them, those that were taken.
    fn unsafe_kept(&self) -> usize {
        (self.kept.taken - self.kept.safe) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> Shared {
        Shared::with(MqttStatus {
            broker: "mqtt://localhost:1883".to_owned(),
            topics: vec!["a/#".to_owned()],
            link: BrokerLink::Up,
            connections: 1,
            messages: 0,
            again: 0,
            unsafe_messages: 0,
            unacknowledged: 0,
            others: 0,
            last_other: None,
            unread_since: None,
        })
    }

    fn message(packet: u16, topic: &str) -> Delivery {
        Delivery { packet, again: false, topic: topic.to_owned(), payload: vec![0; 10] }
    }

    fn put(shared: &Shared, packets: std::ops::RangeInclusive<u16>) {
        packets.for_each(|packet| shared.put(message(packet, "a/b")));
    }

    fn take(shared: &Shared, count: usize) {
        for _ in 0..count {
            assert!(matches!(shared.take(Duration::ZERO), Taken::Message(_)));
        }
    }

    fn waiting(shared: &Shared) -> (usize, usize) {
        let inner = shared.lock();
        (inner.waiting(), inner.unsafe_kept())
    }

    /// With others among them, the broker's window would be taken for a larger one, which is never full.
    #[test]
    fn only_what_the_broker_keeps_is_waited_with() {
        let shared = shared();
        put(&shared, 1..=5);
        put(&shared, 0..=0);
        shared.skip(message(6, "b"));
        take(&shared, 3);
        assert_eq!(waiting(&shared), (6, 3));
        // The session has gone: those that were taken, and those that were not.
        shared.connected(false);
        assert_eq!(waiting(&shared), (0, 0));
        put(&shared, 1..=4);
        take(&shared, 4);
        assert_eq!(waiting(&shared), (4, 1));
        shared.acknowledge();
        assert_eq!((waiting(&shared), shared.safe()), ((3, 0), 8));
        shared.connected(true);
        take(&shared, 3);
        assert_eq!(waiting(&shared), (3, 3));
        shared.acknowledge();
        assert_eq!((waiting(&shared), shared.safe()), ((0, 0), 11));
        assert!(matches!(shared.take(Duration::ZERO), Taken::Nothing));
    }

    #[test]
    fn what_nobody_has_asked_for_is_safe_when_all_before_it_is() {
        let shared = shared();
        let skip = || {
            let number = shared.next();
            shared.skip(message(number as u16, "b"));
            number
        };
        assert_eq!(skip(), shared.safe(), "at once");
        assert_eq!(waiting(&shared), (0, 0));
        put(&shared, 1..=1);
        let second = skip();
        assert!(shared.safe() < second);
        take(&shared, 1);
        let third = skip();
        assert!(shared.safe() < second, "what was taken is not safe yet");
        assert_eq!(waiting(&shared), (3, 3));
        shared.acknowledge();
        assert_eq!(waiting(&shared), (0, 0));
        assert_eq!((shared.safe(), third), (4, 4));
        let status = shared.lock().status.clone();
        assert_eq!((status.messages, status.others), (1, 3));
        assert_eq!(status.last_other.as_deref(), Some("b"));
    }
}
