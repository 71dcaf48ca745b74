//! The blob store's server on one machine, and its command line.
//!
//! ```text
//!   cli: serve, put, get, ...          metrics, health (HTTP)
//!        |                                  |
//!      serve ------------------------- admin, telemetry
//!        |
//!      server: connections of the native protocol, TLS
//!        |                     `- named: blobs by name, another crate's
//!      afterbay-blob-router: chunks, windows
//!        |
//!      node: disks, partitions, threads, compaction; or afterbay-blob-node: a node of a cluster
//! ```
//!
//! The guide is `docs/blob.md`, the protocol `spec/blob-protocol.md`, the reasons ADR 0040.

mod admin;
mod buckets;
mod caller;
pub mod cli;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod keys;
mod named;
mod names;
mod names_file;
pub mod node;
mod report;
mod serve;
mod server;
mod sockets;
mod storage;
mod telemetry;
mod tls;
mod user_keys;

pub use caller::Caller;
pub use keys::{AccessKey, KEY_FILE, KeyError, Keys};
pub use named::{Frontend, Host, NamedBlobs, Started, UserKeys};
pub use names::NamesAndS3;
pub use names_file::open_names;
pub use report::{NamesReport, Report, S3Report};
pub use serve::{Opened, Running, ServeOptions, StartError, start, start_clustered, start_over};
pub use server::{Listener, ServerOptions, Services};
pub use sockets::{Endpoint, Sockets};
pub use storage::Storage;
pub use telemetry::{LogFormat, start_logs, start_metrics};
pub use tls::{Certificates, TlsError};
