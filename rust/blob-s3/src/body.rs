//! The bodies of requests: given up when nothing comes of them, and read to their end behind the answer if little is left.
//!
//! A connection goes on only behind a body that was read to its end. Where it cannot, the answer says so (`Connection: close`): a client
//! that is not told sends its next request into a connection that is being closed.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::patience::{Late, Wait};

/// So much of a body is read only to keep the connection.
const REST_BYTES_MAX: u64 = 256 << 10;

/// For so long.
const REST_TIME_MAX: Duration = Duration::from_secs(2);

/// The body of a request, which fails when nothing comes of it for some time while it is waited for.
#[derive(Debug)]
pub(crate) struct Arriving<B> {
    wait: Wait,
    arrived: Arc<Arrived<B>>,
}

/// What came of a body, and the rest of it.
#[derive(Debug)]
pub(crate) struct Arrived<B> {
    body: Mutex<B>,
    bytes: AtomicU64,
    asked: AtomicBool,
    late: AtomicBool,
}

impl<B> Arriving<B> {
    /// The body, and what came of it.
    pub(crate) fn new(body: B, limit: Duration) -> (Self, Arc<Arrived<B>>) {
        let arrived = Arc::new(Arrived {
            body: Mutex::new(body),
            bytes: AtomicU64::new(0),
            asked: AtomicBool::new(false),
            late: AtomicBool::new(false),
        });
        (Arriving { wait: Wait::new(limit), arrived: arrived.clone() }, arrived)
    }
}

type Framed = Option<Result<Frame<Bytes>, s3s::StdError>>;

impl<B> Arrived<B>
where
    B: HttpBody<Data = Bytes, Error: Into<s3s::StdError>> + Unpin,
{
    /// How many bytes were read.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether nothing came for too long.
    pub(crate) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// Whether the body is read to its end, which this does if little is left.
    ///
    /// `on_request`: the client sends it when it is told so (`Expect: 100-continue`), and not at all if nobody has asked for it.
    pub(crate) async fn finish(&self, on_request: bool) -> bool {
        if self.is_late() || (on_request && !self.asked.load(Ordering::Relaxed)) {
            return false;
        }
        let finished = tokio::time::timeout(REST_TIME_MAX, self.read_rest()).await;
        finished.unwrap_or(false)
    }

    fn body(&self) -> MutexGuard<'_, B> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read_rest(&self) -> bool {
        let most = self.bytes() + REST_BYTES_MAX;
        while self.bytes() <= most {
            match poll_fn(|context| self.poll(context)).await {
                Some(Ok(_)) => {}
                Some(Err(_)) => return false,
                None => return true,
            }
        }
        false
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Framed> {
        self.asked.store(true, Ordering::Relaxed);
        let frame = Pin::new(&mut *self.body()).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        frame.map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }
}

impl<B> HttpBody for Arriving<B>
where
    B: HttpBody<Data = Bytes, Error: Into<s3s::StdError>> + Unpin,
{
    type Data = Bytes;
    type Error = s3s::StdError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Framed> {
        let this = &mut *self;
        let frame = this.arrived.poll(context);
        this.wait.poll(context, frame, |limit| {
            this.arrived.late.store(true, Ordering::Relaxed);
            Some(Err(Late::Sends.after(limit).into()))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.arrived.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.arrived.body().size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use http_body_util::{BodyExt, Full};
    use tokio::time::Instant;

    use super::*;

    struct Never;

    impl HttpBody for Never {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
            Poll::Pending
        }
    }

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_is_given_up() {
        let (mut body, arrived) = Arriving::new(Never, LIMIT);
        assert!(!arrived.is_late());
        let frame = body.frame().await;
        assert!(frame.unwrap().is_err_and(|e| e.to_string().contains("sent nothing for 30s")));
        assert!(arrived.is_late());
        let began = Instant::now();
        assert!(!arrived.finish(false).await);
        assert_eq!(began.elapsed(), Duration::ZERO, "nor is it waited for again");
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_that_does_not_come_is_not_waited_for_for_long() {
        let (_body, arrived) = Arriving::new(Never, LIMIT);
        let began = Instant::now();
        assert!(!arrived.finish(false).await);
        assert_eq!(began.elapsed(), REST_TIME_MAX);
    }

    #[tokio::test]
    async fn what_is_left_is_read() {
        let (body, arrived) = Arriving::new(Full::new(Bytes::from(vec![7; 1000])), LIMIT);
        drop(body);
        assert!(!arrived.finish(true).await, "the client was not asked for it");
        assert_eq!(arrived.bytes(), 0);
        assert!(arrived.finish(false).await);
        assert_eq!(arrived.bytes(), 1000);
    }

    /// Comes in pieces.
    struct Pieces(u64);

    impl HttpBody for Pieces {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
            let left = self.0.checked_sub(1);
            self.0 = left.unwrap_or(0);
            Poll::Ready(left.map(|_| Ok(Frame::data(Bytes::from_static(&[7; 1024])))))
        }
    }

    #[tokio::test]
    async fn much_is_not_read_only_to_keep_a_connection() {
        let (mut body, arrived) = Arriving::new(Pieces(1 << 20), LIMIT);
        body.frame().await.unwrap().unwrap();
        assert!(!arrived.finish(true).await);
        assert_eq!(arrived.bytes(), REST_BYTES_MAX + 2 * 1024);
        let (mut body, arrived) = Arriving::new(Pieces(257), LIMIT);
        body.frame().await.unwrap().unwrap();
        assert!(arrived.finish(true).await);
    }
}
