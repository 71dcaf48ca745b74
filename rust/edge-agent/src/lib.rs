//! The agent of a site: rows of a file, a pipe or a broker go through the lower half of a job, and what comes of them goes to the gateway.
//!
//! ```text
//!   worker                                               sender
//!   input -> Run (edge-exec) -> Batch --commit--> Store --frames--> gateway
//!                                          outbox | state  <--acknowledged--
//! ```
//!
//! # Nothing lost, nothing doubled
//! - A **commit** writes frames into the outbox, syncs it, and then replaces the file `state`: how far the outbox goes, where
//!   the input is, and all that the run remembers. Only what a commit has is sent.
//! - After a start, entries of the outbox beyond the state are taken back: nobody has seen them. The input is read on from the
//!   state's place, with what the run remembered there. So the same rows come out again, with the same numbers.
//! - The gateway takes each number of an epoch once. An epoch begins with a new data folder.
//! - What a pipe has given since the last commit is lost with the process: nobody can read it again.
//! - A broker gets its acknowledgement of a message behind the commit that has it, and sends all others again (`edge-mqtt`). What
//!   was committed and not acknowledged comes twice, as QoS 1 has it; rows that have a number are known by it (`sequence`).
//!
//! # Rows on the site's broker
//! See `publish`: the same commit writes them into a log of their own, from which they go to the broker. Nobody waits for it.
//!
//! # Full
//! The outbox has a limit. With [`WhenFull::Hold`] no more input is read until there is room; with [`WhenFull::DropOldest`] the
//! oldest file of the outbox goes, and the gateway is told which numbers will never come. A full disk holds in all cases.
//!
//! With [`WhenFull::Merge`], rows wait in the state instead of in frames as soon as much is to be sent, and parts of one key and
//! slice become one there (`gathered`). Frames are never changed: whoever has sent one sends it again as it was. When all that may
//! wait does so, and the outbox is full, no more input is read.
//!
//! Two threads and one for what the gateway says; no clock decides what rows are.

mod agent;
mod batch;
mod error;
mod gathered;
mod input;
mod options;
mod publish;
mod sender;
mod sequence;
mod state;
mod status;
mod store;
mod tally;

pub use agent::{Agent, Handle};
pub use error::AgentError;
pub use options::{AgentOptions, Input, Link, Publish, WhenFull};
pub use publish::PublishStatus;
pub use sequence::SequenceColumns;
pub use status::{AgentStatus, LinkStatus, MessagesStatus};
