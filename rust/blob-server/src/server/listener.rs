//! Accepts connections.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use afterbay_blob_proto::{Code, Failure, Message, Response};
use afterbay_blob_router::{Result, Router};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::options::ServerOptions;
use super::session::{Peer, Session};
use super::writer::Writer;
use crate::caller::Caller;
use crate::keys::Keys;
use crate::named::{NamedBlobs, UserKeys};
use crate::report::Report;
use crate::storage::Storage;

/// What connections are served with.
#[derive(Debug)]
pub struct Services {
    /// For people: which server it is.
    pub name: String,
    /// Blobs by their ids.
    pub router: Router,
    /// What blobs are kept on.
    pub node: Storage,
    /// Blobs by names; `None`: the server keeps no names.
    pub names: Option<Arc<dyn NamedBlobs>>,
    /// Who may do everything.
    pub keys: Keys,
    /// Who else may ask, for names; `None`: nobody.
    pub user_keys: Option<Arc<dyn UserKeys>>,
    /// Limits.
    pub options: ServerOptions,
}

impl Services {
    pub(crate) fn names(&self) -> std::result::Result<&Arc<dyn NamedBlobs>, Failure> {
        self.names.as_ref().ok_or_else(|| {
            let text = "this server keeps no names; use blob ids ('put --no-name')";
            Failure::new(Code::Unsupported, text)
        })
    }

    pub(crate) fn user_keys(&self) -> std::result::Result<&Arc<dyn UserKeys>, Failure> {
        self.user_keys.as_ref().ok_or_else(|| {
            let text = "this server keeps no names, and so no keys but the root key";
            Failure::new(Code::Unsupported, text)
        })
    }

    /// Who has a key, and its secret.
    pub(crate) fn caller(&self, access: &str) -> Option<(Caller, String)> {
        if let Some(secret) = self.keys.secret(access) {
            return Some((Caller::root(), secret.to_owned()));
        }
        let key = self.user_keys.as_ref()?.key(access)?;
        let secret = key.secret.clone();
        Some((Caller::user(key), secret))
    }

    /// What the server has, as JSON.
    pub(crate) async fn report(&self) -> Result<Vec<u8>> {
        Report::of(self).await
    }
}

/// Accepts connections of the native protocol.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    tls: Option<Arc<TlsAcceptorDebug>>,
    services: Arc<Services>,
}

/// [`TlsAcceptor`] has no `Debug` that hides its key.
pub(crate) struct TlsAcceptorDebug(TlsAcceptor);

impl std::fmt::Debug for TlsAcceptorDebug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsAcceptor")
    }
}

impl Listener {
    /// Serves who connects to `socket`, with TLS if there is an acceptor.
    pub fn new(socket: TcpListener, tls: Option<TlsAcceptor>, services: Arc<Services>) -> Self {
        Listener { socket, tls: tls.map(|tls| Arc::new(TlsAcceptorDebug(tls))), services }
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `stop` becomes true; then lets requests under way end, for some time.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let free = Arc::new(Semaphore::new(self.services.options.connections_max));
        let mut sessions = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                accepted = self.socket.accept() => accepted,
            };
            while sessions.try_join_next().is_some() {}
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Of this connection, or too many open files: neither ends the server.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            };
            let Ok(permit) = free.clone().try_acquire_owned() else {
                metrics::counter!("afterbay_blob_connections_refused_total").increment(1);
                if self.tls.is_none() {
                    refuse(stream);
                }
                continue;
            };
            let (services, tls, stop) = (self.services.clone(), self.tls.clone(), stop.clone());
            sessions.spawn(async move {
                metrics::gauge!("afterbay_blob_connections").increment(1.0);
                let private = is_private(tls.is_some(), peer.ip());
                if let Err(error) = serve(stream, tls, services, private, stop).await {
                    tracing::debug!(%error, "no session");
                }
                metrics::gauge!("afterbay_blob_connections").decrement(1.0);
                drop(permit);
            });
        }
        drop(self.socket);
        let drained = async { while sessions.join_next().await.is_some() {} };
        if tokio::time::timeout(self.services.options.drain_timeout, drained).await.is_err() {
            tracing::warn!(connections = sessions.len(), "requests did not end in time; cut off");
            sessions.shutdown().await;
        }
    }
}

/// Says that there are too many connections, as far as that is possible without waiting.
fn refuse(stream: TcpStream) {
    let failure = Failure::new(Code::TooMany, "too many connections; try again later");
    if let (Ok(frame), Ok(mut stream)) = (Response::Failed(failure).encode(0, 0), stream.into_std())
    {
        // It fits into the empty buffer of a new connection.
        let _ = stream.write(&frame);
    }
}

/// Whether nobody else can read what goes over a connection.
fn is_private(tls: bool, peer: IpAddr) -> bool {
    tls || peer.to_canonical().is_loopback()
}

async fn serve(
    stream: TcpStream,
    tls: Option<Arc<TlsAcceptorDebug>>,
    services: Arc<Services>,
    private: bool,
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    // Without, the last part of an answer waits for an acknowledgement of the one before.
    stream.set_nodelay(true)?;
    let stall = services.options.stall_timeout;
    match tls {
        None => {
            let (read, write) = stream.into_split();
            let writer = Writer::plain(write, stall)?;
            let peer = Peer { binding: [0; 32], private };
            Session::new(services, read, writer, peer, stop).run().await;
        }
        Some(acceptor) => {
            let accepted = acceptor.0.accept(stream);
            let stream =
                tokio::time::timeout(services.options.handshake_timeout, accepted).await.map_err(
                    |_| io::Error::new(io::ErrorKind::TimedOut, "no TLS handshake in time"),
                )??;
            let binding = stream
                .get_ref()
                .1
                .export_keying_material([0; 32], b"EXPORTER-Channel-Binding", Some(b""))
                .map_err(io::Error::other)?;
            let (read, write) = tokio::io::split(stream);
            let writer = Writer::tls(write, stall);
            let peer = Peer { binding, private };
            Session::new(services, read, writer, peer, stop).run().await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_secrets_may_be_sent() {
        let of = |tls, peer: &str| is_private(tls, peer.parse().unwrap());
        assert!(of(false, "127.0.0.1") && of(false, "::1") && of(false, "::ffff:127.0.0.2"));
        assert!(!of(false, "192.0.2.7") && !of(false, "::ffff:192.0.2.7"));
        assert!(of(true, "192.0.2.7"));
    }
}
