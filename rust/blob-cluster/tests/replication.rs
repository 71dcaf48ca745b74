//! What replicas take over from each other.

use std::collections::{BTreeMap, BTreeSet};

use afterbay_blob_cluster::{
    Body, Call, ClientAnswer, Message, NodeOptions, Reply, Request, Rules, StoreOperation,
};
use afterbay_blob_format::BlobId;

use crate::harness::*;

#[test]
fn a_node_that_was_away_catches_up() {
    let mut cluster = Cluster::new(1, map_of(&[&[1, 2, 3]]));
    let first = cluster.put(&n(1), "first");
    cluster.quiet();
    cluster.kill(&n(3));
    let blobs: Vec<BlobId> = (0..100).map(|at| cluster.put(&n(1), format!("blob {at}"))).collect();
    cluster.done(&n(2), delete(first));
    cluster.done(&n(2), delete(blobs[7]));
    cluster.done(&n(2), delete(blobs[8]));
    cluster.done(&n(1), undelete(blobs[8]));
    cluster.done(&n(1), update_ttl(blobs[9], u64::MAX / 2));
    cluster.start(&n(3));
    cluster.quiet();
    assert!(cluster.agreed(first).deleted);
    for (at, id) in blobs.iter().enumerate() {
        let said = cluster.agreed(*id);
        let body = (at != 7).then(|| format!("blob {at}").into());
        assert_eq!(said.body, body, "{at}");
    }
    assert_eq!(cluster.said(&n(3), blobs[8]).life, 1);
}

#[test]
fn a_new_disk_is_filled_and_says_nothing_before() {
    let mut cluster = Cluster::new(2, map_of(&[&[1, 2, 3]]));
    let blobs: Vec<BlobId> = (0..100).map(|at| cluster.put(&n(1), format!("blob {at}"))).collect();
    cluster.quiet();
    cluster.kill(&n(3));
    cluster.new_disks(&n(3));
    cluster.cut(&n(3), &n(2));
    cluster.cut(&n(3), &n(1));
    cluster.start(&n(3));
    cluster.run_ms(100);
    assert!(!cluster.machines[&n(3)].node.as_ref().unwrap().status().is_quiet());
    cluster.cut.clear();
    let error = cluster.ask(&n(3), get(blobs[50]));
    assert!(matches!(error, afterbay_blob_cluster::ClientAnswer::Got { .. }), "{error:?}");
    cluster.quiet();
    for (at, id) in blobs.iter().enumerate() {
        assert_eq!(cluster.agreed(*id).body.unwrap(), format!("blob {at}"));
    }
}

#[test]
fn each_blob_comes_from_one_source() {
    let mut cluster = Cluster::new(3, map_of(&[&[1, 2, 3]]));
    cluster.quiet();
    cluster.kill(&n(3));
    let blobs: Vec<BlobId> = (0..200).map(|at| cluster.put(&n(1), format!("blob {at}"))).collect();
    cluster.quiet();
    cluster.new_disks(&n(3));
    cluster.sent.borrow_mut().clear();
    cluster.start(&n(3));
    cluster.quiet();
    let mut sources: BTreeMap<BlobId, usize> = BTreeMap::new();
    let mut of: BTreeSet<_> = BTreeSet::new();
    for (_, from, message) in cluster.sent.borrow().iter().map(|(f, t, m)| (t, f, m)) {
        if let Body::Reply(Reply::Fetched(Ok(fetched))) = &message.body {
            for (id, records) in fetched {
                assert!(records.is_ok());
                *sources.entry(*id).or_default() += 1;
                of.insert(from.clone());
            }
        }
    }
    assert_eq!(sources.len(), 200);
    assert!(sources.values().all(|count| *count == 1), "{sources:?}");
    assert_eq!(of, BTreeSet::from([n(1), n(2)]), "both help");
    blobs.iter().for_each(|id| assert!(cluster.agreed(*id).body.is_some()));
}

