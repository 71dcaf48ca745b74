//! What comes over the network, in the native protocol.

use std::pin::pin;

use afterbay_blob_format::{
    BLOCK_BYTES, BlobId, ChecksumTable, PartitionId, Properties, PropertyClass,
};
use afterbay_blob_proto::{
    BucketSettings, Code, DataHead, Entry, FRAME_HEADER_BYTES, Failure, Frame, FrameHeader,
    FrameReader, Hello, Kind, ListRequest, Listing, Message, Name, PutHead, Request, Response,
    Target, encode_data, encode_frame, parse_request, verify_data,
};
use afterbay_blob_router::{BlobInfo, ByteRange, Durability, Policy, PutBlob, PutOptions};
use bytes::Bytes;
use futures_util::FutureExt;
use uuid::Uuid;

use crate::outcome;

const ID: BlobId = BlobId { partition: PartitionId(3), uuid: Uuid::from_u128(5) };

fn name() -> Target {
    Target::Name(Name { bucket: "bucket".to_owned(), key: "a/key".to_owned() })
}

fn encoded(messages: impl IntoIterator<Item = impl Message>) -> Vec<Vec<u8>> {
    messages.into_iter().filter_map(|message| message.encode(1, 0).ok()).collect()
}

/// A frame of these bytes with the right lengths and checksum, if they have a header.
fn repaired(bytes: &[u8]) -> Option<Frame> {
    let (header, head) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>()?;
    let kind = Kind::ALL[usize::from(header[3]) % Kind::ALL.len()];
    let kind = Kind::ALL.into_iter().find(|k| *k as u8 == header[3]).unwrap_or(kind);
    let body_bytes = u32::from_be_bytes([0, header[9], header[10], header[11]]);
    let sealed = encode_frame(kind, 1, head, body_bytes);
    let header = FrameHeader::parse(sealed.first_chunk::<FRAME_HEADER_BYTES>()?).ok()?;
    header.with_head(Bytes::copy_from_slice(head)).ok()
}

pub(crate) fn frames_seeds() -> Vec<Vec<u8>> {
    let mut all = request_seeds();
    all.push(all.concat());
    all
}

/// A connection on which these bytes come.
pub(crate) fn frames(bytes: &[u8]) -> String {
    let read = async {
        let mut reader = FrameReader::new(bytes);
        let mut count = 0;
        loop {
            let Some(frame) = reader.frame().await? else {
                return Ok::<_, afterbay_blob_proto::ProtocolError>(count);
            };
            reader.skip(frame.header.body_bytes.into()).await?;
            count += 1;
        }
    };
    // Bytes in memory are there at once.
    match pin!(read).now_or_never() {
        Some(Ok(_)) => "ok".to_owned(),
        Some(Err(error)) => error.to_string(),
        None => unreachable!("it waits for bytes that are there"),
    }
}

pub(crate) fn request_seeds() -> Vec<Vec<u8>> {
    let options = PutOptions {
        container: 7,
        acks: Some(Policy::Majority),
        content_bytes: Some(5),
        properties: Properties::default().with(PropertyClass::User, "a", "b"),
        ..PutOptions::default()
    };
    let put = |name: Option<Name>| Request::Put(PutHead { options: options.clone(), name });
    let named = Name { bucket: "bucket".to_owned(), key: "key".to_owned() };
    encoded([
        Request::Authenticate { key: "key".to_owned(), nonce: [1; 32], proof: [2; 32] },
        put(None),
        put(Some(named)),
        Request::Get { target: ID.into(), range: Some(ByteRange::Inclusive(1, 2)) },
        Request::Get { target: name(), range: Some(ByteRange::Last(5)) },
        Request::Stat(ID.into()),
        Request::Delete(name()),
        Request::Undelete(ID),
        Request::UpdateTtl { target: ID.into(), expires_ms: Some(7) },
        Request::Status,
        Request::Ping,
        Request::List(ListRequest { bucket: "bucket".to_owned(), limit: 9, ..Default::default() }),
        Request::SetBucket(BucketSettings {
            bucket: "bucket".to_owned(),
            durability: Some(Durability::Durable),
        }),
        Request::DeleteBucket("bucket".to_owned()),
        Request::ScrubStart { bytes_per_s: 9, partition: Some(ID.partition) },
    ])
}

