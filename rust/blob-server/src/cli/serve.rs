//! `serve`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_meta::CollectorOptions;
use afterbay_blob_node::{ClusterOptions, DetectorOptions, NodeId, Policy};
use afterbay_blob_router::{Durability, RouterOptions};
use afterbay_blob_s3::S3Options;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::client::Usage;
use super::values::{
    container_durability, container_policy, count, durability, duration, duration_or_never,
    show_bytes, size, some_duration,
};
use super::{Failed, cluster, cluster_certificate, print};
use crate::keys::KEY_FILE;
use crate::named::Frontend;
use crate::names::NamesAndS3;
use crate::node::{DiskOptions, DiskStatus, NodeOptions};
use crate::serve::{Running, ServeOptions, start, start_clustered};
use crate::server::ServerOptions;
use crate::storage::Storage;
use crate::telemetry::{LogFormat, start_logs};

/// Garbage is not looked for more often.
const SHORTEST: Duration = Duration::from_millis(20);
/// A node that is taken for down is asked again after so long. An attempt that is refused costs next to nothing.
const PROBE_MS: u64 = 1_000;
/// A request to another node that is not answered for so long has failed. A node that is gone is noticed at once, by its connection; this
/// is for one that is frozen, or whose disk is. Gets do not wait for it: they ask another replica meanwhile.
const REQUEST_MS: u64 = 8_000;
/// How a new store reserves less.
const SMALLER: &str = "a new store with a smaller --segment-size reserves less";

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob serve --data /var/lib/afterbay\n  \
    afterbay blob serve --data /disk1 --data /disk2 --listen 0.0.0.0:7480 --s3 0.0.0.0:7482 \\\n      \
    --tls-cert server.pem --tls-key server-key.pem\n  \
    afterbay blob serve --cluster demo/map.toml --node n1      (after 'cluster init')\n\
    A node of a cluster serves blobs by their ids alone, without names and S3.\n\
    The first start makes a root key: root-key in the first data directory, which only its owner can read.")]
