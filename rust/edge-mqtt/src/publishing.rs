//! The thread that connects and publishes.
//!
//! Each connection has a client of its own: what a client keeps of the one before (identifiers, messages that it would send again)
//! is of no use here, since everything that the broker has not acknowledged is handed over anew.

use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use crate::client::{Client, Ended, Event, NotTaken, Purpose, Requests, open_v3, open_v5};
use crate::connection::{BACKOFF, GOODBYE};
use crate::options::{PublishOptions, Version};
use crate::publisher::Outgoing;
use crate::tunnel::Tunnel;

/// A broker that acknowledges nothing for so long gets another connection.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Starts it.
pub(crate) fn start(
    options: PublishOptions,
    shared: Arc<Outgoing>,
) -> std::io::Result<JoinHandle<()>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let tunnel = {
        let _in = runtime.enter();
        let access = &options.access;
        let (tls, stops) = (access.tls.as_ref(), shared.clone());
        let is_over = Box::new(move || stops.is_stopping());
        tls.map(|tls| Tunnel::start(&access.broker, tls, is_over)).transpose()?
    };
    std::thread::Builder::new().name("publish".to_owned()).spawn(move || {
        let _ends = Ends(&shared);
        run(&runtime, &options, &shared, tunnel);
        // It may look for the broker's address still, which takes as long as the resolver likes.
        runtime.shutdown_background();
    })
}

struct Ends<'a>(&'a Outgoing);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_down("its client has failed; the standard error says how".to_owned());
        }
    }
}

fn run(runtime: &Runtime, options: &PublishOptions, shared: &Outgoing, tunnel: Option<Tunnel>) {
    let socket = tunnel.as_ref().map(Tunnel::socket);
    let (access, purpose) = (&options.access, Purpose::Publish);
    let session = Session { options, shared, tunnel: tunnel.as_ref() };
    let has_said_goodbye = match access.version {
        Version::V3 => runtime.block_on(session.run(|| open_v3(access, purpose, socket))),
        Version::V5 => runtime.block_on(session.run(|| open_v5(access, purpose, socket))),
    };
    if let Some(tunnel) = tunnel
        && has_said_goodbye
    {
        runtime.block_on(tunnel.finish(GOODBYE));
    }
}

/// Connections, one after the other.
struct Session<'a> {
    options: &'a PublishOptions,
    shared: &'a Outgoing,
    tunnel: Option<&'a Tunnel>,
}

impl Session<'_> {
    /// Until somebody ends it. True if it has told the broker.
    async fn run<C: Client, R: Requests>(&self, open: impl Fn() -> (C, R)) -> bool {
        let mut backoff = BACKOFF.0;
        loop {
            let before = self.shared.settled();
            let (client, requests) = open();
            let (topic, shared) = (self.options.topic.as_str(), self.shared);
            let mut connection =
                Connection { client, requests, topic, shared, is_connected: false };
            let over = connection.run().await;
            let Over::For(ended) = over else { return connection.say_goodbye().await };
            let ended = match self.tunnel {
                Some(tunnel) => tunnel.why(ended),
                None => ended,
            };
            match &ended {
                // What is left is that it was to be sent.
                Ended::TooLarge(why) => self.shared.refused_next(why.clone()),
                _ => connection.note_what_is_left(),
            }
            self.shared.lost();
            self.shared.is_down(self.why(&ended));
            backoff = match ended {
                // Until somebody has done something.
                Ended::Refused(_) => BACKOFF.1,
                _ if self.shared.settled() > before => BACKOFF.0,
                // There was none, or of no use: a broker may take a connection, and close it when something is published.
                _ => backoff,
            };
            if self.pause(backoff).await {
                return false;
            }
            backoff = (2 * backoff).min(BACKOFF.1);
        }
    }

    fn why(&self, ended: &Ended) -> String {
        match ended {
            Ended::Refused(why) | Ended::Lost(why) => why.clone(),
            Ended::TooLarge(why) => format!("a message was left out: {why}"),
            Ended::Closed => format!(
                "it has closed the connection; if it does so again and again, it may not let this client publish to {:?}, or another client may have the client id {:?}",
                self.options.topic, self.options.access.client_id
            ),
        }
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
}

struct Connection<'a, C, R> {
    client: C,
    requests: R,
    topic: &'a str,
    shared: &'a Outgoing,
    is_connected: bool,
}

/// Why a connection is over.
enum Over {
    Stopped,
    For(Ended),
}

