//! Fuzz targets: every parser of bytes that come from a disk, a network or a person.
//!
//! ```text
//!   Target: seeds, fn(&[u8]) -> outcome     a panic or a failed assertion is a bug
//!      |
//!      +-- runner: changes seeds for some seconds, on stable; keeps inputs whose outcome is new
//!      `-- libfuzzer/: the same targets for cargo-fuzz, guided by coverage, on nightly
//! ```
//!
//! What every target checks, whatever the bytes: the parser returns; what it accepts, it writes again so that it reads the
//! same. Where a checksum comes before everything, the target repairs it first, since no change of the bytes would pass
//! otherwise; each input is parsed without the repair too.
//!
//! `README.md` says how to run them, and what to do with what they find.

mod cluster;
mod disks;
mod edge;
mod format;
mod mutate;
mod names;
mod net;
mod partition;
mod proto;
mod runner;
mod s3;

pub use runner::{Finding, Runner, quiet};

/// A parser, or several of one kind.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folders.
    pub name: &'static str,
    /// Inputs to begin with, most of them valid.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Parses, checks what must hold, and says in short what came of it. Panics if it does not hold.
    pub run: fn(&[u8]) -> String,
}

/// All targets.
pub const TARGETS: [Target; 30] = [
    Target { name: "record-header", seeds: format::record_seeds, run: format::record },
    Target { name: "segment-header", seeds: format::segment_seeds, run: format::segment },
    Target { name: "manifest", seeds: format::manifest_seeds, run: format::manifest },
    Target { name: "mark", seeds: format::mark_seeds, run: format::mark },
    Target { name: "disks", seeds: disks::seeds, run: disks::run },
    Target { name: "index", seeds: format::index_seeds, run: format::index },
    Target { name: "properties", seeds: format::properties_seeds, run: format::properties },
    Target { name: "chunk-list", seeds: format::chunk_list_seeds, run: format::chunk_list },
    Target { name: "checksums", seeds: format::checksums_seeds, run: format::checksums },
    Target { name: "blob-id", seeds: format::blob_id_seeds, run: format::blob_id },
    Target { name: "partition", seeds: partition::seeds, run: partition::run },
    Target { name: "frames", seeds: proto::frames_seeds, run: proto::frames },
    Target { name: "requests", seeds: proto::request_seeds, run: proto::request },
    Target { name: "responses", seeds: proto::response_seeds, run: proto::response },
    Target { name: "data", seeds: proto::data_seeds, run: proto::data },
    Target { name: "listing", seeds: proto::listing_seeds, run: proto::listing },
    Target { name: "node-messages", seeds: cluster::message_seeds, run: cluster::message },
    Target { name: "names-rows", seeds: names::row_seeds, run: names::row },
    Target { name: "key-file", seeds: names::key_file_seeds, run: names::key_file },
    Target { name: "arguments", seeds: names::argument_seeds, run: names::argument },
    Target { name: "s3-requests", seeds: names::s3_seeds, run: names::s3 },
    Target { name: "s3-connections", seeds: s3::seeds, run: s3::run },
    Target { name: "edge-apps", seeds: edge::app_seeds, run: edge::app },
    Target { name: "edge-frames", seeds: edge::frame_seeds, run: edge::frame },
    Target { name: "edge-outbox", seeds: edge::outbox_seeds, run: edge::outbox },
    Target { name: "edge-plans", seeds: edge::plan_seeds, run: edge::plan },
    Target { name: "edge-lines", seeds: edge::line_seeds, run: edge::line },
    Target { name: "net-messages", seeds: net::message_seeds, run: net::message },
    Target { name: "net-geometry", seeds: net::geometry_seeds, run: net::geometry },
    Target { name: "net-ring", seeds: net::ring_seeds, run: net::ring },
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// What came of parsing, in short.
fn outcome<T>(parsed: Result<T, impl std::fmt::Display>) -> String {
    parsed.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}
