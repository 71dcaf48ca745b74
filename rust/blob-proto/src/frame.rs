//! Frames.
//!
//! ```text
//!  0      2         3      4            8            12           20               24
//!  +------+---------+------+------------+------------+------------+----------------+------+------+
//!  | "AB" | version | kind | head bytes | body bytes | request id | checksum of    | head | body |
//!  |      |    1    |      |            |            |            | 0..20 and head |      |      |
//!  +------+---------+------+------------+------------+------------+----------------+------+------+
//! ```

use afterbay_blob_format::crc32c_of;
use bytes::Bytes;

use crate::error::{ProtocolError, Result};

/// Bytes of a frame's header.
pub const FRAME_HEADER_BYTES: usize = 24;
/// The most bytes of a head.
pub const MAX_HEAD_BYTES: u32 = 128 * 1024;
/// The most bytes of a body.
pub const MAX_BODY_BYTES: u32 = 64 * 1024 * 1024;
/// The most bytes of content in one frame that a client sends.
pub const MAX_DATA_BYTES: u32 = 1024 * 1024;

const MAGIC: [u8; 2] = *b"AB";
const VERSION: u8 = 1;
const WHAT: &str = "frame";

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are those of the messages, which are documented")]
pub enum Kind {
    Hello = 1,
    Welcome = 2,
    Failed = 3,
    Data = 4,
    Done = 5,
    Stored = 6,
    Found = 7,
    Report = 8,
    Listed = 9,
    KeyCreated = 10,
    Keys = 11,
    Deleted = 12,
    Authenticate = 16,
    Put = 17,
    Get = 18,
    Stat = 19,
    Delete = 20,
    Undelete = 21,
    UpdateTtl = 22,
    Status = 23,
    Ping = 24,
    List = 25,
    CreateKey = 26,
    DeleteKey = 27,
    ListKeys = 28,
    SetBucket = 29,
    DeleteBucket = 31,
    ScrubStart = 40,
    ScrubStatus = 41,
    ScrubStop = 42,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 30] = [
        Kind::Hello,
        Kind::Welcome,
        Kind::Failed,
        Kind::Data,
        Kind::Done,
        Kind::Stored,
        Kind::Found,
        Kind::Report,
        Kind::Listed,
        Kind::KeyCreated,
        Kind::Keys,
        Kind::Deleted,
        Kind::Authenticate,
        Kind::Put,
        Kind::Get,
        Kind::Stat,
        Kind::Delete,
        Kind::Undelete,
        Kind::UpdateTtl,
        Kind::Status,
        Kind::Ping,
        Kind::List,
        Kind::CreateKey,
        Kind::DeleteKey,
        Kind::ListKeys,
        Kind::SetBucket,
        Kind::DeleteBucket,
        Kind::ScrubStart,
        Kind::ScrubStatus,
        Kind::ScrubStop,
    ];

    fn parse(number: u8) -> Result<Self> {
        Kind::ALL
            .into_iter()
            .find(|kind| *kind as u8 == number)
            .ok_or_else(|| ProtocolError::malformed(WHAT, format!("kind {number} is not known")))
    }
}

/// The header of a frame, before its head was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// What the frame is.
    pub kind: Kind,
    /// Bytes of its head.
    pub head_bytes: u32,
    /// Bytes of its body.
    pub body_bytes: u32,
    /// Which request it belongs to: chosen by the client.
    pub request: u64,
    checksum: u32,
}

/// A frame without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The header.
    pub header: FrameHeader,
    /// The head, verified.
    pub head: Bytes,
}

