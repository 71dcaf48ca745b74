//! Settings of the endpoint.

use std::time::Duration;

/// Settings of the endpoint. The defaults are those of S3 where it has any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Options {
    /// The region that clients are told, and must not contradict.
    pub region: String,
    /// The host name below which buckets can be addressed as `BUCKET.DOMAIN`; `None`: only as paths.
    pub domain: Option<String>,
    /// Whether owners may open buckets and objects to everybody, by the ACLs `public-read`, `public-read-write` and
    /// `authenticated-read`. Else such ACLs are refused, and so is every request without a key.
    pub public_acls: bool,
    /// Connections at once of clients that have proved that they have a key; requests on more are refused.
    pub connections_max: usize,
    /// Connections at once of others, one at least; another one takes the place of the one that is there for longest.
    pub unknown_connections_max: usize,
    /// Bytes of a request's headers.
    pub header_bytes_max: usize,
    /// A connection without a request for so long is closed, if a request with a key was answered on it; else
    /// `stall_timeout` holds.
    pub idle_timeout: Duration,
    /// A client that takes nothing of an answer for so long, or sends nothing of a body, is cut off. So is one that needs longer to
    /// begin TLS, or to send the head of a request before it has proved that it has a key.
    pub stall_timeout: Duration,
    /// Bytes of an object that is put at once, or of a part.
    pub put_bytes_max: u64,
    /// Bytes of a request whose body is XML.
    pub xml_bytes_max: usize,
    /// Bytes of all parts but the last one.
    pub part_bytes_min: u64,
    /// How long requests in work may go on after the shutdown has begun.
    pub shutdown_timeout: Duration,
    /// How often what has expired is looked for.
    pub lifecycle_interval: Duration,
    /// A day of life cycles. A shorter one is for trying rules.
    pub lifecycle_day: Duration,
}

impl S3Options {
    pub(crate) fn lifecycle_day_ms(&self) -> u64 {
        u64::try_from(self.lifecycle_day.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Default for S3Options {
    fn default() -> Self {
        S3Options {
            region: "us-east-1".to_owned(),
            domain: None,
            public_acls: false,
            connections_max: 1024,
            unknown_connections_max: 256,
            header_bytes_max: 64 << 10,
            idle_timeout: Duration::from_secs(300),
            stall_timeout: Duration::from_secs(30),
            put_bytes_max: 5 << 30,
            xml_bytes_max: 8 << 20,
            part_bytes_min: 5 << 20,
            shutdown_timeout: Duration::from_secs(10),
            lifecycle_interval: Duration::from_secs(3600),
            lifecycle_day: Duration::from_secs(24 * 3600),
        }
    }
}
