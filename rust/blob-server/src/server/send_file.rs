//! Content from the file to the socket, without a copy.
//!
//! What is in memory is sent at once. Else the disk may be slow, so `sendfile` runs on a thread for such work. It stays
//! there as long as the client takes what comes. A client that does not is waited for without a thread.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_router::Chunk;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{ReadWriteFlags, preadv2};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::stall::taken_within;

/// How long a thread waits for a client that is slower than the disk.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
/// What is sent from the thread that waits for sockets: enough to find out whether there is room again.
const PROBE_BYTES: u64 = 64 << 10;

/// What is in memory is sent in such steps, so that other connections have their turn.
const STEP_BYTES: u64 = 1 << 20;
/// How far apart the bytes are that are looked for in memory: files come there, and go, in larger pieces.
const SAMPLE_BYTES: usize = 64 << 10;

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
    // Up to here it is known to be in memory.
    let mut cached_to = at;
    while at < end {
        let step = (end - at).min(STEP_BYTES);
        if cached_to <= at && with_file(chunk, |file| Ok(is_cached(file, at, step)))? {
            cached_to = at + step;
        }
        let most = if at < cached_to {
            cached_to - at
        } else {
            at += send_on_thread(socket.clone(), chunk.clone(), at, end).await?;
            (end - at).min(PROBE_BYTES)
        };
        if most > 0 {
            let sent = stream.async_io(Interest::WRITABLE, || {
                with_file(chunk, |file| send_some(socket, file, at, most))
            });
            at += taken_within(stall_timeout, sent).await?;
        }
    }
    Ok(())
}

/// Whether these bytes are in memory, as far as samples tell. One that was dropped meanwhile makes the others wait for
/// one read of the disk.
#[cfg(target_os = "linux")]
fn is_cached(file: BorrowedFd<'_>, at: u64, count: u64) -> bool {
    let last = at + count - 1;
    (at..last).step_by(SAMPLE_BYTES).chain([last]).all(|sample| {
        let mut byte = [0];
        let buffers = &mut [io::IoSliceMut::new(&mut byte)];
        preadv2(file, buffers, sample, ReadWriteFlags::NOWAIT) == Ok(1)
    })
}

#[cfg(not(target_os = "linux"))]
fn is_cached(_file: BorrowedFd<'_>, _at: u64, _count: u64) -> bool {
    false
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
