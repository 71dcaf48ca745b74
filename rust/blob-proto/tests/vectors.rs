//! Holds the code against `spec/blob-protocol.md`: what it sends are the golden vectors, byte for byte, and a reader that
//! knows only the specification finds the fields in them. `AFTERBAY_VECTORS_WRITE=true` writes the vectors anew, for a new
//! version of the protocol.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use afterbay_blob_format::{BlobId, PartitionId, Properties, PropertyClass};
use afterbay_blob_proto::{
    BucketSettings, Code, CreatedKey, DataHead, Entry, Failure, FrameReader, Grant, Hello,
    KeyEntry, Kind, ListRequest, Listing, Message, Name, NewKey, PutHead, Request, Response,
    Target, client_proof, encode_data, encode_keys, parse_keys, parse_request, server_proof,
    verify_data,
};
use afterbay_blob_router::{BlobInfo, ByteRange, Durability, Policy, PutBlob, PutOptions};
use bytes::Bytes;
use uuid::Uuid;

const ID: BlobId = BlobId {
    partition: PartitionId(0x0102_0304_0506_0708),
    uuid: Uuid::from_u128(0x0f1e_2d3c_4b5a_4697_8879_6a5b_4c3d_2e1f),
};
const REQUEST: u64 = 0x1112_1314_1516_1718;
const CONTENT: &[u8] = b"a basin below a dam";

fn name() -> Name {
    Name { bucket: "papers".to_owned(), key: "2026/report".to_owned() }
}

fn properties() -> Properties {
    Properties::default().with(PropertyClass::System, "content-type", "text/plain").with(
        PropertyClass::User,
        "colour",
        "green",
    )
}

fn new_key() -> NewKey {
    let grant = |bucket: &str, rights| Grant { bucket: bucket.to_owned(), rights };
    let grants = vec![grant("papers", 3), grant("*", 1)];
    NewKey { user: "ann".to_owned(), may_create_buckets: true, grants }
}

fn put_options() -> PutOptions {
    PutOptions {
        container: 7,
        durability: Some(Durability::Paranoid),
        acks: None,
        is_named: false,
        expires_ms: Some(1_900_000_000_000),
        content_bytes: Some(19),
        content_bytes_max: None,
        properties: properties(),
    }
}

fn acked(acks: Policy) -> PutHead {
    let options = PutOptions { acks: Some(acks), ..put_options() };
    PutHead { options, name: None }
}

fn requests() -> Vec<(&'static str, Request)> {
    let proof = client_proof("secret", "KEY", &[1; 32], &[2; 32], &[0; 32]);
    let key = "KEY".to_owned();
    let id = Target::Id(ID);
    let get = |range| Request::Get { target: Target::Id(ID), range };
    let expires_ms = Some(1_900_000_000_000);
    let settings =
        BucketSettings { bucket: "papers".to_owned(), durability: Some(Durability::Paranoid) };
    let list = ListRequest {
        bucket: "papers".to_owned(),
        prefix: "2026/".to_owned(),
        after: "2026/a".to_owned(),
        limit: 1000,
    };
    vec![
        ("authenticate", Request::Authenticate { key, nonce: [2; 32], proof }),
        ("put", Request::Put(PutHead { options: put_options(), name: None })),
        ("put-acks", Request::Put(acked(Policy::K(2)))),
        ("put-acks-all", Request::Put(acked(Policy::All))),
        ("put-named", Request::Put(PutHead { name: Some(name()), ..PutHead::default() })),
        ("get", get(None)),
        ("get-range", get(Some(ByteRange::Inclusive(3, 9)))),
        ("get-from", get(Some(ByteRange::From(3)))),
        ("get-last", get(Some(ByteRange::Last(3)))),
        ("get-named", Request::Get { target: Target::Name(name()), range: None }),
        ("stat", Request::Stat(id.clone())),
        ("delete", Request::Delete(id.clone())),
        ("undelete", Request::Undelete(ID)),
        ("update-ttl", Request::UpdateTtl { target: id, expires_ms }),
        ("status", Request::Status),
        ("ping", Request::Ping),
        ("list", Request::List(list)),
        ("create-key", Request::CreateKey(new_key())),
        ("delete-key", Request::DeleteKey("KEY".to_owned())),
        ("list-keys", Request::ListKeys),
        ("set-bucket", Request::SetBucket(settings)),
        ("delete-bucket", Request::DeleteBucket("papers".to_owned())),
        ("scrub-start", Request::ScrubStart { bytes_per_s: 32 << 20, partition: None }),
        (
            "scrub-start-partition",
            Request::ScrubStart { bytes_per_s: 32 << 20, partition: Some(ID.partition) },
        ),
        ("scrub-status", Request::ScrubStatus),
        ("scrub-stop", Request::ScrubStop),
    ]
}

