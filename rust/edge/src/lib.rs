//! The command line of edge-cloud applications: `afterbay-edge`.
//!
//! ```text
//!   plan of Flink --cut--> what runs where, why; both halves
//!                `-exec--> the lower half on a file: rows and watermarks as lines
//! ```

pub mod cli;
