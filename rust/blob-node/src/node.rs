//! A node that runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use afterbay_blob_cluster::{
    ClientAnswer, ClientRequest, ClusterMap, LocalStore, Node, NodeId, NodeOptions, Policy,
    ReplicaStatus, Rules, Source,
};
use afterbay_blob_router::{Error, Result};
use afterbay_blob_store::{Options, Partition};
use afterbay_tls::Identity;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::driver::{Down, Driver, Event, Events, now};
use crate::home::{Home, address_of};
use crate::inbox::{INBOX_MESSAGES_MAX, Inbox};
use crate::membership::{ClusterKey, Membership};
use crate::outbox::Outbox;
use crate::report::Reporter;
use crate::scrub_report::ScrubReport;
use crate::scrubs::{ScrubCommand, Scrubs};
use crate::store_queue::StoreQueue;

/// A node says that it has started when its replicas are open, or after so long.
const OPENING_TIME: Duration = Duration::from_secs(10);
const OPENING_STEP: Duration = Duration::from_millis(5);

/// What a node is started with.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Its directory.
    pub data: PathBuf,
    /// The directory has to be that of the node already.
    pub existing: bool,
    /// Which node of the map.
    pub node: NodeId,
    /// The map.
    pub map: Arc<ClusterMap>,
    /// The key of the cluster.
    pub key: ClusterKey,
    /// The certificate of the node and its key, if the map names certificates.
    pub identity: Option<Identity>,
    /// Of the state machine.
    pub node_options: NodeOptions,
    /// Of partitions that are made.
    pub partition: Options,
    /// How many replicas have to acknowledge.
    pub policy: Policy,
    /// The same of puts into these containers.
    pub container_policies: BTreeMap<u32, Policy>,
    /// Segments with less garbage, in percent, are not compacted.
    pub garbage_percent_min: u8,
}

/// A node that runs, until it is stopped. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ClusterNode(Arc<Running>);

