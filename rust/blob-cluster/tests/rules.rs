//! For each rule: what must not happen, and that it does happen without the rule.

use afterbay_blob_cluster::{
    Body, Call, ClientAnswer, ClientError, Cursor, Message, NodeOptions, Refusal, Reply, Request,
    Rules, StoreOperation,
};
use afterbay_blob_format::BlobId;
use afterbay_blob_store::{SyncPoint, SyncScope};

use crate::harness::*;

fn cluster(seed: u64, rules: &Rules, partitions: &[&[u32]]) -> Cluster {
    let options = NodeOptions { scrub_interval_ms: 0, ..NodeOptions::fast() };
    let mut cluster = Cluster::with(seed, map_of(partitions), options, rules.clone());
    cluster.quiet();
    cluster
}

/// Runs what must not happen with all rules, and without one.
fn control(rule: &str, seeds: u64, happens: impl Fn(u64, &Rules) -> bool) {
    for seed in 0..seeds {
        assert!(!happens(seed, &Rules::default()), "seed {seed}, with all rules");
    }
    let without = Rules::without(rule).unwrap();
    let found = (0..seeds).filter(|seed| happens(*seed, &without)).count();
    assert!(found > 0, "{rule}: none of {seeds} seeds has found it");
}

/// Fills segments, so that the ones before are sealed and can be compacted, and the journal, which remembers what is gone.
fn fill(cluster: &mut Cluster) {
    for at in 0..20 {
        cluster.put(&n(1), vec![at; 10]);
    }
    for at in 0..6 {
        cluster.put(&n(1), vec![at; 8_000]);
    }
}

#[test]
fn what_a_token_stands_for_is_synced() {
    // n2 loses its power when it has saved a token; then n1 its disk.
    control("sync_before_token", 12, |seed, rules| {
        let mut cluster = cluster(seed, rules, &[&[1, 2]]);
        cluster.kill(&n(2));
        let one = |text: &str| afterbay_blob_cluster::ClientRequest::Put {
            content: content(text),
            expires_ms: 0,
            class: afterbay_blob_cluster::Durability::Durable,
            policy: afterbay_blob_cluster::Policy::One,
        };
        let ClientAnswer::Put { id, .. } = cluster.ask(&n(1), one("x")) else { panic!() };
        cluster.start(&n(2));
        let saved = |(node, operation): &(afterbay_blob_cluster::NodeId, StoreOperation)| {
            *node == n(2)
                && matches!(operation, StoreOperation::SaveTokens { tokens, .. } if tokens.of.values().any(|token| token.sequence > 1))
        };
        let before = cluster.stored.len();
        cluster.until("it saves a token", |c| c.stored[before..].iter().any(saved));
        cluster.lose_power(&n(2));
        cluster.start(&n(2));
        cluster.run_ms(5_000);
        cluster.kill(&n(1));
        cluster.said(&n(2), id).body.is_none()
    });
}

/// n3 is put back to a backup from before a delete, whose tombstone is gone by then.
fn deleted_comes_back(seed: u64, rules: &Rules, renews: bool, grows: bool) -> bool {
    let mut cluster = cluster(seed, rules, &[&[1, 2, 3]]);
    let id = cluster.put(&n(1), vec![9; 8_000]);
    fill(&mut cluster);
    cluster.quiet();
    let backup = cluster.backup(&n(3));
    cluster.done(&n(1), delete(id));
    fill(&mut cluster);
    cluster.run_ms(20_000);
    for node in [1, 2] {
        assert_eq!(cluster.partition(&n(node), id.partition).known(id).unwrap(), [], "n{node}");
    }
    cluster.kill(&n(3));
    cluster.restore(&n(3), backup);
    cluster.start(&n(3));
    if renews {
        // As who restores a backup does, before it is started.
        cluster.partition(&n(3), id.partition).renew_incarnation().unwrap();
        cluster.kill(&n(3));
        cluster.start(&n(3));
    }
    if grows {
        // It takes writes before any other node is heard.
        [1, 2].iter().for_each(|other| cluster.cut(&n(3), &n(*other)));
        cluster.run_ms(20);
        let one = || afterbay_blob_cluster::ClientRequest::Put {
            content: content(vec![5; 100]),
            expires_ms: 0,
            class: afterbay_blob_cluster::Durability::Durable,
            policy: afterbay_blob_cluster::Policy::One,
        };
        (0..30).for_each(|_| drop(cluster.ask(&n(3), one())));
        cluster.cut.clear();
    }
    cluster.quiet();
    cluster.run_ms(2_000);
    let alive = |node: u32| cluster.said(&n(node), id).body.is_some();
    [1, 2, 3].into_iter().any(alive)
}