pub struct ServeArgs {
    /// Data directory; one for each disk
    #[arg(long, value_name = "DIR", required_unless_present = "cluster")]
    data: Vec<PathBuf>,
    /// Map of a cluster, as 'cluster init' makes it: serves one of its nodes, and blobs of all of it by their ids
    #[arg(long, value_name = "FILE", requires = "node")]
    cluster: Option<PathBuf>,
    /// Which node of the cluster; its replicas are in --data, or beside the map in a directory of its name
    #[arg(long, value_name = "NAME", requires = "cluster")]
    node: Option<String>,
    /// How many replicas have to acknowledge a write through this node (cluster): one, majority, all, or a number; a majority at least
    /// has to acknowledge a delete
    #[arg(long, value_name = "POLICY", default_value = "2", requires = "cluster")]
    policy: Policy,
    /// The same for puts into a container (cluster), if the put itself does not say; may be given several times
    #[arg(long, value_name = "CONTAINER=POLICY", value_parser = container_policy, requires = "cluster")]
    container_policy: Vec<(u32, Policy)>,
    /// Gives up a disk that is lost for good, by its id, which 'status' shows; may be given several times
    #[arg(long, value_name = "ID")]
    lost_disk: Vec<uuid::Uuid>,
    /// Makes no new store and adds no disk: an empty directory is one whose disk is not mounted
    #[arg(long)]
    existing: bool,
    /// Address of the native protocol
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7480")]
    listen: String,
    /// Address for monitoring (/metrics, /healthz; no authentication), or 'none'
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7481")]
    admin: String,
    /// Address of the S3 endpoint, or 'none'
    #[arg(
        long,
        value_name = "HOST:PORT",
        default_value = "127.0.0.1:7482",
        conflicts_with = "cluster"
    )]
    s3: String,
    /// Keep no names, and serve no S3: blobs are known by their ids alone
    #[arg(long)]
    no_names: bool,
    /// Let objects be opened by S3 to everybody, also without a key, by who has the right 'write', and buckets by who has 'admin': by the
    /// ACLs public-read, public-read-write and authenticated-read
    #[arg(long, conflicts_with = "cluster")]
    public_acls: bool,
    /// Certificates for TLS of the native protocol and of S3, a PEM file; without it, connections are plaintext. SIGHUP reads it again
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key for TLS, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Durability class of containers that are not named: fast, durable, paranoid
    #[arg(long, value_name = "CLASS", default_value = "durable", value_parser = durability)]
    durability: Durability,
    /// Durability class of a container; may be given several times
    #[arg(long, value_name = "CONTAINER=CLASS", value_parser = container_durability)]
    container_durability: Vec<(u32, Durability)>,
    /// Bytes of a new partition; by default the largest power of two within an eighth of the disk, from 64 MiB to 64 GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    partition_size: Option<u64>,
    /// Bytes of a segment of new partitions; by default a sixteenth of a partition, from 8 MiB to 1 GiB. Each partition that takes
    /// blobs has reserved one on the disk
    #[arg(long, value_name = "SIZE", value_parser = size)]
    segment_size: Option<u64>,
    /// So many partitions of a disk take new blobs at once
    #[arg(long, value_name = "COUNT", default_value = "2", value_parser = count, conflicts_with = "cluster")]
    writable_partitions: usize,
    /// Bytes of each disk that partitions are not planned into
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size, conflicts_with = "cluster")]
    reserve: u64,
    /// How long a deleted blob can be undeleted; its space is given back after that
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration)]
    undelete_window: Duration,
    /// Bytes that compaction reads and writes in a second, on each disk
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = size, conflicts_with = "cluster")]
    compact_rate: u64,
    /// How often each disk looks for what can be compacted
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
    compact_interval: Duration,
    /// Segments with less garbage, in percent, are not compacted
    #[arg(long, value_name = "PERCENT", default_value_t = 30, value_parser = clap::value_parser!(u8).range(0..=100))]
    compact_garbage: u8,
    /// How often a node of a cluster verifies all of each replica, and fetches what is damaged from the others; or 'never'
    #[arg(long, value_name = "DURATION", default_value = "14d", value_parser = duration_or_never, requires = "cluster")]
    scrub_interval: Duration,
    /// Bytes that it reads in a second for that; by default as many as are needed to read everything in half of --scrub-interval, and
    /// 1 MiB at least
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "cluster")]
    scrub_rate: Option<u64>,
    /// How long the content of a name that was overwritten or deleted stays, for those who are reading it
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration, conflicts_with = "cluster")]
    garbage_delay: Duration,
    /// An upload by S3 that was begun so long ago and is neither complete nor aborted is aborted, or 'never'
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = duration_or_never, conflicts_with = "cluster")]
    abort_uploads_after: Duration,
    /// How often what has expired by the life cycles of buckets is looked for
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = some_duration, conflicts_with = "cluster")]
    lifecycle_interval: Duration,
    /// A day of life cycles; a shorter one is for trying rules, as objects are deleted so much sooner
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = some_duration, conflicts_with = "cluster")]
    lifecycle_day: Duration,
    /// After how long writes of the class 'fast' are synced
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    flush_interval: Duration,
    /// A blob that is longer is stored in chunks of so many bytes
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = size)]
    chunk_size: u64,
    /// Bytes of content that all requests together may hold in memory
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    memory: u64,
    /// Connections at once, by the native protocol and by S3 each; more are refused (by S3 with 503)
    #[arg(long, value_name = "COUNT", default_value = "512", value_parser = count)]
    connections: usize,
    /// Connections by S3 on which no request with a key has come yet; one more takes the place of the oldest of them
    #[arg(long, value_name = "COUNT", default_value = "256", value_parser = count, conflicts_with = "cluster")]
    unknown_connections: usize,
    /// Requests of one connection at once (native protocol)
    #[arg(long, value_name = "COUNT", default_value = "32", value_parser = count)]
    connection_requests: usize,
    /// A connection without requests for so long is closed; by S3, --stall-timeout holds until a request with a key has come
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = duration)]
    idle_timeout: Duration,
    /// A client that takes nothing of an answer, or sends nothing of what it announced, for so long is cut off
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    stall_timeout: Duration,
    /// Requests under way have so long to end when the server stops
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = duration)]
    drain_timeout: Duration,
    /// How logs are written; RUST_LOG chooses which (debug, info, warn)
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,
}

impl ServeArgs {
    fn frontends(&self) -> Vec<Arc<dyn Frontend>> {
        if self.no_names {
            return Vec::new();
        }
        let listen = Some(self.s3.clone()).filter(|s3| s3 != "none");
        let options = S3Options {
            public_acls: self.public_acls,
            connections_max: self.connections,
            unknown_connections_max: self.unknown_connections,
            idle_timeout: self.idle_timeout,
            stall_timeout: self.stall_timeout,
            shutdown_timeout: self.drain_timeout,
            lifecycle_interval: self.lifecycle_interval,
            lifecycle_day: self.lifecycle_day,
            ..S3Options::default()
        };
        let collector = CollectorOptions {
            grace: self.garbage_delay,
            interval: CollectorOptions::default().interval.min(self.garbage_delay).max(SHORTEST),
            ..CollectorOptions::default()
        };
        let abort_uploads_after = self.abort_uploads_after;
        vec![Arc::new(NamesAndS3 { listen, options, collector, abort_uploads_after })]
    }

