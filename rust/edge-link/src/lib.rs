//! The link between a site and the cloud (`spec/edge-link.md`): who is there, and what is said.
//!
//! ```text
//!   site                                  cloud
//!    | -- TCP, TLS 1.3 ------------------> |     afterbay-tls
//!    | <- hello ------- prove -> <- welcome|     handshake, by the site's key
//!    | -- open, frames, skips, pings ----> |     message
//!    | <- next (acknowledges), pongs ----- |
//! ```
//!
//! The site connects; nothing has to reach it. Blocking sockets: a link is a [`Receiver`] for one thread and a [`Sender`] for
//! any number of them. Nothing here knows an outbox or a topic.

mod error;
mod handshake;
mod key;
mod link;
mod message;
mod protocol;

pub use afterbay_tls::{TlsError, server_name};
pub use error::LinkError;
pub use handshake::{accept, connect};
pub use key::{KeyError, SiteKey};
pub use link::{Limits, Receiver, Sender};
pub use message::{MESSAGE_BYTES_MAX, Message, Refusal};
pub use protocol::{client_config, plain_frames, server_config};
