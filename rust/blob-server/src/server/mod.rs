//! The native protocol's server.
//!
//! ```text
//!  Listener: accepts, counts --- Session: handshake, then one task reads requests
//!                                   |  put: content goes on to the router as it comes
//!                                   |  other requests: a task each, up to a limit
//!                                   v
//!                                Writer: one answer at a time, as a whole;
//!                                        content from the file to the socket (plaintext), or by the router (TLS)
//! ```
//!
//! # Invariants
//! - Nobody is served before both sides have proved that they know the secret.
//! - Everything that a client can make the server hold is bounded: connections, requests of each, heads, content.
//! - A client that stops reading or writing is cut off after a while.

mod listener;
mod options;
mod requests;
mod send_file;
mod session;
mod stall;
mod upload;
mod writer;

pub use listener::{Listener, Services};
pub use options::ServerOptions;
