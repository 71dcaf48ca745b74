//! `cluster status`.

use std::fmt::Write;
use std::path::PathBuf;

use afterbay_blob_node::{ClusterMap, Membership, NodeId, status_of};
use clap::Args;
use serde_json::{Value, json};

use super::values::{counted, show_bytes};
use super::{Failed, cluster, print, print_json};

#[derive(Debug, Args)]
#[command(
    after_help = "While blobs are put, those of the last moments count as under-replicated: a replica is known to have one when it says so, a \
    part of a second later.\n\
    Exit codes: 0 all nodes answer, and all replicas have everything; 1 otherwise, and the standard error says what is wrong. What is known \
    is printed in any case."
)]
pub(crate) struct StatusArgs {
    /// Map of the cluster; cluster-key is beside it
    #[arg(long, value_name = "FILE", env = "AFTERBAY_BLOB_CLUSTER")]
    cluster: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: &StatusArgs) -> Result<(), Failed> {
    let (map, key) = cluster::read(&args.cluster)?;
    let own = Membership::observer(map.clone(), key);
    let mut asked = Vec::new();
    for (node, address) in map.nodes.clone() {
        let own = own.clone();
        asked.push(tokio::spawn(async move {
            let answer = ask(&own, &node, &address).await;
            answer.unwrap_or_else(|reason| {
                json!({ "node": node.as_str(), "address": address, "reachable": false, "reason": reason })
            })
        }));
    }
    let mut nodes = Vec::new();
    for answer in asked {
        nodes.push(answer.await?);
    }
    let status = Status::of(&map, nodes);
    if args.json {
        print_json(&status.json())?;
    } else {
        print(&status.text()?)?;
    }
    match status.wrong() {
        wrong if wrong.is_empty() => Ok(()),
        wrong => Err(wrong.join("; ").into()),
    }
}

async fn ask(own: &Membership, node: &NodeId, address: &str) -> Result<Value, String> {
    let text = status_of(own, node, address).await.map_err(|error| error.to_string())?;
    let mut status: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    status["reachable"] = true.into();
    status["address"] = address.into();
    Ok(status)
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// Blobs that a node is not known to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Missing {
    blobs: u64,
    bytes: u64,
    /// There are more.
    more: bool,
}

impl Missing {
    fn of(value: &Value) -> Self {
        let number = |key: &str| value[key].as_u64().unwrap_or(0);
        Missing { blobs: number("blobs"), bytes: number("bytes"), more: value["more"] == true }
    }

    fn plus(self, other: Missing) -> Missing {
        Missing {
            blobs: self.blobs + other.blobs,
            bytes: self.bytes + other.bytes,
            more: self.more || other.more,
        }
    }

    fn shown(self) -> String {
        let least = if self.more { "at least " } else { "" };
        format!("{least}{} ({})", counted(self.blobs, "blob"), show_bytes(self.bytes))
    }
}

/// What the nodes say, put together.
#[derive(Debug)]
struct Status {
    map_version: u64,
    nodes: Vec<Value>,
    /// Of each node, in the order of `nodes`.
    missing: Vec<Missing>,
    /// Partitions of which nobody says what a replica lacks.
    unknown: Vec<String>,
    /// Replicas that are not whole for another reason.
    not_whole: Vec<String>,
}

impl Status {
    fn of(map: &ClusterMap, nodes: Vec<Value>) -> Self {
        let mut status = Status {
            map_version: map.version,
            missing: vec![Missing::default(); nodes.len()],
            nodes,
            unknown: Vec::new(),
            not_whole: Vec::new(),
        };
        for (id, placement) in &map.partitions {
            for replica in &placement.replicas {
                status.add(id.0, replica, placement.replicas.len());
            }
        }
        status
    }

    fn replica(&self, node: &str, partition: u64) -> Option<&Value> {
        let node = self.nodes.iter().find(|value| text(value, "node") == node)?;
        items(node, "replicas").iter().find(|replica| replica["partition"] == partition)
    }

    fn add(&mut self, partition: u64, node: &NodeId, replicas: usize) {
        let node = node.as_str();
        let Some(at) = self.nodes.iter().position(|value| text(value, "node") == node) else {
            return;
        };
        let of_others = self.nodes.iter().flat_map(|value| items(value, "replicas"));
        let said = of_others
            .filter(|replica| replica["partition"] == partition)
            .flat_map(|replica| items(replica, "peers"))
            .filter(|peer| text(peer, "node") == node && peer["missing"].is_object())
            .map(|peer| Missing::of(&peer["missing"]));
        // Others have mostly the same: what the one says that misses most.
        match said.max_by_key(|missing| (missing.blobs, missing.bytes)) {
            Some(missing) => self.missing[at] = self.missing[at].plus(missing),
            None if replicas > 1 => self.unknown.push(format!("partition {partition} on {node}")),
            None => {}
        }
        let reason = self.replica(node, partition).and_then(why_not_whole);
        self.not_whole.extend(reason.map(|why| format!("partition {partition} on {node} {why}")));
    }

