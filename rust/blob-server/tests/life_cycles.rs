//! Objects that expire, in the real program.

use std::time::Duration;

use afterbay_test_form::Wait;

use crate::common::Process;
use crate::cycles::s3::{Ask, S3};

const OBJECT_BYTES: usize = 64 << 10;
/// More than a page of names.
const OBJECTS: usize = 300;
const RULES: &str = "<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter><Prefix>old-</Prefix></Filter>\
    <Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration></Rule></LifecycleConfiguration>";

async fn put(s3: &S3, key: &str) {
    let ask = Ask::new("PUT", format!("/papers/{key}")).body(vec![7; OBJECT_BYTES]);
    assert_eq!(s3.ask(ask).await.unwrap().status, 200);
}

async fn keys(s3: &S3) -> Vec<String> {
    s3.ask(Ask::new("GET", "/papers")).await.unwrap().all("Key")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_is_deleted_and_its_room_is_free_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let options = [
        ["--admin", "127.0.0.1:0"],
        ["--partition-size", "64MiB"],
        ["--segment-size", "1MiB"],
        ["--chunk-size", "256KiB"],
        ["--undelete-window", "1ms"],
        ["--garbage-delay", "1ms"],
        ["--compact-interval", "5ms"],
        ["--compact-garbage", "1"],
        ["--compact-rate", "1GiB"],
        ["--lifecycle-interval", "20ms"],
    ]
    .concat();
    let log = directory.path().join("log");
    let process = Process::start_logging(&data, &options, &log);
    let s3 = S3::new(process.s3.as_ref().unwrap(), &process.key);
    assert_eq!(s3.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
    for number in 0..OBJECTS {
        put(&s3, &format!("old-{number}")).await;
    }
    put(&s3, "new").await;
    assert_eq!(keys(&s3).await.len(), OBJECTS + 1, "without rules, nothing expires");
    assert!(process.used_bytes().await > (OBJECTS * OBJECT_BYTES) as u64);
    let rules = Ask::new("PUT", "/papers").query("lifecycle", "").body(RULES);
    assert_eq!(s3.ask(rules).await.unwrap().status, 200);
    let wait = Wait::until("the old ones are deleted and their bytes free");
    loop {
        let (left, used) = (keys(&s3).await, process.used_bytes().await);
        // What is deleted is counted after it is gone.
        let expired = process.counter("afterbay_blob_lifecycle_expired_total");
        let is_smaller = used < (OBJECTS * OBJECT_BYTES) as u64 / 4;
        if left == ["new"] && is_smaller && expired >= OBJECTS as u64 {
            break;
        }
        wait.check((left.len(), used, expired));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(process.counter("afterbay_blob_lifecycle_expired_total"), OBJECTS as u64);
    let wait = Wait::until("it is in the log");
    loop {
        let said = std::fs::read_to_string(&log).unwrap();
        if said.contains("life cycle") && said.contains("papers") {
            break;
        }
        wait.check(said);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let got = s3.ask(Ask::new("GET", "/papers/new")).await.unwrap();
    assert_eq!((got.status, got.body.len()), (200, OBJECT_BYTES));
}
