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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::ops::Range;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    use afterbay_blob_format::{ChecksumTable, Properties};
    use afterbay_blob_router::{FileRange, Result as BlobResult};
    use afterbay_test_form::PATIENCE;
    use bytes::Bytes;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;
    use tokio::time::{sleep, timeout};

    use super::*;

    /// More than the buffers of a connection hold.
    const LENGTH: u64 = 32 << 20;
    /// What stands before it in the file.
    const OFFSET: u64 = 1000;

    /// As far as it is asked here.
    #[derive(Debug)]
    struct InFile(File);

    #[async_trait::async_trait]
    impl Chunk for InFile {
        fn body_bytes(&self) -> u32 {
            unreachable!()
        }
        fn created_ms(&self) -> u64 {
            unreachable!()
        }
        fn expires_ms(&self) -> u64 {
            unreachable!()
        }
        fn is_deleted(&self) -> bool {
            unreachable!()
        }
        fn container(&self) -> u32 {
            unreachable!()
        }
        fn properties(&self) -> &Properties {
            unreachable!()
        }
        fn checksums(&self) -> &ChecksumTable {
            unreachable!()
        }
        async fn read(&self, _range: Range<u32>) -> BlobResult<Bytes> {
            unreachable!()
        }
        fn file(&self) -> Option<FileRange<'_>> {
            Some(FileRange { file: Some(self.0.as_fd()), offset: OFFSET, length: LENGTH })
        }
    }

    fn content() -> Vec<u8> {
        (0..LENGTH / 8)
            .flat_map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
            .collect()
    }

    /// The server's side of a connection, and a chunk in a file.
    struct Sending {
        stream: TcpStream,
        socket: Arc<OwnedFd>,
        chunk: Arc<dyn Chunk>,
    }

    impl Sending {
        /// The other side is the client's.
        async fn start() -> (Self, TcpStream) {
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(&content(), OFFSET).unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let socket = Arc::new(stream.as_fd().try_clone_to_owned().unwrap());
            (Sending { stream, socket, chunk: Arc::new(InFile(file)) }, client)
        }

        async fn send(&self, length: u64, stall_timeout: Duration) -> io::Result<()> {
            let Sending { stream, socket, chunk } = self;
            let sent = send_file(stream, socket, chunk, OFFSET, length, stall_timeout);
            timeout(PATIENCE, sent).await.expect("it ends")
        }

        async fn send_on_thread(&self) -> io::Result<u64> {
            let (socket, chunk) = (self.socket.clone(), self.chunk.clone());
            timeout(PATIENCE, send_on_thread(socket, chunk, OFFSET, OFFSET + LENGTH))
                .await
                .expect("it ends")
        }
    }

    /// So many bytes, each piece after a pause.
    async fn read(mut client: TcpStream, length: usize, pause: Duration) -> Vec<u8> {
        let (mut got, mut piece) = (Vec::new(), vec![0; 2 << 20]);
        while got.len() < length {
            sleep(pause).await;
            let count = client.read(&mut piece).await.unwrap();
            assert!(count > 0, "{} bytes came", got.len());
            got.extend_from_slice(&piece[..count]);
        }
        got
    }

    #[tokio::test]
    async fn a_slow_client_gets_all_of_it() {
        let (sending, client) = Sending::start().await;
        let reads = tokio::spawn(read(client, LENGTH as usize, Duration::from_millis(20)));
        sending.send(LENGTH, PATIENCE).await.unwrap();
        assert!(reads.await.unwrap() == content());
    }

    /// As what is not in memory is sent: what the client did not take in time, the next call sends.
    #[tokio::test]
    async fn a_thread_sends_all_of_it_and_does_not_wait_for_a_client() {
        let (sending, client) = Sending::start().await;
        let sent = sending.send_on_thread().await.unwrap() as usize;
        assert!(sent > 0 && sent < LENGTH as usize, "{sent} bytes fit into the buffers");
        assert!(read(client, sent, Duration::ZERO).await == content()[..sent]);
        let (sending, client) = Sending::start().await;
        let reads = tokio::spawn(read(client, LENGTH as usize, Duration::ZERO));
        let mut sent = 0;
        while sent < LENGTH {
            let (socket, chunk) = (sending.socket.clone(), sending.chunk.clone());
            sent += send_on_thread(socket, chunk, OFFSET + sent, OFFSET + LENGTH).await.unwrap();
        }
        assert!(reads.await.unwrap() == content());
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_given_up() {
        let (sending, _client) = Sending::start().await;
        let given_up = sending.send(LENGTH, Duration::from_millis(200)).await.unwrap_err();
        assert_eq!(given_up.kind(), io::ErrorKind::TimedOut, "{given_up}");
    }

    #[tokio::test]
    async fn a_file_that_ends_too_early_is_an_error() {
        let (sending, client) = Sending::start().await;
        let reads = tokio::spawn(read(client, LENGTH as usize, Duration::ZERO));
        let ended = sending.send(LENGTH + 1, PATIENCE).await.unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof, "{ended}");
        assert!(reads.await.unwrap() == content());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_just_written_is_in_memory() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[1; 200_000], 0).unwrap();
        assert!(is_cached(file.as_fd(), 0, 200_000));
        assert!(!is_cached(file.as_fd(), 100_000, 100_001), "it has no such byte");
    }
}
