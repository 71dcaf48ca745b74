//! The blob store on many nodes: what Ambry contributes beside the partition (quorums, detection by outcomes, pull
//! replication), as state machines.
//!
//! ```text
//!        clients                    other nodes                     clock
//!           | on_client                 | on_message                   | on_tick
//!  +--------v---------------------------v------------------------------v-------+
//!  | Node     Writes, Gets          serve: answers          Replica: pull from  |
//!  |          (coordinators)        of this replica         each peer, repair   |
//!  |               \                     |                       /              |
//!  |                Core: requests under way, Detector, options, Rules          |
//!  +--------+---------------------------+------------------------------+-------+
//!           | Answer                    | Send                         | Store
//!        clients                    other nodes                   LocalStore: partitions, tokens
//!                                                                      | on_stored
//! ```
//!
//! No I/O, clocks, threads or randomness of their own: a server drives a [`Node`] with sockets and a pool of threads, the
//! simulation with a seed. What is under way is bounded by [`NodeOptions`].
//!
//! # Invariants
//! - A write is stamped once, by its coordinator; records mean the same on each replica, in whatever order they come.
//! - An acknowledged put is on as many replicas as its policy says, in its durability class. Nobody acknowledges for another.
//! - A token is saved after what it stands for is synced, and names the log and the epoch of it that it is of.
//! - What was acknowledged at `fast` is synced within [`NodeOptions::flush_interval_ms`].
//! - A tombstone stays until every replica has passed it, and until no write can be on its way any more that it is to meet.
//! - A replica whose token is not taken compares all: what others have known and forgotten is deleted, never merged.
//! - "Not here" is not "deleted", and not "not found".
//! - "Repaired" is said of what was read once more, from the disk, after it was written again.
//!
//! [`Rules`] can switch each of them off for the simulation, which must notice.

mod brief;
mod codec;
mod core;
mod detector;
mod get;
mod identity;
mod latency;
mod lineage;
mod local_store;
mod map;
mod message;
mod node;
mod options;
mod policy;
mod pull;
mod repair;
mod replica;
mod rules;
mod schedule;
mod scrub;
mod scrub_watch;
mod serve;
mod status;
mod store_call;
mod token;
mod unsynced;
mod write;

pub use afterbay_blob_store::{Content, Durability, Record, Recount};
pub use codec::{CodecError, MESSAGE_BYTES_MAX, PREFIX_BYTES};
pub use core::{Action, ClientAnswer, ClientError, ClientRequest};
pub use detector::{Detector, DetectorOptions};
pub use identity::{Fingerprint, NodeId, Now, Source};
pub use lineage::Lineage;
pub use local_store::LocalStore;
pub use map::{
    CERTIFICATES_MAX, ClusterMap, MapError, NODES_MAX, PARTITIONS_MAX, Placement, REPLICAS_MAX,
};
pub use message::{
    Body, Call, CompareReason, Covers, Cursor, Epoch, Found, Head, Message, Page, Piece, Refusal,
    Reply, Request, Since,
};
pub use node::Node;
pub use options::{NodeOptions, OptionError};
pub use policy::{InvalidPolicy, Policy};
pub use rules::{Rules, UnknownRule};
pub use schedule::Schedule;
pub use scrub::{AskedScrub, ScrubOutcome, ScrubRefusal, ScrubStatus, ScrubStep};
pub use scrub_watch::{ScrubWatch, Unwatched};
pub use status::{NodeStatus, PeerStatus, ReplicaStatus};
pub use store_call::{Damaged, Loaded, StoreAnswer, StoreOperation};
pub use token::{LogPage, Position, Token, Tokens, TokensError};