#[test]
fn what_was_deleted_since_a_backup_stays_deleted() {
    for seed in 0..3 {
        for renews in [false, true] {
            for grows in [false, true] {
                let back = deleted_comes_back(seed, &Rules::default(), renews, grows);
                assert!(!back, "seed {seed}, renews {renews}, grows {grows}");
            }
        }
    }
}

/// n3 loses its disk, and gets another one; then a blob is deleted, and n3 is put back to a backup from before all of that: to
/// another log than the one that the others have tokens of.
fn deleted_comes_back_with_a_former_log(seed: u64, rules: &Rules, renews: bool) -> bool {
    let mut cluster = cluster(seed, rules, &[&[1, 2, 3]]);
    let id = cluster.put(&n(1), vec![9; 8_000]);
    fill(&mut cluster);
    cluster.quiet();
    let backup = cluster.backup(&n(3));
    cluster.kill(&n(3));
    cluster.new_disks(&n(3));
    cluster.start(&n(3));
    cluster.quiet();
    cluster.done(&n(1), delete(id));
    fill(&mut cluster);
    cluster.run_ms(20_000);
    for node in [1, 2] {
        assert_eq!(cluster.partition(&n(node), id.partition).known(id).unwrap(), [], "n{node}");
        // What they remember, they have on their disks.
        cluster.kill(&n(node));
        cluster.start(&n(node));
    }
    cluster.kill(&n(3));
    cluster.restore(&n(3), backup);
    cluster.start(&n(3));
    if renews {
        cluster.partition(&n(3), id.partition).renew_incarnation().unwrap();
        cluster.kill(&n(3));
        cluster.start(&n(3));
    }
    cluster.quiet();
    cluster.run_ms(2_000);
    let alive = |node: u32| cluster.said(&n(node), id).body.is_some();
    [1, 2, 3].into_iter().any(alive)
}

#[test]
fn what_was_deleted_since_a_backup_of_a_log_that_was_lost_stays_deleted() {
    for renews in [false, true] {
        control("former", 3, |seed, rules| {
            deleted_comes_back_with_a_former_log(seed, rules, renews)
        });
    }
}

#[test]
fn a_token_below_the_horizon_is_not_taken() {
    control("horizon", 3, |seed, rules| deleted_comes_back(seed, rules, false, false));
}

#[test]
fn what_was_written_since_a_backup_is_not_passed_over() {
    control("epoch", 3, |seed, rules| written_since_a_backup_is_lost(seed, rules, false));
}

#[test]
fn what_was_written_since_a_backup_and_before_another_start_is_not_forgotten() {
    control("epoch", 3, |seed, rules| written_since_a_backup_is_lost(seed, rules, true));
}

/// n3 is put back, takes a blob that n2 does not hear of, under a number that n2 has passed.
fn written_since_a_backup_is_lost(seed: u64, rules: &Rules, starts_again: bool) -> bool {
    let mut cluster = cluster(seed, rules, &[&[1, 2, 3]]);
    cluster.put(&n(1), "before");
    cluster.quiet();
    let backup = cluster.backup(&n(3));
    for _ in 0..10 {
        cluster.put(&n(1), "lost again");
    }
    cluster.quiet();
    cluster.kill(&n(3));
    cluster.restore(&n(3), backup);
    cluster.cut(&n(1), &n(2));
    cluster.cut(&n(3), &n(2));
    cluster.cut(&n(3), &n(1));
    cluster.start(&n(3));
    cluster.run_ms(20);
    let one = || afterbay_blob_cluster::ClientRequest::Put {
        content: content("only here"),
        expires_ms: 0,
        class: afterbay_blob_cluster::Durability::Durable,
        policy: afterbay_blob_cluster::Policy::One,
    };
    let mut blobs = Vec::new();
    for _ in 0..30 {
        let ClientAnswer::Put { id, .. } = cluster.ask(&n(3), one()) else { panic!() };
        blobs.push(id);
    }
    if starts_again {
        cluster.kill(&n(3));
        cluster.start(&n(3));
        cluster.run_ms(20);
    }
    cluster.cut.clear();
    cluster.quiet();
    cluster.run_ms(2_000);
    blobs.iter().any(|id| [1, 2].iter().any(|at| cluster.said(&n(*at), *id).body.is_none()))
}

