//! The datanode: partitions on the disks of one machine.
//!
//! ```text
//!   put, delete, ...           open, read
//!        |                          |
//!     Placement (most room)         |  threads for blocking calls
//!        |                          |
//!     Committer ---- one per partition: at most two threads; what comes while one
//!        |           of them syncs is one group, with one fdatasync
//!     Partition <-- Upkeep, two threads per disk: syncs `fast` writes, opens failed partitions again,
//!        |          makes new ones; compacts, paced, one partition at a time
//!     Volume        a data directory with its lock; tests have one that loses and fails
//! ```

mod chunk;
mod committer;
mod datanode;
mod disk;
mod error;
mod hosted;
mod layout;
mod options;
mod pacer;
mod read_only;
mod status;
mod upkeep;
mod volume;

pub use datanode::Datanode;
pub use layout::{Layout, LayoutError};
pub use options::NodeOptions;
pub use status::{DiskStatus, NodeStatus, PartitionState, PartitionStatus};
pub(crate) use volume::write_new;
pub use volume::{DataDirectory, OpenError, Space, Volume};
