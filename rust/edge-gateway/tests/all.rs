//! The merge against a model, and the output in files when power goes.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use afterbay_edge_gateway::output::{Disk, FileOutput, Output, SyncPoint};
use afterbay_edge_gateway::{Merge, Partitions, Refused, Row};
use afterbay_edge_wire::{Frame, Verdict};
use afterbay_test_form::{edge_cases, edge_powers};
use proptest::prelude::*;

const SITES: [&str; 3] = ["a", "b", "c"];

fn names(sites: &[&str]) -> BTreeSet<String> {
    sites.iter().map(|site| (*site).to_owned()).collect()
}

fn frame(site: &str, epoch: u64, sequence: u64, watermark: i64, lines: &str) -> Frame<'static> {
    Frame {
        site: site.to_owned().into(),
        stream: "rows".into(),
        epoch,
        sequence,
        watermark,
        payload: lines.as_bytes().to_vec().into(),
    }
}

fn merge(sites: &[&str], partitions: Partitions) -> Merge {
    let mut merge = Merge::recover(&BTreeMap::new(), partitions).unwrap();
    merge.register(&names(sites));
    for site in sites {
        merge.open(site, "rows", (1, 0), &["x".to_owned()]).unwrap();
    }
    merge
}

fn json(row: &Row) -> serde_json::Value {
    serde_json::from_str(&row.json).unwrap()
}

fn lines(rows: &[Row]) -> Vec<String> {
    let line = |row: &Row| {
        let late = if row.late { ".late" } else { "" };
        format!("{}{late}/{} {}", row.stream, row.partition, row.json)
    };
    rows.iter().map(line).collect()
}

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
fn who_has_no_clock_gets_an_epoch() {
    let mut merge = merge(&["a"], Partitions::Count(1));
    merge.frame(&frame("a", 1, 0, 100, "[1]\n")).unwrap();
    merge.take();
    for epoch in [2, 3] {
        let opened = merge.open("a", "rows", (0, 0), &["x".to_owned()]).unwrap();
        assert_eq!((opened.epoch, opened.next), (epoch, 0));
        let (_, records) = merge.take();
        assert!(records[0].1.contains(&format!("\"epoch\":{epoch},\"next\":0")), "{records:?}");
    }
    assert_eq!(merge.frame(&frame("a", 1, 1, 100, "")), Ok(Verdict::Fenced { epoch: 3 }));
    assert_eq!(merge.frame(&frame("a", 3, 0, 40, "[1]\n")), Ok(Verdict::Take));
    assert!(merge.take().0[0].late, "its watermark begins anew");
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

/// A disk of which only what was synced is left when power goes.
///
/// Files whose inodes it knows stay open: another file would get the number of one that has gone.
#[derive(Debug, Clone, Default)]
struct WornDisk {
    /// Bytes of each file that are safe, and names that are.
    safe: Arc<Mutex<BTreeMap<PathBuf, u64>>>,
    named: Arc<Mutex<BTreeSet<PathBuf>>>,
    ignored: Option<SyncPoint>,
    /// The next sync of this kind fails. Then the system takes what it could not write for written: no later sync of that file makes
    /// more of it safe, and all of them succeed.
    fails: Arc<Mutex<Option<SyncPoint>>>,
    lost: Arc<Mutex<BTreeMap<u64, (File, u64)>>>,
    /// The inode of `progress`.
    progress: Arc<Mutex<Option<(u64, File)>>>,
}

impl Disk for WornDisk {
    fn sync(&mut self, point: SyncPoint, path: &Path, file: &File) -> std::io::Result<()> {
        if self.ignored == Some(point) {
            return Ok(());
        }
        let (inode, safe) = (file.metadata()?.ino(), &self.safe);
        if self.fails.lock().unwrap().take_if(|one| *one == point).is_some() {
            let safe = safe.lock().unwrap().get(path).copied().unwrap_or(0);
            self.lost.lock().unwrap().insert(inode, (file.try_clone()?, safe));
            return Err(std::io::Error::other("the disk is worn"));
        }
        if point == SyncPoint::Names {
            self.look_at_progress(path);
            let entries = std::fs::read_dir(path)?;
            self.named.lock().unwrap().extend(entries.map(|entry| entry.unwrap().path()));
        } else {
            let length = file.metadata()?.len();
            let length = self.lost.lock().unwrap().get(&inode).map_or(length, |lost| lost.1);
            safe.lock().unwrap().insert(path.to_owned(), length);
        }
        Ok(())
    }
}

impl WornDisk {
    /// The record that replaces all others has its bytes under another name first: what is safe goes along.
    fn look_at_progress(&self, folder: &Path) {
        let (progress, new) = (folder.join("progress"), folder.join("progress.new"));
        let Ok(file) = File::open(&progress) else { return };
        let inode = file.metadata().unwrap().ino();
        let before = self.progress.lock().unwrap().replace((inode, file));
        if before.is_none_or(|(before, _)| before != inode) {
            let mut safe = self.safe.lock().unwrap();
            let bytes = safe.remove(&new).unwrap_or(0);
            safe.insert(progress, bytes);
        }
    }

    /// Power goes: of what was not synced, `luck` decides how much is left.
    fn lose_power(&self, folder: &Path, luck: &mut impl FnMut(u64) -> u64) {
        let mut safe = self.safe.lock().unwrap();
        let mut named = self.named.lock().unwrap();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.file_name().unwrap().to_str().unwrap();
                // What readers have read stays read.
                if name == "lock" || name.contains("committed") {
                    continue;
                }
                let is_named = named.contains(&path)
                    && named.contains(&path.parent().unwrap().to_owned())
                    || (path.parent() == Some(folder.as_path()) && named.contains(&path));
                if !is_named && luck(2) == 0 {
                    std::fs::remove_file(&path).unwrap();
                    named.remove(&path);
                    safe.remove(&path);
                    continue;
                }
                let length = std::fs::metadata(&path).unwrap().len();
                let least = safe.get(&path).copied().unwrap_or(0).min(length);
                let left = least + luck(length - least + 1);
                File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
            }
        }
    }
}

