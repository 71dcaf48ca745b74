//! Giving up on clients that take nothing, send nothing, or ask for nothing.
//!
//! ```text
//!                        what is waited for                              for how long
//!   Watched (socket)     the client takes some of what is sent           stall_timeout
//!   Arriving (`body`)    something comes of a request's body             stall_timeout
//!   Pace::run_out        the head of the next request, as a whole        idle_timeout; until one with a key has come: the shorter of both
//! ```
//!
//! Whoever holds an answer that nobody takes holds memory of the router, which all requests share; whoever says nothing holds a
//! connection. What the system's buffers hold counts as taken.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::options::S3Options;
use crate::seats::Seat;

/// What a client did not do in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Late {
    /// It takes nothing of an answer.
    Takes,
    /// It sends nothing of a body.
    Sends,
    /// It asks for nothing.
    Asks,
}

impl Late {
    /// Counts a client that is cut off.
    fn count(self) {
        let reason = match self {
            Late::Takes => "takes-nothing",
            Late::Sends => "sends-nothing",
            Late::Asks => "idle",
        };
        metrics::counter!("afterbay_blob_s3_cut_off_total", "reason" => reason).increment(1);
    }

    pub(crate) fn after(self, limit: Duration) -> io::Error {
        self.count();
        let what = if self == Late::Takes { "took" } else { "sent" };
        tracing::info!(?limit, "a client {what} nothing for long and is cut off");
        io::Error::new(io::ErrorKind::TimedOut, format!("the client {what} nothing for {limit:?}"))
    }
}

/// Time that begins with the first wait and ends with progress.
#[derive(Debug)]
pub(crate) struct Wait {
    limit: Duration,
    /// Made with the first wait: most connections have none.
    timer: Option<Pin<Box<Sleep>>>,
    waiting: bool,
}

impl Wait {
    pub(crate) fn new(limit: Duration) -> Self {
        Wait { limit, timer: None, waiting: false }
    }

    /// The result of a poll, or `late` if it has been waited for too long.
    pub(crate) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<T>,
        late: impl FnOnce(Duration) -> T,
    ) -> Poll<T> {
        if polled.is_ready() {
            self.waiting = false;
            return polled;
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        if !self.waiting {
            self.waiting = true;
            timer.as_mut().reset(Instant::now() + limit);
        }
        timer.as_mut().poll(context).map(|()| late(limit))
    }
}

/// How a connection goes on: whether a request is in work, and since when none is.
#[derive(Debug)]
pub(crate) struct Pace {
    began: Instant,
    /// Milliseconds from `began`.
    quiet_since_ms: AtomicU64,
    seat: Seat,
    idle_timeout: Duration,
    stall_timeout: Duration,
}

/// A request in work, until it is dropped.
#[derive(Debug)]
pub(crate) struct InWork(Arc<Pace>);

impl Pace {
    pub(crate) fn new(options: &S3Options, seat: Seat) -> Arc<Self> {
        Arc::new(Pace {
            began: Instant::now(),
            quiet_since_ms: AtomicU64::new(0),
            seat,
            idle_timeout: options.idle_timeout,
            stall_timeout: options.stall_timeout,
        })
    }

    /// The head of a request is there.
    pub(crate) fn begin(self: &Arc<Self>) -> InWork {
        self.seat.begin();
        InWork(self.clone())
    }

    /// The client has proved that it has a key. False if there are too many of them.
    pub(crate) fn know(&self) -> bool {
        self.seat.know()
    }

    /// Returns when there are too many clients without a key, and this is one that has to go.
    pub(crate) async fn crowded_out(&self) {
        self.seat.lost().await;
    }

    /// Something of an answer was taken.
    fn progress(&self) {
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.quiet_since_ms.store(now_ms, Ordering::Relaxed);
    }

    fn limit(&self) -> Duration {
        let unknown = self.idle_timeout.min(self.stall_timeout);
        if self.seat.is_known() { self.idle_timeout } else { unknown }
    }

    /// Until when nothing needs to be looked at.
    fn deadline(&self) -> Instant {
        if self.seat.is_busy() {
            // Whenever that request ends, it is not too late to look then.
            return Instant::now() + self.idle_timeout.min(self.stall_timeout);
        }
        let quiet_since = Duration::from_millis(self.quiet_since_ms.load(Ordering::Relaxed));
        self.began + quiet_since + self.limit()
    }

    /// Returns when the client has asked for nothing for too long.
    pub(crate) async fn run_out(&self) {
        loop {
            let deadline = self.deadline();
            if deadline <= Instant::now() {
                Late::Asks.count();
                return tracing::debug!(limit = ?self.limit(), "no request came in time");
            }
            tokio::time::sleep_until(deadline).await;
        }
    }
}

impl Drop for InWork {
    fn drop(&mut self) {
        self.0.progress();
        self.0.seat.end();
    }
}

/// A socket that fails when the client takes nothing of what is sent for some time.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    wait: Wait,
    pace: Arc<Pace>,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, pace: Arc<Pace>) -> Self {
        Watched { stream, wait: Wait::new(pace.stall_timeout), pace }
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.pace.progress();
        }
        self.wait.poll(context, written, |limit| Err(Late::Takes.after(limit)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::seats::Seats;

    fn pace() -> Arc<Pace> {
        let (idle_timeout, stall_timeout) = (Duration::from_secs(300), Duration::from_secs(30));
        paced(S3Options { idle_timeout, stall_timeout, ..S3Options::default() })
    }

    fn paced(options: S3Options) -> Arc<Pace> {
        Pace::new(&options, Seats::new(&options).take())
    }

    async fn pass(seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_taken_slowly_is_sent_and_what_is_not_fails() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut server = Watched::new(server, pace());
        let taking = tokio::spawn(async move {
            let mut taken = [0; 64];
            for _ in 0..5 {
                pass(20).await;
                client.read_exact(&mut taken).await.unwrap();
            }
            client
        });
        server.write_all(&[7; 6 * 64]).await.unwrap();
        let _open = taking.await.unwrap();
        let began = Instant::now();
        let error = server.write_all(&[7; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_not_known_waits_less() {
        let began = Instant::now();
        pace().run_out().await;
        assert_eq!(began.elapsed().as_secs(), 30);
        let began = Instant::now();
        let known = pace();
        assert!(known.know());
        known.run_out().await;
        assert_eq!(began.elapsed().as_secs(), 300);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_request_is_not_waited_for_as_long_as_a_client_may_stall() {
        let (idle_timeout, stall_timeout) = (Duration::from_secs(1), Duration::from_secs(3600));
        let pace = paced(S3Options { idle_timeout, stall_timeout, ..S3Options::default() });
        let began = Instant::now();
        let waits = tokio::spawn({
            let pace = pace.clone();
            async move { pace.run_out().await }
        });
        tokio::task::yield_now().await;
        let request = pace.begin();
        assert!(pace.know());
        drop(request);
        waits.await.unwrap();
        assert_eq!(began.elapsed().as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn time_begins_when_the_request_ends_and_its_answer_is_taken() {
        let pace = pace();
        let began = Instant::now();
        let request = pace.begin();
        let waits = tokio::spawn({
            let pace = pace.clone();
            async move { pace.run_out().await }
        });
        pass(100).await;
        drop(request);
        pass(20).await;
        pace.progress();
        waits.await.unwrap();
        assert_eq!(began.elapsed().as_secs(), 150);
    }
}
