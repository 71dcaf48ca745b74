//! `cluster init`, and what all of `cluster` shares.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afterbay_blob_node::{ClusterKey, ClusterMap, Fingerprint, make_home};
use afterbay_blob_store::RealDirectory;
use clap::{Args, Subcommand};

use super::client::Usage;
use super::cluster_certificate::{Made, line};
use super::{Failed, cluster_certificate, cluster_status, print};
use crate::keys::{AccessKey, KEY_FILE, write_private};

const MAP_FILE: &str = "map.toml";
const CLUSTER_KEY_FILE: &str = "cluster-key";
/// Port of the first node's native protocol, if those that follow are not those of the nodes for each other; the next one is that
/// of its monitoring. Those of the next nodes are so much higher.
const CLIENT_PORT: u32 = 7480;
const PORT_STEP: u32 = 10;

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Makes a directory with the map of a cluster, its keys and a directory for each node, and shows the commands that start it
    Init(InitArgs),
    /// Shows the replicas of all nodes, what is under-replicated, how far each is behind the others, and who takes whom for down
    Status(cluster_status::StatusArgs),
    /// Makes a new certificate for a node, by which the others know it, and its key
    Certificate(cluster_certificate::CertificateArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example, three nodes on this machine:\n  \
    afterbay blob cluster init demo --nodes 3\n\
    For several machines, change the addresses in map.toml, and give each machine map.toml, cluster-key, root-key, and the certificate \
    (n1-cert.pem, n1-key.pem) and the directory of its node.\n\
    Nodes speak TLS to each other, each is known by the certificate that the map names, and all prove that they know cluster-key.\n\
    The guide is docs/blob-cluster.md.")]
pub(crate) struct InitArgs {
    /// The directory; it is made, or is empty
    directory: PathBuf,
    /// Nodes
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    nodes: u16,
    /// Partitions
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=4096))]
    partitions: u16,
    /// Replicas of each partition, at most one on each node; by default 3, or as many as there are nodes
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=16))]
    replicas: Option<u16>,
    /// Address of all nodes, for each other and for clients
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port of the first node for the others; the next ones follow
    #[arg(long, value_name = "PORT", default_value_t = 7600, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Makes no certificates: nodes speak plaintext to each other, for a network that can be trusted, as within one machine
    #[arg(long)]
    plaintext: bool,
}

pub(crate) async fn run(command: ClusterCommand) -> Result<(), Failed> {
    match command {
        ClusterCommand::Init(args) => init(&args),
        ClusterCommand::Status(args) => cluster_status::run(&args).await,
        ClusterCommand::Certificate(args) => cluster_certificate::run(&args),
    }
}

/// The map of a cluster, and the key beside it.
pub(crate) fn read(map_file: &Path) -> Result<(Arc<ClusterMap>, ClusterKey), Failed> {
    let name = map_file.display().to_string();
    let text = fs::read_to_string(map_file)
        .map_err(|e| format!("{name}: {e}; 'cluster init' makes one"))?;
    let map = ClusterMap::parse(&name, &text)?;
    let key = AccessKey::read(&beside(map_file, CLUSTER_KEY_FILE))?;
    Ok((Arc::new(map), ClusterKey::new(&key.access, &key.secret)))
}

/// A file or directory beside the map.
pub(crate) fn beside(map_file: &Path, name: &str) -> PathBuf {
    map_file.parent().unwrap_or(Path::new("")).join(name)
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
    if u16::MAX - args.port < args.nodes - 1 {
        let text = format!("--port: {} is too high for {} nodes", args.port, args.nodes);
        return Err(Usage(text).into());
    }
    let cluster_key = AccessKey::random()?;
    let of = |node: u16| Made::new(&cluster_key.access, &format!("n{node}"));
    let nodes = if args.plaintext { 0 } else { args.nodes };
    let certificates: Vec<Made> = (1..=nodes).map(of).collect::<Result<_, _>>()?;
    let names: Vec<Fingerprint> = certificates.iter().map(|made| made.fingerprint).collect();
    let map = map_text(args, replicas, &names)?;
    // A host may be anything until the map is read.
    ClusterMap::parse(MAP_FILE, &map).map_err(|e| Usage(format!("--host {}: {e}", args.host)))?;
    let place = args.directory.display();
    let at = |error: std::io::Error| format!("{place}: {error}");
    RealDirectory::make_all(&args.directory).map_err(at)?;
    if fs::read_dir(&args.directory).map_err(at)?.next().is_some() {
        return Err(
            format!("{place}: not empty; a cluster is made in a new or empty directory").into()
        );
    }
    let directory = RealDirectory::shared(&args.directory).map_err(at)?;
    for node in 1..=args.nodes {
        let node = format!("n{node}");
        make_home(&args.directory.join(&node), &cluster_key.access, &node)?;
    }
    for (name, key) in [(KEY_FILE, &AccessKey::random()?), (CLUSTER_KEY_FILE, &cluster_key)] {
        write_private(&directory, name, &key.text()).map_err(at)?;
    }
    for (node, made) in (1..).zip(&certificates) {
        made.write(&directory, &format!("n{node}")).map_err(at)?;
    }
    // Last: who finds it finds all.
    write_private(&directory, MAP_FILE, &map).map_err(at)?;
    print(&commands(args, replicas)?)
}

