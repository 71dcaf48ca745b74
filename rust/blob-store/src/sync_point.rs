//! The places that sync. Each is one whose absence loses data in some crash; the tests leave out one after the other and must
//! notice.

/// Which tests notice that a sync is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyncScope {
    /// Those of a partition that takes blobs: `blob-store/tests/model.rs`.
    Partition,
    /// Those of a partition that is made: `blob-store/tests/syncs.rs`.
    NewPartition,
    /// Those of a partition that is closed: `blob-store/tests/syncs.rs`.
    ClosedPartition,
    /// Those of a replica among others: `blob-store/tests/syncs.rs`.
    Replica,
    /// Those of a data directory: `blob-server/src/node/layout.rs`.
    DataDirectory,
    /// Those of a key's file: `blob-server/src/keys.rs`.
    Key,
    /// Those of the directories above it: `blob-store/src/real.rs`.
    Folders,
    /// Those of several disks: `blob-server/tests/disks.rs`.
    Disks,
    /// Those of the whole node: `blob-server/tests/power.rs`.
    Node,
    /// Those of the tokens of a cluster's node: `blob-cluster/tests`.
    Tokens,
    /// Those of the directory of a cluster's node: `blob-node/src/home.rs`.
    Home,
    /// None: what was synced is asked for nothing but whether the disk takes it.
    Probe,
}

macro_rules! sync_points {
    ($($(#[$comment:meta])* $point:ident: $scope:ident,)*) => {
        /// Where something is synced, each place by a name of its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SyncPoint {
            $($(#[$comment])* $point,)*
        }

        impl SyncPoint {
            /// All of them.
            pub const ALL: &[SyncPoint] = &[$(SyncPoint::$point,)*];

            /// Which tests notice its absence.
            pub fn scope(self) -> SyncScope {
                match self {
                    $(SyncPoint::$point => SyncScope::$scope,)*
                }
            }
        }
    };
}

sync_points! {
    /// A group of records, before any of them is acknowledged.
    Commit: Partition,
    /// What was written without a sync, when somebody asks for one.
    Flush: Partition,
    /// The segment that is full, before another one becomes the active one.
    Seal: Partition,
    /// The header of the next segment, before a manifest names it.
    SegmentData: Partition,
    /// The directory entry of the next segment, before a manifest names it.
    SegmentEntry: Partition,
    /// The content of the manifest with the next segment, before it takes the name of the old one.
    ManifestData: Partition,
    /// The directory entry of that manifest, before anything is written to the segment.
    ManifestEntry: Partition,
    /// What a compaction copied, before a manifest names it.
    CompactedData: Partition,
    /// The directory entries of what a compaction wrote.
    CompactedEntry: Partition,
    /// The deletes that let a compaction leave blobs out.
    CompactionDeletes: Partition,
    /// The content of a compaction's manifest, before it takes the name of the old one.
    CompactedManifestData: Partition,
    /// The directory entry of that manifest, before the old segments are deleted.
    CompactedManifestEntry: Partition,
    /// What recovery found in the active segment, before it is served: a process that was killed may not have
    /// synced it.
    RecoveredData: Partition,
    /// The directory, before recovery deletes what the manifest does not name: the manifest may not have been synced.
    RecoveredEntry: Partition,
    /// The header of the first segment, before there is a manifest.
    FirstSegmentData: NewPartition,
    /// The directory entry of the first segment, before there is a manifest.
    FirstSegmentEntry: NewPartition,
    /// The content of the first manifest, before it gets its name.
    FirstManifestData: NewPartition,
    /// The directory entry of the first manifest, before there is a partition.
    FirstManifestEntry: NewPartition,
    /// What was written without a sync, when the partition is closed.
    Close: ClosedPartition,
    /// The mark of what is synced, when the partition is closed.
    MarkData: ClosedPartition,
    /// The directory entry of the mark.
    MarkEntry: ClosedPartition,
    /// The content of a manifest that says something else of the replica, before it takes the name of the old one.
    ReplicaManifestData: Replica,
    /// The directory entry of that manifest, before anybody is told, or a record is written that it stands for.
    ReplicaManifestEntry: Replica,
    /// The content of the file with the version of a data directory, before it gets its name.
    VersionData: DataDirectory,
    /// The directory entry of that file, before anything else is made.
    VersionEntry: DataDirectory,
    /// The directory entry of the folder of the partitions, before there are any.
    PartitionsEntry: DataDirectory,
    /// The directory entry of a partition that was made, before blobs are put into it.
    PartitionEntry: DataDirectory,
    /// The content of a key's file, before it gets its name.
    KeyData: Key,
    /// The directory entry of that file, before anybody is told of the key.
    KeyEntry: Key,
    /// The directory entries of folders that were made for data directories, before anything in them is relied on.
    FolderEntry: Folders,
    /// The content of a file that says which disk it is, or which there are, before it takes its name.
    DiskData: Disks,
    /// The directory entry of that file, before the disk is used.
    DiskEntry: Disks,
    /// The directory entry of the folder of the names, before there are any.
    NamesFolderEntry: Node,
    /// The directory entry of the file of the names, before there are any.
    NamesEntry: Node,
    /// A transaction of the names, before any of its requests is acknowledged.
    Names: Node,
    /// The content of the file with a replica's tokens, before it takes the name of the old one.
    TokensData: Tokens,
    /// The directory entry of that file, before a source is told of the tokens.
    TokensEntry: Tokens,
    /// The content of the file that says of which node a directory is, before it takes its name.
    OwnerData: Home,
    /// The directory entry of that file, before the directory is used.
    OwnerEntry: Home,
    /// The directory entry of a node's new replica, before anything in it is relied on.
    ReplicaEntry: Home,
    /// The content of a file that is written to see whether the disk takes it.
    ProbeData: Probe,
    /// The directory entry of that file.
    ProbeEntry: Probe,
}
