//! How publishing goes.

use afterbay_edge_mqtt::{BrokerLink, PublisherStatus};
use serde_json::{Value as Json, json};

/// How it goes with rows on the site's own broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishStatus {
    /// The broker. Its numbers are since this process started.
    pub publisher: PublisherStatus,
    /// Rows that are committed, and that the broker has not acknowledged.
    pub waiting: u64,
    /// Bytes of the files that have them.
    pub bytes: u64,
    /// How many there may be.
    pub bytes_max: u64,
    /// Rows that were dropped, at most, since the data folder was made: the broker was away or slow for too long, or the disk did
    /// not take them.
    pub dropped: u64,
    /// What the disk did not do.
    pub error: Option<String>,
}

impl PublishStatus {
    /// For Prometheus: names, kinds and values.
    pub(crate) fn values(&self) -> [(&'static str, &'static str, String); 10] {
        let publisher = &self.publisher;
        let up = publisher.link == BrokerLink::Up;
        let silent = publisher.silent_since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        [
            ("publish_up", "gauge", u8::from(up).to_string()),
            ("publish_connections_total", "counter", publisher.connections.to_string()),
            ("publish_rows_total", "counter", publisher.published.to_string()),
            ("publish_rows_sent_again_total", "counter", publisher.again.to_string()),
            ("publish_refused_rows_total", "counter", publisher.refused.to_string()),
            ("publish_dropped_rows_total", "counter", self.dropped.to_string()),
            ("publish_waiting_rows", "gauge", self.waiting.to_string()),
            ("publish_bytes", "gauge", self.bytes.to_string()),
            ("publish_bytes_max", "gauge", self.bytes_max.to_string()),
            ("publish_silent_seconds", "gauge", silent.to_string()),
        ]
    }

    pub(crate) fn to_json(&self) -> Json {
        let publisher = &self.publisher;
        let (up, why) = match &publisher.link {
            BrokerLink::Up => (true, None),
            BrokerLink::Down(why) => (false, Some(why)),
        };
        json!({
            "broker": publisher.broker, "topic": publisher.topic, "brokerUp": up,
            "brokerError": why, "connections": publisher.connections,
            "rows": publisher.published, "sentAgain": publisher.again,
            "refusedRows": publisher.refused, "lastRefusedRow": publisher.last_refused,
            "silentSeconds": publisher.silent_since.map(|since| since.elapsed().as_secs_f64()),
            "waitingRows": self.waiting, "bytes": self.bytes, "bytesMax": self.bytes_max,
            "droppedRows": self.dropped, "error": self.error
        })
    }
}
