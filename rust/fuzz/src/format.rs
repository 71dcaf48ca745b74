//! What is on the disk.

use afterbay_blob_format::{
    BlobId, ChecksumTable, ChunkList, ChunkRef, INDEX_HEADER_BYTES, IndexDirectory, IndexEntry,
    IndexedSegment, MARK_BYTES, Manifest, ManifestSegment, PAGE_BYTES, PartitionId, Properties,
    PropertyClass, RECORD_HEADER_BYTES, RecordHeader, RecordKind, ReplicaState,
    SEGMENT_HEADER_BYTES, SegmentHeader, SyncedMark, crc32c_of, encode_index, encode_index_1,
};
use bytes::Bytes;
use uuid::Uuid;

use crate::outcome;

const LOG: Uuid = Uuid::from_u128(7);
const PARTITION: PartitionId = PartitionId(3);

fn id(number: u128) -> BlobId {
    BlobId { partition: PARTITION, uuid: Uuid::from_u128(number) }
}

/// With the checksum of `before` and all bytes up to `at`, at `at`.
fn repaired(bytes: &[u8], at: usize, before: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let crc = crc32c_of(&[before, bytes.get(..at)?]);
    bytes.get_mut(at..at + 4)?.copy_from_slice(&crc.to_be_bytes());
    Some(bytes)
}

/// With the checksum of all before them as the last four bytes.
fn repaired_at_the_end(bytes: &[u8]) -> Option<Vec<u8>> {
    repaired(bytes, bytes.len().checked_sub(4)?, &[])
}

/// As they came, and repaired.
fn both(bytes: &[u8], repaired: Option<Vec<u8>>, parse: impl Fn(&[u8]) -> String) -> String {
    let first = parse(bytes);
    repaired.map_or(first, |bytes| parse(&bytes))
}

pub(crate) fn record_seeds() -> Vec<Vec<u8>> {
    let put = RecordHeader {
        sequence: 5,
        synced_through: 68,
        expires_ms: 9,
        container: 2,
        properties_bytes: 16,
        body_bytes: 70_000,
        ..RecordHeader::new(RecordKind::Put, id(1), 1000)
    };
    let others = [RecordKind::Delete, RecordKind::TtlUpdate, RecordKind::Undelete];
    let mut all = vec![put.encode(LOG).to_vec()];
    all.extend(others.map(|kind| RecordHeader::new(kind, id(2), 7).encode(LOG).to_vec()));
    all
}

pub(crate) fn record(bytes: &[u8]) -> String {
    both(bytes, repaired(bytes, RECORD_HEADER_BYTES - 4, LOG.as_bytes()), |bytes| {
        let parsed = RecordHeader::parse(bytes, LOG);
        if let Ok(header) = &parsed {
            assert_eq!(header.encode(LOG), bytes[..RECORD_HEADER_BYTES]);
            let layout = header.layout();
            assert_eq!(layout.properties.end, layout.checksums.start);
            assert_eq!(layout.checksums.end, layout.body.start);
            assert_eq!(layout.body.end, header.record_bytes() as usize);
        }
        outcome(parsed)
    })
}

pub(crate) fn segment_seeds() -> Vec<Vec<u8>> {
    let header =
        SegmentHeader { partition: PARTITION, log: LOG, segment: Uuid::from_u128(8), number: 4 };
    vec![header.encode().to_vec()]
}

pub(crate) fn segment(bytes: &[u8]) -> String {
    both(bytes, repaired(bytes, SEGMENT_HEADER_BYTES - 4, &[]), |bytes| {
        let parsed = SegmentHeader::parse(bytes);
        if let Ok(header) = &parsed {
            assert_eq!(header.encode(), bytes[..SEGMENT_HEADER_BYTES]);
        }
        outcome(parsed)
    })
}

pub(crate) fn manifest_seeds() -> Vec<Vec<u8>> {
    let segment = |number: u64, length: u32| ManifestSegment {
        number,
        segment: Uuid::from_u128(number.into()),
        length,
        compacted: number == 2,
        next_sequence: number * 10,
    };
    let replica = ReplicaState { incarnation: Uuid::from_u128(5), tombstone_horizon: 7 };
    let of = |replica, segments| Manifest {
        partition: PARTITION,
        log: LOG,
        generation: 3,
        capacity_bytes: 1 << 20,
        next_number: 9,
        segment_bytes: 1 << 14,
        replica,
        segments,
    };
    let some = vec![segment(2, 5000), segment(4, 700), segment(5, 0)];
    vec![of(Some(replica), some).encode(), of(None, vec![segment(1, 0)]).encode()]
}

pub(crate) fn manifest(bytes: &[u8]) -> String {
    both(bytes, repaired_at_the_end(bytes), |bytes| {
        let parsed = Manifest::parse(bytes);
        if let Ok(manifest) = &parsed {
            assert_eq!(manifest.encode(), bytes);
        }
        outcome(parsed)
    })
}

pub(crate) fn mark_seeds() -> Vec<Vec<u8>> {
    let mark = SyncedMark {
        partition: PARTITION,
        log: LOG,
        segment: Uuid::from_u128(8),
        synced_through: 4000,
        next_sequence: 5,
    };
    vec![mark.encode()]
}

pub(crate) fn mark(bytes: &[u8]) -> String {
    both(bytes, repaired(bytes, MARK_BYTES - 4, &[]), |bytes| {
        let parsed = SyncedMark::parse(bytes);
        if let Ok(mark) = &parsed {
            assert_eq!(mark.encode(), bytes[..MARK_BYTES]);
        }
        outcome(parsed)
    })
}

