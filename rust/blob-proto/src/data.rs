//! Content in frames: whole blocks with their checksums, of which the receiver uses a part.
//!
//! A range that begins or ends within a block of 64 KiB is sent with the rest of that block: its stored checksum covers
//! all of it.

use std::ops::Range;

use afterbay_blob_format::{BLOCK_BYTES, CHECKSUM_BYTES, ChecksumTable, crc32c_of};
use bytes::Bytes;

use crate::error::{ProtocolError, Result};
use crate::fields::Fields;
use crate::frame::{Frame, FrameHeader, Kind, encode_frame};

const WHAT: &str = "data";
const LAST: u32 = 1;
const BROKEN: u32 = 2;
/// `flags`, `skip`, `take`.
const FIXED_BYTES: usize = 12;

/// The head of a frame with content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataHead {
    /// No more content follows.
    pub last: bool,
    /// The sender could not read all of the content: what came so far is to be thrown away.
    pub broken: bool,
    /// Which bytes of the body are content.
    pub content: Range<u32>,
    /// The checksums of the body's blocks.
    pub checksums: Bytes,
}

impl DataHead {
    /// The head of content that is a body of its own.
    pub fn of(body: &[u8], last: bool) -> Self {
        let checksums = Bytes::copy_from_slice(ChecksumTable::of(body).as_bytes());
        // A body has less than 2^32 bytes.
        DataHead { last, broken: false, content: 0..body.len() as u32, checksums }
    }

    /// The head of a part of a chunk, and which of the chunk's bytes the body is: the whole blocks of `range`.
    /// `None` if the table does not have them.
    pub fn of_part(
        table: &ChecksumTable,
        chunk_bytes: u32,
        range: &Range<u32>,
        last: bool,
    ) -> Option<(Self, Range<u32>)> {
        let block = BLOCK_BYTES as u32;
        let first = range.start / block;
        let begin = first * block;
        let end = range.end.checked_next_multiple_of(block).unwrap_or(u32::MAX).min(chunk_bytes);
        let blocks = end.saturating_sub(begin).div_ceil(block) as usize;
        let at = first as usize * CHECKSUM_BYTES;
        let checksums = table.as_bytes().get(at..at + blocks * CHECKSUM_BYTES)?;
        let content = range.start - begin..range.end.min(chunk_bytes).checked_sub(begin)?;
        let checksums = Bytes::copy_from_slice(checksums);
        Some((DataHead { last, broken: false, content, checksums }, begin..end))
    }

    /// The content ends here, and is not whole.
    pub fn broken() -> Self {
        DataHead { last: true, broken: true, content: 0..0, checksums: Bytes::new() }
    }

    /// Reads the head of a frame with content. What it says is consistent with the length of the body.
    pub fn parse(frame: &Frame) -> Result<Self> {
        let FrameHeader { kind, body_bytes, .. } = frame.header;
        if kind != Kind::Data {
            return Err(ProtocolError::malformed(WHAT, format!("{kind:?} came instead")));
        }
        let mut fields = Fields::new(WHAT, &frame.head);
        let flags = fields.u32()?;
        if flags > (LAST | BROKEN) || flags == BROKEN {
            return Err(fields.malformed(format!("flags {flags} are not known")));
        }
        let (skip, take) = (fields.u32()?, fields.u32()?);
        let end = skip.checked_add(take).filter(|end| *end <= body_bytes);
        let Some(end) = end else {
            return Err(fields.malformed("more content than there is body"));
        };
        let checksums = fields.rest();
        let needed = (body_bytes as usize).div_ceil(BLOCK_BYTES) * CHECKSUM_BYTES;
        if checksums.len() != needed {
            let found = checksums.len();
            return Err(fields.malformed(format!("{found} bytes of checksums, not {needed}")));
        }
        let (last, broken) = (flags & LAST != 0, flags & BROKEN != 0);
        Ok(DataHead { last, broken, content: skip..end, checksums })
    }

