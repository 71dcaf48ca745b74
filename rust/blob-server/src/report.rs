//! What the `status` request answers.

use std::sync::OnceLock;
use std::time::Instant;

use afterbay_blob_router::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::node::NodeStatus;
use crate::server::Services;
use crate::telemetry;

static STARTED: OnceLock<Instant> = OnceLock::new();

/// What a server has and does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The program's version.
    pub version: String,
    /// Since when it runs.
    pub uptime_s: u64,
    /// Whether it keeps names.
    pub names: bool,
    /// Bytes of memory that no request holds.
    pub memory_free_bytes: u64,
    /// Its disks.
    pub node: NodeStatus,
    /// Requests since the start, by operation.
    pub requests: std::collections::BTreeMap<String, u64>,
    /// Bytes of content that came.
    pub received_bytes: u64,
    /// Bytes of content that were sent.
    pub sent_bytes: u64,
    /// The same of S3.
    #[serde(default)]
    pub s3: S3Report,
    /// How many names there are; `None`: it keeps none, or they cannot be read.
    #[serde(default)]
    pub name_counts: Option<NamesReport>,
}

/// What the S3 endpoint did since the start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct S3Report {
    /// Requests, by operation.
    pub requests: std::collections::BTreeMap<String, u64>,
    /// Bytes of bodies that came.
    pub received_bytes: u64,
    /// Bytes of bodies that were sent.
    pub sent_bytes: u64,
}

/// How many names there are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NamesReport {
    /// Buckets.
    pub buckets: u64,
    /// Objects.
    pub objects: u64,
    /// Uploads that are neither complete nor aborted.
    pub uploads: u64,
    /// Keys, with the root key.
    pub keys: u64,
    /// Ids of blobs that are reserved for what comes next.
    pub reserved: u64,
    /// Blobs, and uploads as a whole, that wait to be deleted.
    pub garbage: u64,
    /// Why nothing can be changed, if that is so.
    pub refuses_changes: Option<String>,
}

/// From now on, the server runs.
pub(crate) fn start_clock() {
    STARTED.get_or_init(Instant::now);
}

impl Report {
    pub(crate) async fn of(services: &Services) -> Result<Vec<u8>> {
        let counters = telemetry::counters();
        let name_counts = match &services.names {
            Some(names) => names.report().await.ok(),
            None => None,
        };
        let report = Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: STARTED.get_or_init(Instant::now).elapsed().as_secs(),
            names: services.names.is_some(),
            memory_free_bytes: services.router.memory_free_bytes(),
            node: services.node.status().await?,
            requests: counters.requests,
            received_bytes: counters.received_bytes,
            sent_bytes: counters.sent_bytes,
            s3: counters.s3,
            name_counts,
        };
        serde_json::to_vec(&report).map_err(|e| Error::Unavailable {
            place: "server".to_owned(),
            reason: format!("cannot report: {e}"),
        })
    }
}
