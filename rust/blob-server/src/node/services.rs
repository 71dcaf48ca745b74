//! What a datanode needs of others.

use std::sync::Arc;

use afterbay_blob_store::{Identities, PartitionId, RandomIdentities};

/// Says when what says that a blob is gone may be gone itself.
pub trait TombstoneKeeper: Send + Sync + std::fmt::Debug {
    /// All other replicas of `partition` have the records of this one before this sequence number, on their disks. 0 if that is
    /// not known: then all stay. They stay for the undelete window in any case.
    fn passed_by_all(&self, partition: PartitionId) -> u64;
}

/// There is no other replica that would have to hear of a delete.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneReplica;

impl TombstoneKeeper for OneReplica {
    fn passed_by_all(&self, _: PartitionId) -> u64 {
        u64::MAX
    }
}

/// What a datanode needs of others. By default it is the only one.
#[derive(Debug, Clone)]
pub struct NodeServices {
    /// Where ids of blobs and partitions, and what partitions need, come from.
    pub identities: Arc<dyn Identities>,
    /// Which tombstones other replicas still need.
    pub tombstones: Arc<dyn TombstoneKeeper>,
}

impl Default for NodeServices {
    fn default() -> Self {
        NodeServices { identities: Arc::new(RandomIdentities), tombstones: Arc::new(OneReplica) }
    }
}