#[test]
fn what_is_acknowledged_at_fast_is_synced_before_long() {
    // Nobody reaches n1, and asks for what is on its disk.
    control("flush", 6, |seed, rules| {
        let mut cluster = cluster(seed, rules, &[&[1, 2]]);
        cluster.cut(&n(1), &n(2));
        let put = afterbay_blob_cluster::ClientRequest::Put {
            content: content("x"),
            expires_ms: 0,
            class: afterbay_blob_cluster::Durability::Fast,
            policy: afterbay_blob_cluster::Policy::One,
        };
        let ClientAnswer::Put { id, .. } = cluster.ask(&n(1), put) else { panic!() };
        cluster.run_ms(1_000);
        let status = cluster.machines[&n(1)].node.as_ref().unwrap().status();
        let unsynced_ms = status.replicas[0].unsynced_ms;
        assert_eq!(unsynced_ms == 0, rules.flush, "{unsynced_ms}");
        cluster.lose_power(&n(1));
        cluster.start(&n(1));
        cluster.run_ms(20);
        cluster.said(&n(1), id).body.is_none()
    });
}

#[test]
fn a_token_of_a_disk_that_was_replaced_is_not_taken() {
    control("incarnation", 3, |seed, rules| {
        let mut cluster = cluster(seed, rules, &[&[1, 2]]);
        for _ in 0..20 {
            cluster.put(&n(1), "before");
        }
        cluster.quiet();
        // n1 has a token of n2's log, which is then another one; and does not hear of what n2 takes.
        cluster.kill(&n(2));
        cluster.new_disks(&n(2));
        cluster.cut(&n(1), &n(2));
        cluster.start(&n(2));
        cluster.run_ms(20);
        let one = || afterbay_blob_cluster::ClientRequest::Put {
            content: content("after"),
            expires_ms: 0,
            class: afterbay_blob_cluster::Durability::Durable,
            policy: afterbay_blob_cluster::Policy::One,
        };
        let ClientAnswer::Put { id, .. } = cluster.ask(&n(2), one()) else { panic!() };
        cluster.run_ms(1_000);
        cluster.cut.clear();
        cluster.run_ms(5_000);
        cluster.said(&n(1), id).body.is_none()
    });
}

#[test]
fn replicas_do_not_stamp() {
    control("stamp", 2, |seed, rules| {
        let mut cluster = cluster(seed, rules, &[&[1, 2, 3]]);
        cluster.machines.get_mut(&n(2)).unwrap().skew_ms = -300;
        let id = cluster.put(&n(1), "x");
        cluster.done(&n(1), update_ttl(id, u64::MAX / 2));
        cluster.quiet();
        cluster.said(&n(1), id) != cluster.said(&n(2), id)
    });
}

#[test]
fn a_put_that_is_late_does_not_bring_a_blob_back() {
    control("deadline", 2, |seed, rules| {
        let mut cluster = cluster(seed, rules, &[&[1, 2, 3]]);
        // The put to n3 is on its way for longer than the tombstone lives.
        let late = std::rc::Rc::new(std::cell::RefCell::new(None::<Message>));
        let kept = late.clone();
        cluster.network = Box::new(move |_, to, message| match &message.body {
            Body::Request(Request::Write { records, .. })
                if *to == n(3) && records[0].content.as_ref().is_some_and(|c| c.body == "late") =>
            {
                *kept.borrow_mut() = Some(message.clone());
                None
            }
            _ => Some(1),
        });
        let id = cluster.put(&n(1), "late");
        cluster.done(&n(1), delete(id));
        cluster.quiet();
        fill(&mut cluster);
        cluster.run_ms(20_000);
        for node in [1, 2, 3] {
            assert_eq!(cluster.partition(&n(node), id.partition).known(id).unwrap(), [], "n{node}");
        }
        let message = late.borrow_mut().take().unwrap();
        cluster.deliver(&n(1), &n(3), message);
        cluster.run_ms(1_000);
        cluster.quiet();
        cluster.said(&n(3), id).body.is_some()
    });
}

#[test]
fn tombstones_wait_for_who_is_away() {
    // Without the rule, the horizon is what is left: without both, the blob comes back.
    let happens = |rules: &Rules| {
        let mut cluster = cluster(1, rules, &[&[1, 2, 3]]);
        let id = cluster.put(&n(1), vec![1; 8_000]);
        cluster.quiet();
        cluster.kill(&n(3));
        cluster.done(&n(1), delete(id));
        fill(&mut cluster);
        cluster.run_ms(20_000);
        let gone = cluster.partition(&n(1), id.partition).known(id).unwrap().is_empty();
        cluster.start(&n(3));
        cluster.quiet();
        (gone, cluster.said(&n(3), id).body.is_some())
    };
    assert_eq!(happens(&Rules::default()), (false, false));
    let without_passed = Rules::without("passed").unwrap();
    assert!(happens(&without_passed).0);
    assert_eq!(happens(&Rules { horizon: false, ..without_passed }), (true, true));
}

