//! The log by itself.

use afterbay_test_form::NEVER;

use super::*;

const BYTES: u64 = 64 << 10;

fn part(rows: std::ops::Range<u64>) -> Part {
    let rows: String = rows.map(|row| format!("[{row}]\n7\n")).collect();
    Part { watermark: 0, payload: rows.into_bytes() }
}

/// A commit of these rows, behind as many.
fn commit(log: &mut Log, rows: std::ops::Range<u64>) {
    log.append(rows.start, &[part(rows)]);
    log.commit();
}

/// What comes out, as rows with their numbers.
fn read(log: &mut Log) -> Vec<(u64, String)> {
    let mut rows = Vec::new();
    while let Some(entry) = log.read() {
        rows.extend((entry.number..).zip(entry.lines.lines().map(str::to_owned)));
    }
    rows
}

fn rows(numbers: std::ops::Range<u64>) -> Vec<(u64, String)> {
    numbers.map(|number| (number, format!("[{number}]"))).collect()
}

#[test]
fn rows_are_read_when_they_are_committed_and_go_when_they_are_published() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), BYTES, 0).unwrap();
    log.append(0, &[part(0..3)]);
    assert_eq!(read(&mut log), []);
    log.commit();
    assert_eq!(read(&mut log), rows(0..3));
    log.append(3, &[Part { watermark: 0, payload: b"8\n".to_vec() }]);
    log.commit();
    commit(&mut log, 3..5);
    assert_eq!(read(&mut log), rows(3..5));
    log.done(4);
    assert_eq!((log.status().waiting, log.status().dropped), (1, 0));
    log.finish(false);
    drop(log);
    let mut log = Log::open(folder.path(), BYTES, 5).unwrap();
    let left: Vec<_> = read(&mut log)
        .into_iter()
        .filter(|(number, _)| log.permit(*number) != Permit::Done)
        .collect();
    assert_eq!(left, rows(4..5));
    assert_eq!(log.permit(4), Permit::Send { again: false }, "it ended in order");
    log.done(5);
    assert_eq!((log.status().waiting, log.status().bytes), (0, 0));
}

/// The state decides: whatever was appended behind it is of a commit that nobody has.
#[test]
fn what_the_state_does_not_have_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), BYTES, 0).unwrap();
    commit(&mut log, 0..3);
    // The disk did not take the state; then it did.
    log.append(3, &[part(3..5), part(5..6)]);
    log.append(3, &[part(3..6)]);
    log.commit();
    assert_eq!(read(&mut log), rows(0..6));
    log.append(6, &[part(6..9)]);
    drop(log);
    let mut log = Log::open(folder.path(), BYTES, 6).unwrap();
    assert_eq!(log.status().waiting, 6);
    commit(&mut log, 6..8);
    assert_eq!(read(&mut log), rows(0..8));
    drop(log);
    // Killed behind the state, and before anybody was told: the rows are there.
    let mut log = Log::open(folder.path(), BYTES, 8).unwrap();
    log.append(8, &[part(8..9)]);
    drop(log);
    let mut log = Log::open(folder.path(), BYTES, 9).unwrap();
    assert_eq!(read(&mut log), rows(0..9));
}

#[test]
fn a_kill_doubles_no_more_than_what_may_have_been_sent() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), 16 << 20, 0).unwrap();
    log.save_every = NEVER;
    commit(&mut log, 0..1000);
    read(&mut log);
    let sent = |log: &mut Log| (0..1000).filter(|row| log.permit(*row) != Permit::Wait).count();
    assert_eq!(sent(&mut log) as u64, SPAN);
    // Too little to write another place for.
    log.done(SENT_MAX as u64 - 1);
    assert_eq!(log.permit(SPAN), Permit::Wait);
    log.done(SENT_MAX as u64);
    assert_eq!(log.permit(SPAN), Permit::Send { again: false });
    let (next, upto) = (SENT_MAX as u64, SENT_MAX as u64 + SPAN);
    assert_eq!(log.permit(upto), Permit::Wait);
    drop(log);
    let mut log = Log::open(folder.path(), 16 << 20, 1000).unwrap();
    assert_eq!(log.status().waiting, 1000 - next);
    assert_eq!(log.permit(next - 1), Permit::Done);
    assert_eq!(log.permit(next), Permit::Send { again: true });
    assert_eq!(log.permit(upto - 1), Permit::Send { again: true });
    log.done(upto);
    assert_eq!(log.permit(upto), Permit::Send { again: false });
}

