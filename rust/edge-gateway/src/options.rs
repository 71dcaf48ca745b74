//! How a gateway works.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use afterbay_edge_link::Limits;
use rustls::ServerConfig;

/// How many partitions a topic has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitions {
    /// So many; a new site goes to the one with the fewest sites.
    Count(u32),
    /// One for each site.
    Each,
}

/// How long a site that is not there holds the others up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// For ever: no row is late.
    Wait,
    /// So long; its rows go to `TOPIC.late` then, until it has caught up.
    Deadline(Duration),
}

/// How a gateway works.
#[derive(Debug, Clone)]
pub struct GatewayOptions {
    /// Where sites connect: `HOST:PORT`.
    pub listen: String,
    /// The certificate.
    pub tls: Arc<ServerConfig>,
    /// The folder of the sites' keys.
    pub keys: PathBuf,
    /// Of each topic.
    pub partitions: Partitions,
    /// About sites that are not there.
    pub absent: Absent,
    /// How long a link waits.
    pub limits: Limits,
    /// Sites that are connected at once.
    pub connections_max: usize,
    /// Connections of which nobody knows yet who they are. If there are more, the oldest one of the address that has most of them ends.
    pub handshakes_max: usize,
}
