//! Puts, deletes, undeletes and TTL updates.

use afterbay_blob_cluster::{
    Body, ClientAnswer, ClientError, ClientRequest, Durability, NodeOptions, Policy, Record, Reply,
    Request, Rules,
};
use afterbay_blob_format::{BlobId, RecordKind};

use crate::harness::*;

fn three(seed: u64) -> Cluster {
    let mut cluster = Cluster::new(seed, map_of(&[&[1, 2, 3]]));
    cluster.quiet();
    cluster
}

fn put_by(policy: Policy) -> ClientRequest {
    let (content, class) = (content("by policy"), Durability::Durable);
    ClientRequest::Put { content, expires_ms: 0, class, policy }
}

#[test]
fn a_put_goes_to_all_replicas_at_once_and_is_acknowledged_by_two() {
    let mut cluster = three(1);
    cluster.sent.borrow_mut().clear();
    let call = cluster.begin(&n(1), put("hello"));
    let writes = cluster.requests(|_, to, request| match request {
        Request::Write { .. } => Some(to.clone()),
        _ => None,
    });
    assert_eq!(writes, [n(2), n(3)], "and to itself, without a message");
    cluster.until("it is acknowledged", |c| c.requests(|_, _, _| Some(())).len() > 2);
    cluster.run_ms(20);
    let Some(ClientAnswer::Put { id, replicas }) = cluster.answer(call) else { panic!() };
    assert_eq!(replicas.len(), 2, "{replicas:?}");
    cluster.quiet();
    assert_eq!(cluster.agreed(id).body.unwrap(), "hello");
    for node in [1, 2, 3] {
        assert_eq!(cluster.got(&n(node), id).1, "hello");
    }
}

#[test]
fn the_policy_says_how_many_have_to_be_there() {
    let mut cluster = three(2);
    cluster.kill(&n(3));
    assert!(matches!(cluster.ask(&n(1), put_by(Policy::One)), ClientAnswer::Put { .. }));
    assert!(matches!(cluster.ask(&n(1), put_by(Policy::K(2))), ClientAnswer::Put { .. }));
    assert!(matches!(cluster.ask(&n(1), put_by(Policy::Majority)), ClientAnswer::Put { .. }));
    for policy in [Policy::K(3), Policy::All, Policy::K(4)] {
        let error = cluster.failure(&n(1), put_by(policy));
        assert!(matches!(error, ClientError::Unavailable { .. }), "{policy}: {error}");
    }
    cluster.kill(&n(2));
    let error = cluster.failure(&n(1), put_by(Policy::K(2)));
    assert!(matches!(error, ClientError::Unavailable { .. }), "{error}");
    let ClientAnswer::Put { replicas, .. } = cluster.ask(&n(1), put_by(Policy::One)) else {
        panic!()
    };
    assert_eq!(replicas, [n(1)]);
}

#[test]
fn with_fewer_than_two_reachable_another_partition_takes_it() {
    let mut cluster = Cluster::new(3, map_of(&[&[1, 2, 3], &[1, 4, 5]]));
    cluster.quiet();
    cluster.kill(&n(2));
    cluster.kill(&n(3));
    let mut given_up = 0;
    for at in 0..10 {
        cluster.sent.borrow_mut().clear();
        let id = cluster.put(&n(1), format!("blob {at}"));
        assert_eq!(id.partition, partition(2));
        given_up += cluster
            .requests(|_, to, request| match request {
                Request::Write { id, .. } if id.partition == partition(1) && *to == n(2) => {
                    Some(())
                }
                _ => None,
            })
            .len();
    }
    assert!(given_up > 0, "the first ones cannot know that the nodes are down");
    assert!(given_up < 10, "the others do: {given_up}");
    // Nothing that was given up stays.
    let changes = cluster.partition(&n(1), partition(1)).changes_since(0, 1000).unwrap().changes;
    let puts: Vec<BlobId> =
        changes.iter().filter(|c| c.kind == RecordKind::Put).map(|c| c.id).collect();
    assert!(!puts.is_empty());
    cluster.run_ms(100);
    for id in puts {
        assert!(cluster.said(&n(1), id).deleted, "{id}");
    }
}

