//! Content from the file to the socket, without a copy.
//!
//! The disk may be slow, so `sendfile` runs on a thread for such work. It stays there as long as the client takes what
//! comes. A client that does not is waited for without a thread.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_router::Chunk;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// How long a thread waits for a client that is slower than the disk.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
/// What is sent from the thread that waits for sockets: enough to find out whether there is room again.
const PROBE_BYTES: u64 = 64 << 10;

/// Sends `length` bytes of a chunk's file, from `offset` of the file on. `socket` is the one of `stream`.
pub(crate) async fn send_file(
    stream: &TcpStream,
    socket: &Arc<OwnedFd>,
    chunk: &Arc<dyn Chunk>,
    offset: u64,
    length: u64,
    stall_timeout: Duration,
) -> io::Result<()> {
    let end = offset + length;
    let mut at = offset;
    while at < end {
        at += send_on_thread(socket.clone(), chunk.clone(), at, end).await?;
        if at < end {
            let probe = stream.async_io(Interest::WRITABLE, || {
                with_file(chunk, |file| send_some(socket, file, at, (end - at).min(PROBE_BYTES)))
            });
            at += tokio::time::timeout(stall_timeout, probe).await.map_err(|_| {
                let reason = format!("the client took nothing for {stall_timeout:?}");
                io::Error::new(io::ErrorKind::TimedOut, reason)
            })??;
        }
    }
    Ok(())
}

async fn send_on_thread(
    socket: Arc<OwnedFd>,
    chunk: Arc<dyn Chunk>,
    begin: u64,
    end: u64,
) -> io::Result<u64> {
    let sent = tokio::task::spawn_blocking(move || {
        with_file(&chunk, |file| {
            let mut at = begin;
            while at < end {
                match send_some(&socket, file, at, end - at) {
                    Ok(count) => at += count,
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                        let mut socket = [PollFd::new(&*socket, PollFlags::OUT)];
                        if poll(&mut socket, Some(&PATIENCE))? == 0 {
                            break;
                        }
                    }
                    Err(e) => return Err(e),
                }
            }
            Ok(at - begin)
        })
    });
    sent.await.unwrap_or_else(|e| Err(io::Error::other(e)))
}

fn with_file<T>(
    chunk: &Arc<dyn Chunk>,
    work: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
) -> io::Result<T> {
    match chunk.file().and_then(|range| range.file) {
        Some(file) => work(file),
        None => Err(io::Error::other("the chunk is in no file")),
    }
}

fn send_some(socket: &OwnedFd, file: BorrowedFd<'_>, at: u64, count: u64) -> io::Result<u64> {
    let mut offset = at;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    match rustix::fs::sendfile(socket, file, Some(&mut offset), count) {
        Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends in a record")),
        Ok(count) => Ok(count as u64),
        Err(e) => Err(e.into()),
    }
}
