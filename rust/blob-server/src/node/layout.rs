//! What is in a data directory, on a file system that tests can break.
//!
//! ```text
//!  DIR/VERSION                   which layout this is, and the identity of the disk
//!  DIR/DISK, DIR/DISKS           which node it belongs to, and which disks there are; see `identity`
//!  DIR/partitions/PPPP.../       a partition, its number in 16 hexadecimal digits
//!  DIR/partitions/PPPP....new/   one that is being made; removed at the next start
//! ```

use std::io;
use std::sync::Arc;

use afterbay_blob_store::{
    Directory, PartitionId, SyncPoint, Tree, make_folder, read_whole, write_whole,
};
use uuid::Uuid;

use super::identity::{DiskIdentity, DiskList};

pub(crate) const DISK_FILE: &str = "DISK";
pub(crate) const DISKS_FILE: &str = "DISKS";
/// What the first directory has besides; see `keys` and `names_file`.
const NAMES: [&str; 2] = ["root-key", "names"];
const DISK_PREFIX: &str = "disk ";

pub(super) const VERSION: &str = "VERSION";
const VERSION_LINE: &str = "afterbay-blob data directory, format 1";
const PARTITIONS: &str = "partitions";
/// All that a data directory has besides [`VERSION`] and its lock.
pub(super) const BESIDE_VERSION: [&str; 6] =
    [PARTITIONS, NAMES[0], NAMES[1], DISK_FILE, DISKS_FILE, "PROBE"];
const NEW: &str = ".new";

/// What may be in a directory that is to become a data directory: the lock of this server, and what a start left that was
/// interrupted.
const NOTHING: [&str; 3] = ["LOCK", "lost+found", "VERSION.next"];

/// What is in a data directory.
#[derive(Debug)]
pub struct Layout {
    partitions: Arc<dyn Tree>,
}

/// Why it cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// There is something else in it; what, and the way out.
    #[error("{0}")]
    NotOurs(String),
    /// The operating system refused.
    #[error("{action} {name}: {source}")]
    Io {
        /// The file or directory in it.
        name: &'static str,
        /// What was to be done with it.
        action: &'static str,
        /// Why it was not.
        source: io::Error,
    },
}

fn failed(action: &'static str, name: &'static str) -> impl FnOnce(io::Error) -> LayoutError {
    move |source| LayoutError::Io { name, action, source }
}

impl Layout {
    /// Opens what is there, and makes what is missing.
    pub fn open(root: &dyn Tree) -> Result<Self, LayoutError> {
        if !is_ours(root)? {
            let text = format!("{VERSION_LINE}\n{DISK_PREFIX}{}\n", Uuid::new_v4());
            let points = [SyncPoint::VersionData, SyncPoint::VersionEntry];
            write_whole(root, VERSION, text.as_bytes(), points)
                .map_err(failed("write", VERSION))?;
        }
        make_folder(root, PARTITIONS, SyncPoint::PartitionsEntry)
            .map_err(failed("make", PARTITIONS))?;
        let layout = Self::open_there(root)?;
        layout.remove_unfinished().map_err(failed("clean up", PARTITIONS))?;
        Ok(layout)
    }

    /// Opens what is there, and changes nothing.
    pub fn open_read_only(root: &dyn Tree) -> Result<Self, LayoutError> {
        if !is_ours(root)? {
            return Err(LayoutError::NotOurs("not a data directory, and read-only".to_owned()));
        }
        Self::open_there(root)
    }

    fn open_there(root: &dyn Tree) -> Result<Self, LayoutError> {
        let partitions = root.open_tree(PARTITIONS).map_err(failed("open", PARTITIONS))?;
        Ok(Layout { partitions })
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        for name in self.partitions.list()?.iter().filter(|name| name.ends_with(NEW)) {
            self.partitions.remove_tree(name)?;
        }
        Ok(())
    }

    /// Which partitions there are, in no order.
    pub fn partitions(&self) -> io::Result<Vec<PartitionId>> {
        Ok(self.partitions.list()?.iter().filter_map(|name| partition_of(name)).collect())
    }

    /// Makes a directory for a partition, and fills it by `fill`. Afterwards, or after a crash, it is there as a whole or
    /// not at all.
    pub fn create(
        &self,
        id: PartitionId,
        fill: &mut dyn FnMut(&dyn Directory) -> io::Result<()>,
    ) -> io::Result<()> {
        let new = format!("{id}{NEW}");
        let filled = self
            .partitions
            .create_tree(&new)
            .and_then(|()| self.partitions.open_tree(&new))
            .and_then(|directory| fill(&*directory));
        if let Err(error) = filled {
            // What stays is removed at the next start.
            let _ = self.partitions.remove_tree(&new);
            return Err(error);
        }
        self.partitions.rename(&new, &id.to_string())?;
        self.partitions.sync(SyncPoint::PartitionEntry)
    }

    /// Opens the directory of a partition, for this process alone.
    pub fn open_partition(&self, id: PartitionId) -> io::Result<Arc<dyn Directory>> {
        Ok(self.partitions.open_tree(&id.to_string())?)
    }

    /// Where the directory of a partition is, below the data directory.
    pub fn path_of(id: PartitionId) -> String {
        format!("{PARTITIONS}/{id}")
    }
}

