//! Reads frames from a connection.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::error::{ProtocolError, Result};
use crate::frame::{FRAME_HEADER_BYTES, Frame, FrameHeader};

/// How much is read ahead.
const READ_AHEAD_BYTES: usize = 64 * 1024;

/// A connection that bytes come from.
pub trait Connected: AsyncRead + Unpin + Send {}

impl<T: AsyncRead + Unpin + Send> Connected for T {}

/// Reads frames.
#[derive(Debug)]
pub struct FrameReader<R> {
    from: R,
    ahead: BytesMut,
}

impl<R: Connected> FrameReader<R> {
    /// A reader of what comes from here.
    pub fn new(from: R) -> Self {
        FrameReader { from, ahead: BytesMut::with_capacity(READ_AHEAD_BYTES) }
    }

    /// Where the bytes come from.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.from
    }

    /// The next frame without its body, which must be read next; `None` if the connection ends between two frames.
    /// May be dropped while it waits: nothing is lost.
    pub async fn frame(&mut self) -> Result<Option<Frame>> {
        if !self.fill(FRAME_HEADER_BYTES).await? {
            return if self.ahead.is_empty() { Ok(None) } else { Err(ProtocolError::Closed) };
        }
        let mut header = [0; FRAME_HEADER_BYTES];
        header.copy_from_slice(&self.ahead[..FRAME_HEADER_BYTES]);
        let header = FrameHeader::parse(&header)?;
        let bytes = FRAME_HEADER_BYTES + header.head_bytes as usize;
        if !self.fill(bytes).await? {
            return Err(ProtocolError::Closed);
        }
        let mut head = self.ahead.split_to(bytes);
        let head = head.split_off(FRAME_HEADER_BYTES).freeze();
        header.with_head(head).map(Some)
    }

    /// The next `count` bytes of a body.
    pub async fn body(&mut self, count: usize) -> Result<Bytes> {
        if self.ahead.len() >= count {
            return Ok(self.ahead.split_to(count).freeze());
        }
        let mut body = BytesMut::with_capacity(count);
        body.extend_from_slice(&self.ahead.split());
        while body.len() < count {
            let room = count - body.len();
            let read = (&mut self.from).take(room as u64).read_buf(&mut body).await?;
            if read == 0 {
                return Err(ProtocolError::Closed);
            }
        }
        Ok(body.freeze())
    }

    /// Reads past `count` bytes of a body.
    pub async fn skip(&mut self, count: u64) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let step = left.min(READ_AHEAD_BYTES as u64);
            self.body(step as usize).await?;
            left -= step;
        }
        Ok(())
    }

    /// Reads until `count` bytes are there; false if the connection ends before.
    async fn fill(&mut self, count: usize) -> Result<bool> {
        while self.ahead.len() < count {
            self.ahead.reserve(READ_AHEAD_BYTES.max(count - self.ahead.len()));
            if self.from.read_buf(&mut self.ahead).await? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
