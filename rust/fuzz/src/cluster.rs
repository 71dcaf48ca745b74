//! What nodes of a cluster say to each other.

use afterbay_blob_cluster::{
    Body, Call, Content, Cursor, Durability, Head, Lineage, Message, PREFIX_BYTES, Page, Piece,
    Position, Record, Refusal, Reply, Request, Since,
};
use afterbay_blob_format::{BlobId, PartitionId, RecordKind, crc32c_of};
use bytes::Bytes;
use uuid::Uuid;

const ID: BlobId = BlobId { partition: PartitionId(3), uuid: Uuid::from_u128(5) };

fn record() -> Record {
    let content = Content {
        container: 7,
        properties: Bytes::from_static(b"properties"),
        body: Bytes::from_static(b"body"),
    };
    let (kind, content) = (RecordKind::Put, Some(content));
    Record { id: ID, kind, life: 1, time_ms: 2, expires_ms: 0, content }
}

pub(crate) fn message_seeds() -> Vec<Vec<u8>> {
    let [incarnation, epoch] = [9, 10].map(Uuid::from_u128);
    let cursor = Cursor { epoch, sequence: 1 };
    let since = Since {
        partition: PartitionId(3),
        token: Some(Position { incarnation, epoch, sequence: 4 }),
        compare: Some(cursor),
        own_epoch: Uuid::from_u128(8),
        own_end: 6,
        limit: 100,
    };
    let lineage = Lineage::default();
    let page = Page { changes: Vec::new(), next: cursor, lineage, end: 5, horizon: 1 };
    let head = Head {
        body_bytes: 4,
        created_ms: 2,
        expires_ms: 0,
        life: 1,
        container: 7,
        properties: Bytes::from_static(b"properties"),
    };
    let piece = Piece { head, offset: 0, bytes: Bytes::from_static(b"body") };
    let (durability, deadline_ms) = (Durability::Durable, 99);
    let (partition, ids) = (PartitionId(3), vec![ID]);
    let bodies = [
        Body::Request(Request::Write { id: ID, records: vec![record()], durability, deadline_ms }),
        Body::Request(Request::Known { id: ID }),
        Body::Request(Request::Read { id: ID, range: 1..9, also_deleted: false }),
        Body::Request(Request::Changes(vec![since])),
        Body::Request(Request::Holds { partition, epoch: cursor.epoch, lives: vec![(ID, 2)] }),
        Body::Request(Request::Fetch { partition, ids, bytes_max: 1 << 20 }),
        Body::Reply(Reply::Written(Err(Refusal::Deleted { life: 2 }))),
        Body::Reply(Reply::Known(Ok(vec![record()]))),
        Body::Reply(Reply::Read(Ok(piece))),
        Body::Reply(Reply::Changes(vec![
            (partition, Ok(page)),
            (partition, Err(Refusal::Suspect)),
        ])),
        Body::Reply(Reply::Holds(Ok(vec![true, false]))),
        Body::Reply(Reply::Fetched(Ok(vec![(ID, Ok(vec![record()]))]))),
    ];
    let call = Call { session: 1, number: 2 };
    bodies.map(|body| Message { call, body }.encode()).to_vec()
}

/// A message with its prefix; its length and checksum are made right.
pub(crate) fn message(bytes: &[u8]) -> String {
    if let Some(prefix) = bytes.first_chunk() {
        // As it came.
        let _ = Message::parse_prefix(*prefix).and_then(|(_, crc)| {
            Message::decode(Bytes::copy_from_slice(&bytes[PREFIX_BYTES..]), crc)
        });
    }
    let payload = bytes.get(PREFIX_BYTES..).unwrap_or_default();
    match Message::decode(Bytes::copy_from_slice(payload), crc32c_of(&[payload])) {
        Ok(message) => {
            let again = message.encode();
            let again = Bytes::copy_from_slice(&again[PREFIX_BYTES..]);
            let crc = crc32c_of(&[&again]);
            assert_eq!(Message::decode(again, crc).as_ref(), Ok(&message));
            // Which kind, without what it says.
            let body = format!("{:?}", message.body);
            format!("ok {}", body.split([' ', '(']).take(2).collect::<String>())
        }
        Err(error) => error.to_string(),
    }
}
