//! Messages as bytes, for the connections between nodes.
//!
//! ```text
//!  0          4          8
//!  +----------+----------+----------------------------------------------+
//!  | length   | CRC32C   | version | call | request or reply, its fields |
//!  +----------+----------+----------------------------------------------+
//!             of what follows
//! ```
//!
//! Numbers are big-endian; lists and texts begin with their length, options with 0 or 1, variants with their number. Fields come
//! in the order in which they are declared. Nodes of different versions do not talk: the version is that of all of it.

use std::ops::Range;

use afterbay_blob_format::{BlobId, MAX_RECORD_BYTES, PartitionId, RecordKind, crc32c_of};
use afterbay_blob_store::{Change, Content, Durability, Record};
use bytes::{Buf, Bytes};
use uuid::Uuid;

use crate::lineage::Lineage;
use crate::message::{
    Body, Call, CompareReason, Covers, Cursor, Epoch, Head, Message, Page, Piece, Refusal, Reply,
    Request, Since,
};
use crate::token::{Position, Token};

/// Bytes before a message's own.
pub const PREFIX_BYTES: usize = 8;
/// The longest message: a record of the greatest size, and what was fetched before it.
pub const MESSAGE_BYTES_MAX: usize = 2 * MAX_RECORD_BYTES;
const VERSION: u8 = 1;

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("message of a node: {0}; do all nodes run the same version?")]
pub struct CodecError(String);

type Result<T> = std::result::Result<T, CodecError>;

impl Message {
    /// With its prefix.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; PREFIX_BYTES];
        out.push(VERSION);
        self.put(&mut out);
        let crc = crc32c_of(&[&out[PREFIX_BYTES..]]);
        // Messages are bounded by the budgets of their senders.
        let length = (out.len() - PREFIX_BYTES) as u32;
        out[..4].copy_from_slice(&length.to_be_bytes());
        out[4..PREFIX_BYTES].copy_from_slice(&crc.to_be_bytes());
        out
    }

    /// How many bytes follow a prefix, and their checksum, for [`Message::decode`].
    pub fn parse_prefix(prefix: [u8; PREFIX_BYTES]) -> Result<(usize, u32)> {
        let [l0, l1, l2, l3, c0, c1, c2, c3] = prefix;
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        if length > MESSAGE_BYTES_MAX {
            return Err(CodecError(format!(
                "{length} bytes, at most {MESSAGE_BYTES_MAX} are allowed"
            )));
        }
        Ok((length, u32::from_be_bytes([c0, c1, c2, c3])))
    }

    /// Reads what follows the prefix. Content shares its memory.
    pub fn decode(bytes: Bytes, crc: u32) -> Result<Self> {
        if crc32c_of(&[&bytes]) != crc {
            return Err(CodecError("checksum mismatch".to_owned()));
        }
        let mut from = bytes;
        let version = u8::take(&mut from)?;
        if version != VERSION {
            return Err(CodecError(format!("version {version} is not known, only {VERSION} is")));
        }
        let message = Message::take(&mut from)?;
        if from.is_empty() {
            Ok(message)
        } else {
            Err(CodecError(format!("{} bytes behind its end", from.len())))
        }
    }
}

/// Something with a form in bytes.
trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut Bytes) -> Result<Self>;
}

fn bytes_of(from: &mut Bytes, count: usize) -> Result<Bytes> {
    if from.len() < count {
        return Err(CodecError(format!("{} bytes where {count} are needed", from.len())));
    }
    Ok(from.split_to(count))
}

fn unknown<T>(what: &str, number: impl std::fmt::Display) -> Result<T> {
    Err(CodecError(format!("{what} {number} is not known")))
}

macro_rules! numbers {
    ($($type:ty: $get:ident,)*) => {
        $(impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }

            fn take(from: &mut Bytes) -> Result<Self> {
                Ok(bytes_of(from, size_of::<$type>())?.$get())
            }
        })*
    };
}

numbers! { u8: get_u8, u32: get_u32, u64: get_u64, u128: get_u128, }

