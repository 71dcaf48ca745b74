//! A data directory: the partitions of one disk.
//!
//! ```text
//!  DIR/LOCK     locked by the process that has it open
//!  DIR/...      see `layout`
//! ```

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afterbay_blob_store::{Directory, PartitionId, RealDirectory};
use uuid::Uuid;

use super::layout::{Layout, LayoutError, Look, look};
use super::made::Made;
use super::read_only::ReadOnlyDirectory;
use super::roster::{OpenSite, Site};

pub(super) const LOCK: &str = "LOCK";

/// How much room a disk has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub total_bytes: u64,
    /// What can be written by this process.
    pub available_bytes: u64,
}

/// The partitions of one disk.
pub trait Volume: Send + Sync + Debug {
    /// What to call it in messages.
    fn place(&self) -> String;

    /// Which disk it is, as far as that is known.
    fn id(&self) -> Option<Uuid> {
        None
    }

    /// Which partitions there are, in no order.
    fn partitions(&self) -> io::Result<Vec<PartitionId>>;

    /// Makes a directory for a partition, and fills it by `fill`. Afterwards, or after a crash, it is there as a whole or
    /// not at all.
    fn create(
        &self,
        id: PartitionId,
        fill: &mut dyn FnMut(&dyn Directory) -> io::Result<()>,
    ) -> io::Result<()>;

    /// Opens the directory of a partition, for this process alone.
    fn open(&self, id: PartitionId) -> io::Result<Arc<dyn Directory>>;

    /// How much room there is.
    fn space(&self) -> io::Result<Space>;

    /// Whether something can be written and synced at the moment.
    fn takes_writes(&self) -> bool;

    /// Takes away what opening it has made, if there was nothing before: the server does not come to serve.
    fn take_away_if_new(&self) {}

    /// Whether nothing can be written as long as it is open.
    fn is_read_only(&self) -> bool {
        false
    }
}

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error(
        "{}: in use by another server{}; stop that one, or give another directory",
        path.display(),
        owner.as_ref().map(|owner| format!(" (process {owner})")).unwrap_or_default()
    )]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process that has it, as far as that is known.
        owner: Option<String>,
    },
    /// There is something else in it.
    #[error("{}: {reason}", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// What, and the way out.
        reason: String,
    },
    /// The operating system refused.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was to be done with it.
        action: &'static str,
        /// Why it was not.
        source: io::Error,
    },
}

/// A data directory on a real file system, locked for this process.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    read_only: bool,
    id: Option<Uuid>,
    layout: Layout,
    /// If there was nothing before.
    new: Option<Made>,
    _lock: File,
}

impl DataDirectory {
    /// Opens a data directory, and makes it if there is none. On a file system that is read-only, an existing one is opened
    /// for reading.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let failed = |path: &Path, action| {
            let path = path.to_owned();
            move |source| OpenError::Io { path, action, source }
        };
        let made = Made::for_directory(path);
        let opened = match RealDirectory::make_all(path) {
            Err(e) if !path.is_dir() => Err(failed(path, "create")(e)),
            _ => lock(path),
        };
        let (lock, read_only) = opened.inspect_err(|_| made.take_folders_away())?;
        let root = RealDirectory::shared(path).map_err(failed(path, "open"))?;
        let new = look(&root).is_ok_and(|look| look.is_fresh).then_some(made);
        let new = new.filter(|_| !read_only);
        let layout = if read_only {
            tracing::warn!(
                path = %path.display(),
                "the file system is read-only: what is stored is served, nothing is written"
            );
            Layout::open_read_only(&root)
        } else {
            Layout::open(&root)
        };
        let take_away = |_: &LayoutError| new.iter().for_each(Made::take_away);
        let layout = layout.inspect_err(take_away).map_err(|error| of_layout(path, error))?;
        let id = look(&root).ok().and_then(|look| look.disk);
        Ok(DataDirectory { path: path.to_owned(), read_only, id, layout, new, _lock: lock })
    }

    /// Looks what is in a directory, if there is one, and changes nothing.
    pub fn look(path: &Path) -> Result<Look, OpenError> {
        let failed = |source| OpenError::Io { path: path.to_owned(), action: "open", source };
        match fs::metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(Look { is_fresh: true, ..Look::default() });
            }
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        let root = RealDirectory::shared(path).map_err(failed)?;
        look(&root).map_err(|error| of_layout(path, error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn of_layout(path: &Path, error: LayoutError) -> OpenError {
    match error {
        LayoutError::NotOurs(reason) => OpenError::NotOurs { path: path.to_owned(), reason },
        LayoutError::Io { name, action, source } => {
            OpenError::Io { path: path.join(name), action, source }
        }
    }
}

fn is_read_only(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ReadOnlyFilesystem
}

/// The lock, and whether the file system is read-only.
fn lock(path: &Path) -> Result<(File, bool), OpenError> {
    loop {
        let (file, read_only) = try_lock(path)?;
        // A start that comes to nothing takes its lock away again, and another one may have made a new one.
        let there = fs::metadata(path.join(LOCK)).map(|there| there.ino()).ok();
        if there == file.metadata().map(|locked| locked.ino()).ok() {
            return Ok((file, read_only));
        }
    }
}

fn try_lock(path: &Path) -> Result<(File, bool), OpenError> {
    let lock_path = path.join(LOCK);
    let io = |action| {
        let path = lock_path.clone();
        move |source| OpenError::Io { path, action, source }
    };
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&lock_path);
    let (mut file, read_only) = match opened {
        Err(e) if is_read_only(&e) => (File::open(&lock_path).map_err(io("open"))?, true),
        other => (other.map_err(io("open"))?, false),
    };
    match afterbay_blob_store::lock(&file) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
            let mut owner = String::new();
            let read = file.read_to_string(&mut owner);
            let owner = read.ok().map(|_| owner.trim().to_owned()).filter(|o| !o.is_empty());
            return Err(OpenError::Locked { path: path.to_owned(), owner });
        }
        Err(e) => return Err(io("lock")(e)),
    }
    if !read_only {
        // Who has it, for people; the lock does not depend on it.
        let noted = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()));
        if let Err(error) = noted {
            tracing::debug!(%error, "cannot note the process in the lock file");
        }
    }
    Ok((file, read_only))
}

