//! What ends an agent.

use std::path::PathBuf;

use afterbay_edge_exec::NoParts;
use afterbay_edge_link::LinkError;
use afterbay_edge_mqtt::Refused;
use afterbay_edge_outbox::OutboxError;
use thiserror::Error;

/// Why an agent ends. Starting it again is of no use until somebody has done something.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The outbox is damaged, or somebody else's.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// A file of the data folder, or the input.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A line of the input is no row, or cannot be computed.
    #[error("{place}: {reason}")]
    Line {
        /// File and line.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// Nothing of this plan can be merged.
    #[error(
        "merge is no policy for a full outbox here: {0}. Hold the source (--when-full hold), or let the oldest go (--when-full drop-oldest)"
    )]
    Merge(NoParts),
    /// Rows have more keys than can be remembered.
    #[error("{0}")]
    Keys(String),
    /// The site's broker does not want this agent.
    #[error(transparent)]
    Broker(#[from] Refused),
    /// The gateway does not want this site.
    #[error("the gateway at {address}: {reason}")]
    Gateway {
        /// Where it is.
        address: String,
        /// What it says.
        reason: LinkError,
    },
    /// The gateway has less than it had said.
    #[error(
        "the gateway at {address} has {gateway} frames of epoch {epoch}, and {told} were acknowledged: it is another one, or has lost its progress. Give it the output that it had; or start once with --accept-gap {gateway}..{told}: the agent goes on with frame {told}, and what is before counts as lost there"
    )]
    Forgotten {
        /// Where it is.
        address: String,
        /// The epoch.
        epoch: u64,
        /// What the gateway has.
        gateway: u64,
        /// What some gateway has said to have.
        told: u64,
    },
    /// The gateway has what this site has not.
    #[error(
        "{}: the gateway has {gateway} frames of epoch {epoch}, and there are {here} here: the folder is an old copy, or its disk lost what it had synced; move the folder away: a new epoch begins, and the input is read anew",
        folder.display()
    )]
    Behind {
        /// The data folder.
        folder: PathBuf,
        /// The epoch.
        epoch: u64,
        /// What the gateway has.
        gateway: u64,
        /// What is here.
        here: u64,
    },
}

/// What comes of it.
pub(crate) type Result<T> = std::result::Result<T, AgentError>;