fn responses() -> Vec<(&'static str, Response)> {
    let info = BlobInfo {
        id: ID,
        content_bytes: 19,
        created_ms: 1_800_000_000_000,
        expires_ms: None,
        container: 7,
        properties: properties(),
    };
    let failure = Failure { code: Code::Range, id: Some(ID), number: 19, text: "no".to_owned() };
    let put = PutBlob { id: ID, content_bytes: 19, crc32c: 0x0102_0304 };
    let proof = server_proof("secret", "KEY", &[1; 32], &[2; 32], &[0; 32]);
    let created = CreatedKey { access: "KEY".to_owned(), secret: "secret".to_owned() };
    vec![
        ("welcome", Response::Welcome(proof)),
        ("failed", Response::Failed(failure)),
        ("done", Response::Done),
        ("stored", Response::Stored(put)),
        ("found", Response::Found { info, begin: 3, end: 10 }),
        ("report", Response::Report),
        ("listed", Response::Listed),
        ("key-created", Response::KeyCreated(created)),
        ("keys", Response::Keys),
        ("deleted", Response::Deleted(Some(ID))),
        ("deleted-parts", Response::Deleted(None)),
    ]
}

fn sent() -> Vec<(&'static str, Vec<u8>)> {
    let hello = Hello { nonce: [1; 32], server: "afterbay-blob".to_owned() };
    let mut all = vec![("hello", hello.encode(0, 0).unwrap())];
    for (name, request) in requests() {
        all.push((name, request.encode(REQUEST, 0).unwrap()));
    }
    for (name, response) in responses() {
        all.push((name, response.encode(REQUEST, 0).unwrap()));
    }
    let frame = encode_data(REQUEST, &DataHead::of(CONTENT, true), CONTENT.len() as u32);
    all.push(("data", [&frame, CONTENT].concat()));
    all.push(("data-broken", encode_data(REQUEST, &DataHead::broken(), 0)));
    let entry = |key: &str, content_bytes, durability| Entry {
        key: key.to_owned(),
        content_bytes,
        created_ms: 5,
        durability,
    };
    let entries = vec![entry("2026/b", 19, None), entry("papers", 0, Some(Durability::Durable))];
    let listing = Listing { entries, truncated: true };
    all.push(("listing-body", listing.encode().unwrap()));
    let entry = KeyEntry { access: "KEY".to_owned(), created_ms: 5, key: new_key() };
    all.push(("keys-body", encode_keys(&[entry]).unwrap()));
    all
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn what_is_sent_is_as_specified() {
    let text: String =
        sent().iter().map(|(name, bytes)| format!("{name} {}\n", to_hex(bytes))).collect();
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/blob-protocol.hex");
    if std::env::var_os("AFTERBAY_VECTORS_WRITE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
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

/// The head of a frame, by the specification.
fn head(kind: u64, name: &str) -> Vec<u8> {
    let (_, frame) = sent().into_iter().find(|(other, _)| *other == name).unwrap();
    assert_eq!(&frame[..2], b"AB");
    assert_eq!(frame[2], 1, "version");
    assert_eq!(number(&frame, 3, 1), kind, "kind of {name}");
    let head_bytes = number(&frame, 4, 4) as usize;
    let request = if name == "hello" { 0 } else { REQUEST };
    assert_eq!(number(&frame, 12, 8), request);
    let head = &frame[24..24 + head_bytes];
    assert_eq!(number(&frame, 20, 4), crc(&[&frame[..20], head]));
    assert_eq!(frame.len() as u64, 24 + head_bytes as u64 + number(&frame, 8, 4));
    head.to_vec()
}

#[test]
fn requests_are_as_specified() {
    assert_eq!(head(1, "hello")[..32], [1; 32]);
    assert_eq!(&head(1, "hello")[32..], b"afterbay-blob");
    assert_eq!(head(16, "authenticate")[..32], [2; 32]);
    assert_eq!(&head(16, "authenticate")[64..], b"KEY");
    let put = head(17, "put");
    assert_eq!((number(&put, 0, 4), put[4]), (7, 3));
    assert_eq!(number(&put, 5, 8), 1_900_000_000_000);
    assert_eq!((number(&put, 13, 8), number(&put, 21, 8), put[29]), (19, u64::MAX, 0));
    assert_eq!(put[30..], properties().encode().unwrap());
    let named = head(17, "put-named");
    assert_eq!((named[29], named[30], number(&named, 31, 2)), (1, 6, 11));
    assert_eq!(&named[33..], b"papers2026/report");
    let get = head(18, "get-range");
    assert_eq!((get[0], number(&get, 1, 8), number(&get, 9, 8)), (2, 3, 9));
    assert_eq!((get[17], number(&get, 18, 8)), (1, ID.partition.0));
    assert_eq!(&get[26..], ID.uuid.as_bytes());
    assert_eq!(head(18, "get")[..17], [0; 17]);
    assert_eq!((head(18, "get-from")[0], head(18, "get-last")[0]), (1, 3));
    let named = head(18, "get-named");
    assert_eq!((named[17], named[18], number(&named, 19, 2)), (2, 6, 11));
    assert_eq!((head(19, "stat").len(), head(20, "delete").len()), (25, 25));
    assert_eq!(head(21, "undelete").len(), 24);
    assert_eq!(number(&head(22, "update-ttl"), 0, 8), 1_900_000_000_000);
    assert_eq!((head(23, "status").len(), head(24, "ping").len()), (0, 0));
    let list = head(25, "list");
    assert_eq!((number(&list, 0, 4), number(&list, 4, 2)), (1000, 6));
    assert_eq!(&list[6..], b"papers\x00\x052026/\x00\x062026/a");
    assert_eq!(head(26, "create-key"), KEY_FIELDS);
    assert_eq!(head(27, "delete-key"), b"\x00\x03KEY");
    assert_eq!(head(28, "list-keys").len(), 0);
    assert_eq!(head(29, "set-bucket"), b"\x03\x00\x06papers");
    assert_eq!(head(31, "delete-bucket"), b"\x00\x06papers");
}

const KEY_FIELDS: &[u8] = b"\x00\x03ann\x01\x00\x02\x00\x06papers\x03\x00\x01*\x01";

#[test]
fn answers_are_as_specified() {
    assert_eq!(head(2, "welcome").len(), 32);
    let failed = head(3, "failed");
    assert_eq!((number(&failed, 0, 2), number(&failed, 2, 2)), (6, 1));
    assert_eq!(number(&failed, 28, 8), 19);
    assert_eq!(&failed[36..], b"no");
    assert_eq!(head(5, "done").len(), 0);
    let stored = head(6, "stored");
    assert_eq!((number(&stored, 24, 8), number(&stored, 32, 4)), (19, 0x0102_0304));
    let found = head(7, "found");
    assert_eq!((number(&found, 24, 8), number(&found, 32, 8)), (19, 1_800_000_000_000));
    assert_eq!((number(&found, 40, 8), number(&found, 48, 8), number(&found, 56, 8)), (0, 3, 10));
    assert_eq!(number(&found, 64, 4), 7);
    let data = head(4, "data");
    assert_eq!((number(&data, 0, 4), number(&data, 4, 4), number(&data, 8, 4)), (1, 0, 19));
    assert_eq!(number(&data, 12, 4), crc(&[CONTENT]));
    assert_eq!(number(&head(4, "data-broken"), 0, 4), 3);
    let (_, listing) = sent().into_iter().find(|(name, _)| *name == "listing-body").unwrap();
    assert_eq!((listing[0], number(&listing, 1, 8), number(&listing, 9, 8)), (1, 19, 5));
    assert_eq!(&listing[17..26], b"\x00\x00\x062026/b");
    assert_eq!((number(&listing, 26, 8), number(&listing, 34, 8)), (0, 5));
    assert_eq!(&listing[42..], b"\x02\x00\x06papers");
    assert_eq!(head(10, "key-created"), b"\x00\x03KEY\x00\x06secret");
    assert_eq!(head(11, "keys").len(), 0);
    let (_, keys) = sent().into_iter().find(|(name, _)| *name == "keys-body").unwrap();
    assert_eq!(number(&keys, 0, 8), 5);
    assert_eq!(keys[8..], [b"\x00\x03KEY", KEY_FIELDS].concat());
    let deleted = head(12, "deleted");
    assert_eq!((deleted[0], number(&deleted, 1, 8)), (1, ID.partition.0));
    assert_eq!(&deleted[9..], ID.uuid.as_bytes());
    assert_eq!(head(12, "deleted-parts"), [0; 25]);
}

#[tokio::test]
async fn the_code_reads_what_is_sent() {
    for (name, request) in requests() {
        let bytes = request.encode(REQUEST, 0).unwrap();
        let frame = FrameReader::new(&bytes[..]).frame().await.unwrap().unwrap();
        assert_eq!(parse_request(&frame).unwrap(), request, "{name}");
    }
    for (name, response) in responses() {
        let bytes = response.encode(REQUEST, 0).unwrap();
        let frame = FrameReader::new(&bytes[..]).frame().await.unwrap().unwrap();
        assert_eq!(Response::parse(&frame).unwrap(), response, "{name}");
    }
    let (_, bytes) = sent().into_iter().find(|(name, _)| *name == "data").unwrap();
    let mut reader = FrameReader::new(&bytes[..]);
    let frame = reader.frame().await.unwrap().unwrap();
    assert_eq!(frame.header.kind, Kind::Data);
    let head = DataHead::parse(&frame).unwrap();
    let body = reader.body(frame.header.body_bytes as usize).await.unwrap();
    assert_eq!(verify_data(&head, &body).unwrap(), CONTENT);
    assert!(reader.frame().await.unwrap().is_none());
}

#[test]
fn keys_come_back_and_secrets_are_not_shown() {
    let entry = |n: u64| KeyEntry { access: format!("K{n}"), created_ms: n, key: new_key() };
    let keys: Vec<_> = (0..3).map(entry).collect();
    assert_eq!(parse_keys(&Bytes::from(encode_keys(&keys).unwrap())).unwrap(), keys);
    let created = CreatedKey { access: "KEY".to_owned(), secret: "hush".to_owned() };
    assert!(!format!("{:?}", Response::KeyCreated(created)).contains("hush"));
}

#[test]
fn a_listing_comes_back() {
    let entry = |n: u64| Entry {
        key: format!("key {n}"),
        content_bytes: n,
        created_ms: n * 2,
        durability: [None, Some(Durability::Fast), Some(Durability::Paranoid)][n as usize % 3],
    };
    let listing = Listing { entries: (0..10).map(entry).collect(), truncated: false };
    assert_eq!(Listing::parse(&Bytes::from(listing.encode().unwrap())).unwrap(), listing);
}
