//! Runs at a site what `edge-plan` has cut off a Flink plan.
//!
//! ```text
//!   line -> Reader -> row -> Run: [watermark] -> [calc] -> [windows] -> [local aggregate] -> rows and watermarks -> write
//!            (as Flink's JSON and CSV formats)      (eval, cast, text)      (slices, buffer, accumulate)
//!                                                                       or [whole aggregate] -> [calc] (slices, finals)
//!                                                                       or [sessions] -> [calc]
//! ```
//!
//! What comes out is what Flink's own operators would give, row by row and in their order, given the same rows and the same
//! watermark interval; where Flink passes watermarks on by the clock too, more often. One thread; nothing here reads a clock.
//!
//! # What is not the same
//! - Upper and lower case are those of Rust's Unicode tables instead of the JVM's.
//! - Hexadecimal floating numbers in texts are errors.

mod accumulate;
mod buffer;
mod cast;
mod error;
mod eval;
mod finals;
mod input;
mod output;
mod results;
mod run;
mod saved;
mod sessions;
mod slices;
mod text;
mod waiting;

pub use error::EvalError;
pub use eval::{eval, holds};
pub use input::{Format, FormatError, LineError, Reader};
pub use output::write_row;
pub use run::{END_OF_INPUT, Flush, Output, Run, Settings};
pub use saved::SavedError;
pub use slices::{is_over, next_trigger, slice_end, start, windows};
pub use waiting::{NoParts, Waiting};