impl<C: Client, R: Requests> Connection<'_, C, R> {
    /// Connects, and publishes until that is over.
    async fn run(&mut self) -> Over {
        loop {
            let event = {
                // Never dropped before it is done, but at the end: it may have taken a request that it has not written yet.
                let mut poll = pin!(self.client.poll());
                loop {
                    let Some(patience) = SILENCE_MAX.checked_sub(self.shared.silence()) else {
                        let seconds = SILENCE_MAX.as_secs();
                        let why = format!("it has acknowledged nothing for {seconds} s");
                        return Over::For(Ended::Lost(why));
                    };
                    tokio::select! {
                        biased;
                        () = self.shared.wake.notified() => {
                            if self.shared.is_stopping() {
                                return Over::Stopped;
                            }
                            if self.is_connected {
                                hand_over(&self.requests, self.topic, self.shared);
                            }
                        }
                        event = &mut poll => break event,
                        () = sleep(patience) => {}
                    }
                }
            };
            match event.and_then(|event| self.handle(event)) {
                Ok(()) => {}
                Err(ended) => return Over::For(ended),
            }
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), Ended> {
        match event {
            Event::Connected { .. } => {
                self.is_connected = true;
                self.shared.connected();
            }
            Event::Sent(packet) => self.shared.sent(packet),
            Event::Taken(packet, Ok(())) => self.shared.taken(packet, None),
            Event::Taken(packet, Err(NotTaken::Message(why))) => {
                self.shared.taken(packet, Some(why));
            }
            Event::Taken(_, Err(NotTaken::All(why))) => {
                return Err(Ended::Refused(format!(
                    "it does not take what is published to {:?}: {why}; let this user write it there, or publish to another topic",
                    self.topic
                )));
            }
            Event::Message(_)
            | Event::Granted(_)
            | Event::Asked
            | Event::Answered
            | Event::Disconnected
            | Event::Other => return Ok(()),
        }
        hand_over(&self.requests, self.topic, self.shared);
        Ok(())
    }

    /// Acknowledgements that had come before the end.
    fn note_what_is_left(&mut self) {
        for event in self.client.left() {
            match event {
                Event::Sent(packet) => self.shared.sent(packet),
                Event::Taken(packet, Ok(())) => self.shared.taken(packet, None),
                _ => {}
            }
        }
    }

    /// Waits a moment for the last acknowledgements; false if there is no connection.
    async fn say_goodbye(mut self) -> bool {
        if !self.is_connected {
            return false;
        }
        let goodbye = async {
            while self.shared.handed() > 0 {
                match self.client.poll().await {
                    Ok(Event::Sent(packet)) => self.shared.sent(packet),
                    Ok(Event::Taken(packet, Ok(()))) => self.shared.taken(packet, None),
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
            self.requests.disconnect();
            while let Ok(event) = self.client.poll().await {
                if event == Event::Disconnected {
                    break;
                }
            }
        };
        // What takes longer is sent again by whoever comes next.
        let _ = timeout(GOODBYE, goodbye).await;
        true
    }
}

/// Gives the client as much as it may have.
fn hand_over(requests: &impl Requests, topic: &str, shared: &Outgoing) {
    let mut inner = shared.lock();
    while let Some(payload) = inner.unpublished.next() {
        if !requests.publish(topic, payload) {
            break;
        }
        inner.unpublished.hand();
        // From here on: the client does not say that it has sent it as long as the broker does not read.
        inner.status.silent_since.get_or_insert_with(Instant::now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Access, Broker, Flags};

    /// A client that takes everything, and sends nothing.
    struct Takes;

    impl Requests for Takes {
        fn acknowledge(&self, _packet: u16) -> bool {
            true
        }

        fn subscribe(&self, _topics: &[String]) -> bool {
            true
        }

        fn publish(&self, _topic: &str, _payload: &[u8]) -> bool {
            true
        }

        fn disconnect(&self) -> bool {
            true
        }
    }

    /// Else nobody would give up a broker that does not read: the client waits in the middle of a message.
    #[test]
    fn a_broker_is_silent_from_the_moment_at_which_the_client_has_a_message() {
        let flags = Flags { broker: "", client_id: "", topic: "" };
        let access = Access {
            broker: Broker::parse("mqtt://localhost").unwrap(),
            tls: None,
            version: Version::V5,
            client_id: "me".to_owned(),
            login: None,
            flags,
        };
        let options = PublishOptions { access, topic: "rows".to_owned() };
        let shared = Outgoing::new(&options, Box::new(|| {}));
        hand_over(&Takes, &options.topic, &shared);
        assert_eq!(shared.lock().status.silent_since, None, "there is nothing to answer");
        shared.lock().unpublished.put(0, vec![0], false);
        hand_over(&Takes, &options.topic, &shared);
        let since = shared.lock().status.silent_since;
        assert!(since.is_some());
        shared.lock().unpublished.put(1, vec![1], false);
        hand_over(&Takes, &options.topic, &shared);
        shared.sent(1);
        assert_eq!(shared.lock().status.silent_since, since, "it has not answered");
        shared.taken(1, None);
        assert!(shared.lock().status.silent_since > since, "the other one is on its way");
        shared.sent(2);
        shared.taken(2, None);
        assert_eq!(shared.lock().status.silent_since, None);
    }
}