#[derive(Debug)]
struct Running {
    own: Membership,
    events: Events,
    policy: Policy,
    container_policies: BTreeMap<u32, Policy>,
    store: Arc<LocalStore>,
    down: Down,
    reporter: Reporter,
    stop: watch::Sender<bool>,
    /// Locked as long as this lives.
    _home: Home,
    data: PathBuf,
}

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
    /// Opens the replicas of the node, makes those that are missing, and begins to talk to the others. Then it takes requests.
    pub async fn start(options: ClusterOptions) -> io::Result<Self> {
        let ClusterOptions { node, map, key, node_options, policy, .. } = options.clone();
        node_options.check().map_err(|e| invalid(e.to_string()))?;
        let own = Membership::node(node.clone(), map.clone(), key);
        address_of(&own, &node)?;
        let own = own.with_identity(options.identity.clone())?;
        let address = address_of(&own, &node)?;
        let listener = TcpListener::bind(address).await.map_err(|e| {
            let text = format!("{address}, of node {node} in the map: cannot listen: {e}");
            io::Error::new(e.kind(), text)
        })?;
        let interval = Duration::from_millis(node_options.scrub_interval_ms);
        let scrubs = Arc::new(Scrubs::new(options.data.clone(), interval));
        let (opening, member, watch) = (options.clone(), own.clone(), scrubs.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let home = Home::open(&opening.data, &member, opening.existing)?;
            let ids: Vec<_> = opening.map.partitions_of(&opening.node).collect();
            let store = home.store(&ids, &opening.partition)?;
            let store = store.with_garbage_percent_min(opening.garbage_percent_min);
            let store = store.with_watch(watch);
            Ok::<_, io::Error>((home, store))
        });
        let (home, store) = opened.await??;
        let store = Arc::new(store);
        let (events, happened) = mpsc::unbounded_channel();
        let (messages, received) = mpsc::channel(INBOX_MESSAGES_MAX);
        let outbox = |(to, address): (NodeId, String)| {
            let outbox = Outbox::to(to.clone(), address, own.clone(), events.clone());
            (to, outbox)
        };
        let outboxes: BTreeMap<_, _> = own.others().into_iter().map(outbox).collect();
        let reporter = Reporter::new(
            own.clone(),
            policy.to_string(),
            events.clone(),
            store.clone(),
            outboxes.clone(),
            scrubs.clone(),
        );
        let (began, down) = (Instant::now(), Down::default());
        let driver = Driver {
            node: Node::new(
                node,
                map,
                node_options,
                Rules::default(),
                Box::new(RandomSource),
                now(began),
            ),
            store: StoreQueue::new(store.clone(), events.clone()),
            outboxes: outboxes.clone(),
            events: events.clone(),
            began,
            down: down.clone(),
            scrubs,
            clients: BTreeMap::new(),
            next_client: 0,
            asked: BTreeMap::new(),
            storing: 0,
        };
        let (stop, stopping) = watch::channel(false);
        tokio::spawn(driver.run(happened, received));
        let inbox = Arc::new(Inbox::new(own.clone(), messages, reporter.clone(), outboxes));
        tokio::spawn(inbox.listen(listener, stopping));
        let running = ClusterNode(Arc::new(Running {
            own,
            events,
            policy,
            container_policies: options.container_policies,
            store,
            down,
            reporter,
            stop,
            _home: home,
            data: options.data,
        }));
        if timeout(OPENING_TIME, running.until_open()).await.is_err() {
            tracing::warn!("replicas are still being opened, and are not ready");
        }
        Ok(running)
    }

    /// Waits until each replica takes records, or is known not to.
    async fn until_open(&self) {
        let is_open = |replica: &ReplicaStatus| replica.is_loaded || replica.not_loaded.is_some();
        while let Ok(status) = self.0.reporter.status().await {
            if status.replicas.iter().all(is_open) {
                return;
            }
            sleep(OPENING_STEP).await;
        }
    }

    /// The map that it has.
    pub fn map(&self) -> &ClusterMap {
        &self.0.own.map
    }

    /// Its directory.
    pub fn data(&self) -> &Path {
        &self.0.data
    }

    /// Its replicas.
    pub fn partitions(&self) -> impl Iterator<Item = &Partition> {
        self.0.store.partitions()
    }

    pub(crate) fn partition(&self, id: afterbay_blob_store::PartitionId) -> Option<&Partition> {
        self.0.store.partition(id)
    }

    pub(crate) fn policy(&self) -> Policy {
        self.0.policy
    }

    /// That of puts into a container of which nobody has said more.
    pub(crate) fn policy_of(&self, container: u32) -> Policy {
        self.0.container_policies.get(&container).copied().unwrap_or(self.0.policy)
    }

    pub(crate) fn is_down(&self, node: &NodeId) -> bool {
        self.0.down.lock().unwrap_or_else(PoisonError::into_inner).contains(node)
    }

    /// Asks the node for something.
    pub(crate) async fn ask(&self, request: ClientRequest) -> Result<ClientAnswer> {
        let (answer, answered) = oneshot::channel();
        let stopped = || Error::Unavailable {
            place: "cluster".to_owned(),
            reason: "the node is shutting down; ask another one".to_owned(),
        };
        self.0.events.send(Event::Client(request, answer)).map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())
    }

    /// What it knows of itself and of the others, as `cluster status` shows it of each node.
    pub async fn report(&self) -> io::Result<Value> {
        self.0.reporter.report().await
    }

    /// Does what somebody asks for about scrubs of this node's replicas, and says how far the one is that was asked for. The text
    /// says why it cannot be done.
    pub async fn scrub(
        &self,
        command: ScrubCommand,
    ) -> io::Result<std::result::Result<ScrubReport, String>> {
        self.0.reporter.scrub(command).await
    }

    /// Nodes that it takes for down.
    pub fn down(&self) -> Vec<String> {
        let down = self.0.down.lock().unwrap_or_else(PoisonError::into_inner);
        down.iter().map(NodeId::to_string).collect()
    }

    /// Ends: what the store does now has `time` to be done, then all that is written is synced. Others are not answered any
    /// more, and neither is who asks this node. To be called when clients have what they asked for.
    pub async fn stop(&self, time: Duration) {
        self.0.stop.send_replace(true);
        let (stopped, ended) = oneshot::channel();
        if self.0.events.send(Event::Stop(stopped)).is_ok() && timeout(time, ended).await.is_err() {
            tracing::warn!(?time, "something is still done on the disk, and is left");
        }
        let running = self.0.clone();
        let closed = tokio::task::spawn_blocking(move || {
            for partition in running.store.partitions() {
                if let Err(error) = partition.close() {
                    tracing::error!(partition = %partition.id(), %error, "not closed");
                }
            }
        });
        if let Err(error) = closed.await {
            tracing::error!(%error, "the replicas could not be closed");
        }
    }
}