    fn unreachable(&self) -> Vec<&str> {
        let away = self.nodes.iter().filter(|node| node["reachable"] == false);
        away.map(|node| text(node, "node")).collect()
    }

    fn other_maps(&self) -> bool {
        let mut digests: Vec<_> = self
            .nodes
            .iter()
            .filter(|node| node["reachable"] == true)
            .map(|node| (node["map_version"].as_u64(), text(node, "map_digest")))
            .collect();
        digests.dedup();
        digests.len() > 1
            || digests.first().is_some_and(|(version, _)| *version != Some(self.map_version))
    }

    /// The most records that a replica has not taken over from another one; not the sum of all. `None` if one has not heard of another
    /// one yet.
    fn lag(&self) -> Option<u64> {
        let replicas = self.nodes.iter().flat_map(|node| items(node, "replicas"));
        let lags =
            replicas.flat_map(|replica| items(replica, "peers")).map(|peer| peer["lag"].as_u64());
        lags.collect::<Option<Vec<u64>>>().map(|lags| lags.into_iter().max().unwrap_or(0))
    }

    fn all_missing(&self) -> Missing {
        self.missing.iter().copied().fold(Missing::default(), Missing::plus)
    }

    /// What is not as it should be.
    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for node in self.unreachable() {
            wrong.push(format!("node {node} cannot be reached"));
        }
        let missing = self.all_missing();
        if missing != Missing::default() {
            wrong.push(format!("under-replicated: {}", missing.shown()));
        }
        if !self.unknown.is_empty() {
            wrong.push(format!("nobody knows what is missing: {}", self.unknown.join(", ")));
        }
        wrong.extend(self.not_whole.iter().cloned());
        if self.lag() != Some(0) && self.unreachable().is_empty() {
            wrong.push("a replica has not taken over all that another one has".to_owned());
        }
        if self.other_maps() {
            wrong.push("the nodes and this command do not have the same map.toml".to_owned());
        }
        wrong
    }

    fn json(&self) -> Value {
        let missing = self.all_missing();
        let nodes = self.nodes.iter().zip(&self.missing).map(|(node, missing)| {
            let mut node = node.clone();
            node["under_replicated_blobs"] = missing.blobs.into();
            node["under_replicated_bytes"] = missing.bytes.into();
            node
        });
        json!({
            "map_version": self.map_version,
            "whole": self.wrong().is_empty(),
            "wrong": self.wrong(),
            "lag": self.lag(),
            "under_replicated_blobs": missing.blobs,
            "under_replicated_bytes": missing.bytes,
            "under_replicated_more": missing.more,
            "unreachable": self.unreachable(),
            "nodes": nodes.collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> Result<String, Failed> {
        let mut out = String::new();
        writeln!(
            out,
            "{:<8}  {:<21}  {:<14}  {:>8}  {:<24}  takes for down",
            "node", "address", "replicas whole", "lag", "missing there"
        )?;
        for (node, missing) in self.nodes.iter().zip(&self.missing) {
            let (name, address) = (text(node, "node"), text(node, "address"));
            let missing =
                if *missing == Missing::default() { "-".to_owned() } else { missing.shown() };
            if node["reachable"] == false {
                writeln!(out, "{name:<8}  {address:<21}  {:<14}  {:>8}  {missing:<24}", "-", "-")?;
                writeln!(out, "          cannot be reached: {}", text(node, "reason"))?;
                continue;
            }
            let replicas = items(node, "replicas");
            let whole = replicas.iter().filter(|replica| why_not_whole(replica).is_none()).count();
            let whole = format!("{whole} of {}", replicas.len());
            let peers = replicas.iter().flat_map(|replica| items(replica, "peers"));
            let lags: Option<Vec<u64>> = peers.map(|peer| peer["lag"].as_u64()).collect();
            let lag =
                lags.map_or("?".to_owned(), |lags| lags.into_iter().max().unwrap_or(0).to_string());
            let down: Vec<&str> = items(node, "down").iter().filter_map(Value::as_str).collect();
            let down = if down.is_empty() { "nobody".to_owned() } else { down.join(", ") };
            writeln!(
                out,
                "{name:<8}  {address:<21}  {whole:<14}  {lag:>8}  {missing:<24}  {down}"
            )?;
            for link in items(node, "links") {
                if let Some(error) = link["error"].as_str() {
                    writeln!(out, "          {}: {error}", text(link, "node"))?;
                }
            }
        }
        writeln!(out, "under-replicated: {}", self.all_missing().shown())?;
        Ok(out)
    }
}

/// Why a replica may not have all, or does not take what comes, by its own word.
fn why_not_whole(replica: &Value) -> Option<String> {
    if let Some(failure) = replica["failure"].as_str() {
        return Some(format!(
            "takes no writes since one failed, until the node is started again: {failure}"
        ));
    }
    if let Some(reason) = replica["not_loaded"].as_str() {
        return Some(format!("can only be read until this can be written: {reason}"));
    }
    let comparing = items(replica, "peers").iter().any(|peer| peer["comparing"] == true);
    let damaged = replica["damaged"].as_u64().unwrap_or(0);
    let reasons = [
        (replica["loaded"] == false, "is being opened".to_owned()),
        (
            replica["suspect"] == true,
            "was put back to an older state, and is being compared".to_owned(),
        ),
        (
            comparing || replica["filled"] == false,
            "is being compared with the others as a whole".to_owned(),
        ),
        (damaged > 0, format!("has {} to fetch again", counted(damaged, "damaged blob"))),
    ];
    reasons.into_iter().find_map(|(is, why)| is.then_some(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> ClusterMap {
        let text = "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n[[node]]\nid = \"n2\"\naddress = \"b:1\"\n\
                    [[node]]\nid = \"n3\"\naddress = \"c:1\"\n[[partition]]\nid = 1\nreplicas = [\"n1\", \"n2\", \"n3\"]\n";
        ClusterMap::parse("map.toml", text).unwrap()
    }

    fn node(name: &str, others: [(&str, u64); 2]) -> Value {
        let peers = others.map(|(node, blobs)| {
            let missing = json!({ "blobs": blobs, "bytes": 100 * blobs, "more": false });
            json!({ "node": node, "lag": 0, "comparing": false, "missing": missing })
        });
        let replica = json!({
            "partition": 1, "failure": null, "loaded": true, "filled": true, "suspect": false, "damaged": 0, "peers": peers,
        });
        json!({
            "node": name, "address": "a:1", "reachable": true, "map_version": 1, "map_digest": "x", "down": [], "links": [],
            "replicas": [replica],
        })
    }

    fn three() -> Vec<Value> {
        let (n1, n2, n3) = (("n1", 0), ("n2", 0), ("n3", 0));
        vec![node("n1", [n2, n3]), node("n2", [n1, n3]), node("n3", [n1, n2])]
    }

    #[test]
    fn all_is_well() {
        let status = Status::of(&map(), three());
        assert_eq!(status.wrong(), Vec::<String>::new());
        let json = status.json();
        assert_eq!(
            (&json["whole"], &json["lag"], &json["under_replicated_bytes"]),
            (&true.into(), &0.into(), &0.into())
        );
    }

    #[test]
    fn what_is_missing_is_what_others_say_of_a_node() {
        let away =
            json!({ "node": "n3", "address": "c:1", "reachable": false, "reason": "refused" });
        let nodes = vec![
            node("n1", [("n2", 0), ("n3", 7)]),
            node("n2", [("n1", 0), ("n3", 5)]),
            away.clone(),
        ];
        let status = Status::of(&map(), nodes);
        assert_eq!(status.missing[2], Missing { blobs: 7, bytes: 700, more: false });
        let wrong = status.wrong();
        assert_eq!(wrong, ["node n3 cannot be reached", "under-replicated: 7 blobs (700 B)"]);
        let text = status.text().unwrap();
        assert!(
            text.contains("cannot be reached: refused") && text.contains("7 blobs (700 B)"),
            "{text}"
        );
        let json = status.json();
        assert_eq!(json["unreachable"], json!(["n3"]));
        assert_eq!(json["nodes"][2]["under_replicated_blobs"], 7);
        let nobody = ["n1", "n2", "n3"]
            .map(|name| json!({ "node": name, "reachable": false, "reason": "x" }));
        let wrong = Status::of(&map(), nobody.to_vec()).wrong().join("; ");
        assert!(wrong.contains("nobody knows what is missing: partition 1 on n1"), "{wrong}");
    }

    #[test]
    fn each_reason_counts() {
        let with = |change: &dyn Fn(&mut Value)| {
            let mut nodes = three();
            change(&mut nodes[1]);
            let wrong = Status::of(&map(), nodes).wrong();
            assert_eq!(wrong.len(), 1, "{wrong:?}");
            wrong[0].clone()
        };
        let replica = |key: &'static str, value: Value| {
            with(&move |node| node["replicas"][0][key] = value.clone())
        };
        assert!(
            replica("failure", "I/O error".into()).contains("partition 1 on n2 takes no writes")
        );
        assert!(replica("loaded", false.into()).contains("is being opened"));
        let not_loaded = replica("not_loaded", "1.tokens: No space left on device".into());
        assert!(not_loaded.contains("can only be read until this can be written: 1.tokens: No"));
        assert!(replica("filled", false.into()).contains("compared with the others"));
        assert!(replica("suspect", true.into()).contains("older state"));
        assert!(replica("damaged", 3.into()).contains("3 damaged blobs"));
        let peer = |key: &'static str, value: Value| {
            with(&move |node| node["replicas"][0]["peers"][0][key] = value.clone())
        };
        assert!(peer("lag", 4.into()).contains("has not taken over"));
        assert!(peer("lag", Value::Null).contains("has not taken over"));
        assert!(peer("comparing", true.into()).contains("compared with the others"));
        assert!(with(&|node| node["map_version"] = 2.into()).contains("same map.toml"));
        assert!(with(&|node| node["map_digest"] = "y".into()).contains("same map.toml"));
    }
}