/// A file that is new has nothing to do with one that has gone, whatever number the file system gives it.
#[test]
fn what_was_lost_of_a_file_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let mut disk = WornDisk::default();
    *disk.fails.lock().unwrap() = Some(SyncPoint::Rows);
    disk.sync(SyncPoint::Rows, &path, &File::create(&path).unwrap()).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    for number in 0..20 {
        let path = folder.path().join(number.to_string());
        std::fs::write(&path, "new").unwrap();
        disk.sync(SyncPoint::Rows, &path, &File::open(&path).unwrap()).unwrap();
        assert_eq!(disk.safe.lock().unwrap()[&path], 3, "file {number}");
    }
}

/// Commits rows, loses power at a random moment, and goes on. Whether every row of a commit that was done is there, once.
fn survives(seed: u64, ignored: Option<SyncPoint>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut luck = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let disk = WornDisk { ignored, ..WornDisk::default() };
    let mut done: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut next = 0;
    for _ in 0..4 {
        let Ok(mut output) = FileOutput::open_on(&path, "t-", Box::new(disk.clone())) else {
            return false;
        };
        let Ok(records) = output.recover() else { return false };
        // The record says how far it is: never less than was done, and rows are of it.
        let number = records.get("next").map_or(0, |text| text.parse().unwrap());
        if number != next {
            return false;
        }
        for _ in 0..luck(5) {
            let rows: Vec<Row> = (0..luck(20))
                .map(|_| {
                    next += 1;
                    let partition = luck(2) as u32;
                    done.entry(partition).or_default().push(next);
                    let json = format!("{{\"x\":{next}}}");
                    Row { stream: "rows".to_owned(), late: false, partition, json }
                })
                .collect();
            output.commit(&rows, &[("next".to_owned(), next.to_string())]).unwrap();
        }
        drop(output);
        disk.lose_power(&path, &mut luck);
    }
    let Ok(mut output) = FileOutput::open_on(&path, "t-", Box::new(disk)) else { return false };
    if output.recover().is_err() {
        return false;
    }
    done.iter().all(|(partition, rows)| {
        let text = std::fs::read_to_string(path.join(format!("t-rows/{partition:05}.ndjson")));
        let found = text.unwrap_or_default();
        let found = found
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["x"].as_u64());
        found.collect::<Option<Vec<u64>>>().as_ref() == Some(rows)
    })
}

