//! The gateway: where the frames of all sites come in, and rows for Flink go out.
//!
//! ```text
//!   site a --link--> session \                                 / TOPIC, partition 0
//!   site b --link--> session -- queue -> writer: Merge, Output -  TOPIC, partition 1
//!   site c --link--> session /      `-- acknowledges behind    \ TOPIC.late
//!                                       the commit
//! ```
//!
//! # Nothing lost, nothing doubled
//! - Of each (site, stream, epoch), every number is taken once, in order ([`Progress`](afterbay_edge_wire::Progress)).
//! - A **commit** of the output has rows and records in one: the records say which numbers were taken and how far watermarks are.
//!   After a failure, the output is what its last commit was, and so is the merge. Only then a number is acknowledged.
//! - Several frames go into one commit: as many as have come while the last one was written.
//!
//! # Watermarks
//! A partition's watermark is the least of its sites' (ADR 0072). It never goes back. A row of a site whose own watermark is
//! behind it goes to `TOPIC.late`, and is counted: Flink would drop it, unseen.

mod error;
mod handshakes;
mod merge;
mod options;
pub mod output;
mod records;
mod room;
mod server;
mod sites;
mod status;
mod writer;

pub use error::GatewayError;
pub use merge::{Merge, Opened, Refused, Row};
pub use options::{Absent, GatewayOptions, Partitions};
pub use server::Gateway;
pub use sites::SiteKeys;
pub use status::{GatewayStatus, RevokedSite, SiteStatus, StreamStatus};