#[test]
fn the_oldest_go_when_there_are_too_many_and_are_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), BYTES, 0).unwrap();
    let mut count = 0;
    while log.status().dropped == 0 {
        assert!(count < 100_000, "nothing is dropped");
        commit(&mut log, count..count + 100);
        count += 100;
    }
    assert!(log.status().bytes <= BYTES, "{:?}", log.status());
    for _ in 0..100 {
        commit(&mut log, count..count + 100);
        count += 100;
        let status = log.status();
        assert!(status.bytes <= BYTES, "{status:?}");
        assert_eq!(status.dropped + status.waiting, count);
    }
    let dropped = log.status().dropped;
    assert_eq!(read(&mut log), rows(dropped..count), "the newest ones are there");
    assert_eq!(log.permit(dropped - 1), Permit::Done);
    // What is published is not dropped.
    log.done(count);
    commit(&mut log, count..count + 100);
    assert_eq!(log.status().dropped, dropped);
    drop(log);
    let log = Log::open(folder.path(), BYTES, count + 100).unwrap();
    assert_eq!(log.status().dropped, dropped, "after a start, too");
}

/// As when one message of the broker has very many rows.
#[test]
fn a_commit_that_is_larger_than_all_that_is_allowed_is_there_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), 4 << 10, 0).unwrap();
    commit(&mut log, 0..10);
    commit(&mut log, 10..5000);
    assert_eq!((log.status().dropped, log.status().waiting), (10, 4990));
    assert_eq!(read(&mut log), rows(10..5000));
}

/// Nobody waits for this log: what the disk does not take is counted, and the commit goes on.
#[test]
fn what_the_disk_does_not_take_is_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), BYTES, 0).unwrap();
    commit(&mut log, 0..3);
    // In the place of the folder, there is nothing that takes a file.
    log.fail(&OutboxError::Broken(folder.path().to_owned()));
    let aside = folder.path().with_extension("aside");
    std::fs::rename(folder.path(), &aside).unwrap();
    std::fs::write(folder.path(), "").unwrap();
    commit(&mut log, 3..5);
    let status = log.status();
    assert_eq!((status.waiting, status.dropped), (3, 2));
    assert!(status.trouble.is_some(), "{status:?}");
    std::fs::remove_file(folder.path()).unwrap();
    std::fs::rename(&aside, folder.path()).unwrap();
    log.append(5, &[part(3..6)]);
    log.commit();
    assert_eq!(read(&mut log), rows(0..6), "numbers are of what is there");
    assert_eq!((log.status().waiting, log.status().trouble), (6, None));
}

#[test]
fn a_full_disk_gets_room_from_here_also_after_this_log_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), BYTES, 0).unwrap();
    commit(&mut log, 0..100);
    log.fail(&OutboxError::Broken(folder.path().to_owned()));
    log.make_way();
    assert_eq!((log.status().waiting, log.status().dropped), (0, 100));
    log.make_way();
    assert_eq!(log.status().dropped, 100);
    commit(&mut log, 100..101);
    assert_eq!(read(&mut log), rows(100..101));
}

#[test]
fn files_go_when_their_rows_are_published() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), 1 << 20, 0).unwrap();
    for commits in 0..100 {
        commit(&mut log, commits * 1000..(commits + 1) * 1000);
        read(&mut log);
        log.done((commits + 1) * 1000);
    }
    assert_eq!((log.status().waiting, log.status().dropped), (0, 0));
    let kept = log.outbox.as_ref().unwrap().bytes();
    assert!(kept < 2 * KEEP_BYTES, "{kept}");
}

#[test]
fn a_place_that_is_lost_means_rows_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), BYTES, 0).unwrap();
    commit(&mut log, 0..10);
    log.done(4);
    log.finish(false);
    drop(log);
    std::fs::write(folder.path().join(FILE), "torn").unwrap();
    let mut log = Log::open(folder.path(), BYTES, 10).unwrap();
    assert_eq!(log.status().waiting, 10);
    assert_eq!(log.permit(9), Permit::Send { again: true });
}
