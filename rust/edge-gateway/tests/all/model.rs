//! The merge against a model: sites that send again, gateways that go back.

use std::collections::BTreeMap;

use afterbay_edge_gateway::{Merge, Partitions, Row};
use afterbay_edge_wire::Frame;
use afterbay_test_form::edge_cases;
use proptest::prelude::*;

use crate::{SITES, frame, json, names};

/// What a site sends: frames with numbers as rows, and its watermark.
#[derive(Debug, Clone, Default)]
struct Sender {
    frames: Vec<Frame<'static>>,
    acknowledged: u64,
    rows: u64,
}

/// Sites send, send again, and lose what they had sent; the gateway commits, or fails and goes back. Whether each row is there
/// once, in order, with a watermark that all of its sites had passed.
fn is_exact(steps: &[(u8, usize, u8)], checks: bool) -> bool {
    let recovered = |records: &BTreeMap<String, String>| {
        let merge = Merge::recover(records, Partitions::Count(1)).unwrap();
        let mut merge = if checks { merge } else { merge.without_numbers() };
        merge.register(&names(&SITES));
        for site in SITES {
            merge.open(site, "rows", (1, 0), &["x".to_owned()]).unwrap();
        }
        merge
    };
    let mut records = BTreeMap::new();
    let mut merge = recovered(&records);
    let mut senders: [Sender; 3] = Default::default();
    let mut committed: Vec<Row> = Vec::new();
    for &(kind, site, size) in steps {
        let (name, sender) = (SITES[site], &mut senders[site]);
        match kind {
            0 | 1 => {
                let number = sender.frames.len() as u64;
                let rows: String = (0..size % 4)
                    .map(|_| {
                        sender.rows += 1;
                        format!("[{}]\n{}\n", sender.rows, sender.rows * 10)
                    })
                    .collect();
                let watermark = (sender.rows * 10) as i64;
                let before = watermark - 10 * i64::from(size % 4);
                sender.frames.push(frame(name, 1, number, before, &rows));
            }
            // Everything that is not acknowledged, again.
            2 => {
                for frame in &sender.frames[sender.acknowledged as usize..] {
                    merge.frame(frame).unwrap();
                }
            }
            3 => {
                let (rows, changed) = merge.take();
                committed.extend(rows);
                records.extend(changed);
                for (index, sender) in senders.iter_mut().enumerate() {
                    let key = format!("rows/site/{}", SITES[index]);
                    let value = records.get(&key).map_or("{\"next\":0}", String::as_str);
                    let value: serde_json::Value = serde_json::from_str(value).unwrap();
                    // An acknowledgement may get lost.
                    if size % 2 == 0 {
                        sender.acknowledged = value["next"].as_u64().unwrap();
                    }
                }
            }
            _ => merge = recovered(&records),
        }
    }
    // At the end, everything arrives.
    for sender in &senders {
        for frame in &sender.frames[sender.acknowledged as usize..] {
            merge.frame(frame).unwrap();
        }
    }
    committed.extend(merge.take().0);
    let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut watermark = 0;
    for row in &committed {
        let json = json(row);
        let now = json["edge_watermark"].as_i64().unwrap();
        if now < watermark {
            return false;
        }
        watermark = now;
        if json["edge_row"] == true {
            let x = json["x"].as_u64().unwrap();
            // The site had said at most this before the row.
            if row.late || now > (x as i64 - 1) * 10 {
                return false;
            }
            found.entry(json["edge_site"].as_str().unwrap().to_owned()).or_default().push(x);
        }
    }
    SITES.iter().zip(&senders).all(|(site, sender)| {
        found.remove(*site).unwrap_or_default() == (1..=sender.rows).collect::<Vec<_>>()
    })
}

fn steps() -> impl Strategy<Value = Vec<(u8, usize, u8)>> {
    prop::collection::vec((0_u8..5, 0_usize..3, any::<u8>()), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn each_row_is_there_once(steps in steps()) {
        prop_assert!(is_exact(&steps, true));
    }
}

/// The control: a gateway that looks at no numbers doubles rows.
#[test]
fn without_numbers_rows_are_doubled() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(edge_cases())
    });
    let found = runner.run(&steps(), |steps| {
        prop_assert!(is_exact(&steps, false));
        Ok(())
    });
    assert!(found.is_err(), "nobody noticed that numbers were not checked");
}
