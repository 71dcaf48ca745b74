//! Uploads in parts that nobody finishes, in the real program.

use std::io::{Read, Write};
use std::time::Duration;

use afterbay_blob_server::Report;
use afterbay_test_form::Wait;

use crate::common::Process;
use crate::cycles::s3::{Ask, S3};

const PART_BYTES: usize = 1 << 20;

/// The metric that counts aborted uploads.
fn aborted(process: &Process) -> u64 {
    let address = process.admin.as_ref().unwrap();
    let address = address.split("//").last().unwrap().split('/').next().unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let series = "afterbay_blob_names_uploads_aborted_total ";
    text.lines().find_map(|line| line.strip_prefix(series)?.parse().ok()).unwrap_or(0)
}

async fn used_bytes(process: &Process) -> u64 {
    let report = process.client().status().await.unwrap();
    let report: Report = serde_json::from_slice(&report).unwrap();
    let partitions = report.node.disks.iter().flat_map(|disk| &disk.partitions);
    partitions.map(|partition| partition.used_bytes).sum()
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
        let found = (uploads(&s3).await, used_bytes(&process).await, aborted(&process));
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
