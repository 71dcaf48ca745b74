//! How an agent is.

use std::time::{Duration, Instant};

use afterbay_edge_mqtt::{BrokerLink, MqttStatus};
use afterbay_edge_outbox::Age;
use serde_json::{Value as Json, json};

use crate::publish::PublishStatus;

/// Whether there is a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkStatus {
    /// It is there.
    Up,
    /// It is not, and why.
    Down(String),
}

/// How it goes with messages of the site's broker. Numbers are since this process started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagesStatus {
    /// The broker.
    pub broker: MqttStatus,
    /// Lines of messages that are no rows, or cannot be computed.
    pub bad_rows: u64,
    /// The last one: which, and why.
    pub last_bad_row: Option<String>,
    /// Rows that were here before, by their number.
    pub repeated_rows: u64,
}

impl MessagesStatus {
    fn values(&self) -> [(&'static str, &'static str, String); 10] {
        let broker = &self.broker;
        [
            ("broker_up", "gauge", u8::from(broker.link == BrokerLink::Up).to_string()),
            ("broker_connections_total", "counter", broker.connections.to_string()),
            ("messages_total", "counter", broker.messages.to_string()),
            ("messages_sent_again_total", "counter", broker.again.to_string()),
            ("messages_qos0_total", "counter", broker.unsafe_messages.to_string()),
            ("messages_unacknowledged", "gauge", broker.unacknowledged.to_string()),
            ("messages_of_other_topics_total", "counter", broker.others.to_string()),
            ("broker_not_read", "gauge", u8::from(broker.unread_since.is_some()).to_string()),
            ("bad_rows_total", "counter", self.bad_rows.to_string()),
            ("repeated_rows_total", "counter", self.repeated_rows.to_string()),
        ]
    }

    fn to_json(&self) -> Json {
        let broker = &self.broker;
        let (up, why) = match &broker.link {
            BrokerLink::Up => (true, None),
            BrokerLink::Down(why) => (false, Some(why)),
        };
        json!({
            "broker": broker.broker, "topics": broker.topics, "brokerUp": up, "brokerError": why,
            "connections": broker.connections, "messages": broker.messages,
            "sentAgain": broker.again, "qos0": broker.unsafe_messages,
            "unacknowledged": broker.unacknowledged,
            "otherTopics": broker.others, "lastOtherTopic": broker.last_other,
            "notReadSeconds": broker.unread_since.map(|since| since.elapsed().as_secs_f64()),
            "badRows": self.bad_rows, "lastBadRow": self.last_bad_row,
            "repeatedRows": self.repeated_rows
        })
    }
}

/// How an agent is.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentStatus {
    /// The site.
    pub site: String,
    /// Its stream.
    pub stream: String,
    /// The stream's epoch.
    pub epoch: u64,
    /// Frames that are committed: the number of the next one.
    pub next: u64,
    /// Frames that the gateway has.
    pub acknowledged: u64,
    /// Rows of this epoch: in all frames, merged and waiting.
    pub rows: u64,
    /// The last watermark in frames, ms.
    pub watermark: i64,
    /// Bytes of the input so far.
    pub input_bytes: u64,
    /// Whether the input is at its end.
    pub finished: bool,
    /// Bytes of the outbox.
    pub outbox_bytes: u64,
    /// How many there may be.
    pub outbox_bytes_max: u64,
    /// Of the first of what is not acknowledged, as far as is known.
    pub oldest: Option<Age>,
    /// How often the oldest was dropped.
    pub gaps: u64,
    /// Rows that were dropped, at most.
    pub dropped_rows: u64,
    /// Rows that were merged into others of their key and slice, and so were not sent.
    pub merged_rows: u64,
    /// Rows that are in no frame yet, since others of their key and slice may still be merged into them.
    pub waiting_rows: u64,
    /// Rows that were dropped as late, as Flink drops them, where results are final here.
    pub late_rows: u64,
    /// Why nothing is read just now.
    pub held: Option<String>,
    /// Whether there is a gateway.
    pub link: LinkStatus,
    /// How often there was one.
    pub connections: u64,
    /// How it goes with the site's broker, if the input is one.
    pub messages: Option<MessagesStatus>,
    /// How it goes with rows on the site's own broker, if they are published.
    pub publish: Option<PublishStatus>,
    /// When this process started.
    pub since: Instant,
}

impl AgentStatus {
    /// Since the first of what is not acknowledged was committed, as far as is known.
    pub fn outbox_age(&self) -> Option<Duration> {
        self.oldest.map(|oldest| oldest.elapsed())
    }

    /// As Prometheus reads it.
    pub fn to_prometheus(&self) -> String {
        let age = self.outbox_age().unwrap_or_default().as_secs_f64();
        let values: [(&str, &str, String); 16] = [
            ("epoch", "gauge", self.epoch.to_string()),
            ("next_sequence", "gauge", self.next.to_string()),
            ("acknowledged_sequence", "gauge", self.acknowledged.to_string()),
            ("rows_total", "counter", self.rows.to_string()),
            ("watermark_ms", "gauge", self.watermark.to_string()),
            ("input_bytes_total", "counter", self.input_bytes.to_string()),
            ("outbox_bytes", "gauge", self.outbox_bytes.to_string()),
            ("outbox_bytes_max", "gauge", self.outbox_bytes_max.to_string()),
            ("outbox_age_seconds", "gauge", age.to_string()),
            ("gaps_total", "counter", self.gaps.to_string()),
            ("dropped_rows_total", "counter", self.dropped_rows.to_string()),
            ("merged_rows_total", "counter", self.merged_rows.to_string()),
            ("waiting_rows", "gauge", self.waiting_rows.to_string()),
            ("late_rows_total", "counter", self.late_rows.to_string()),
            ("held", "gauge", u8::from(self.held.is_some()).to_string()),
            ("link_up", "gauge", u8::from(self.link == LinkStatus::Up).to_string()),
        ];
        let (site, stream) = (&self.site, &self.stream);
        let messages = self.messages.as_ref().map(MessagesStatus::values);
        let publish = self.publish.as_ref().map(PublishStatus::values);
        let values = values.iter().chain(messages.iter().flatten()).chain(publish.iter().flatten());
        let lines = values.map(|(name, kind, value)| {
            format!(
                "# TYPE edge_agent_{name} {kind}\nedge_agent_{name}{{site=\"{site}\",stream=\"{stream}\"}} {value}\n"
            )
        });
        lines.collect()
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let (up, why) = match &self.link {
            LinkStatus::Up => (true, None),
            LinkStatus::Down(why) => (false, Some(why)),
        };
        json!({
            "kind": "agent", "site": self.site, "stream": self.stream, "epoch": self.epoch,
            "next": self.next, "acknowledged": self.acknowledged, "rows": self.rows,
            "watermark": self.watermark, "inputBytes": self.input_bytes, "finished": self.finished,
            "outboxBytes": self.outbox_bytes, "outboxBytesMax": self.outbox_bytes_max,
            "outboxAgeSeconds": self.outbox_age().map(|age| age.as_secs_f64()),
            "gaps": self.gaps, "droppedRows": self.dropped_rows, "mergedRows": self.merged_rows,
            "waitingRows": self.waiting_rows, "lateRows": self.late_rows,
            "held": self.held,
            "linkUp": up, "linkError": why, "connections": self.connections,
            "mqtt": self.messages.as_ref().map(MessagesStatus::to_json),
            "publish": self.publish.as_ref().map(PublishStatus::to_json),
            "upSeconds": self.since.elapsed().as_secs_f64()
        })
    }
}
