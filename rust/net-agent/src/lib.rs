//! The agent of a host: brings the two ends of a TCP connection together (`spec/net-protocol.md`).
//!
//! ```text
//!   Agent       listens, and passes descriptors on                 agent
//!   AgentClient asks it                                            client
//!   Questions   which connections are there? libraries answer      questions
//!   Counters    what the agent has done                            counters
//!   Matcher     offers wait, claims take them, or stay on TCP      matcher, group, places (where an address is)
//!   TcpSocket   what the kernel says of a descriptor               ends, cookie (the only module with unsafe)
//! ```
//!
//! `afterbay net agent` is its process (`net`).
//!
//! # Invariants
//! - Nothing is known of a socket but what the kernel says of its descriptor, at the moment at which it is needed.
//! - In doubt, a connection stays on TCP.
//! - Its answer to a claim says what carries the connection: rings (`Paired`), or TCP and why (`Refused`).
//! - An offer is taken once; what waits is bounded.
#![cfg(target_os = "linux")]

mod agent;
mod client;
mod cookie;
mod counters;
mod ends;
mod error;
mod group;
mod matcher;
mod places;
mod questions;

pub use agent::{Agent, Rings};
pub use client::{AgentClient, Status};
pub use counters::Counters;
pub use ends::{Address, Ends, Socket, TcpSocket};
pub use error::{AgentError, Result};
pub use matcher::{ClientId, Destinations, GroupKey, Matcher, OFFERS_OF_CLIENT_MAX};