pub(crate) fn index_seeds() -> Vec<Vec<u8>> {
    let old = sample_index(90, encode_index_1);
    [0, 1, 90].map(|entries| sample_index(entries, encode_index)).into_iter().chain([old]).collect()
}

type EncodeIndex = fn(&IndexedSegment, &[IndexEntry]) -> Vec<u8>;

fn sample_index(entries: u32, encode: EncodeIndex) -> Vec<u8> {
    let of = IndexedSegment {
        partition: PARTITION,
        segment: Uuid::from_u128(2),
        number: 3,
        covers: 70_000,
        first_sequence: 1,
    };
    let entry = |i: u32| IndexEntry {
        uuid: Uuid::from_u128(u128::from(i) << 100),
        offset: 68 + 88 * i,
        length: 88,
        expires_ms: 0,
        time_ms: 5,
        life: 0,
        kind: RecordKind::Delete,
        follows: false,
    };
    encode(&of, &(0..entries).map(entry).collect::<Vec<_>>())
}

/// With the checksums of what stays in memory, and of the header with that.
fn repaired_index(bytes: &[u8]) -> Option<Vec<u8>> {
    let bytes = repaired(bytes, INDEX_HEADER_BYTES - 4, &[])?;
    let resident = IndexDirectory::resident_bytes(&bytes).ok()?;
    let crc = crc32c_of(&[bytes.get(INDEX_HEADER_BYTES..resident)?]);
    let mut bytes = bytes;
    bytes.get_mut(68..72)?.copy_from_slice(&crc.to_be_bytes());
    repaired(&bytes, INDEX_HEADER_BYTES - 4, &[])
}

pub(crate) fn index(bytes: &[u8]) -> String {
    both(bytes, repaired_index(bytes), |bytes| {
        let parsed = IndexDirectory::parse(bytes);
        let directory = match &parsed {
            Ok(directory) => directory,
            Err(error) => return error.to_string(),
        };
        let mut said = "ok".to_owned();
        for page in directory.pages().take(20) {
            let begin = usize::try_from(directory.page_offset(page)).unwrap_or(usize::MAX);
            let stored = begin.checked_add(PAGE_BYTES).and_then(|end| bytes.get(begin..end));
            let parsed = directory.parse_page(page, stored.unwrap_or_default());
            let sealed = stored.and_then(|stored| {
                let before = [directory.segment.as_bytes(), &page.to_be_bytes()[..]].concat();
                repaired(stored, PAGE_BYTES - 4, &before)
            });
            let again = sealed.map(|sealed| directory.parse_page(page, &sealed));
            for entry in parsed.iter().chain(again.iter().flatten()).flatten() {
                assert!(entry.end() > u64::from(entry.offset));
                let _ = directory.pages_of(entry.uuid);
                let _ = directory.may_contain(entry.uuid);
            }
            said = outcome(again.unwrap_or(parsed));
        }
        said
    })
}

pub(crate) fn properties_seeds() -> Vec<Vec<u8>> {
    let some = Properties::default()
        .with(PropertyClass::System, "content-type", "text/plain")
        .with(PropertyClass::User, "é", vec![0, 1, 2])
        .with(PropertyClass::User, "empty", "");
    [some, Properties::default()].iter().filter_map(|p| p.encode().ok()).collect()
}

pub(crate) fn properties(bytes: &[u8]) -> String {
    let parsed = Properties::parse(&Bytes::copy_from_slice(bytes));
    if let Ok(properties) = &parsed {
        assert_eq!(properties.encode().as_deref(), Ok(bytes));
    }
    outcome(parsed)
}

pub(crate) fn chunk_list_seeds() -> Vec<Vec<u8>> {
    let of = |count: u128| ChunkList {
        upload: Uuid::from_u128(6),
        chunks: (1..=count).map(|n| ChunkRef { id: id(n), length: 4096 }).collect(),
    };
    [1, 3].iter().filter_map(|count| of(*count).encode().ok()).collect()
}

pub(crate) fn chunk_list(bytes: &[u8]) -> String {
    both(bytes, repaired_at_the_end(bytes), |bytes| {
        let parsed = ChunkList::parse(bytes);
        if let Ok(list) = &parsed {
            assert_eq!(list.encode().as_deref(), Ok(bytes));
            assert!(list.content_bytes() >= list.chunks.len() as u64);
        }
        outcome(parsed)
    })
}

pub(crate) fn checksums_seeds() -> Vec<Vec<u8>> {
    [0, 100, 70_000].map(|length| ChecksumTable::of(&vec![7; length]).as_bytes().to_vec()).to_vec()
}

/// The first four bytes say how long the body is, and are the first of a body of the same content.
pub(crate) fn checksums(bytes: &[u8]) -> String {
    let length = bytes.first_chunk().map_or(0, |first| u32::from_be_bytes(*first) as usize);
    for length in [length, bytes.len() / 4 * 65_536] {
        let crc = crc32c_of(&[bytes]);
        let parsed = ChecksumTable::parse(bytes.to_vec(), length, crc);
        let Ok(table) = parsed else { continue };
        assert_eq!((table.as_bytes(), table.crc()), (bytes, crc));
        for first in [0, length, usize::MAX] {
            let _ = table.verify(first, bytes);
        }
        return "ok".to_owned();
    }
    "refused".to_owned()
}

pub(crate) fn blob_id_seeds() -> Vec<Vec<u8>> {
    vec![id(9).to_string().into_bytes(), b"+000000000000001-".repeat(2)]
}

pub(crate) fn blob_id(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return "not UTF-8".to_owned();
    };
    let parsed: Result<BlobId, _> = text.parse();
    if let Ok(id) = &parsed {
        assert_eq!(id.to_string(), text, "two spellings of an id");
    }
    outcome(parsed)
}
