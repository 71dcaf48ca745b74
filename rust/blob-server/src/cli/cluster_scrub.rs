//! `scrub --cluster`: all nodes of a map at the same time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::Path;
use std::sync::Arc;

use afterbay_blob_node::{ClusterMap, Membership, NodeId, ScrubCommand, scrub_of};
use afterbay_blob_store::PartitionId;
use serde_json::{Value, json};

use super::client::Usage;
use super::scrub::{PERIOD, note_running, text_of, verdict};
use super::values::{counted, show_bytes};
use super::{Failed, cluster, print, print_json};
use crate::node::{ScrubReport, ScrubState};

/// A node that does not answer so often in a row is given up.
const SILENT_MAX: u32 = 20;

/// What is shown, and when the command ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) json: bool,
    pub(super) quiet: bool,
    pub(super) waits: bool,
}

/// How far a node is, or why nobody knows.
type Said = Result<ScrubReport, String>;

/// The nodes that are asked.
#[derive(Debug)]
struct Nodes {
    own: Membership,
    map: Arc<ClusterMap>,
    names: Vec<NodeId>,
}

impl Nodes {
    /// Asks all of these at the same time.
    async fn ask(
        &self,
        names: &[NodeId],
        command: &ScrubCommand,
    ) -> Result<BTreeMap<NodeId, Said>, Failed> {
        let mut asked = Vec::new();
        for name in names {
            let address = self.map.nodes.get(name).cloned().unwrap_or_default();
            let (own, to, command) = (self.own.clone(), name.clone(), command.clone());
            asked.push(tokio::spawn(async move {
                let said = scrub_of(&own, &to, &address, &command).await;
                (to, said.unwrap_or_else(|error| Err(error.to_string())))
            }));
        }
        let mut said = BTreeMap::new();
        for answer in asked {
            said.extend([answer.await?]);
        }
        Ok(said)
    }
}

pub(super) async fn run(map_file: &Path, command: &ScrubCommand, how: How) -> Result<(), Failed> {
    let (map, key) = cluster::read(map_file)?;
    let names = names(&map, command, map_file)?;
    let nodes = Nodes { own: Membership::observer(map.clone(), key), map, names };
    let mut said = nodes.ask(&nodes.names, command).await?;
    if !how.quiet {
        note_joined(&said);
    }
    if how.waits && *command != ScrubCommand::Status {
        watch(&nodes, &mut said, how).await?;
    }
    if how.json {
        print_json(&json_of(&said))?;
    } else {
        print(&text(&said)?)?;
    }
    let wrong = match command {
        ScrubCommand::Stop => not_reached(&said),
        _ => wrong(&said),
    };
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
}

/// What runs already goes on at its own rate.
fn note_joined(said: &BTreeMap<NodeId, Said>) {
    for (name, said) in said {
        if let Ok(report) = said
            && report.joined
        {
            note_running(&format!("node {name}: "), report);
        }
    }
}

/// Who is asked: of one partition, those that have it.
fn names(map: &ClusterMap, command: &ScrubCommand, map_file: &Path) -> Result<Vec<NodeId>, Failed> {
    let ScrubCommand::Start { partition: Some(partition), .. } = command else {
        return Ok(map.nodes.keys().cloned().collect());
    };
    match map.replicas(PartitionId(*partition)) {
        [] => {
            let text =
                format!("--partition {partition}: {} has none of that number", map_file.display());
            Err(Usage(text).into())
        }
        replicas => Ok(replicas.to_vec()),
    }
}