#[test]
fn a_full_replica_does_not_take_new_blobs_and_a_cluster_of_them_says_so() {
    let mut cluster = three(4);
    let mut stored = 0;
    let error = loop {
        match cluster.ask(&n(1), put(vec![7; 15 << 10])) {
            ClientAnswer::Put { .. } => stored += 1,
            ClientAnswer::Failed(error) => break error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(error, ClientError::OutOfSpace);
    assert!((50..80).contains(&stored), "{stored} of 64 blocks");
}

#[test]
fn writes_are_stamped_once() {
    let mut cluster = three(5);
    cluster.machines.get_mut(&n(2)).unwrap().skew_ms = -400;
    cluster.machines.get_mut(&n(3)).unwrap().skew_ms = 350;
    let id = cluster.put(&n(1), "x");
    cluster.done(&n(2), update_ttl(id, u64::MAX / 2));
    cluster.done(&n(3), delete(id));
    cluster.quiet();
    cluster.agreed(id);
    let records: Vec<Vec<Record>> =
        [1, 2, 3].map(|at| cluster.partition(&n(at), id.partition).export(id).unwrap()).into();
    assert_eq!(records[0], records[1]);
    assert_eq!(records[0], records[2]);
    assert_eq!(records[0].len(), 3);
}

#[test]
fn a_ttl_update_by_a_slow_clock_holds() {
    let mut cluster = three(6);
    let id = cluster.put(&n(1), "x");
    let far = u64::MAX / 2;
    cluster.done(&n(1), update_ttl(id, far));
    cluster.machines.get_mut(&n(2)).unwrap().skew_ms = -499;
    cluster.done(&n(2), update_ttl(id, far + 1));
    cluster.quiet();
    assert_eq!(cluster.agreed(id).expiry.1, far);
    assert_eq!(cluster.got(&n(3), id).0.expires_ms, far + 1);
}

#[test]
fn a_delete_is_in_the_life_that_the_last_undelete_gave_it() {
    let mut cluster = three(7);
    let id = cluster.put(&n(1), "x");
    cluster.quiet();
    cluster.done(&n(1), delete(id));
    cluster.quiet();
    // n3 does not hear of the undelete, and n1 not of what n3 does.
    cluster.cut(&n(1), &n(3));
    cluster.cut(&n(2), &n(3));
    cluster.done(&n(1), undelete(id));
    assert!(cluster.said(&n(3), id).deleted);
    cluster.cut.clear();
    cluster.cut(&n(1), &n(3));
    cluster.done(&n(3), delete(id));
    cluster.cut.clear();
    cluster.quiet();
    let said = cluster.agreed(id);
    assert!(said.deleted && said.life == 1, "{said:?}");
    assert_eq!(cluster.failure(&n(2), get(id)), ClientError::Deleted);
    cluster.done(&n(2), undelete(id));
    cluster.quiet();
    assert_eq!(cluster.got(&n(3), id).1, "x");
    assert_eq!(cluster.agreed(id).life, 2);
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut cluster = three(8);
    let id = cluster.put(&n(1), "x");
    let other = BlobId { uuid: uuid::Uuid::from_u128(5), ..id };
    let elsewhere = BlobId { partition: partition(9), ..id };
    cluster.quiet();
    assert_eq!(cluster.failure(&n(1), undelete(id)), ClientError::NotDeleted);
    for request in [delete, undelete, get, |id| update_ttl(id, 1)] {
        assert_eq!(cluster.failure(&n(2), request(other)), ClientError::NotFound);
        assert_eq!(cluster.failure(&n(2), request(elsewhere)), ClientError::NotFound);
    }
    cluster.done(&n(1), delete(id));
    cluster.done(&n(2), delete(id));
    assert_eq!(cluster.failure(&n(3), update_ttl(id, 1)), ClientError::Deleted);
    let expiring = cluster.put(&n(1), "y");
    cluster.done(&n(1), update_ttl(expiring, 1));
    assert_eq!(cluster.failure(&n(1), update_ttl(expiring, 0)), ClientError::Expired);
    // Of a blob that nobody knows, one that is away could.
    cluster.kill(&n(3));
    let error = cluster.failure(&n(1), delete(other));
    assert!(matches!(error, ClientError::Unavailable { .. }), "{error}");
}

#[test]
fn requests_under_way_are_bounded() {
    let options = NodeOptions { operations_max: 5, ..NodeOptions::fast() };
    let mut cluster = Cluster::with(9, map_of(&[&[1, 2, 3]]), options, Rules::default());
    cluster.quiet();
    let calls: Vec<u64> = (0..8).map(|_| cluster.begin(&n(1), put("x"))).collect();
    cluster.run_ms(1_000);
    let answers: Vec<_> = calls.into_iter().map(|call| cluster.answer(call).unwrap()).collect();
    let busy = |answer: &&ClientAnswer| **answer == ClientAnswer::Failed(ClientError::Busy);
    assert_eq!(answers.iter().filter(busy).count(), 3);
    assert_eq!(answers.iter().filter(|a| matches!(a, ClientAnswer::Put { .. })).count(), 5);
}

#[test]
fn answers_that_come_twice_or_late_count_once() {
    let mut cluster = three(10);
    // n3 never hears of puts; n2's acknowledgements come twice.
    let doubled = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let kept = doubled.clone();
    cluster.network = Box::new(move |_, to, message| match &message.body {
        Body::Request(Request::Write { .. }) if *to == n(3) => None,
        Body::Reply(Reply::Written(_)) => {
            kept.borrow_mut().push(message.clone());
            Some(1)
        }
        _ => Some(1),
    });
    let call = cluster.begin(&n(1), put_by(Policy::K(3)));
    cluster.run_ms(20);
    let reply = doubled.borrow()[0].clone();
    let machine = cluster.machines.get_mut(&n(1)).unwrap();
    let now = afterbay_blob_cluster::Now { mono_ms: cluster.now_ms, wall_ms: 0 };
    machine.node.as_mut().unwrap().on_message(now, &n(2), reply);
    cluster.run_ms(100);
    assert_eq!(cluster.answer(call), None, "two have it, of three that are needed");
    cluster.run_ms(2_000);
    let answer = cluster.answer(call);
    assert!(matches!(answer, Some(ClientAnswer::Failed(_))), "{answer:?}");
}

#[test]
fn what_may_be_compacted_away_is_not_undeleted() {
    let mut cluster = three(11);
    let [early, late] = [0, 1].map(|_| cluster.put(&n(1), "x"));
    cluster.done(&n(1), delete(early));
    cluster.run_ms(2_500);
    cluster.done(&n(2), undelete(early));
    cluster.done(&n(1), delete(late));
    // Its content stays for 5 seconds; a request may take 1, and two clocks be half a second wrong.
    cluster.run_ms(3_500);
    assert_eq!(cluster.failure(&n(2), undelete(late)), ClientError::NotFound);
    assert!(cluster.partition(&n(2), late.partition).get_deleted(late).is_ok());
    cluster.quiet();
    assert_eq!(cluster.got(&n(3), early).1, "x");
}

#[test]
fn who_asks_for_all_acknowledgements_still_asks_so_many_that_one_knows_of_the_last_delete() {
    // n3 has not heard of it, and is the first to answer: itself.
    for seed in 0..20 {
        let mut cluster = three(seed);
        let id = cluster.put(&n(1), "x");
        cluster.quiet();
        [1, 2].iter().for_each(|other| cluster.cut(&n(3), &n(*other)));
        cluster.done(&n(1), delete(id));
        cluster.cut.clear();
        let (class, policy) = (Durability::Durable, Policy::All);
        let answer = cluster.ask(&n(3), ClientRequest::Undelete { id, class, policy });
        let none = ClientAnswer::Failed(ClientError::NotDeleted);
        assert_ne!(answer, none, "seed {seed}");
        cluster.quiet();
        let said = cluster.agreed(id);
        assert_eq!(said.body.is_some(), matches!(answer, ClientAnswer::Done { .. }), "{answer:?}");
    }
}
