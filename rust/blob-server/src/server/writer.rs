//! Answers on their way to a client: one at a time, each as a whole.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_proto::{DataHead, Message, Response, encode_data};
use afterbay_blob_router::Chunk;
use bytes::Bytes;
use rustix::net::{SendFlags, send};
use tokio::io::{AsyncWrite, AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::Notify;

use super::send_file::send_file;
use super::stall::taken_within;

/// A write is given to the connection in parts, so that a slow client is told from one that takes nothing.
const STEP_BYTES: usize = 256 << 10;

/// The sending side of a connection.
pub(crate) struct Writer {
    to: To,
    stall_timeout: Duration,
    /// What a request broke off in the middle of: nothing may follow.
    broken: bool,
    /// Told when the client cannot be reached any more.
    gone: Arc<Notify>,
}

enum To {
    /// The socket, and once more for threads that send from files.
    Plain(OwnedWriteHalf, Arc<OwnedFd>),
    Tls(Box<dyn AsyncWrite + Send + Unpin>),
}

impl Writer {
    pub(crate) fn plain(half: OwnedWriteHalf, stall_timeout: Duration) -> io::Result<Self> {
        let stream: &TcpStream = half.as_ref();
        let socket = Arc::new(stream.as_fd().try_clone_to_owned()?);
        Ok(Writer::new(To::Plain(half, socket), stall_timeout))
    }

    pub(crate) fn tls(half: impl AsyncWrite + Send + Unpin + 'static, stall: Duration) -> Self {
        Writer::new(To::Tls(Box::new(half)), stall)
    }

    fn new(to: To, stall_timeout: Duration) -> Self {
        Writer { to, stall_timeout, broken: false, gone: Arc::new(Notify::new()) }
    }

    /// Told when the client cannot be reached any more, so that nobody waits for its next request.
    pub(crate) fn gone(&self) -> Arc<Notify> {
        self.gone.clone()
    }

    /// Whether content can go from files to the socket.
    pub(crate) fn sends_files(&self) -> bool {
        matches!(self.to, To::Plain(..))
    }

    /// Sends an answer, with the body of its frame.
    pub(crate) async fn respond(
        &mut self,
        request: u64,
        response: &Response,
        body: &[u8],
    ) -> io::Result<()> {
        // Bodies of answers are short.
        let body_bytes = u32::try_from(body.len()).map_err(io::Error::other)?;
        let mut frame = response.encode(request, body_bytes).map_err(io::Error::other)?;
        frame.extend_from_slice(body);
        self.write(&frame).await
    }

    /// Sends content that is in memory; `before` goes ahead of it.
    pub(crate) async fn data(
        &mut self,
        request: u64,
        mut before: Vec<u8>,
        body: &Bytes,
        last: bool,
    ) -> io::Result<()> {
        let body_bytes = u32::try_from(body.len()).map_err(io::Error::other)?;
        before.extend_from_slice(&encode_data(request, &DataHead::of(body, last), body_bytes));
        if body.len() <= STEP_BYTES / 4 {
            // One system call.
            before.extend_from_slice(body);
            return self.write(&before).await;
        }
        self.write(&before).await?;
        self.write(body).await
    }

    /// Sends a part of a chunk from its file. `None` if the chunk is not what was listed: nothing is sent then.
    pub(crate) async fn chunk(
        &mut self,
        request: u64,
        mut before: Vec<u8>,
        chunk: &Arc<dyn Chunk>,
        range: &Range<u32>,
        last: bool,
    ) -> io::Result<Option<()>> {
        let Some((head, body)) =
            DataHead::of_part(chunk.checksums(), chunk.body_bytes(), range, last)
        else {
            return Ok(None);
        };
        let Some(file) = chunk.file().map(|file| file.offset + u64::from(body.start)) else {
            return Ok(None);
        };
        let body_bytes = body.end - body.start;
        before.extend_from_slice(&encode_data(request, &head, body_bytes));
        let To::Plain(half, socket) = &self.to else {
            return Ok(None);
        };
        if self.broken {
            return Err(broken());
        }
        self.broken = true;
        let (stream, patience) = (half.as_ref(), self.stall_timeout);
        let sent = async {
            write_more(stream, &before, patience).await?;
            send_file(stream, socket, chunk, file, body_bytes.into(), patience).await
        };
        let sent = sent.await;
        self.settle(sent).map(Some)
    }

    /// Sends bytes, all of them.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.broken {
            return Err(broken());
        }
        // Also if this future is dropped.
        self.broken = true;
        let written = self.write_steps(bytes).await;
        self.settle(written)
    }

    /// After an error the client is gone.
    fn settle(&mut self, sent: io::Result<()>) -> io::Result<()> {
        match &sent {
            Ok(()) => self.broken = false,
            Err(_) => self.gone.notify_one(),
        }
        sent
    }

    async fn write_steps(&mut self, bytes: &[u8]) -> io::Result<()> {
        for step in bytes.chunks(STEP_BYTES) {
            let written = async {
                match &mut self.to {
                    To::Plain(half, _) => half.write_all(step).await,
                    To::Tls(half) => {
                        half.write_all(step).await?;
                        half.flush().await
                    }
                }
            };
            taken_within(self.stall_timeout, written).await?;
        }
        Ok(())
    }

    /// Ends the connection in this direction.
    pub(crate) async fn close(&mut self) {
        let closed = async {
            match &mut self.to {
                To::Plain(half, _) => half.shutdown().await,
                To::Tls(half) => half.shutdown().await,
            }
        };
        // Who does not listen need not hear it.
        let _ = tokio::time::timeout(Duration::from_secs(1), closed).await;
    }
}

fn broken() -> io::Error {
    io::Error::other("an answer broke off before")
}

/// Sends bytes that more follow: the client is not woken up for them alone.
async fn write_more(stream: &TcpStream, bytes: &[u8], stall_timeout: Duration) -> io::Result<()> {
    let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
    let mut at = 0;
    while at < bytes.len() {
        let written =
            stream.async_io(Interest::WRITABLE, || Ok(send(stream, &bytes[at..], flags)?));
        at += taken_within(stall_timeout, written).await?;
    }
    Ok(())
}
