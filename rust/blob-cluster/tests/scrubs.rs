//! Scrubs that somebody asks for, and those that come by themselves.

use afterbay_blob_cluster::{
    AskedScrub, ClientAnswer, NodeOptions, Refusal, Rules, ScrubOutcome, ScrubStep, StoreOperation,
};
use afterbay_blob_format::BlobId;
use afterbay_blob_store::Error;

use crate::harness::*;
use crate::repairs::{damage, damage_disk, filled_with, is_whole, text};

/// None comes by itself.
fn filled(seed: u64) -> (Cluster, Vec<BlobId>) {
    let options = NodeOptions { scrub_interval_ms: 0, ..NodeOptions::fast() };
    filled_with(seed, options, Rules::default())
}

fn asked(cluster: &Cluster, node: u32) -> AskedScrub {
    cluster.status(&n(node)).scrub.unwrap()
}

/// What comes of the scrub that a node is asked for.
fn scrubbed(cluster: &mut Cluster, node: u32) -> ScrubOutcome {
    cluster.scrub(&n(node), None).unwrap();
    cluster.until("the scrub has ended", |c| !asked(c, node).is_running());
    asked(cluster, node).outcomes.remove(&partition(1)).unwrap()
}

#[test]
fn each_replica_is_damaged_elsewhere_and_all_is_whole_when_it_is_said() {
    let (mut cluster, blobs) = filled(1);
    for node in 1..=3 {
        for at in (node as usize..30).step_by(3) {
            damage(&cluster, node, blobs[at], &text(at)[..7]);
        }
    }
    let whole = |c: &Cluster, node| blobs.iter().filter(|id| is_whole(c, node, **id)).count();
    for node in 1..=3 {
        let expected = blobs.len() - whole(&cluster, node);
        assert!((9..=10).contains(&expected), "n{node}: {expected}");
        let outcome = scrubbed(&mut cluster, node);
        assert_eq!((outcome.damaged, outcome.repaired), (expected, expected), "{outcome:?}");
        assert!(outcome.is_whole() && outcome.left == 0, "{outcome:?}");
        assert_eq!(whole(&cluster, node), blobs.len(), "n{node}: whole when it is said");
    }
    for node in 1..=3 {
        let outcome = scrubbed(&mut cluster, node);
        assert_eq!((outcome.damaged, outcome.is_whole()), (0, true), "{outcome:?}");
    }
}

#[test]
fn what_no_other_replica_has_whole_is_left() {
    let (mut cluster, blobs) = filled(2);
    (1..=3).for_each(|node| damage(&cluster, node, blobs[4], &text(4)[..7]));
    damage(&cluster, 1, blobs[5], &text(5)[..7]);
    let outcome = scrubbed(&mut cluster, 1);
    assert_eq!((outcome.damaged, outcome.repaired, outcome.left), (2, 1, 1), "{outcome:?}");
    assert!(!outcome.is_whole());
    // Of what is deleted, nobody misses the content.
    cluster.done(&n(1), delete(blobs[4]));
    let is_deleted = |c: &Cluster, node| {
        let got = c.partition(&n(node), partition(1)).get(blobs[4]);
        matches!(got, Err(Error::Deleted(_)))
    };
    cluster.until("all have heard of it", |c| (1..=3).all(|node| is_deleted(c, node)));
    let outcome = scrubbed(&mut cluster, 1);
    assert_eq!((outcome.left, outcome.garbage), (0, 1), "{outcome:?}");
    assert!(outcome.is_whole());
}

#[test]
fn while_the_others_are_away_it_ends_and_says_so() {
    let (mut cluster, blobs) = filled(3);
    damage(&cluster, 1, blobs[4], &text(4)[..7]);
    (2..=3).for_each(|node| cluster.kill(&n(node)));
    let outcome = scrubbed(&mut cluster, 1);
    assert_eq!((outcome.damaged, outcome.repaired, outcome.left), (1, 0, 1), "{outcome:?}");
    // It is fetched all the same, when there is somebody who has it.
    cluster.start(&n(2));
    cluster.until("it is repaired", |c| is_whole(c, 1, blobs[4]));
    assert_eq!(scrubbed(&mut cluster, 1).damaged, 0);
}

/// The disk damages what is written, too. That it was written is not believed.
#[test]
fn what_is_damaged_again_is_not_said_to_be_repaired() {
    let (mut cluster, blobs) = filled(4);
    damage(&cluster, 1, blobs[4], &text(4)[..7]);
    let disk = cluster.machines[&n(1)].disks[&partition(1)].clone();
    cluster.store_fails = Box::new(move |node, operation| {
        if *node == n(1) && matches!(operation, StoreOperation::Recount { .. }) {
            assert_eq!(damage_disk(&disk, &text(4)[..7]), 1, "it was written again");
        }
        None
    });
    let outcome = scrubbed(&mut cluster, 1);
    assert_eq!((outcome.damaged, outcome.repaired, outcome.left), (1, 0, 1), "{outcome:?}");
}

