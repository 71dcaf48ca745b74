//! A data directory: the partitions of one disk.
//!
//! ```text
//!  DIR/VERSION                   which layout this is, and the identity of the disk
//!  DIR/LOCK                      locked by the process that has it open
//!  DIR/partitions/PPPP.../       a partition, its number in 16 hexadecimal digits
//!  DIR/partitions/PPPP....new/   one that is being made; removed at the next start
//! ```

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afterbay_blob_store::{Directory, PartitionId, RealDirectory};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::read_only::ReadOnlyDirectory;

const VERSION: &str = "VERSION";
const VERSION_LINE: &str = "afterbay-blob data directory, format 1";
const LOCK: &str = "LOCK";
const PARTITIONS: &str = "partitions";
const NEW: &str = ".new";

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
        match fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
            Err(e) if !path.is_dir() => return Err(failed(path, "create")(e)),
            _ => {}
        }
        let (lock, read_only) = lock(path)?;
        check_version(path, read_only)?;
        let partitions = path.join(PARTITIONS);
        if !read_only {
            match fs::create_dir(&partitions) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(failed(&partitions, "create")(e));
                }
                _ => sync_directory(path).map_err(failed(path, "sync"))?,
            }
            remove_unfinished(&partitions).map_err(failed(&partitions, "clean up"))?;
        } else {
            tracing::warn!(
                path = %path.display(),
                "the file system is read-only: what is stored is served, nothing is written"
            );
        }
        Ok(DataDirectory { path: path.to_owned(), read_only, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn partition_path(&self, id: PartitionId) -> PathBuf {
        self.path.join(PARTITIONS).join(id.to_string())
    }
}

fn is_read_only(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ReadOnlyFilesystem
}

/// The lock, and whether the file system is read-only.
fn lock(path: &Path) -> Result<(File, bool), OpenError> {
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
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            let mut owner = String::new();
            let read = file.read_to_string(&mut owner);
            let owner = read.ok().map(|_| owner.trim().to_owned()).filter(|o| !o.is_empty());
            return Err(OpenError::Locked { path: path.to_owned(), owner });
        }
        Err(e) => return Err(io("lock")(e.into())),
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

fn check_version(path: &Path, read_only: bool) -> Result<(), OpenError> {
    let version_path = path.join(VERSION);
    let io = |action| {
        let path = version_path.clone();
        move |source| OpenError::Io { path, action, source }
    };
    let not_ours = |reason: String| OpenError::NotOurs { path: path.to_owned(), reason };
    match fs::read_to_string(&version_path) {
        Ok(text) if text.lines().next() == Some(VERSION_LINE) => Ok(()),
        Ok(text) => Err(not_ours(format!(
            "its {VERSION} says '{}', this program reads '{VERSION_LINE}'; use the program that wrote it",
            text.lines().next().unwrap_or_default()
        ))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let others: Vec<_> = fs::read_dir(path)
                .map_err(io("list"))?
                .filter_map(|entry| entry.ok().map(|entry| entry.file_name()))
                .filter(|name| name != LOCK && name != "lost+found")
                .collect();
            if let Some(other) = others.first() {
                let other = other.to_string_lossy();
                return Err(not_ours(format!(
                    "not a data directory, and not empty (it has '{other}'); give an empty one"
                )));
            }
            if read_only {
                return Err(not_ours("not a data directory, and read-only".to_owned()));
            }
            let text = format!("{VERSION_LINE}\ndisk {}\n", uuid::Uuid::new_v4());
            write_new(&version_path, text.as_bytes()).map_err(io("write"))
        }
        Err(e) => Err(io("read")(e)),
    }
}

/// Writes a file that is there as a whole or not at all, for the owner alone.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let next = path.with_extension("next");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&next, path)?;
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn remove_unfinished(partitions: &Path) -> io::Result<()> {
    for entry in fs::read_dir(partitions)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(NEW) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// A partition's directory is its number, 16 hexadecimal digits.
fn partition_of(name: &str) -> Option<PartitionId> {
    let number = u64::from_str_radix(name, 16).ok()?;
    Some(PartitionId(number)).filter(|id| id.to_string() == name)
}

impl Volume for DataDirectory {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn partitions(&self) -> io::Result<Vec<PartitionId>> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(self.path.join(PARTITIONS))? {
            ids.extend(partition_of(&entry?.file_name().to_string_lossy()));
        }
        Ok(ids)
    }

    fn create(
        &self,
        id: PartitionId,
        fill: &mut dyn FnMut(&dyn Directory) -> io::Result<()>,
    ) -> io::Result<()> {
        let path = self.partition_path(id);
        let new = path.with_extension(&NEW[1..]);
        let filled = RealDirectory::create(&new).and_then(|directory| fill(&directory));
        if let Err(error) = filled {
            // What stays is removed at the next start.
            let _ = fs::remove_dir_all(&new);
            return Err(error);
        }
        fs::rename(&new, &path)?;
        sync_directory(&self.path.join(PARTITIONS))
    }

    fn open(&self, id: PartitionId) -> io::Result<Arc<dyn Directory>> {
        let path = self.partition_path(id);
        if self.read_only {
            Ok(Arc::new(ReadOnlyDirectory::open(&path)?))
        } else {
            Ok(Arc::new(RealDirectory::open(&path)?))
        }
    }

    fn space(&self) -> io::Result<Space> {
        let stat = rustix::fs::statvfs(&self.path)?;
        Ok(Space {
            total_bytes: stat.f_frsize.saturating_mul(stat.f_blocks),
            available_bytes: stat.f_frsize.saturating_mul(stat.f_bavail),
        })
    }

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
        fs::write(other.join(VERSION), "afterbay-blob data directory, format 2\n").unwrap();
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
