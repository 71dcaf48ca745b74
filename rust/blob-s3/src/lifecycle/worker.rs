//! Deletes what has expired, and aborts uploads whose time has come.
//!
//! Names are read in pages, and what is due of a page is deleted in one transaction; between pages there is a pause. So a bucket with
//! many objects holds up nobody: a million of them are looked at in some minutes.

use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_meta::{
    Command, Condition, ListRequest, Names, NamesError, ObjectEntry, Outcome, Result, Row,
    abort_unfinished, now_ms,
};
use tokio::sync::watch;

use super::{Rules, documents};
use crate::documents::Documents;
use crate::options::S3Options;

/// Names that are read at once.
const PAGE: usize = 256;

/// Between two pages.
const PAUSE: Duration = Duration::from_millis(10);

/// A day of the calendar.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// What tells the time, in milliseconds since 1970.
type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// Does what the rules of all buckets say, again and again.
pub struct LifecycleWorker {
    names: Arc<dyn Names>,
    rules: Documents<Rules>,
    interval: Duration,
    day_ms: u64,
    pause: Duration,
    clock: Clock,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Objects that had expired, and are deleted.
    pub expired: usize,
    /// Uploads that are aborted.
    pub aborted: usize,
}

impl Swept {
    fn add(&mut self, other: Swept) {
        self.expired += other.expired;
        self.aborted += other.aborted;
    }
}

impl LifecycleWorker {
    /// Looks at all buckets every [`S3Options::lifecycle_interval`].
    pub fn new(names: Arc<dyn Names>, options: &S3Options) -> Self {
        LifecycleWorker {
            names,
            rules: documents(),
            interval: options.lifecycle_interval,
            day_ms: options.lifecycle_day_ms(),
            pause: PAUSE,
            clock: Box::new(now_ms),
        }
    }