/// The head of a frame as a server reads it.
pub(crate) fn request(bytes: &[u8]) -> String {
    let Some(mut frame) = repaired(bytes) else {
        return "no frame".to_owned();
    };
    frame.header.body_bytes = 0;
    let parsed = parse_request(&frame);
    if let Ok(request) = &parsed {
        again(request, parse_request);
    }
    outcome(parsed)
}

pub(crate) fn response_seeds() -> Vec<Vec<u8>> {
    let info = BlobInfo {
        id: ID,
        content_bytes: 10,
        created_ms: 1,
        expires_ms: None,
        container: 0,
        properties: Properties::default().with(PropertyClass::User, "a", "b"),
    };
    let mut all = encoded([
        Response::Welcome([1; 32]),
        Response::Deleted(Some(ID)),
        Response::Failed(Failure { id: Some(ID), ..Failure::new(Code::Range, "text") }),
        Response::Done,
        Response::Stored(PutBlob { id: ID, content_bytes: 9, crc32c: 8 }),
        Response::Found { info, begin: 2, end: 5 },
        Response::Report,
        Response::Listed,
    ]);
    all.extend(encoded([Hello { nonce: [1; 32], server: "server".to_owned() }]));
    all
}

/// The head of a frame as a client reads it.
pub(crate) fn response(bytes: &[u8]) -> String {
    let Some(frame) = repaired(bytes) else {
        return "no frame".to_owned();
    };
    if let Ok(hello) = Hello::parse(&frame) {
        again(&hello, Hello::parse);
    }
    let parsed = Response::parse(&frame);
    match &parsed {
        // Of a newer server: it is told as another code.
        Ok(Response::Failed(_)) | Err(_) => {}
        Ok(response) => again(response, Response::parse),
    }
    outcome(parsed)
}

/// What was read is written so that it reads the same.
fn again<M: Message + PartialEq + std::fmt::Debug>(
    message: &M,
    parse: impl Fn(&Frame) -> afterbay_blob_proto::Result<M>,
) {
    let Ok(sent) = message.encode(1, 0) else {
        // Longer than what may be sent.
        return;
    };
    let header = sent.first_chunk::<FRAME_HEADER_BYTES>().map(FrameHeader::parse);
    let head = Bytes::copy_from_slice(&sent[FRAME_HEADER_BYTES..]);
    match header.map(|header| header.and_then(|header| header.with_head(head))) {
        Some(Ok(frame)) => assert_eq!(parse(&frame).ok().as_ref(), Some(message)),
        other => unreachable!("what was encoded is no frame: {other:?}"),
    }
}

pub(crate) fn data_seeds() -> Vec<Vec<u8>> {
    let body = vec![7; 1000];
    let checksums = Bytes::copy_from_slice(ChecksumTable::of(&body).as_bytes());
    let head = DataHead { last: true, broken: false, content: 10..500, checksums };
    vec![encode_data(1, &head, 1000), encode_data(1, &DataHead::broken(), 0)]
}

/// The head of content, and a body for it.
pub(crate) fn data(bytes: &[u8]) -> String {
    let Some(frame) = repaired(bytes) else {
        return "no frame".to_owned();
    };
    let parsed = DataHead::parse(&frame);
    if let Ok(head) = &parsed {
        let body_bytes = frame.header.body_bytes as usize;
        assert!(head.content.start <= head.content.end);
        assert!(head.content.end as usize <= body_bytes);
        for length in [body_bytes, 0, body_bytes / 2] {
            let body = Bytes::from(vec![7; length.min(4 * BLOCK_BYTES)]);
            if let Ok(content) = verify_data(head, &body) {
                assert!(content.len() <= body.len());
            }
        }
    }
    outcome(parsed)
}

pub(crate) fn listing_seeds() -> Vec<Vec<u8>> {
    let entry = |key: &str| Entry {
        key: key.to_owned(),
        content_bytes: 5,
        created_ms: 6,
        durability: Some(Durability::Paranoid),
    };
    let all = Listing { entries: vec![entry("a"), entry("b/é")], truncated: true };
    [all, Listing::default()].iter().filter_map(|listing| listing.encode().ok()).collect()
}

pub(crate) fn listing(bytes: &[u8]) -> String {
    let parsed = Listing::parse(&Bytes::copy_from_slice(bytes));
    if let Ok(listing) = &parsed
        && let Ok(encoded) = listing.encode()
    {
        assert_eq!(encoded, bytes);
    }
    outcome(parsed)
}
