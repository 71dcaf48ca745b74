//! Uploads that nobody finishes, with a time that is said.

use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_format::PartitionId;
use afterbay_blob_meta::{
    Bucket, Command, Garbage, ListRequest, Names, Part, RedbNames, RedbOptions, Reservations,
    Upload, UploadSweeper, blob_to_bytes,
};

const DAY_MS: u64 = 24 * 3600 * 1000;
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

async fn apply(names: &dyn Names, command: Command) {
    names.apply(command).await.unwrap();
}

async fn begin(names: &dyn Names, bucket: &str, upload: usize, begun_ms: u64) {
    let entry = Upload { begun_ms, ..Upload::default() };
    let (bucket, key, upload) = (bucket.to_owned(), "k".to_owned(), format!("u{upload:04}"));
    apply(names, Command::CreateUpload { bucket, key, upload, entry }).await;
}

async fn left(names: &dyn Names, bucket: &str) -> usize {
    let request = ListRequest { max: 10_000, ..ListRequest::default() };
    names.list_uploads(bucket, request).await.unwrap().rows.len()
}

async fn names() -> (tempfile::TempDir, Arc<dyn Names>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let names: Arc<dyn Names> = Arc::new(RedbNames::open(&path, &RedbOptions::default()).unwrap());
    for name in ["first", "second"] {
        let bucket = Bucket { owner: "o".into(), ..Bucket::default() };
        apply(&*names, Command::CreateBucket { name: name.to_owned(), bucket }).await;
    }
    (folder, names)
}

#[tokio::test]
async fn uploads_are_aborted_when_their_time_has_come() {
    let (_folder, names) = names().await;
    // More than a page, of one name.
    for upload in 0..600 {
        begin(&*names, "first", upload, upload as u64).await;
    }
    begin(&*names, "second", 1, DAY_MS).await;
    begin(&*names, "second", 2, 3 * DAY_MS).await;
    let sweeper = UploadSweeper::new(names.clone(), WEEK);
    assert_eq!(sweeper.sweep(0).await.unwrap(), 0);
    assert_eq!(sweeper.sweep(7 * DAY_MS + 298).await.unwrap(), 299);
    assert_eq!((left(&*names, "first").await, left(&*names, "second").await), (301, 2));
    assert_eq!(sweeper.sweep(8 * DAY_MS - 1).await.unwrap(), 301);
    assert_eq!(sweeper.sweep(8 * DAY_MS).await.unwrap(), 1);
    assert_eq!((left(&*names, "first").await, left(&*names, "second").await), (0, 1));
    assert_eq!(
        UploadSweeper::new(names.clone(), Duration::MAX).sweep(u64::MAX - 1).await.unwrap(),
        0
    );
    assert_eq!(left(&*names, "second").await, 1);
}

#[tokio::test]
async fn parts_of_an_aborted_upload_are_garbage() {
    let (_folder, names) = names().await;
    begin(&*names, "first", 1, 0).await;
    let reservations = Reservations::begin(names.clone(), "f").await.unwrap();
    let id = reservations.take(PartitionId(1)).await.unwrap();
    let part = Part { blob: blob_to_bytes(id).to_vec(), length: 9, ..Part::default() };
    let (bucket, key) = ("first".to_owned(), "k".to_owned());
    let put = Command::PutPart { bucket, key, upload: "u0001".to_owned(), number: 1, part };
    apply(&*names, put).await;
    assert!(names.garbage(0, u64::MAX, 10).await.unwrap().is_empty());
    let now_ms = 9 * DAY_MS;
    assert_eq!(UploadSweeper::new(names.clone(), WEEK).sweep(now_ms).await.unwrap(), 1);
    let garbage = names.garbage(0, u64::MAX, 10).await.unwrap();
    assert!(matches!(&garbage[..], [(_, Garbage::Parts(upload))] if upload == "u0001"));
}

/// What was queued before the clock was set back is not due for long; what comes behind it does not wait for it.
#[tokio::test]
async fn garbage_of_a_clock_that_was_ahead_holds_up_none() {
    let (_folder, names) = names().await;
    // More than a page of them.
    for upload in 0..301 {
        begin(&*names, "first", upload, 0).await;
        let now_ms = if upload == 300 { DAY_MS } else { 1000 * DAY_MS };
        let (bucket, key, upload) = ("first".to_owned(), "k".to_owned(), format!("u{upload:04}"));
        apply(&*names, Command::AbortUpload { bucket, key, upload, now_ms }).await;
    }
    let due = names.garbage(0, 2 * DAY_MS, 256).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].1, Garbage::Parts("u0300".to_owned()));
    assert_eq!(names.garbage(0, u64::MAX, 256).await.unwrap().len(), 256, "the control");
}
