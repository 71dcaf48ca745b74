//! Metrics and logs.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use serde_json::Value;
use tracing_subscriber::EnvFilter;

use crate::node::{NodeStatus, PartitionState};
use crate::report::{NamesReport, S3Report};

/// Upper bounds of the classes of latencies, in seconds.
const SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

static METRICS: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What is logged unless `RUST_LOG` says something else. To s3s, every request that is refused is an error, also of those without a key;
/// those that matter are logged by the endpoint.
const LOGGED: &str = "info,s3s=off";

/// Begins to write logs to the standard error; `RUST_LOG` chooses which, `info` being the default.
pub fn start_logs(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LOGGED));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // An error says that there are logs already.
    let _ = match format {
        LogFormat::Text => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr());
            logs.with_ansi(ansi).try_init()
        }
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
    };
}

/// Begins to count. One recorder for the process.
pub fn start_metrics() {
    METRICS.get_or_init(|| {
        let seconds = Matcher::Suffix("_seconds".to_owned());
        let builder = PrometheusBuilder::new().set_buckets_for_metric(seconds, &SECONDS);
        let installed = builder.and_then(|builder| builder.install_recorder());
        match installed {
            Ok(handle) => {
                describe();
                Some(handle)
            }
            Err(error) => {
                tracing::warn!(%error, "no metrics");
                None
            }
        }
    });
}

fn describe() {
    describe_counter!(
        "afterbay_blob_requests_total",
        "Requests by operation and result (ok, absent, refused, ...)"
    );
    describe_histogram!(
        "afterbay_blob_request_seconds",
        Unit::Seconds,
        "From the request's head to the end of its answer"
    );
    describe_counter!("afterbay_blob_received_bytes_total", "Bytes of content that came");
    describe_counter!("afterbay_blob_sent_bytes_total", "Bytes of content that were sent");
    describe_gauge!("afterbay_blob_connections", "Connections of the native protocol");
    describe_counter!(
        "afterbay_blob_connections_refused_total",
        "Connections beyond the limit, which were closed"
    );
    describe_counter!("afterbay_blob_unauthorized_total", "Clients with a wrong key or secret");
    describe_s3_and_names();
    describe_cluster();
    describe_counter!(
        "afterbay_blob_panics_total",
        "Panics that were survived, by part: bugs, of which the log says more"
    );
    describe_counter!("afterbay_blob_compactions_total", "Runs of segments that were compacted");
    describe_counter!(
        "afterbay_blob_compaction_freed_bytes_total",
        "Bytes that compactions gave back"
    );
    describe_counter!("afterbay_blob_scrubbed_bytes_total", "Bytes that scrubs read, on a disk");
    describe_gauge!(
        "afterbay_blob_scrub_findings",
        "Places that the scrub which runs, or the last one, found not to be as they were written, by disk, flaw and harm"
    );
    describe_gauge!(
        "afterbay_blob_scrub_last_completed_seconds",
        Unit::Seconds,
        "When a scrub last verified everything, in seconds since 1970"
    );
    describe_gauge!("afterbay_blob_disk_up", "1 if the disk is used, 0 if it is not here");
    describe_gauge!("afterbay_blob_disk_total_bytes", "Bytes of the disk's file system");
    describe_gauge!("afterbay_blob_disk_available_bytes", "Bytes of it that can be written");
    describe_gauge!("afterbay_blob_disk_room_bytes", "Bytes that new blobs can take");
    describe_gauge!("afterbay_blob_partitions", "Partitions by disk and state");
    describe_gauge!("afterbay_blob_used_bytes", "Bytes in the partitions of a disk");
    describe_gauge!("afterbay_blob_records", "Records in the partitions of a disk");
    describe_gauge!("afterbay_blob_index_memory_bytes", "Memory for the indexes of a disk");
    describe_counter!("afterbay_blob_writes_total", "Writes to the partitions of a disk");
    describe_counter!(
        "afterbay_blob_write_groups_total",
        "Groups of writes that were synced together, on a disk"
    );
}