#[test]
fn a_new_disk_beside_old_ones_deletes_nothing() {
    // n2 has lost all: what it does not know is not what it has forgotten.
    let mut cluster = cluster(5, &Rules::default(), &[&[1, 2]]);
    let blobs: Vec<BlobId> = (0..50).map(|at| cluster.put(&n(1), format!("{at}"))).collect();
    cluster.quiet();
    cluster.kill(&n(2));
    cluster.new_disks(&n(2));
    cluster.start(&n(2));
    cluster.quiet();
    cluster.kill(&n(1));
    cluster.new_disks(&n(1));
    cluster.start(&n(1));
    cluster.quiet();
    for (at, id) in blobs.iter().enumerate() {
        assert_eq!(cluster.agreed(*id).body.unwrap(), format!("{at}"));
    }
    assert_ne!(cluster.failure(&n(1), undelete(blobs[0])), ClientError::NotFound);
}

/// Whether a replica that loses its power goes on from the token that it saved last.
fn goes_on(seed: u64, ignored: Option<SyncPoint>) -> bool {
    let mut cluster = cluster(seed, &Rules::default(), &[&[1, 2]]);
    if let Some(point) = ignored {
        cluster.machines[&n(2)].tokens.ignore(point);
    }
    cluster.put(&n(1), "x");
    cluster.quiet();
    cluster.lose_power(&n(2));
    cluster.sent.borrow_mut().clear();
    cluster.start(&n(2));
    cluster.quiet();
    let asked = cluster.requests(|from, _, request| match request {
        Request::Changes(since) if *from == n(2) => Some(since[0].clone()),
        _ => None,
    });
    asked[0].token.as_ref().is_some_and(|token| token.sequence == 2)
}

#[test]
fn tokens_outlive_a_loss_of_power() {
    for seed in 0..10 {
        assert!(goes_on(seed, None), "seed {seed}");
    }
    let tokens = |point: &&SyncPoint| point.scope() == SyncScope::Tokens;
    let points: Vec<_> = SyncPoint::ALL.iter().filter(tokens).collect();
    assert_eq!(points.len(), 2);
    for point in points {
        assert!((0..10).any(|seed| !goes_on(seed, Some(*point))), "{point:?}");
    }
}

#[test]
fn who_is_asked_for_a_comparison_notices_that_its_log_was_put_back() {
    let mut cluster = cluster(6, &Rules::default(), &[&[1, 2, 3]]);
    cluster.put(&n(1), "x");
    cluster.quiet();
    let backup = cluster.backup(&n(3));
    for _ in 0..10 {
        cluster.put(&n(1), "y");
    }
    cluster.quiet();
    let asked = cluster.requests(|from, to, request| match request {
        Request::Changes(since) if (from, to) == (&n(1), &n(3)) => Some(since[0].clone()),
        _ => None,
    });
    let mut since = asked.last().unwrap().clone();
    // All is to be compared, from the beginning.
    let anew = Cursor { epoch: uuid::Uuid::nil(), sequence: 0 };
    since.compare = Some(anew);
    for (puts_back, found) in [(false, true), (true, false)] {
        cluster.kill(&n(3));
        if puts_back {
            cluster.restore(&n(3), backup.clone());
        }
        [1, 2].iter().for_each(|other| cluster.cut(&n(3), &n(*other)));
        cluster.start(&n(3));
        cluster.run_ms(20);
        cluster.sent.borrow_mut().clear();
        let call = Call { session: 1, number: 1 };
        let body = Body::Request(Request::Changes(vec![since.clone()]));
        cluster.deliver(&n(1), &n(3), Message { call, body });
        cluster.run_ms(20);
        let sent = cluster.sent.borrow();
        let replies = sent.iter().filter_map(|(from, _, message)| match &message.body {
            Body::Reply(Reply::Changes(pages)) if *from == n(3) => {
                Some(pages[0].1.clone().unwrap_err())
            }
            _ => None,
        });
        let replies: Vec<Refusal> = replies.collect();
        assert_eq!(replies.len(), 1);
        let compares = matches!(replies[0], Refusal::Compare { .. });
        assert_eq!((compares, replies[0] == Refusal::Suspect), (found, !found), "{replies:?}");
    }
}

