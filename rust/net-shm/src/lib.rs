//! Rings ([`afterbay_net_ring`]) in memory that two processes share, on Linux.
//!
//! ```text
//!   Segment   a sealed memfd with two rings           segment, map (the only module with unsafe)
//!   EventBell an eventfd that rings by level          bell
//!   passing   messages with descriptors               passing
//! ```
//!
//! What comes from another process is checked before it is used: a descriptor may be of any kind, a file of any length, and
//! change at any time where its seals allow it.
#![cfg(target_os = "linux")]

mod bell;
mod error;
mod map;
pub mod passing;
mod segment;

pub use bell::EventBell;
pub use error::{Result, ShmError};
pub use segment::{MappedRing, Segment};
