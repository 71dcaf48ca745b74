//! The file system as the store sees it: one directory per partition.
//!
//! Two implementations: [`crate::RealDirectory`], and [`crate::sim::SimDisk`], which loses, tears and fails.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use crate::sync_point::SyncPoint;

/// A directory that belongs to one partition. Names are plain file names.
pub trait Directory: Send + Sync + std::fmt::Debug {
    /// Makes a new file, open for reading and writing; an error if there is one.
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoreFile>>;

    /// Opens a file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>>;

    /// Opens a file for reading what is on the disk itself, past the operating system's copy of it, as far as that goes.
    /// Ask for [`StoreFile::drop_cached`] before each read all the same.
    fn open_medium(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        self.open(name)
    }

    /// Gives `from` the name `to`, and so replaces what had it, at once.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a name. Handles that are open stay valid.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// All names, in no order.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Returns when all changes of names so far are on the disk.
    fn sync(&self, point: SyncPoint) -> io::Result<()>;

    /// What to call it in messages.
    fn place(&self) -> String;
}

/// Whether a read may wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// As long as it takes.
    ForDisk,
    /// Not at all: only what is in memory is read.
    Never,
}

/// A directory that may have others in it.
pub trait Tree: Directory {
    /// Makes an empty directory, for the owner alone; an error if there is one.
    fn create_tree(&self, name: &str) -> io::Result<()>;

    /// Opens a directory in it, for this process alone.
    fn open_tree(&self, name: &str) -> io::Result<Arc<dyn Tree>>;

    /// Removes a directory and all that is in it.
    fn remove_tree(&self, name: &str) -> io::Result<()>;
}

/// Makes a directory if there is none, and returns when its name is on the disk. One that is there may be left by a process
/// that was killed before it had synced it.
pub fn make_folder(parent: &dyn Tree, name: &str, entry: SyncPoint) -> io::Result<()> {
    match parent.create_tree(name) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => parent.sync(entry),
    }
}

/// Writes a small file. It is there as a whole or not at all, also after a loss of power; once this returns, it is. `points`
/// are the syncs of its content and of its name.
pub fn write_whole(
    directory: &dyn Directory,
    name: &str,
    content: &[u8],
    points: [SyncPoint; 2],
) -> io::Result<()> {
    let next = format!("{name}.next");
    match directory.remove(&next) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let file = directory.create(&next)?;
    file.write_all_at(&[IoSlice::new(content)], 0)?;
    file.sync_data(points[0])?;
    directory.rename(&next, name)?;
    directory.sync(points[1])
}

/// Reads a small file.
pub fn read_whole(directory: &dyn Directory, name: &str) -> io::Result<Vec<u8>> {
    let file = directory.open(name)?;
    let mut content = vec![0; usize::try_from(file.length()?).map_err(io::Error::other)?];
    file.read_exact_at(&mut content, 0)?;
    Ok(content)
}

/// An open file. All methods may be called by several threads at once.
pub trait StoreFile: Send + Sync + std::fmt::Debug {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Fills `buffer` from `offset` on; [`io::ErrorKind::UnexpectedEof`] if the file ends before.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// The `length` bytes from `offset` on; [`io::ErrorKind::UnexpectedEof`] if the file ends before, and
    /// [`io::ErrorKind::WouldBlock`] if it must not wait and nobody knows that they are in memory.
    fn read_at(&self, length: usize, offset: u64, wait: Wait) -> io::Result<Vec<u8>> {
        match wait {
            Wait::ForDisk => {
                let mut bytes = vec![0; length];
                self.read_exact_at(&mut bytes, offset)?;
                Ok(bytes)
            }
            Wait::Never => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Writes all `parts`, one behind the other, from `offset` on.
    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()>;

    /// Makes the file `length` bytes long with room for all of them; new bytes are 0.
    fn preallocate(&self, length: u64) -> io::Result<()>;

    /// Cuts the file.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Returns when all that was written, and the length, are on the disk. After an error nobody knows what is: the
    /// kernel may have dropped what it could not write, and say nothing the next time.
    fn sync_data(&self, point: SyncPoint) -> io::Result<()>;

    /// Asks the operating system to forget its copy of these bytes, so that they are read from the disk next.
    fn drop_cached(&self, offset: u64, length: u64) -> io::Result<()>;

    /// The descriptor, for `sendfile`; `None` if this is no file of the operating system.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}
