//! What an agent is to do.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use afterbay_edge_exec::Settings;
use afterbay_edge_link::{Limits, SiteKey};
use afterbay_edge_mqtt::{Options as MqttOptions, PublishOptions};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::sequence::SequenceColumns;

/// Where rows come from.
#[derive(Debug, Clone)]
pub enum Input {
    /// A file.
    File {
        /// Which one.
        path: PathBuf,
        /// Whether its end is only the end so far, until there is a file `PATH.end`.
        follow: bool,
    },
    /// The standard input.
    Pipe,
    /// Messages of the site's broker, which have lines like those of a file.
    Mqtt(Box<MqttOptions>),
}

/// Where rows are published, beside the gateway.
#[derive(Debug, Clone)]
pub struct Publish {
    /// The broker and the topic.
    pub to: PublishOptions,
    /// Bytes of rows that may wait for it; then the oldest are dropped.
    pub bytes: u64,
}

/// What happens when the outbox is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// No more input is read.
    Hold,
    /// The oldest goes, and the gateway is told.
    DropOldest,
    /// Parts of one key and slice are merged before they are written, from a quarter of the bytes on; then as `Hold`. Only where the
    /// lower half ends in an aggregate of parts.
    Merge,
}

/// Where the gateway is, and how it is known.
#[derive(Debug, Clone)]
pub struct Link {
    /// `HOST:PORT`.
    pub address: String,
    /// The name in its certificate.
    pub name: ServerName<'static>,
    /// Whom the site trusts.
    pub tls: Arc<ClientConfig>,
    /// The site's key.
    pub key: SiteKey,
    /// How long it waits.
    pub limits: Limits,
}

/// What an agent is to do.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// The site's name.
    pub site: String,
    /// What its rows are called: the table between the halves.
    pub stream: String,
    /// Where rows come from.
    pub input: Input,
    /// A topic of the broker: a message there says that nothing more comes.
    pub end_topic: Option<String>,
    /// Which columns say whether a row was here before.
    pub sequence: Option<SequenceColumns>,
    /// Where rows are published, if they are.
    pub publish: Option<Publish>,
    /// The folder of the outbox and the state.
    pub data: PathBuf,
    /// The gateway.
    pub link: Link,
    /// Of the run.
    pub settings: Settings,
    /// Of plan and settings: what a saved state is of.
    pub fingerprint: u32,
    /// Rows wait so long for others before they are committed.
    pub linger: Duration,
    /// Bytes of the outbox.
    pub outbox_bytes: u64,
    /// What is older goes, if the oldest may go.
    pub outbox_age: Duration,
    /// What happens when it is full.
    pub when_full: WhenFull,
    /// Frames that were acknowledged, and that a gateway may have lost: it is told that they will never come.
    pub accept_gap: Option<Range<u64>>,
}
