//! Frames between a site and the cloud (`spec/edge-wire.md`). Nothing here touches a socket or a file.
//!
//! ```text
//!   rows, watermark --Frame::encode--> bytes --Frame::decode--> Frame --Progress::see--> take it, have it, gap, fenced
//! ```
//!
//! # Invariants
//! - Whatever the bytes, [`Frame::decode`] returns. What it accepts of codec 0, [`Frame::encode`] writes alike.
//! - [`Frame::encode_columns`] is never longer than [`Frame::encode`], and [`Frame::decode`] gives the same frame of both.
//! - Of each (site, stream, epoch), [`Progress`] lets every sequence through once, in order: a frame may come as often as it likes.

mod columns;
mod frame;
mod progress;

pub use frame::{
    CODEC_COLUMNS, CODEC_JSON, DecodeError, EncodeError, Frame, LINES_MAX, Line, NAME_BYTES_MAX,
    PAYLOAD_BYTES_MAX, is_name,
};
pub use progress::{Progress, Verdict};
