//! Scrubs that somebody asks for, and those that come by themselves.

use afterbay_blob_cluster::{
    AskedScrub, NodeOptions, Rules, ScrubOutcome, ScrubStep, StoreOperation,
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

#[test]
fn places_of_nobody_are_compared_with_the_others() {
    let (mut cluster, blobs) = filled(5);
    let disk = cluster.machines[&n(1)].disks[&partition(1)].clone();
    cluster.kill(&n(1));
    // The headers of a record and of what is before it, and the indexes that say what they were.
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
    cluster.quiet();
    let outcome = scrubbed(&mut cluster, 1);
    assert!(outcome.places > 0 && outcome.is_compared && outcome.is_whole(), "{outcome:?}");
    assert!(blobs.iter().all(|id| is_whole(&cluster, 1, *id)));
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
    let loaded = |c: &Cluster| c.status(&n(1)).replicas[0].is_loaded;
    cluster.until("it is noted when it is due", is_noted);
    let first = schedule(&cluster);
    assert!(first.verified_ms == 0 && first.due_ms > 0, "{first:?}");
    let mut restarts = 0;
    while schedule(&cluster).verified_ms == 0 {
        assert_eq!(schedule(&cluster), first, "after {restarts} restarts");
        cluster.kill(&n(1));
        cluster.start(&n(1));
        cluster.until("it is loaded", loaded);
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
    cluster.until("it is loaded", loaded);
    assert_eq!(schedule(&cluster), verified);
}
