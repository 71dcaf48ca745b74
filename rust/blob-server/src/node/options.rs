//! Settings of a datanode.

use std::time::Duration;

use afterbay_blob_store::Options;

/// Settings of a datanode. Sizes of partitions hold for those that are made from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeOptions {
    /// Bytes of a partition; `None`: by the size of the disk, see [`NodeOptions::partition`].
    pub partition_bytes: Option<u64>,
    /// Bytes of a segment; `None`: a sixteenth of a partition, from 8 MiB to 1 GiB.
    pub segment_bytes: Option<u32>,
    /// A segment with so many records is sealed, full or not.
    pub segment_records_max: usize,
    /// So many partitions of a disk take new blobs at once.
    pub writable_partitions: usize,
    /// Bytes of each disk that partitions are not planned into.
    pub reserve_bytes: u64,
    /// How long a deleted blob can be undeleted; after that, compaction may take it.
    pub undelete_window: Duration,
    /// Bytes that compaction reads and writes in a second, on each disk.
    pub compact_bytes_per_s: u64,
    /// How often a disk looks for what can be compacted.
    pub compact_interval: Duration,
    /// Segments with less garbage are left alone, from 0 to 100.
    pub garbage_percent_min: u8,
    /// After how long writes of the class `fast` are synced.
    pub flush_interval: Duration,
}

impl Default for NodeOptions {
    fn default() -> Self {
        NodeOptions {
            partition_bytes: None,
            segment_bytes: None,
            segment_records_max: Options::default().segment_records_max,
            writable_partitions: 2,
            reserve_bytes: 64 << 20,
            undelete_window: Duration::from_secs(24 * 3600),
            compact_bytes_per_s: 32 << 20,
            compact_interval: Duration::from_secs(60),
            garbage_percent_min: 30,
            flush_interval: Duration::from_secs(1),
        }
    }
}

impl NodeOptions {
    /// Settings of a new partition on a disk that has `disk_bytes` for partitions: the largest power of two within
    /// an eighth of it, at most 64 GiB, so that compaction and the threshold for writes concern small parts of a disk.
    pub fn partition(&self, disk_bytes: u64) -> Options {
        let eighth = 1u64 << (disk_bytes / 8).max(1).ilog2();
        let capacity_bytes = self.partition_bytes.unwrap_or(eighth.clamp(64 << 20, 64 << 30));
        let sixteenth = (capacity_bytes / 16).clamp(8 << 20, 1 << 30).min(capacity_bytes);
        // At most 1 GiB, so it fits.
        let segment_bytes = self.segment_bytes.unwrap_or(sixteenth as u32);
        let segment_records_max = self.segment_records_max;
        Options { capacity_bytes, segment_bytes, segment_records_max, ..Options::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_by_the_size_of_the_disk() {
        let of = |disk_bytes| {
            let options = NodeOptions::default().partition(disk_bytes);
            options.check().unwrap();
            (options.capacity_bytes >> 20, options.segment_bytes >> 20)
        };
        assert_eq!(of(0), (64, 8));
        assert_eq!(of(1 << 30), (128, 8));
        assert_eq!(of(250 << 30), (16 << 10, 1 << 10));
        assert_eq!(of(4 << 40), (64 << 10, 1 << 10));
        let tiny = NodeOptions { partition_bytes: Some(1 << 20), ..NodeOptions::default() };
        tiny.partition(0).check().unwrap();
    }
}
