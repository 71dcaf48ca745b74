//! A node that runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use afterbay_blob_cluster::{
    ClientAnswer, ClientRequest, ClusterMap, LocalStore, Node, NodeId, NodeOptions, Policy, Rules,
    Source,
};
use afterbay_blob_router::{Error, Result};
use afterbay_blob_store::{Directory, Options, Partition, RealDirectory, SystemClock};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::driver::{Driver, Event, Events, now};
use crate::peers::{ClusterKey, Outbox, listen};

/// What a node is started with.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Where its replicas are, or are made.
    pub data: PathBuf,
    /// Which node of the map.
    pub node: NodeId,
    /// The map.
    pub map: Arc<ClusterMap>,
    /// The secret of the cluster.
    pub key: ClusterKey,
    /// Of the state machine.
    pub node_options: NodeOptions,
    /// Of partitions that are made.
    pub partition: Options,
    /// How many replicas have to acknowledge.
    pub policy: Policy,
}

/// A node that runs, until it is dropped with all its clones.
#[derive(Debug, Clone)]
pub struct ClusterNode {
    events: Events,
    map: Arc<ClusterMap>,
    policy: Policy,
    store: Arc<LocalStore>,
}

/// Random.
#[derive(Debug)]
struct RandomSource;

impl Source for RandomSource {
    fn uuid(&mut self) -> Uuid {
        Uuid::new_v4()
    }

    fn below(&mut self, bound: u64) -> u64 {
        Uuid::new_v4().as_u64_pair().1 % bound
    }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

impl ClusterNode {
    /// Opens the replicas of the node, makes those that are missing, and begins to talk to the others.
    pub async fn start(options: ClusterOptions) -> io::Result<Self> {
        options.node_options.check().map_err(|e| invalid(e.to_string()))?;
        let ClusterOptions { node, map, key, policy, .. } = options.clone();
        let Some(address) = map.nodes.get(&node) else {
            let names: Vec<&str> = map.nodes.keys().map(NodeId::as_str).collect();
            let names = names.join(", ");
            return Err(invalid(format!("--node {node}: the map has {names}")));
        };
        let listener = TcpListener::bind(address)
            .await
            .map_err(|e| io::Error::new(e.kind(), format!("{address} (of node {node}): {e}")))?;
        let opening = options.clone();
        let store = tokio::task::spawn_blocking(move || open(&opening)).await??;
        let store = Arc::new(store);
        let (events, received) = mpsc::unbounded_channel();
        let began = Instant::now();
        let outbox = |(to, address): (&NodeId, &String)| {
            let (own, key) = (node.clone(), key.clone());
            let outbox = Outbox::to(to.clone(), address.clone(), own, key, events.clone());
            (to.clone(), outbox)
        };
        let others = map.nodes.iter().filter(|(other, _)| **other != node);
        let driver = Driver {
            node: Node::new(
                node.clone(),
                map.clone(),
                options.node_options,
                Rules::default(),
                Box::new(RandomSource),
                now(began),
            ),
            store: store.clone(),
            outboxes: others.map(outbox).collect::<BTreeMap<_, _>>(),
            events: events.clone(),
            began,
            clients: BTreeMap::new(),
            next_client: 0,
        };
        tokio::spawn(driver.run(received));
        tokio::spawn(listen(listener, key, events.clone()));
        Ok(ClusterNode { events, map, policy, store })
    }

    pub(crate) fn map(&self) -> &ClusterMap {
        &self.map
    }

    pub(crate) fn policy(&self) -> Policy {
        self.policy
    }

    /// Asks the node for something.
    pub async fn ask(&self, request: ClientRequest) -> Result<ClientAnswer> {
        let (answer, answered) = oneshot::channel();
        let stopped = || Error::Unavailable {
            place: "cluster".to_owned(),
            reason: "the node is shutting down".to_owned(),
        };
        self.events.send(Event::Client(request, answer)).map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())
    }

    /// Syncs what is not. Blocks.
    pub fn close(&self) {
        for partition in self.store.partitions() {
            if let Err(error) = partition.close() {
                tracing::error!(partition = %partition.id(), %error, "not closed");
            }
        }
    }
}

/// A folder, made if there is none.
fn folder(path: &Path) -> io::Result<Arc<dyn Directory>> {
    RealDirectory::make_all(path)?;
    Ok(Arc::new(RealDirectory::open(path)?))
}

fn open(options: &ClusterOptions) -> io::Result<LocalStore> {
    let mut partitions = Vec::new();
    for id in options.map.partitions_of(&options.node) {
        let path = options.data.join("partitions").join(id.to_string());
        let directory = folder(&path)?;
        if directory.list()?.is_empty() {
            Partition::create(&*directory, id, &options.partition).map_err(io::Error::other)?;
        }
        let clock = Arc::new(SystemClock);
        let partition = Partition::open(directory, options.partition.clone(), clock)
            .map_err(|e| io::Error::other(format!("{}: {e}", path.display())))?;
        partitions.push(partition);
    }
    let tokens = folder(&options.data.join("tokens"))?;
    Ok(LocalStore::new(Arc::new(SystemClock), tokens, partitions))
}
