//! What the agent of a host decides: which two TCP sockets are the ends of one connection (`spec/net-protocol.md`).
//!
//! ```text
//!   Matcher     offers wait, claims take them, or stay on TCP      matcher, group
//!   TcpSocket   what the kernel says of a descriptor               ends, cookie (the only module with unsafe)
//! ```
//!
//! The process around it, which listens and passes descriptors on, is not there yet.
//!
//! # Invariants
//! - Nothing is known of a socket but what the kernel says of its descriptor, at the moment at which it is needed.
//! - In doubt, a connection stays on TCP.
//! - An offer is taken once; what waits is bounded.
#![cfg(target_os = "linux")]

mod cookie;
mod ends;
mod group;
mod matcher;

pub use ends::{Address, Ends, Socket, TcpSocket};
pub use matcher::{ClientId, Destinations, GroupKey, Matcher, OFFERS_OF_CLIENT_MAX};
