//! An outbox, against a list, with crashes.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use afterbay_edge_outbox::{Outbox, OutboxError, Settings};
use afterbay_test_form::{NEVER, edge_cases};
use proptest::prelude::*;

const SMALL: Settings = Settings { bytes_max: 1 << 20, segment_bytes: 100, segment_age: NEVER };

fn all(outbox: &Outbox) -> Vec<(u64, Vec<u8>)> {
    let mut entries = Vec::new();
    outbox
        .read(0, |position, payload| {
            entries.push((position, payload));
            true
        })
        .unwrap();
    entries
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    files.sort();
    files
}

#[test]
fn entries_are_there_after_a_start_until_they_are_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut outbox = Outbox::open(folder.path(), SMALL).unwrap();
    for number in 0..20_u8 {
        assert_eq!(outbox.append(&[number; 40]).unwrap(), u64::from(number));
    }
    outbox.sync().unwrap();
    assert!(files(folder.path()).len() >= 10);
    drop(outbox);
    let mut outbox = Outbox::open(folder.path(), SMALL).unwrap();
    assert_eq!((outbox.first(), outbox.next(), outbox.cut_bytes()), (0, 20, 0));
    assert_eq!(all(&outbox), (0..20_u8).map(|n| (n.into(), vec![n; 40])).collect::<Vec<_>>());
    outbox.acknowledge(7).unwrap();
    assert!(outbox.first() <= 7 && outbox.first() > 4, "{}", outbox.first());
    outbox.acknowledge(20).unwrap();
    assert_eq!((outbox.first(), outbox.next(), outbox.bytes()), (20, 20, 0));
    assert_eq!(files(folder.path()).len(), 1);
    drop(outbox);
    let mut outbox = Outbox::open(folder.path(), SMALL).unwrap();
    assert_eq!(outbox.append(b"more").unwrap(), 20, "positions are not used twice");
    let mut one = Vec::new();
    outbox
        .read(20, |position, payload| {
            one.push((position, payload));
            false
        })
        .unwrap();
    assert_eq!(one, [(20, b"more".to_vec())]);
}

#[test]
fn a_full_outbox_says_so_and_has_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { bytes_max: 300, ..SMALL };
    let mut outbox = Outbox::open(folder.path(), settings).unwrap();
    let mut count = 0;
    let error = loop {
        match outbox.append(&[7; 40]) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(count, 5);
    assert!(matches!(error, OutboxError::Full { bytes: 280, bytes_max: 300 }), "{error}");
    outbox.acknowledge(3).unwrap();
    outbox.append(&[7; 40]).unwrap();
}

#[test]
fn two_processes_do_not_share_one() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::open(folder.path(), SMALL).unwrap();
    let error = Outbox::open(folder.path(), SMALL).unwrap_err();
    assert!(matches!(error, OutboxError::Locked(_)), "{error}");
    drop(outbox);
    Outbox::open(folder.path(), SMALL).unwrap();
}

#[test]
fn what_is_damaged_or_missing_in_front_of_the_end_is_an_error() {
    for (harm, what) in [(0, "damaged at byte "), (1, "files are missing")] {
        let folder = tempfile::tempdir().unwrap();
        let mut outbox = Outbox::open(folder.path(), SMALL).unwrap();
        for number in 0..20_u8 {
            outbox.append(&[number; 40]).unwrap();
        }
        drop(outbox);
        let second = &files(folder.path())[1];
        if harm == 0 {
            let mut bytes = std::fs::read(second).unwrap();
            bytes[60] ^= 1;
            std::fs::write(second, bytes).unwrap();
        } else {
            std::fs::remove_file(second).unwrap();
        }
        let error = Outbox::open(folder.path(), SMALL).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains(".log"), "{error}");
    }
}

