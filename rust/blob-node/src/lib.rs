//! A node of the blob store's cluster: sockets, threads and clocks around [`afterbay_blob_cluster::Node`].
//!
//! ```text
//!   router (ChunkStore)        other nodes
//!        |                       |     ^
//!        v                       v     |
//!      Event --------------> Inbox     |
//!        |                       |     |
//!        v                       v     |
//!     Driver: one task has the state machine ---> Outbox: a connection to each node
//!        ^             |
//!        |             v
//!        +------- StoreQueue: LocalStore on blocking threads ---- Home: the node's directory
//! ```
//!
//! # Invariants
//! - Nobody is heard before both sides have proved that they know the cluster's key ([`handshake`]), and agree on cluster, map
//!   and version. If the map names certificates, all of it is in TLS, and a node is the one that the map names ([`tls`]); if not,
//!   what follows is neither encrypted nor signed, and the network between nodes has to be trusted. Who is refused is told why
//!   ([`refusal`]).
//! - What a node can make another one hold is bounded ([`inbox`], [`outbox`]), and so is what waits for the disk ([`store_queue`]);
//!   it makes nobody wait for it.
//! - A directory is one node's ([`home`]).

mod chunks;
mod driver;
mod handshake;
mod home;
mod inbox;
mod membership;
mod node;
mod outbox;
mod refusal;
mod report;
mod scrub_report;
mod scrubs;
mod store_queue;
mod tls;

pub use afterbay_blob_cluster::{
    ClusterMap, DetectorOptions, Fingerprint, NodeId, NodeOptions, Policy,
};
pub use home::make_home;
pub use membership::{ClusterKey, Membership};
pub use node::{ClusterNode, ClusterOptions};
pub use outbox::{scrub_of, status_of};
pub use scrub_report::{
    RepairReport, ScrubCounts, ScrubFinding, ScrubReport, ScrubState, name_of_flaw, name_of_harm,
};
pub use scrubs::ScrubCommand;
