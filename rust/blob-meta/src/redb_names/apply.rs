//! What each command does in the transaction.
//!
//! Every function checks first and changes then: what it refuses, it has not changed anything for, except that a blob
//! which was to be named becomes garbage. Storage errors abort the whole transaction.

use afterbay_blob_format::BlobId;
use prost::Message;
use redb::ReadableTable;

use super::tables::{Tables, decode};
use crate::MAX_KEY_BYTES;
use crate::command::{BucketChange, Command, Outcome};
use crate::condition::Condition;
use crate::error::{NamesError, Result};
use crate::model::{
    Bucket, Garbage, ObjectEntry, Part, StoredGarbage, Upload, blob_from_bytes, blob_to_bytes,
};

/// What the copies in memory have to read again after the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Touched {
    Nothing,
    Bucket(String),
    Key(String),
}

pub(super) fn touched(command: &Command) -> Touched {
    match command {
        Command::CreateBucket { name, .. }
        | Command::SetBucket { name, .. }
        | Command::DeleteBucket { name, .. } => Touched::Bucket(name.clone()),
        Command::PutKey(key) => Touched::Key(key.id.clone()),
        Command::DeleteKey { id } => Touched::Key(id.clone()),
        _ => Touched::Nothing,
    }
}

pub(super) fn apply(tables: &mut Tables<'_>, command: Command) -> Result<Outcome> {
    match command {
        Command::CreateBucket { name, bucket } => tables.create_bucket(&name, bucket),
        Command::SetBucket { name, change } => tables.set_bucket(&name, change),
        Command::DeleteBucket { name, now_ms } => tables.delete_bucket(&name, now_ms),
        Command::PutObject { bucket, key, entry, condition } => {
            let (blob, now_ms) = (entry.blob.clone(), entry.modified_ms);
            let put = tables.put_object(&bucket, &key, &entry, &condition);
            tables.or_discard(put, &blob, now_ms)
        }
        Command::SetAttributes { bucket, key, seen, attributes, modified_ms } => {
            let id = tables.bucket_id(&bucket)?;
            if tables.object(id, &key)?.as_ref() != Some(&seen) {
                return Err(NamesError::Changed { what: key });
            }
            let entry = ObjectEntry { attributes: Some(attributes), modified_ms, ..seen };
            tables.set_object(id, &key, &entry)?;
            Ok(Outcome::Done)
        }
        Command::DeleteObjects { bucket, keys, now_ms } => {
            tables.delete_objects(&bucket, &keys, now_ms)
        }
        Command::CreateUpload { bucket, key, upload, entry } => {
            tables.create_upload(&bucket, &key, &upload, &entry)
        }
        Command::PutPart { bucket, key, upload, number, part } => {
            let put = tables.put_part(&bucket, &key, &upload, number, &part);
            tables.or_discard(put, &part.blob, part.modified_ms)
        }
        Command::CompleteUpload { bucket, key, upload, seen, entry, condition } => {
            let name = UploadName { bucket: &bucket, key: &key, upload: &upload };
            tables.complete_upload(&name, &seen, entry, &condition)
        }
        Command::AbortUpload { bucket, key, upload, now_ms } => {
            tables.take_upload(&UploadName { bucket: &bucket, key: &key, upload: &upload })?;
            tables.discard(&Garbage::Parts(upload), now_ms)?;
            Ok(Outcome::Done)
        }
        Command::PutKey(key) => {
            let stored = key.encode_to_vec();
            tables.keys.insert(&*key.id, &*stored).map_err(NamesError::storage)?;
            Ok(Outcome::Done)
        }
        Command::DeleteKey { id } => {
            tables.keys.remove(&*id).map_err(NamesError::storage)?;
            Ok(Outcome::Done)
        }
        Command::BeginSession { frontend } => tables.begin_session(&frontend),
        Command::Reserve { frontend, session, blobs } => tables.reserve(&frontend, session, &blobs),
        Command::Adopt { blobs } => {
            for blob in blobs {
                tables.take_intent(&blob_to_bytes(blob))?;
            }
            Ok(Outcome::Done)
        }
        Command::Discard { blobs, now_ms } => {
            for blob in blobs {
                if tables.take_intent(&blob_to_bytes(blob))? {
                    tables.discard(&Garbage::Blob(blob), now_ms)?;
                }
            }
            Ok(Outcome::Done)
        }
        Command::Collected { numbers } => {
            for number in numbers {
                tables.garbage.remove(number).map_err(NamesError::storage)?;
            }
            Ok(Outcome::Done)
        }
        Command::Expand { number, max } => tables.expand(number, max),
    }
}