#[test]
fn tokens_are_saved_after_what_they_stand_for_and_kept() {
    let mut cluster = Cluster::new(4, map_of(&[&[1, 2]]));
    cluster.quiet();
    let blobs: Vec<BlobId> = (0..40).map(|at| cluster.put(&n(1), format!("blob {at}"))).collect();
    cluster.quiet();
    cluster.kill(&n(2));
    cluster.start(&n(2));
    cluster.quiet();
    cluster.sent.borrow_mut().clear();
    cluster.run_ms(1_000);
    // It goes on from its token, and asks for nothing again.
    let since = cluster.requests(|from, _, request| match request {
        Request::Changes(since) if *from == n(2) => Some(since[0].clone()),
        Request::Fetch { .. } => panic!("{request:?}"),
        _ => None,
    });
    assert!(since.len() > 5);
    for since in since {
        assert!(since.compare.is_none());
        assert!(since.token.unwrap().sequence > 40);
    }
    blobs.iter().for_each(|id| assert!(cluster.agreed(*id).body.is_some()));
    let synced = cluster.stored.iter().all(|(_, operation)| match operation {
        StoreOperation::SaveTokens { sync, .. } => *sync,
        _ => true,
    });
    assert!(synced);
}

#[test]
fn at_rest_nothing_is_written() {
    let mut cluster = Cluster::new(5, map_of(&[&[1, 2, 3]]));
    cluster.put(&n(1), "x");
    cluster.quiet();
    cluster.stored.clear();
    cluster.run_ms(2_000);
    let writes = cluster.stored.iter().filter(|(_, operation)| {
        matches!(
            operation,
            StoreOperation::SaveTokens { .. }
                | StoreOperation::Apply { .. }
                | StoreOperation::Repair { .. }
        )
    });
    assert_eq!(writes.count(), 0);
}

#[test]
fn those_that_are_far_behind_come_first_and_get_half_of_the_places() {
    // n1 and n2 share 8 partitions; a batch has 3 places and there is one at a time.
    let partitions = [[1, 2]; 8];
    let placed: Vec<&[u32]> = partitions.iter().map(|replicas| &replicas[..]).collect();
    let options = NodeOptions { batches_max: 1, ..NodeOptions::fast() };
    let mut cluster = Cluster::with(6, map_of(&placed), options, Rules::default());
    cluster.quiet();
    cluster.kill(&n(2));
    for at in 0..400 {
        cluster.ask(&n(1), put_by_one(format!("{at}")));
    }
    cluster.start(&n(2));
    cluster.sent.borrow_mut().clear();
    cluster.quiet();
    let batches: Vec<Vec<u64>> = cluster.requests(|from, _, request| match request {
        Request::Changes(since) if *from == n(2) => {
            Some(since.iter().map(|since| since.partition.0).collect())
        }
        _ => None,
    });
    assert!(batches.iter().all(|batch| batch.len() <= 3), "{batches:?}");
    assert!(batches.iter().any(|batch| batch.len() == 3));
    for partition in 1..=8 {
        let first = batches.iter().position(|batch| batch.contains(&partition));
        assert!(first.is_some_and(|at| at < 8), "{partition}: {batches:?}");
    }
}

#[test]
fn tombstones_stay_until_a_node_that_is_away_has_passed_them() {
    let mut cluster = Cluster::new(7, map_of(&[&[1, 2, 3]]));
    let id = cluster.put(&n(1), vec![1; 8_000]);
    let other = cluster.put(&n(1), vec![1; 8_000]);
    cluster.quiet();
    cluster.kill(&n(3));
    cluster.done(&n(1), delete(id));
    // All segments with it are sealed.
    for _ in 0..6 {
        cluster.put(&n(1), vec![2; 8_000]);
    }
    cluster.run_ms(30_000);
    assert!(cluster.said(&n(1), id).deleted, "its tombstone is there");
    cluster.start(&n(3));
    cluster.until("it hears of the delete", |c| c.said(&n(3), id).deleted);
    cluster.run_ms(30_000);
    for node in [1, 2] {
        let known = cluster.partition(&n(node), id.partition).known(id).unwrap();
        assert_eq!(known, [], "n{node}: everybody has passed it");
    }
    assert!(cluster.agreed(other).body.is_some());
}

