//! One connection: TLS, if the endpoint has any, and HTTP over it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE};
use http::uri::Scheme;
use http::{HeaderValue, Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::Watcher;
use s3s::service::S3Service;
use s3s::{Body, HttpError, HttpResponse};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::cors::Cors;
use crate::measure::Connected;
use crate::options::S3Options;
use crate::patience::{Pace, Watched};
use crate::seats::Seat;
use crate::wire;

/// How a TLS connection begins: a record of the handshake.
const HANDSHAKE: u8 = 22;

/// What a client hears that speaks HTTP to an endpoint with TLS. In the form of S3, so that its clients show it.
const PLAINTEXT_REFUSED: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>InvalidRequest</Code>\
    <Message>This endpoint speaks TLS only: use https:// in its URL.</Message></Error>";

/// What a connection is served with.
pub(crate) struct Connection {
    pub(crate) service: S3Service,
    pub(crate) cors: Arc<Cors>,
    pub(crate) options: Arc<S3Options>,
    pub(crate) tls: Option<TlsAcceptor>,
    /// Of the URLs that clients use.
    pub(crate) scheme: Scheme,
    /// Lets the request in work end when the endpoint is shut down.
    pub(crate) watcher: Watcher,
    /// Becomes true then.
    pub(crate) shutdown: watch::Receiver<bool>,
}

/// How a connection to an endpoint with TLS began.
enum Began {
    Tls(Box<TlsStream<Watched<TcpStream>>>),
    /// By something else than TLS.
    Plaintext(TcpStream),
}

/// Why a connection ended early.
type Broken = Box<dyn std::error::Error + Send + Sync>;

impl Connection {
    /// Serves it to its end. What goes wrong are clients that go away, and those that speak something else.
    pub(crate) async fn serve(self, stream: TcpStream, seat: Seat) {
        let _counted = Connected::new();
        let pace = Pace::new(&self.options, seat);
        tokio::select! {
            () = self.serve_at(stream, &pace) => {}
            () = pace.crowded_out() => {}
        }
    }

    async fn serve_at(mut self, stream: TcpStream, pace: &Arc<Pace>) {
        let served = match self.tls.take() {
            None => self.http(Watched::new(stream, pace.clone()), pace.clone()).await,
            Some(tls) => match self.begin(&tls, stream, pace).await {
                Ok(Some(Began::Tls(stream))) => self.http(stream, pace.clone()).await,
                Ok(Some(Began::Plaintext(stream))) => {
                    metrics::counter!("afterbay_blob_s3_connections_refused_total").increment(1);
                    tracing::info!("a client without TLS was refused: it must use https://");
                    self.refuse(Watched::new(stream, pace.clone()), pace.clone()).await
                }
                Ok(None) => Ok(()),
                Err(error) => {
                    metrics::counter!("afterbay_blob_s3_connections_refused_total").increment(1);
                    tracing::info!(%error, "no TLS with a client");
                    Ok(())
                }
            },
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a connection broke off");
        }
    }

    /// `None` if the endpoint is shut down meanwhile.
    async fn begin(
        &mut self,
        tls: &TlsAcceptor,
        stream: TcpStream,
        pace: &Arc<Pace>,
    ) -> io::Result<Option<Began>> {
        let most = self.options.stall_timeout;
        tokio::select! {
            began = within(most, begin(tls, stream, pace)) => began,
            _ = self.shutdown.wait_for(|stop| *stop) => Ok(None),
        }
    }

    /// Answers requests until the client ends the connection, or is cut off.
    pub(crate) async fn http(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        pace: Arc<Pace>,
    ) -> Result<(), Broken> {
        let Connection { service, cors, options, watcher, scheme, .. } = self;
        let (of_requests, limits) = (pace.clone(), options.clone());
        let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(scheme.clone());
            let (service, pace, limits) = (service.clone(), of_requests.clone(), limits.clone());
            let crossing = cors.crossing(&request);
            async move { wire::answer(&service, request, crossing, &pace, &limits).await }
        });
        let http = server(&options).serve_connection(TokioIo::new(stream), service);
        in_time(watcher.watch(http), &pace).await
    }

    /// Answers whatever is asked by a refusal.
    async fn refuse(self, stream: Watched<TcpStream>, pace: Arc<Pace>) -> Result<(), Broken> {
        let service = hyper::service::service_fn(|_| async { Ok::<_, HttpError>(refusal()) });
        let http = server(&self.options).serve_connection(TokioIo::new(stream), service);
        in_time(self.watcher.watch(http), &pace).await
    }
}

/// Serves a connection until its client asks for nothing any more.
async fn in_time(
    served: impl Future<Output = hyper::Result<()>>,
    pace: &Pace,
) -> Result<(), Broken> {
    tokio::select! {
        // What has come is answered, however long nobody looked.
        biased;
        served = served => Ok(served?),
        () = pace.run_out() => Ok(()),
    }
}

fn server(options: &S3Options) -> hyper::server::conn::http1::Builder {
    let mut http = hyper::server::conn::http1::Builder::new();
    // How long heads may take depends on who sends them: `Pace`.
    http.header_read_timeout(None).max_buf_size(options.header_bytes_max + wire::HEAD_ROOM_BYTES);
    http
}

async fn begin(
    tls: &TlsAcceptor,
    stream: TcpStream,
    pace: &Arc<Pace>,
) -> io::Result<Option<Began>> {
    let mut first = [0];
    match stream.peek(&mut first).await? {
        0 => Ok(None),
        _ if first[0] == HANDSHAKE => {
            let stream = tls.accept(Watched::new(stream, pace.clone())).await?;
            Ok(Some(Began::Tls(Box::new(stream))))
        }
        _ => Ok(Some(Began::Plaintext(stream))),
    }
}

async fn within<T>(most: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no TLS handshake in time");
    tokio::time::timeout(most, work).await.map_err(late)?
}

fn refusal() -> HttpResponse {
    let mut response =
        HttpResponse::new(Body::from(Bytes::from_static(PLAINTEXT_REFUSED.as_bytes())));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