#[test]
fn what_is_committed_survives_a_loss_of_power() {
    for seed in 0..edge_powers() {
        assert!(survives(seed, None), "seed {seed}");
    }
}

/// The controls: each sync that is left out must be noticed.
#[test]
fn each_sync_is_needed() {
    // The record of a long log replaces it only after megabytes: it is looked at below.
    for point in SyncPoint::ALL.into_iter().filter(|point| *point != SyncPoint::Whole) {
        let noticed = (0..500).any(|seed| !survives(seed, Some(point)));
        assert!(noticed, "nobody noticed that {point:?} was left out");
    }
}

/// Whether a record that replaced a long log is there when power goes.
fn long_log_survives(ignored: Option<SyncPoint>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let disk = WornDisk { ignored, ..WornDisk::default() };
    let mut output = FileOutput::open_on(folder.path(), "", Box::new(disk.clone())).unwrap();
    output.recover().unwrap();
    let long = "x".repeat(1 << 20);
    for number in 0..4 {
        output.commit(&[], &[("long".to_owned(), format!("{number}{long}"))]).unwrap();
    }
    let length = std::fs::metadata(folder.path().join("progress")).unwrap().len();
    assert!(length < 2 << 20, "one line took the place of all");
    drop(output);
    disk.lose_power(folder.path(), &mut |_| 0);
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    output
        .recover()
        .is_ok_and(|records| records.get("long").is_some_and(|text| text.starts_with('3')))
}

#[test]
fn a_long_log_is_replaced_safely() {
    assert!(long_log_survives(None));
    assert!(!long_log_survives(Some(SyncPoint::Whole)), "nobody noticed");
}

/// Rows of a partition, and what the record says of them.
fn batch(numbers: std::ops::Range<u64>) -> (Vec<Row>, Vec<(String, String)>) {
    let row = |x: u64| Row {
        stream: "rows".into(),
        late: false,
        partition: 0,
        json: format!("{{\"x\":{x}}}"),
    };
    (numbers.clone().map(row).collect(), vec![("next".into(), numbers.end.to_string())])
}

/// After a sync that failed, the cache has what the disk has not, and says that all is well.
#[test]
fn after_a_sync_that_failed_nothing_is_believed() {
    for point in [SyncPoint::Rows, SyncPoint::Record, SyncPoint::Names] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let disk = WornDisk::default();
        let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
        output.recover().unwrap();
        let is_first = point == SyncPoint::Names;
        let done = if is_first { 0 } else { 5 };
        let (rows, records) = batch(0..done);
        if !is_first {
            output.commit(&rows, &records).unwrap();
        }
        *disk.fails.lock().unwrap() = Some(point);
        let (rows, records) = batch(done..9);
        let error = output.commit(&rows, &records).unwrap_err();
        assert!(error.is_final(), "{error}");
        assert!(error.to_string().contains("a sync failed (the disk is worn)"), "{error}");
        // Neither this one goes on, nor one that is opened anew in the same process.
        assert!(output.commit(&rows, &records).unwrap_err().is_final());
        assert!(output.recover().unwrap_err().is_final());
        drop(output);
        // Another process goes on, and what it acknowledges is safe.
        let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
        let records = output.recover().unwrap();
        let next: u64 = records.get("next").map_or(0, |text| text.parse().unwrap());
        assert!(next == done || next == 9, "{point:?}: {next}");
        if point != SyncPoint::Rows {
            disk.lose_power(&path, &mut |_| 0);
        } else {
            // Its file is cut, and what is written then is new to the disk.
            disk.lost.lock().unwrap().clear();
        }
        drop(output);
        let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
        let records = output.recover().unwrap();
        assert_eq!(records.get("next").map_or(0, |text| text.parse().unwrap()), next, "{point:?}");
        let (rows, records) = batch(next..12);
        output.commit(&rows, &records).unwrap();
        disk.lose_power(&path, &mut |_| 0);
        drop(output);
        let mut output = FileOutput::open_on(&path, "", Box::new(disk)).unwrap();
        assert_eq!(output.recover().unwrap()["next"], "12", "{point:?}");
        let text = std::fs::read_to_string(path.join("rows/00000.ndjson")).unwrap();
        assert_eq!(text.lines().count(), 12, "{point:?}");
    }
}

