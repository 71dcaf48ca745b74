//! What a node has, for people and monitoring.

use afterbay_blob_store::{Partition, PartitionId};
use serde::{Deserialize, Serialize};

use super::datanode::Datanode;
use super::disk::Disk;
use super::hosted::Hosted;
use super::roster::AbsentDisk;

/// What a node has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its disks.
    pub disks: Vec<DiskStatus>,
}

/// One data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskStatus {
    /// Where it is.
    pub place: String,
    /// Which disk it is, as far as that is known.
    #[serde(default)]
    pub id: Option<String>,
    /// Why it is not used, if it is not: what is on it cannot be read.
    #[serde(default)]
    pub absent: Option<String>,
    /// Bytes of its file system.
    pub total_bytes: u64,
    /// Bytes of it that can be written.
    pub available_bytes: u64,
    /// Bytes that new blobs can take.
    pub room_bytes: u64,
    /// Its partitions.
    pub partitions: Vec<PartitionStatus>,
}

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionStatus {
    /// Its number.
    pub id: String,
    /// Whether it can be used.
    pub state: PartitionState,
    /// Why not, if not.
    pub reason: Option<String>,
    /// Bytes that its segments may have.
    pub capacity_bytes: u64,
    /// Bytes that they have.
    pub used_bytes: u64,
    /// Bytes of the disk that are reserved for records to come.
    #[serde(default)]
    pub reserved_bytes: u64,
    /// Records.
    pub records: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of memory that its index takes.
    pub index_memory_bytes: u64,
    /// Groups of writes since the start: so many times, at most, the disk was asked to sync.
    pub write_groups: u64,
    /// Writes in them.
    pub writes: u64,
    /// Ranges of its log that were damaged when it was opened.
    pub damaged_ranges: u64,
    /// Bytes of the end of its log that were not whole when it was opened, and were cut.
    #[serde(default)]
    pub cut_bytes: u64,
}

/// Whether a partition can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionState {
    /// It takes new blobs.
    ReadWrite,
    /// It is nearly full: no new blobs, but deletes and the like.
    ReadOnly,
    /// A write failed: reads only, until it is opened again.
    Failed,
    /// It could not be opened.
    Unavailable,
}

impl NodeStatus {
    /// Blocks.
    pub(crate) fn of(node: &Datanode) -> Self {
        let here = node.disks().iter().map(|disk| DiskStatus::of(disk));
        NodeStatus { disks: here.chain(node.absent().iter().map(DiskStatus::of_absent)).collect() }
    }
}

impl DiskStatus {
    /// Bytes of it that are reserved for blobs to come, in all partitions.
    pub fn reserved_bytes(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.reserved_bytes).sum()
    }

    fn of(disk: &Disk) -> Self {
        let space = disk.volume.space().ok();
        DiskStatus {
            place: disk.place(),
            id: disk.volume.id().map(|id| id.to_string()),
            absent: None,
            total_bytes: space.map_or(0, |space| space.total_bytes),
            available_bytes: space.map_or(0, |space| space.available_bytes),
            room_bytes: disk.room_bytes(),
            partitions: disk.partitions().iter().map(|p| PartitionStatus::of(p)).collect(),
        }
    }
}

impl DiskStatus {
    fn of_absent(absent: &AbsentDisk) -> Self {
        let id = absent.id.map(|id| id.to_string());
        DiskStatus {
            // Something must stand for it in metrics.
            place: if absent.place.is_empty() { absent.name() } else { absent.place.clone() },
            id,
            absent: Some(absent.reason.clone()),
            total_bytes: 0,
            available_bytes: 0,
            room_bytes: 0,
            partitions: Vec::new(),
        }
    }
}

impl PartitionStatus {
    fn of(hosted: &Hosted) -> Self {
        let groups = hosted.groups();
        match hosted.partition() {
            Ok(partition) => PartitionStatus::of_partition(&partition, groups),
            Err(error) => PartitionStatus {
                reason: Some(error.to_string()),
                ..PartitionStatus::unavailable(hosted.id, groups)
            },
        }
    }

    /// One that is open, with the groups of writes to it and the writes in them.
    pub(crate) fn of_partition(partition: &Partition, groups: (u64, u64)) -> Self {
        let status = partition.status();
        let (state, reason) = match (partition.failure(), status.read_only) {
            (Some(cause), _) => (PartitionState::Failed, Some(cause.to_string())),
            (None, true) => (PartitionState::ReadOnly, None),
            (None, false) => (PartitionState::ReadWrite, None),
        };
        PartitionStatus {
            state,
            reason,
            capacity_bytes: status.capacity_bytes,
            used_bytes: status.used_bytes,
            reserved_bytes: status.reserved_bytes,
            records: status.records,
            segments: status.segments as u64,
            index_memory_bytes: status.index_memory_bytes,
            damaged_ranges: partition.recovery().damaged.len() as u64,
            cut_bytes: partition.recovery().cut_bytes,
            ..PartitionStatus::unavailable(partition.id(), groups)
        }
    }

    fn unavailable(id: PartitionId, (write_groups, writes): (u64, u64)) -> Self {
        PartitionStatus {
            id: id.to_string(),
            state: PartitionState::Unavailable,
            reason: None,
            capacity_bytes: 0,
            used_bytes: 0,
            reserved_bytes: 0,
            records: 0,
            segments: 0,
            index_memory_bytes: 0,
            write_groups,
            writes,
            damaged_ranges: 0,
            cut_bytes: 0,
        }
    }
}
