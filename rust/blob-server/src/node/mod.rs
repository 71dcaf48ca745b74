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
//!               <-- Scrubs, one thread per disk while one runs: reads and verifies everything, paced
//!     Volume        a data directory with its lock; tests have one that loses and fails
//!     Roster        which directories are which disks, and which disks are missing
//! ```

mod chunk;
mod committer;
mod datanode;
mod disk;
mod error;
mod hosted;
mod identity;
mod layout;
mod made;
mod options;
mod pacer;
mod read_only;
mod roster;
mod scrub;
mod services;
mod status;
mod upkeep;
mod volume;

pub use afterbay_blob_node::{RepairReport, ScrubCounts, ScrubFinding, ScrubReport, ScrubState};
pub use datanode::Datanode;
pub(crate) use disk::CHUNK_BYTES;
pub use identity::{DiskIdentity, DiskList, KnownDisk};
pub use layout::{Layout, LayoutError, Look, look};
pub use options::NodeOptions;
pub use roster::{AbsentDisk, DiskOptions, OpenSite, Roster, Site, assemble};
pub use services::{NodeServices, OneReplica, TombstoneKeeper};
pub use status::{DiskStatus, NodeStatus, PartitionState, PartitionStatus};
pub(crate) use volume::space_of;
pub use volume::{DataDirectory, OpenError, Space, Volume};
