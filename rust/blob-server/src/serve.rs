//! A server in one process: datanode, router, native protocol, monitoring.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use afterbay_blob_format::{MAX_BODY_BYTES, MAX_RECORD_BYTES, SEGMENT_HEADER_BYTES};
use afterbay_blob_node::{ClusterNode, ClusterOptions};
use afterbay_blob_router::{Durability, Router, RouterOptions};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::admin::AdminListener;
use crate::keys::{AccessKey, KEY_FILE, Keys};
use crate::named::{Frontend, Host, Started};
use crate::node::{CHUNK_BYTES, Datanode, DiskOptions, NodeOptions, Roster, Site, assemble};
use crate::report;
use crate::server::{Listener, ServerOptions, Services};
use crate::sockets::{Endpoint, Sockets};
use crate::storage::Storage;
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
        end(&self.stop, self.tasks).await;
        match self.services.node.clone() {
            Storage::Cluster(node) => node.stop(self.services.options.drain_timeout).await,
            Storage::Disks(node) => {
                let ended = tokio::task::spawn_blocking(move || node.shut_down()).await;
                if let Err(error) = ended {
                    tracing::error!(%error, "the disks could not be shut down");
                }
            }
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
    // All that can be refused is, before anything is made.
    let door = Door::prepare(&options, frontends).await?;
    let (data, disks) = (options.data.clone(), options.disks.clone());
    let node_options = options.node.clone();
    let opened = tokio::task::spawn_blocking(move || open(&data, &disks, &node_options));
    let opened = opened.await.map_err(StartError::of)??;
    let node = opened.node.clone();
    let served = serve_over(opened, first, options, frontends, door).await;
    if served.is_err() {
        let ended = move || {
            node.shut_down();
            node.take_away_if_new();
        };
        tokio::task::spawn_blocking(ended).await.map_err(StartError::of)?;
    }
    served
}

/// What clients come to: certificates that were read, and addresses that were taken.
struct Door {
    certificates: Option<Certificates>,
    tls: Option<TlsAcceptor>,
    native: Endpoint,
    admin: Option<Endpoint>,
    sockets: Arc<Sockets>,
}

impl Door {
    async fn prepare(
        options: &ServeOptions,
        frontends: &[Arc<dyn Frontend>],
    ) -> Result<Self, StartError> {
        let certificates =
            options.tls.as_ref().map(|(certificate, key)| Certificates::open(certificate, key));
        let certificates = certificates.transpose().map_err(StartError::of)?;
        let tls = certificates.as_ref().map(Certificates::acceptor).transpose();
        let tls = tls.map_err(StartError::of)?;
        let address = options.listen.clone();
        let native = Endpoint { what: "native protocol", option: "--listen", address };
        let admin = options.admin.clone();
        let admin =
            admin.map(|address| Endpoint { what: "monitoring", option: "--admin", address });
        let mut endpoints = vec![native.clone()];
        endpoints.extend(admin.clone());
        endpoints.extend(frontends.iter().flat_map(|frontend| frontend.addresses()));
        let sockets = Arc::new(Sockets::bind(endpoints).await?);
        Ok(Door { certificates, tls, native, admin, sockets })
    }

    /// For the native protocol, and for monitoring.
    async fn listen(&self) -> Result<(TcpListener, Option<TcpListener>), StartError> {
        let native = self.sockets.listen(&self.native).await?;
        let admin = match &self.admin {
            Some(admin) => Some(self.sockets.listen(admin).await?),
            None => None,
        };
        Ok((native, admin))
    }
}

/// The same over disks that are open. `first` is where frontends keep what they must.
pub async fn start_over(
    opened: Opened,
    first: PathBuf,
    options: ServeOptions,
    frontends: &[Arc<dyn Frontend>],
) -> Result<Running, StartError> {
    let door = Door::prepare(&options, frontends).await?;
    serve_over(opened, first, options, frontends, door).await
}