/// n1 compares with n2, whose disk is lost once more before it hears what n1 asks.
fn an_empty_disk_is_asked_what_it_has_forgotten(seed: u64, rules: &Rules) -> bool {
    let mut cluster = cluster(seed, rules, &[&[1, 2]]);
    let id = cluster.put(&n(1), "x");
    cluster.quiet();
    let kept = std::rc::Rc::new(std::cell::RefCell::new(None::<Message>));
    let (late, waits) = (kept.clone(), std::rc::Rc::new(std::cell::Cell::new(true)));
    let n1_waits = waits.clone();
    cluster.network = Box::new(move |from, _, message| match &message.body {
        // n2 has taken over what n1 has before n1 compares; then it gets nothing.
        Body::Request(Request::Changes(_)) if *from == n(1) && n1_waits.get() => None,
        Body::Request(Request::Fetch { .. }) if *from == n(2) && late.borrow().is_some() => None,
        Body::Request(Request::Holds { .. }) if *from == n(1) && late.borrow().is_none() => {
            *late.borrow_mut() = Some(message.clone());
            None
        }
        _ => Some(1),
    });
    cluster.kill(&n(2));
    cluster.new_disks(&n(2));
    cluster.start(&n(2));
    cluster.until("n2 is filled", |c| c.status(&n(2)).replicas[0].is_filled);
    waits.set(false);
    cluster.until("n1 asks what n2 has forgotten", |_| kept.borrow().is_some());
    cluster.kill(&n(2));
    cluster.new_disks(&n(2));
    cluster.start(&n(2));
    cluster.run_ms(10);
    let message = kept.borrow().clone().unwrap();
    cluster.deliver(&n(1), &n(2), message);
    cluster.run_ms(50);
    cluster.said(&n(1), id).body.is_none()
}

#[test]
fn an_empty_disk_has_forgotten_nothing() {
    control("same_log", 3, an_empty_disk_is_asked_what_it_has_forgotten);
}

/// n1 was put back, and has heard n2; both have forgotten a delete since. Then n2 is put back to a state that has the blob, and that
/// knows n1 as it was before.
fn a_log_that_was_put_back_once_is_in_doubt_again(seed: u64, rules: &Rules) -> bool {
    let mut cluster = cluster(seed, rules, &[&[1, 2]]);
    let id = cluster.put(&n(1), vec![9; 8_000]);
    fill(&mut cluster);
    cluster.quiet();
    let first = cluster.backup(&n(1));
    fill(&mut cluster);
    cluster.quiet();
    let second = cluster.backup(&n(2));
    cluster.done(&n(1), delete(id));
    for node in [1, 2] {
        fill(&mut cluster);
        cluster.run_ms(20_000);
        if node == 1 {
            cluster.kill(&n(1));
            cluster.restore(&n(1), first.clone());
            cluster.start(&n(1));
            cluster.quiet();
        }
    }
    for node in [1, 2] {
        assert_eq!(cluster.partition(&n(node), id.partition).known(id).unwrap(), [], "n{node}");
    }
    // What it learned of itself, it has on its disk.
    cluster.kill(&n(1));
    cluster.kill(&n(2));
    cluster.restore(&n(2), second);
    cluster.start(&n(1));
    cluster.start(&n(2));
    cluster.quiet();
    cluster.run_ms(2_000);
    [1, 2].into_iter().any(|node| cluster.said(&n(node), id).body.is_some())
}

#[test]
fn a_log_that_was_put_back_is_in_doubt_once() {
    control("settled", 4, a_log_that_was_put_back_once_is_in_doubt_again);
}

/// A blob is deleted in its second life, and all forget that. n2 is put back to its first life, and hears that it is over; then n1 is
/// put back to its second one, of which n2 has known.
#[test]
fn a_life_that_was_forgotten_does_not_come_back() {
    for seed in 0..4 {
        let mut cluster = cluster(seed, &Rules::default(), &[&[1, 2]]);
        let id = cluster.put(&n(1), vec![9; 8_000]);
        fill(&mut cluster);
        cluster.quiet();
        let first = cluster.backup(&n(2));
        cluster.done(&n(1), delete(id));
        cluster.done(&n(1), undelete(id));
        fill(&mut cluster);
        cluster.quiet();
        let second = cluster.backup(&n(1));
        cluster.done(&n(1), delete(id));
        for _ in 0..2 {
            fill(&mut cluster);
            cluster.run_ms(20_000);
        }
        for node in [1, 2] {
            let known = cluster.partition(&n(node), id.partition).known(id).unwrap();
            assert_eq!(known, [], "seed {seed}, n{node}");
        }
        for (node, backup) in [(2, first), (1, second)] {
            cluster.kill(&n(node));
            cluster.restore(&n(node), backup);
            cluster.start(&n(node));
            cluster.quiet();
            let body = cluster.said(&n(node), id).body;
            assert!(body.is_none(), "seed {seed}: n{node} was put back");
        }
    }
}
