//! Messages of a site's MQTT broker, which keeps each of them until somebody here says that it is safe.
//!
//! ```text
//!   broker --PUBLISH, QoS 1--> connection (a thread of its own) --> queue --> Subscriber::receive
//!          <-----PUBACK------- Unacknowledged <------------------------------ Subscriber::acknowledge
//! ```
//!
//! # Nothing lost
//! - The session is persistent: MQTT 3.1.1 with `CleanSession` 0, MQTT 5 with `Clean Start` 0 and a session that never expires.
//! - PUBACK is sent for what was acknowledged, and only on a connection on which the message came. A packet identifier means
//!   nothing on another one until the broker has sent the message again: it may be another message's by then.
//! - After a connection that was lost, what the broker sends again and is still here is not taken twice. What was acknowledged
//!   just before, or by a process that was killed, comes again: with QoS 1, a message may come twice.
//!
//! # Never too much
//! A broker sends only so many messages without their acknowledgements (MQTT 5: `Receive Maximum`; MQTT 3.1.1: as its own
//! settings say). Beyond that, as with QoS 0, nothing is read from the network while the queue is full, and no pings are sent
//! (`pause`).
//!
//! # Nothing else
//! A session keeps what was subscribed to before, and nobody here knows what that was. Messages that match no filter of now are
//! acknowledged like the others, and not queued.
//!
//! # The other way
//! A [`Publisher`] has a connection of its own, with a session that the broker forgets: what the broker has not acknowledged is
//! kept here, and sent again on the next connection. So it reaches the broker at least once, if whoever has put it puts it again
//! after a start.
//!
//! ```text
//!   Publisher::put --> Unpublished --PUBLISH, QoS 1--> broker
//!   Publisher::done <-------------------PUBACK--------
//! ```
//!
//! # TLS
//! With `mqtts://`, rustls is in front of `rumqttc`, as it is in front of the gateway: see `tunnel`.
//!
//! Sections of the standards are those of MQTT 3.1.1 and MQTT 5.0 (OASIS): 4.3.2, 4.4, 4.6.

mod client;
mod connection;
mod filter;
mod options;
mod pause;
mod publisher;
mod publishing;
mod shared;
mod subscriber;
mod tls;
mod tunnel;
mod unacknowledged;
mod unpublished;
mod window;

pub use afterbay_tls::TlsError;
pub use client::SENT_MAX;
pub use filter::{covered, has};
pub use options::{
    Access, Broker, Flags, Login, Options, PublishOptions, Version, is_topic, is_topic_filter,
};
pub use publisher::{Publisher, PublisherMonitor, PublisherStatus};
pub use shared::{BrokerLink, Message, Monitor, MqttStatus};
pub use subscriber::{Refused, Subscriber};
pub use tls::{Tls, TlsFiles};
