//! What a partition is: watermarks, late rows, rows that are too large.

use std::collections::{BTreeMap, BTreeSet};

use afterbay_edge_gateway::{Merge, Partitions, Refused, Row};
use afterbay_edge_wire::{Frame, Verdict};

use crate::{SITES, frame, json, lines, merge, names};

#[test]
fn a_partition_has_the_least_watermark_before_each_row() {
    let mut merge = merge(&["a", "b"], Partitions::Count(1));
    assert_eq!(merge.frame(&frame("a", 1, 0, 5, "[1]\n10\n[2]\n")), Ok(Verdict::Take));
    assert_eq!(merge.frame(&frame("b", 1, 0, 0, "[3]\n7\n[4]\n20\n[5]\n")), Ok(Verdict::Take));
    assert_eq!(merge.frame(&frame("a", 1, 1, 15, "")), Ok(Verdict::Take));
    let (rows, records) = merge.take();
    let row = |x: i32, site: &str, watermark: i32| {
        format!(
            "rows/0 {{\"x\":{x},\"edge_site\":\"{site}\",\"edge_row\":true,\"edge_watermark\":{watermark}}}"
        )
    };
    let mark = |watermark: i64| {
        format!("rows/0 {{\"edge_site\":\"a\",\"edge_row\":false,\"edge_watermark\":{watermark}}}")
    };
    let expected =
        [row(1, "a", 0), row(2, "a", 0), row(3, "b", 0), row(4, "b", 7), row(5, "b", 10), mark(15)];
    assert_eq!(lines(&rows), expected);
    assert_eq!(merge.take(), (Vec::new(), Vec::new()));
    // After a start it goes on from there; who has ended holds nobody up, and the end is the year 9999.
    let mut merge = Merge::recover(&records.into_iter().collect(), Partitions::Count(1)).unwrap();
    merge.register(&names(&["a", "b"]));
    assert_eq!(merge.open("a", "rows", (1, 0), &["x".to_owned()]).unwrap().next, 2);
    assert_eq!(merge.frame(&frame("a", 1, 2, i64::MAX, "")), Ok(Verdict::Take));
    assert_eq!(lines(&merge.take().0), [mark(20)]);
    assert_eq!(merge.frame(&frame("b", 1, 1, i64::MAX, "")), Ok(Verdict::Take));
    assert_eq!(lines(&merge.take().0), [mark(253_402_300_799_999)]);
}

#[test]
fn who_is_excluded_is_late_until_it_has_caught_up() {
    let mut merge = merge(&["a", "b"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "")).unwrap();
    assert_eq!(merge.take().0, []);
    merge.exclude("rows", "b", true);
    assert_eq!(merge.take().0.len(), 1, "the watermark moves on without b");
    merge.exclude("rows", "b", false);
    merge.frame(&frame("b", 1, 0, 50, "[1]\n99\n[2]\n100\n[3]\n")).unwrap();
    let late: Vec<bool> = merge.take().0.iter().map(|row| row.late).collect();
    assert_eq!(late, [true, true, false]);
    // It counts again.
    merge.frame(&frame("a", 1, 1, 200, "")).unwrap();
    assert_eq!(merge.take().0, []);
    merge.frame(&frame("b", 1, 1, 150, "")).unwrap();
    assert_eq!(json(&merge.take().0[0])["edge_watermark"], 150);
    // Without a key, it does not.
    merge.register(&names(&["a"]));
    assert_eq!(json(&merge.take().0[0])["edge_watermark"], 200);
}

/// A broker that refuses a message would refuse it again for ever.
#[test]
fn a_row_that_is_too_large_is_noted_and_the_stream_goes_on() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    merge.limit_rows(200);
    let long = "ä".repeat(2000);
    let lines = format!("[1]\n[\"{long}\"]\n[2]\n");
    assert_eq!(merge.frame(&frame("a", 1, 0, 5, &lines)), Ok(Verdict::Take));
    let (rows, records) = merge.take();
    let topics: Vec<&str> = rows.iter().map(|row| row.stream.as_str()).collect();
    assert_eq!(topics, ["rows", "rows.large", "rows"]);
    let note = json(&rows[1]);
    assert_eq!((&note["edge_site"], &note["edge_sequence"]), (&"a".into(), &0.into()));
    assert!(note["edge_bytes"].as_u64() > Some(4000), "{note}");
    assert!(note["edge_begins"].as_str().unwrap().starts_with("{\"x\":\"ää"), "{note}");
    let record = &records.iter().find(|(key, _)| key == "rows/site/a").unwrap().1;
    assert!(record.contains("\"large\":1") && record.contains("\"rows\":3"), "{record}");
    let columns = vec!["x".repeat(1000); 300];
    assert!(matches!(merge.open("a", "wide", (1, 0), &columns), Err(Refused::Wrong(_))));
}