impl Volume for DataDirectory {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn id(&self) -> Option<Uuid> {
        self.id
    }

    fn partitions(&self) -> io::Result<Vec<PartitionId>> {
        self.layout.partitions()
    }

    fn create(
        &self,
        id: PartitionId,
        fill: &mut dyn FnMut(&dyn Directory) -> io::Result<()>,
    ) -> io::Result<()> {
        self.layout.create(id, fill)
    }

    fn open(&self, id: PartitionId) -> io::Result<Arc<dyn Directory>> {
        if self.read_only {
            let path = self.path.join(Layout::path_of(id));
            Ok(Arc::new(ReadOnlyDirectory::open(&path)?))
        } else {
            self.layout.open_partition(id)
        }
    }

    fn space(&self) -> io::Result<Space> {
        space_of(&self.path)
    }

    fn take_away_if_new(&self) {
        self.new.iter().for_each(Made::take_away);
    }

    /// The sync is there for its answer, not for what is on the disk then.
    fn takes_writes(&self) -> bool {
        let probe = self.path.join("PROBE");
        let written = File::create(&probe)
            .and_then(|mut file| file.write_all(&[0; 4096]).and_then(|()| file.sync_all()));
        let _ = fs::remove_file(&probe);
        written.is_ok()
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }
}

/// A directory of the real file system.
impl Site for PathBuf {
    fn place(&self) -> String {
        self.display().to_string()
    }

    fn look(&self) -> Result<Look, OpenError> {
        DataDirectory::look(self)
    }

    fn open(&self) -> Result<OpenSite, OpenError> {
        let directory = DataDirectory::open(self)?;
        let failed = |source| OpenError::Io { path: self.clone(), action: "open", source };
        let root = Arc::new(RealDirectory::shared(self).map_err(failed)?);
        Ok(OpenSite { volume: Arc::new(directory), root })
    }
}

/// How much room the file system of a directory has.
pub(crate) fn space_of(path: &Path) -> io::Result<Space> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(Space {
        total_bytes: stat.f_frsize.saturating_mul(stat.f_blocks),
        available_bytes: stat.f_frsize.saturating_mul(stat.f_bavail),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_made_once_and_locked() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let first = DataDirectory::open(&path).unwrap();
        let second = DataDirectory::open(&path).unwrap_err().to_string();
        assert!(second.contains("in use by another server"), "{second}");
        assert!(second.contains(&std::process::id().to_string()), "{second}");
        drop(first);
        DataDirectory::open(&path).unwrap();
    }

    #[test]
    fn something_else_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("photo.jpg"), "x").unwrap();
        let refused = DataDirectory::open(parent.path()).unwrap_err().to_string();
        assert!(refused.contains("photo.jpg"), "{refused}");
        let other = parent.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("VERSION"), "afterbay-blob data directory, format 2\n").unwrap();
        let refused = DataDirectory::open(&other).unwrap_err().to_string();
        assert!(refused.contains("format 2"), "{refused}");
    }

    #[test]
    fn a_partition_that_was_not_finished_goes() {
        let parent = tempfile::tempdir().unwrap();
        let volume = DataDirectory::open(parent.path()).unwrap();
        let mut fails = |_: &dyn Directory| Err(io::Error::other("no"));
        assert!(volume.create(PartitionId(1), &mut fails).is_err());
        volume.create(PartitionId(2), &mut |_| Ok(())).unwrap();
        fs::create_dir(parent.path().join("partitions/0000000000000003.new")).unwrap();
        fs::create_dir(parent.path().join("partitions/elsewhat")).unwrap();
        drop(volume);
        let volume = DataDirectory::open(parent.path()).unwrap();
        assert_eq!(volume.partitions().unwrap(), [PartitionId(2)]);
        assert!(!parent.path().join("partitions/0000000000000003.new").exists());
        assert!(volume.takes_writes());
        assert!(volume.space().unwrap().available_bytes > 0);
    }
}
