//! MQTT 3.1.1 and 5 by `rumqttc`, which has a client for each, as one.

mod v3;
mod v5;

use std::time::Duration;

use crate::options::Access;
use crate::unacknowledged::Delivery;

pub(crate) use v3::{is_closing, open as open_v3};
pub(crate) use v5::open as open_v5;

/// How long the connection is silent until the client says something.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The most bytes that a packet of MQTT has. With less, the client would give the connection up at a message that is larger, and
/// the broker send it again and again.
const PACKET_BYTES_MAX: u32 = 268_435_460;
/// Requests that wait: more than there are identifiers.
const REQUESTS_MAX: usize = 70_000;
/// Messages of ours that may be on their way without their acknowledgements; a broker of MQTT 5 may want fewer.
pub const SENT_MAX: usize = 100;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The broker keeps the session, and what it has not had acknowledged.
    Subscribe,
    /// The broker keeps nothing: who publishes does.
    Publish,
}

impl Purpose {
    /// Messages of ours that may be on their way.
    fn sent_max(self) -> u16 {
        match self {
            // Nothing is published; the client wants a number.
            Self::Subscribe => 1,
            Self::Publish => SENT_MAX as u16,
        }
    }
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// There is a connection; whether the broker still knows the session.
    Connected { is_same_session: bool },
    /// A message.
    Message(Delivery),
    /// What the broker says of each topic: that it sends its messages with QoS 1, or why not.
    Granted(Vec<Result<(), String>>),
    /// A message of ours is sent, with this identifier.
    Sent(u16),
    /// The broker has the message of ours with this identifier, or does not take it.
    Taken(u16, Result<(), NotTaken>),
    /// A ping is sent.
    Asked,
    /// The broker has answered one.
    Answered,
    /// The connection is closed by us.
    Disconnected,
    /// Nothing of interest.
    Other,
}

/// What a broker does not take, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// This message.
    Message(String),
    /// Any message, as things are now.
    All(String),
}

/// Why there is no connection any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The broker does not want this client.
    Refused(String),
    /// The broker has closed it, and not said why.
    Closed,
    /// The message that was to be sent next is larger than what the broker takes.
    TooLarge(String),
    /// Something else.
    Lost(String),
}

/// A client's loop.
pub(crate) trait Client {
    /// Connects if need be, and waits for what happens. May not be dropped before it is done, or requests are lost.
    async fn poll(&mut self) -> Result<Event, Ended>;

    /// What had happened before the connection ended, and `poll` has not given.
    fn left(&mut self) -> Vec<Event>;
}

/// What is asked of a loop, while it is polled. False if it takes no more.
pub(crate) trait Requests {
    fn acknowledge(&self, packet: u16) -> bool;

    fn subscribe(&self, topics: &[String]) -> bool;

    /// With QoS 1, and not to be retained.
    fn publish(&self, topic: &str, payload: &[u8]) -> bool;

    fn disconnect(&self) -> bool;
}

/// What to do about refusals that both versions know.
fn protocol_refused(spoken: &str, other: &str) -> String {
    format!("it does not speak MQTT {spoken}; give --mqtt-version {other}")
}

fn client_id_refused(access: &Access) -> String {
    format!(
        "it does not take the client id {:?}; give another one with {}: every broker takes 23 letters and digits",
        access.client_id, access.flags.client_id
    )
}

fn login_refused(access: &Access) -> String {
    match &access.login {
        None => "it wants a user; give --mqtt-user and --mqtt-password-file".to_owned(),
        Some(login) => format!(
            "it refuses the user {:?} or its password; see --mqtt-user and --mqtt-password-file",
            login.user
        ),
    }
}

fn not_authorised(access: &Access) -> String {
    match &access.login {
        None => format!(
            "it does not let client {:?} in without a user; give --mqtt-user and --mqtt-password-file",
            access.client_id
        ),
        Some(login) => format!(
            "user {:?} is not authorised to connect as client {:?}; allow it there, or give another --mqtt-user or {}",
            login.user, access.client_id, access.flags.client_id
        ),
    }
}

fn topic_refused(why: &str) -> String {
    format!("{why}; let this user read it there, or give another --topic")
}

const ONLY_QOS_0: &str =
    "is granted with QoS 0 only, with which messages are lost; allow QoS 1 there";
