//! Sites that begin anew, and what they were told before.

use afterbay_edge_gateway::{Partitions, Refused};
use afterbay_edge_wire::Verdict;

use crate::{frame, merge};

/// What is read anew has been seen by Flink, also if its beginning was dropped before it was ever sent.
#[test]
fn an_epoch_that_begins_with_a_gap_begins_anew_too() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "[1]\n")).unwrap();
    merge.open("a", "rows", (2, 0), &["x".to_owned()]).unwrap();
    assert_eq!(merge.skip("a", "rows", 2, 0..3, u64::MAX), Ok(Verdict::Take));
    assert_eq!(merge.frame(&frame("a", 2, 3, 40, "[2]\n")), Ok(Verdict::Take));
    assert_eq!(merge.skip("a", "rows", 2, 4..5, 1), Ok(Verdict::Take));
    let late: Vec<bool> = merge.take().0.iter().map(|row| row.late).collect();
    assert_eq!(late, [false, true]);
}

#[test]
fn an_epoch_begins_anew_and_what_was_dropped_is_counted() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "[1]\n")).unwrap();
    assert_eq!(merge.skip("a", "rows", 1, 2..5, 7), Ok(Verdict::Gap { next: 1 }));
    assert_eq!(merge.skip("a", "rows", 1, 1..5, 7), Ok(Verdict::Take));
    assert_eq!(merge.skip("a", "rows", 1, 1..5, 7), Ok(Verdict::Have));
    assert_eq!(merge.frame(&frame("a", 1, 4, 100, "[9]\n")), Ok(Verdict::Have));
    assert_eq!(merge.frame(&frame("a", 1, 5, 100, "[2]\n")), Ok(Verdict::Take));
    assert_eq!(merge.open("a", "rows", (2, 0), &["x".to_owned()]).unwrap().next, 0);
    // An input that is read anew has been seen by Flink already.
    assert_eq!(merge.frame(&frame("a", 2, 0, 0, "[1]\n")), Ok(Verdict::Take));
    let (rows, records) = merge.take();
    assert_eq!(rows.iter().map(|row| row.late).collect::<Vec<_>>(), [false, false, true]);
    let record = &records.iter().find(|(key, _)| key == "rows/site/a").unwrap().1;
    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    assert_eq!(
        (&record["gaps"], &record["lost_rows"], &record["late"]),
        (&1.into(), &7.into(), &1.into())
    );
    assert_eq!(merge.frame(&frame("a", 1, 6, 100, "[1]\n")), Ok(Verdict::Fenced { epoch: 2 }));
    let fenced = merge.open("a", "rows", (1, 0), &["x".to_owned()]);
    assert!(matches!(fenced, Err(Refused::Fenced(_))), "{fenced:?}");
}

/// Rows that were acknowledged are in an output that this gateway does not know.
#[test]
fn who_was_told_more_is_not_taken() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "[1]\n")).unwrap();
    let columns = ["x".to_owned()];
    assert_eq!(merge.open("a", "rows", (1, 1), &columns).unwrap().next, 1);
    for from in [(1, 2), (2, 1)] {
        match merge.open("a", "rows", from, &columns) {
            Err(Refused::Forgotten(text)) => {
                let gap = if from.0 == 1 { "--accept-gap 1..2:" } else { "--accept-gap 0..1:" };
                assert!(text.contains(gap) && text.contains("--topic-prefix"), "{text}");
            }
            other => panic!("{from:?}: {other:?}"),
        }
    }
}

/// Each time another one, which is committed before the site has it.
#[test]
fn who_begins_anew_gets_an_epoch() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "[1]\n")).unwrap();
    merge.take();
    for epoch in [2, 3] {
        let opened = merge.open("a", "rows", (0, 0), &["x".to_owned()]).unwrap();
        assert_eq!((opened.epoch, opened.next), (epoch, 0));
        let (_, records) = merge.take();
        assert!(records[0].1.contains(&format!("\"epoch\":{epoch},\"next\":0")), "{records:?}");
    }
    // It is the time, unless somebody had a clock that was ahead.
    for (now, epoch) in [(50, 50), (50, 51), (20, 52)] {
        merge.set_now(now);
        let opened = merge.open("a", "rows", (0, 0), &["x".to_owned()]).unwrap();
        assert_eq!((opened.epoch, opened.next), (epoch, 0));
    }
    assert_eq!(merge.frame(&frame("a", 1, 1, 100, "")), Ok(Verdict::Fenced { epoch: 52 }));
    assert_eq!(merge.frame(&frame("a", 52, 0, 40, "[1]\n")), Ok(Verdict::Take));
    assert!(merge.take().0[0].late, "its watermark begins anew");
}