    /// Works until `shutdown` becomes true or its sender is gone.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        if self.day_ms != DAY_MS {
            tracing::warn!(
                day_ms = self.day_ms,
                "days of life cycles are not those of the calendar"
            );
        }
        loop {
            tokio::select! {
                _ = self.sweep() => {}
                _ = shutdown.wait_for(|stop| *stop) => return,
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                _ = shutdown.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Looks at all buckets once.
    pub async fn sweep(&self) -> Swept {
        let mut all = Swept::default();
        for (bucket, _) in self.names.buckets() {
            let mut swept = Swept::default();
            let done = self.sweep_bucket(&bucket, &mut swept).await;
            if swept != Swept::default() {
                let Swept { expired, aborted } = swept;
                tracing::info!(bucket, expired, aborted, "done as the bucket's life cycle says");
            }
            match done {
                // Deleted meanwhile, with its uploads.
                Ok(()) | Err(NamesError::NoSuchBucket { .. }) => {}
                Err(error) => {
                    tracing::warn!(bucket, %error, "a life cycle is behind; trying again");
                }
            }
            all.add(swept);
        }
        all
    }

    async fn sweep_bucket(&self, bucket: &str, swept: &mut Swept) -> Result<()> {
        let Some(rules) = self.rules_of(bucket) else { return Ok(()) };
        for prefix in rules.prefixes_of_objects() {
            self.expire(bucket, prefix, swept).await?;
        }
        for prefix in rules.prefixes_of_uploads() {
            self.abort(bucket, prefix, swept).await?;
        }
        Ok(())
    }

    /// As they are now: who changes them does not wait for the end of a round.
    fn rules_of(&self, bucket: &str) -> Option<Arc<Rules>> {
        self.rules.of(bucket, &self.names.bucket(bucket)?)
    }

    async fn expire(&self, bucket: &str, prefix: String, swept: &mut Swept) -> Result<()> {
        let mut request = ListRequest { prefix, max: PAGE, ..ListRequest::default() };
        loop {
            let page = self.names.list_objects(bucket, request.clone()).await?;
            let Some(rules) = self.rules_of(bucket) else { return Ok(()) };
            swept.expired += self.delete(bucket, &rules, page.rows).await?;
            if !page.truncated {
                return Ok(());
            }
            request.after = page.next;
            tokio::time::sleep(self.pause).await;
        }
    }

    /// Deletes those of a page that have expired. How many.
    async fn delete(
        &self,
        bucket: &str,
        rules: &Rules,
        page: Vec<Row<ObjectEntry>>,
    ) -> Result<usize> {
        let now_ms = (self.clock)();
        let has_expired = |row: &Row<ObjectEntry>| {
            let due = rules.expiry(&row.key, &row.value, self.day_ms);
            due.is_some_and(|due| due.at_ms <= now_ms)
        };
        let expired = page.into_iter().filter(has_expired).map(|row| {
            let if_seen = Some(Box::new(row.value));
            (row.key, Condition { if_seen, ..Condition::default() })
        });
        let keys: Vec<_> = expired.collect();
        if keys.is_empty() {
            return Ok(0);
        }
        let delete = Command::DeleteObjects { bucket: bucket.to_owned(), keys, now_ms };
        let Outcome::Each(each) = self.names.apply(delete).await? else { return Ok(0) };
        // The others were overwritten meanwhile, or got other tags.
        let deleted = each.iter().filter(|done| done.is_ok()).count();
        metrics::counter!("afterbay_blob_lifecycle_expired_total").increment(deleted as u64);
        Ok(deleted)
    }

    async fn abort(&self, bucket: &str, prefix: String, swept: &mut Swept) -> Result<()> {
        let mut request = ListRequest { prefix, max: PAGE, ..ListRequest::default() };
        loop {
            let page = self.names.list_uploads(bucket, request.clone()).await?;
            let Some(rules) = self.rules_of(bucket) else { return Ok(()) };
            for row in &page.rows {
                let now_ms = (self.clock)();
                let due = rules.abort(&row.key, row.value.begun_ms, self.day_ms);
                if due.is_some_and(|due| due.at_ms <= now_ms) {
                    let done = abort_unfinished(&*self.names, bucket, row, now_ms).await?;
                    swept.aborted += usize::from(done);
                }
            }
            if !page.truncated {
                return Ok(());
            }
            request.after = page.next;
            request.after_upload = page.next_upload;
            tokio::time::sleep(self.pause).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, Ordering};

    use afterbay_blob_format::PartitionId;
    use afterbay_blob_meta::{
        Attributes, Bucket, BucketChange, RedbNames, RedbOptions, Reservations, Upload,
        blob_to_bytes,
    };
    use proptest::prelude::*;
    use redb::backends::InMemoryBackend;
    use s3s::dto::BucketLifecycleConfiguration;

    use super::*;
    use crate::documents::to_xml;
    use crate::lifecycle::testing::{self, configuration, object};

    const BUCKET: &str = "b";
    const ONE_DAY: &str = "<Rule><Status>Enabled</Status><Prefix>old/</Prefix><Expiration><Days>1</Days></Expiration></Rule>";
    const TAGGED: &str = "<Rule><Status>Enabled</Status><Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter>\
                          <Expiration><Days>1</Days></Expiration></Rule>";
    const ABORT: &str = "<Rule><Status>Enabled</Status><Prefix>old/</Prefix>\
                         <AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>";

    /// A bucket, and a worker whose clock is set.
    struct Given {
        names: Arc<dyn Names>,
        reservations: Reservations,
        worker: LifecycleWorker,
        now_ms: Arc<AtomicU64>,
    }

    impl Given {
        async fn new(rules: &BucketLifecycleConfiguration) -> Self {
            let disk = InMemoryBackend::new();
            let names = RedbNames::open_on(disk, &RedbOptions::default()).unwrap();
            let names: Arc<dyn Names> = Arc::new(names);
            let reservations = Reservations::begin(names.clone(), "local").await.unwrap();
            let now_ms = Arc::<AtomicU64>::default();
            let told = now_ms.clone();
            let worker = LifecycleWorker {
                pause: Duration::ZERO,
                clock: Box::new(move || told.load(Ordering::Relaxed)),
                ..LifecycleWorker::new(names.clone(), &S3Options::default())
            };
            let given = Given { names, reservations, worker, now_ms };
            let (name, bucket) = (BUCKET.to_owned(), Bucket::default());
            given.apply(Command::CreateBucket { name, bucket }).await;
            given.set_rules(Some(rules)).await;
            given
        }

        async fn apply(&self, command: Command) {
            self.names.apply(command).await.unwrap();
        }

        async fn set_rules(&self, rules: Option<&BucketLifecycleConfiguration>) {
            let value = rules.map(|rules| to_xml(rules, usize::MAX).unwrap());
            let change = BucketChange::Document { name: crate::lifecycle::NAME.to_owned(), value };
            self.apply(Command::SetBucket { name: BUCKET.to_owned(), change }).await;
        }

        async fn put(&self, key: &str, entry: ObjectEntry) {
            let id = self.reservations.take(PartitionId(1)).await.unwrap();
            let entry = ObjectEntry { blob: blob_to_bytes(id).to_vec(), ..entry };
            let (bucket, key) = (BUCKET.to_owned(), key.to_owned());
            let condition = Condition::default();
            self.apply(Command::PutObject { bucket, key, entry, condition }).await;
        }

        async fn begin(&self, key: &str, upload: &str, begun_ms: u64) {
            let entry = Upload { begun_ms, ..Upload::default() };
            let (bucket, key, upload) = (BUCKET.to_owned(), key.to_owned(), upload.to_owned());
            self.apply(Command::CreateUpload { bucket, key, upload, entry }).await;
        }

        async fn sweep_at(&self, now_ms: u64) -> (usize, usize) {
            self.now_ms.store(now_ms, Ordering::Relaxed);
            let Swept { expired, aborted } = self.worker.sweep().await;
            (expired, aborted)
        }

        async fn rows(&self) -> Vec<Row<ObjectEntry>> {
            let request = ListRequest { max: 10_000, ..ListRequest::default() };
            self.names.list_objects(BUCKET, request).await.unwrap().rows
        }

        async fn keys(&self) -> Vec<String> {
            self.rows().await.into_iter().map(|row| row.key).collect()
        }

        async fn uploads(&self) -> Vec<String> {
            let request = ListRequest { max: 10_000, ..ListRequest::default() };
            let page = self.names.list_uploads(BUCKET, request).await.unwrap();
            page.rows.into_iter().map(|row| row.upload).collect()
        }
    }

    #[tokio::test]
    async fn objects_go_when_their_time_has_come() {
        let given = Given::new(&configuration(ONE_DAY)).await;
        // More than a page.
        for number in 0..600 {
            given.put(&format!("old/{number:03}"), object(number % 2 * DAY_MS + 1, 1, &[])).await;
        }
        given.put("new/1", object(1, 1, &[])).await;
        assert_eq!(given.sweep_at(2 * DAY_MS - 1).await, (0, 0));
        assert_eq!(given.sweep_at(2 * DAY_MS).await, (300, 0));
        assert_eq!(given.keys().await.len(), 301);
        assert_eq!(given.sweep_at(3 * DAY_MS).await, (300, 0));
        assert_eq!(given.keys().await, ["new/1"]);
        assert_eq!(given.names.garbage(0, u64::MAX, 1000).await.unwrap().len(), 600);
    }

    #[tokio::test]
    async fn rules_that_are_gone_do_nothing() {
        let given = Given::new(&configuration(ONE_DAY)).await;
        given.put("old/1", object(1, 1, &[])).await;
        given.set_rules(None).await;
        assert_eq!(given.sweep_at(9 * DAY_MS).await, (0, 0));
        given.set_rules(Some(&configuration(&ONE_DAY.replace("Enabled", "Disabled")))).await;
        assert_eq!(given.sweep_at(9 * DAY_MS).await, (0, 0));
        given.set_rules(Some(&configuration(ONE_DAY))).await;
        assert_eq!(given.sweep_at(9 * DAY_MS).await, (1, 0), "the control");
    }

    /// Between the list and the delete.
    #[tokio::test]
    async fn what_is_changed_meanwhile_stays() {
        let given = Given::new(&configuration(TAGGED)).await;
        for key in ["again", "gone", "kept", "untagged"] {
            given.put(key, object(1, 1, &[("a", "b")])).await;
        }
        let seen = given.rows().await;
        // The same content in the same millisecond is another object all the same.
        given.put("again", object(1, 1, &[("a", "b")])).await;
        let untagged = seen[3].value.clone();
        given
            .apply(Command::SetAttributes {
                bucket: BUCKET.to_owned(),
                key: "untagged".to_owned(),
                modified_ms: untagged.modified_ms,
                seen: untagged,
                attributes: Attributes::default(),
            })
            .await;
        given.now_ms.store(9 * DAY_MS, Ordering::Relaxed);
        let rules = given.worker.rules_of(BUCKET).unwrap();
        let deleted = given.worker.delete(BUCKET, &rules, seen).await.unwrap();
        assert_eq!((deleted, given.keys().await), (2, vec!["again".into(), "untagged".into()]));
        assert_eq!(given.sweep_at(9 * DAY_MS).await, (1, 0));
        assert_eq!(given.keys().await, ["untagged"]);
    }

    #[tokio::test]
    async fn uploads_are_aborted_when_their_time_has_come() {
        let given = Given::new(&configuration(ABORT)).await;
        for number in 0..600 {
            given.begin("old/k", &format!("u{number:03}"), number / 300 * DAY_MS + 1).await;
        }
        given.begin("new/k", "other", 1).await;
        given.put("old/k", object(1, 1, &[])).await;
        assert_eq!(given.sweep_at(3 * DAY_MS - 1).await, (0, 0));
        assert_eq!(given.sweep_at(3 * DAY_MS).await, (0, 300));
        assert_eq!(given.sweep_at(4 * DAY_MS).await, (0, 300));
        assert_eq!(
            (given.uploads().await, given.keys().await),
            (vec!["other".into()], vec!["old/k".into()])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn it_goes_on_until_it_is_stopped() {
        let given = Given::new(&configuration(ONE_DAY)).await;
        let (stop, stopping) = watch::channel(false);
        let (names, options) = (given.names.clone(), S3Options::default());
        // Of a real clock: all that is old has expired.
        let running = tokio::spawn(LifecycleWorker::new(names, &options).run(stopping));
        for round in 1..3 {
            given.put("old/1", object(round, 1, &[])).await;
            while !given.keys().await.is_empty() {
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
        }
        stop.send(true).unwrap();
        running.await.unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// What is left is what the reference keeps.
        #[test]
        fn as_the_reference_says(
            rules in testing::configurations(),
            objects in proptest::collection::btree_map(testing::keys(), testing::objects(), 0..20),
            uploads in proptest::collection::vec((testing::keys(), 0..20 * DAY_MS), 0..10),
            now_ms in 0..25 * DAY_MS,
        ) {
            let kept = |due: Option<u64>| due.is_none_or(|due| due > now_ms);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let (keys, left) = runtime.block_on(async {
                let given = Given::new(&rules).await;
                for (key, entry) in &objects {
                    given.put(key, entry.clone()).await;
                }
                for (number, (key, begun_ms)) in uploads.iter().enumerate() {
                    given.begin(key, &format!("{number}"), *begun_ms).await;
                }
                let swept = given.sweep_at(now_ms).await;
                let (keys, left) = (given.keys().await, given.uploads().await);
                assert_eq!(swept, (objects.len() - keys.len(), uploads.len() - left.len()));
                (keys, left)
            });
            let wanted: BTreeMap<_, _> =
                objects.iter().filter(|(key, entry)| kept(testing::expiry(&rules, key, entry))).collect();
            prop_assert_eq!(keys.iter().collect::<Vec<_>>(), wanted.into_keys().collect::<Vec<_>>());
            let mut wanted: Vec<_> = (0..uploads.len())
                .filter(|number| kept(testing::abort(&rules, &uploads[*number].0, uploads[*number].1)))
                .map(|number| number.to_string())
                .collect();
            let mut left = left;
            left.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(left, wanted);
        }
    }
}