/// Waits until none of them is at it any more.
async fn watch(nodes: &Nodes, said: &mut BTreeMap<NodeId, Said>, how: How) -> Result<(), Failed> {
    let began: BTreeMap<NodeId, u64> = said
        .iter()
        .filter_map(|(name, said)| Some((name.clone(), said.as_ref().ok()?.began_ms)))
        .collect();
    let line = !how.quiet && std::io::stderr().is_terminal();
    let mut silent: BTreeMap<NodeId, u32> = BTreeMap::new();
    loop {
        let running = |said: &Said| said.as_ref().is_ok_and(ScrubReport::is_running);
        let names: Vec<NodeId> =
            said.iter().filter(|(_, said)| running(said)).map(|(name, _)| name.clone()).collect();
        if line {
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", progress(said, names.len()));
        }
        if names.is_empty() {
            break;
        }
        tokio::time::sleep(PERIOD).await;
        for (name, now) in nodes.ask(&names, &ScrubCommand::Status).await? {
            let silent = silent.entry(name.clone()).or_default();
            match now {
                Ok(report) if Some(&report.began_ms) != began.get(&name) => {
                    let text = "it was started again, and what it had verified does not count; start another scrub";
                    said.insert(name, Err(text.to_owned()));
                }
                Ok(report) => {
                    *silent = 0;
                    said.insert(name, Ok(report));
                }
                Err(reason) => {
                    *silent += 1;
                    if *silent >= SILENT_MAX {
                        said.insert(name, Err(reason));
                    }
                }
            }
        }
    }
    if line {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    Ok(())
}

/// How far all of them are together.
fn progress(said: &BTreeMap<NodeId, Said>, running: usize) -> String {
    let reports = || said.values().filter_map(|said| said.as_ref().ok());
    let repairs = || reports().filter_map(|report| report.repair.as_ref());
    let verified: u64 = reports().map(|report| report.verified_bytes).sum();
    let total: u64 = reports().map(|report| report.total_bytes.max(report.verified_bytes)).sum();
    let percent = u128::from(verified) * 100 / u128::from(total.max(1));
    format!(
        "scrub {percent:3} %  {} of {}  {} still at it  {} damaged, {} repaired",
        show_bytes(verified),
        show_bytes(total),
        counted(running as u64, "node"),
        repairs().map(|repair| repair.damaged_blobs + repair.open_blobs).sum::<u64>(),
        repairs().map(|repair| repair.repaired_blobs).sum::<u64>(),
    )
}

/// What is not whole, or not known to be.
fn wrong(said: &BTreeMap<NodeId, Said>) -> Vec<String> {
    let of = |(name, said): (&NodeId, &Said)| match said {
        Ok(report) => verdict(report).map(|reason| format!("node {name}: {reason}")),
        Err(reason) => Some(format!("node {name} could not be scrubbed: {reason}")),
    };
    said.iter().filter_map(of).collect()
}

/// The same for who stops it: that not all was verified is known then, but not that a node goes on.
fn not_reached(said: &BTreeMap<NodeId, Said>) -> Vec<String> {
    let of = |(name, said): (&NodeId, &Said)| {
        let reason = said.as_ref().err()?;
        Some(format!("node {name} was not told to stop: {reason}"))
    };
    said.iter().filter_map(of).collect()
}

/// Whether all was read, and nothing that counts is damaged any more.
fn is_whole(report: &ScrubReport) -> bool {
    report.state == ScrubState::Completed && verdict(report).is_none()
}

fn json_of(said: &BTreeMap<NodeId, Said>) -> Value {
    let node = |(name, said): (&NodeId, &Said)| match said {
        Ok(report) => {
            json!({ "node": name.as_str(), "whole": is_whole(report), "report": report })
        }
        Err(reason) => json!({ "node": name.as_str(), "whole": false, "reason": reason }),
    };
    let whole = said.values().all(|said| said.as_ref().is_ok_and(is_whole));
    json!({
        "whole": whole,
        "wrong": wrong(said),
        "nodes": said.iter().map(node).collect::<Vec<_>>(),
    })
}

fn text(said: &BTreeMap<NodeId, Said>) -> Result<String, Failed> {
    let mut text = String::new();
    for (name, said) in said {
        writeln!(text, "node {name}")?;
        match said {
            Ok(report) if report.state == ScrubState::Never => {
                writeln!(text, "  no scrub was asked for since its start")?;
            }
            Ok(report) => {
                for line in text_of(report)?.lines() {
                    let indent = if line.is_empty() { "" } else { "  " };
                    writeln!(text, "{indent}{line}")?;
                }
            }
            Err(reason) => writeln!(text, "  could not be scrubbed: {reason}")?,
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use crate::node::{RepairReport, ScrubFinding};

    use super::*;

    fn said(left_blobs: u64) -> BTreeMap<NodeId, Said> {
        let repair = RepairReport {
            damaged_blobs: 5,
            repaired_blobs: 5 - left_blobs,
            left_blobs,
            ..RepairReport::default()
        };
        let report = ScrubReport {
            state: ScrubState::Completed,
            verified_bytes: 3 << 20,
            total_bytes: 4 << 20,
            repair: Some(repair),
            ..ScrubReport::default()
        };
        [("n1", Ok(report.clone())), ("n2", Ok(report))].map(|(n, s)| (NodeId::new(n), s)).into()
    }

    #[test]
    fn all_nodes_have_to_be_whole() {
        assert_eq!(json_of(&said(0))["whole"], true);
        let mut before_its_end = said(0);
        before_its_end.insert(NodeId::new("n3"), Ok(ScrubReport::default()));
        assert_eq!(
            (&json_of(&before_its_end)["whole"], wrong(&before_its_end)),
            (&false.into(), vec![])
        );
        let left = json_of(&said(1));
        assert_eq!((&left["whole"], &left["nodes"][1]["whole"]), (&false.into(), &false.into()));
        assert!(
            left["wrong"][0].as_str().unwrap().starts_with("node n1: 1 damaged blob"),
            "{left}"
        );
        let mut away = said(0);
        away.insert(NodeId::new("n3"), Err("refused".to_owned()));
        assert_eq!(wrong(&away), ["node n3 could not be scrubbed: refused"]);
        assert!(text(&away).unwrap().contains("node n3\n  could not be scrubbed: refused"));
        assert_eq!(not_reached(&away), ["node n3 was not told to stop: refused"]);
    }

    #[test]
    fn findings_are_a_table_behind_an_empty_line() {
        let finding = ScrubFinding {
            file: "/data/1.log".to_owned(),
            offset: 7,
            length: 9,
            flaw: "damaged".to_owned(),
            harm: "live".to_owned(),
            what: "body: checksum mismatch".to_owned(),
            blob: None,
        };
        let mut said = said(0);
        if let Some(Ok(report)) = said.get_mut(&NodeId::new("n1")) {
            report.findings.push(finding);
        }
        let text = text(&said).unwrap();
        assert!(text.contains("\n\n  flaw "), "{text}");
        assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
    }

    #[test]
    fn how_far_they_are_together() {
        let line = progress(&said(1), 2);
        assert_eq!(
            line,
            "scrub  75 %  6.0 MiB of 8.0 MiB  2 nodes still at it  10 damaged, 8 repaired"
        );
    }

    #[test]
    fn of_one_partition_those_are_asked_that_have_it() {
        let text = "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n[[node]]\nid = \"n2\"\naddress = \"b:1\"\n\
                    [[partition]]\nid = 1\nreplicas = [\"n2\"]\n";
        let map = ClusterMap::parse("map.toml", text).unwrap();
        let names = |partition| {
            names(&map, &ScrubCommand::Start { bytes_per_s: 1, partition }, Path::new("map.toml"))
        };
        assert_eq!(names(None).unwrap().len(), 2);
        assert_eq!(names(Some(1)).unwrap(), [NodeId::new("n2")]);
        assert!(names(Some(2)).unwrap_err().to_string().contains("has none of that number"));
    }
}
