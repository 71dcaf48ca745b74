//! Limits of the native protocol's server.

use std::time::Duration;

/// Limits of the native protocol's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOptions {
    /// Connections at once; others are told so and closed.
    pub connections_max: usize,
    /// Requests of one connection at once; it is not read from while there are more.
    pub requests_max: usize,
    /// A client has so long to prove who it is.
    pub handshake_timeout: Duration,
    /// A connection without a request for so long is closed.
    pub idle_timeout: Duration,
    /// A client that neither takes nor sends a byte of what it should for so long is cut off.
    pub stall_timeout: Duration,
    /// Requests under way have so long to end when the server stops.
    pub drain_timeout: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            connections_max: 512,
            requests_max: 32,
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(300),
            stall_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(20),
        }
    }
}
