//! A byte stream between two processes that share memory: single producer, single consumer, and a peer that may write
//! anything anywhere at any time.
//!
//! ```text
//!   Outgoing ---- TCP, until switch_off bytes ------------------------> Incoming      path
//!      |                                                                   |
//!   Producer -- head --> [ data, a power of two of bytes ] -- tail --> Consumer       producer, consumer
//!      |                                                                   |
//!      +------- ReaderWaits, WriterWaits: who has to be woken -------------+          doorbell
//!                                  |
//!                 Shared: words and bytes, wherever they lie                          shared, layout
//! ```
//!
//! The normative description is `spec/net-ring.md`. Nothing here maps memory, makes a system call, allocates or blocks:
//! `net-shm` does the first two, and who waits is the caller.
//!
//! # Invariants
//! - Each side moves only its own cursor, and keeps it to itself: what lies in shared memory is a copy for the peer.
//! - What the peer writes is checked each time that it is used: `head - tail <= capacity`, and cursors only grow. What is
//!   wrong is a [`RingError`] now and from then on, never a panic and never an access outside the ring.
//! - A reader whose bell is silent has said so before it looked for the last time, and so has a writer ([`doorbell`]).
//! - No byte of ours is in the TCP stream, and none of the stream is lost or doubled when it moves (`path.rs`).
//!
//! # Why not one of the rings that there are
//! They trust the peer's cursors, or live in one process, or carry messages. A stream that has to look like TCP's needs
//! bytes, readiness by level and a way back.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "testing")]
extern crate std;

mod consumer;
pub mod doorbell;
mod error;
mod layout;
mod path;
mod producer;
mod shared;
#[cfg(feature = "testing")]
pub mod testing;

pub use consumer::Consumer;
pub use error::{LayoutError, Result, RingError};
pub use layout::{
    CONTROL_BYTES, Capacity, Direction, Field, GEOMETRY_BYTES, Geometry, JOINED, MAGIC, NONE,
    SEGMENT_HEAD_BYTES, TAKEN_BACK, VERSION,
};
pub use path::{Incoming, Outgoing, Route, Source};
pub use producer::{Leaving, Producer};
pub use shared::{Bell, FenceSite, Shared, Word};
