//! How a gateway is.

use std::fmt;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

/// A site of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteStatus {
    /// Its name.
    pub site: String,
    /// Where its rows go.
    pub partition: u32,
    /// Whether it is connected.
    pub connected: bool,
    /// Whether it holds nobody up, since it has been away for too long.
    pub excluded: bool,
    /// Of its agent.
    pub epoch: u64,
    /// Frames of the epoch that are committed.
    pub next: u64,
    /// ms.
    pub watermark: i64,
    /// Rows that it has sent.
    pub rows: u64,
    /// Those of them that were late.
    pub late: u64,
    /// Those of them that were too large for the output.
    pub large: u64,
    /// How often it has dropped frames.
    pub gaps: u64,
    /// Rows in them, at most.
    pub lost_rows: u64,
}

/// A stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamStatus {
    /// Its name.
    pub stream: String,
    /// Partitions and their watermarks, ms.
    pub partitions: Vec<(u32, i64)>,
    /// Its sites.
    pub sites: Vec<SiteStatus>,
    /// Why the output takes none of its rows, if it does not: its sites wait, and others go on.
    pub held: Option<String>,
}

/// A site that was sent away: the key with which it was connected has gone, or there is another one in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokedSite {
    /// Its name.
    pub site: String,
    /// The name of that key, which is no secret.
    pub key: String,
    /// Where that key was.
    pub file: PathBuf,
    /// Whether there is another key now; else there is none.
    pub replaced: bool,
    /// When that was noticed: ms since 1970.
    pub since_ms: u64,
}

impl fmt::Display for RevokedSite {
    /// For who looks after the gateway.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { site, key, file, .. } = self;
        let file = file.display();
        if self.replaced {
            write!(
                f,
                "{file} has another key now: site {site} was sent away, which was connected with key {key}; give the site this \
                 file as --key-file, and start its agent again"
            )
        } else {
            write!(
                f,
                "{file} has gone: site {site} was sent away, which was connected with key {key}; if it is to come again, put the \
                 file back, and start its agent again"
            )
        }
    }
}

impl RevokedSite {
    /// For the site: it learns nothing of the gateway's folders.
    pub(crate) fn to_site(&self) -> String {
        let site = &self.site;
        if self.replaced {
            format!(
                "site {site} has another key now: {site}.key in the gateway's folder of keys was replaced; give the site that file \
                 as --key-file, and start its agent again"
            )
        } else {
            format!(
                "site {site} has no key any more: {site}.key has gone from the gateway's folder of keys; if the site is to come \
                 again, put its key back there, and start its agent again"
            )
        }
    }
}

/// How a gateway is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GatewayStatus {
    /// Its streams.
    pub streams: Vec<StreamStatus>,
    /// Commits so far.
    pub commits: u64,
    /// Connections now.
    pub connections: usize,
    /// Connections that had to go before they had said who they are, since there were so many of them.
    pub handshakes_dropped: u64,
    /// Why the folder of keys is away, or the key of a site could not be read when it came last; none as soon as it can be.
    pub key_error: Option<String>,
    /// Sites that were sent away since their keys have gone or changed, until they come with another one.
    pub revoked: Vec<RevokedSite>,
    /// Why the output does not take anything.
    pub error: Option<String>,
}

impl GatewayStatus {
    /// As Prometheus reads it.
    pub fn to_prometheus(&self) -> String {
        let mut text = format!(
            "# TYPE edge_gateway_commits_total counter\nedge_gateway_commits_total {}\n\
             # TYPE edge_gateway_connections gauge\nedge_gateway_connections {}\n\
             # TYPE edge_gateway_handshakes_dropped_total counter\nedge_gateway_handshakes_dropped_total {}\n\
             # TYPE edge_gateway_keys_up gauge\nedge_gateway_keys_up {}\n\
             # TYPE edge_gateway_sites_revoked gauge\nedge_gateway_sites_revoked {}\n\
             # TYPE edge_gateway_output_up gauge\nedge_gateway_output_up {}\n",
            self.commits,
            self.connections,
            self.handshakes_dropped,
            u8::from(self.key_error.is_none()),
            self.revoked.len(),
            u8::from(self.error.is_none())
        );
        type Value = fn(&SiteStatus) -> i64;
        let of_sites: [(&str, &str, Value); 10] = [
            ("connected", "gauge", |site| i64::from(site.connected)),
            ("excluded", "gauge", |site| i64::from(site.excluded)),
            ("epoch", "gauge", |site| site.epoch.cast_signed()),
            ("next_sequence", "gauge", |site| site.next.cast_signed()),
            ("watermark_ms", "gauge", |site| site.watermark),
            ("rows_total", "counter", |site| site.rows.cast_signed()),
            ("late_rows_total", "counter", |site| site.late.cast_signed()),
            ("large_rows_total", "counter", |site| site.large.cast_signed()),
            ("gaps_total", "counter", |site| site.gaps.cast_signed()),
            ("lost_rows_total", "counter", |site| site.lost_rows.cast_signed()),
        ];
        // Writing into a string does not fail.
        for (name, kind, value) in of_sites {
            let _ = writeln!(text, "# TYPE edge_gateway_site_{name} {kind}");
            for stream in &self.streams {
                for site in &stream.sites {
                    let _ = writeln!(
                        text,
                        "edge_gateway_site_{name}{{stream=\"{}\",site=\"{}\"}} {}",
                        stream.stream,
                        site.site,
                        value(site)
                    );
                }
            }
        }
        let _ = writeln!(text, "# TYPE edge_gateway_stream_held gauge");
        for stream in &self.streams {
            let (name, held) = (&stream.stream, u8::from(stream.held.is_some()));
            let _ = writeln!(text, "edge_gateway_stream_held{{stream=\"{name}\"}} {held}");
        }
        let _ = writeln!(text, "# TYPE edge_gateway_partition_watermark_ms gauge");
        for stream in &self.streams {
            for (partition, watermark) in &stream.partitions {
                let name = &stream.stream;
                let _ = writeln!(
                    text,
                    "edge_gateway_partition_watermark_ms{{stream=\"{name}\",partition=\"{partition}\"}} {watermark}"
                );
            }
        }
        text
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let site = |site: &SiteStatus| {
            json!({
                "site": site.site, "partition": site.partition, "connected": site.connected,
                "excluded": site.excluded, "epoch": site.epoch, "next": site.next,
                "watermark": site.watermark, "rows": site.rows, "lateRows": site.late,
                "largeRows": site.large,
                "gaps": site.gaps, "lostRows": site.lost_rows
            })
        };
        let stream = |stream: &StreamStatus| {
            let partitions = stream.partitions.iter();
            let partition = |(number, watermark): &(u32, i64)| json!({"partition": number, "watermark": watermark});
            json!({
                "stream": stream.stream,
                "partitions": partitions.map(partition).collect::<Vec<_>>(),
                "sites": stream.sites.iter().map(site).collect::<Vec<_>>(),
                "held": stream.held
            })
        };
        let revoked = |one: &RevokedSite| {
            json!({
                "site": one.site, "key": one.key, "file": one.file.display().to_string(),
                "replaced": one.replaced, "sinceMs": one.since_ms, "text": one.to_string()
            })
        };
        json!({
            "kind": "gateway", "commits": self.commits, "connections": self.connections,
            "handshakesDropped": self.handshakes_dropped, "keyError": self.key_error,
            "revoked": self.revoked.iter().map(revoked).collect::<Vec<_>>(),
            "error": self.error,
            "streams": self.streams.iter().map(stream).collect::<Vec<_>>()
        })
    }
}
