//! What becomes of a node whose store does not do what it is asked for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use afterbay_blob_cluster::{
    ClientAnswer, ClientRequest, Durability, NodeOptions, Policy, Refusal, Rules, StoreOperation,
};
use afterbay_blob_format::BlobId;

use crate::harness::*;

/// What is asked for, without its arguments.
fn kind(operation: &StoreOperation) -> String {
    format!("{operation:?}").split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned()
}

#[test]
fn what_was_not_done_is_begun_anew() {
    let options = NodeOptions { scrub_interval_ms: 1_000, ..NodeOptions::fast() };
    let mut cluster = Cluster::with(1, map_of(&[&[1, 2, 3]]), options, Rules::default());
    let blobs: Vec<BlobId> = (0..40).map(|at| cluster.put(&n(1), format!("blob {at}"))).collect();
    cluster.quiet();
    cluster.kill(&n(3));
    cluster.new_disks(&n(3));
    // Each kind of operation, for some times at each node.
    let asked: Rc<RefCell<BTreeMap<String, usize>>> = Rc::default();
    let count = asked.clone();
    cluster.store_fails = Box::new(move |node, operation| {
        let mut asked = count.borrow_mut();
        let times = asked.entry(format!("{} {node}", kind(operation))).or_default();
        *times += 1;
        (*times <= 3).then(|| Refusal::Store("it is broken".to_owned()))
    });
    cluster.start(&n(3));
    for (at, id) in blobs.iter().enumerate().take(8) {
        let (content, class) = (content(format!("more {at}")), Durability::Fast);
        let policy = Policy::K(2);
        let began_ms = cluster.now_ms;
        cluster.ask(&n(1), ClientRequest::Put { content, expires_ms: 0, class, policy });
        cluster.ask(&n(2), get(*id));
        cluster.ask(&n(3), undelete(*id));
        // Who asks is told, and does not wait for an answer that does not come.
        let took_ms = cluster.now_ms - began_ms;
        assert!(took_ms < cluster.options.request_timeout_ms, "{took_ms} ms");
    }
    cluster.run_ms(5_000);
    cluster.quiet();
    for (at, id) in blobs.iter().enumerate() {
        assert_eq!(cluster.agreed(*id).body.unwrap(), format!("blob {at}"));
    }
    assert_eq!(cluster.status(&n(1)).replicas[0].unsynced_ms, 0);
    let asked = asked.borrow();
    for (kind, node) in [
        ("Load", 3),
        ("Apply", 3),
        ("Known", 1),
        ("Read", 2),
        ("Changes", 1),
        ("Missing", 3),
        ("Export", 1),
        ("SaveTokens", 3),
        ("Flush", 1),
        ("Compact", 2),
        ("Scrub", 2),
    ] {
        let times = asked.get(&format!("{kind} n{node}")).copied().unwrap_or(0);
        assert!(times > 3, "{kind} at n{node}: {times} of {asked:?}");
    }
}

#[test]
fn a_replica_whose_disk_is_full_can_be_read() {
    let mut cluster = Cluster::new(2, map_of(&[&[1, 2]]));
    let id = cluster.put(&n(1), "x");
    cluster.done(&n(1), update_ttl(id, u64::MAX / 2));
    cluster.quiet();
    cluster.kill(&n(1));
    cluster.kill(&n(2));
    cluster.store_fails = Box::new(|_, operation| {
        let full = || Refusal::Store("1.tokens: No space left on device".to_owned());
        matches!(operation, StoreOperation::SaveTokens { .. }).then(full)
    });
    cluster.start(&n(2));
    cluster.until("it says so", |c| c.status(&n(2)).replicas[0].not_loaded.is_some());
    assert_eq!(cluster.got(&n(2), id).1, "x");
    assert_eq!(cluster.got(&n(2), id).0.expires_ms, u64::MAX / 2);
    let put = cluster.failure(&n(2), put_by_one("y"));
    assert!(put.to_string().contains("1.tokens: No space left on device"), "{put}");
    // What it has comes to another one that has lost all, which takes no token of an epoch that is not on the disk.
    cluster.new_disks(&n(1));
    cluster.start(&n(1));
    cluster.run_ms(1_000);
    assert_eq!(cluster.got(&n(1), id).1, "x");
    let status = cluster.status(&n(2));
    assert!(!status.replicas[0].is_loaded && !status.is_quiet());
    // There is room again.
    cluster.store_fails = Box::new(|_, _| None);
    cluster.quiet();
    assert_eq!(cluster.status(&n(2)).replicas[0].not_loaded, None);
    let answer = cluster.ask(&n(2), put_by_one("y"));
    assert!(matches!(answer, ClientAnswer::Put { .. }), "{answer:?}");
    assert_eq!(cluster.agreed(id).body.unwrap(), "x");
}