    fn encode(&self) -> Vec<u8> {
        let flags = if self.last { LAST } else { 0 } | if self.broken { BROKEN } else { 0 };
        let mut head = Vec::with_capacity(FIXED_BYTES + self.checksums.len());
        head.extend_from_slice(&flags.to_be_bytes());
        head.extend_from_slice(&self.content.start.to_be_bytes());
        head.extend_from_slice(&(self.content.end - self.content.start).to_be_bytes());
        head.extend_from_slice(&self.checksums);
        head
    }
}

/// A frame with content, up to its body.
pub fn encode_data(request: u64, head: &DataHead, body_bytes: u32) -> Vec<u8> {
    encode_frame(Kind::Data, request, &head.encode(), body_bytes)
}

/// Verifies a body, all of it. One that is shorter than what the head says is an error too.
pub fn verify_data(head: &DataHead, body: &Bytes) -> Result<Bytes> {
    let mut verified = Verified::new(head);
    verified.block_range(0, body)?;
    let content = head.content.start as usize..head.content.end as usize;
    if content.start > content.end || content.end > body.len() {
        return Err(ProtocolError::malformed(WHAT, "the body ends before its content"));
    }
    Ok(body.slice(content))
}

/// Verifies a body block by block, as it comes.
#[derive(Debug, Clone)]
pub struct Verified {
    checksums: Bytes,
}

impl Verified {
    /// The verification of a frame's body.
    pub fn new(head: &DataHead) -> Self {
        Verified { checksums: head.checksums.clone() }
    }

    /// Verifies `blocks`, whole blocks of the body from number `first` on.
    pub fn block_range(&mut self, first: usize, blocks: &[u8]) -> Result<()> {
        for (i, block) in blocks.chunks(BLOCK_BYTES).enumerate() {
            let at = (first + i) * CHECKSUM_BYTES;
            let stored = self.checksums.get(at..at + CHECKSUM_BYTES);
            if stored != Some(&crc32c_of(&[block]).to_be_bytes()) {
                return Err(ProtocolError::Checksum { what: WHAT });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(head: &DataHead, body_bytes: u32) -> Frame {
        let sent = encode_data(1, head, body_bytes);
        let header = FrameHeader::parse(sent[..24].try_into().unwrap()).unwrap();
        header.with_head(Bytes::copy_from_slice(&sent[24..])).unwrap()
    }

    #[test]
    fn parts_of_a_chunk() {
        let chunk: Bytes = (0..200_000u32).map(|i| (i / 7) as u8).collect();
        let table = ChecksumTable::of(&chunk);
        let length = chunk.len() as u32;
        for (begin, end) in
            [(0, length), (0, 1), (65_535, 65_537), (65_536, 131_072), (199_999, length)]
        {
            let (head, body) = DataHead::of_part(&table, length, &(begin..end), true).unwrap();
            let body = chunk.slice(body.start as usize..body.end as usize);
            let parsed = DataHead::parse(&frame(&head, body.len() as u32)).unwrap();
            assert_eq!(parsed, head);
            assert_eq!(verify_data(&parsed, &body).unwrap(), chunk[begin as usize..end as usize]);
            let mut damaged = body.to_vec();
            damaged[body.len() / 2] ^= 1;
            assert!(verify_data(&parsed, &damaged.into()).is_err());
        }
    }

    #[test]
    fn an_empty_content() {
        let head = DataHead::of(b"", true);
        assert_eq!(DataHead::parse(&frame(&head, 0)).unwrap(), head);
        assert_eq!(verify_data(&head, &Bytes::new()).unwrap(), "");
        let broken = DataHead::broken();
        assert_eq!(DataHead::parse(&frame(&broken, 0)).unwrap(), broken);
    }

    #[test]
    fn contradictions_are_refused() {
        let head = DataHead::of(b"abc", false);
        assert!(DataHead::parse(&frame(&head, 2)).is_err(), "less body than content");
        assert!(DataHead::parse(&frame(&head, 70_000)).is_err(), "more blocks than checksums");
        let overflow = DataHead { content: 1..u32::MAX, ..head };
        assert!(DataHead::parse(&frame(&overflow, 3)).is_err());
    }
}
