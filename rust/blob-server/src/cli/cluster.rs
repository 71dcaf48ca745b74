//! `cluster init` and `cluster status`.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use afterbay_blob_node::{ClusterKey, ClusterMap, status_of};
use afterbay_blob_store::{RealDirectory, SyncPoint, write_whole};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::client::Usage;
use super::values::show_bytes;
use super::{Failed, print, print_json};
use crate::keys::{AccessKey, KEY_FILE};

const MAP_FILE: &str = "map.toml";
const CLUSTER_KEY_FILE: &str = "cluster-key";

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Makes a directory with the map of a cluster on this machine, its keys, and shows the commands that start it
    Init(InitArgs),
    /// Shows the replicas of all nodes, how far each is behind the others, and who takes whom for down
    Status(StatusArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The directory; it is made
    directory: PathBuf,
    /// Nodes
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    nodes: u16,
    /// Partitions
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=4096))]
    partitions: u16,
    /// Replicas of each partition; at most one on each node
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=16))]
    replicas: Option<u16>,
    /// Address of the nodes for each other
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port of the first node for the others; the next ones follow
    #[arg(long, value_name = "PORT", default_value_t = 7500)]
    port: u16,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Map of the cluster
    #[arg(long, value_name = "FILE", env = "AFTERBAY_BLOB_CLUSTER")]
    cluster: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(command: ClusterCommand) -> Result<(), Failed> {
    match command {
        ClusterCommand::Init(args) => init(&args),
        ClusterCommand::Status(args) => status(&args).await,
    }
}

/// The map of a cluster, and the key beside it.
pub(crate) fn read(map_file: &Path) -> Result<(ClusterMap, ClusterKey), Failed> {
    let name = map_file.display().to_string();
    let text = fs::read_to_string(map_file)
        .map_err(|e| format!("{name}: {e}; 'cluster init' makes one"))?;
    let map = ClusterMap::parse(&name, &text)?;
    let folder = map_file.parent().unwrap_or(Path::new("."));
    let key = AccessKey::read(&folder.join(CLUSTER_KEY_FILE))?;
    Ok((map, ClusterKey::new(&key.secret)))
}

fn init(args: &InitArgs) -> Result<(), Failed> {
    let replicas = args.replicas.unwrap_or(args.nodes.min(3));
    if replicas > args.nodes {
        let text = format!(
            "--replicas: {replicas}, and there are {} nodes; one on each at most",
            args.nodes
        );
        return Err(Usage(text).into());
    }
    if u16::MAX - args.port < args.nodes {
        return Err(
            Usage(format!("--port: {} is too high for {} nodes", args.port, args.nodes)).into()
        );
    }
    let place = args.directory.display();
    if args.directory.join(MAP_FILE).exists() {
        return Err(format!("{place}: there is a cluster already; choose another directory").into());
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&args.directory)
        .map_err(|e| format!("{place}: {e}"))?;
    let directory = RealDirectory::shared(&args.directory).map_err(|e| format!("{place}: {e}"))?;
    let points = [SyncPoint::KeyData, SyncPoint::KeyEntry];
    for name in [KEY_FILE, CLUSTER_KEY_FILE] {
        write_whole(&directory, name, AccessKey::random()?.text().as_bytes(), points)?;
    }
    write_whole(&directory, MAP_FILE, map_text(args, replicas)?.as_bytes(), points)?;
    print(&commands(args)?)
}

fn map_text(args: &InitArgs, replicas: u16) -> Result<String, Failed> {
    let mut text = "version = 1\n".to_owned();
    for at in 0..args.nodes {
        let (id, port) = (at + 1, args.port + at);
        write!(text, "\n[[node]]\nid = \"n{id}\"\naddress = \"{}:{port}\"\n", args.host)?;
    }
    for partition in 0..args.partitions {
        let first = partition % args.nodes;
        let nodes = (0..replicas).map(|at| format!("\"n{}\"", (first + at) % args.nodes + 1));
        let nodes: Vec<String> = nodes.collect();
        let id = partition + 1;
        write!(text, "\n[[partition]]\nid = {id}\nreplicas = [{}]\n", nodes.join(", "))?;
    }
    Ok(text)
}

