//! The manifest on the disk: replaced as a whole.

use std::io::{self, IoSlice};
use std::sync::Arc;

use afterbay_blob_format::Manifest;

use crate::directory::{Directory, StoreFile};
use crate::error::{Error, Result};
use crate::log_file::no_room_or;
use crate::sync_point::SyncPoint;

pub(crate) const NAME: &str = "MANIFEST";
const NEXT: &str = "MANIFEST.next";

pub(crate) fn is_next(name: &str) -> bool {
    name == NEXT
}

pub(crate) fn read(directory: &dyn Directory) -> Result<Manifest> {
    parse(directory, directory.open(NAME))
}

/// The same as it is on the disk itself.
pub(crate) fn read_medium(directory: &dyn Directory) -> Result<Manifest> {
    let file = directory.open_medium(NAME).and_then(|file| {
        file.drop_cached(0, file.length()?)?;
        Ok(file)
    });
    parse(directory, file)
}

fn parse(directory: &dyn Directory, opened: io::Result<Arc<dyn StoreFile>>) -> Result<Manifest> {
    let file = opened.map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::NotAPartition {
            place: directory.place(),
            reason: format!(
                "there is no {NAME}; create the partition, or restore it from another replica"
            ),
        },
        _ => Error::io(NAME, "open", e),
    })?;
    let length = file.length().map_err(|e| Error::io(NAME, "length", e))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, 0).map_err(|e| Error::read(NAME, 0, e))?;
    Manifest::parse(&bytes).map_err(|e| Error::NotAPartition {
        place: directory.place(),
        reason: format!("{e}; nothing was changed: restore it from another replica"),
    })
}

/// Puts a new manifest beside the one that holds, onto the disk. An error changes nothing.
pub(crate) fn stage(directory: &dyn Directory, manifest: &Manifest, data: SyncPoint) -> Result<()> {
    let written = write_next(directory, manifest, data);
    if written.is_err() {
        discard(directory);
    }
    written
}

fn write_next(directory: &dyn Directory, manifest: &Manifest, data: SyncPoint) -> Result<()> {
    discard(directory);
    let file = directory.create(NEXT).map_err(|e| no_room_or(NEXT, "create", e))?;
    file.write_all_at(&[IoSlice::new(&manifest.encode())], 0)
        .map_err(|e| no_room_or(NEXT, "write", e))?;
    file.sync_data(data).map_err(|e| Error::sync(NEXT, data, e))
}

fn discard(directory: &dyn Directory) {
    // There is none, nearly always; if it stays, creating the next one says why.
    let _ = directory.remove(NEXT);
}

/// Lets the staged manifest hold. After an error nobody knows which one does.
pub(crate) fn publish_staged(directory: &dyn Directory, entry: SyncPoint) -> Result<()> {
    directory.rename(NEXT, NAME).map_err(|e| Error::io(NAME, "rename", e))?;
    directory.sync(entry).map_err(|e| Error::sync(NAME, entry, e))
}
