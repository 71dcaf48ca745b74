//! Where every blob is that the names know: for checks of invariant 2, and for finding out what is wrong with a file.

use std::collections::BTreeMap;

use afterbay_blob_format::BlobId;
use redb::{Database, ReadableDatabase, ReadableTable};

use super::tables::{GARBAGE, INTENTS, OBJECTS, PARTS, decode};
use crate::error::{NamesError, Result};
use crate::model::{Garbage, ObjectEntry, Part, StoredGarbage, blob_from_bytes};

/// A place where a blob can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Reserved, and neither named nor given up.
    Intent,
    /// The body of an object.
    Object,
    /// A part, of an upload, an object, or of what is garbage as a whole.
    Part,
    /// To be deleted.
    Garbage,
}

/// All places of each blob: more than one is a defect.
pub(super) fn audit(database: &Database) -> Result<BTreeMap<BlobId, Vec<Place>>> {
    let snapshot = database.begin_read().map_err(NamesError::storage)?;
    let mut found: BTreeMap<BlobId, Vec<Place>> = BTreeMap::new();
    let mut add = |blob, place| found.entry(blob).or_default().push(place);
    for row in snapshot
        .open_table(INTENTS)
        .map_err(NamesError::storage)?
        .iter()
        .map_err(NamesError::storage)?
    {
        let (blob, _) = row.map_err(NamesError::storage)?;
        add(blob_from_bytes(blob.value())?, Place::Intent);
    }
    for row in snapshot
        .open_table(OBJECTS)
        .map_err(NamesError::storage)?
        .iter()
        .map_err(NamesError::storage)?
    {
        let (_, stored) = row.map_err(NamesError::storage)?;
        if let crate::Body::Blob(blob) = decode::<ObjectEntry>("object", stored.value())?.body()? {
            add(blob, Place::Object);
        }
    }
    for row in snapshot
        .open_table(PARTS)
        .map_err(NamesError::storage)?
        .iter()
        .map_err(NamesError::storage)?
    {
        let (_, stored) = row.map_err(NamesError::storage)?;
        add(decode::<Part>("part", stored.value())?.blob_id()?, Place::Part);
    }
    for row in snapshot
        .open_table(GARBAGE)
        .map_err(NamesError::storage)?
        .iter()
        .map_err(NamesError::storage)?
    {
        let (_, stored) = row.map_err(NamesError::storage)?;
        let stored: StoredGarbage = decode("garbage", stored.value())?;
        if let Garbage::Blob(blob) = stored.garbage()? {
            add(blob, Place::Garbage);
        }
    }
    Ok(found)
}
