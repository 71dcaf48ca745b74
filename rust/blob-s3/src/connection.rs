//! One connection: TLS, if the endpoint has any, and HTTP over it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use s3s::service::S3Service;
use s3s::{Body, HttpError, HttpResponse};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::measure::Connected;
use crate::options::S3Options;
use crate::wire;

/// How a TLS connection begins: a record of the handshake.
const HANDSHAKE: u8 = 22;

/// What a client hears that speaks HTTP to an endpoint with TLS. In the form of S3, so that its clients show it.
const PLAINTEXT_REFUSED: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>InvalidRequest</Code>\
    <Message>This endpoint speaks TLS only: use https:// in its URL.</Message></Error>";

/// What a connection is served with.
pub(crate) struct Connection {
    pub(crate) service: S3Service,
    pub(crate) options: Arc<S3Options>,
    pub(crate) tls: Option<TlsAcceptor>,
    /// Lets the request in work end when the endpoint is shut down.
    pub(crate) watcher: Watcher,
    /// Becomes true then.
    pub(crate) shutdown: watch::Receiver<bool>,
}

/// How a connection to an endpoint with TLS began.
enum Began {
    Tls(Box<TlsStream<TcpStream>>),
    /// By something else than TLS.
    Plaintext(TcpStream),
}

impl Connection {
    /// Serves it to its end. What goes wrong are clients that go away, and those that speak something else.
    pub(crate) async fn serve(mut self, stream: TcpStream) {
        let _counted = Connected::new();
        let served = match self.tls.take() {
            None => self.http(stream).await,
            Some(tls) => match self.begin(&tls, stream).await {
                Ok(Some(Began::Tls(stream))) => self.http(stream).await,
                Ok(Some(Began::Plaintext(stream))) => {
                    metrics::counter!("afterbay_blob_s3_connections_refused_total").increment(1);
                    tracing::info!("a client without TLS was refused: it must use https://");
                    self.refuse(stream).await
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
    async fn begin(&mut self, tls: &TlsAcceptor, stream: TcpStream) -> io::Result<Option<Began>> {
        let most = self.options.header_timeout;
        tokio::select! {
            began = within(most, begin(tls, stream)) => began,
            _ = self.shutdown.wait_for(|stop| *stop) => Ok(None),
        }
    }

    async fn http(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> hyper::Result<()> {
        let Connection { service, options, watcher, .. } = self;
        let service = hyper::service::service_fn(move |request| {
            let service = service.clone();
            async move { wire::answer(&service, request).await }
        });
        let http = server(&options).serve_connection(TokioIo::new(stream), service);
        watcher.watch(http).await
    }

    /// Answers whatever is asked by a refusal.
    async fn refuse(self, stream: TcpStream) -> hyper::Result<()> {
        let service = hyper::service::service_fn(|_| async { Ok::<_, HttpError>(refusal()) });
        let http = server(&self.options).serve_connection(TokioIo::new(stream), service);
        self.watcher.watch(http).await
    }
}

fn server(options: &S3Options) -> hyper::server::conn::http1::Builder {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_buf_size(options.header_bytes_max);
    http
}

async fn begin(tls: &TlsAcceptor, stream: TcpStream) -> io::Result<Option<Began>> {
    let mut first = [0];
    match stream.peek(&mut first).await? {
        0 => Ok(None),
        _ if first[0] == HANDSHAKE => Ok(Some(Began::Tls(Box::new(tls.accept(stream).await?)))),
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
