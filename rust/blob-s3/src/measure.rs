//! What is counted and logged of each request.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::StatusCode;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use s3s::Body;

use crate::patience::{InWork, Pace};

/// As s3s has them.
type StdError = Box<dyn std::error::Error + Send + Sync>;

/// The operation of requests that were refused before it was known, by a wrong signature for one.
const NONE: &str = "none";

/// What those who serve a request say about it. Goes with the request as one of its extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Noted>);

#[derive(Debug, Default)]
struct Noted {
    operation: OnceLock<String>,
    unauthorized: AtomicBool,
    crowded: AtomicBool,
    /// Of the connection.
    pace: Option<Arc<Pace>>,
}

impl Notes {
    pub(crate) fn new(pace: Arc<Pace>) -> Self {
        Notes(Arc::new(Noted { pace: Some(pace), ..Noted::default() }))
    }

    /// The signature was right, or there was none.
    pub(crate) fn operation(&self, name: &str) {
        // Told once.
        let _ = self.0.operation.set(name.to_owned());
    }

    /// `None` until it has been told.
    pub(crate) fn told_operation(&self) -> Option<&str> {
        self.0.operation.get().map(String::as_str)
    }

    /// The client has a key. False if there are too many connections of such clients.
    pub(crate) fn known(&self) -> bool {
        let has_seat = self.0.pace.as_ref().is_none_or(|pace| pace.know());
        if !has_seat {
            self.0.crowded.store(true, Ordering::Relaxed);
            metrics::counter!("afterbay_blob_s3_connections_refused_total").increment(1);
        }
        has_seat
    }

    /// Whether the request was refused because there are too many connections.
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.crowded.load(Ordering::Relaxed)
    }

    /// There is no key, and the request needs one.
    pub(crate) fn unauthorized(&self) {
        self.0.unauthorized.store(true, Ordering::Relaxed);
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Request {
    notes: Notes,
    began: Instant,
    _in_work: InWork,
}

impl Request {
    pub(crate) fn begin(notes: Notes, in_work: InWork) -> Self {
        Request { notes, began: Instant::now(), _in_work: in_work }
    }

    fn operation(&self) -> &str {
        self.notes.0.operation.get().map_or(NONE, String::as_str)
    }

    /// Whether the client could not say who it is.
    fn is_unauthorized(&self, status: StatusCode) -> bool {
        let refused = [StatusCode::FORBIDDEN, StatusCode::UNAUTHORIZED].contains(&status);
        let unknown = self.notes.0.operation.get().is_none();
        refused && (unknown || self.notes.0.unauthorized.load(Ordering::Relaxed))
    }

    /// Logs what failed, counts, and follows the body to its end. `code` is that of the error.
    pub(crate) fn answered(self, id: &str, status: StatusCode, code: &str, body: Body) -> Measured {
        let operation = self.operation();
        if self.is_unauthorized(status) {
            metrics::counter!("afterbay_blob_s3_unauthorized_total").increment(1);
            if self.notes.0.unauthorized.load(Ordering::Relaxed) {
                tracing::info!(id, operation, code, "a request without a key was refused");
            } else {
                tracing::warn!(id, code, "a client could not prove that it knows a key's secret");
            }
        } else if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED {
            tracing::warn!(id, operation, status = status.as_u16(), code, "refused");
        } else {
            tracing::debug!(id, operation, status = status.as_u16(), code, "answered");
        }
        let left = body.size_hint().exact();
        Measured { body, request: Some(self), result: result_of(status), left }
    }

    fn count(self, result: &'static str) {
        let operation = self.operation().to_owned();
        metrics::counter!("afterbay_blob_s3_requests_total", "operation" => operation.clone(), "result" => result)
            .increment(1);
        metrics::histogram!("afterbay_blob_s3_request_seconds", "operation" => operation)
            .record(self.began.elapsed().as_secs_f64());
    }
}

/// The results of the native protocol, as far as HTTP tells them.
fn result_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "absent",
        StatusCode::INSUFFICIENT_STORAGE => "out-of-space",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        StatusCode::NOT_IMPLEMENTED => "refused",
        status if status.is_server_error() => "failed",
        status if status.is_client_error() => "refused",
        _ => "ok",
    }
}

/// The body of an answer. The request is counted when it has been sent, or is given up.
pub(crate) struct Measured {
    body: Body,
    request: Option<Request>,
    result: &'static str,
    /// Bytes that were not sent yet, if that is known: who knows the length does not ask for the end.
    left: Option<u64>,
}

impl Measured {
    fn end(&mut self, result: &'static str) {
        if let Some(request) = self.request.take() {
            request.count(result);
        }
    }

    fn sent(&mut self, bytes: &Bytes) {
        let count = bytes.len() as u64;
        metrics::counter!("afterbay_blob_s3_sent_bytes_total").increment(count);
        self.left = self.left.map(|left| left.saturating_sub(count));
    }
}

impl HttpBody for Measured {
    type Data = Bytes;
    type Error = StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    self.sent(bytes);
                }
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "a body could not be read to its end");
                self.end("broken");
            }
            None => {
                let result = self.result;
                self.end(result);
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        let whole = self.left == Some(0) || self.body.is_end_stream();
        let result = if whole { self.result } else { "broken" };
        self.end(result);
    }
}

/// Counts a connection as long as it lives.
pub(crate) struct Connected;

impl Connected {
    pub(crate) fn new() -> Self {
        metrics::gauge!("afterbay_blob_s3_connections").increment(1.0);
        Connected
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        metrics::gauge!("afterbay_blob_s3_connections").decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: u16) -> StatusCode {
        StatusCode::from_u16(code).unwrap()
    }

    #[test]
    fn results_by_status() {
        for (status, result) in [
            (200, "ok"),
            (206, "ok"),
            (304, "ok"),
            (403, "refused"),
            (404, "absent"),
            (412, "refused"),
            (500, "failed"),
            (501, "refused"),
            (503, "unavailable"),
            (507, "out-of-space"),
        ] {
            assert_eq!(result_of(of(status)), result, "{status}");
        }
    }

    #[test]
    fn who_is_not_authorized() {
        let options = crate::S3Options::default();
        let pace = Pace::new(&options, crate::seats::Seats::new(&options).take());
        let request = Request::begin(Notes::default(), pace.begin());
        assert!(request.is_unauthorized(of(403)) && !request.is_unauthorized(of(400)));
        request.notes.operation("GetObject");
        // A right is missing; the key is known.
        assert!(!request.is_unauthorized(of(403)));
        request.notes.unauthorized();
        assert!(request.is_unauthorized(of(403)));
        assert_eq!(request.operation(), "GetObject");
    }
}