    /// The node of a cluster, and the file with the root key.
    fn cluster_options(&self, map_file: &Path) -> Result<(ClusterOptions, PathBuf), Failed> {
        let (map, key) = cluster::read(map_file)?;
        let name = self.node.clone().unwrap_or_default();
        let node = NodeId::new(&name);
        let data = match self.data.as_slice() {
            [] => cluster::beside(map_file, &name),
            [data] => data.clone(),
            _ => return Err(Usage("--data: a node of a cluster has one directory".into()).into()),
        };
        if !self.lost_disk.is_empty() {
            let text = "--lost-disk: not of a node of a cluster; start it with an empty directory, and it is filled from the others";
            return Err(Usage(text.into()).into());
        }
        let most = map.partitions.values().map(|placement| placement.replicas.len()).max();
        let most = most.unwrap_or(0);
        let container = |(container, policy): &(u32, Policy)| {
            (format!("--container-policy {container}={policy}"), *policy)
        };
        let all = self.container_policy.iter().map(container);
        for (option, policy) in all.chain([(format!("--policy {}", self.policy), self.policy)]) {
            if policy.acknowledgements(most) > most {
                let map = map_file.display();
                let text =
                    format!("{option}: the partitions of {map} have {most} replicas at most");
                return Err(Usage(text).into());
            }
        }
        let capacity_bytes = self.partition_size.unwrap_or(1 << 30);
        let segment_bytes =
            self.segment_size.unwrap_or((capacity_bytes / 16).max(8 << 20).min(capacity_bytes));
        let partition = afterbay_blob_store::Options {
            capacity_bytes,
            segment_bytes: u32::try_from(segment_bytes)
                .map_err(|_| Usage("--segment-size: at most 4 GiB".to_owned()))?,
            ..afterbay_blob_store::Options::default()
        };
        let milliseconds = |duration: Duration| {
            u64::try_from(duration.as_millis()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
        };
        let defaults = afterbay_blob_node::NodeOptions::default();
        let margin_ms = defaults.write_deadline_ms + 2 * defaults.clock_skew_max_ms + 1;
        let node_options = afterbay_blob_node::NodeOptions {
            detector: DetectorOptions {
                check_period_ms: 3 * REQUEST_MS,
                wait_period_ms: PROBE_MS,
                ..defaults.detector
            },
            request_timeout_ms: REQUEST_MS,
            tombstone_life_ms: milliseconds(self.undelete_window) + margin_ms,
            compact_interval_ms: milliseconds(self.compact_interval).max(1),
            // 0 would be never.
            flush_interval_ms: milliseconds(self.flush_interval).max(1),
            scrub_interval_ms: self.scrub_interval_ms()?,
            scrub_bytes_per_s: self.scrub_rate()?,
            ..afterbay_blob_node::NodeOptions::default()
        };
        let identity = cluster_certificate::identity(map_file, &map, &node)?;
        let cluster = ClusterOptions {
            data,
            existing: self.existing,
            node,
            map,
            key,
            identity,
            node_options,
            partition,
            policy: self.policy,
            container_policies: self.container_policy.iter().copied().collect(),
            garbage_percent_min: self.compact_garbage,
        };
        Ok((cluster, cluster::beside(map_file, KEY_FILE)))
    }

    /// 0 is never.
    fn scrub_interval_ms(&self) -> Result<u64, Failed> {
        match self.scrub_interval {
            Duration::MAX => Ok(0),
            Duration::ZERO => {
                Err(Usage("--scrub-interval: 0 is no time; give one, or 'never'".into()).into())
            }
            some => Ok(u64::try_from(some.as_millis()).unwrap_or(u64::MAX).clamp(1, u64::MAX / 4)),
        }
    }

    /// 0: as many as are needed.
    fn scrub_rate(&self) -> Result<u64, Failed> {
        match self.scrub_rate {
            Some(0) => {
                let text = "--scrub-rate: with 0 bytes a second it does not end; give 1 or more, or '--scrub-interval never'";
                Err(Usage(text.into()).into())
            }
            rate => Ok(rate.unwrap_or(0)),
        }
    }

    fn options(&self) -> Result<ServeOptions, String> {
        let segment_bytes = self
            .segment_size
            .map(|bytes| u32::try_from(bytes).map_err(|_| "--segment-size: at most 4 GiB"))
            .transpose()?;
        Ok(ServeOptions {
            data: self.data.clone(),
            disks: DiskOptions { lost: self.lost_disk.clone(), existing: self.existing },
            listen: self.listen.clone(),
            admin: Some(self.admin.clone()).filter(|admin| admin != "none"),
            tls: self.tls_cert.clone().zip(self.tls_key.clone()),
            node: NodeOptions {
                partition_bytes: self.partition_size,
                segment_bytes,
                writable_partitions: self.writable_partitions,
                reserve_bytes: self.reserve,
                undelete_window: self.undelete_window,
                compact_bytes_per_s: self.compact_rate,
                compact_interval: self.compact_interval,
                garbage_percent_min: self.compact_garbage,
                flush_interval: self.flush_interval,
                ..NodeOptions::default()
            },
            router: RouterOptions {
                chunk_bytes: u32::try_from(self.chunk_size)
                    .map_err(|_| "--chunk-size: at most 64 MiB")?,
                memory_bytes: self.memory,
                durability: self.durability,
                containers: self.container_durability.iter().copied().collect(),
                ..RouterOptions::default()
            },
            server: ServerOptions {
                connections_max: self.connections,
                requests_max: self.connection_requests,
                idle_timeout: self.idle_timeout,
                stall_timeout: self.stall_timeout,
                drain_timeout: self.drain_timeout,
                ..ServerOptions::default()
            },
        })
    }
}

pub(crate) async fn run(args: ServeArgs) -> Result<(), Failed> {
    start_logs(args.log_format);
    let options = args.options().map_err(Usage)?;
    // Before the first request: a signal that comes early must not end the process at once.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // It would end the process, too.
    let mut hangup = signal(SignalKind::hangup())?;
    if args.public_acls && !args.no_names {
        tracing::warn!(
            "--public-acls: keys with the right 'write' can open objects by S3 to everybody, also without a key, and those with 'admin' buckets"
        );
    }
    let plaintext = options.tls.is_none();
    let running = match &args.cluster {
        Some(map) => {
            let (cluster, key_file) = args.cluster_options(map)?;
            if cluster_certificate::is_exposed(&cluster.map) {
                tracing::warn!(
                    "nodes speak plaintext to each other, on addresses that other machines reach; give them certificates ('cluster certificate')"
                );
            }
            start_clustered(options, cluster, key_file).await?
        }
        None => start(options, &args.frontends()).await?,
    };
    if plaintext && !running.address.ip().is_loopback() {
        tracing::warn!("plaintext on an address that other machines reach; use --tls-cert");
    }
    print(&greeting(&running, plaintext).await?)?;
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => reload(&running),
        }
    }
    tokio::select! {
        () = running.shut_down() => Ok(()),
        _ = terminate.recv() => Err("stopped at once by a second signal".into()),
        _ = interrupt.recv() => Err("stopped at once by a second signal".into()),
    }
}

