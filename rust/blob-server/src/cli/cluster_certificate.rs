//! Certificates of nodes, beside the map that names them: `cluster certificate`, those that `cluster init` makes, and that of the node
//! that is served.

use std::io;
use std::path::{Path, PathBuf};

use afterbay_blob_node::{ClusterMap, Fingerprint, NodeId};
use afterbay_blob_store::{Directory, RealDirectory};
use afterbay_tls::{Identity, digest_of};
use clap::Args;
use rcgen::{CertificateParams, DnType, KeyPair};

use super::client::Usage;
use super::cluster::{self, beside};
use super::{Failed, print};
use crate::keys::{check_private, write_private};

#[derive(Debug, Args)]
#[command(
    after_help = "It makes NODE-cert.pem, which is self-signed, and NODE-key.pem, and prints the line of map.toml that names the certificate.\n\
    To replace the certificate of a node that runs:\n  \
    1. Make the new one --into another directory.\n  \
    2. Let the map of all nodes name both, as a list.\n  \
    3. Start the other nodes again, one after the other.\n  \
    4. Put the new files beside the map of that node, and start it again.\n  \
    5. Take the old one out of all maps, and start the other nodes again.\n\
    The guide is docs/blob-cluster.md."
)]
pub(crate) struct CertificateArgs {
    /// Map of the cluster; without --into, the files are made beside it
    #[arg(long, value_name = "FILE", env = "AFTERBAY_BLOB_CLUSTER")]
    cluster: PathBuf,
    /// Directory for the files; it is made if it does not exist
    #[arg(long, value_name = "DIRECTORY")]
    into: Option<PathBuf>,
    /// Which node of the map
    #[arg(long, value_name = "NAME")]
    node: String,
}

/// A certificate and its key, as files.
pub(crate) struct Made {
    certificate: String,
    key: String,
    /// By what the map names it.
    pub(crate) fingerprint: Fingerprint,
}

impl Made {
    /// For a node of a cluster. That it does not end, and whom it names, is for people: the fingerprint alone counts.
    pub(crate) fn new(cluster: &str, node: &str) -> Result<Self, Failed> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, format!("{node} of {cluster}"));
        let key = KeyPair::generate()?;
        let made = params.self_signed(&key)?;
        let fingerprint = Fingerprint(digest_of(made.der()));
        Ok(Made { certificate: made.pem(), key: key.serialize_pem(), fingerprint })
    }

    /// Writes the files, for the owner alone.
    pub(crate) fn write(&self, directory: &dyn Directory, node: &str) -> io::Result<()> {
        write_private(directory, &key_file(node), &self.key)?;
        write_private(directory, &certificate_file(node), &self.certificate)
    }
}

fn certificate_file(node: &str) -> String {
    format!("{node}-cert.pem")
}

fn key_file(node: &str) -> String {
    format!("{node}-key.pem")
}

/// As the map names them.
pub(crate) fn line(fingerprint: Fingerprint) -> String {
    format!("certificate = \"{fingerprint}\"\n")
}

pub(crate) fn run(args: &CertificateArgs) -> Result<(), Failed> {
    let (map, key) = cluster::read(&args.cluster)?;
    let (map_file, node) = (args.cluster.display(), &args.node);
    if !map.nodes.contains_key(&NodeId::new(node)) {
        let names: Vec<&str> = map.nodes.keys().map(NodeId::as_str).collect();
        let text = format!("--node {node}: {map_file} has {}", names.join(", "));
        return Err(Usage(text).into());
    }
    let beside_map = args.cluster.parent().unwrap_or(Path::new(""));
    let place = args.into.as_deref().unwrap_or(beside_map);
    let files = [certificate_file(node), key_file(node)].map(|name| place.join(name));
    if let Some(there) = files.iter().find(|file| file.exists()) {
        let text = format!(
            "{}: there is one; make the new one --into another directory, {node} needs this one until all maps name both",
            there.display()
        );
        return Err(text.into());
    }
    let made = Made::new(key.name(), node)?;
    let place = if place == Path::new("") { Path::new(".") } else { place };
    let at = |error: io::Error| format!("{}: {error}", place.display());
    if args.into.is_some() {
        RealDirectory::make_all(place).map_err(at)?;
    }
    let directory = RealDirectory::shared(place).map_err(at)?;
    made.write(&directory, node).map_err(at)?;
    let [certificate, key] = files;
    print(&format!(
        "made {} and {}\n\nIn {map_file}, node {node} is to have:\n\n{}",
        certificate.display(),
        key.display(),
        line(made.fingerprint)
    ))
}

/// The certificate of a node and its key; none if the map has none, or not that node.
pub(crate) fn identity(
    map_file: &Path,
    map: &ClusterMap,
    node: &NodeId,
) -> Result<Option<Identity>, Failed> {
    let named = map.certificates_of(node);
    if named.is_empty() {
        return Ok(None);
    }
    let certificate = beside(map_file, &certificate_file(node.as_str()));
    let key = beside(map_file, &key_file(node.as_str()));
    let way = format!(
        "{} names a certificate of {node}: give this machine both of its files, or make new ones by 'cluster certificate'",
        map_file.display()
    );
    for file in [&certificate, &key] {
        if !file.exists() {
            return Err(format!("{}: not there; {way}", file.display()).into());
        }
    }
    check_private(&key)?;
    let identity = Identity::read(&certificate, &key)?;
    let found = Fingerprint(identity.digest());
    if !named.contains(&found) {
        let named: Vec<String> = named.iter().map(Fingerprint::to_string).collect();
        let text = format!(
            "{}: has {found}, and {} names {} for {node}; put the right certificate and its key there, or the new name into the map \
             of all nodes",
            certificate.display(),
            map_file.display(),
            named.join(" or ")
        );
        return Err(text.into());
    }
    Ok(Some(identity))
}

/// Whether who listens on the way between nodes could read what they say: a plain map, with addresses that are not this machine's.
pub(crate) fn is_exposed(map: &ClusterMap) -> bool {
    let is_local = |address: &String| {
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    };
    !map.is_tls() && !map.nodes.values().all(is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaintext_is_for_one_machine() {
        let map = |addresses: [&str; 2], certificates: bool| {
            let mut text = "version = 1\n".to_owned();
            for (node, address) in ["n1", "n2"].iter().zip(addresses) {
                text += &format!("[[node]]\nid = \"{node}\"\naddress = \"{address}\"\n");
                if certificates {
                    text += &line(Made::new("AB", node).unwrap().fingerprint);
                }
            }
            text += "[[partition]]\nid = 1\nreplicas = [\"n1\", \"n2\"]\n";
            ClusterMap::parse("map.toml", &text).unwrap()
        };
        for local in [["127.0.0.1:1", "127.9.0.1:2"], ["localhost:1", "[::1]:2"]] {
            assert!(!is_exposed(&map(local, false)), "{local:?}");
        }
        for far in [["127.0.0.1:1", "10.0.0.2:1"], ["localhost:1", "store.example.org:2"]] {
            assert!(is_exposed(&map(far, false)), "{far:?}");
            assert!(!is_exposed(&map(far, true)), "{far:?}");
        }
    }
}
