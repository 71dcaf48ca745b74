//! The real program is killed in the middle of a long put without a name. Its chunks go after the next start; without names,
//! which is the control, they stay.

use std::time::{Duration, Instant};

use afterbay_blob_client::{Client, PutHead};
use afterbay_blob_server::Report;
use afterbay_test_form::PATIENCE;
use bytes::Bytes;
use futures_util::{StreamExt, stream};

use crate::common::{Process, content, get, put};

/// Chunks and segments are small, so that what is deleted is compacted away at once. A put that stops is not ended by the server.
const ARGUMENTS: [&str; 18] = [
    "--admin",
    "none",
    "--stall-timeout",
    "1h",
    "--partition-size",
    "8MiB",
    "--segment-size",
    "128KiB",
    "--chunk-size",
    "16KiB",
    "--undelete-window",
    "1ms",
    "--compact-interval",
    "5ms",
    "--compact-garbage",
    "1",
    "--compact-rate",
    "1GiB",
];
const CHUNK: usize = 16 << 10;
/// Two frames of the client, which gathers 1 MiB before it sends.
const CHUNKS: usize = 128;
/// Less than this is what one blob, tombstones and the segments that are not full yet take.
const LITTLE: u64 = (CHUNKS * CHUNK / 2) as u64;

async fn used_bytes(client: &Client) -> u64 {
    let report: Report = serde_json::from_slice(&client.status().await.unwrap()).unwrap();
    let partitions = report.node.disks.iter().flat_map(|disk| &disk.partitions);
    partitions.map(|partition| partition.used_bytes).sum()
}

/// Waits, at most for `most`, until so many bytes are used; how many are.
async fn wait(client: &Client, most: Duration, enough: impl Fn(u64) -> bool) -> u64 {
    let began = Instant::now();
    loop {
        let used = used_bytes(client).await;
        if enough(used) || began.elapsed() > most {
            return used;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Kills a server in the middle of a put, starts it again, and waits for the chunks to go: the bytes that are used then, and
/// how long that took.
async fn cut_off(names: &[&str], most: Duration) -> (u64, Duration) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let arguments = [&ARGUMENTS[..], names].concat();
    let mut process = Process::start(&data, &arguments);
    let client = process.client();
    // What was acknowledged stays, of one chunk and of several.
    let kept = [content(1, 1000), content(2, 3 * CHUNK)];
    let ids = [put(&client, &kept[0]).await, put(&client, &kept[1]).await];
    let chunk = |number| Ok::<Bytes, _>(content(number, CHUNK));
    let chunks = stream::iter((0..CHUNKS as u64).map(chunk)).chain(stream::pending()).boxed();
    let under_way = tokio::spawn({
        let client = client.clone();
        async move { client.put(PutHead::default(), chunks).await }
    });
    let written = (CHUNKS - 8) * CHUNK;
    assert!(wait(&client, PATIENCE, |used| used >= written as u64).await >= written as u64);
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    assert!(under_way.await.unwrap().is_err());
    let process = Process::start(&data, &arguments);
    let client = process.client();
    let began = Instant::now();
    let used = wait(&client, most, |used| used < LITTLE).await;
    let took = began.elapsed();
    for (id, content) in ids.iter().zip(&kept) {
        assert_eq!(get(&client, *id).await, *content);
    }
    (used, took)
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_of_a_put_that_a_crash_cut_off_go() {
    let (used, took) = cut_off(&[], PATIENCE).await;
    assert!(used < LITTLE, "{used} bytes are used");
    let most = (took + Duration::from_secs(2)).min(Duration::from_secs(5));
    // The control: nobody knows of them, so they stay.
    let (used, _) = cut_off(&["--no-names"], most).await;
    assert!(used >= LITTLE, "{used} bytes are used");
}
