//! The directory of a node: its replicas, its tokens, and whose it is.
//!
//! ```text
//!  node.json             cluster and node; who finds another one's does not touch it
//!  partitions/<id>/      a replica
//!  tokens/               how far its replicas have taken over the logs of others, and when each was verified
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afterbay_blob_cluster::{LocalStore, NodeId};
use afterbay_blob_store::{
    Directory, Options, Partition, PartitionId, RealDirectory, SyncPoint, SystemClock, read_whole,
    write_whole,
};
use serde::{Deserialize, Serialize};

use crate::membership::Membership;

const OWNER_FILE: &str = "node.json";
pub(crate) const PARTITIONS: &str = "partitions";
const TOKENS: &str = "tokens";
/// A replica that is being made.
const NEW: &str = "new-replica";

/// Whose a directory is.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    cluster: String,
    node: String,
}

/// A directory that is this node's, locked for this process.
#[derive(Debug)]
pub(crate) struct Home {
    path: PathBuf,
    _lock: RealDirectory,
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn refused(path: &Path, reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {reason}", path.display()))
}

/// Makes an empty directory that of a node. One that is there and has something is refused.
pub fn make_home(path: &Path, cluster: &str, node: &str) -> io::Result<()> {
    RealDirectory::make_all(path).map_err(|e| at(path, &e))?;
    let directory = RealDirectory::open(path).map_err(|e| at(path, &e))?;
    if !directory.list()?.is_empty() {
        return Err(refused(path, "is not empty; a node's directory is made in an empty one"));
    }
    write_owner(&directory, cluster, node).map_err(|e| at(path, &e))
}

fn write_owner(directory: &dyn Directory, cluster: &str, node: &str) -> io::Result<()> {
    let owner = Owner { cluster: cluster.to_owned(), node: node.to_owned() };
    let text = serde_json::to_string(&owner)?;
    write_whole(
        directory,
        OWNER_FILE,
        text.as_bytes(),
        [SyncPoint::OwnerData, SyncPoint::OwnerEntry],
    )
}

impl Home {
    /// Takes the directory of a node. One that is not there, or is empty, is made, as after the loss of a disk, unless it has
    /// to be `existing`.
    pub(crate) fn open(path: &Path, own: &Membership, existing: bool) -> io::Result<Self> {
        let lost = "is none of a node (no node.json), and --existing makes none; is its disk mounted? Without --existing, an \
                    empty one is made and filled from the other replicas";
        if !path.exists() && existing {
            return Err(refused(path, lost));
        }
        RealDirectory::make_all(path).map_err(|e| at(path, &e))?;
        let lock = RealDirectory::open(path).map_err(|e| match e.kind() {
            io::ErrorKind::WouldBlock => {
                refused(path, "is in use by another process; stop that one")
            }
            _ => at(path, &e),
        })?;
        let (cluster, node) = (own.key.name(), own.name());
        match read_whole(&lock, OWNER_FILE) {
            Ok(text) => {
                let owner: Owner = serde_json::from_slice(&text)
                    .map_err(|e| refused(path, &format!("{OWNER_FILE} cannot be read: {e}")))?;
                if (owner.cluster.as_str(), owner.node.as_str()) != (cluster, node) {
                    return Err(refused(
                        path,
                        &format!(
                            "belongs to node {} of cluster {}, and this is {node} of {cluster}; give --node or --data another \
                             value",
                            owner.node, owner.cluster
                        ),
                    ));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                if existing {
                    return Err(refused(path, lost));
                }
                // A file system has that in its root.
                if lock.list()?.iter().any(|name| name != "lost+found") {
                    let what = "has files and no node.json: it is none of a node; give an empty directory by --data";
                    return Err(refused(path, what));
                }
                tracing::info!(path = %path.display(), "made: it is filled from the other replicas");
                write_owner(&lock, cluster, node).map_err(|e| at(path, &e))?;
            }
            Err(e) => return Err(at(path, &e)),
        }
        Ok(Home { path: path.to_owned(), _lock: lock })
    }

    /// Opens the replicas, and makes those that are not there.
    pub(crate) fn store(&self, ids: &[PartitionId], options: &Options) -> io::Result<LocalStore> {
        let partitions = self.path.join(PARTITIONS);
        RealDirectory::make_all(&partitions).map_err(|e| at(&partitions, &e))?;
        let mut opened = Vec::new();
        for id in ids {
            let path = partitions.join(id.to_string());
            if !path.exists() {
                make_replica(&partitions, *id, options).map_err(|e| at(&path, &e))?;
            }
            let directory = RealDirectory::open(&path).map_err(|e| at(&path, &e))?;
            let clock = Arc::new(SystemClock);
            let partition = Partition::open(Arc::new(directory), options.clone(), clock);
            opened.push(partition.map_err(|error| {
                let way = "if it stays so, move this directory away: a new replica is made and filled from the others";
                refused(&path, &format!("{error}; {way}"))
            })?);
        }
        let tokens = self.path.join(TOKENS);
        RealDirectory::make_all(&tokens).map_err(|e| at(&tokens, &e))?;
        let tokens = RealDirectory::open(&tokens).map_err(|e| at(&tokens, &e))?;
        Ok(LocalStore::new(Arc::new(SystemClock), Arc::new(tokens), opened))
    }
}

/// It has its name when it is whole.
fn make_replica(partitions: &Path, id: PartitionId, options: &Options) -> io::Result<()> {
    let new = partitions.join(NEW);
    if new.exists() {
        // Of a process that was killed.
        fs::remove_dir_all(&new)?;
    }
    let directory = RealDirectory::create(&new)?;
    Partition::create(&directory, id, options).map_err(io::Error::other)?;
    name_replica(&RealDirectory::shared(partitions)?, id)
}

fn name_replica(partitions: &dyn Directory, id: PartitionId) -> io::Result<()> {
    partitions.rename(NEW, &id.to_string())?;
    partitions.sync(SyncPoint::ReplicaEntry)
}

/// Which node of the map it is, for messages.
pub(crate) fn address_of<'a>(own: &'a Membership, node: &NodeId) -> io::Result<&'a str> {
    own.map.nodes.get(node).map(String::as_str).ok_or_else(|| {
        let names: Vec<&str> = own.map.nodes.keys().map(NodeId::as_str).collect();
        let reason = format!("--node {node}: the map has {}", names.join(", "));
        io::Error::new(io::ErrorKind::InvalidInput, reason)
    })
}