macro_rules! fields {
    ($($type:ident { $($field:ident,)* })*) => {
        $(impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(from: &mut Bytes) -> Result<Self> {
                $(let $field = Wire::take(from)?;)*
                Ok($type { $($field,)* })
            }
        })*
    };
}

fields! {
    Message { call, body, }
    Call { session, number, }
    BlobId { partition, uuid, }
    Record { id, kind, life, time_ms, expires_ms, content, }
    Content { container, properties, body, }
    Change { sequence, id, kind, life, time_ms, expires_ms, length, }
    Since { partition, token, compare, own_epoch, own_end, limit, }
    Cursor { epoch, sequence, }
    Epoch { id, start, }
    Token { lineage, sequence, }
    Position { incarnation, epoch, sequence, }
    Page { changes, next, lineage, end, horizon, }
    Piece { head, offset, bytes, }
    Head { body_bytes, created_ms, expires_ms, life, container, properties, }
}

/// Enums: each variant by its number, with its fields.
macro_rules! variants {
    ($($type:ident { $($number:literal => $variant:ident $(( $($at:ident),* ))? $({ $($field:ident),* })?,)* })*) => {
        $(impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($type::$variant $(( $($at),* ))? $({ $($field),* })? => {
                        out.push($number);
                        $($($at.put(out);)*)?
                        $($($field.put(out);)*)?
                    })*
                }
            }

            fn take(from: &mut Bytes) -> Result<Self> {
                match u8::take(from)? {
                    $($number => {
                        $($(let $at = Wire::take(from)?;)*)?
                        $($(let $field = Wire::take(from)?;)*)?
                        Ok($type::$variant $(( $($at),* ))? $({ $($field),* })?)
                    })*
                    number => unknown(stringify!($type), number),
                }
            }
        })*
    };
}

variants! {
    Body {
        1 => Request(request),
        2 => Reply(reply),
    }
    Request {
        1 => Write { id, records, durability, deadline_ms },
        2 => Known { id },
        3 => Read { id, range, also_deleted },
        4 => Changes(since),
        // 5 was the same without epoch and lives.
        7 => Holds { partition, epoch, lives },
        6 => Fetch { partition, ids, bytes_max },
    }
    Reply {
        1 => Written(written),
        2 => Known(known),
        3 => Read(piece),
        4 => Changes(pages),
        5 => Holds(holds),
        6 => Fetched(found),
    }
    Refusal {
        1 => NotHere,
        2 => NotReady,
        3 => Suspect,
        4 => NotFound,
        5 => Deleted { life },
        6 => Expired,
        7 => Collision,
        8 => Damaged,
        9 => ReadOnly,
        10 => Late,
        11 => Busy,
        12 => Compare { reason, epoch, end, covers },
        13 => NoAnswer,
        14 => Store(reason),
    }
    CompareReason {
        1 => NoToken,
        2 => UnknownIncarnation,
        3 => BelowHorizon,
        4 => PutBack,
    }
    Durability {
        1 => Fast,
        2 => Durable,
        3 => Paranoid,
    }
}

impl Wire for RecordKind {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        let number = u8::take(from)?;
        RecordKind::from_number(number).map_or_else(|| unknown("kind of record", number), Ok)
    }
}

impl Wire for Lineage {
    fn put(&self, out: &mut Vec<u8>) {
        (self.epochs().len() as u32).put(out);
        self.epochs().iter().for_each(|epoch| epoch.put(out));
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        Lineage::new(Vec::take(from)?).map_err(|what| CodecError(what.to_owned()))
    }
}

impl Wire for PartitionId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        u64::take(from).map(PartitionId)
    }
}

impl Wire for Uuid {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_u128().put(out);
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        u128::take(from).map(Uuid::from_u128)
    }
}

impl Wire for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        let number = u64::take(from)?;
        usize::try_from(number).or_else(|_| unknown("number", number))
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        match u8::take(from)? {
            0 => Ok(false),
            1 => Ok(true),
            number => unknown("answer", number),
        }
    }
}

