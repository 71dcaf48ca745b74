//! Holds the code against `spec/blob-partition.md`: what it writes is the golden vector, byte for byte, and a reader that
//! knows only the specification finds the fields in it. `AFTERBAY_VECTORS_WRITE=true` writes the vectors anew, for a new
//! version of the format.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use afterbay_blob_format::{
    BlobId, ChecksumTable, ChunkList, ChunkRef, IndexDirectory, IndexEntry, IndexedSegment,
    Manifest, ManifestSegment, PartitionId, Properties, PropertyClass, RecordHeader, RecordKind,
    ReplicaState, SegmentHeader, SyncedMark, crc32c_of, encode_index, encode_index_1,
};
use bytes::Bytes;
use uuid::Uuid;

const PARTITION: PartitionId = PartitionId(0x0102_0304_0506_0708);
const LOG: Uuid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
const SEGMENT: Uuid = Uuid::from_u128(0xffee_ddcc_bbaa_9988_7766_5544_3322_1100);
const BLOB: Uuid = Uuid::from_u128(0x0f1e_2d3c_4b5a_4697_8879_6a5b_4c3d_2e1f);
const OTHER: Uuid = Uuid::from_u128(0x0f1e_2d3c_4b5a_4697_8879_6a5b_4c3d_2e20);

fn id(uuid: Uuid) -> BlobId {
    BlobId { partition: PARTITION, uuid }
}

const BODY: &[u8] = b"a basin below a dam";

fn put(properties: &[u8], body: &[u8]) -> RecordHeader {
    RecordHeader {
        sequence: 1,
        synced_through: 68,
        expires_ms: 1_900_000_000_000,
        container: 7,
        properties_bytes: properties.len() as u32,
        properties_crc: crc32c_of(&[properties]),
        body_bytes: body.len() as u32,
        checksums_crc: ChecksumTable::of(body).crc(),
        ..RecordHeader::new(RecordKind::Put, id(BLOB), 1_800_000_000_000)
    }
}

fn record(kind: RecordKind, uuid: Uuid, sequence: u64, life: u32, expires_ms: u64) -> RecordHeader {
    let time_ms = 1_800_000_000_000 + sequence;
    let header = RecordHeader::new(kind, id(uuid), time_ms);
    RecordHeader { sequence, synced_through: 68, life, expires_ms, ..header }
}

fn records(body: &[u8]) -> Vec<(RecordHeader, Vec<u8>)> {
    let properties = Properties::default()
        .with(PropertyClass::System, "content-type", "text/plain")
        .with(PropertyClass::User, "colour", "green")
        .encode()
        .unwrap();
    let rest = [&properties, ChecksumTable::of(body).as_bytes(), body].concat();
    vec![
        (put(&properties, body), rest),
        (record(RecordKind::TtlUpdate, BLOB, 2, 0, 0), Vec::new()),
        (record(RecordKind::Delete, BLOB, 3, 0, 0), Vec::new()),
        (record(RecordKind::Undelete, BLOB, 4, 1, 0), Vec::new()),
        (record(RecordKind::Delete, OTHER, 5, 0, 0), Vec::new()),
    ]
}

fn log() -> Vec<u8> {
    log_with(BODY)
}

fn log_with(body: &[u8]) -> Vec<u8> {
    let header = SegmentHeader { partition: PARTITION, log: LOG, segment: SEGMENT, number: 0x1f };
    let mut log = header.encode().to_vec();
    for (header, rest) in records(body) {
        log.extend_from_slice(&header.encode(LOG));
        log.extend_from_slice(&rest);
    }
    log
}

fn entries() -> Vec<IndexEntry> {
    let mut offset = 68;
    let mut entries: Vec<_> = records(BODY)
        .iter()
        .map(|(header, _)| {
            let entry = IndexEntry::of(header, offset);
            offset += header.record_bytes();
            entry
        })
        .collect();
    entries.sort_by_key(|entry| (entry.uuid, entry.offset));
    entries
}

type EncodeIndex = fn(&IndexedSegment, &[IndexEntry]) -> Vec<u8>;

fn index(encode: EncodeIndex) -> Vec<u8> {
    let of = IndexedSegment {
        partition: PARTITION,
        segment: SEGMENT,
        number: 0x1f,
        covers: log().len() as u32,
        first_sequence: 1,
    };
    encode(&of, &entries())
}

fn manifest() -> Manifest {
    let sealed = ManifestSegment {
        number: 0x1f,
        segment: SEGMENT,
        length: log().len() as u32,
        compacted: true,
        next_sequence: 6,
    };
    let active = ManifestSegment {
        number: 0x20,
        segment: LOG,
        length: 0,
        compacted: false,
        next_sequence: 6,
    };
    Manifest {
        partition: PARTITION,
        log: LOG,
        generation: 9,
        capacity_bytes: 100 << 30,
        next_number: 0x21,
        segment_bytes: 1 << 30,
        replica: None,
        segments: vec![sealed, active],
    }
}

