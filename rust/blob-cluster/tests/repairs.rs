//! Damage is repaired from other replicas.

use afterbay_blob_cluster::{ClientError, NodeOptions, Rules};
use afterbay_blob_format::BlobId;
use afterbay_blob_store::sim::SimDisk;

use crate::harness::*;

const BODY: usize = 400;

/// Turns a bit of the body of a blob.
pub(crate) fn damage(cluster: &Cluster, node: u32, id: BlobId, text: &str) {
    let hits = damage_disk(&cluster.machines[&n(node)].disks[&id.partition], text);
    assert_eq!(hits, 1, "n{node}: {text}");
}

/// So many logs have the text.
pub(crate) fn damage_disk(disk: &SimDisk, text: &str) -> usize {
    let mut hits = 0;
    for name in disk.names().iter().filter(|name| name.ends_with(".log")) {
        let content = disk.content(name).unwrap();
        let at = content.windows(text.len()).position(|window| window == text.as_bytes());
        if let Some(at) = at {
            disk.turn_bit(name, at);
            hits += 1;
        }
    }
    hits
}

pub(crate) fn text(at: usize) -> String {
    format!("blob {at}: {}", "x".repeat(BODY))
}

fn filled(seed: u64, rules: Rules) -> (Cluster, Vec<BlobId>) {
    filled_with(seed, NodeOptions { scrub_interval_ms: 3_000, ..NodeOptions::fast() }, rules)
}

pub(crate) fn filled_with(seed: u64, options: NodeOptions, rules: Rules) -> (Cluster, Vec<BlobId>) {
    let mut cluster = Cluster::with(seed, map_of(&[&[1, 2, 3]]), options, rules);
    let blobs = (0..30).map(|at| cluster.put(&n(1), text(at))).collect();
    cluster.quiet();
    (cluster, blobs)
}

pub(crate) fn is_whole(cluster: &Cluster, node: u32, id: BlobId) -> bool {
    cluster.partition(&n(node), id.partition).export(id).is_ok()
}

#[test]
fn each_replica_is_damaged_elsewhere_and_all_are_repaired() {
    let (mut cluster, blobs) = filled(1, Rules::default());
    for node in 1..=3 {
        for at in (node as usize..30).step_by(3) {
            damage(&cluster, node, blobs[at], &text(at)[..7]);
        }
    }
    assert_eq!(blobs.iter().filter(|id| is_whole(&cluster, 1, **id)).count(), 20);
    cluster.until("all is repaired", |c| {
        (1..=3).all(|node| blobs.iter().all(|id| is_whole(c, node, *id)))
    });
    cluster.quiet();
    for (at, id) in blobs.iter().enumerate() {
        assert_eq!(cluster.agreed(*id).body.unwrap(), text(at));
    }
}

#[test]
fn what_a_reader_meets_is_repaired_without_a_scrub() {
    let (mut cluster, blobs) = filled(2, Rules::default());
    cluster.options.scrub_interval_ms = 0;
    for node in 1..=3 {
        cluster.kill(&n(node));
        cluster.start(&n(node));
    }
    cluster.quiet();
    damage(&cluster, 1, blobs[4], &text(4)[..7]);
    assert_eq!(cluster.got(&n(1), blobs[4]).1, text(4));
    cluster.until("it is repaired", |c| is_whole(c, 1, blobs[4]));
}

#[test]
fn what_all_have_damaged_is_said_to_be() {
    let (mut cluster, blobs) = filled(3, Rules::default());
    (1..=3).for_each(|node| damage(&cluster, node, blobs[4], &text(4)[..7]));
    assert_eq!(cluster.failure(&n(1), get(blobs[4])), ClientError::Damaged);
    assert_eq!(cluster.got(&n(1), blobs[5]).1, text(5));
}

#[test]
fn without_the_rule_the_last_copy_goes() {
    let (mut cluster, blobs) = filled(4, Rules::without("supersede").unwrap());
    damage(&cluster, 1, blobs[4], &text(4)[..7]);
    cluster.run_ms(10_000);
    assert!(!is_whole(&cluster, 1, blobs[4]));
}
