//! A node of the blob store's cluster: sockets, threads and clocks around [`afterbay_blob_cluster::Node`].
//!
//! ```text
//!   router (ChunkStore)       other nodes
//!        |                      |    ^
//!        v                      v    |
//!      Event ---> Driver: one task has the state machine ---> Outbox: a connection to each node
//!        ^             |
//!        |             v
//!        +------- LocalStore on blocking threads
//! ```

mod chunks;
mod driver;
mod node;
mod peers;
mod report;

pub use afterbay_blob_cluster::{ClusterMap, NodeId, NodeOptions, Policy};
pub use node::{ClusterNode, ClusterOptions};
pub use peers::{ClusterKey, status_of};