/// The port of the first node's native protocol: none of all these is one of the nodes for each other.
fn client_port(args: &InitArgs) -> u32 {
    let (port, nodes) = (u32::from(args.port), u32::from(args.nodes));
    let clients = CLIENT_PORT..CLIENT_PORT + PORT_STEP * nodes;
    if port < clients.end && clients.start < port + nodes {
        // There is room: they are low.
        (port + nodes).next_multiple_of(PORT_STEP)
    } else {
        clients.start
    }
}

/// `certificates` are those of all nodes, or none.
fn map_text(
    args: &InitArgs,
    replicas: u16,
    certificates: &[Fingerprint],
) -> Result<String, Failed> {
    let mut text = "version = 1\n".to_owned();
    for at in 0..args.nodes {
        let (id, port) = (at + 1, args.port + at);
        write!(text, "\n[[node]]\nid = \"n{id}\"\naddress = \"{}:{port}\"\n", args.host)?;
        let certificate = certificates.get(usize::from(at));
        text += &certificate.map(|name| line(*name)).unwrap_or_default();
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

fn commands(args: &InitArgs, replicas: u16) -> Result<String, Failed> {
    let map = args.directory.join(MAP_FILE);
    let (map, host) = (map.display(), &args.host);
    let key = args.directory.join(KEY_FILE);
    let mut text = format!("made {map}\n\nStart each node, in a terminal of its own:\n\n");
    let first = client_port(args);
    // The default policy is two.
    let policy = if replicas == 1 { " --policy one" } else { "" };
    for at in 0..args.nodes {
        let (id, client) = (at + 1, first + PORT_STEP * u32::from(at));
        let admin = client + 1;
        writeln!(
            text,
            "  ./afterbay blob serve --cluster {map} --node n{id} --listen {host}:{client} --admin {host}:{admin}{policy}"
        )?;
    }
    writeln!(text, "\nThen, at any of them:\n")?;
    writeln!(text, "  export AFTERBAY_BLOB_KEY_FILE={}", key.display())?;
    let second = if args.nodes > 1 { first + PORT_STEP } else { first };
    writeln!(text, "  ./afterbay blob put FILE --no-name --server {host}:{first}")?;
    writeln!(text, "  ./afterbay blob get ID COPY --server {host}:{second}")?;
    writeln!(text, "  ./afterbay blob cluster status --cluster {map}")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn args(nodes: u16, port: u16) -> InitArgs {
        InitArgs {
            directory: PathBuf::from("c"),
            nodes,
            partitions: 4,
            replicas: None,
            host: "h".to_owned(),
            port,
            plaintext: false,
        }
    }

    #[test]
    fn no_two_of_all_ports_are_the_same() {
        let clients_first = |nodes, port| {
            let args = args(nodes, port);
            let text = map_text(&args, 1, &[]).unwrap() + &commands(&args, 1).unwrap();
            let commands = text
                .lines()
                .filter(|line| line.starts_with("address") || line.contains("blob serve"));
            let ports = commands.flat_map(|line| line.split("h:").skip(1)).map(|rest| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<u16>().unwrap()
            });
            let ports: Vec<u16> = ports.collect();
            assert_eq!(ports.len(), 3 * usize::from(nodes), "{text}");
            assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), ports.len(), "{ports:?}");
            client_port(&args)
        };
        for (nodes, port, first) in [
            (3, 7600, 7480),
            (12, 7600, 7480),
            (13, 7600, 7620),
            (64, 7600, 7670),
            (3, 7478, 7490),
            (3, 7477, 7480),
            (3, 7509, 7520),
            (3, 7510, 7480),
            (64, u16::MAX - 63, 7480),
        ] {
            assert_eq!(clients_first(nodes, port), first, "{nodes} nodes from {port} on");
        }
    }
}
