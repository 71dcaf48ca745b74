//! Gets.

use std::cell::RefCell;
use std::rc::Rc;

use afterbay_blob_cluster::{
    Body, ClientAnswer, ClientError, ClientRequest, NodeId, NodeOptions, Reply, Request, Rules,
};
use afterbay_blob_format::BlobId;

use crate::harness::*;

fn reads(cluster: &Cluster) -> Vec<(NodeId, u32)> {
    cluster.requests(|_, to, request| match request {
        Request::Read { range, .. } => Some((to.clone(), range.start)),
        _ => None,
    })
}

/// n1 is a frontend without the partition.
fn apart(seed: u64, options: NodeOptions) -> Cluster {
    let map = map_of(&[&[2, 3, 4], &[1]]);
    let mut cluster = Cluster::with(seed, map, options, Rules::default());
    cluster.quiet();
    cluster
}

fn put_apart(cluster: &mut Cluster, text: impl AsRef<[u8]>) -> BlobId {
    let id = cluster.put(&n(2), text);
    assert_eq!(id.partition, partition(1));
    cluster.quiet();
    cluster.sent.borrow_mut().clear();
    id
}

#[test]
fn a_broken_transfer_goes_on_at_another_replica_at_the_same_byte() {
    let options = NodeOptions { piece_bytes: 1000, hedge_ms_min: 150, ..NodeOptions::fast() };
    let mut cluster = apart(1, options);
    let text: Vec<u8> = (0..9_500u32).map(|at| (at % 251) as u8).collect();
    let id = put_apart(&mut cluster, &text);
    let call = cluster.begin(&n(1), get(id));
    cluster.until("some of it is here", |c| reads(c).len() >= 4);
    let serving = reads(&cluster).last().unwrap().0.clone();
    cluster.kill(&serving);
    cluster.run_ms(1_000);
    let Some(ClientAnswer::Got { bytes, head }) = cluster.answer(call) else { panic!() };
    assert!(bytes == text && head.body_bytes == 9_500);
    let reads = reads(&cluster);
    let offsets: Vec<u32> = reads.iter().map(|(_, at)| *at).collect();
    assert!(offsets.is_sorted(), "{offsets:?}");
    let from_serving = reads.iter().filter(|(node, _)| *node == serving).count();
    assert!((1..=5).contains(&from_serving), "{reads:?}");
    assert!(reads.iter().all(|(node, at)| *node == serving || *at >= 2_000), "{reads:?}");
}

#[test]
fn parts_of_a_blob() {
    let mut cluster = apart(2, NodeOptions { piece_bytes: 7, ..NodeOptions::fast() });
    let id = put_apart(&mut cluster, "0123456789abcdefghij");
    for (range, found) in [
        (0..20, "0123456789abcdefghij"),
        (3..9, "345678"),
        (15..u32::MAX, "fghij"),
        (20..30, ""),
        (25..30, ""),
        (4..4, ""),
    ] {
        let answer = cluster.ask(&n(1), ClientRequest::Get { id, range: range.clone() });
        let ClientAnswer::Got { head, bytes } = answer else { panic!("{range:?}: {answer:?}") };
        assert_eq!((bytes, head.body_bytes), (found.into(), 20), "{range:?}");
    }
    let empty = put_apart(&mut cluster, "");
    assert_eq!(cluster.got(&n(1), empty).1, "");
}

#[test]
fn what_is_deleted_can_be_read_by_who_asks_for_it() {
    let mut cluster = apart(8, NodeOptions::fast());
    let id = put_apart(&mut cluster, "0123456789");
    cluster.done(&n(1), delete(id));
    cluster.quiet();
    assert_eq!(cluster.failure(&n(1), get(id)), ClientError::Deleted);
    let answer = cluster.ask(&n(1), ClientRequest::GetDeleted { id, range: 2..5 });
    let ClientAnswer::Got { head, bytes } = answer else { panic!("{answer:?}") };
    assert_eq!((bytes, head.body_bytes), ("234".into(), 10));
    let nobody = BlobId { uuid: uuid::Uuid::nil(), ..id };
    let unknown = ClientRequest::GetDeleted { id: nobody, range: 0..u32::MAX };
    assert_eq!(cluster.failure(&n(1), unknown), ClientError::NotFound);
}