/// A clock that was set after the entries were written, or set back, makes nothing old.
#[test]
fn an_age_is_believed_only_if_it_can_be() {
    const HOUR: Duration = Duration::from_secs(3600);
    let folder = tempfile::tempdir().unwrap();
    let mut outbox = Outbox::open(folder.path(), SMALL).unwrap();
    assert_eq!(outbox.oldest_age(), None);
    outbox.append(b"x").unwrap();
    let path = files(folder.path()).remove(0);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let now = SystemTime::now();
    for (written, is_old) in
        [(UNIX_EPOCH + Duration::from_secs(90), false), (now + HOUR, false), (now - HOUR, true)]
    {
        file.set_modified(written).unwrap();
        // Opened again and again: that makes nothing younger.
        for _ in 0..2 {
            drop(outbox);
            outbox = Outbox::open(folder.path(), SMALL).unwrap();
            outbox.truncate(1).unwrap();
            let age = outbox.oldest_age().unwrap().elapsed();
            assert_eq!(age >= HOUR, is_old, "{written:?}: {age:?}");
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Append(usize),
    Sync,
    Acknowledge(prop::sample::Index),
    /// The process ends; its writes are there.
    Restart,
    /// Power goes: of what was not synced, some bytes are there, and one of them is wrong.
    Crash {
        kept: prop::sample::Index,
        wrong: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0_usize..120).prop_map(Step::Append),
        2 => Just(Step::Sync),
        2 => any::<prop::sample::Index>().prop_map(Step::Acknowledge),
        1 => Just(Step::Restart),
        2 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(kept, wrong)| Step::Crash { kept, wrong }),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases() / 3))]

    #[test]
    fn what_was_synced_is_there_in_order_and_of_the_rest_a_beginning(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut outbox = Outbox::open(path, SMALL).unwrap();
        // All entries that there have been, by position; how many are synced; how many are acknowledged.
        let mut entries: Vec<Vec<u8>> = Vec::new();
        let (mut synced, mut acknowledged) = (0_usize, 0_usize);
        // Bytes of the last file that are synced.
        let mut safe_bytes = 0;
        let mut salt = 0_u8;
        for step in steps {
            match step {
                Step::Append(length) => {
                    salt = salt.wrapping_add(1);
                    let before = files(path).len();
                    prop_assert_eq!(outbox.append(&vec![salt; length]).unwrap(), entries.len() as u64);
                    // A new file: the one before was synced for it.
                    if files(path).len() > before {
                        (synced, safe_bytes) = (entries.len(), 0);
                    }
                    entries.push(vec![salt; length]);
                }
                Step::Sync => {
                    outbox.sync().unwrap();
                    synced = entries.len();
                    safe_bytes = std::fs::metadata(files(path).last().unwrap()).unwrap().len();
                }
                Step::Acknowledge(index) => {
                    // Only what was sent, and only what was synced is sent.
                    acknowledged = acknowledged.max(index.index(synced + 1));
                    let last = files(path).last().unwrap().clone();
                    outbox.acknowledge(acknowledged as u64).unwrap();
                    if *files(path).last().unwrap() != last {
                        (synced, safe_bytes) = (entries.len(), 0);
                    }
                }
                Step::Restart => {
                    drop(outbox);
                    outbox = Outbox::open(path, SMALL).unwrap();
                    prop_assert_eq!(outbox.cut_bytes(), 0);
                    synced = entries.len();
                    safe_bytes = std::fs::metadata(files(path).last().unwrap()).unwrap().len();
                }
                Step::Crash { kept, wrong } => {
                    drop(outbox);
                    let last = files(path).last().unwrap().clone();
                    let mut bytes = std::fs::read(&last).unwrap();
                    let unsafe_bytes = bytes.len() - safe_bytes as usize;
                    bytes.truncate(safe_bytes as usize + kept.index(unsafe_bytes + 1));
                    if wrong && bytes.len() > safe_bytes as usize {
                        let at = safe_bytes as usize + kept.index(bytes.len() - safe_bytes as usize);
                        bytes[at] ^= 0x40;
                    }
                    std::fs::write(&last, &bytes).unwrap();
                    outbox = Outbox::open(path, SMALL).unwrap();
                    let next = outbox.next() as usize;
                    prop_assert!(next >= synced && next <= entries.len(), "{} of {}", next, synced);
                    entries.truncate(next);
                    (synced, safe_bytes) = (next, std::fs::metadata(&last).unwrap().len());
                }
            }
            prop_assert_eq!(outbox.next(), entries.len() as u64);
            prop_assert!(outbox.first() as usize <= acknowledged);
        }
        let found = all(&outbox);
        let first = outbox.first() as usize;
        let expected: Vec<(u64, Vec<u8>)> =
            (first..entries.len()).map(|position| (position as u64, entries[position].clone())).collect();
        prop_assert_eq!(found, expected);
    }
}