#[test]
fn a_source_knows_how_far_a_peer_has_come() {
    let mut cluster = Cluster::new(41, map_of(&[&[1, 2, 3]]));
    cluster.quiet();
    cluster.put(&n(1), "before");
    cluster.quiet();
    cluster.kill(&n(3));
    cluster.put(&n(1), "while it is away");
    cluster.run_ms(2_000);
    let end = |cluster: &Cluster| cluster.partition(&n(1), partition(1)).status().next_sequence;
    let of = |cluster: &Cluster, peer: u32| {
        let status = cluster.status(&n(1));
        let mut peers = status.replicas[0].peers.iter();
        peers.find(|status| status.node == n(peer)).unwrap().clone()
    };
    assert_eq!(of(&cluster, 2).passed, end(&cluster));
    assert_eq!(of(&cluster, 3).passed, end(&cluster) - 1, "the last put is not known to be there");
    cluster.start(&n(3));
    cluster.quiet();
    cluster.run_ms(1_000);
    let back = of(&cluster, 3);
    assert_eq!((back.passed, back.lag, back.is_heard), (end(&cluster), 0, true));
}

#[test]
fn a_replica_is_behind_until_it_has_the_content() {
    let mut cluster = Cluster::new(9, map_of(&[&[1, 2]]));
    cluster.quiet();
    cluster.cut(&n(1), &n(2));
    let answer = cluster.ask(&n(1), put_by_one("x"));
    assert!(matches!(answer, ClientAnswer::Put { .. }), "{answer:?}");
    // What it says comes, and no content.
    cluster.network = Box::new(|_, _, message| match message.body {
        Body::Reply(Reply::Fetched(_)) => None,
        _ => Some(1),
    });
    cluster.cut.clear();
    cluster.until("it has been asked for", |c| {
        c.requests(|from, _, r| (*from == n(2) && matches!(r, Request::Fetch { .. })).then_some(()))
            .len()
            > 1
    });
    let status = cluster.status(&n(2));
    assert_eq!(status.replicas[0].peers[0].lag, 1);
    assert!(!status.is_quiet());
    cluster.network = Box::new(|_, _, _| Some(1));
    cluster.quiet();
    assert_eq!(cluster.status(&n(2)).replicas[0].peers[0].lag, 0);
}

#[test]
fn fetches_from_a_node_are_bounded_over_all_partitions() {
    let placed: Vec<&[u32]> = vec![&[1, 2]; 12];
    let mut cluster = Cluster::new(10, map_of(&placed));
    cluster.quiet();
    cluster.kill(&n(2));
    for at in 0..120 {
        cluster.ask(&n(1), put_by_one(vec![at; 8_000]));
    }
    cluster.start(&n(2));
    cluster.sent.borrow_mut().clear();
    cluster.quiet();
    let (mut under_way, mut most, mut all) = (0_usize, 0, 0);
    for (_, _, message) in cluster.sent.borrow().iter() {
        match &message.body {
            Body::Request(Request::Fetch { .. }) => (under_way, all) = (under_way + 1, all + 1),
            Body::Reply(Reply::Fetched(_)) => under_way -= 1,
            _ => {}
        }
        most = most.max(under_way);
    }
    assert_eq!(most, NodeOptions::fast().fetches_max, "of {all}");
    assert!(all >= 40, "three blobs each: {all}");
}

#[test]
fn nobody_gets_more_at_once_than_a_node_gives() {
    let mut cluster = Cluster::new(11, map_of(&[&[1, 2]]));
    let ids: Vec<BlobId> = (0..8).map(|at| cluster.put(&n(1), vec![at; 10_000])).collect();
    cluster.quiet();
    cluster.sent.borrow_mut().clear();
    let (id, range) = (ids[0], 100..u32::MAX);
    let read = Request::Read { id, range, also_deleted: false };
    let fetch = Request::Fetch { partition: id.partition, ids, bytes_max: usize::MAX };
    for (number, request) in [(1, read), (2, fetch)] {
        let call = Call { session: 77, number };
        cluster.deliver(&n(2), &n(1), Message { call, body: Body::Request(request) });
    }
    cluster.run_ms(20);
    let sent = cluster.sent.borrow();
    let replies = sent.iter().filter(|(_, _, message)| message.call.session == 77);
    let replies: Vec<&Body> = replies.map(|(_, _, message)| &message.body).collect();
    let (piece, found) = match &replies[..] {
        [Body::Reply(Reply::Read(Ok(piece))), Body::Reply(Reply::Fetched(Ok(found)))] => {
            (piece, found)
        }
        other => panic!("{other:?}"),
    };
    let options = NodeOptions::fast();
    assert_eq!((piece.offset, piece.bytes.len()), (100, options.piece_bytes as usize));
    assert_eq!(found.len(), options.fetch_bytes_max.div_ceil(10_000));
}
