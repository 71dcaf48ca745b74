//! What the names are stored on, and how they are read when it takes no writes.
//!
//! redb refuses everything after one failed write, reads included, until the file is opened again; and opening may have to
//! repair, which writes. So there are two ways to open: for good, and as an [`Overlay`], whose writes stay in memory. A commit
//! whose sync failed is in the operating system's cache, and a loss of power may take it back: what is read as an overlay has
//! the [`SyncedHead`], and so the last commit that is on the disk.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Bound;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use redb::backends::{FileBackend, InMemoryBackend};
use redb::{BackendError, StorageBackend};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::{Errno, retry_on_intr};

/// Something that names are stored on.
pub trait Medium: Send + Sync + Debug + 'static {
    /// Opens it for reading and writing; makes it if there is none.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Opens it for reading. What is not there yet is empty.
    fn open_to_read(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Whether something can be written and synced at the moment.
    fn takes_writes(&self) -> bool;
}

/// A file that only its owner can read: it holds secrets.
#[derive(Debug)]
pub struct FileMedium(pub PathBuf);

/// What a probe writes: more than a commit needs, mostly.
const PROBE_BYTES: usize = 256 << 10;

impl Medium for FileMedium {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let file = create_private(&self.0, |parent| File::open(parent)?.sync_all())?;
        let room = file.try_clone()?;
        let backend = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(NamesFile { backend, file: room }))
    }

    fn open_to_read(&self) -> io::Result<Box<dyn StorageBackend>> {
        match File::open(&self.0) {
            Ok(file) => Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Box::new(InMemoryBackend::new())),
            Err(error) => Err(error),
        }
    }

    fn takes_writes(&self) -> bool {
        let probe = self.0.with_extension("probe");
        let written = File::create(&probe)
            .and_then(|mut file| file.write_all(&[0; PROBE_BYTES]).and_then(|()| file.sync_all()));
        let _ = std::fs::remove_file(&probe);
        written.is_ok()
    }
}

/// The file exists with its mode before anything is in it.
pub(super) fn create_private(
    path: &Path,
    sync: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<File> {
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    // A name that a loss of power takes away would take all names with it.
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        sync(parent)?;
    }
    Ok(file)
}

/// A file that takes its room when it grows, so that a disk which is full is noticed then, and not at writes into what seemed
/// to be there.
#[derive(Debug)]
struct NamesFile {
    backend: FileBackend,
    /// The same file.
    file: File,
}

impl StorageBackend for NamesFile {
    fn len(&self) -> io::Result<u64> {
        self.backend.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.backend.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let before = self.len()?;
        if len <= before {
            return self.backend.set_len(len);
        }
        let grow = || fallocate(&self.file, FallocateFlags::empty(), before, len - before);
        match retry_on_intr(grow) {
            Ok(()) => Ok(()),
            // Not on this file system.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.backend.set_len(len),
            Err(error) => {
                // A part of it may be there.
                self.backend.set_len(before)?;
                Err(error.into())
            }
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.backend.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.backend.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.unlock_range(start, end)
    }
}

const PAGE_BYTES: usize = 4096;

type Page = [u8; PAGE_BYTES];

/// The first page of the file as it was synced last. In it redb says which commit counts; the pages of a commit are written
/// elsewhere, and none of the last synced one is reused before the next one is synced.
#[derive(Debug)]
pub(super) struct SyncedHead(Mutex<Heads>);

#[derive(Debug)]
struct Heads {
    /// `None`: nothing was synced yet.
    synced: Option<Box<Page>>,
    written: Box<Page>,
}

impl SyncedHead {
    pub(super) fn new() -> Self {
        SyncedHead(Mutex::new(Heads { synced: None, written: Box::new([0; PAGE_BYTES]) }))
    }

