//! The thread that connects, subscribes, reads messages and acknowledges those that are safe.

use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::client::{Client, Ended, Event, Purpose, Requests, open_v3, open_v5};
use crate::filter;
use crate::options::{Options, Version};
use crate::pause::Pause;
use crate::shared::{BrokerLink, Shared};
use crate::tunnel::Tunnel;
use crate::unacknowledged::{Delivery, Unacknowledged};

/// Between two attempts to connect, at first and at most.
pub(crate) const BACKOFF: (Duration, Duration) =
    (Duration::from_millis(100), Duration::from_secs(10));
/// A connection that ends earlier was none.
const SHORT: Duration = Duration::from_secs(5);
/// So many of them in a row have another reason than the network.
const MANY: u32 = 3;
/// How long the last acknowledgements may take.
pub(crate) const GOODBYE: Duration = Duration::from_secs(1);

/// Starts it.
pub(crate) fn start(options: Options, shared: Arc<Shared>) -> std::io::Result<JoinHandle<()>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let tunnel = {
        let _in = runtime.enter();
        let access = &options.access;
        let (tls, stops) = (access.tls.as_ref(), shared.clone());
        let is_over = Box::new(move || stops.is_stopping());
        tls.map(|tls| Tunnel::start(&access.broker, tls, is_over)).transpose()?
    };
    std::thread::Builder::new().name("mqtt".to_owned()).spawn(move || {
        // Whoever waits for messages must not wait for a thread that has gone.
        let _ends = Ends(&shared);
        run(&runtime, &options, &shared, tunnel);
        // It may look for the broker's address still, which takes as long as the resolver likes.
        runtime.shutdown_background();
    })
}

struct Ends<'a>(&'a Shared);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.refuse("its client has failed; the standard error says how".to_owned());
        }
    }
}

fn run(runtime: &Runtime, options: &Options, shared: &Shared, tunnel: Option<Tunnel>) {
    let socket = tunnel.as_ref().map(Tunnel::socket);
    let (access, purpose) = (&options.access, Purpose::Subscribe);
    let has_said_goodbye = match access.version {
        Version::V3 => {
            let client = open_v3(access, purpose, socket);
            runtime.block_on(Session::new(client, options, shared, tunnel.as_ref()).run())
        }
        Version::V5 => {
            let client = open_v5(access, purpose, socket);
            runtime.block_on(Session::new(client, options, shared, tunnel.as_ref()).run())
        }
    };
    if let Some(tunnel) = tunnel
        && has_said_goodbye
    {
        runtime.block_on(tunnel.finish(GOODBYE));
    }
}

struct Session<'a, C, R> {
    client: C,
    requests: R,
    options: &'a Options,
    shared: &'a Shared,
    tunnel: Option<&'a Tunnel>,
    sent: Unacknowledged,
    /// Whether the broker has granted what this process wants, in the session that it has now.
    is_subscribed: bool,
    /// Since when there is a connection.
    connected: Option<Instant>,
    /// Of that connection.
    pause: Pause,
    /// Connections in a row that the broker has closed early.
    closings: u32,
}

/// Why a connection is over.
enum Over {
    Stopped,
    For(Ended),
}

impl<'a, C: Client, R: Requests> Session<'a, C, R> {
    fn new(
        (client, requests): (C, R),
        options: &'a Options,
        shared: &'a Shared,
        tunnel: Option<&'a Tunnel>,
    ) -> Self {
        Self {
            client,
            requests,
            options,
            shared,
            tunnel,
            sent: Unacknowledged::default(),
            is_subscribed: false,
            connected: None,
            pause: Pause::default(),
            closings: 0,
        }
    }

    /// Until somebody ends it, or the broker does not want it. True if it has told the broker.
    async fn run(mut self) -> bool {
        let mut backoff = BACKOFF.0;
        loop {
            let ended = match self.connection().await {
                Over::Stopped => return self.say_goodbye().await,
                Over::For(ended) => match self.tunnel {
                    Some(tunnel) => tunnel.why(ended),
                    None => ended,
                },
            };
            // From here on, nothing is acknowledged before there is another connection.
            let lasted = self.connected.take().map(|since| since.elapsed());
            // Read on the connection that is over, and of its session.
            for event in self.client.left() {
                if let Event::Message(delivery) = event {
                    self.take(delivery);
                }
            }
            match self.why(ended, lasted) {
                Ok(why) => self.shared.link_is(BrokerLink::Down(why)),
                Err(refused) => {
                    self.shared.refuse(refused);
                    return false;
                }
            }
            if lasted.is_some() && self.closings < MANY {
                backoff = BACKOFF.0;
            }
            if self.pause(backoff).await {
                return false;
            }
            backoff = (2 * backoff).min(BACKOFF.1);
        }
    }

