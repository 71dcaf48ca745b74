//! Giving up on a client that sends nothing, or takes nothing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// What is sent to a client; fails if the client does not take it for some time.
pub(crate) async fn taken_within<T>(
    limit: Duration,
    sent: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    tokio::time::timeout(limit, sent).await.map_err(|_| {
        let reason = format!("the client took nothing for {limit:?}");
        io::Error::new(io::ErrorKind::TimedOut, reason)
    })?
}

/// Fails with [`io::ErrorKind::TimedOut`] when nothing came for some time while it was waited for.
#[derive(Debug)]
pub(crate) struct Stalling<R> {
    from: R,
    limit: Duration,
    timer: Pin<Box<Sleep>>,
    waiting: bool,
}

impl<R> Stalling<R> {
    pub(crate) fn new(from: R, limit: Duration) -> Self {
        Stalling { from, limit, timer: Box::pin(sleep(limit)), waiting: false }
    }

    /// From the next wait on.
    pub(crate) fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
        self.waiting = false;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Stalling<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Poll::Ready(read) = Pin::new(&mut this.from).poll_read(context, buffer) {
            this.waiting = false;
            return Poll::Ready(read);
        }
        if !this.waiting {
            this.waiting = true;
            this.timer.as_mut().reset(Instant::now() + this.limit);
        }
        match this.timer.as_mut().poll(context) {
            Poll::Ready(()) => {
                let reason = format!("nothing came for {:?}", this.limit);
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, reason)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test(start_paused = true)]
    async fn it_waits_as_long_as_something_comes() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut reader = Stalling::new(server, Duration::from_millis(200));
        let sends = tokio::spawn(async move {
            for _ in 0..4 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                client.write_all(b"x").await.unwrap();
            }
            client
        });
        let mut buffer = [0; 4];
        reader.read_exact(&mut buffer).await.unwrap();
        let _open = sends.await.unwrap();
        let error = reader.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