fn commands(args: &InitArgs) -> Result<String, Failed> {
    let map = args.directory.join(MAP_FILE);
    let map = map.display();
    let mut text = format!("{map}\nStart each node:\n");
    for at in 0..args.nodes {
        let (id, port) = (at + 1, 7480 + 10 * u32::from(at));
        writeln!(
            text,
            "  afterbay blob serve --cluster {map} --node n{id} --listen 127.0.0.1:{port}"
        )?;
    }
    writeln!(text, "Then, at any of them:")?;
    let key = args.directory.join(KEY_FILE);
    writeln!(text, "  export AFTERBAY_BLOB_KEY_FILE={}", key.display())?;
    writeln!(text, "  afterbay blob put FILE --no-name --server 127.0.0.1:7480")?;
    writeln!(text, "  afterbay blob cluster status --cluster {map}")?;
    Ok(text)
}

async fn status(args: &StatusArgs) -> Result<(), Failed> {
    let (map, key) = read(&args.cluster)?;
    let asked: Vec<_> = map
        .nodes
        .iter()
        .map(|(node, address)| {
            let (node, address, key) = (node.to_string(), address.clone(), key.clone());
            tokio::spawn(async move {
                let answer = match status_of(&address, &key).await {
                    Ok(text) => serde_json::from_str(&text).map_err(|e| e.to_string()),
                    Err(error) => Err(error.to_string()),
                };
                (node, address, answer)
            })
        })
        .collect();
    let mut nodes = Vec::new();
    for node in asked {
        let (node, address, answer): (String, String, Result<Value, String>) = node.await?;
        nodes.push(match answer {
            Ok(mut status) => {
                status["reachable"] = true.into();
                status["address"] = address.into();
                status
            }
            Err(error) => {
                json!({ "node": node, "address": address, "reachable": false, "reason": error })
            }
        });
    }
    let lag = greatest_lag(&nodes);
    let under_replicated = under_replicated_bytes(&map, &nodes);
    if args.json {
        return print_json(&json!({
            "map_version": map.version,
            "lag": lag,
            "under_replicated_bytes": under_replicated,
            "nodes": nodes,
        }));
    }
    print(&table(&nodes, lag, under_replicated)?)
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Records that some replica has not taken over from another one.
fn greatest_lag(nodes: &[Value]) -> u64 {
    let replicas = nodes.iter().flat_map(|node| items(node, "replicas"));
    let peers = replicas.flat_map(|replica| items(replica, "peers"));
    peers.filter_map(|peer| peer["lag"].as_u64()).max().unwrap_or(0)
}

fn is_whole(replica: &Value) -> bool {
    let behind = |peer: &Value| peer["lag"] != 0 || peer["comparing"] == true;
    replica["filled"] == true
        && replica["suspect"] == false
        && replica["damaged"] == 0
        && !items(replica, "peers").iter().any(behind)
}

/// Bytes of partitions, once for each replica that is away or behind: at most so many have too few copies.
fn under_replicated_bytes(map: &ClusterMap, nodes: &[Value]) -> u64 {
    let mut bytes = 0;
    for (id, placement) in &map.partitions {
        let replicas: Vec<&Value> = nodes
            .iter()
            .flat_map(|node| items(node, "replicas"))
            .filter(|replica| replica["partition"] == id.0)
            .collect();
        let used = replicas.iter().filter_map(|replica| replica["used_bytes"].as_u64()).max();
        let whole = replicas.iter().filter(|replica| is_whole(replica)).count();
        bytes += used.unwrap_or(0) * placement.replicas.len().saturating_sub(whole) as u64;
    }
    bytes
}

fn table(nodes: &[Value], lag: u64, under_replicated: u64) -> Result<String, Failed> {
    let mut text = String::new();
    let word = |value: &Value| value.as_str().unwrap_or("").to_owned();
    for node in nodes {
        let (name, address) = (word(&node["node"]), word(&node["address"]));
        if node["reachable"] == false {
            writeln!(text, "{name}  {address}  not reachable: {}", word(&node["reason"]))?;
            continue;
        }
        let replicas = items(node, "replicas");
        let whole = replicas.iter().filter(|replica| is_whole(replica)).count();
        let down: Vec<String> = items(node, "down").iter().map(word).collect();
        let down = if down.is_empty() { "nobody".to_owned() } else { down.join(", ") };
        writeln!(
            text,
            "{name}  {address}  {whole} of {} replicas have all; takes for down: {down}",
            replicas.len()
        )?;
    }
    writeln!(
        text,
        "greatest lag: {lag} records; under-replicated: {}",
        show_bytes(under_replicated)
    )?;
    Ok(text)
}