/// Reads the certificates again, as their renewal asks for.
fn reload(running: &Running) {
    match running.reload_certificates() {
        Ok(true) => tracing::info!("SIGHUP: the certificates were read again"),
        Ok(false) => tracing::info!("SIGHUP: without TLS there is nothing to read again"),
        Err(error) => {
            tracing::error!(%error, "SIGHUP: the certificates cannot be used; those from before still are");
        }
    }
}

async fn greeting(running: &Running, plaintext: bool) -> Result<String, Failed> {
    let mut text = String::new();
    let protection = if plaintext { "plaintext" } else { "TLS" };
    writeln!(text, "native protocol  {} ({protection})", running.address)?;
    if let Some(admin) = running.admin {
        writeln!(text, "metrics          http://{admin}/metrics")?;
    }
    for (what, endpoint) in &running.endpoints {
        writeln!(text, "{what:<15}  {endpoint}")?;
    }
    writeln!(text, "root key         {}", running.key_file.display())?;
    let disks = running.services.node.status().await?.disks;
    if let Storage::Cluster(node) = &running.services.node {
        writeln!(
            text,
            "names, S3        not over a cluster: blobs by their ids ('put --no-name')"
        )?;
        let between = if node.map().is_tls() {
            "TLS; each node is known by the certificate that the map names"
        } else {
            "traffic between nodes is authenticated by the cluster's key, and not encrypted"
        };
        writeln!(text, "between nodes    {between}")?;
    }
    let reserved = show_bytes(disks.iter().map(DiskStatus::reserved_bytes).sum());
    writeln!(text, "reserved         {reserved} of disk for blobs to come ({SMALLER})")?;
    writeln!(text, "ready")?;
    Ok(text)
}