fn describe_cluster() {
    describe_counter!(
        "afterbay_blob_cluster_scrubbed_bytes_total",
        "Bytes that scrubs of this node's replicas read since its start"
    );
    describe_gauge!("afterbay_blob_cluster_node_down", "1 if this node takes that one for down");
    describe_gauge!("afterbay_blob_cluster_node_connected", "1 if this node can send to that one");
    describe_gauge!(
        "afterbay_blob_cluster_lag_records",
        "Records of that node that this one had not taken over when it last heard of it; NaN if it has not heard of it since its start"
    );
    describe_gauge!(
        "afterbay_blob_cluster_missing_blobs",
        "Blobs of this node that that one is not known to have"
    );
    describe_gauge!("afterbay_blob_cluster_missing_bytes", "Bytes of these blobs");
    describe_gauge!(
        "afterbay_blob_cluster_scrub_verified_seconds",
        Unit::Seconds,
        "When the replica of this node was verified as a whole that was verified first, in seconds since 1970; NaN: one never was"
    );
    describe_gauge!(
        "afterbay_blob_cluster_scrub_blobs",
        "Blobs that the last scrub of each replica of this node found damaged, by what became of them"
    );
    describe_gauge!(
        "afterbay_blob_cluster_replicas",
        "Replicas of this node by whether they have compared themselves with the others"
    );
}

fn describe_s3_and_names() {
    describe_counter!(
        "afterbay_blob_s3_requests_total",
        "S3 requests by operation and result (ok, absent, refused, ...)"
    );
    describe_histogram!(
        "afterbay_blob_s3_request_seconds",
        Unit::Seconds,
        "From an S3 request's head to the end of its answer"
    );
    describe_counter!("afterbay_blob_s3_received_bytes_total", "Bytes of S3 bodies that came");
    describe_counter!("afterbay_blob_s3_sent_bytes_total", "Bytes of S3 bodies that were sent");
    describe_gauge!("afterbay_blob_s3_connections", "Connections of the S3 endpoint");
    describe_counter!(
        "afterbay_blob_s3_connections_refused_total",
        "Connections of S3 that failed to begin TLS, and requests beyond the limit of connections"
    );
    describe_counter!(
        "afterbay_blob_s3_cut_off_total",
        "S3 clients that took nothing, sent nothing or asked for nothing for too long, or were too many without a key, by reason"
    );
    describe_counter!(
        "afterbay_blob_s3_unauthorized_total",
        "S3 requests without a key, or with a wrong key or signature"
    );
    describe_gauge!("afterbay_blob_names", "Buckets, objects, uploads, keys, by kind");
    describe_gauge!("afterbay_blob_names_reserved", "Blobs that are reserved and not named");
    describe_gauge!("afterbay_blob_names_garbage", "Blobs and uploads that wait to be deleted");
    describe_gauge!("afterbay_blob_names_writable", "1 if names can be changed, else 0");
    describe_counter!("afterbay_blob_names_changes_total", "Changes of names");
    describe_counter!("afterbay_blob_names_commits_total", "Commits, each of some changes");
    describe_counter!(
        "afterbay_blob_names_uploads_aborted_total",
        "Uploads in parts that nobody finished, and that were aborted"
    );
    describe_counter!(
        "afterbay_blob_lifecycle_expired_total",
        "Objects that were deleted because they had expired by the life cycle of their bucket"
    );
    describe_counter!("afterbay_blob_names_collected_total", "Blobs that the collector deleted");
    describe_counter!(
        "afterbay_blob_names_collect_failures_total",
        "Blobs that the collector could not delete yet"
    );
}

fn set_names(names: &NamesReport) {
    for (kind, count) in [
        ("buckets", names.buckets),
        ("objects", names.objects),
        ("uploads", names.uploads),
        ("keys", names.keys),
    ] {
        gauge!("afterbay_blob_names", "kind" => kind).set(count as f64);
    }
    gauge!("afterbay_blob_names_reserved").set(names.reserved as f64);
    gauge!("afterbay_blob_names_garbage").set(names.garbage as f64);
    let writable = names.refuses_changes.is_none();
    gauge!("afterbay_blob_names_writable").set(f64::from(u8::from(writable)));
}