    fn lock(&self) -> MutexGuard<'_, Heads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a commit back whose sync failed: what comes next is the last synced one, once this is synced. A file that somebody
    /// has put there meanwhile stays as it is.
    pub(super) fn put_back(&self, file: &dyn StorageBackend) -> io::Result<()> {
        let heads = self.lock();
        let Some(synced) = &heads.synced else { return Ok(()) };
        if file.len()? < PAGE_BYTES as u64 {
            return Ok(());
        }
        let mut found = [0; PAGE_BYTES];
        file.read(0, &mut found)?;
        // A write that failed may have done a part.
        let ours = synced.iter().zip(&heads.written[..]);
        let is_ours = found.iter().zip(ours).all(|(found, (a, b))| found == a || found == b);
        if is_ours && found != **synced { file.write(0, &synced[..]) } else { Ok(()) }
    }
}

/// A file for redb to write: keeps the [`SyncedHead`].
#[derive(Debug)]
pub(super) struct Opened {
    file: Arc<dyn StorageBackend>,
    head: Arc<SyncedHead>,
}

impl Opened {
    /// All that is in the file must be synced.
    pub(super) fn new(file: Arc<dyn StorageBackend>, head: Arc<SyncedHead>) -> io::Result<Self> {
        let mut found = Box::new([0; PAGE_BYTES]);
        let there = usize::try_from(file.len()?).unwrap_or(usize::MAX).min(PAGE_BYTES);
        file.read(0, &mut found[..there])?;
        // A file that is made now has none yet.
        let synced = (there > 0).then(|| found.clone());
        *head.lock() = Heads { synced, written: found };
        Ok(Opened { file, head })
    }
}

impl StorageBackend for Opened {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        let written = self.head.lock().written.clone();
        self.file.sync_data()?;
        self.head.lock().synced = Some(written);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Some((0, begin, count)) = pages(offset, data.len()).next() {
            self.head.lock().written[begin..begin + count].copy_from_slice(&data[..count]);
        }
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }
}

/// What is read from below; writes stay in memory and are gone with this.
#[derive(Debug)]
pub(super) struct Overlay {
    below: Arc<dyn StorageBackend>,
    layer: RwLock<Layer>,
}

#[derive(Debug)]
struct Layer {
    len: u64,
    /// Bytes that are still those from below.
    below_len: u64,
    /// By number. Few: a repair, and what is written when the file is opened and closed.
    pages: BTreeMap<u64, Box<Page>>,
}

impl Overlay {
    pub(super) fn new(below: Arc<dyn StorageBackend>) -> io::Result<Self> {
        let len = below.len()?;
        let layer = Layer { len, below_len: len, pages: BTreeMap::new() };
        Ok(Overlay { below, layer: RwLock::new(layer) })
    }

    /// The same with the last commit that was synced.
    pub(super) fn synced(below: Arc<dyn StorageBackend>, head: &SyncedHead) -> io::Result<Self> {
        let overlay = Self::new(below)?;
        head.put_back(&overlay)?;
        Ok(overlay)
    }

    /// Bytes as they are from below, zeros behind its end.
    fn read_below(&self, layer: &Layer, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = layer.below_len.saturating_sub(offset);
        let there = usize::try_from(there).unwrap_or(usize::MAX).min(out.len());
        let (from_below, behind) = out.split_at_mut(there);
        behind.fill(0);
        if from_below.is_empty() { Ok(()) } else { self.below.read(offset, from_below) }
    }
}

