//! Random commands, against plain maps. After each sequence, the blobs are where they have to be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_meta::{
    Bucket, Collector, CollectorOptions, Command, Condition, ListRequest, Match, Names, NamesError,
    ObjectEntry, Part, Place, RedbNames, RedbOptions, Reservations, Upload, blob_to_bytes,
};
use afterbay_test_form::names_cases;
use proptest::prelude::*;
use redb::backends::InMemoryBackend;

use crate::common::Blobs;

const KEYS: [&str; 6] = ["a", "b/1", "b/2", "b/2/x", "c", "ä/z"];
const BUCKETS: [&str; 2] = ["one", "two"];

#[derive(Debug, Clone)]
enum Step {
    CreateBucket(usize),
    DeleteBucket(usize),
    Put {
        bucket: usize,
        key: usize,
        condition: u8,
    },
    Delete {
        bucket: usize,
        keys: Vec<usize>,
        condition: u8,
    },
    Begin {
        bucket: usize,
        key: usize,
    },
    PutPart {
        upload: usize,
        number: u16,
    },
    Complete {
        upload: usize,
        mask: u8,
        condition: u8,
    },
    Abort {
        upload: usize,
    },
    /// Written and never named.
    GiveUp,
    List {
        bucket: usize,
        prefix: usize,
        slash: bool,
        max: usize,
    },
    /// A new session: what was reserved before is garbage.
    Restart,
    Collect {
        failing: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (bucket, key) = (|| 0..BUCKETS.len(), || 0..KEYS.len());
    prop_oneof![
        1 => bucket().prop_map(Step::CreateBucket),
        1 => bucket().prop_map(Step::DeleteBucket),
        8 => (bucket(), key(), 0..4u8).prop_map(|(bucket, key, condition)| Step::Put { bucket, key, condition }),
        4 => (bucket(), prop::collection::vec(key(), 1..4), 0..4u8)
            .prop_map(|(bucket, keys, condition)| Step::Delete { bucket, keys, condition }),
        3 => (bucket(), key()).prop_map(|(bucket, key)| Step::Begin { bucket, key }),
        6 => (0..4usize, 1..5u16).prop_map(|(upload, number)| Step::PutPart { upload, number }),
        3 => (0..4usize, any::<u8>(), 0..4u8)
            .prop_map(|(upload, mask, condition)| Step::Complete { upload, mask, condition }),
        1 => (0..4usize).prop_map(|upload| Step::Abort { upload }),
        1 => Just(Step::GiveUp),
        4 => (bucket(), 0..4usize, any::<bool>(), 1..4usize)
            .prop_map(|(bucket, prefix, slash, max)| Step::List { bucket, prefix, slash, max }),
        1 => Just(Step::Restart),
        2 => any::<bool>().prop_map(|failing| Step::Collect { failing }),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Object {
    etag: String,
    blobs: Vec<BlobId>,
}

#[derive(Debug, Default)]
struct Model {
    buckets: BTreeMap<String, BTreeMap<String, Object>>,
    /// By id: bucket, key, parts. `None` for those of a bucket that is gone.
    uploads: BTreeMap<String, (String, String, BTreeMap<u16, BlobId>)>,
    all_uploads: Vec<(String, String, String)>,
}

struct Run {
    names: Arc<RedbNames>,
    reservations: Reservations,
    blobs: Arc<Blobs>,
    model: Model,
    count: u64,
}

impl Run {
    async fn new() -> Self {
        let options = RedbOptions { cache_bytes: 1 << 20, ..Default::default() };
        let names = Arc::new(RedbNames::open_on(InMemoryBackend::new(), &options).unwrap());
        let reservations = Reservations::begin(names.clone(), "test").await.unwrap();
        Run { names, reservations, blobs: Arc::default(), model: Model::default(), count: 0 }
    }

    async fn write(&mut self) -> BlobId {
        let id = self.reservations.take(PartitionId(1)).await.unwrap();
        self.blobs.put(id);
        id
    }

    fn etag(&mut self) -> String {
        self.count += 1;
        format!("e{}", self.count)
    }

    /// The condition, and whether it holds.
    fn condition(&self, kind: u8, bucket: &str, key: &str) -> (Condition, bool) {
        let there = self.model.buckets.get(bucket).and_then(|b| b.get(key));
        let tags = |tag: &str| Some(Match::Etags(vec![tag.to_owned()]));
        let none = Condition::default();
        match (kind, there) {
            (0, _) => (none, true),
            (1, _) => (Condition { if_none_match: Some(Match::Any), ..none }, there.is_none()),
            (2, Some(o)) => (Condition { if_match: tags(&o.etag), ..none }, true),
            (2, None) => (Condition { if_match: tags("e0"), ..none }, false),
            (_, _) => (Condition { if_match: tags("e0"), ..none }, false),
        }
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::CreateBucket(n) => {
                let name = BUCKETS[n].to_owned();
                let bucket = Bucket { owner: "o".into(), ..Default::default() };
                let done =
                    self.names.apply(Command::CreateBucket { name: name.clone(), bucket }).await;
                assert_eq!(done.is_ok(), !self.model.buckets.contains_key(&name));
                self.model.buckets.entry(name).or_default();
            }
            Step::DeleteBucket(n) => self.delete_bucket(BUCKETS[n]).await,
            Step::Put { bucket, key, condition } => {
                self.put(BUCKETS[bucket], KEYS[key], condition).await;
            }
            Step::Delete { bucket, keys, condition } => {
                self.delete(BUCKETS[bucket], &keys, condition).await;
            }
            Step::Begin { bucket, key } => self.begin(BUCKETS[bucket], KEYS[key]).await,
            Step::PutPart { upload, number } => self.put_part(upload, number).await,
            Step::Complete { upload, mask, condition } => {
                self.complete(upload, mask, condition).await
            }
            Step::Abort { upload } => self.abort(upload).await,
            Step::GiveUp => {
                let id = self.write().await;
                drop(self.reservations.watch(id));
                // Its command is in the queue before any later one.
                tokio::task::yield_now().await;
            }
            Step::List { bucket, prefix, slash, max } => {
                self.list(BUCKETS[bucket], ["", "b", "b/", "x"][prefix], slash, max).await;
            }
            Step::Restart => {
                self.reservations = Reservations::begin(self.names.clone(), "test").await.unwrap();
            }
            Step::Collect { failing } => self.collect(failing).await,
        }
    }

    async fn delete_bucket(&mut self, name: &str) {
        let delete = Command::DeleteBucket { name: name.to_owned(), now_ms: 0 };
        let done = self.names.apply(delete).await;
        let empty = self.model.buckets.get(name).is_some_and(BTreeMap::is_empty);
        assert_eq!(done.is_ok(), empty);
        if empty {
            self.model.buckets.remove(name);
            self.model.uploads.retain(|_, (bucket, _, _)| bucket != name);
        }
    }

    async fn put(&mut self, bucket: &str, key: &str, condition: u8) {
        let (condition, holds) = self.condition(condition, bucket, key);
        let (blob, etag) = (self.write().await, self.etag());
        let entry = ObjectEntry {
            blob: blob_to_bytes(blob).to_vec(),
            etag: etag.clone(),
            ..Default::default()
        };
        let put =
            Command::PutObject { bucket: bucket.to_owned(), key: key.to_owned(), entry, condition };
        let done = self.names.apply(put.clone()).await;
        let Some(objects) = self.model.buckets.get_mut(bucket) else {
            assert!(matches!(done, Err(NamesError::NoSuchBucket { .. })), "{done:?}");
            return;
        };
        assert_eq!(done.is_ok(), holds, "{done:?}");
        if holds {
            objects.insert(key.to_owned(), Object { etag, blobs: vec![blob] });
        }
        // A blob is named once.
        assert!(self.names.apply(put).await.is_err());
    }

    async fn delete(&mut self, bucket: &str, keys: &[usize], condition: u8) {
        let (condition, _) = self.condition(condition, bucket, KEYS[keys[0]]);
        let keys: Vec<_> = keys.iter().map(|k| (KEYS[*k].to_owned(), condition.clone())).collect();
        let delete =
            Command::DeleteObjects { bucket: bucket.to_owned(), keys: keys.clone(), now_ms: 0 };
        let done = self.names.apply(delete).await;
        let Some(objects) = self.model.buckets.get_mut(bucket) else {
            assert!(done.is_err());
            return;
        };
        let afterbay_blob_meta::Outcome::Each(each) = done.unwrap() else { panic!("not each") };
        for ((key, condition), done) in keys.iter().zip(each) {
            let there = objects.get(key);
            let holds = match (&condition.if_match, &condition.if_none_match) {
                _ if there.is_none() => true,
                (Some(Match::Etags(tags)), _) => there.is_some_and(|o| tags.contains(&o.etag)),
                (_, Some(_)) => there.is_none(),
                _ => true,
            };
            let stood_for = done.map(|body| body.is_some());
            assert_eq!(stood_for.ok(), holds.then_some(there.is_some()));
            if holds {
                objects.remove(key);
            }
        }
    }

    async fn begin(&mut self, bucket: &str, key: &str) {
        self.count += 1;
        let upload = format!("u{:05}", self.count);
        let begin = Command::CreateUpload {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            upload: upload.clone(),
            entry: Upload::default(),
        };
        let done = self.names.apply(begin).await;
        assert_eq!(done.is_ok(), self.model.buckets.contains_key(bucket));
        if done.is_ok() {
            let (bucket, key) = (bucket.to_owned(), key.to_owned());
            self.model.all_uploads.push((bucket.clone(), key.clone(), upload.clone()));
            self.model.uploads.insert(upload, (bucket, key, BTreeMap::new()));
        }
    }

    /// One of the last uploads, open or not.
    fn upload(&self, back: usize) -> Option<(String, String, String)> {
        self.model.all_uploads.iter().rev().nth(back).cloned()
    }

    async fn put_part(&mut self, back: usize, number: u16) {
        let Some((bucket, key, upload)) = self.upload(back) else { return };
        let blob = self.write().await;
        let part = Part { blob: blob_to_bytes(blob).to_vec(), ..Default::default() };
        let put = Command::PutPart { bucket, key, upload: upload.clone(), number, part };
        let done = self.names.apply(put).await;
        let open = self.model.uploads.get_mut(&upload);
        assert_eq!(done.is_ok(), open.is_some());
        if let Some((_, _, parts)) = open {
            parts.insert(number, blob);
        }
    }

    async fn complete(&mut self, back: usize, mask: u8, condition: u8) {
        let Some((bucket, key, upload)) = self.upload(back) else { return };
        let (condition, holds) = self.condition(condition, &bucket, &key);
        let open = self.model.uploads.get(&upload).cloned();
        let parts = open.as_ref().map(|(_, _, parts)| parts.clone()).unwrap_or_default();
        let seen: Vec<_> = parts.into_iter().filter(|(n, _)| mask & 1 << n != 0).collect();
        let etag = self.etag();
        let complete = Command::CompleteUpload {
            bucket: bucket.clone(),
            key: key.clone(),
            upload: upload.clone(),
            seen: seen.clone(),
            entry: ObjectEntry { etag: etag.clone(), ..Default::default() },
            condition,
        };
        let done = self.names.apply(complete).await;
        assert_eq!(done.is_ok(), open.is_some() && holds && !seen.is_empty(), "{done:?}");
        if done.is_ok() {
            self.model.uploads.remove(&upload);
            let blobs = seen.into_iter().map(|(_, blob)| blob).collect();
            self.model.buckets.get_mut(&bucket).unwrap().insert(key, Object { etag, blobs });
        }
    }

    async fn abort(&mut self, back: usize) {
        let Some((bucket, key, upload)) = self.upload(back) else { return };
        let abort = Command::AbortUpload { bucket, key, upload: upload.clone(), now_ms: 0 };
        let done = self.names.apply(abort).await;
        assert_eq!(done.is_ok(), self.model.uploads.remove(&upload).is_some());
    }

    async fn list(&self, bucket: &str, prefix: &str, slash: bool, max: usize) {
        let Some(objects) = self.model.buckets.get(bucket) else { return };
        let mut expected = BTreeSet::new();
        for key in objects.keys().filter(|k| k.starts_with(prefix)) {
            let behind = &key[prefix.len()..];
            match behind.find('/').filter(|_| slash) {
                Some(at) => expected.insert(key[..=prefix.len() + at].to_owned()),
                None => expected.insert(key.clone()),
            };
        }
        let mut found = Vec::new();
        let delimiter = if slash { "/" } else { "" };
        let mut request = ListRequest {
            prefix: prefix.into(),
            delimiter: delimiter.into(),
            max,
            ..Default::default()
        };
        loop {
            let page = self.names.list_objects(bucket, request.clone()).await.unwrap();
            assert!(page.rows.len() + page.prefixes.len() <= max);
            found.extend(page.rows.into_iter().map(|r| r.key).chain(page.prefixes));
            if !page.truncated {
                break;
            }
            request.after = page.next;
        }
        found.sort();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }

    async fn collect(&self, failing: bool) {
        self.blobs.fail_every(if failing { 3 } else { 0 });
        let options =
            CollectorOptions { grace: Duration::ZERO, retry: Duration::ZERO, ..Default::default() };
        let names: Arc<dyn Names> = self.names.clone();
        let mut collector = Collector::new(names, self.blobs.clone(), options);
        // What is expanded comes back behind; what fails is tried again.
        for _ in 0..if failing { 1 } else { 6 } {
            collector.collect().await.unwrap();
        }
    }

    /// Everything the names say is what the model says, and every blob is in one place.
    async fn check(&self) -> Result<(), String> {
        for bucket in BUCKETS {
            for key in KEYS {
                let expected = self.model.buckets.get(bucket).and_then(|b| b.get(key));
                let found = self.names.object(bucket, key).await.unwrap_or(None);
                let found = found.map(|entry| entry.etag);
                if found != expected.map(|o| o.etag.clone()) {
                    return Err(format!(
                        "{bucket}/{key}: {found:?} where {expected:?} is expected"
                    ));
                }
            }
        }
        let audit = self.names.audit().await.unwrap();
        let named: BTreeSet<BlobId> = self
            .model
            .buckets
            .values()
            .flat_map(|b| b.values().flat_map(|o| o.blobs.clone()))
            .collect();
        let open = self.model.uploads.values().flat_map(|(_, _, parts)| parts.values().copied());
        let named: BTreeSet<BlobId> = named.into_iter().chain(open).collect();
        for (blob, places) in &audit {
            if places.len() != 1 {
                return Err(format!("{blob} is in {places:?}"));
            }
        }
        for blob in &named {
            if !matches!(audit.get(blob).map(Vec::as_slice), Some([Place::Object | Place::Part])) {
                return Err(format!("{blob} is named and in {:?}", audit.get(blob)));
            }
            if !self.blobs.has(*blob) {
                return Err(format!("{blob} is named and deleted"));
            }
        }
        for blob in self.blobs.all() {
            if !audit.contains_key(&blob) {
                return Err(format!("{blob} is stored and nobody knows it"));
            }
        }
        Ok(())
    }

    /// After a restart and a collection, nothing is stored but what is named.
    async fn check_nothing_is_left(&mut self) -> Result<(), String> {
        self.step(Step::Restart).await;
        self.collect(false).await;
        self.check().await?;
        let objects = self.model.buckets.values().flat_map(|b| b.values());
        let parts = self.model.uploads.values().map(|(_, _, parts)| parts.len());
        let named: usize = objects.map(|o| o.blobs.len()).chain(parts).sum();
        match self.blobs.all().len() {
            stored if stored == named => Ok(()),
            stored => Err(format!("{stored} blobs are stored, {named} are named")),
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: names_cases(), ..ProptestConfig::default() })]

    #[test]
    fn names_are_what_the_model_says(steps in prop::collection::vec(step(), 1..80)) {
        runtime().block_on(async {
            let mut run = Run::new().await;
            for bucket in 0..BUCKETS.len() {
                run.step(Step::CreateBucket(bucket)).await;
            }
            for step in steps {
                run.step(step).await;
            }
            run.check().await.unwrap();
            run.check_nothing_is_left().await.unwrap();
        });
    }
}

/// The controls: each breaks one rule, and the check says so.
#[test]
fn controls() {
    runtime().block_on(async {
        let mut run = Run::new().await;
        run.step(Step::CreateBucket(0)).await;
        run.put("one", "a", 0).await;
        run.check().await.unwrap();
        // A blob is written that was not reserved.
        let stray = BlobId::random(PartitionId(1));
        run.blobs.put(stray);
        assert!(run.check().await.unwrap_err().contains("nobody knows it"));
        run.blobs.remove(stray);
        // A blob is deleted while it is named.
        let named = run.model.buckets["one"]["a"].blobs[0];
        run.blobs.remove(named);
        assert!(run.check().await.unwrap_err().contains("named and deleted"));
        run.blobs.put(named);
        // Garbage is forgotten and not deleted.
        run.put("one", "a", 0).await;
        let garbage = run.names.garbage(0, u64::MAX, 10).await.unwrap();
        let numbers = garbage.into_iter().map(|(number, _)| number).collect();
        run.names.apply(Command::Collected { numbers }).await.unwrap();
        assert!(run.check().await.unwrap_err().contains("nobody knows it"));
    });
}

#[test]
fn a_blob_of_an_ended_session_cannot_be_named() {
    runtime().block_on(async {
        let mut run = Run::new().await;
        run.step(Step::CreateBucket(0)).await;
        let blob = run.write().await;
        run.step(Step::Restart).await;
        let entry = ObjectEntry { blob: blob_to_bytes(blob).to_vec(), ..Default::default() };
        let put = Command::PutObject {
            bucket: "one".into(),
            key: "k".into(),
            entry,
            condition: Condition::default(),
        };
        assert!(matches!(run.names.apply(put).await, Err(NamesError::NotReserved { .. })));
        run.check_nothing_is_left().await.unwrap();
    });
}