async fn serve_over(
    opened: Opened,
    first: PathBuf,
    options: ServeOptions,
    frontends: &[Arc<dyn Frontend>],
    door: Door,
) -> Result<Running, StartError> {
    let Opened { node, key, read_only } = opened;
    report::start_clock();
    telemetry::start_metrics();
    let router = Router::new(Arc::new(node.clone()), options.router).map_err(StartError::of)?;
    let (stop, stopping) = watch::channel(false);
    let host = Host {
        router: router.clone(),
        data: first.clone(),
        read_only,
        key: key.clone(),
        tls: door.certificates.clone(),
        sockets: door.sockets.clone(),
        stopping: stopping.clone(),
    };
    // Nothing can fail any more when frontends serve: what they have acknowledged must not be taken away.
    let (native, admin) = door.listen().await?;
    let mut started = Started::default();
    if let Err(error) = begin(frontends, &host, &mut started).await {
        end(&stop, started.tasks).await;
        return Err(error);
    }
    let Started { names, keys: user_keys, router: better, endpoints, mut tasks } = started;
    let services = Arc::new(Services {
        name: format!("afterbay-blob {}", env!("CARGO_PKG_VERSION")),
        router: better.unwrap_or(router),
        node: Storage::Disks(node),
        names,
        keys: Keys::root(key.clone()),
        user_keys,
        options: options.server,
    });
    let listening =
        Listening { native, admin, tls: door.tls, services: services.clone(), stopping };
    let (address, admin) = listening.begin(&mut tasks)?;
    let key_file = first.join(KEY_FILE);
    let certificates = door.certificates;
    Ok(Running { address, admin, endpoints, key_file, key, services, certificates, stop, tasks })
}

/// Sockets that listen, and what is served on them.
struct Listening {
    native: TcpListener,
    admin: Option<TcpListener>,
    tls: Option<TlsAcceptor>,
    services: Arc<Services>,
    stopping: watch::Receiver<bool>,
}

impl Listening {
    /// Serves, in tasks of their own; says where.
    fn begin(
        self,
        tasks: &mut Vec<JoinHandle<()>>,
    ) -> Result<(SocketAddr, Option<SocketAddr>), StartError> {
        let Listening { native, admin, tls, services, stopping } = self;
        let listener = Listener::new(native, tls, services.clone());
        let address = listener.address().map_err(StartError::of)?;
        let mut admin_address = None;
        if let Some(socket) = admin {
            let listener = AdminListener::new(socket, services, stopping.clone());
            admin_address = Some(listener.address().map_err(StartError::of)?);
            tasks.push(tokio::spawn(listener.run()));
        }
        tasks.push(tokio::spawn(listener.run(stopping)));
        Ok((address, admin_address))
    }
}

/// Starts a node of a cluster, and a frontend for it: the native protocol, by ids. `key_file` has the root key.
pub async fn start_clustered(
    options: ServeOptions,
    cluster: ClusterOptions,
    key_file: PathBuf,
) -> Result<Running, StartError> {
    let key = AccessKey::read(&key_file).map_err(StartError::of)?;
    // All that can be refused is, before anything is made.
    options.router.check().map_err(|e| StartError(in_options(&e)))?;
    cluster.partition.check().map_err(|e| StartError(in_options(&e)))?;
    check_record(cluster.partition.segment_bytes, options.router.chunk_bytes)?;
    let door = Door::prepare(&options, &[]).await?;
    let address = cluster.map.nodes.get(&cluster.node).cloned().unwrap_or_default();
    let name = cluster.node.to_string();
    let node = ClusterNode::start(cluster).await.map_err(StartError::of)?;
    report::start_clock();
    telemetry::start_metrics();
    let served = serve_node(&node, key.clone(), &options, &door).await;
    let (services, stop, tasks, (native, admin)) = match served {
        Ok(served) => served,
        Err(error) => {
            node.stop(options.server.drain_timeout).await;
            return Err(error);
        }
    };
    Ok(Running {
        address: native,
        admin,
        endpoints: vec![(format!("node {name}"), address)],
        key_file,
        key,
        services,
        certificates: door.certificates,
        stop,
        tasks,
    })
}

type Served =
    (Arc<Services>, watch::Sender<bool>, Vec<JoinHandle<()>>, (SocketAddr, Option<SocketAddr>));

async fn serve_node(
    node: &ClusterNode,
    key: AccessKey,
    options: &ServeOptions,
    door: &Door,
) -> Result<Served, StartError> {
    let router =
        Router::new(Arc::new(node.clone()), options.router.clone()).map_err(StartError::of)?;
    let (stop, stopping) = watch::channel(false);
    let (native, admin) = door.listen().await?;
    let services = Arc::new(Services {
        name: format!("afterbay-blob {}", env!("CARGO_PKG_VERSION")),
        router,
        node: Storage::Cluster(node.clone()),
        names: None,
        keys: Keys::root(key),
        user_keys: None,
        options: options.server.clone(),
    });
    let mut tasks = Vec::new();
    let tls = door.tls.clone();
    let listening = Listening { native, admin, tls, services: services.clone(), stopping };
    let addresses = listening.begin(&mut tasks)?;
    Ok((services, stop, tasks, addresses))
}

