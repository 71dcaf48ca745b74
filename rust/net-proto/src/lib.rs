//! Messages between the agent of a host and the library in programs (`spec/net-protocol.md`). Nothing here touches a socket.
//!
//! ```text
//!   connector's library            agent             acceptor's library
//!        | Hello                     |                     Hello |
//!        | Offer + TCP, rings ------>|                           |
//!        |<------------------ Offered|                           |
//!        | connect() ------------------------------- accept()    |
//!        |                           |<------------- Claim + TCP |
//!        |<------------------ Claimed| Paired + rings ---------->|
//! ```
//!
//! **No message has an address.** Who is at the other end of a connection is what the kernel says of the descriptor that comes
//! with a message, and not what a client says.
//!
//! # Invariants
//! - Whatever the bytes, [`Message::decode`] returns. What it accepts, [`Message::encode`] writes alike.
//! - A message has exactly as many descriptors as its kind needs ([`Message::descriptors`]).

mod error;
mod group;
mod message;

pub use error::{DecodeError, Result};
pub use group::{GROUP_BYTES_MAX, GroupName};
pub use message::{MAGIC, MESSAGE_BYTES_MAX, Message, Reason, VERSION};