#[test]
fn a_slow_replica_does_not_hold_up_a_get() {
    let mut options = NodeOptions { request_timeout_ms: 5_000, ..NodeOptions::fast() };
    options.detector.check_period_ms = 15_000;
    let mut cluster = apart(3, NodeOptions { write_deadline_ms: 3_900, ..options });
    let id = put_apart(&mut cluster, "x");
    let slow: Rc<RefCell<Option<NodeId>>> = Rc::default();
    let first = slow.clone();
    // The replica that is asked first answers after 4 seconds.
    cluster.network = Box::new(move |from, to, message| match &message.body {
        Body::Request(Request::Read { .. }) => {
            first.borrow_mut().get_or_insert(to.clone());
            Some(1)
        }
        Body::Reply(Reply::Read(_)) if first.borrow().as_ref() == Some(from) => Some(4_000),
        _ => Some(1),
    });
    let began_ms = cluster.now_ms;
    assert_eq!(cluster.got(&n(1), id).1, "x");
    let took_ms = cluster.now_ms - began_ms;
    assert!(took_ms < 100, "{took_ms} ms");
    let asked: Vec<NodeId> = reads(&cluster).into_iter().map(|(node, _)| node).collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(Some(&asked[0]), slow.borrow().as_ref());
    assert_ne!(asked[0], asked[1]);
}

#[test]
fn when_all_answer_at_once_one_is_asked() {
    let mut cluster = apart(4, NodeOptions::fast());
    let id = put_apart(&mut cluster, "x");
    cluster.network = Box::new(|_, _, _| Some(1));
    let mut asked = std::collections::BTreeSet::new();
    for _ in 0..20 {
        cluster.sent.borrow_mut().clear();
        assert_eq!(cluster.got(&n(1), id).1, "x");
        let reads = reads(&cluster);
        assert_eq!(reads.len(), 1);
        asked.insert(reads[0].0.clone());
    }
    assert_eq!(asked.len(), 3, "by turns: {asked:?}");
}

#[test]
fn a_node_that_is_down_is_not_asked_and_then_probed() {
    let mut cluster = apart(5, NodeOptions::fast());
    let id = put_apart(&mut cluster, "x");
    cluster.kill(&n(2));
    for _ in 0..20 {
        assert_eq!(cluster.got(&n(1), id).1, "x");
        cluster.run_ms(50);
    }
    let to_n2 = |c: &Cluster| reads(c).iter().filter(|(node, _)| *node == n(2)).count();
    let before = to_n2(&cluster);
    assert!((1..10).contains(&before), "{before} of 20");
    cluster.start(&n(2));
    let start_ms = cluster.now_ms;
    cluster.until("it is asked again", |c| {
        c.machines[&n(1)].node.as_ref().unwrap().status().down.is_empty()
            || c.now_ms > start_ms + 400
    });
    cluster.sent.borrow_mut().clear();
    for _ in 0..30 {
        assert_eq!(cluster.got(&n(1), id).1, "x");
    }
    assert!(to_n2(&cluster) > 0, "it is back");
}

#[test]
fn not_found_is_what_all_say() {
    let mut cluster = apart(6, NodeOptions::fast());
    let id = put_apart(&mut cluster, "x");
    let unknown = BlobId { uuid: uuid::Uuid::from_u128(7), ..id };
    assert_eq!(cluster.failure(&n(1), get(unknown)), ClientError::NotFound);
    cluster.kill(&n(2));
    let error = cluster.failure(&n(1), get(unknown));
    assert!(matches!(error, ClientError::Unavailable { .. }), "{error}");
}

#[test]
fn a_replica_that_does_not_have_it_yet_is_passed_over() {
    let mut cluster = apart(7, NodeOptions::fast());
    cluster.cut(&n(2), &n(4));
    cluster.cut(&n(3), &n(4));
    let id = cluster.put(&n(2), "x");
    for _ in 0..10 {
        assert_eq!(cluster.got(&n(1), id).1, "x");
    }
    let asked = reads(&cluster).iter().filter(|(node, _)| *node == n(4)).count();
    assert!(asked > 0);
}