impl Wire for () {
    fn put(&self, _out: &mut Vec<u8>) {}

    fn take(_from: &mut Bytes) -> Result<Self> {
        Ok(())
    }
}

impl Wire for Bytes {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self);
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        let length = u32::take(from)? as usize;
        bytes_of(from, length)
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        let bytes = <Bytes as Wire>::take(from)?;
        String::from_utf8(bytes.into())
            .map_err(|_| CodecError("a text that is not UTF-8".to_owned()))
    }
}

impl Wire for Range<u32> {
    fn put(&self, out: &mut Vec<u8>) {
        self.start.put(out);
        self.end.put(out);
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        Ok(u32::take(from)?..u32::take(from)?)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        bool::take(from)?.then(|| T::take(from)).transpose()
    }
}

/// With one or none, as an option.
impl Wire for Covers {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.0.len() as u8);
        self.0.iter().for_each(|token| token.put(out));
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        let count = u8::take(from)?;
        (0..count).map(|_| Token::take(from)).collect::<Result<_>>().map(Covers)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|item| item.put(out));
    }

    /// Each item has a byte at least: no more are made than came.
    fn take(from: &mut Bytes) -> Result<Self> {
        let count = u32::take(from)? as usize;
        if count > from.len() {
            return unknown("number of items", count);
        }
        (0..count).map(|_| T::take(from)).collect()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        Ok((A::take(from)?, B::take(from)?))
    }
}

impl<T: Wire> Wire for std::result::Result<T, Refusal> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_ok().put(out);
        match self {
            Ok(value) => value.put(out),
            Err(refusal) => refusal.put(out),
        }
    }

    fn take(from: &mut Bytes) -> Result<Self> {
        if bool::take(from)? { T::take(from).map(Ok) } else { Refusal::take(from).map(Err) }
    }
}

#[cfg(test)]
mod tests {
    use crate::lineage::lineage;

    use super::*;

    fn id(number: u128) -> BlobId {
        BlobId { partition: PartitionId(7), uuid: Uuid::from_u128(number) }
    }

    fn record() -> Record {
        let content = Content {
            container: 3,
            properties: Bytes::from_static(b"properties"),
            body: Bytes::from(vec![9; 1000]),
        };
        let (kind, life, time_ms, expires_ms) = (RecordKind::Put, 2, 1 << 40, 5);
        Record { id: id(1), kind, life, time_ms, expires_ms, content: Some(content) }
    }

    fn token() -> Token {
        Token { lineage: lineage(&[(6, 1), (7, 4)]), sequence: 9 }
    }

