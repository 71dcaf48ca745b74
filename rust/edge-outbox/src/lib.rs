//! What a site has to send, in files, until somebody has it (`spec/edge-outbox.md`).
//!
//! ```text
//!   append -> [ 000…000.log ][ 000…417.log ][ 000…900.log ] -> read from a position, over and over
//!                  `-- goes when all of it is acknowledged      `-- the only one that is written
//! ```
//!
//! # Invariants
//! - Entries have positions from 0 without a gap. After a crash, what was synced is there, in order; of the rest, a beginning.
//! - A torn end is cut off when the outbox is opened, and its bytes are reported. A damaged file in front of the last one is an error.
//! - What is acknowledged goes in whole files: entries may come again after a start, and never get lost. The receiver knows their
//!   sequence.
//! - After a write or a sync that failed, nothing is written any more: nobody knows what the disk has.
//! - No more bytes than [`Settings::bytes_max`]: then [`OutboxError::Full`], which is for the policy of the stream.
//! - Entries that nobody has seen can be taken back ([`Outbox::truncate`]): who writes several that belong together notes
//!   elsewhere, in one step, that all of them are there.
//!
//! One thread; one process, by a lock on a file.

mod age;
mod cursor;
mod error;
mod outbox;
mod segment;

pub use age::{Age, CLOCK_MIN_MS};
pub use cursor::Cursor;
pub use error::OutboxError;
pub use outbox::{Outbox, Settings};
