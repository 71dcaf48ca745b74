//! Reads, each from a snapshot of its own.

use redb::{Database, Range, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata};

use super::tables::{BUCKETS, GARBAGE, INTENTS, KEYS, OBJECTS, PARTS, UPLOADS, decode};
use crate::error::{NamesError, Result};
use crate::listing::{ListRequest, Page, Row, Rows, Start, list};
use crate::model::{Garbage, ObjectEntry, Part, StoredGarbage, Upload};
use crate::names::Counts;

/// Opens a table for reading.
macro_rules! table {
    ($database:expr, $definition:expr) => {
        $database
            .begin_read()
            .map_err(NamesError::storage)?
            .open_table($definition)
            .map_err(NamesError::storage)?
    };
}

pub(super) fn object(database: &Database, bucket: u64, key: &str) -> Result<Option<ObjectEntry>> {
    let objects = table!(database, OBJECTS);
    let stored = objects.get((bucket, key.as_bytes())).map_err(NamesError::storage)?;
    stored.map(|s| decode("object", s.value())).transpose()
}

/// redb keeps the lengths of its tables.
pub(super) fn counts(database: &Database) -> Result<Counts> {
    let storage = |e: redb::StorageError| NamesError::storage(e);
    Ok(Counts {
        buckets: table!(database, BUCKETS).len().map_err(storage)?,
        objects: table!(database, OBJECTS).len().map_err(storage)?,
        uploads: table!(database, UPLOADS).len().map_err(storage)?,
        keys: table!(database, KEYS).len().map_err(storage)?,
        reserved: table!(database, INTENTS).len().map_err(storage)?,
        garbage: table!(database, GARBAGE).len().map_err(storage)?,
    })
}

pub(super) fn upload(
    database: &Database,
    bucket: u64,
    key: &str,
    upload: &str,
) -> Result<Option<Upload>> {
    let uploads = table!(database, UPLOADS);
    let stored = uploads.get((bucket, key.as_bytes(), upload)).map_err(NamesError::storage)?;
    stored.map(|s| decode("upload", s.value())).transpose()
}

pub(super) fn parts(
    database: &Database,
    upload: &str,
    after: u16,
    max: usize,
) -> Result<Vec<(u16, Part)>> {
    let Some(first) = after.checked_add(1) else {
        return Ok(Vec::new());
    };
    let parts = table!(database, PARTS);
    let rows = parts.range((upload, first)..=(upload, u16::MAX)).map_err(NamesError::storage)?;
    rows.take(max)
        .map(|row| {
            let (place, part) = row.map_err(NamesError::storage)?;
            Ok((place.value().1, decode("part", part.value())?))
        })
        .collect()
}

/// Rows of the queue that one request looks at. They are nearly in the order of their times; after a clock was set back, what was
/// queued before lies in front of what is due.
const GARBAGE_ROWS_MAX: usize = 1 << 16;

pub(super) fn garbage(
    database: &Database,
    from: u64,
    before_ms: u64,
    max: usize,
) -> Result<Vec<(u64, Garbage)>> {
    let queue = table!(database, GARBAGE);
    let mut found = Vec::new();
    for row in queue.range(from..).map_err(NamesError::storage)?.take(GARBAGE_ROWS_MAX) {
        if found.len() >= max {
            break;
        }
        let (number, stored) = row.map_err(NamesError::storage)?;
        let stored: StoredGarbage = decode("garbage", stored.value())?;
        if stored.queued_ms < before_ms {
            found.push((number.value(), stored.garbage()?));
        }
    }
    Ok(found)
}

pub(super) fn list_objects(
    database: &Database,
    bucket: u64,
    request: &ListRequest,
) -> Result<Page<ObjectEntry>> {
    let table = table!(database, OBJECTS);
    list(&mut Objects { table, bucket, range: None }, request)
}

pub(super) fn list_uploads(
    database: &Database,
    bucket: u64,
    request: &ListRequest,
) -> Result<Page<Upload>> {
    let table = table!(database, UPLOADS);
    list(&mut Uploads { table, bucket, range: None }, request)
}

type ObjectKey = (u64, &'static [u8]);
type UploadKey = (u64, &'static [u8], &'static str);

struct Objects {
    table: ReadOnlyTable<ObjectKey, &'static [u8]>,
    bucket: u64,
    range: Option<Range<'static, ObjectKey, &'static [u8]>>,
}

impl Rows for Objects {
    type Value = ObjectEntry;

    fn seek(&mut self, start: &Start) -> Result<()> {
        let key = match start {
            Start::At(key) => key.clone(),
            Start::Behind(key, _) => [key.as_bytes(), &[0]].concat(),
        };
        let range = (self.bucket, &*key)..(self.bucket + 1, &[][..]);
        self.range = Some(self.table.range(range).map_err(NamesError::storage)?);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Row<ObjectEntry>>> {
        let Some(row) = self.range.as_mut().and_then(Iterator::next) else {
            return Ok(None);
        };
        let (place, stored) = row.map_err(NamesError::storage)?;
        let key = text(place.value().1)?;
        let value = decode("object", stored.value())?;
        Ok(Some(Row { key, upload: String::new(), value }))
    }
}

struct Uploads {
    table: ReadOnlyTable<UploadKey, &'static [u8]>,
    bucket: u64,
    range: Option<Range<'static, UploadKey, &'static [u8]>>,
}

impl Rows for Uploads {
    type Value = Upload;

    fn seek(&mut self, start: &Start) -> Result<()> {
        let behind;
        let from = match start {
            Start::At(key) => (self.bucket, &**key, ""),
            Start::Behind(key, upload) => {
                // The least upload id behind it.
                behind = format!("{upload}\0");
                (self.bucket, key.as_bytes(), &*behind)
            }
        };
        let range = from..(self.bucket + 1, &[][..], "");
        self.range = Some(self.table.range(range).map_err(NamesError::storage)?);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Row<Upload>>> {
        let Some(row) = self.range.as_mut().and_then(Iterator::next) else {
            return Ok(None);
        };
        let (place, stored) = row.map_err(NamesError::storage)?;
        let (_, key, upload) = place.value();
        let value = decode("upload", stored.value())?;
        Ok(Some(Row { key: text(key)?, upload: upload.to_owned(), value }))
    }
}

fn text(key: &[u8]) -> Result<String> {
    let damaged = |e: std::str::Utf8Error| NamesError::Damaged {
        what: "key",
        reason: format!("no UTF-8 from byte {}", e.valid_up_to()),
    };
    Ok(std::str::from_utf8(key).map_err(damaged)?.to_owned())
}