/// Damages the headers of a record of n1 and of what is before it, and the indexes that say what they were.
fn lose_places(cluster: &mut Cluster) {
    let disk = cluster.machines[&n(1)].disks[&partition(1)].clone();
    cluster.kill(&n(1));
    for name in disk.names() {
        if name.ends_with(".index") {
            disk.remove(&name);
        } else if let Some(content) = disk.content(&name)
            && let Some(at) =
                content.windows(7).position(|window| *window == text(3).as_bytes()[..7])
        {
            (at - 120..at).step_by(4).for_each(|offset| disk.turn_bit(&name, offset));
        }
    }
    cluster.start(&n(1));
    cluster.until("n1 has its replica", is_loaded);
}

fn is_loaded(cluster: &Cluster) -> bool {
    cluster.status(&n(1)).replicas[0].is_loaded
}

#[test]
fn places_of_nobody_are_compared_with_the_others() {
    let (mut cluster, blobs) = filled(5);
    lose_places(&mut cluster);
    cluster.quiet();
    let outcome = scrubbed(&mut cluster, 1);
    assert!(outcome.places > 0 && outcome.is_compared && outcome.is_whole(), "{outcome:?}");
    assert!(blobs.iter().all(|id| is_whole(&cluster, 1, *id)));
}

/// Neither by itself nor compacted: what is lost stays to be found.
fn by_hand() -> NodeOptions {
    NodeOptions { scrub_interval_ms: 0, compact_interval_ms: 0, ..NodeOptions::fast() }
}

/// A replica that cannot note its start, as on a full disk, answers for as long as that lasts that nobody may pull from it.
#[test]
fn a_comparison_that_another_one_refuses_is_not_waited_for_without_end() {
    let (mut cluster, _) = filled_with(9, by_hand(), Rules::default());
    lose_places(&mut cluster);
    cluster.quiet();
    cluster.store_fails = Box::new(|node, operation| {
        let fails = *node == n(2) && matches!(operation, StoreOperation::SaveTokens { .. });
        fails.then(|| Refusal::Store("the disk is full".to_owned()))
    });
    cluster.kill(&n(2));
    cluster.start(&n(2));
    cluster.run_ms(1_000);
    cluster.until("n1 hears n2", |c| c.status(&n(1)).down.is_empty());
    let outcome = scrubbed(&mut cluster, 1);
    assert!(outcome.places > 0 && !outcome.is_compared && !outcome.is_whole(), "{outcome:?}");
}

/// Nobody has what it loses: it is not called compared, and nobody is woken at once for it again and again.
#[test]
fn the_only_replica_repairs_nothing() {
    let mut cluster = Cluster::with(10, map_of(&[&[1]]), by_hand(), Rules::default());
    let blobs: Vec<BlobId> = (0..30)
        .map(|at| match cluster.ask(&n(1), put_by_one(text(at))) {
            ClientAnswer::Put { id, .. } => id,
            other => panic!("{other:?}"),
        })
        .collect();
    damage(&cluster, 1, blobs[20], &text(20)[..7]);
    lose_places(&mut cluster);
    let outcome = scrubbed(&mut cluster, 1);
    assert!(outcome.places > 0 && !outcome.is_compared, "{outcome:?}");
    assert_eq!((outcome.repaired, outcome.is_whole()), (0, false), "{outcome:?}");
    assert!(outcome.left > 0, "{outcome:?}");
    let sleeps = (0..20).any(|_| {
        cluster.run_ms(5);
        let node = cluster.machines[&n(1)].node.as_ref().unwrap();
        node.next_wake_ms() > cluster.now_ms + 10
    });
    assert!(sleeps, "it is woken at once, again and again");
}

#[test]
fn one_at_a_time_of_what_is_asked_for() {
    let (mut cluster, _) = filled(6);
    let refused = cluster.scrub(&n(1), Some(partition(7))).unwrap_err();
    assert!(refused.to_string().contains("no replica on this node"), "{refused}");
    cluster.scrub(&n(1), None).unwrap();
    let first = asked(&cluster, 1);
    assert!(first.is_running());
    cluster.scrub(&n(1), Some(partition(1))).unwrap();
    assert_eq!(asked(&cluster, 1).run, first.run);
    cluster.until("it has ended", |c| !asked(c, 1).is_running());
    cluster.scrub(&n(1), Some(partition(1))).unwrap();
    assert!(asked(&cluster, 1).run > first.run);
}

