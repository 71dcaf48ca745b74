//! A partition whose files were changed by somebody else: what opens it reads all formats together.
//!
//! An input is a list of edits: which file, where, and what is turned in its byte.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::{Arc, OnceLock};

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{
    Clock, Directory, Durability, Error, Options, Partition, Put, SyncPoint, read_whole,
};
use uuid::Uuid;

const ID: PartitionId = PartitionId(3);
const BLOBS: u8 = 24;
/// Bytes of an edit.
const EDIT: usize = 4;

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> u64 {
        43_200_000
    }
}

fn options() -> Options {
    Options {
        capacity_bytes: 1 << 20,
        segment_bytes: 8 << 10,
        segment_records_max: 10,
        ..Options::default()
    }
}

fn id(blob: u8) -> BlobId {
    BlobId { partition: ID, uuid: Uuid::from_u128(u128::from(blob) << 64) }
}

fn body(blob: u8) -> Vec<u8> {
    vec![blob; usize::from(blob) * 40]
}

fn open(disk: &SimDisk) -> Result<Partition, Error> {
    Partition::open(disk.directory(), options(), Arc::new(Noon))
}

/// The files of a partition with sealed segments, deletes and a tail.
fn files() -> &'static BTreeMap<String, Vec<u8>> {
    static FILES: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| made().unwrap_or_default())
}

fn made() -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let disk = SimDisk::new(1);
    Partition::create(&*disk.directory(), ID, &options())?;
    let partition = open(&disk)?;
    for blob in 1..=BLOBS {
        partition.put(Put::new(id(blob), body(blob)), Durability::Durable)?;
        if blob.is_multiple_of(5) {
            partition.delete(id(blob), Durability::Durable)?;
        }
    }
    drop(partition);
    let directory = disk.directory();
    let content = |name: String| Some((name.clone(), read_whole(&*directory, &name).ok()?));
    Ok(disk.names().into_iter().filter_map(content).collect())
}

fn write(directory: &dyn Directory, name: &str, content: &[u8]) -> std::io::Result<()> {
    let file = directory.create(name)?;
    file.write_all_at(&[IoSlice::new(content)], 0)?;
    file.sync_data(SyncPoint::Commit)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for file in 0..files().len() as u8 {
        all.push([[file, 0, 9, 1], [file, 0, 80, 255], [file, 1, 100, 4]].concat());
    }
    all
}

/// It opens or says why not. A blob that it serves is the one that was put.
pub(crate) fn run(bytes: &[u8]) -> String {
    let mut files = files().clone();
    let names: Vec<String> = files.keys().cloned().collect();
    assert!(names.len() > 4, "there are sealed segments: {names:?}");
    let edits = bytes.chunks_exact(EDIT).take(40);
    for edit in edits {
        let Some(file) = files.get_mut(&names[usize::from(edit[0]) % names.len()]) else {
            continue;
        };
        let at = usize::from(u16::from_be_bytes([edit[1], edit[2]]));
        match file.get_mut(at) {
            Some(byte) => *byte ^= edit[3],
            // Behind its end: it is cut instead.
            None => file.truncate(usize::from(edit[3]) * 16),
        }
    }
    let disk = SimDisk::new(1);
    let directory = disk.directory();
    for (name, content) in &files {
        if let Err(error) = write(&*directory, name, content) {
            return error.to_string();
        }
    }
    let partition = match open(&disk) {
        Ok(partition) => partition,
        Err(error) => return error.to_string(),
    };
    let mut said = format!("{} damaged", partition.recovery().damaged.len());
    for blob in 1..=BLOBS {
        match partition.get(id(blob)).and_then(|reader| reader.read()) {
            Ok(read) => assert!(read == body(blob), "blob {blob} has other content"),
            Err(Error::Deleted(_)) => {}
            Err(error) => said = error.to_string(),
        }
    }
    let _ = partition.changes_since(0, usize::MAX);
    said
}