/// What a node of a cluster says of the others.
fn set_cluster(report: &Value) {
    let items = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let set = |name: &'static str, node: &str, value: u64| {
        gauge!(name, "node" => node.to_owned()).set(value as f64);
    };
    let replicas = items(report, "replicas");
    for link in items(report, "links") {
        let node = text(&link, "node");
        set("afterbay_blob_cluster_node_down", &node, (link["down"] == true).into());
        set("afterbay_blob_cluster_node_connected", &node, (link["connected"] == true).into());
        let peers: Vec<Value> = replicas
            .iter()
            .flat_map(|replica| items(replica, "peers"))
            .filter(|peer| text(peer, "node") == node)
            .collect();
        // What one of them does not know is not 0.
        let set_sum = |name: &'static str, of: &dyn Fn(&Value) -> Option<u64>| {
            let sum = peers.iter().map(of).sum::<Option<u64>>();
            gauge!(name, "node" => node.clone()).set(sum.map_or(f64::NAN, |sum| sum as f64));
        };
        set_sum("afterbay_blob_cluster_lag_records", &|peer| peer["lag"].as_u64());
        set_sum("afterbay_blob_cluster_missing_blobs", &|peer| peer["missing"]["blobs"].as_u64());
        set_sum("afterbay_blob_cluster_missing_bytes", &|peer| peer["missing"]["bytes"].as_u64());
    }
    set_scrubs(report, &replicas);
    let filled = replicas.iter().filter(|replica| replica["filled"] == true).count();
    for (state, count) in [("filled", filled), ("not-filled", replicas.len() - filled)] {
        gauge!("afterbay_blob_cluster_replicas", "state" => state).set(count as f64);
    }
}

/// What became of the replicas' verifications.
fn set_scrubs(report: &Value, replicas: &[Value]) {
    let verified: Option<Vec<u64>> =
        replicas.iter().map(|replica| replica["scrub"]["verified_ms"].as_u64()).collect();
    let first = verified.and_then(|verified| verified.into_iter().min());
    gauge!("afterbay_blob_cluster_scrub_verified_seconds")
        .set(first.map_or(f64::NAN, |first_ms| first_ms as f64 / 1000.0));
    for key in ["damaged", "repaired", "left"] {
        let last = replicas.iter().map(|replica| &replica["scrub"]["last"][key]);
        let sum: u64 = last.filter_map(Value::as_u64).sum();
        gauge!("afterbay_blob_cluster_scrub_blobs", "state" => key).set(sum as f64);
    }
    if let Some(bytes) = report["scrub"]["verified_bytes"].as_u64() {
        metrics::counter!("afterbay_blob_cluster_scrubbed_bytes_total").absolute(bytes);
    }
}

/// All metrics in the text format of Prometheus, with those of `status`, `names` and a cluster's node.
pub(crate) fn render(
    status: &NodeStatus,
    names: Option<&NamesReport>,
    cluster: Option<&Value>,
) -> String {
    let Some(Some(handle)) = METRICS.get() else {
        return String::new();
    };
    if let Some(report) = cluster {
        set_cluster(report);
    }
    if let Some(names) = names {
        set_names(names);
    }
    for disk in &status.disks {
        let place = disk.place.clone();
        let set = |name: &'static str, value: u64| {
            gauge!(name, "disk" => place.clone()).set(value as f64);
        };
        set("afterbay_blob_disk_up", disk.absent.is_none().into());
        if disk.absent.is_some() {
            continue;
        }
        set("afterbay_blob_disk_total_bytes", disk.total_bytes);
        set("afterbay_blob_disk_available_bytes", disk.available_bytes);
        set("afterbay_blob_disk_room_bytes", disk.room_bytes);
        let sum =
            |of: fn(&crate::node::PartitionStatus) -> u64| disk.partitions.iter().map(of).sum();
        set("afterbay_blob_used_bytes", sum(|p| p.used_bytes));
        set("afterbay_blob_records", sum(|p| p.records));
        set("afterbay_blob_index_memory_bytes", sum(|p| p.index_memory_bytes));
        let count = |name: &'static str, value: u64| {
            metrics::counter!(name, "disk" => place.clone()).absolute(value);
        };
        count("afterbay_blob_writes_total", sum(|p| p.writes));
        count("afterbay_blob_write_groups_total", sum(|p| p.write_groups));
        for (state, name) in [
            (PartitionState::ReadWrite, "read-write"),
            (PartitionState::ReadOnly, "read-only"),
            (PartitionState::Failed, "failed"),
            (PartitionState::Unavailable, "unavailable"),
        ] {
            let count = disk.partitions.iter().filter(|p| p.state == state).count();
            gauge!("afterbay_blob_partitions", "disk" => place.clone(), "state" => name)
                .set(count as f64);
        }
    }
    handle.render()
}

/// Counters that the `status` request shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) requests: BTreeMap<String, u64>,
    pub(crate) received_bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) s3: S3Report,
}

pub(crate) fn counters() -> Counters {
    match METRICS.get() {
        Some(Some(handle)) => read_counters(&handle.render()),
        _ => Counters::default(),
    }
}

