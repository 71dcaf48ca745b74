//! What a node knows of the cluster, for people and for tests.

use afterbay_blob_format::PartitionId;

use crate::core::Core;
use crate::identity::NodeId;
use crate::message::Refusal;
use crate::replica::Verdict;
use crate::scrub::{AskedScrub, ScrubStatus};
use crate::serve::Replicas;

/// What a node knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// The node.
    pub node: NodeId,
    /// Nodes that it takes for down.
    pub down: Vec<NodeId>,
    /// Its replicas.
    pub replicas: Vec<ReplicaStatus>,
    /// The scrub that somebody asked for last, since the node started.
    pub scrub: Option<AskedScrub>,
}

/// What a node knows of one of its replicas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// The partition.
    pub partition: PartitionId,
    /// Its files are open, and it takes records.
    pub is_loaded: bool,
    /// Why it can only be read: the epoch of its log could not be written, which is tried again.
    pub not_loaded: Option<Refusal>,
    /// It has compared itself with the others once.
    pub is_filled: bool,
    /// It was put back to an older state, and is not compared yet.
    pub is_suspect: bool,
    /// Blobs that it has to fetch since something of them is damaged.
    pub damaged: usize,
    /// Whether it is being verified, and what came of that.
    pub scrub: ScrubStatus,
    /// For so many milliseconds something has been acknowledged, at `fast`, that is not known to be synced; 0 if there is nothing.
    pub unsynced_ms: u64,
    /// The other replicas.
    pub peers: Vec<PeerStatus>,
}

/// What a node knows of another replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerStatus {
    /// Where it is.
    pub node: NodeId,
    /// Records of it that were not taken over when it last answered.
    pub lag: u64,
    /// Whether all is being compared.
    pub is_comparing: bool,
    /// Whether all that it had was taken over once since this node started: before, a lag of 0 says nothing.
    pub is_heard: bool,
    /// Records of this replica's log before this one it has taken over and saved, as it said last: it may lack what comes
    /// from there on. 0 if it has said nothing since this node started.
    pub passed: u64,
}

impl NodeStatus {
    /// Whether nothing is left to be taken over, as far as the node knows.
    pub fn is_quiet(&self) -> bool {
        self.replicas.iter().all(|replica| {
            let peers = replica.peers.iter().all(PeerStatus::is_quiet);
            replica.is_filled && !replica.is_suspect && replica.damaged == 0 && peers
        })
    }
}

impl PeerStatus {
    fn is_quiet(&self) -> bool {
        self.lag == 0 && !self.is_comparing && self.is_heard
    }
}

pub(crate) fn status(core: &Core, replicas: &Replicas) -> NodeStatus {
    let replicas = replicas.values().map(|replica| ReplicaStatus {
        partition: replica.partition,
        is_loaded: replica.log.is_some(),
        not_loaded: replica.not_loaded.clone(),
        is_filled: replica.is_filled(core),
        is_suspect: replica.suspect,
        damaged: replica.repairs.len(),
        scrub: replica.scrub.status(),
        unsynced_ms: replica.unsynced.age_ms(core),
        peers: replica
            .peers
            .iter()
            .map(|(node, peer)| PeerStatus {
                node: node.clone(),
                lag: peer.lag,
                is_comparing: peer.compare.is_some() || peer.compare_anew,
                is_heard: peer.verdict == Verdict::Heard,
                passed: peer.shown,
            })
            .collect(),
    });
    NodeStatus {
        node: core.id.clone(),
        down: core.detector.down(),
        replicas: replicas.collect(),
        scrub: core.asked_scrub.clone(),
    }
}
