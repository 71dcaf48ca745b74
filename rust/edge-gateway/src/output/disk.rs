//! What of a file is safe when power goes: where a sync is asked for, so that tests can leave one out.

use std::fs::File;
use std::io;
use std::path::Path;

/// Which sync it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPoint {
    /// Rows, before the record that counts them.
    Rows,
    /// A record, before anything is acknowledged.
    Record,
    /// Names of new files, before a record names them.
    Names,
    /// A record that replaces all others, before it gets their name.
    Whole,
}

impl SyncPoint {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rows, Self::Record, Self::Names, Self::Whole];
}

/// Syncs.
pub trait Disk: Send + std::fmt::Debug {
    /// Returns when all that was written into a file, or all names of a folder, are safe.
    ///
    /// # Errors
    /// The disk fails.
    fn sync(&mut self, point: SyncPoint, path: &Path, file: &File) -> io::Result<()>;
}

/// The operating system's.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn sync(&mut self, point: SyncPoint, _: &Path, file: &File) -> io::Result<()> {
        if point == SyncPoint::Names { file.sync_all() } else { file.sync_data() }
    }
}
