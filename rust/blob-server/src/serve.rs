//! A server in one process: datanode, router, native protocol, monitoring.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use afterbay_blob_format::{MAX_BODY_BYTES, MAX_RECORD_BYTES, SEGMENT_HEADER_BYTES};
use afterbay_blob_router::{Durability, Router, RouterOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::admin::AdminListener;
use crate::keys::{AccessKey, KEY_FILE, Keys};
use crate::named::{Frontend, Host, Started};
use crate::node::{Datanode, DiskOptions, NodeOptions, Site, assemble};
use crate::report;
use crate::server::{Listener, ServerOptions, Services};
use crate::telemetry;
use crate::tls::{Certificates, TlsError};

/// What to serve, and how.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Data directories, one for each disk. The first one has the root key.
    pub data: Vec<PathBuf>,
    /// What is said about disks that are not here.
    pub disks: DiskOptions,
    /// Address of the native protocol.
    pub listen: String,
    /// Address for monitoring; `None`: none.
    pub admin: Option<String>,
    /// Certificates and key for TLS of the native protocol and of other frontends, PEM files; `None`: plaintext.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Of the disks.
    pub node: NodeOptions,
    /// Of requests for blobs.
    pub router: RouterOptions,
    /// Of connections.
    pub server: ServerOptions,
}

impl Default for ServeOptions {
    fn default() -> Self {
        ServeOptions {
            data: Vec::new(),
            disks: DiskOptions::default(),
            listen: "127.0.0.1:7480".to_owned(),
            admin: Some("127.0.0.1:7481".to_owned()),
            tls: None,
            node: NodeOptions::default(),
            router: RouterOptions {
                durability: Durability::Durable,
                containers: HashMap::new(),
                ..RouterOptions::default()
            },
            server: ServerOptions::default(),
        }
    }
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(String);

impl StartError {
    /// For people: what, where, and the way out.
    pub fn of(error: impl std::fmt::Display) -> Self {
        StartError(error.to_string())
    }
}

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    /// Address of the native protocol.
    pub address: SocketAddr,
    /// Address for monitoring.
    pub admin: Option<SocketAddr>,
    /// What frontends serve, and where.
    pub endpoints: Vec<(String, String)>,
    /// Where the root key is.
    pub key_file: PathBuf,
    /// The root key.
    pub key: AccessKey,
    /// What it serves with.
    pub services: Arc<Services>,
    certificates: Option<Certificates>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Running {
    /// Becomes true when the server stops: for other frontends in the same process.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Reads the certificates again, for all protocols. `false` if there are none. After an error those from before are shown
    /// to clients.
    pub fn reload_certificates(&self) -> Result<bool, TlsError> {
        let Some(certificates) = &self.certificates else { return Ok(false) };
        certificates.reload().map(|()| true)
    }

    /// Accepts no connections any more, lets requests under way end, and syncs what is not.
    pub async fn shut_down(self) {
        tracing::info!("shutting down");
        // Nobody listens any more if all tasks have ended.
        let _ = self.stop.send(true);
        for task in self.tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a part of the server ended by itself");
            }
        }
        let services = self.services;
        let ended = tokio::task::spawn_blocking(move || services.node.shut_down()).await;
        if let Err(error) = ended {
            tracing::error!(%error, "the disks could not be shut down");
        }
        tracing::info!("shut down");
    }
}

/// Starts a server: opens the disks, makes what is missing, starts `frontends`, and listens. The first of them that keeps
/// names keeps those of the native protocol.
pub async fn start(
    options: ServeOptions,
    frontends: &[Arc<dyn Frontend>],
) -> Result<Running, StartError> {
    let Some(first) = options.data.first().cloned() else {
        return Err(StartError("no data directory; give one by --data".to_owned()));
    };
    check_sizes(&options)?;
    let (data, disks) = (options.data.clone(), options.disks.clone());
    let node_options = options.node.clone();
    let opened = tokio::task::spawn_blocking(move || open(&data, &disks, &node_options));
    start_over(opened.await.map_err(StartError::of)??, first, options, frontends).await
}

