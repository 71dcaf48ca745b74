//! Content on its way to a client, verified block by block.

use std::ops::Range;

use afterbay_blob_format::BLOCK_BYTES;
use afterbay_blob_proto::{DataHead, Kind, Verified};
use bytes::Bytes;

use crate::connection::answer_of;
use crate::error::{ClientError, Result};
use crate::pool::{Lease, within};

/// How much is verified and handed on at once.
const STEP_BYTES: usize = 4 * BLOCK_BYTES;

/// The content of a blob. Dropping it before its end closes the connection.
#[derive(Debug)]
pub struct Content {
    lease: Option<Lease>,
    request: u64,
    frame: Option<Body>,
    left: u64,
}

/// A frame whose body is being read.
#[derive(Debug)]
struct Body {
    head: DataHead,
    verified: Verified,
    at: usize,
    bytes: usize,
}

impl Content {
    pub(crate) fn new(lease: Lease, request: u64, bytes: u64) -> Self {
        Content { lease: Some(lease), request, frame: None, left: bytes }
    }

    /// Bytes that have not come yet.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next bytes, verified; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        let Some(mut lease) = self.lease.take() else {
            return Ok(None);
        };
        let options = lease.options().clone();
        let piece = within(&options, self.read(&mut lease)).await?;
        match piece {
            Some(_) => self.lease = Some(lease),
            None => lease.give_back(),
        }
        Ok(piece)
    }

    /// All bytes, in memory.
    pub async fn read_all(mut self) -> Result<Bytes> {
        let mut all = Vec::with_capacity(usize::try_from(self.left).unwrap_or(0).min(64 << 20));
        while let Some(piece) = self.next().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all.into())
    }

    async fn read(&mut self, lease: &mut Lease) -> Result<Option<Bytes>> {
        loop {
            if let Some(body) = &mut self.frame
                && body.at < body.bytes
            {
                let piece = body.step(lease).await?;
                if !piece.is_empty() {
                    self.count(piece.len() as u64)?;
                    return Ok(Some(piece));
                }
                continue;
            }
            if self.frame.take().is_some_and(|body| body.head.last) {
                return if self.left == 0 { Ok(None) } else { Err(self.wrong_length()) };
            }
            self.frame = Some(self.next_frame(lease).await?);
        }
    }

    async fn next_frame(&self, lease: &mut Lease) -> Result<Body> {
        let frame = lease.connection().frame().await?;
        if frame.header.kind != Kind::Data || frame.header.request != self.request {
            let other = answer_of(&frame, self.request)?;
            return Err(ClientError::unexpected(&other));
        }
        let head = DataHead::parse(&frame)?;
        let verified = Verified::new(&head);
        Ok(Body { head, verified, at: 0, bytes: frame.header.body_bytes as usize })
    }

    fn count(&mut self, bytes: u64) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.wrong_length())?;
        Ok(())
    }

    fn wrong_length(&self) -> ClientError {
        ClientError::unexpected(&format!("content of another length, {} missing", self.left))
    }
}

impl Body {
    /// Some blocks, verified; what of them is content.
    async fn step(&mut self, lease: &mut Lease) -> Result<Bytes> {
        let count = STEP_BYTES.min(self.bytes - self.at);
        let blocks = lease.connection().body(count).await?;
        self.verified.block_range(self.at / BLOCK_BYTES, &blocks)?;
        let Range { start, end } = self.head.content;
        let here = |offset: u32| (offset as usize).clamp(self.at, self.at + count) - self.at;
        let piece = blocks.slice(here(start)..here(end));
        self.at += count;
        Ok(piece)
    }
}