fn manifest_2() -> Manifest {
    let replica = ReplicaState { incarnation: OTHER, tombstone_horizon: 5 };
    Manifest { replica: Some(replica), ..manifest() }
}

fn vector(name: &str, written: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../spec/vectors")
        .join(format!("blob-partition.{name}.hex"));
    if std::env::var_os("AFTERBAY_VECTORS_WRITE").is_some() {
        std::fs::write(&path, to_hex(written)).unwrap();
    }
    from_hex(&std::fs::read_to_string(&path).unwrap())
}

fn to_hex(bytes: &[u8]) -> String {
    let line =
        |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    bytes.chunks(32).map(line).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn number(bytes: &[u8], offset: usize, size: usize) -> u64 {
    bytes[offset..offset + size].iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// CRC32C, bit by bit, as no library does it.
fn crc(parts: &[&[u8]]) -> u64 {
    let mut crc = u32::MAX;
    for byte in parts.iter().flat_map(|part| part.iter()) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    u64::from(!crc)
}

#[test]
fn the_log_is_as_specified() {
    let log = log();
    assert_eq!(vector("log", &log), log);
    assert_eq!(&log[..8], b"AFTRBLOG");
    assert_eq!(number(&log, 8, 4), 1);
    assert_eq!(number(&log, 16, 8), PARTITION.0);
    assert_eq!(&log[24..40], LOG.as_bytes());
    assert_eq!(&log[40..56], SEGMENT.as_bytes());
    assert_eq!(number(&log, 56, 8), 0x1f);
    assert_eq!(number(&log, 64, 4), crc(&[&log[..64]]));
    assert_eq!(read_records(&log), RECORDS);
}

#[test]
fn every_block_of_a_body_has_a_checksum() {
    assert_eq!(read_records(&log_with(&[7; 65_537])), RECORDS);
    assert_eq!(read_records(&log_with(&[])), RECORDS);
}

const RECORDS: [(u64, u64, u64); 5] = [(1, 1, 0), (3, 2, 0), (2, 3, 0), (4, 4, 1), (2, 5, 0)];

/// Kind, sequence number and life of each record, by the specification.
fn read_records(log: &[u8]) -> Vec<(u64, u64, u64)> {
    let mut found = Vec::new();
    let mut at = 68;
    while at < log.len() {
        let record = &log[at..];
        assert_eq!(&record[..4], b"ABLR");
        assert_eq!(record[4], 1);
        assert_eq!(number(record, 84, 4), crc(&[LOG.as_bytes(), &record[..84]]));
        let properties = 88 + number(record, 68, 4) as usize;
        let body_bytes = number(record, 76, 4) as usize;
        let checksums = properties + body_bytes.div_ceil(65_536) * 4;
        assert_eq!(number(record, 72, 4), crc(&[&record[88..properties]]));
        assert_eq!(number(record, 80, 4), crc(&[&record[properties..checksums]]));
        for (i, block) in record[checksums..checksums + body_bytes].chunks(65_536).enumerate() {
            assert_eq!(number(record, properties + 4 * i, 4), crc(&[block]));
        }
        found.push((record[5].into(), number(record, 32, 8), number(record, 44, 4)));
        at += checksums + body_bytes;
    }
    found
}

#[test]
fn the_code_reads_the_log() {
    let log = vector("log", &log());
    let parsed = SegmentHeader::parse(&log).unwrap();
    let mut at = 68;
    for (expected, _) in records(BODY) {
        let header = RecordHeader::parse(&log[at..], parsed.log).unwrap();
        assert_eq!(header, expected);
        let layout = header.layout();
        let properties = Bytes::copy_from_slice(&log[at..][layout.properties]);
        assert!(Properties::parse(&properties).is_ok());
        at += header.record_bytes() as usize;
    }
    assert_eq!(at, log.len());
}

/// Both formats of it: the filter, and the page.
fn check_index(index: &[u8], format: u64) -> (&[u8], &[u8]) {
    assert_eq!(&index[..8], b"AFTRBIDX");
    assert_eq!(number(index, 8, 4), format);
    assert_eq!(number(index, 48, 4), log().len() as u64);
    assert_eq!(number(index, 52, 4), 5);
    assert_eq!(number(index, 56, 8), 1);
    let filter = 96..96 + number(index, 64, 4) as usize;
    let fences = filter.end..filter.end + 16;
    assert_eq!(&index[fences.clone()], BLOB.as_bytes());
    assert_eq!(number(index, 68, 4), crc(&[&index[filter.start..fences.end]]));
    assert_eq!(number(index, 92, 4), crc(&[&index[..92]]));
    assert!(index[fences.end..4096].iter().all(|byte| *byte == 0));
    let page = &index[4096..];
    assert_eq!((page.len(), number(page, 0, 4)), (4096, 5));
    assert_eq!(number(page, 4092, 4), crc(&[SEGMENT.as_bytes(), &[0; 4], &page[..4092]]));
    let entry = &page[4 + 4 * 48..];
    assert_eq!(&entry[..16], OTHER.as_bytes());
    assert_eq!(number(entry, 16, 4), log().len() as u64 - 88);
    assert_eq!((number(entry, 20, 4), entry[44]), (88, 2));
    (&index[filter], page)
}

#[test]
fn the_index_is_as_specified() {
    let index = index(encode_index);
    assert_eq!(vector("index-2", &index), index);
    let (filter, _) = check_index(&index, 2);
    assert_eq!((number(&index, 84, 4), number(&index, 88, 4)), (1, 0));
    for uuid in [BLOB, OTHER] {
        assert!(may_contain(&index, filter, uuid), "{uuid}");
    }
    let absent = (0..1000).map(Uuid::from_u128);
    assert!(absent.filter(|uuid| may_contain(&index, filter, *uuid)).count() < 5);
}

#[test]
fn the_index_of_format_1_is_as_specified() {
    let index = index(encode_index_1);
    assert_eq!(vector("index", &index), index);
    let (filter, _) = check_index(&index, 1);
    assert_eq!(filter.len(), 8, "5 entries of 12 bits are 60 bits");
    assert!(index[72..92].iter().all(|byte| *byte == 0));
    for uuid in [BLOB, OTHER] {
        assert!(may_contain_1(filter, uuid), "{uuid}");
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

fn half(uuid: Uuid, i: usize) -> u64 {
    number(uuid.as_bytes(), 8 * i, 8)
}

/// The filter, by the specification.
fn may_contain(index: &[u8], filter: &[u8], uuid: Uuid) -> bool {
    let [seed, starts, exponent] = [72, 76, 80].map(|at| number(index, at, 4));
    let key = half(uuid, 1) ^ half(SEGMENT, 1) ^ mix(half(uuid, 0) ^ half(SEGMENT, 0));
    let g = 0x9e37_79b9_7f4a_7c15u64;
    let h = mix(key.wrapping_add((seed + 1).wrapping_mul(g)));
    let m = mix(h ^ g);
    let slots = 1 << exponent;
    let first = ((u128::from(h) * u128::from(starts * slots)) >> 64) as u64;
    let others = (1..4).map(|i| (first / slots + i) * slots + (m >> (16 * (i - 1))) % slots);
    let content = |slot: u64| {
        let pair = &filter[slot as usize / 2 * 3..][..3];
        let bits = u64::from(pair[0]) | u64::from(pair[1]) << 8 | u64::from(pair[2]) << 16;
        if slot.is_multiple_of(2) { bits & 0xfff } else { bits >> 12 }
    };
    assert_eq!(filter.len() as u64, (starts + 3) * slots / 2 * 3);
    others.map(content).fold(content(first), |all, one| all ^ one) == m >> 52
}

/// The same of format 1.
fn may_contain_1(filter: &[u8], uuid: Uuid) -> bool {
    let h = mix(half(uuid, 0) ^ half(SEGMENT, 0));
    let d = mix(half(uuid, 1) ^ half(SEGMENT, 1) ^ h) | 1;
    (0..8u64).all(|i| {
        let hash = h.wrapping_add(i.wrapping_mul(d));
        let bit = ((u128::from(hash) * (filter.len() as u128 * 8)) >> 64) as usize;
        number(filter, bit / 64 * 8, 8) >> (bit % 64) & 1 == 1
    })
}

#[test]
fn the_code_reads_the_index() {
    let formats: [(_, EncodeIndex); 2] = [("index", encode_index_1), ("index-2", encode_index)];
    for (name, encode) in formats {
        let stored = vector(name, &index(encode));
        let directory = IndexDirectory::parse(&stored).unwrap();
        assert_eq!(directory.parse_page(0, &stored[4096..]), Ok(entries()));
        assert!(directory.may_contain(BLOB) && directory.may_contain(OTHER));
    }
}

#[test]
fn the_manifest_is_as_specified() {
    let stored = manifest().encode();
    assert_eq!(vector("manifest", &stored), stored);
    assert_eq!(Manifest::parse(&stored), Ok(manifest()));
    assert_eq!(&stored[..8], b"AFTRBMAN");
    assert_eq!((number(&stored, 8, 4), number(&stored, 12, 4)), (1, 2));
    assert_eq!(number(&stored, 40, 8), 9);
    assert_eq!(number(&stored, 48, 8), 100 << 30);
    assert_eq!(number(&stored, 56, 8), 0x21);
    assert_eq!(number(&stored, 64, 4), 1 << 30);
    assert_eq!(number(&stored, 72, 8), 0x1f);
    assert_eq!(&stored[80..96], SEGMENT.as_bytes());
    assert_eq!(number(&stored, 96, 4), log().len() as u64);
    assert_eq!((number(&stored, 100, 4), number(&stored, 104, 8)), (1, 6));
    assert_eq!((number(&stored, 136, 4), number(&stored, 140, 4)), (0, 0));
    assert_eq!(stored.len(), 72 + 2 * 40 + 4);
    assert_eq!(number(&stored, 152, 4), crc(&[&stored[..152]]));
}

#[test]
fn the_manifest_of_format_2_is_as_specified() {
    let (first, stored) = (manifest().encode(), manifest_2().encode());
    assert_eq!(vector("manifest-2", &stored), stored);
    assert_eq!(Manifest::parse(&stored), Ok(manifest_2()));
    assert_eq!(number(&stored, 8, 4), 2);
    assert_eq!(stored[12..72], first[12..72]);
    assert_eq!((&stored[72..88], number(&stored, 88, 8)), (&OTHER.as_bytes()[..], 5));
    assert_eq!(stored[96..176], first[72..152]);
    assert_eq!(number(&stored, 176, 4), crc(&[&stored[..176]]));
    assert_eq!(stored.len(), 180);
}

/// Behind the flag, the same.
#[test]
fn a_put_that_follows_is_as_specified() {
    let header = put(b"", BODY);
    let [one, other] = [false, true].map(|follows| RecordHeader { follows, ..header.clone() });
    let (first, stored) = (one.encode(LOG), other.encode(LOG));
    assert_eq!((number(&first, 6, 2), number(&stored, 6, 2)), (0, 1));
    assert_eq!((&stored[..6], &stored[8..84]), (&first[..6], &first[8..84]));
    assert_eq!(number(&stored, 84, 4), crc(&[LOG.as_bytes(), &stored[..84]]));
    let of = IndexedSegment {
        partition: PARTITION,
        segment: SEGMENT,
        number: 0x1f,
        covers: 1000,
        first_sequence: 1,
    };
    let page = encode_index(&of, &[IndexEntry::of(&other, 68)]).split_off(4096);
    assert_eq!((page[4 + 44], page[4 + 45]), (1, 1));
}

#[test]
fn the_mark_is_as_specified() {
    let mark = SyncedMark {
        partition: PARTITION,
        log: LOG,
        segment: SEGMENT,
        synced_through: 4000,
        next_sequence: 6,
    };
    let stored = mark.encode();
    assert_eq!(vector("synced", &stored), stored);
    assert_eq!(SyncedMark::parse(&stored), Ok(mark));
    assert_eq!(&stored[..8], b"AFTRBSYN");
    assert_eq!((number(&stored, 8, 4), number(&stored, 12, 4)), (1, 4000));
    assert_eq!(number(&stored, 16, 8), PARTITION.0);
    assert_eq!((&stored[24..40], &stored[40..56]), (&LOG.as_bytes()[..], &SEGMENT.as_bytes()[..]));
    assert_eq!(number(&stored, 56, 8), 6);
    assert_eq!((stored.len(), number(&stored, 64, 4)), (68, crc(&[&stored[..64]])));
}

fn chunks() -> ChunkList {
    let chunk = |uuid, length| ChunkRef { id: id(uuid), length };
    ChunkList { upload: LOG, chunks: vec![chunk(BLOB, 4 << 20), chunk(OTHER, 5)] }
}

#[test]
fn the_chunk_list_is_as_specified() {
    let stored = chunks().encode().unwrap();
    assert_eq!(vector("chunks", &stored), stored);
    assert_eq!(ChunkList::parse(&stored), Ok(chunks()));
    assert_eq!(&stored[..8], b"AFTRBCHK");
    assert_eq!((number(&stored, 8, 4), number(&stored, 12, 4)), (1, 2));
    assert_eq!(number(&stored, 16, 8), (4 << 20) + 5);
    assert_eq!(&stored[24..40], LOG.as_bytes());
    assert_eq!(number(&stored, 40, 8), PARTITION.0);
    assert_eq!(&stored[48..64], BLOB.as_bytes());
    assert_eq!(number(&stored, 64, 4), 4 << 20);
    assert_eq!((&stored[76..92], number(&stored, 92, 4)), (&OTHER.as_bytes()[..], 5));
    assert_eq!(stored.len(), 40 + 2 * 28 + 4);
    assert_eq!(number(&stored, 96, 4), crc(&[&stored[..96]]));
}
