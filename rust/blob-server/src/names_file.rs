//! The file of the names, below a data directory: on the same file system as the partitions, which tests can break.

use std::io::{self, IoSlice};
use std::sync::Arc;

use afterbay_blob_meta::{NamesError, RedbNames, RedbOptions};
use afterbay_blob_store::{StoreFile, SyncPoint, Tree, make_folder};
use redb::StorageBackend;

const FOLDER: &str = "names";
const FILE: &str = "names.redb";

/// Opens the names of the data directory `root`, and makes what is missing. Blocks.
pub fn open_names(root: &dyn Tree, options: &RedbOptions) -> Result<RedbNames, NamesError> {
    let failed = |e: io::Error| NamesError::Storage(format!("{}/{FOLDER}: {e}", root.place()));
    let file = open_file(root).map_err(failed)?;
    RedbNames::open_on(OnFile(file), options)
}

fn open_file(root: &dyn Tree) -> io::Result<Arc<dyn StoreFile>> {
    make_folder(root, FOLDER)?;
    let folder = root.open_tree(FOLDER)?;
    let file = match folder.create(FILE) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => folder.open(FILE),
        other => other,
    }?;
    // Its name: one that a loss of power takes away would take all names with it.
    folder.sync(SyncPoint::FileEntry)?;
    Ok(file)
}

/// A file, as redb wants it.
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
        self.0.truncate(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data(SyncPoint::Names)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(&[IoSlice::new(data)], offset)
    }
}