#[test]
fn who_asks_for_more_than_is_read_is_refused_until_that_has_ended() {
    let map = map_of(&[&[1, 2, 3], &[1, 2, 3]]);
    let mut cluster = Cluster::with(11, map, by_hand(), Rules::default());
    cluster.scrub(&n(1), Some(partition(2))).unwrap();
    for asked in [None, Some(partition(1))] {
        let refused = cluster.scrub(&n(1), asked).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("does not verify partition {}", partition(1))),
            "{refused}"
        );
    }
    cluster.scrub(&n(1), Some(partition(2))).unwrap();
    cluster.until("it has ended", |c| !asked(c, 1).is_running());
    cluster.scrub(&n(1), None).unwrap();
    // A replica that goes meanwhile is not waited for, and is named.
    let mut map = (*cluster.map).clone();
    map.version += 1;
    map.partitions.remove(&partition(2));
    cluster.set_map(&n(1), map);
    cluster.until("it has ended", |c| !asked(c, 1).is_running());
    let outcomes = asked(&cluster, 1).outcomes;
    assert!(outcomes[&partition(1)].is_whole(), "{outcomes:?}");
    assert_eq!(outcomes[&partition(2)].failure, Some(Refusal::NotHere), "{outcomes:?}");
}

#[test]
fn what_waits_for_others_can_be_stopped() {
    let (mut cluster, blobs) = filled(7);
    (1..=3).for_each(|node| damage(&cluster, node, blobs[4], &text(4)[..7]));
    cluster.scrub(&n(1), None).unwrap();
    let repairs = |c: &Cluster| c.status(&n(1)).replicas[0].scrub.step == ScrubStep::Repairing;
    cluster.until("it waits for others", repairs);
    cluster.stop_scrub(&n(1));
    let stopped = asked(&cluster, 1);
    let outcome = &stopped.outcomes[&partition(1)];
    assert!(!stopped.is_running() && stopped.stopping && outcome.stopped, "{outcome:?}");
    assert!(!outcome.is_whole() && outcome.left == 1);
}

/// A node that is started again more often than its replicas are verified verifies them all the same.
#[test]
fn restarts_do_not_put_it_off() {
    let options =
        NodeOptions { scrub_interval_ms: 60_000, keeps_schedule: true, ..NodeOptions::fast() };
    let (mut cluster, _) = filled_with(8, options, Rules::default());
    let schedule = |c: &Cluster| c.status(&n(1)).replicas[0].scrub.schedule;
    let is_noted = |c: &Cluster| {
        c.machines[&n(1)].tokens.names().iter().any(|name| name.ends_with(".verified"))
    };
    cluster.until("it is noted when it is due", is_noted);
    let first = schedule(&cluster);
    assert!(first.verified_ms == 0 && first.due_ms > 0, "{first:?}");
    let mut restarts = 0;
    while schedule(&cluster).verified_ms == 0 {
        assert_eq!(schedule(&cluster), first, "after {restarts} restarts");
        cluster.kill(&n(1));
        cluster.start(&n(1));
        cluster.until("it is loaded", is_loaded);
        cluster.run_ms(2_000);
        restarts += 1;
        assert!(restarts <= 46, "it is never verified");
    }
    assert!(restarts > 2, "that was too early to say anything");
    let verified = schedule(&cluster);
    assert_eq!(verified.due_ms, verified.verified_ms + 60_000);
    cluster.run_ms(100);
    cluster.kill(&n(1));
    cluster.start(&n(1));
    cluster.until("it is loaded", is_loaded);
    assert_eq!(schedule(&cluster), verified);
}

/// What a clock said that was ahead does not put it off by another interval with each start.
#[test]
fn a_clock_that_was_ahead_costs_one_interval_at_most() {
    let options =
        NodeOptions { scrub_interval_ms: 60_000, keeps_schedule: true, ..NodeOptions::fast() };
    let (mut cluster, _) = filled_with(12, options, Rules::default());
    let start = |c: &mut Cluster, ahead_ms| {
        c.kill(&n(1));
        c.machines.get_mut(&n(1)).unwrap().skew_ms = ahead_ms;
        c.start(&n(1));
        c.until("it is loaded", is_loaded);
        c.run_ms(100);
        c.status(&n(1)).replicas[0].scrub.schedule
    };
    let tokens = cluster.machines[&n(1)].tokens.clone();
    let noted = |name: &String| name.ends_with(".verified");
    cluster.until("it is noted when it is due", |_| tokens.names().iter().any(noted));
    tokens.names().into_iter().filter(noted).for_each(|name| tokens.remove(&name));
    let year_ms = 365 * 24 * 3_600_000;
    let ahead = start(&mut cluster, year_ms);
    let right = start(&mut cluster, 0);
    assert!(right.due_ms + year_ms as u64 / 2 < ahead.due_ms, "{right:?} {ahead:?}");
    for _ in 0..3 {
        assert_eq!(start(&mut cluster, 0), right);
    }
}