impl FrameHeader {
    /// Reads a header. Lengths are within the limits of the protocol.
    pub fn parse(bytes: &[u8; FRAME_HEADER_BYTES]) -> Result<Self> {
        let [m0, m1, version, kind, rest @ ..] = *bytes;
        if [m0, m1] != MAGIC {
            let reason = "wrong magic: the other side speaks another protocol; is it the port of another program?";
            return Err(ProtocolError::malformed(WHAT, reason));
        }
        if version != VERSION {
            let reason = format!("version {version} is not known, only {VERSION} is");
            return Err(ProtocolError::malformed(WHAT, reason));
        }
        let kind = Kind::parse(kind)?;
        let [h0, h1, h2, h3, b0, b1, b2, b3, r0, r1, r2, r3, r4, r5, r6, r7, c0, c1, c2, c3] = rest;
        let header = FrameHeader {
            kind,
            head_bytes: u32::from_be_bytes([h0, h1, h2, h3]),
            body_bytes: u32::from_be_bytes([b0, b1, b2, b3]),
            request: u64::from_be_bytes([r0, r1, r2, r3, r4, r5, r6, r7]),
            checksum: u32::from_be_bytes([c0, c1, c2, c3]),
        };
        for (part, found, most) in [
            ("head", header.head_bytes, MAX_HEAD_BYTES),
            ("body", header.body_bytes, MAX_BODY_BYTES),
        ] {
            if found > most {
                let reason = format!("{part} of {found} bytes, at most {most} are allowed");
                return Err(ProtocolError::malformed(WHAT, reason));
            }
        }
        Ok(header)
    }

    /// Takes the head, if it is what was sent.
    pub fn with_head(self, head: Bytes) -> Result<Frame> {
        let start = start(self.kind, self.head_bytes, self.body_bytes, self.request);
        if head.len() == self.head_bytes as usize && crc32c_of(&[&start, &head]) == self.checksum {
            Ok(Frame { header: self, head })
        } else {
            Err(ProtocolError::Checksum { what: WHAT })
        }
    }
}

fn start(kind: Kind, head_bytes: u32, body_bytes: u32, request: u64) -> [u8; 20] {
    let mut start = [0; 20];
    start[..2].copy_from_slice(&MAGIC);
    start[2] = VERSION;
    start[3] = kind as u8;
    start[4..8].copy_from_slice(&head_bytes.to_be_bytes());
    start[8..12].copy_from_slice(&body_bytes.to_be_bytes());
    start[12..].copy_from_slice(&request.to_be_bytes());
    start
}

/// A frame's header and head, as they are sent. `body_bytes` follow, which the caller sends. Heads are made by this crate
/// and are within the limits.
pub fn encode_frame(kind: Kind, request: u64, head: &[u8], body_bytes: u32) -> Vec<u8> {
    let start = start(kind, head.len() as u32, body_bytes, request);
    let mut out = Vec::with_capacity(FRAME_HEADER_BYTES + head.len());
    out.extend_from_slice(&start);
    out.extend_from_slice(&crc32c_of(&[&start, head]).to_be_bytes());
    out.extend_from_slice(head);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Frame> {
        let header = FrameHeader::parse(bytes[..FRAME_HEADER_BYTES].try_into().unwrap())?;
        header.with_head(Bytes::copy_from_slice(&bytes[FRAME_HEADER_BYTES..]))
    }

    #[test]
    fn sent_and_back_and_each_bit_counts() {
        for kind in Kind::ALL {
            let sent = encode_frame(kind, 7, b"head", 9);
            let frame = parse(&sent).unwrap();
            let header = frame.header;
            assert_eq!((header.kind, header.request, header.body_bytes), (kind, 7, 9));
            assert_eq!(frame.head, "head");
            for bit in 0..8 * sent.len() {
                let mut damaged = sent.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(parse(&damaged).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn lengths_are_bounded() {
        let forged = |head_bytes, body_bytes| {
            let mut bytes = [0; FRAME_HEADER_BYTES];
            bytes[..20].copy_from_slice(&start(Kind::Put, head_bytes, body_bytes, 1));
            FrameHeader::parse(&bytes)
        };
        assert!(forged(MAX_HEAD_BYTES, MAX_BODY_BYTES).is_ok());
        assert!(forged(MAX_HEAD_BYTES + 1, 0).is_err());
        assert!(forged(0, MAX_BODY_BYTES + 1).is_err());
    }
}