    /// Each request and reply once at least, and all refusals.
    fn bodies() -> Vec<Body> {
        let since = Since {
            partition: PartitionId(7),
            token: token().position(),
            compare: Some(Cursor { epoch: Uuid::from_u128(1), sequence: 3 }),
            own_epoch: Uuid::from_u128(5),
            own_end: 11,
            limit: 16,
        };
        let change = Change {
            sequence: 4,
            id: id(3),
            kind: RecordKind::Undelete,
            life: 1,
            time_ms: 2,
            expires_ms: 0,
            length: 88,
        };
        let head = Head {
            body_bytes: 10,
            created_ms: 1,
            expires_ms: 0,
            life: 3,
            container: 4,
            properties: Bytes::from_static(b"p"),
        };
        let next = Cursor { epoch: Uuid::from_u128(7), sequence: 5 };
        let page =
            Page { changes: vec![change], next, lineage: token().lineage, end: 12, horizon: 2 };
        let compare = Refusal::Compare {
            reason: CompareReason::BelowHorizon,
            epoch: Uuid::from_u128(2),
            end: 4,
            covers: Covers(vec![token(), token()]),
        };
        let refusals = [
            Refusal::NotHere,
            Refusal::NotReady,
            Refusal::Suspect,
            Refusal::NotFound,
            Refusal::Deleted { life: 4 },
            Refusal::Expired,
            Refusal::Collision,
            Refusal::Damaged,
            Refusal::ReadOnly,
            Refusal::Late,
            Refusal::Busy,
            compare,
            Refusal::NoAnswer,
            Refusal::Store("why".to_owned()),
        ];
        let mut bodies: Vec<Body> = vec![
            Body::Request(Request::Write {
                id: id(1),
                records: vec![record(), Record { content: None, ..record() }],
                durability: Durability::Paranoid,
                deadline_ms: 99,
            }),
            Body::Request(Request::Known { id: id(2) }),
            Body::Request(Request::Read { id: id(2), range: 5..u32::MAX, also_deleted: true }),
            Body::Request(Request::Changes(vec![since.clone(), Since { token: None, ..since }])),
            Body::Request(Request::Holds {
                partition: PartitionId(1),
                epoch: Uuid::from_u128(9),
                lives: vec![(id(1), 0), (id(2), 3)],
            }),
            Body::Request(Request::Fetch {
                partition: PartitionId(1),
                ids: vec![],
                bytes_max: 1 << 30,
            }),
            Body::Reply(Reply::Written(Ok(()))),
            Body::Reply(Reply::Known(Ok(vec![record()]))),
            Body::Reply(Reply::Read(Ok(Piece {
                head,
                offset: 3,
                bytes: Bytes::from_static(b"bytes"),
            }))),
            Body::Reply(Reply::Changes(vec![
                (PartitionId(1), Ok(page)),
                (PartitionId(2), Err(Refusal::Suspect)),
            ])),
            Body::Reply(Reply::Holds(Ok(vec![true, false]))),
            Body::Reply(Reply::Fetched(Ok(vec![
                (id(1), Ok(vec![record()])),
                (id(2), Err(Refusal::Damaged)),
            ]))),
        ];
        bodies.extend(refusals.map(|refusal| Body::Reply(Reply::Written(Err(refusal)))));
        bodies
    }

    fn decode(encoded: &[u8]) -> Result<Message> {
        let prefix = encoded.first_chunk().ok_or_else(|| CodecError("short".to_owned()))?;
        let (length, crc) = Message::parse_prefix(*prefix)?;
        let rest = &encoded[PREFIX_BYTES..];
        if rest.len() != length {
            return Err(CodecError("length".to_owned()));
        }
        Message::decode(Bytes::copy_from_slice(rest), crc)
    }

    #[test]
    fn sent_and_back() {
        for body in bodies() {
            let message = Message { call: Call { session: 1 << 50, number: 6 }, body };
            assert_eq!(decode(&message.encode()), Ok(message));
        }
    }

    #[test]
    fn each_bit_counts() {
        for body in bodies() {
            let encoded = Message { call: Call { session: 1, number: 2 }, body }.encode();
            for bit in (0..8 * encoded.len()).step_by(if encoded.len() > 300 { 61 } else { 1 }) {
                let mut damaged = encoded.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(decode(&damaged).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn forged_bytes_are_no_message_and_take_no_memory() {
        let forged = |payload: &[u8]| {
            let bytes = Bytes::copy_from_slice(payload);
            let crc = crc32c_of(&[payload]);
            Message::decode(bytes, crc)
        };
        for body in bodies() {
            let encoded = Message { call: Call { session: 1, number: 2 }, body }.encode();
            let payload = &encoded[PREFIX_BYTES..];
            for length in 0..payload.len().min(400) {
                assert!(forged(&payload[..length]).is_err(), "{length}");
            }
            assert!(forged(&[payload, b"x"].concat()).is_err());
            let mut other = payload.to_vec();
            other[0] = 2;
            assert!(forged(&other).unwrap_err().to_string().contains("version 2"));
        }
        // A list of four thousand million ids.
        let mut huge = vec![VERSION];
        huge.extend([0; 16]);
        huge.extend([1, 7]);
        huge.extend([0; 24]);
        huge.extend([0xff; 4]);
        assert!(forged(&huge).is_err());
        assert!(Message::parse_prefix([0xff; 8]).is_err());
    }
}