async fn begin(
    frontends: &[Arc<dyn Frontend>],
    host: &Host,
    started: &mut Started,
) -> Result<(), StartError> {
    for frontend in frontends {
        let Started { names, keys, router, endpoints, tasks } = frontend.start(host).await?;
        started.names = started.names.take().or(names);
        started.keys = started.keys.take().or(keys);
        started.router = started.router.take().or(router);
        started.endpoints.extend(endpoints);
        started.tasks.extend(tasks);
    }
    Ok(())
}

/// Lets the tasks of a server end.
async fn end(stop: &watch::Sender<bool>, tasks: Vec<JoinHandle<()>>) {
    // Nobody listens any more if all of them have ended.
    let _ = stop.send(true);
    for task in tasks {
        if let Err(error) = task.await {
            tracing::error!(%error, "a part of the server ended by itself");
        }
    }
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
    options.partition(1 << 30).check().map_err(|e| StartError(in_options(&e)))?;
    let sites: Vec<&dyn Site> = data.iter().map(|path| path as &dyn Site).collect();
    let roster = assemble(&sites, disks).map_err(StartError)?;
    let volumes = roster.volumes.clone();
    let opened = open_roster(roster, data, options);
    if opened.is_err() {
        volumes.iter().for_each(|volume| volume.take_away_if_new());
    }
    opened
}

fn open_roster(
    roster: Roster,
    data: &[PathBuf],
    options: &NodeOptions,
) -> Result<Opened, StartError> {
    let none = || StartError("no data directory".to_owned());
    let first = data.first().ok_or_else(none)?;
    let read_only = roster.volumes.first().ok_or_else(none)?.is_read_only();
    let key = AccessKey::read_or_make(first).map_err(StartError::of)?;
    let node = Datanode::open_all(roster, options).map_err(StartError::of)?;
    Ok(Opened { node, key, read_only })
}

/// What is wrong with a setting, with the name that it has as an option of `serve`.
fn in_options(error: &dyn std::fmt::Display) -> String {
    const NAMES: [(&str, &str); 4] = [
        ("capacity_bytes", "--partition-size"),
        ("segment_bytes", "--segment-size"),
        ("chunk_bytes", "--chunk-size"),
        ("memory_bytes", "--memory"),
    ];
    NAMES.iter().fold(error.to_string(), |text, (name, option)| text.replace(name, option))
}

/// A chunk must fit into a segment, with its properties, also on the smallest disk.
fn check_sizes(options: &ServeOptions) -> Result<(), StartError> {
    let partition = options.node.partition(0);
    partition.check().map_err(|e| StartError(in_options(&e)))?;
    options.router.check().map_err(|e| StartError(in_options(&e)))?;
    // One that is as good as full when it is new would be followed by another, until the disk is full.
    let (capacity, percent) = (partition.capacity_bytes, partition.read_only_above_percent);
    let least = ((CHUNK_BYTES + SEGMENT_HEADER_BYTES as u64) * 100).div_ceil(percent.into());
    if capacity < least {
        return Err(StartError(format!(
            "--partition-size: {capacity} bytes; blobs fill {percent} % of a partition, and a chunk of {CHUNK_BYTES} bytes must \
             fit; use {least} or more"
        )));
    }
    check_record(partition.segment_bytes, options.router.chunk_bytes)
}

fn check_record(segment_bytes: u32, chunk_bytes: u32) -> Result<(), StartError> {
    let record = MAX_RECORD_BYTES - MAX_BODY_BYTES + chunk_bytes as usize;
    let segment = (segment_bytes as usize).saturating_sub(SEGMENT_HEADER_BYTES);
    if record <= segment {
        return Ok(());
    }
    Err(StartError(format!(
        "a chunk of {chunk_bytes} bytes needs {record} and a segment has room for {segment}; make segments larger \
         (--segment-size, --partition-size), or chunks smaller (--chunk-size)"
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