#[cfg(test)]
mod tests {
    use afterbay_blob_cluster::ClusterMap;
    use afterbay_blob_store::SyncScope;
    use afterbay_blob_store::sim::SimDisk;

    use crate::membership::ClusterKey;

    use super::*;

    fn member(node: &str, cluster: &str) -> Membership {
        let text = "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n[[node]]\nid = \"n2\"\naddress = \"b:1\"\n\
                    [[partition]]\nid = 1\nreplicas = [\"n1\", \"n2\"]\n";
        let map = Arc::new(ClusterMap::parse("map.toml", text).unwrap());
        Membership::node(NodeId::new(node), map, ClusterKey::new(cluster, "secret"))
    }

    fn refusal(path: &Path, own: &Membership, existing: bool) -> String {
        Home::open(path, own, existing).unwrap_err().to_string()
    }

    #[test]
    fn a_directory_is_of_one_node() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n1");
        let own = member("n1", "AB");
        assert!(refusal(&path, &own, true).contains("is its disk mounted?"));
        assert!(!path.exists());
        let home = Home::open(&path, &own, false).unwrap();
        assert!(refusal(&path, &own, false).contains("in use by another process"));
        drop(home);
        Home::open(&path, &own, true).unwrap();
        let refused = refusal(&path, &member("n2", "AB"), false);
        assert!(
            refused.contains("belongs to node n1 of cluster AB, and this is n2 of AB"),
            "{refused}"
        );
        let refused = refusal(&path, &member("n1", "CD"), false);
        assert!(refused.contains("of cluster AB, and this is n1 of CD"), "{refused}");
        fs::write(path.join(OWNER_FILE), "{").unwrap();
        assert!(refusal(&path, &own, false).contains("node.json cannot be read"));
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("root-key"), "").unwrap();
        assert!(refusal(&other, &own, false).contains("has files and no node.json"));
        assert!(make_home(&other, "AB", "n1").unwrap_err().to_string().contains("not empty"));
    }

    /// Whether a file is there after a loss of power that `work` should have put there, on each of many disks.
    fn survives(ignored: Option<SyncPoint>, name: &str, work: fn(&dyn Directory)) -> bool {
        (0..30).all(|seed| {
            let disk = SimDisk::new(seed);
            ignored.into_iter().for_each(|point| disk.ignore(point));
            work(&*disk.directory());
            disk.lose_power();
            disk.content(name)
                .is_some_and(|content| serde_json::from_slice::<Owner>(&content).is_ok())
        })
    }

    fn all_survives(ignored: Option<SyncPoint>) -> bool {
        let owner = |directory: &dyn Directory| write_owner(directory, "AB", "n1").unwrap();
        // A file stands for the replica's directory.
        let replica = |directory: &dyn Directory| {
            write_owner(directory, "AB", "n1").unwrap();
            directory.rename(OWNER_FILE, NEW).unwrap();
            directory.sync(SyncPoint::PartitionEntry).unwrap();
            name_replica(directory, PartitionId(3)).unwrap();
        };
        survives(ignored, OWNER_FILE, owner)
            && survives(ignored, &PartitionId(3).to_string(), replica)
    }

    #[test]
    fn node_and_replicas_are_there_for_good() {
        assert!(all_survives(None));
        for &point in SyncPoint::ALL.iter().filter(|point| point.scope() == SyncScope::Home) {
            assert!(!all_survives(Some(point)), "nobody noticed that {point:?} was left out");
        }
    }

    #[test]
    fn replicas_are_made_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let own = member("n1", "AB");
        let options =
            Options { capacity_bytes: 4 << 20, segment_bytes: 256 << 10, ..Options::default() };
        let home = Home::open(folder.path(), &own, false).unwrap();
        let ids = [PartitionId(1), PartitionId(2)];
        let partitions = folder.path().join(PARTITIONS);
        fs::create_dir(&partitions).unwrap();
        fs::create_dir(partitions.join(NEW)).unwrap();
        fs::write(partitions.join(NEW).join("MANIFEST"), "half").unwrap();
        let incarnations =
            |store: &LocalStore| store.partitions().map(Partition::incarnation).collect::<Vec<_>>();
        let first = home.store(&ids, &options).unwrap();
        let made = incarnations(&first);
        assert_eq!(made.len(), 2);
        drop(first);
        assert_eq!(incarnations(&home.store(&ids, &options).unwrap()), made, "opened, not made");
        assert!(!partitions.join(NEW).exists());
        fs::write(partitions.join(ids[0].to_string()).join("MANIFEST"), "rubbish").unwrap();
        let refused = home.store(&ids, &options).unwrap_err().to_string();
        assert!(refused.contains("move this directory away"), "{refused}");
    }
}
