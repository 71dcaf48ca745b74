//! Random requests, kills, losses of power and cuts; then everything heals, and what was acknowledged must be so.

use std::collections::BTreeMap;

use afterbay_blob_cluster::{ClientAnswer, ClientError};
use afterbay_blob_format::BlobId;

use crate::harness::*;

/// What a blob may be, after all that was acknowledged, and what may have happened without.
#[derive(Debug, Clone)]
struct Expected {
    body: Vec<u8>,
    may_be_alive: bool,
    may_be_deleted: bool,
}

struct Run {
    cluster: Cluster,
    blobs: BTreeMap<BlobId, Expected>,
    down: Option<u32>,
    acknowledged: usize,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut cluster = Cluster::new(seed, map_of(&[&[1, 2, 3], &[1, 2, 3]]));
        let mut delays = Random(seed ^ 77);
        // One in 50 messages is lost, some overtake others.
        cluster.network =
            Box::new(move |_, _, _| (delays.below(50) != 0).then(|| 1 + delays.below(12)));
        cluster.quiet();
        Run { cluster, blobs: BTreeMap::new(), down: None, acknowledged: 0 }
    }

    fn frontend(&mut self) -> afterbay_blob_cluster::NodeId {
        loop {
            let node = n(1 + self.cluster.random.below(3) as u32);
            if self.cluster.is_up(&node) {
                return node;
            }
        }
    }

    fn blob(&mut self) -> Option<BlobId> {
        let count = self.blobs.len() as u64;
        let at = self.cluster.random.below(count.max(1)) as usize;
        self.blobs.keys().nth(at).copied()
    }

    fn step(&mut self) {
        let node = self.frontend();
        match self.cluster.random.below(20) {
            0..8 => {
                let length = 1 + self.cluster.random.below(2_000) as usize;
                let mut body = vec![self.blobs.len() as u8; length];
                body[0] = self.cluster.random.below(256) as u8;
                if let ClientAnswer::Put { id, .. } = self.cluster.ask(&node, put(&body)) {
                    let expected = Expected { body, may_be_alive: true, may_be_deleted: false };
                    assert!(self.blobs.insert(id, expected).is_none());
                    self.acknowledged += 1;
                }
            }
            8..11 => self.toggle(&node, true),
            11..13 => self.toggle(&node, false),
            13..16 => {
                if let Some(id) = self.blob() {
                    self.check_get(&node, id);
                }
            }
            16 if self.down.is_none() => {
                let number = 1 + self.cluster.random.below(3) as u32;
                if self.cluster.random.below(2) == 0 {
                    self.cluster.kill(&n(number));
                } else {
                    self.cluster.lose_power(&n(number));
                }
                self.down = Some(number);
            }
            17 if self.down.is_none() => {
                let [a, b] = [0, 1].map(|_| n(1 + self.cluster.random.below(3) as u32));
                // One way, or both.
                self.cluster.cut.insert((a, b));
            }
            18 => self.cluster.cut.clear(),
            _ => {
                if let Some(number) = self.down.take() {
                    self.cluster.start(&n(number));
                }
            }
        }
        let pause_ms = self.cluster.random.below(300);
        self.cluster.run_ms(pause_ms);
    }

    fn toggle(&mut self, node: &afterbay_blob_cluster::NodeId, deletes: bool) {
        let Some(id) = self.blob() else { return };
        let request = if deletes { delete(id) } else { undelete(id) };
        let answer = self.cluster.ask(node, request);
        let blob = self.blobs.get_mut(&id).unwrap();
        match answer {
            ClientAnswer::Done { .. } => {
                (blob.may_be_alive, blob.may_be_deleted) = (!deletes, deletes);
                self.acknowledged += 1;
            }
            ClientAnswer::Failed(ClientError::NotDeleted) => {
                assert!(!deletes && blob.may_be_alive, "{id}: {blob:?}");
                (blob.may_be_alive, blob.may_be_deleted) = (true, false);
            }
            // Its content may be compacted away.
            ClientAnswer::Failed(_) if deletes => blob.may_be_deleted = true,
            ClientAnswer::Failed(_) => blob.may_be_alive = true,
            other => panic!("{other:?}"),
        }
    }

    fn check_get(&mut self, node: &afterbay_blob_cluster::NodeId, id: BlobId) {
        let answer = self.cluster.ask(node, get(id));
        let blob = &self.blobs[&id];
        match answer {
            ClientAnswer::Got { bytes, .. } => assert!(bytes == blob.body, "{id}"),
            ClientAnswer::Failed(ClientError::Deleted | ClientError::NotFound) => {
                assert!(blob.may_be_deleted, "{id}: {blob:?}");
            }
            ClientAnswer::Failed(ClientError::Unavailable { .. }) => {}
            other => panic!("{id}: {other:?}"),
        }
    }

    fn heal_and_check(mut self) -> usize {
        if let Some(number) = self.down.take() {
            self.cluster.start(&n(number));
        }
        self.cluster.cut.clear();
        self.cluster.network = Box::new(|_, _, _| Some(1));
        self.cluster.run_ms(2_000);
        self.cluster.quiet();
        for (id, blob) in std::mem::take(&mut self.blobs) {
            let said = self.cluster.agreed(id);
            let alive = said.body.is_some();
            assert!(if alive { blob.may_be_alive } else { blob.may_be_deleted }, "{id}: {blob:?}");
            if let Some(body) = said.body {
                assert!(body == blob.body, "{id}");
            }
        }
        self.acknowledged
    }
}

/// Says which seed it was.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

#[test]
fn what_is_acknowledged_is_so_when_all_is_healed() {
    let mut acknowledged = 0;
    for seed in 0..afterbay_test_form::cluster_cases() {
        let failed = Seed(seed);
        let mut run = Run::new(seed);
        let steps = 40 + run.cluster.random.below(60);
        (0..steps).for_each(|_| run.step());
        acknowledged += run.heal_and_check();
        drop(failed);
    }
    let least = 15 * afterbay_test_form::cluster_cases() as usize;
    assert!(acknowledged > least, "{acknowledged} requests were acknowledged");
}
