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
//! **Nothing is decided by an address in a message.** Who is at the other end of a connection is what the kernel says of the
//! descriptor that comes with a message, and not what a client says. Addresses are in records only, for people to look at:
//!
//! ```text
//!   who looks          agent             library's second connection
//!        | Hello         |                     Hello, Serve |
//!        | Status ------>| Report --------------------------|
//!        |<--- Asked     |                                  |
//!        |<--- Listed    |<-------------------------- Record|   as often as there are connections
//!        |<--- Done      |<------------------------ Reported|
//!        | Demote ------>| GoBack ------------------------->|
//!        |<--- Told      |                                  |
//! ```
//!
//! # Invariants
//! - Whatever the bytes, [`Message::decode`] returns. What it accepts, [`Message::encode`] writes alike.
//! - A message has exactly as many descriptors as its kind needs ([`Message::descriptors`]).

mod error;
mod group;
mod message;
mod reason;
mod record;

pub use error::{DecodeError, Result};
pub use group::{GROUP_BYTES_MAX, GroupName};
pub use message::{MAGIC, MESSAGE_BYTES_MAX, Message, VERSION};
pub use reason::Reason;
pub use record::{Flow, RECORD_BYTES, Record, Transport};