/// Who reads along has read so far: none of it may be taken back, also if a record that was only in the cache is lost.
#[test]
fn readers_are_told_only_what_is_safe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let disk = WornDisk::default();
    let rows_path = path.join("rows/00000.ndjson");
    let told = || -> u64 {
        let text = std::fs::read_to_string(rows_path.with_extension("committed")).unwrap();
        text.trim_end().parse().unwrap()
    };
    let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
    output.recover().unwrap();
    let (rows, records) = batch(0..5);
    output.commit(&rows, &records).unwrap();
    let safe = told();
    *disk.fails.lock().unwrap() = Some(SyncPoint::Record);
    let (rows, records) = batch(5..9);
    output.commit(&rows, &records).unwrap_err();
    drop(output);
    // The next process finds the record in the cache, cannot make it safe either, and power goes.
    *disk.fails.lock().unwrap() = Some(SyncPoint::Whole);
    let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
    output.recover().unwrap_err();
    drop(output);
    assert!(std::fs::metadata(&rows_path).unwrap().len() > safe, "the cache has more");
    assert_eq!(told(), safe);
    disk.lose_power(&path, &mut |_| 0);
    let mut output = FileOutput::open_on(&path, "", Box::new(disk)).unwrap();
    assert_eq!(output.recover().unwrap()["next"], "5");
    assert_eq!((std::fs::metadata(&rows_path).unwrap().len(), told()), (safe, safe));
}

/// A line that is not right is a torn end, or damage in front of what was acknowledged.
#[test]
fn a_damaged_record_is_no_torn_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    output.recover().unwrap();
    for number in 0..4 {
        let json = format!("{{\"x\":{number}}}");
        let row = Row { stream: "rows".into(), late: false, partition: 0, json };
        output.commit(&[row], &[("next".into(), number.to_string())]).unwrap();
    }
    let (rows, progress) =
        (folder.path().join("rows/00000.ndjson"), folder.path().join("progress"));
    let (whole, log) = (std::fs::read(&rows).unwrap(), std::fs::read(&progress).unwrap());
    for at in [0, log.len() / 2, log.iter().position(|byte| *byte == b'\n').unwrap()] {
        let mut changed = log.clone();
        changed[at] ^= 1;
        std::fs::write(&progress, &changed).unwrap();
        let error = output.recover().unwrap_err().to_string();
        assert!(error.contains("progress: damaged at line "), "{error}");
        assert_eq!(std::fs::read(&rows).unwrap(), whole, "nothing is cut");
        assert_eq!(std::fs::read(&progress).unwrap(), changed);
    }
    // In the last line, it is what was never synced; so is a part of it.
    let last = log[..log.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for length in [log.len() - 1, last + 1, last + 20] {
        std::fs::write(&progress, &log[..length]).unwrap();
        std::fs::write(&rows, &whole).unwrap();
        assert_eq!(output.recover().unwrap()["next"], "2");
        let text = std::fs::read_to_string(&progress).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(std::fs::read(&rows).unwrap().len() < whole.len());
    }
}

#[test]
fn two_gateways_do_not_share_an_output_and_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    let error = FileOutput::open(folder.path(), "").unwrap_err().to_string();
    assert!(error.contains("another gateway writes here"), "{error}");
    output.recover().unwrap();
    let row = Row { stream: "rows".into(), late: true, partition: 7, json: "{}".into() };
    output.commit(&[row], &[]).unwrap();
    drop(output);
    let path = folder.path().join("rows.late/00007.ndjson");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(std::fs::read_to_string(path.with_extension("committed")).unwrap(), "3\n");
    // What no commit has is cut off, whether its file is known or not.
    std::fs::write(&path, "{}\n{\"half").unwrap();
    std::fs::write(folder.path().join("rows.late/00008.ndjson"), "{}\n").unwrap();
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    output.recover().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("rows.late/00008.ndjson")).unwrap(), "");
    std::fs::write(&path, "").unwrap();
    let error = output.recover().unwrap_err().to_string();
    assert!(error.contains("00007.ndjson: 3 bytes of it were committed, and it has 0"), "{error}");
}
