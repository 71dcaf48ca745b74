//! The mark beside the log: how far the active segment is on the disk.
//!
//! Each record says what was synced before it; of the last group nothing says so until the next one is written. Damage in
//! there would look like the torn end of the log, and be cut. So the mark is written when a partition is closed, and when it
//! has been at rest for a moment. It is a lower bound: an old one, one of another segment, or none, does no harm, and one that
//! cannot be written is replaced. Recovery writes it where it keeps more of the log than records prove.

use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;

use afterbay_blob_format::{MARK_BYTES, SegmentHeader, SyncedMark};

use crate::directory::{Directory, StoreFile};
use crate::error::{Error, Result};
use crate::sync_point::SyncPoint;

const NAME: &str = "SYNCED";
const NEXT: &str = "SYNCED.next";

/// Writes the mark in its place. What it says must be so already.
pub(crate) fn write(directory: &dyn Directory, mark: &SyncedMark) -> Result<()> {
    let bytes = mark.encode();
    let write = |file: &Arc<dyn StoreFile>| file.write_all_at(&[IoSlice::new(&bytes)], 0);
    let written = match directory.open(NAME) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            directory.create(NAME).and_then(|file| write(&file))
        }
        file => file.and_then(|file| write(&file)),
    };
    let written = written.or_else(|_| {
        // Its sector is bad. There must be one of the two at any time: without any, recovery would cut.
        let _ = directory.remove(NEXT);
        let next = directory.create(NEXT)?;
        write(&next)?;
        sync_data(&next)?;
        directory.rename(NEXT, NAME)
    });
    written.map_err(|e| Error::io(NAME, "write", e))
}

/// Returns when the mark is on the disk.
pub(crate) fn sync(directory: &dyn Directory) -> Result<()> {
    let entry = SyncPoint::MarkEntry;
    let synced = directory.open(NAME).and_then(|file| sync_data(&file));
    synced.map_err(|e| Error::io(NAME, "sync", e))?;
    directory.sync(entry).map_err(|e| Error::sync(&directory.place(), entry, e))
}

fn sync_data(file: &Arc<dyn StoreFile>) -> io::Result<()> {
    file.sync_data(SyncPoint::MarkData)
}

/// The mark of this very segment, if there is one. An error says that there may be one.
pub(crate) fn read(directory: &dyn Directory, of: &SegmentHeader) -> Result<Option<SyncedMark>> {
    let mut bytes = [0; MARK_BYTES];
    let read = directory.open(NAME).and_then(|file| file.read_exact_at(&mut bytes, 0));
    match read.map_err(|e| Error::read(NAME, 0, e)) {
        Ok(()) => {}
        Err(error @ Error::Unreadable { .. }) => return Err(error),
        Err(_) => return Ok(None),
    }
    let same = |mark: &SyncedMark| {
        (mark.partition, mark.log, mark.segment) == (of.partition, of.log, of.segment)
    };
    Ok(SyncedMark::parse(&bytes).ok().filter(same))
}