/// The same over disks that are open. `first` is where frontends keep what they must.
pub async fn start_over(
    opened: Opened,
    first: PathBuf,
    options: ServeOptions,
    frontends: &[Arc<dyn Frontend>],
) -> Result<Running, StartError> {
    let Opened { node, key, read_only } = opened;
    report::start_clock();
    telemetry::start_metrics();
    let certificates =
        options.tls.as_ref().map(|(certificate, key)| Certificates::open(certificate, key));
    let certificates = certificates.transpose().map_err(StartError::of)?;
    let tls = certificates.as_ref().map(Certificates::acceptor).transpose();
    let tls = tls.map_err(StartError::of)?;
    let router = Router::new(Arc::new(node.clone()), options.router).map_err(StartError::of)?;
    let (stop, stopping) = watch::channel(false);
    let host = Host {
        router: router.clone(),
        data: first.clone(),
        read_only,
        key: key.clone(),
        tls: certificates.clone(),
        stopping: stopping.clone(),
    };
    let mut started = Started::default();
    for frontend in frontends {
        let Started { names, keys, router, endpoints, tasks } = frontend.start(&host).await?;
        started.names = started.names.or(names);
        started.keys = started.keys.or(keys);
        started.router = started.router.or(router);
        started.endpoints.extend(endpoints);
        started.tasks.extend(tasks);
    }
    let Started { names, keys: user_keys, router: better, endpoints, mut tasks } = started;
    let services = Arc::new(Services {
        name: format!("afterbay-blob {}", env!("CARGO_PKG_VERSION")),
        router: better.unwrap_or(router),
        node,
        names,
        keys: Keys::root(key.clone()),
        user_keys,
        options: options.server,
    });
    let cannot = |what: &str, address: &str, error: std::io::Error| {
        StartError(format!("{what} {address}: cannot listen: {error}"))
    };
    let listener = Listener::bind(&options.listen, tls, services.clone())
        .await
        .map_err(|e| cannot("native protocol,", &options.listen, e))?;
    let address = listener.address().map_err(StartError::of)?;
    let mut admin_address = None;
    if let Some(admin) = &options.admin {
        let listener = AdminListener::bind(admin, services.clone(), stopping.clone())
            .await
            .map_err(|e| cannot("monitoring,", admin, e))?;
        admin_address = Some(listener.address().map_err(StartError::of)?);
        tasks.push(tokio::spawn(listener.run()));
    }
    tasks.push(tokio::spawn(listener.run(stopping)));
    let key_file = first.join(KEY_FILE);
    let admin = admin_address;
    Ok(Running { address, admin, endpoints, key_file, key, services, certificates, stop, tasks })
}

/// The disks, and what is in the first directory besides.
#[derive(Debug)]
pub struct Opened {
    /// The disks.
    pub node: Datanode,
    /// The root key.
    pub key: AccessKey,
    /// The first directory takes no writes.
    pub read_only: bool,
}

fn open(
    data: &[PathBuf],
    disks: &DiskOptions,
    options: &NodeOptions,
) -> Result<Opened, StartError> {
    // Partitions of another size would be made all their life.
    options.partition(1 << 30).check().map_err(|e| StartError(format!("partitions: {e}")))?;
    let sites: Vec<&dyn Site> = data.iter().map(|path| path as &dyn Site).collect();
    let roster = assemble(&sites, disks).map_err(StartError)?;
    let none = || StartError("no data directory".to_owned());
    let first = data.first().ok_or_else(none)?;
    let read_only = roster.volumes.first().ok_or_else(none)?.is_read_only();
    let key = AccessKey::read_or_make(first).map_err(StartError::of)?;
    let node = Datanode::open_all(roster, options).map_err(StartError::of)?;
    Ok(Opened { node, key, read_only })
}

/// A chunk must fit into a segment, with its properties, also on the smallest disk.
fn check_sizes(options: &ServeOptions) -> Result<(), StartError> {
    let partition = options.node.partition(0);
    partition.check().map_err(|e| StartError(format!("partitions: {e}")))?;
    options.router.check().map_err(StartError::of)?;
    let record = MAX_RECORD_BYTES - MAX_BODY_BYTES + options.router.chunk_bytes as usize;
    let segment = partition.segment_bytes as usize - SEGMENT_HEADER_BYTES;
    if record <= segment {
        return Ok(());
    }
    Err(StartError(format!(
        "a chunk of {} bytes needs {record} and a segment has room for {segment}; make segments (or partitions) \
         larger, or chunks smaller",
        options.router.chunk_bytes
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_fit_into_segments() {
        let with = |segment_bytes, chunk_bytes| {
            let mut options = ServeOptions::default();
            options.node.segment_bytes = segment_bytes;
            options.router.chunk_bytes = chunk_bytes;
            check_sizes(&options)
        };
        assert!(with(None, 4 << 20).is_ok());
        assert!(with(Some(5 << 20), 4 << 20).is_ok());
        let refused = with(Some(4 << 20), 4 << 20).unwrap_err().to_string();
        assert!(refused.contains("chunks smaller"), "{refused}");
        assert!(with(Some(128 << 10), 16 << 10).is_ok());
    }
}