struct UploadName<'a> {
    bucket: &'a str,
    key: &'a str,
    upload: &'a str,
}

impl Tables<'_> {
    fn create_bucket(&mut self, name: &str, bucket: Bucket) -> Result<Outcome> {
        if let Some(there) = self.bucket(name)? {
            return Err(NamesError::BucketExists { bucket: name.to_owned(), owner: there.owner });
        }
        let bucket = Bucket { id: self.count("bucket")?, ..bucket };
        self.store_bucket(name, &bucket)
    }

    fn set_bucket(&mut self, name: &str, change: BucketChange) -> Result<Outcome> {
        let mut bucket = self.bucket(name)?.ok_or_else(|| no_bucket(name))?;
        match change {
            BucketChange::Durability(class) => bucket.durability = class,
            BucketChange::Document { name, value: Some(value) } => {
                bucket.documents.insert(name, value);
            }
            BucketChange::Document { name, value: None } => {
                bucket.documents.remove(&name);
            }
        }
        self.store_bucket(name, &bucket)
    }

    fn delete_bucket(&mut self, name: &str, now_ms: u64) -> Result<Outcome> {
        let id = self.bucket_id(name)?;
        let behind = (id + 1, &[][..]);
        let mut objects = self.objects.range((id, &[][..])..behind).map_err(NamesError::storage)?;
        if objects.next().is_some() {
            return Err(NamesError::BucketNotEmpty { bucket: name.to_owned() });
        }
        drop(objects);
        self.buckets.remove(name).map_err(NamesError::storage)?;
        if self.first_upload(id)?.is_some() {
            self.discard(&Garbage::Uploads { bucket: id }, now_ms)?;
        }
        Ok(Outcome::Done)
    }

    fn put_object(
        &mut self,
        bucket: &str,
        key: &str,
        entry: &ObjectEntry,
        condition: &Condition,
    ) -> Result<Outcome> {
        check_key(key)?;
        let id = self.bucket_id(bucket)?;
        let before = self.object(id, key)?;
        condition.check(key, before.as_ref())?;
        if !entry.upload.is_empty() {
            let reason = "an object of parts is made by completing its upload".to_owned();
            return Err(NamesError::Invalid { what: "object", reason });
        }
        self.name_blob(&entry.blob)?;
        self.set_object(id, key, entry)?;
        self.discard_body(before.as_ref(), entry.modified_ms)?;
        Ok(Outcome::Done)
    }

    fn delete_objects(
        &mut self,
        bucket: &str,
        keys: &[(String, Condition)],
        now_ms: u64,
    ) -> Result<Outcome> {
        let id = self.bucket_id(bucket)?;
        let mut each = Vec::with_capacity(keys.len());
        for (key, condition) in keys {
            let Some(before) = self.object(id, key)? else {
                each.push(Ok(None));
                continue;
            };
            if let Err(refused) = condition.check(key, Some(&before)) {
                each.push(Err(refused));
                continue;
            }
            self.objects.remove((id, key.as_bytes())).map_err(NamesError::storage)?;
            self.discard_body(Some(&before), now_ms)?;
            each.push(Ok(Some(before.body()?)));
        }
        Ok(Outcome::Each(each))
    }

    fn create_upload(
        &mut self,
        bucket: &str,
        key: &str,
        upload: &str,
        entry: &Upload,
    ) -> Result<Outcome> {
        check_key(key)?;
        let id = self.bucket_id(bucket)?;
        let stored = entry.encode_to_vec();
        let place = (id, key.as_bytes(), upload);
        self.uploads.insert(place, &*stored).map_err(NamesError::storage)?;
        Ok(Outcome::Done)
    }

    fn put_part(
        &mut self,
        bucket: &str,
        key: &str,
        upload: &str,
        number: u16,
        part: &Part,
    ) -> Result<Outcome> {
        if !(1..=10_000).contains(&number) {
            let reason = format!("{number} is not between 1 and 10000");
            return Err(NamesError::Invalid { what: "part number", reason });
        }
        self.require_upload(&UploadName { bucket, key, upload })?;
        self.name_blob(&part.blob)?;
        let stored = part.encode_to_vec();
        let before = self.parts.insert((upload, number), &*stored).map_err(NamesError::storage)?;
        let before: Option<Part> = before.map(|p| decode("part", p.value())).transpose()?;
        if let Some(before) = before {
            self.discard(&Garbage::Blob(before.blob_id()?), part.modified_ms)?;
        }
        Ok(Outcome::Done)
    }

    fn complete_upload(
        &mut self,
        name: &UploadName<'_>,
        seen: &[(u16, BlobId)],
        entry: ObjectEntry,
        condition: &Condition,
    ) -> Result<Outcome> {
        let id = self.require_upload(name)?;
        let before = self.object(id, name.key)?;
        condition.check(name.key, before.as_ref())?;
        let unused = self.check_parts(name.upload, seen)?;
        for (number, blob) in unused {
            self.parts.remove((name.upload, number)).map_err(NamesError::storage)?;
            self.discard(&Garbage::Blob(blob), entry.modified_ms)?;
        }
        let count = u32::try_from(seen.len()).unwrap_or(u32::MAX);
        let upload = name.upload.to_owned();
        let entry = ObjectEntry { upload, part_count: count, blob: Vec::new(), ..entry };
        self.take_upload(name)?;
        self.set_object(id, name.key, &entry)?;
        self.discard_body(before.as_ref(), entry.modified_ms)?;
        Ok(Outcome::Done)
    }

    /// The parts that are there and are not in `seen`, which must be those of the upload.
    fn check_parts(&self, upload: &str, seen: &[(u16, BlobId)]) -> Result<Vec<(u16, BlobId)>> {
        let changed = || NamesError::Changed { what: format!("parts of upload {upload}") };
        if seen.is_empty() {
            return Err(changed());
        }
        let mut unused = Vec::new();
        let mut wanted = seen.iter().peekable();
        let parts =
            self.parts.range((upload, 0)..=(upload, u16::MAX)).map_err(NamesError::storage)?;
        for row in parts {
            let (place, part) = row.map_err(NamesError::storage)?;
            let number = place.value().1;
            let blob = decode::<Part>("part", part.value())?.blob_id()?;
            match wanted.next_if(|(n, _)| *n == number) {
                Some((_, wanted)) if *wanted == blob => {}
                Some(_) => return Err(changed()),
                None => unused.push((number, blob)),
            }
        }
        if wanted.next().is_some() { Err(changed()) } else { Ok(unused) }
    }

    fn begin_session(&mut self, frontend: &str) -> Result<Outcome> {
        let mut orphans = Vec::new();
        for row in self.intents.iter().map_err(NamesError::storage)? {
            let (blob, session) = row.map_err(NamesError::storage)?;
            if session.value().0 == frontend {
                orphans.push(blob_from_bytes(blob.value())?);
            }
        }
        if !orphans.is_empty() {
            tracing::info!(frontend, orphans = orphans.len(), "reserved and not named: garbage");
        }
        for blob in orphans {
            self.take_intent(&blob_to_bytes(blob))?;
            // Queued long ago: it never had a name, so nobody reads it and it needs no time of grace.
            self.discard(&Garbage::Blob(blob), 0)?;
        }
        let session = self.count("session")?;
        self.sessions.insert(frontend, session).map_err(NamesError::storage)?;
        Ok(Outcome::Session(session))
    }

    fn reserve(&mut self, frontend: &str, session: u64, blobs: &[BlobId]) -> Result<Outcome> {
        let current = self.sessions.get(frontend).map_err(NamesError::storage)?;
        let current = current.map(|s| s.value());
        if current != Some(session) {
            let reason = format!("{session} of '{frontend}' has ended");
            return Err(NamesError::Invalid { what: "session", reason });
        }
        for blob in blobs {
            let value = (frontend, session);
            self.intents.insert(&blob_to_bytes(*blob), value).map_err(NamesError::storage)?;
        }
        Ok(Outcome::Done)
    }

    /// Replaces a piece of garbage by what it consists of.
    fn expand(&mut self, number: u64, max: usize) -> Result<Outcome> {
        let Some(stored) = self.stored_garbage(number)? else {
            return Ok(Outcome::Done);
        };
        let done = match stored.garbage()? {
            Garbage::Blob(_) => return Ok(Outcome::Done),
            Garbage::Parts(upload) => self.expand_parts(&upload, max, stored.queued_ms)?,
            Garbage::Uploads { bucket } => self.expand_uploads(bucket, max, stored.queued_ms)?,
        };
        if done {
            self.garbage.remove(number).map_err(NamesError::storage)?;
        }
        Ok(Outcome::Done)
    }

    fn expand_parts(&mut self, upload: &str, max: usize, queued_ms: u64) -> Result<bool> {
        let mut found = Vec::new();
        let parts =
            self.parts.range((upload, 0)..=(upload, u16::MAX)).map_err(NamesError::storage)?;
        for row in parts.take(max) {
            let (place, part) = row.map_err(NamesError::storage)?;
            found.push((place.value().1, decode::<Part>("part", part.value())?.blob_id()?));
        }
        for (number, blob) in &found {
            self.parts.remove((upload, *number)).map_err(NamesError::storage)?;
            self.discard(&Garbage::Blob(*blob), queued_ms)?;
        }
        Ok(found.len() < max)
    }

    fn expand_uploads(&mut self, bucket: u64, max: usize, queued_ms: u64) -> Result<bool> {
        for _ in 0..max {
            let Some((key, upload)) = self.first_upload(bucket)? else {
                return Ok(true);
            };
            self.uploads.remove((bucket, &*key, &*upload)).map_err(NamesError::storage)?;
            self.discard(&Garbage::Parts(upload), queued_ms)?;
        }
        Ok(false)
    }

    fn first_upload(&self, bucket: u64) -> Result<Option<(Vec<u8>, String)>> {
        let range = (bucket, &[][..], "")..(bucket + 1, &[][..], "");
        let first = self.uploads.range(range).map_err(NamesError::storage)?.next();
        let first = first.transpose().map_err(NamesError::storage)?;
        Ok(first.map(|(place, _)| {
            let (_, key, upload) = place.value();
            (key.to_vec(), upload.to_owned())
        }))
    }

    /// The error as it is, after the blob has become garbage, if the request itself was at fault.
    fn or_discard(&mut self, done: Result<Outcome>, blob: &[u8], now_ms: u64) -> Result<Outcome> {
        if let Err(error) = &done
            && error.is_of_the_request()
            && let Ok(bytes) = <&[u8; 24]>::try_from(blob)
            && self.take_intent(bytes)?
        {
            self.discard(&Garbage::Blob(blob_from_bytes(blob)?), now_ms)?;
        }
        done
    }

    /// From reserved to named.
    fn name_blob(&mut self, blob: &[u8]) -> Result<()> {
        let id = blob_from_bytes(blob)?;
        if self.take_intent(&blob_to_bytes(id))? {
            Ok(())
        } else {
            Err(NamesError::NotReserved { blob: id.to_string() })
        }
    }

    fn take_intent(&mut self, blob: &[u8; 24]) -> Result<bool> {
        Ok(self.intents.remove(blob).map_err(NamesError::storage)?.is_some())
    }

    fn discard_body(&mut self, entry: Option<&ObjectEntry>, now_ms: u64) -> Result<()> {
        let Some(entry) = entry else { return Ok(()) };
        let garbage = match entry.body()? {
            crate::Body::Blob(id) => Garbage::Blob(id),
            crate::Body::Parts(upload) => Garbage::Parts(upload),
        };
        self.discard(&garbage, now_ms)
    }

    fn discard(&mut self, garbage: &Garbage, now_ms: u64) -> Result<()> {
        let number = self.count("garbage")?;
        let stored = StoredGarbage::new(garbage, now_ms).encode_to_vec();
        self.garbage.insert(number, &*stored).map_err(NamesError::storage)?;
        Ok(())
    }

    fn stored_garbage(&self, number: u64) -> Result<Option<StoredGarbage>> {
        let stored = self.garbage.get(number).map_err(NamesError::storage)?;
        stored.map(|s| decode("garbage", s.value())).transpose()
    }

    fn bucket(&self, name: &str) -> Result<Option<Bucket>> {
        let stored = self.buckets.get(name).map_err(NamesError::storage)?;
        stored.map(|s| decode("bucket", s.value())).transpose()
    }

    fn bucket_id(&self, name: &str) -> Result<u64> {
        Ok(self.bucket(name)?.ok_or_else(|| no_bucket(name))?.id)
    }

    fn store_bucket(&mut self, name: &str, bucket: &Bucket) -> Result<Outcome> {
        let stored = bucket.encode_to_vec();
        self.buckets.insert(name, &*stored).map_err(NamesError::storage)?;
        Ok(Outcome::Done)
    }

    fn object(&self, bucket: u64, key: &str) -> Result<Option<ObjectEntry>> {
        let stored = self.objects.get((bucket, key.as_bytes())).map_err(NamesError::storage)?;
        stored.map(|s| decode("object", s.value())).transpose()
    }

    fn set_object(&mut self, bucket: u64, key: &str, entry: &ObjectEntry) -> Result<()> {
        let stored = entry.encode_to_vec();
        let place = (bucket, key.as_bytes());
        self.objects.insert(place, &*stored).map_err(NamesError::storage)?;
        Ok(())
    }

    /// The id of the upload's bucket.
    fn require_upload(&self, name: &UploadName<'_>) -> Result<u64> {
        let id = self.bucket_id(name.bucket)?;
        let place = (id, name.key.as_bytes(), name.upload);
        if self.uploads.get(place).map_err(NamesError::storage)?.is_none() {
            return Err(NamesError::NoSuchUpload { upload: name.upload.to_owned() });
        }
        Ok(id)
    }

    fn take_upload(&mut self, name: &UploadName<'_>) -> Result<()> {
        let id = self.require_upload(name)?;
        let place = (id, name.key.as_bytes(), name.upload);
        self.uploads.remove(place).map_err(NamesError::storage)?;
        Ok(())
    }
}

fn no_bucket(name: &str) -> NamesError {
    NamesError::NoSuchBucket { bucket: name.to_owned() }
}

fn check_key(key: &str) -> Result<()> {
    if (1..=MAX_KEY_BYTES).contains(&key.len()) {
        return Ok(());
    }
    let reason = format!("{} bytes is not between 1 and {MAX_KEY_BYTES}", key.len());
    Err(NamesError::Invalid { what: "key", reason })
}
