//! What a server keeps blobs on: disks of its own, or replicas of a cluster.

use afterbay_blob_node::{ClusterNode, ScrubCommand};
use afterbay_blob_router::{Error, Result};
use afterbay_blob_store::PartitionId;
use serde_json::Value;

use crate::node::{
    CHUNK_BYTES, Datanode, DiskStatus, NodeStatus, PartitionState, PartitionStatus, ScrubReport,
    space_of,
};

/// What a server keeps blobs on. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Storage {
    /// Disks of its own.
    Disks(Datanode),
    /// Replicas of a cluster, of which it is a node.
    Cluster(ClusterNode),
}

impl Storage {
    /// What is on the disks of this machine.
    pub async fn status(&self) -> Result<NodeStatus> {
        match self {
            Storage::Disks(node) => node.status().await,
            Storage::Cluster(node) => {
                let node = node.clone();
                let status = tokio::task::spawn_blocking(move || status_of(&node)).await;
                status.map_err(|error| unavailable(error.to_string()))
            }
        }
    }

    /// What a node of a cluster knows of the others; `None` if it is none, or shuts down.
    pub(crate) async fn cluster_report(&self) -> Option<Value> {
        match self {
            Storage::Disks(_) => None,
            Storage::Cluster(node) => node.report().await.ok(),
        }
    }

    /// Whether another chunk can be stored.
    pub async fn check_room(&self) -> Result<()> {
        match self {
            Storage::Disks(node) => node.check_room().await,
            Storage::Cluster(node) => {
                let has_room = node.partitions().any(|partition| {
                    let (used, read_only) = partition.usage();
                    !read_only && used + CHUNK_BYTES <= partition.threshold_bytes()
                });
                // A node without replicas is a frontend alone.
                if has_room || node.partitions().next().is_none() {
                    return Ok(());
                }
                Err(Error::OutOfSpace {
                    place: node.data().display().to_string(),
                    reason: "no replica of this node has room for another chunk".to_owned(),
                })
            }
        }
    }

    /// Begins to verify what is stored on this machine, or ends that, and says how far it is.
    pub(crate) async fn scrub(&self, command: ScrubCommand) -> Result<ScrubReport> {
        match (self, command) {
            (Storage::Cluster(node), command) => match node.scrub(command).await {
                Ok(report) => report.map_err(Error::Invalid),
                Err(error) => Err(unavailable(error.to_string())),
            },
            (Storage::Disks(node), ScrubCommand::Start { bytes_per_s, partition }) => {
                node.start_scrub(bytes_per_s, partition.map(PartitionId))
            }
            (Storage::Disks(node), ScrubCommand::Status) => Ok(node.scrub_report()),
            (Storage::Disks(node), ScrubCommand::Stop) => Ok(node.stop_scrub()),
        }
    }

    /// Whether content can go from the files of this machine to a socket.
    pub(crate) fn has_files(&self) -> bool {
        matches!(self, Storage::Disks(_))
    }
}

fn unavailable(reason: String) -> Error {
    Error::Unavailable { place: "server".to_owned(), reason }
}

/// Blocks.
fn status_of(node: &ClusterNode) -> NodeStatus {
    let space = space_of(node.data()).ok();
    let available_bytes = space.map_or(0, |space| space.available_bytes);
    let partitions: Vec<_> = node
        .partitions()
        .map(|partition| PartitionStatus::of_partition(partition, (0, 0)))
        .collect();
    let writable = node.partitions().zip(&partitions);
    let writable = writable.filter(|(_, status)| status.state == PartitionState::ReadWrite);
    let room: u64 = writable
        .map(|(partition, status)| partition.threshold_bytes().saturating_sub(status.used_bytes))
        .sum();
    NodeStatus {
        disks: vec![DiskStatus {
            place: node.data().display().to_string(),
            id: None,
            absent: None,
            total_bytes: space.map_or(0, |space| space.total_bytes),
            available_bytes,
            room_bytes: room.min(available_bytes),
            partitions,
        }],
    }
}