fn read_counters(text: &str) -> Counters {
    let mut counters = Counters::default();
    for line in text.lines() {
        let Some((series, value)) = line.rsplit_once(' ') else {
            continue;
        };
        let Ok(value) = value.parse::<u64>() else {
            continue;
        };
        let operation = || {
            let operation = series.split("operation=\"").nth(1);
            operation.and_then(|rest| rest.split('"').next()).unwrap_or("other").to_owned()
        };
        match series.split('{').next() {
            Some("afterbay_blob_requests_total") => {
                *counters.requests.entry(operation()).or_default() += value;
            }
            Some("afterbay_blob_s3_requests_total") => {
                *counters.s3.requests.entry(operation()).or_default() += value;
            }
            Some("afterbay_blob_s3_received_bytes_total") => counters.s3.received_bytes += value,
            Some("afterbay_blob_s3_sent_bytes_total") => counters.s3.sent_bytes += value,
            Some("afterbay_blob_received_bytes_total") => counters.received_bytes += value,
            Some("afterbay_blob_sent_bytes_total") => counters.sent_bytes += value,
            _ => {}
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_another_node_is_no_number() {
        let peer = |lag: Value, blobs: Value| serde_json::json!({ "node": "n2", "lag": lag, "missing": { "blobs": blobs, "bytes": 7 } });
        let metrics = |peers: [Value; 2]| {
            let recorder = PrometheusBuilder::new().build_recorder();
            let [first, second] =
                peers.map(|peer| serde_json::json!({ "peers": [peer], "filled": true }));
            let report =
                serde_json::json!({ "links": [{ "node": "n2" }], "replicas": [first, second] });
            metrics::with_local_recorder(&recorder, || set_cluster(&report));
            recorder.handle().render()
        };
        let text = metrics([peer(3.into(), 1.into()), peer(4.into(), 1.into())]);
        assert!(text.contains("lag_records{node=\"n2\"} 7\n"), "{text}");
        let text = metrics([peer(3.into(), 1.into()), peer(Value::Null, Value::Null)]);
        assert!(text.contains("lag_records{node=\"n2\"} NaN\n"), "{text}");
        assert!(text.contains("missing_blobs{node=\"n2\"} NaN\n"), "{text}");
        assert!(text.contains("missing_bytes{node=\"n2\"} 14\n"), "{text}");
    }

    #[test]
    fn the_replica_that_was_verified_first_counts() {
        let metrics = |second: Value| {
            let recorder = PrometheusBuilder::new().build_recorder();
            let last = serde_json::json!({ "damaged": 3, "repaired": 2, "left": 1 });
            let first = serde_json::json!({ "scrub": { "verified_ms": 5000, "last": last } });
            let second = serde_json::json!({ "scrub": { "verified_ms": second, "last": null } });
            let report = serde_json::json!({ "scrub": { "verified_bytes": 9 } });
            metrics::with_local_recorder(&recorder, || set_scrubs(&report, &[first, second]));
            recorder.handle().render()
        };
        let text = metrics(4000.into());
        assert!(text.contains("scrub_verified_seconds 4\n"), "{text}");
        assert!(text.contains("scrub_blobs{state=\"left\"} 1\n"), "{text}");
        assert!(text.contains("scrubbed_bytes_total 9\n"), "{text}");
        let text = metrics(Value::Null);
        assert!(text.contains("scrub_verified_seconds NaN\n"), "{text}");
    }

    #[test]
    fn counters_of_a_text() {
        let text = "# TYPE afterbay_blob_requests_total counter\n\
            afterbay_blob_requests_total{operation=\"put\",result=\"ok\"} 3\n\
            afterbay_blob_requests_total{operation=\"put\",result=\"refused\"} 2\n\
            afterbay_blob_requests_total{operation=\"get\",result=\"ok\"} 7\n\
            afterbay_blob_sent_bytes_total 99\n\
            afterbay_blob_s3_requests_total{operation=\"GetObject\",result=\"ok\"} 4\n\
            afterbay_blob_s3_sent_bytes_total 77\n\
            afterbay_blob_other 1.5\n";
        let counters = read_counters(text);
        assert_eq!(counters.requests["put"], 5);
        assert_eq!(counters.requests["get"], 7);
        assert_eq!((counters.sent_bytes, counters.received_bytes), (99, 0));
        assert_eq!((counters.s3.requests["GetObject"], counters.s3.sent_bytes), (4, 77));
    }
}
