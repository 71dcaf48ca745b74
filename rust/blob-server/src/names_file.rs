//! The file of the names, below a data directory: on the same file system as the partitions, which tests can break.

use std::io::{self, IoSlice};
use std::sync::Arc;

use afterbay_blob_meta::{Medium, NamesError, RedbNames, RedbOptions};
use afterbay_blob_store::{StoreFile, SyncPoint, Tree, make_folder, write_whole};
use redb::StorageBackend;
use redb::backends::InMemoryBackend;

const FOLDER: &str = "names";
const FILE: &str = "names.redb";
const PROBE: &str = "names.probe";
const PROBE_POINTS: [SyncPoint; 2] = [SyncPoint::ProbeData, SyncPoint::ProbeEntry];
/// What a probe writes: more than a commit needs, mostly.
const PROBE_BYTES: usize = 256 << 10;

/// Opens the names of the data directory `root`, and makes what is missing, unless it is read-only. Blocks.
pub fn open_names(
    root: Arc<dyn Tree>,
    read_only: bool,
    options: &RedbOptions,
) -> Result<RedbNames, NamesError> {
    let medium = InTree(root);
    if read_only {
        RedbNames::open_read_only(medium, options)
    } else {
        RedbNames::open_medium(medium, options)
    }
}

/// The names of a data directory.
#[derive(Debug)]
struct InTree(Arc<dyn Tree>);

impl InTree {
    fn open_file(&self) -> io::Result<Arc<dyn StoreFile>> {
        make_folder(&*self.0, FOLDER, SyncPoint::NamesFolderEntry)?;
        let folder = self.0.open_tree(FOLDER)?;
        let file = match folder.create(FILE) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => folder.open(FILE),
            other => other,
        }?;
        // Its name: one that a loss of power takes away would take all names with it.
        folder.sync(SyncPoint::NamesEntry)?;
        Ok(file)
    }

    fn in_place(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}/{FOLDER}: {error}", self.0.place()))
    }

    fn probe(&self) -> io::Result<()> {
        let folder = self.0.open_tree(FOLDER)?;
        let written = write_whole(&*folder, PROBE, &[0; PROBE_BYTES], PROBE_POINTS);
        let _ = folder.remove(PROBE);
        written
    }
}

impl Medium for InTree {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let file = self.open_file().map_err(|e| self.in_place(&e))?;
        Ok(Box::new(OnFile(file)))
    }

    fn open_to_read(&self) -> io::Result<Box<dyn StorageBackend>> {
        match self.0.open_tree(FOLDER).and_then(|folder| folder.open(FILE)) {
            Ok(file) => Ok(Box::new(OnFile(file))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Box::new(InMemoryBackend::new())),
            Err(error) => Err(self.in_place(&error)),
        }
    }

    fn takes_writes(&self) -> bool {
        self.probe().is_ok()
    }
}

/// A file, as redb wants it. It takes its room when it grows, so that a disk which is full is noticed then, and not at writes
/// into what seemed to be there.
#[derive(Debug)]
struct OnFile(Arc<dyn StoreFile>);

impl StorageBackend for OnFile {
    fn len(&self) -> io::Result<u64> {
        self.0.length()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let before = self.0.length()?;
        if length <= before {
            return self.0.truncate(length);
        }
        self.0.preallocate(length).or_else(|error| {
            // A part of it may be there.
            self.0.truncate(before)?;
            Err(error)
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data(SyncPoint::Names)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(&[IoSlice::new(data)], offset)
    }
}
