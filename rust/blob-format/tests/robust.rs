//! Parsers meet bytes that nobody wrote: they answer, and do not panic.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use afterbay_blob_format::{
    ChunkList, ENTRIES_PER_PAGE, IndexDirectory, IndexEntry, IndexedSegment, Manifest, PartitionId,
    Properties, RecordHeader, RecordKind, SegmentHeader, SyncedMark, encode_index, encode_index_1,
};
use bytes::Bytes;
use proptest::prelude::*;
use uuid::Uuid;

fn sample_index(entries: u32) -> Vec<u8> {
    sample(entries, encode_index)
}

fn sample(entries: u32, encode: fn(&IndexedSegment, &[IndexEntry]) -> Vec<u8>) -> Vec<u8> {
    let of = IndexedSegment {
        partition: PartitionId(1),
        segment: Uuid::from_u128(2),
        number: 3,
        covers: u32::MAX,
        first_sequence: 1,
    };
    let entry = |i: u32| IndexEntry {
        uuid: Uuid::from_u128(i.into()),
        offset: 68 + 88 * i,
        length: 88,
        expires_ms: 0,
        time_ms: 0,
        life: 0,
        kind: RecordKind::Delete,
        follows: false,
    };
    encode(&of, &(0..entries).map(entry).collect::<Vec<_>>())
}

/// Each parser, on the same bytes.
fn parse_all(bytes: &[u8]) {
    let _ = RecordHeader::parse(bytes, Uuid::nil()).map(|header| header.layout());
    let _ = SegmentHeader::parse(bytes);
    let _ = Manifest::parse(bytes);
    let _ = ChunkList::parse(bytes);
    let _ = SyncedMark::parse(bytes);
    let _ = IndexDirectory::resident_bytes(bytes);
    let _ = IndexDirectory::parse(bytes);
    let _ = Properties::parse(&Bytes::copy_from_slice(bytes));
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..5000)) {
        parse_all(&bytes);
    }

    #[test]
    fn a_page_of_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..5000), page: u32) {
        let directory = IndexDirectory::parse(&sample_index(3)).unwrap();
        prop_assert!(directory.parse_page(page, &bytes).is_err());
    }

    #[test]
    fn any_properties_come_back(
        pairs in proptest::collection::vec((".{1,20}", proptest::collection::vec(any::<u8>(), 0..50)), 0..20)
    ) {
        let mut properties = Properties::default();
        for (name, value) in pairs {
            properties = properties.with(afterbay_blob_format::PropertyClass::User, &name, value);
        }
        let stored = Bytes::from(properties.encode().unwrap());
        prop_assert_eq!(Properties::parse(&stored), Ok(properties));
    }
}

#[test]
fn every_number_of_entries_up_to_three_pages() {
    for entries in 0..=3 * ENTRIES_PER_PAGE as u32 {
        for encode in [encode_index, encode_index_1] {
            let stored = sample(entries, encode);
            let directory = IndexDirectory::parse(&stored).unwrap();
            let pages = directory.pages().end;
            assert_eq!(stored.len() as u64, directory.page_offset(pages));
            assert_eq!(pages, entries.div_ceil(ENTRIES_PER_PAGE as u32));
        }
    }
}
