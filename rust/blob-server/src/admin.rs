//! The address for monitoring: `/metrics` and `/healthz`, without authentication. It says nothing about blobs.
//!
//! Anybody can connect, so a connection is for one request, which must come and be taken within
//! [`ServerOptions::stall_timeout`](crate::server::ServerOptions::stall_timeout).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_proto::Failure;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::node::PartitionState;
use crate::report::NamesReport;
use crate::server::Services;
use crate::telemetry;

/// Connections at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 32;
/// Bytes of a request's head; a longer one is answered by 431.
const HEAD_BYTES_MAX: usize = 16 << 10;

#[derive(Debug)]
struct Admin {
    services: Arc<Services>,
    stop: watch::Receiver<bool>,
}

impl Admin {
    /// `None` if the server keeps no names, an error if they cannot be read.
    async fn names(&self) -> Option<Result<NamesReport, Failure>> {
        Some(self.services.names.as_ref()?.report().await)
    }

    /// Why names cannot be read and changed, if that is so.
    async fn names_fail(&self) -> Option<String> {
        match self.names().await? {
            Ok(report) => report.refuses_changes,
            Err(error) => Some(error.to_string()),
        }
    }
}

/// Serves the address for monitoring until `stop` becomes true.
#[derive(Debug)]
pub(crate) struct AdminListener {
    socket: TcpListener,
    admin: Arc<Admin>,
}

impl AdminListener {
    /// Serves who connects to `socket`.
    pub(crate) fn new(
        socket: TcpListener,
        services: Arc<Services>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        AdminListener { socket, admin: Arc::new(Admin { services, stop }) }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves.
    pub(crate) async fn run(self) {
        let mut stop = self.admin.stop.clone();
        let options = self.admin.services.options.clone();
        let routes = axum::Router::new()
            .route("/metrics", get(metrics))
            .route("/healthz", get(health))
            .with_state(self.admin);
        let free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let graceful = GracefulShutdown::new();
        let mut served = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&self.socket, &free) => accepted,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            while served.try_join_next().is_some() {}
            let Some((stream, slot)) = accepted else { break };
            let service = TowerToHyperService::new(routes.clone());
            let http = server().serve_connection(TokioIo::new(stream), service);
            let answered = tokio::time::timeout(options.stall_timeout, graceful.watch(http));
            served.spawn(async move {
                if !matches!(answered.await, Ok(Ok(()))) {
                    tracing::debug!(
                        "a client of the address for monitoring broke off, or was too slow"
                    );
                }
                drop(slot);
            });
        }
        drop(self.socket);
        // Who has not asked yet is not waited for.
        let _ = tokio::time::timeout(options.drain_timeout, graceful.shutdown()).await;
        served.shutdown().await;
    }
}

async fn accept(
    socket: &TcpListener,
    free: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    loop {
        let slot = free.clone().acquire_owned().await.ok()?;
        match socket.accept().await {
            Ok((stream, _)) => return Some((stream, slot)),
            Err(error) => {
                // Out of descriptors, mostly.
                tracing::warn!(%error, "a connection for monitoring was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

fn server() -> http1::Builder {
    let mut http = http1::Builder::new();
    // The whole connection has a limit.
    http.header_read_timeout(None).keep_alive(false).max_buf_size(HEAD_BYTES_MAX);
    http
}

async fn metrics(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    match admin.services.node.status().await {
        Ok(status) => {
            let names = admin.names().await;
            let names = names.as_ref().and_then(|names| names.as_ref().ok());
            let cluster = admin.services.node.cluster_report().await;
            let text = telemetry::render(&status, names, cluster.as_ref());
            let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
            (StatusCode::OK, kind, text).into_response()
        }
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

/// 200 if blobs can be read and written; 503 with the reason, if not.
async fn health(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    if *admin.stop.borrow() {
        return (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned());
    }
    if let Some(reason) = admin.names_fail().await {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"));
    }
    match admin.services.node.status().await {
        Ok(status) => {
            if let Some((disk, reason)) =
                status.disks.iter().find_map(|disk| Some((disk, disk.absent.as_ref()?)))
            {
                let text = format!("{}: {reason}\n", disk.place);
                return (StatusCode::SERVICE_UNAVAILABLE, text);
            }
            let mut partitions = status.disks.iter().flat_map(|disk| &disk.partitions);
            let unusable = partitions.find(|partition| {
                matches!(partition.state, PartitionState::Failed | PartitionState::Unavailable)
            });
            if let Some(partition) = unusable {
                let reason = partition.reason.as_deref().unwrap_or("not usable");
                return (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"));
            }
            match admin.services.node.check_room().await {
                Ok(()) => (StatusCode::OK, "ok\n".to_owned()),
                Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
            }
        }
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
    }
}