/// What is in a directory, before anything is made in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// Nothing is: it may become a data directory.
    pub is_fresh: bool,
    /// Which disk it is.
    pub disk: Option<Uuid>,
    /// The same, and which node it belongs to.
    pub identity: Option<DiskIdentity>,
    /// The disks of the node, if it is the first of them.
    pub list: Option<DiskList>,
    /// There is a root key, or names.
    pub has_names: bool,
}

/// Looks what is in a directory.
pub fn look(root: &dyn Tree) -> Result<Look, LayoutError> {
    if !is_ours(root)? {
        return Ok(Look { is_fresh: true, ..Look::default() });
    }
    let identity = read_small(root, DISK_FILE, DiskIdentity::parse)?;
    let list = read_small(root, DISKS_FILE, DiskList::parse)?;
    let version = read_whole(root, VERSION).map_err(failed("read", VERSION))?;
    let version = String::from_utf8_lossy(&version);
    let disk = version.lines().find_map(|line| line.strip_prefix(DISK_PREFIX)?.parse().ok());
    let disk = identity.map(|identity| identity.disk).or(disk);
    let all = root.list().map_err(failed("list", "."))?;
    let has_names = all.iter().any(|name| NAMES.contains(&name.as_str()));
    Ok(Look { is_fresh: false, disk, identity, list, has_names })
}

/// A file of identity; `None` if there is none, as in directories of older versions.
fn read_small<T>(
    root: &dyn Tree,
    name: &'static str,
    parse: fn(&[u8]) -> Result<T, String>,
) -> Result<Option<T>, LayoutError> {
    match read_whole(root, name) {
        Ok(stored) => parse(&stored).map(Some).map_err(|reason| {
            LayoutError::NotOurs(format!(
                "{name} is damaged ({reason}); restore it from a backup, or remove it: it is made again of what is here"
            ))
        }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("read", name)(e)),
    }
}

/// Whether there is a layout that this program reads; false if there is nothing.
fn is_ours(root: &dyn Tree) -> Result<bool, LayoutError> {
    match read_whole(root, VERSION) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text);
            let found = text.lines().next().unwrap_or_default();
            if found == VERSION_LINE {
                return Ok(true);
            }
            Err(LayoutError::NotOurs(format!(
                "its {VERSION} says '{found}', this program reads '{VERSION_LINE}'; use the program that wrote it"
            )))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let all = root.list().map_err(failed("list", "."))?;
            match all.iter().find(|name| !NOTHING.contains(&name.as_str())) {
                None => Ok(false),
                Some(other) => Err(LayoutError::NotOurs(format!(
                    "not a data directory, and not empty (it has '{other}'); give an empty one"
                ))),
            }
        }
        Err(e) => Err(failed("read", VERSION)(e)),
    }
}

/// A partition's directory is its number, 16 hexadecimal digits.
fn partition_of(name: &str) -> Option<PartitionId> {
    let number = u64::from_str_radix(name, 16).ok()?;
    Some(PartitionId(number)).filter(|id| id.to_string() == name)
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use afterbay_blob_store::SyncScope;
    use afterbay_blob_store::sim::{Fault, SimDisk};

    use super::*;

    const PARTITION: PartitionId = PartitionId(7);

    /// Opens the layout and makes a partition, until the power goes at operation `after`. Whether the partition was
    /// acknowledged.
    fn make(disk: &SimDisk, after: u64) -> Result<(), String> {
        disk.fail_after(after, Fault::Stop);
        let layout = Layout::open(&*disk.tree()).map_err(|e| e.to_string())?;
        let mut fill = |directory: &dyn Directory| {
            let file = directory.create("a")?;
            file.write_all_at(&[IoSlice::new(b"content")], 0)?;
            file.sync_data(SyncPoint::Commit)?;
            directory.sync(SyncPoint::SegmentEntry)
        };
        layout.create(PARTITION, &mut fill).map_err(|e| e.to_string())
    }

    /// What is wrong after the power went at operation `after`.
    fn wrong(seed: u64, after: u64, ignored: Option<SyncPoint>) -> Option<String> {
        let disk = SimDisk::new(seed);
        ignored.into_iter().for_each(|point| disk.ignore(point));
        let made = make(&disk, after);
        disk.lose_power();
        let layout = match Layout::open(&*disk.tree()) {
            Ok(layout) => layout,
            Err(error) => return Some(error.to_string()),
        };
        let found = layout.partitions().unwrap();
        if found.is_empty() {
            return made.is_ok().then(|| "the partition is lost".to_owned());
        }
        let directory = layout.open_partition(PARTITION).unwrap();
        let content = read_whole(&*directory, "a");
        (content.ok().as_deref() != Some(b"content")).then(|| "it is not whole".to_owned())
    }

    fn all_wrong(ignored: Option<SyncPoint>) -> Vec<String> {
        let cases = (0..30).flat_map(|seed| (0..20).map(move |after| (seed, after)));
        cases.filter_map(|(seed, after)| wrong(seed, after, ignored)).collect()
    }

    #[test]
    fn what_was_made_survives_and_the_rest_is_whole_or_absent() {
        assert_eq!(all_wrong(None), Vec::<String>::new());
    }

    #[test]
    fn a_sync_that_is_left_out_is_found_out() {
        let points = SyncPoint::ALL.iter().copied();
        let missed = points
            .filter(|point| point.scope() == SyncScope::DataDirectory)
            .filter(|point| all_wrong(Some(*point)).is_empty());
        assert_eq!(missed.collect::<Vec<_>>(), [], "nobody noticed that these were left out");
    }
}
