//! Connections: accepted, limited, served, drained.

use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use hyper_util::server::graceful::GracefulShutdown;
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::host::SingleDomain;
use s3s::service::{S3Service, S3ServiceBuilder};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::access::Access;
use crate::connection::Connection;
use crate::cors::Cors;
use crate::names::BucketNames;
use crate::options::S3Options;
use crate::seats::Seats;
use crate::service::{Backend, Secrets, Service};

/// Why the endpoint cannot start.
#[derive(Debug, thiserror::Error)]
pub enum S3Error {
    /// The domain of the options is none.
    #[error("option domain: '{domain}' is not a host name")]
    Domain {
        /// What it is.
        domain: String,
    },
}

/// Where clients connect.
pub struct S3Listener {
    /// The socket.
    pub socket: TcpListener,
    /// TLS; `None`: plaintext. With it, clients without are told so.
    pub tls: Option<TlsAcceptor>,
}

impl From<TcpListener> for S3Listener {
    /// Plaintext.
    fn from(socket: TcpListener) -> Self {
        S3Listener { socket, tls: None }
    }
}

/// Serves S3 until `shutdown` becomes true or its sender is gone; then no more connections are taken, and requests in work
/// may end within [`S3Options::shutdown_timeout`]. Those that do not are cut off: nothing of them goes on when this returns.
pub async fn serve_s3(
    listener: impl Into<S3Listener>,
    backend: Backend,
    options: S3Options,
    mut shutdown: watch::Receiver<bool>,
) -> Result<(), S3Error> {
    let S3Listener { socket, tls } = listener.into();
    let options = Arc::new(options);
    let cors = Arc::new(cors(&backend, &options)?);
    let service = service(backend, &options)?;
    let seats = Seats::new(&options);
    let graceful = GracefulShutdown::new();
    let mut served = JoinSet::new();
    loop {
        let stream = tokio::select! {
            stream = accept(&socket) => stream,
            _ = shutdown.wait_for(|stop| *stop) => break,
        };
        while served.try_join_next().is_some() {}
        let connection = Connection {
            service: service.clone(),
            cors: cors.clone(),
            options: options.clone(),
            tls: tls.clone(),
            scheme: if tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP },
            watcher: graceful.watcher(),
            shutdown: shutdown.clone(),
        };
        served.spawn(connection.serve(stream, seats.take()));
    }
    drop(socket);
    drain(served, graceful, options.shutdown_timeout).await;
    Ok(())
}

/// Lets requests in work end, for some time.
async fn drain(mut served: JoinSet<()>, graceful: GracefulShutdown, most: Duration) {
    let drained = async {
        graceful.shutdown().await;
        while served.join_next().await.is_some() {}
    };
    if tokio::time::timeout(most, drained).await.is_err() {
        tracing::warn!(connections = served.len(), "S3 requests did not end in time; cut off");
        served.shutdown().await;
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Else small answers wait for acknowledgements, 40 ms.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY was not set");
                }
                return stream;
            }
            Err(error) => {
                // Out of descriptors, mostly: others close theirs.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
}

pub(crate) fn service(backend: Backend, options: &Arc<S3Options>) -> Result<S3Service, S3Error> {
    let names = backend.names.clone();
    let mut builder = S3ServiceBuilder::new(Service::new(backend, options.clone()));
    builder.set_auth(Secrets(names.clone()));
    builder.set_access(Access { names, public_acls: options.public_acls });
    builder.set_validation(BucketNames);
    let mut config = S3Config::default();
    config.xml_max_body_size = options.xml_bytes_max;
    // Forms are refused before (`wire`).
    config.post_object_max_file_size = 0;
    builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
    if let Some(domain) = domain(options)? {
        builder.set_host(domain);
    }
    Ok(builder.build())
}

pub(crate) fn cors(backend: &Backend, options: &S3Options) -> Result<Cors, S3Error> {
    Ok(Cors::new(backend.names.clone(), domain(options)?))
}

fn domain(options: &S3Options) -> Result<Option<SingleDomain>, S3Error> {
    let Some(domain) = &options.domain else { return Ok(None) };
    let parsed = SingleDomain::new(domain);
    Ok(Some(parsed.map_err(|_| S3Error::Domain { domain: domain.clone() })?))
}
