//! Uploads in parts that nobody finishes, in the real program.

use std::time::Duration;

use afterbay_test_form::Wait;

use crate::common::Process;
use crate::cycles::s3::{Ask, S3};

const PART_BYTES: usize = 1 << 20;

/// Uploads that were aborted.
fn aborted(process: &Process) -> u64 {
    process.counter("afterbay_blob_names_uploads_aborted_total")
}

async fn begin(s3: &S3) -> String {
    let begun = s3.ask(Ask::new("POST", "/papers/large").query("uploads", "")).await.unwrap();
    begun.first("UploadId").unwrap()
}

async fn put_part(s3: &S3, upload: &str) -> u16 {
    let ask = Ask::new("PUT", "/papers/large").query("partNumber", 1).query("uploadId", upload);
    s3.ask(ask.body(vec![7; PART_BYTES])).await.unwrap().status
}

async fn uploads(s3: &S3) -> usize {
    let listed = s3.ask(Ask::new("GET", "/papers").query("uploads", "")).await.unwrap();
    listed.all("UploadId").len()
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_aborted_and_their_room_is_free_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let common = [
        ["--admin", "127.0.0.1:0"],
        ["--partition-size", "8MiB"],
        ["--segment-size", "128KiB"],
        ["--chunk-size", "16KiB"],
        ["--undelete-window", "1ms"],
        ["--garbage-delay", "1ms"],
        ["--compact-interval", "5ms"],
        ["--compact-garbage", "1"],
        ["--compact-rate", "1GiB"],
    ]
    .concat();
    // By default it is there for days, and so it is when that is switched off.
    for kept in [&[][..], &["--abort-uploads-after", "never"]] {
        let process = Process::start(&data, &[&common[..], kept].concat());
        let s3 = S3::new(process.s3.as_ref().unwrap(), &process.key);
        assert_eq!(s3.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
        let upload = begin(&s3).await;
        assert_eq!(put_part(&s3, &upload).await, 200);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(aborted(&process), 0);
    }
    let process =
        Process::start(&data, &[&common[..], &["--abort-uploads-after", "100ms"]].concat());
    let s3 = S3::new(process.s3.as_ref().unwrap(), &process.key);
    let wait = Wait::until("both uploads are aborted and their bytes free");
    loop {
        let found = (uploads(&s3).await, process.used_bytes().await, aborted(&process));
        if found.0 == 0 && found.1 <= PART_BYTES as u64 / 2 && found.2 >= 2 {
            break assert_eq!(found.2, 2);
        }
        wait.check(found);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_comes_too_late_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let process = Process::start(&data, &["--admin", "none", "--abort-uploads-after", "100ms"]);
    let s3 = S3::new(process.s3.as_ref().unwrap(), &process.key);
    assert_eq!(s3.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
    let upload = begin(&s3).await;
    let wait = Wait::until("the upload is aborted");
    while uploads(&s3).await > 0 {
        wait.check(&upload);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(put_part(&s3, &upload).await, 404);
}
