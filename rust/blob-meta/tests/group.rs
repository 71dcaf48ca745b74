//! Commits are shared, files are private, drops are clean.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use afterbay_blob_meta::{AccessKey, Bucket, Command, Names, NamesError, RedbNames, RedbOptions};

use crate::common::disk::Disk;

fn bucket(n: usize) -> Command {
    let bucket = Bucket { owner: "o".into(), ..Default::default() };
    Command::CreateBucket { name: format!("b{n:04}"), bucket }
}

/// All are asked for while the disk is at the first of them.
#[tokio::test]
async fn requests_at_once_share_commits() {
    let disk = Disk::default();
    let names = Arc::new(RedbNames::open_on(disk.clone(), &RedbOptions::default()).unwrap());
    let commits_before = names.commits();
    let asked = Arc::new(AtomicUsize::new(0));
    let held = disk.hold();
    let requests: Vec<_> = (0..500)
        .map(|n| {
            let (names, asked) = (names.clone(), asked.clone());
            tokio::spawn(async move {
                asked.fetch_add(1, Ordering::Relaxed);
                names.apply(bucket(n % 400)).await
            })
        })
        .collect();
    while asked.load(Ordering::Relaxed) < requests.len() {
        tokio::task::yield_now().await; // to these, on the same thread
    }
    drop(held);
    let (mut done, mut refused) = (0, 0);
    for request in requests {
        match request.await.unwrap() {
            Ok(_) => done += 1,
            // Refused beside others in the same commit, which are done all the same.
            Err(NamesError::BucketExists { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((done, refused), (400, 100));
    let commits = names.commits() - commits_before;
    assert!(commits <= 2, "the first, and all that waited for it: {commits}");
    assert_eq!(names.buckets().len(), 400);
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_restart_and_secrets_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let key = AccessKey { id: "AK".into(), secret: "hush".into(), ..Default::default() };
    {
        let names = RedbNames::open(&path, &RedbOptions::default()).unwrap();
        names.apply(Command::PutKey(key.clone())).await.unwrap();
        names.apply(bucket(1)).await.unwrap();
        assert!(RedbNames::open(&path, &RedbOptions::default()).is_err(), "opened twice");
    }
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let names = RedbNames::open(&path, &RedbOptions::default()).unwrap();
    assert_eq!(*names.access_key("AK").unwrap(), key);
    assert_eq!(names.bucket("b0001").unwrap().owner, "o");
    names.apply(Command::DeleteKey { id: "AK".into() }).await.unwrap();
    assert!(names.access_key("AK").is_none());
}

/// `cargo test --release -p afterbay-blob-meta --test all group -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn commands_and_commits_per_second() {
    let folder = tempfile::tempdir_in(".").unwrap();
    for clients in [1, 8, 64] {
        let path = folder.path().join(format!("{clients}.redb"));
        let names = Arc::new(RedbNames::open(&path, &RedbOptions::default()).unwrap());
        let begin = std::time::Instant::now();
        let each = 4000 / clients;
        let tasks: Vec<_> = (0..clients)
            .map(|c| {
                let names = names.clone();
                tokio::spawn(async move {
                    for n in 0..each {
                        names.apply(bucket(c * each + n)).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let seconds = begin.elapsed().as_secs_f64();
        let (commands, commits) = ((each * clients) as f64, names.commits() as f64);
        println!(
            "{clients} clients: {:.0} commands/s, {:.0} commits/s, {:.1} commands a commit",
            commands / seconds,
            commits / seconds,
            commands / commits
        );
    }
}