/// The pages that a range touches: number of the page, first byte in it, bytes.
fn pages(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + bytes as u64;
    let page = PAGE_BYTES as u64;
    (offset / page..end.div_ceil(page)).map(move |number| {
        let begin = offset.max(number * page);
        let count = end.min((number + 1) * page) - begin;
        // Both are at most a page.
        (number, (begin - number * page) as usize, count as usize)
    })
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.layer.read().unwrap_or_else(PoisonError::into_inner).len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let layer = self.layer.read().unwrap_or_else(PoisonError::into_inner);
        if offset + out.len() as u64 > layer.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut rest = &mut out[..];
        for (number, begin, count) in pages(offset, rest.len()) {
            let (part, behind) = rest.split_at_mut(count);
            match layer.pages.get(&number) {
                Some(page) => part.copy_from_slice(&page[begin..begin + count]),
                None => {
                    self.read_below(&layer, number * PAGE_BYTES as u64 + begin as u64, part)?;
                }
            }
            rest = behind;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut layer = self.layer.write().unwrap_or_else(PoisonError::into_inner);
        if len < layer.len {
            let page = len / PAGE_BYTES as u64;
            layer.pages.split_off(&len.div_ceil(PAGE_BYTES as u64));
            if let Some(last) = layer.pages.get_mut(&page) {
                // Less than a page.
                last[(len % PAGE_BYTES as u64) as usize..].fill(0);
            }
            layer.below_len = layer.below_len.min(len);
        }
        layer.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut layer = self.layer.write().unwrap_or_else(PoisonError::into_inner);
        if offset + data.len() as u64 > layer.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut rest = data;
        for (number, begin, count) in pages(offset, data.len()) {
            let (part, behind) = rest.split_at(count);
            if !layer.pages.contains_key(&number) {
                let mut page = Box::new([0; PAGE_BYTES]);
                self.read_below(&layer, number * PAGE_BYTES as u64, &mut page[..])?;
                layer.pages.insert(number, page);
            }
            if let Some(page) = layer.pages.get_mut(&number) {
                page[begin..begin + count].copy_from_slice(part);
            }
            rest = behind;
        }
        Ok(())
    }

    /// What is below may be open for somebody else, too.
    fn close(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_head_is_put_back_into_the_file_that_it_is_from() {
        let file: Arc<dyn StorageBackend> = Arc::new(InMemoryBackend::new());
        file.set_len(2 * PAGE_BYTES as u64).unwrap();
        let head = Arc::new(SyncedHead::new());
        let opened = Opened::new(file.clone(), head.clone()).unwrap();
        opened.write(8, b"first").unwrap();
        opened.sync_data().unwrap();
        opened.write(8, b"after").unwrap();
        let at_eight = |file: &dyn StorageBackend| {
            let mut found = [0; 5];
            file.read(8, &mut found).unwrap();
            found
        };
        assert_eq!(&at_eight(&*file), b"after");
        head.put_back(&*file).unwrap();
        assert_eq!(&at_eight(&*file), b"first");
        // A part of the write.
        file.write(8, b"aft").unwrap();
        head.put_back(&*file).unwrap();
        assert_eq!(&at_eight(&*file), b"first");
        // A backup that somebody has put there.
        file.write(8, b"other").unwrap();
        head.put_back(&*file).unwrap();
        assert_eq!(&at_eight(&*file), b"other");
    }

    proptest! {
        /// As if there were one file, and nothing reaches what is below.
        #[test]
        fn an_overlay_is_a_file_of_its_own(
            below in proptest::collection::vec(any::<u8>(), 0..20_000),
            steps in proptest::collection::vec((0..3u8, 0..30_000usize, 0..9000usize, any::<u8>()), 1..20),
        ) {
            let backend = InMemoryBackend::new();
            backend.set_len(below.len() as u64).unwrap();
            if !below.is_empty() {
                backend.write(0, &below).unwrap();
            }
            let overlay = Overlay::new(Arc::new(backend)).unwrap();
            let mut model = below.clone();
            for (kind, at, bytes, value) in steps {
                let end = at + bytes;
                match kind {
                    0 => {
                        overlay.set_len(at as u64).unwrap();
                        model.resize(at, 0);
                    }
                    1 if end <= model.len() && bytes > 0 => {
                        overlay.write(at as u64, &vec![value; bytes]).unwrap();
                        model[at..end].fill(value);
                    }
                    1 => prop_assert!(bytes == 0 || overlay.write(at as u64, &vec![0; bytes]).is_err()),
                    _ => {
                        let mut out = vec![1; bytes];
                        let read = overlay.read(at as u64, &mut out);
                        match model.get(at..end) {
                            Some(expected) if bytes > 0 => prop_assert_eq!(&out[..], expected),
                            Some(_) => {}
                            None => prop_assert!(read.is_err()),
                        }
                    }
                }
            }
            let mut all = vec![0; model.len()];
            overlay.read(0, &mut all).unwrap();
            prop_assert_eq!(all, model);
            let mut under = vec![0; below.len()];
            overlay.below.read(0, &mut under).unwrap();
            prop_assert_eq!(under, below);
        }
    }
}
