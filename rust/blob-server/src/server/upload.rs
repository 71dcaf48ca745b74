//! The content of a put, as it comes from the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use afterbay_blob_format::BLOCK_BYTES;
use afterbay_blob_proto::{DataHead, FrameReader, MAX_DATA_BYTES, ProtocolError, Result, Verified};
use afterbay_blob_router::{SourceError, SourceStream};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::io::AsyncRead;
use tokio::sync::mpsc;

/// How much is handed on at once: with one piece that waits and one in the making, what a connection's puts hold outside
/// of the router's memory is three of them.
const STEP_BYTES: usize = 2 * BLOCK_BYTES;
/// What a client may send of a put that has failed already.
const REST_BYTES_MAX: u64 = 16 << 20;

type Piece = std::result::Result<Bytes, SourceError>;

/// Where a content comes in. The stream ends well only behind [`Sink::end`]: one that is dropped before, with the session that
/// holds it, breaks the stream.
#[derive(Debug)]
pub(crate) struct Sink {
    pieces: mpsc::Sender<Piece>,
    whole: Arc<AtomicBool>,
}

impl Sink {
    /// Who does not want it any more has said why.
    async fn send(&self, piece: Piece) {
        let _ = self.pieces.send(piece).await;
    }

    /// All of it was sent.
    fn end(&self) {
        self.whole.store(true, Ordering::Release);
    }

    fn is_unwanted(&self) -> bool {
        self.pieces.is_closed()
    }
}

/// The two ends of a content: where it comes in, and the stream that the router reads.
pub(crate) fn content() -> (Sink, SourceStream) {
    let (pieces, receiver) = mpsc::channel(1);
    let whole = Arc::new(AtomicBool::new(false));
    let stream = stream::unfold((receiver, whole.clone()), |(mut receiver, whole)| async {
        let piece = match receiver.recv().await {
            Some(piece) => piece,
            None if whole.swap(true, Ordering::AcqRel) => return None,
            None => Err("the connection ended in the middle of it".into()),
        };
        Some((piece, (receiver, whole)))
    });
    (Sink { pieces, whole }, stream.boxed())
}

/// Reads frames of content up to the last one. When nobody wants it any more, what is left is thrown away, up to a limit.
pub(crate) async fn receive<R: AsyncRead + Unpin + Send>(
    reader: &mut FrameReader<R>,
    request: u64,
    to: &Sink,
) -> Result<()> {
    let received = receive_frames(reader, request, to).await;
    if let Err(error) = &received {
        // Whoever reads the stream must not take it for whole.
        to.send(Err(error.to_string().into())).await;
    }
    received
}

async fn receive_frames<R: AsyncRead + Unpin + Send>(
    reader: &mut FrameReader<R>,
    request: u64,
    to: &Sink,
) -> Result<()> {
    let mut thrown_away = 0;
    let began = Instant::now();
    let mut received = 0u64;
    loop {
        let frame = reader.frame().await?.ok_or(ProtocolError::Closed)?;
        let body_bytes = frame.header.body_bytes;
        let head = DataHead::parse(&frame)?;
        let whole = head.content == (0..body_bytes);
        if frame.header.request != request || !whole || body_bytes > MAX_DATA_BYTES {
            return Err(malformed("a frame that is not the next one of the content"));
        }
        if head.broken {
            to.send(Err("the client could not read it to its end".into())).await;
            return Ok(());
        }
        if to.is_unwanted() {
            thrown_away += u64::from(body_bytes);
            if thrown_away > REST_BYTES_MAX {
                return Err(malformed("content goes on after the request has failed"));
            }
            reader.skip(body_bytes.into()).await?;
        } else {
            receive_body(reader, &head, body_bytes as usize, to).await?;
        }
        received += u64::from(body_bytes);
        if head.last {
            to.end();
            tracing::trace!(request, received, took = ?began.elapsed(), "content received");
            return Ok(());
        }
    }
}

async fn receive_body<R: AsyncRead + Unpin + Send>(
    reader: &mut FrameReader<R>,
    head: &DataHead,
    body_bytes: usize,
    to: &Sink,
) -> Result<()> {
    let mut verified = Verified::new(head);
    let mut at = 0;
    while at < body_bytes {
        let blocks = reader.body(STEP_BYTES.min(body_bytes - at)).await?;
        verified.block_range(at / BLOCK_BYTES, &blocks)?;
        at += blocks.len();
        metrics::counter!("afterbay_blob_received_bytes_total").increment(blocks.len() as u64);
        to.send(Ok(blocks)).await;
    }
    Ok(())
}

fn malformed(reason: &str) -> ProtocolError {
    ProtocolError::Malformed { what: "content", reason: reason.to_owned() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    async fn read(mut content: SourceStream) -> (Vec<u8>, bool) {
        let (mut bytes, mut broken) = (Vec::new(), false);
        while let Some(piece) = content.next().await {
            match piece {
                Ok(piece) => bytes.extend_from_slice(&piece),
                Err(_) => broken = true,
            }
        }
        (bytes, broken)
    }

    #[tokio::test]
    async fn only_an_end_that_is_said_is_one() {
        for ends in [false, true] {
            let (to, content) = content();
            to.send(Ok(Bytes::from_static(b"abc"))).await;
            if ends {
                to.end();
            }
            drop(to);
            assert_eq!(read(content).await, (b"abc".to_vec(), !ends));
        }
    }
}