/// Else it would hold the others up again after each start of the gateway.
#[test]
fn who_is_excluded_stays_so_after_a_start() {
    let mut merge = merge(&["a", "b"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "")).unwrap();
    let mut records: BTreeMap<_, _> = merge.take().1.into_iter().collect();
    merge.exclude("rows", "b", true);
    records.extend(merge.take().1);
    let mut merge = Merge::recover(&records, Partitions::Count(1)).unwrap();
    merge.register(&names(&["a", "b"]));
    merge.open("a", "rows", (1, 1), &["x".to_owned()]).unwrap();
    merge.frame(&frame("a", 1, 1, 200, "")).unwrap();
    let (rows, changed) = merge.take();
    assert_eq!(json(&rows[0])["edge_watermark"], 200);
    records.extend(changed);
    // Until it has caught up: that is known after a start too.
    merge.open("b", "rows", (1, 0), &["x".to_owned()]).unwrap();
    merge.frame(&frame("b", 1, 0, 200, "")).unwrap();
    records.extend(merge.take().1);
    let mut merge = Merge::recover(&records, Partitions::Count(1)).unwrap();
    merge.register(&names(&["a", "b"]));
    merge.frame(&frame("a", 1, 2, 300, "")).unwrap();
    assert_eq!(merge.take().0, []);
}

#[test]
fn what_is_wrong_changes_nothing() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    merge.take();
    for lines in ["[1,2]\n", "[1]\nx\n", "[1]\n[\"]\n", "{}\n", "[1]\n[]\n"] {
        let refused = merge.frame(&frame("a", 1, 0, 0, lines));
        assert!(matches!(refused, Err(Refused::Wrong(_))), "{lines}: {refused:?}");
    }
    assert!(matches!(merge.frame(&frame("b", 1, 0, 0, "[1]\n")), Err(Refused::Wrong(_))));
    let columns = merge.open("b", "rows", (1, 0), &["y".to_owned()]);
    assert!(matches!(columns, Err(Refused::Columns(_))), "{columns:?}");
    assert!(matches!(merge.open("b", "a/b", (1, 0), &[]), Err(Refused::Wrong(_))));
    assert_eq!(merge.take(), (Vec::new(), Vec::new()));
    assert_eq!(merge.frame(&frame("a", 1, 0, 0, "[1]\n")), Ok(Verdict::Take));
}

#[test]
fn sites_are_spread_over_partitions_and_stay_there() {
    for (kind, expected) in [(Partitions::Count(2), 2), (Partitions::Each, 3)] {
        let mut merge = merge(&SITES, kind);
        for site in SITES {
            merge.frame(&frame(site, 1, 0, 0, "[1]\n")).unwrap();
        }
        let (rows, records) = merge.take();
        let partitions: BTreeSet<u32> = rows.iter().map(|row| row.partition).collect();
        assert_eq!(partitions, (0..expected).collect());
        let mut again = Merge::recover(&records.into_iter().collect(), kind).unwrap();
        again.register(&names(&["A", "a", "b", "c"]));
        for site in SITES {
            again.frame(&frame(site, 1, 1, 0, "[1]\n")).unwrap();
        }
        let places = |rows: &[Row]| rows.iter().map(|row| row.partition).collect::<Vec<_>>();
        assert_eq!(places(&again.take().0), places(&rows));
    }
    let records = BTreeMap::from([("rows/partition/x".to_owned(), "{}".to_owned())]);
    let error = Merge::recover(&records, Partitions::Each).unwrap_err().to_string();
    assert!(error.contains("rows/partition/x"), "{error}");
}

/// Of a stream that the output does not take, no watermark is written either: that commit would be of all streams.
#[test]
fn a_stream_that_is_held_does_not_move() {
    let mut merge = merge(&["a", "b"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "")).unwrap();
    let mut records: BTreeMap<_, _> = merge.take().1.into_iter().collect();
    let mut merge = Merge::recover(&records, Partitions::Count(1)).unwrap();
    merge.hold("rows");
    merge.register(&names(&["a", "b"]));
    merge.exclude("rows", "b", true);
    merge.register(&names(&["a"]));
    let (rows, changed) = merge.take();
    assert_eq!(rows, []);
    records.extend(changed);
    // As soon as a site comes, it goes on.
    merge.open("a", "rows", (1, 1), &["x".to_owned()]).unwrap();
    merge.exclude("rows", "b", true);
    assert_eq!(json(&merge.take().0[0])["edge_watermark"], 100);
}

/// Some kilobytes on the link would be gigabytes here.
#[test]
fn names_of_columns_make_a_frame_only_so_large() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    let name = "x".repeat(200 << 10);
    merge.open("a", "long", (1, 0), std::slice::from_ref(&name)).unwrap();
    merge.take();
    let of = |sequence: u64, rows: usize| Frame {
        stream: "long".into(),
        ..frame("a", 1, sequence, 0, &"[1]\n".repeat(rows))
    };
    let refused = merge.frame(&of(0, 1000));
    assert!(
        matches!(&refused, Err(Refused::Wrong(why)) if why.contains("shorter names")),
        "{refused:?}"
    );
    assert_eq!(merge.take(), (Vec::new(), Vec::new()));
    assert_eq!(merge.frame(&of(0, 100)), Ok(Verdict::Take));
}