    /// Why there is no connection, or why there will be none.
    fn why(&mut self, ended: Ended, lasted: Option<Duration>) -> Result<String, String> {
        let is_closing = ended == Ended::Closed && lasted.is_some_and(|lasted| lasted < SHORT);
        self.closings = if is_closing { self.closings + 1 } else { 0 };
        match ended {
            Ended::Refused(why) => Err(why),
            Ended::TooLarge(why) | Ended::Lost(why) => Ok(why),
            Ended::Closed if self.closings >= MANY => Ok(format!(
                "it has closed {} connections soon after it had taken them: another client may have the client id {:?}; give each its own --client-id",
                self.closings, self.options.access.client_id
            )),
            Ended::Closed => Ok("it has closed the connection".to_owned()),
        }
    }

    /// Connects, and goes on until that is over.
    async fn connection(&mut self) -> Over {
        loop {
            let event = {
                // Never dropped before it is done, but at the end: it may have taken a request that it has not written yet.
                let mut poll = pin!(self.client.poll());
                loop {
                    let is_full = self.shared.is_full();
                    self.pause.reads(Instant::now(), !is_full);
                    self.shared.unread(self.pause.since());
                    tokio::select! {
                        biased;
                        () = self.shared.wake.notified() => {
                            if self.shared.is_stopping() {
                                return Over::Stopped;
                            }
                            if self.connected.is_some() && !self.pause.is_doubtful(Instant::now()) {
                                acknowledge(&mut self.sent, &self.requests, self.shared);
                            }
                        }
                        event = &mut poll, if !is_full => break event,
                    }
                }
            };
            match event {
                Ok(event) => {
                    if let Err(ended) = self.handle(event) {
                        return Over::For(ended);
                    }
                }
                Err(ended) => return Over::For(ended),
            }
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), Ended> {
        match event {
            Event::Connected { is_same_session } => {
                self.sent.connected(is_same_session);
                self.shared.connected(is_same_session);
                (self.connected, self.pause) = (Some(Instant::now()), Pause::default());
                self.count();
                // A later connection may find the new session, and nothing in it, if this one ends too early.
                self.is_subscribed &= is_same_session;
                // Not again in a session that has it: MQTT 3.1.1 would send everything that is retained once more.
                if self.is_subscribed {
                    self.shared.link_is(BrokerLink::Up);
                } else if !self.requests.subscribe(&self.options.topics) {
                    return Err(Ended::Lost("its client takes no requests".to_owned()));
                }
            }
            Event::Granted(said) => {
                for (topic, said) in self.options.topics.iter().zip(said) {
                    said.map_err(|why| Ended::Refused(format!("topic {topic:?} {why}")))?;
                }
                self.is_subscribed = true;
                self.shared.link_is(BrokerLink::Up);
            }
            Event::Message(delivery) => self.take(delivery),
            Event::Asked => self.pause.asked(),
            Event::Answered => {
                self.pause.answered();
                self.acknowledge();
            }
            Event::Sent(_) | Event::Taken(..) | Event::Disconnected | Event::Other => {}
        }
        Ok(())
    }

    fn take(&mut self, delivery: Delivery) {
        let is_new = self.sent.is_new(&delivery, self.shared.next());
        let is_wanted = self.options.topics.iter().any(|it| filter::has(it, &delivery.topic));
        if !is_new {
            // It may be safe already.
            self.acknowledge();
        } else if is_wanted {
            self.shared.put(delivery);
        } else {
            self.shared.skip(delivery);
            self.acknowledge();
        }
        self.count();
    }

    /// Acknowledges what is safe, if there is surely a broker.
    fn acknowledge(&mut self) {
        if self.connected.is_some() && !self.pause.is_doubtful(Instant::now()) {
            acknowledge(&mut self.sent, &self.requests, self.shared);
        }
    }

    fn count(&self) {
        self.shared.lock().status.unacknowledged = self.sent.len();
    }

    /// Waits; true if it has to end.
    async fn pause(&self, time: Duration) -> bool {
        let began = Instant::now();
        while !self.shared.is_stopping() {
            let Some(left) = time.checked_sub(began.elapsed()) else { return false };
            // Until then, or until somebody wants something: it may be the end.
            let _ = timeout(left, self.shared.wake.notified()).await;
        }
        true
    }

    /// Sends the last acknowledgements; false if there is no connection.
    async fn say_goodbye(mut self) -> bool {
        if self.connected.is_none() {
            return false;
        }
        acknowledge(&mut self.sent, &self.requests, self.shared);
        self.requests.disconnect();
        let goodbye = async {
            while let Ok(event) = self.client.poll().await {
                if event == Event::Disconnected {
                    break;
                }
            }
        };
        // If it takes longer, the broker sends them again.
        let _ = timeout(GOODBYE, goodbye).await;
        true
    }
}

fn acknowledge(sent: &mut Unacknowledged, requests: &impl Requests, shared: &Shared) {
    for packet in sent.due(shared.safe()) {
        // There is room for all identifiers that there are. If not, the broker sends it again at the next connection.
        requests.acknowledge(packet);
    }
    shared.lock().status.unacknowledged = sent.len();
}
