//! Fetches what is damaged here from the other replicas, and writes it again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use afterbay_blob_format::{BlobId, PartitionId, RecordKind};
use afterbay_blob_store::Record;

use crate::core::{Core, Owner, StoreOwner};
use crate::identity::NodeId;
use crate::message::{Refusal, Reply, Request};
use crate::replica::Replica;
use crate::store_call::{StoreAnswer, StoreOperation};

const IDS_MAX: usize = 16;

/// What has to be fetched.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// With the peers that do not have it.
    wanted: BTreeMap<BlobId, BTreeSet<NodeId>>,
    under_way: bool,
    ready_ms: u64,
    /// Where to go on, and with which peer.
    after: Option<BlobId>,
    turn: usize,
    /// Peers that are still to be compared with, since nobody knows what was in some place.
    lost: Option<BTreeSet<NodeId>>,
}

impl Repairs {
    /// Notes a blob of which something is damaged here. Those for which there is no room are found again by the next scrub.
    pub(crate) fn damaged(&mut self, core: &Core, id: BlobId) {
        if core.rules.supersede {
            self.want(core, id);
        }
    }

    /// Notes a blob that others may have; false if there are too many.
    pub(crate) fn want(&mut self, core: &Core, id: BlobId) -> bool {
        let room = self.wanted.len() < core.options.damaged_max;
        if room {
            self.wanted.entry(id).or_default();
        }
        room || self.wanted.contains_key(&id)
    }

    pub(crate) fn is_wanted(&self, id: BlobId) -> bool {
        self.wanted.contains_key(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.wanted.len()
    }

    pub(crate) fn lost<'a>(&mut self, peers: impl Iterator<Item = &'a NodeId>) {
        self.lost = Some(peers.cloned().collect());
    }

    pub(crate) fn compared(&mut self, node: &NodeId) {
        if let Some(lost) = &mut self.lost {
            lost.remove(node);
        }
    }

    /// Whether no peer is still to be compared with since nobody knows what was in some place.
    pub(crate) fn is_compared(&self) -> bool {
        self.lost.as_ref().is_none_or(BTreeSet::is_empty)
    }

    /// Whether all that places held of which nobody knows what it was has been fetched.
    pub(crate) fn is_lost_repaired(&self) -> bool {
        self.lost.as_ref().is_some_and(BTreeSet::is_empty) && self.wanted.is_empty()
    }

    pub(crate) fn wake_ms(&self) -> Option<u64> {
        (!self.under_way && !self.wanted.is_empty()).then_some(self.ready_ms)
    }

    fn next(&mut self) -> Vec<BlobId> {
        let from = self.after.map_or(Bound::Unbounded, Bound::Excluded);
        let ids: Vec<_> =
            self.wanted.range((from, Bound::Unbounded)).map(|(id, _)| *id).take(IDS_MAX).collect();
        self.after = ids.last().copied();
        if ids.is_empty() {
            // Once round: the next peer.
            self.turn += 1;
            return self.wanted.keys().copied().take(IDS_MAX).collect();
        }
        ids
    }

    fn wait(&mut self, core: &Core) {
        self.under_way = false;
        self.ready_ms = core.now.mono_ms + core.options.pull_interval_ms;
    }
}

impl Replica {
    pub(crate) fn repair_next(&mut self, core: &mut Core) {
        let due = self.repairs.wake_ms().is_some_and(|wake_ms| wake_ms <= core.now.mono_ms);
        if !due {
            return;
        }
        // Else the node would be woken for it at once, again and again.
        if self.log.is_none() || self.peers.is_empty() {
            self.repairs.wait(core);
            return;
        }
        let after = self.repairs.after;
        let ids = self.repairs.next();
        let nodes: Vec<&NodeId> = self.peers.keys().collect();
        let node = nodes[self.repairs.turn % nodes.len()].clone();
        if !core.may_fetch(&node) {
            self.repairs.after = after;
            self.repairs.wait(core);
            return;
        }
        if !core.detector.ask(&node, core.now.mono_ms) {
            self.repairs.turn += 1;
            self.repairs.after = None;
            self.repairs.wait(core);
            return;
        }
        self.repairs.under_way = true;
        let (partition, bytes_max) = (self.partition, core.options.fetch_bytes_max);
        core.ask(&node, Request::Fetch { partition, ids, bytes_max }, Owner::Repair(partition));
    }

    pub(crate) fn on_repair_reply(&mut self, core: &mut Core, node: &NodeId, reply: Reply) {
        let Reply::Fetched(Ok(fetched)) = reply else {
            self.repairs.turn += 1;
            self.repairs.wait(core);
            return;
        };
        let (mut ids, mut records): (Vec<BlobId>, Vec<Record>) = (Vec::new(), Vec::new());
        let peers = self.peers.len();
        for (id, found) in fetched {
            let has_it = match &found {
                Ok(found) => found.iter().any(|record| record.kind != RecordKind::Undelete),
                Err(Refusal::NotFound) => false,
                Err(_) => continue,
            };
            if has_it {
                ids.push(id);
            } else if let Some(without) = self.repairs.wanted.get_mut(&id) {
                without.insert(node.clone());
                // Nobody has it. Who gets it tells of it; and of what is damaged here, the next scrub does again.
                if without.len() >= peers {
                    self.repairs.wanted.remove(&id);
                }
            }
            records.extend(found.into_iter().flatten());
        }
        if records.is_empty() {
            self.repairs.wait(core);
        } else {
            let owner = StoreOwner::Repair(ids);
            core.store(self.partition, StoreOperation::Repair { records }, owner);
        }
    }

    pub(crate) fn on_repair_failed(&mut self, core: &Core) {
        self.repairs.turn += 1;
        self.repairs.wait(core);
    }

    pub(crate) fn on_repaired(&mut self, core: &Core, ids: &[BlobId], answer: &StoreAnswer) {
        let partition: PartitionId = self.id();
        match answer {
            StoreAnswer::Applied(results) if results.iter().all(Result::is_ok) => {
                tracing::info!(%partition, blobs = ids.len(), "written again");
                for id in ids {
                    self.repairs.wanted.remove(id);
                }
            }
            answer => tracing::warn!(%partition, ?answer, "not repaired"),
        }
        self.repairs.wait(core);
        if self.repairs.wanted.is_empty() {
            self.repairs.after = None;
        }
    }
}
