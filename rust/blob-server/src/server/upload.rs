//! The content of a put, as it comes from the client.

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

/// The two ends of a content: where it comes in, and the stream that the router reads.
pub(crate) fn content() -> (mpsc::Sender<Piece>, SourceStream) {
    let (sender, receiver) = mpsc::channel(1);
    let stream = stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    });
    // A connection that ends says so: an end without a last frame is none.
    (sender, stream.boxed())
}

/// Reads frames of content up to the last one. When nobody wants it any more, what is left is thrown away, up to a limit.
pub(crate) async fn receive<R: AsyncRead + Unpin + Send>(
    reader: &mut FrameReader<R>,
    request: u64,
    to: &mpsc::Sender<Piece>,
) -> Result<()> {
    let received = receive_frames(reader, request, to).await;
    if let Err(error) = &received {
        // Whoever reads the stream must not take it for whole.
        let _ = to.send(Err(error.to_string().into())).await;
    }
    received
}

async fn receive_frames<R: AsyncRead + Unpin + Send>(
    reader: &mut FrameReader<R>,
    request: u64,
    to: &mpsc::Sender<Piece>,
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
            let _ = to.send(Err("the client could not read it to its end".into())).await;
            return Ok(());
        }
        if to.is_closed() {
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
            tracing::trace!(request, received, took = ?began.elapsed(), "content received");
            return Ok(());
        }
    }
}

async fn receive_body<R: AsyncRead + Unpin + Send>(
    reader: &mut FrameReader<R>,
    head: &DataHead,
    body_bytes: usize,
    to: &mpsc::Sender<Piece>,
) -> Result<()> {
    let mut verified = Verified::new(head);
    let mut at = 0;
    while at < body_bytes {
        let blocks = reader.body(STEP_BYTES.min(body_bytes - at)).await?;
        verified.block_range(at / BLOCK_BYTES, &blocks)?;
        at += blocks.len();
        metrics::counter!("afterbay_blob_received_bytes_total").increment(blocks.len() as u64);
        // Who does not want it any more has said why.
        let _ = to.send(Ok(blocks)).await;
    }
    Ok(())
}

fn malformed(reason: &str) -> ProtocolError {
    ProtocolError::Malformed { what: "content", reason: reason.to_owned() }
}