#[test]
fn deleted_is_said_by_so_many_that_one_knows_of_an_undelete() {
    let mut cluster = apart(8, NodeOptions::fast());
    let id = put_apart(&mut cluster, "x");
    cluster.done(&n(1), delete(id));
    cluster.quiet();
    assert_eq!(cluster.failure(&n(1), get(id)), ClientError::Deleted);
    cluster.cut(&n(2), &n(4));
    cluster.cut(&n(3), &n(4));
    cluster.cut(&n(1), &n(4));
    cluster.done(&n(1), undelete(id));
    assert!(cluster.said(&n(4), id).deleted);
    cluster.cut.remove(&(n(1), n(4)));
    cluster.cut.remove(&(n(4), n(1)));
    for _ in 0..10 {
        assert_eq!(cluster.got(&n(1), id).1, "x", "n4 does not know of it");
    }
    assert!(reads(&cluster).iter().any(|(node, _)| *node == n(4)));
    // One alone cannot know.
    cluster.kill(&n(2));
    cluster.kill(&n(3));
    let error = cluster.failure(&n(1), get(id));
    assert!(matches!(error, ClientError::Unavailable { .. }), "{error}");
}

#[test]
fn nobody_waits_for_a_node_that_does_not_answer_once_a_majority_says_that_it_is_deleted() {
    let mut cluster = apart(9, NodeOptions::fast());
    let id = put_apart(&mut cluster, "x");
    let expired = put_apart(&mut cluster, "y");
    cluster.done(&n(1), delete(id));
    let (head, _) = cluster.got(&n(1), expired);
    cluster.done(&n(1), update_ttl(expired, head.created_ms + 1));
    cluster.quiet();
    cluster.cut(&n(1), &n(4));
    let began_ms = cluster.now_ms;
    for _ in 0..4 {
        assert_eq!(cluster.failure(&n(1), get(id)), ClientError::Deleted);
    }
    let took_ms = cluster.now_ms - began_ms;
    assert!(took_ms < 100, "{took_ms} ms, before it is taken for down");
    cluster.until("it is taken for down", |c| c.status(&n(1)).down == [n(4)]);
    for (id, error) in [(id, ClientError::Deleted), (expired, ClientError::Expired)] {
        for _ in 0..10 {
            // Now and then it is asked again, to see.
            cluster.run_ms(150);
            let began_ms = cluster.now_ms;
            assert_eq!(cluster.failure(&n(1), get(id)), error);
            let took_ms = cluster.now_ms - began_ms;
            assert!(took_ms < 100, "{took_ms} ms");
        }
        assert!(reads(&cluster).iter().any(|(node, _)| *node == n(4)));
        cluster.sent.borrow_mut().clear();
    }
    // It may be the one that knows.
    cluster.kill(&n(3));
    let error = cluster.failure(&n(1), get(id));
    assert!(matches!(error, ClientError::Unavailable { .. }), "{error}");
    assert!(reads(&cluster).iter().any(|(node, _)| *node == n(4)));
}

#[test]
fn who_does_not_answer_and_who_does_not_have_it_do_not_hold_up_a_get() {
    // n4 does not answer, and is not taken for down yet; n2 has lost it.
    for seed in 0..20 {
        let mut cluster = apart(seed, NodeOptions::fast());
        let id = put_apart(&mut cluster, "x");
        cluster.kill(&n(2));
        cluster.new_disks(&n(2));
        [1, 2].iter().for_each(|other| cluster.cut(&n(4), &n(*other)));
        cluster.cut(&n(2), &n(3));
        cluster.start(&n(2));
        cluster.run_ms(20);
        let began_ms = cluster.now_ms;
        assert_eq!(cluster.got(&n(1), id).1, "x");
        let took_ms = cluster.now_ms - began_ms;
        assert!(took_ms < 100, "seed {seed}: {took_ms} ms");
    }
}
