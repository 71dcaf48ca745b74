//! The address for monitoring: `/metrics` and `/healthz`, without authentication. It says nothing about blobs.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use afterbay_blob_proto::Failure;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::node::PartitionState;
use crate::report::NamesReport;
use crate::server::Services;
use crate::telemetry;

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
    /// Listens on `address`.
    pub(crate) async fn bind(
        address: &str,
        services: Arc<Services>,
        stop: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        Ok(AdminListener { socket, admin: Arc::new(Admin { services, stop }) })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves.
    pub(crate) async fn run(self) {
        let mut stop = self.admin.stop.clone();
        let routes = axum::Router::new()
            .route("/metrics", get(metrics))
            .route("/healthz", get(health))
            .with_state(self.admin);
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        if let Err(error) = axum::serve(self.socket, routes).with_graceful_shutdown(stopped).await {
            tracing::error!(%error, "the address for monitoring is not served any more");
        }
    }
}

async fn metrics(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    match admin.services.node.status().await {
        Ok(status) => {
            let names = admin.names().await;
            let text = telemetry::render(&status, names.as_ref().and_then(|n| n.as_ref().ok()));
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
            let partitions = || status.disks.iter().flat_map(|disk| &disk.partitions);
            let unusable = partitions().find(|partition| {
                matches!(partition.state, PartitionState::Failed | PartitionState::Unavailable)
            });
            match unusable {
                Some(partition) => {
                    let reason = partition.reason.as_deref().unwrap_or("not usable");
                    (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"))
                }
                None if partitions().any(|p| p.state == PartitionState::ReadWrite) => {
                    (StatusCode::OK, "ok\n".to_owned())
                }
                None => {
                    (StatusCode::SERVICE_UNAVAILABLE, "no partition takes new blobs\n".to_owned())
                }
            }
        }
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
    }
}
