//! Content on its way to the server.

use afterbay_blob_format::Crc32c;
use afterbay_blob_proto::{
    DataHead, MAX_DATA_BYTES, Message, ProtocolError, PutHead, Request, Response, encode_data,
};
use afterbay_blob_router::{PutBlob, SourceStream};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::connection::{answer_of, next_frame};
use crate::error::{ClientError, Result};
use crate::pool::{Lease, within};

/// The number of the request within a connection that has nothing else under way. Any will do.
const REQUEST: u64 = 1 << 32;

/// Sends content and waits for the answer, which may come early: a server that is full does not wait for the rest.
pub(crate) async fn put(mut lease: Lease, head: PutHead, content: SourceStream) -> Result<PutBlob> {
    let options = lease.options().clone();
    let expected_bytes = head.options.content_bytes;
    let answered = {
        let (reader, writer) = lease.connection().halves();
        let send = std::pin::pin!(send(writer, head, content));
        let answer = std::pin::pin!(next_frame(reader));
        match select(send, answer).await {
            Either::Left((sent, answer)) => {
                let sent = sent?;
                let frame = within(&options, answer).await?;
                (answer_of(&frame, REQUEST)?, sent)
            }
            Either::Right((frame, _)) => {
                let early = answer_of(&frame?, REQUEST)?;
                return Err(ClientError::unexpected(&early));
            }
        }
    };
    match answered {
        (Response::Stored(stored), sent) => {
            let found = (stored.content_bytes, stored.crc32c);
            if found != sent || expected_bytes.is_some_and(|bytes| bytes != sent.0) {
                let text = |(bytes, crc): (u64, u32)| format!("{bytes} bytes, CRC32C {crc:08x}");
                return Err(ClientError::Differs { expected: text(sent), found: text(found) });
            }
            lease.give_back();
            Ok(stored)
        }
        (other, _) => Err(ClientError::unexpected(&other)),
    }
}

/// Length and checksum of what was sent.
async fn send(
    writer: &mut (impl AsyncWrite + Unpin),
    head: PutHead,
    mut content: SourceStream,
) -> Result<(u64, u32)> {
    let request = Request::Put(head).encode(REQUEST, 0)?;
    writer.write_all(&request).await.map_err(ProtocolError::Io)?;
    let (mut bytes, mut crc) = (0, Crc32c::new());
    let mut gathered = BytesMut::new();
    let mut broken = None;
    while let Some(piece) = content.next().await {
        let mut piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                broken = Some(error);
                break;
            }
        };
        bytes += piece.len() as u64;
        crc.update(&piece);
        while gathered.len() + piece.len() >= MAX_DATA_BYTES as usize {
            let rest = piece.split_to(MAX_DATA_BYTES as usize - gathered.len());
            if gathered.is_empty() {
                send_data(writer, rest, false).await?;
            } else {
                gathered.extend_from_slice(&rest);
                send_data(writer, gathered.split().freeze(), false).await?;
            }
        }
        gathered.extend_from_slice(&piece);
    }
    if let Some(error) = broken {
        let frame = encode_data(REQUEST, &DataHead::broken(), 0);
        writer.write_all(&frame).await.map_err(ProtocolError::Io)?;
        writer.flush().await.map_err(ProtocolError::Io)?;
        return Err(ClientError::Source(error));
    }
    send_data(writer, gathered.freeze(), true).await?;
    writer.flush().await.map_err(ProtocolError::Io)?;
    Ok((bytes, crc.value()))
}

async fn send_data(writer: &mut (impl AsyncWrite + Unpin), body: Bytes, last: bool) -> Result<()> {
    let head = DataHead::of(&body, last);
    // At most MAX_DATA_BYTES.
    let frame = encode_data(REQUEST, &head, body.len() as u32);
    writer.write_all(&frame).await.map_err(ProtocolError::Io)?;
    Ok(writer.write_all(&body).await.map_err(ProtocolError::Io)?)
}
