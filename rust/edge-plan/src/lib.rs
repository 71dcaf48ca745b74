//! Compiled plans of Flink SQL, and which part of one runs at a site.
//!
//! ```text
//!   Plan::parse         the frame: version, nodes, edges
//!       |
//!      cut              from each source, nodes that are understood in every detail
//!       |   \
//!       |    halves     both parts as plans that Flink takes
//!   Pipeline            scan, watermark, calc, windows, local aggregate: what edge-exec runs
//!                       and, if the key has a column that is local to a site: exchange, global aggregate or sessions, calc
//! ```
//!
//! **A refusal, never a guess.** A field, a node's version, a type, a function or a form of it that is not known here keeps its
//! node in the cloud, where Flink runs it: slower, never wrong. Each refusal says what and where. Another `flinkVersion` is
//! refused as a whole.
//!
//! # What of Flink 2.3 this relies on
//! - A plan's JSON is what `ExecNodeGraphJsonSerializer` and the serializers beside it write; a node's name ends in its version
//!   (`ExecNodeMetadata`).
//! - With `table.optimizer.agg-phase-strategy = TWO_PHASE`, a windowed aggregate (TUMBLE, HOP, CUMULATE) is a local node, an
//!   exchange and a global node. What goes between them is an SQL row: key, accumulators, end of the slice
//!   (`StreamExecLocalWindowAggregate`). The global node merges rows of one key and slice, in whatever order and number.
//! - The global node drops what comes after its watermark (`SliceUnsharedWindowAggProcessor`, `SliceSharedWindowAggProcessor`);
//!   the local one drops nothing. So rows of a site need their site's watermark, and no other.
//! - Accumulators are those of `DeclarativeAggregateFunction`s: SUM starts from null, AVG is a sum from zero and a count, HOP
//!   appends a count of rows (`AggregateUtil.deriveStreamWindowAggregateInfoList`).
//! - Between two watermarks that end a slice, a local node keeps what it has, and it flushes in front of the second one: so what
//!   is late in a global node is so by the watermark that the row has met at its site, where that is the only one.
//! - Sessions have no local node (`UnsliceSyncStateWindowAggProcessor`).
//! - Names such as `sum$0` and types of accumulators are worked out here, and compared with the plan's.
//!
//! Nothing here reads a row; nothing here knows a thread.

mod aggregate;
mod cast;
mod cut;
mod error;
mod expr;
mod function;
mod global;
mod halves;
mod local;
mod node;
mod pattern;
mod plan;
mod resolve;
mod scan;
mod strict;
mod types;
mod value;
mod window;

pub use aggregate::{Accumulator, Outcome, Part};
pub use cast::{Cast, decimal_to_double};
pub use cut::{Cut, Location, Pipeline, Placed, Rows, cut, cut_with_local};
pub use error::{PlanError, Refusal};
pub use expr::{Bound, Expr, Range};
pub use function::{Basis, Comparison, Function, Number, Operation, TimeField};
pub use global::{GlobalAggregate, SessionAggregate, WindowProperty};
pub use halves::{FINAL_TABLE, Halves, TABLE, halves, table_name, writes_final_rows};
pub use node::{Calc, LocalAggregate, Node, Operator};
pub use pattern::Pattern;
pub use plan::{FLINK_VERSION, Plan};
pub use scan::{Scan, Watermark};
pub use types::{DataType, Field, Kind};
pub use value::{
    MILLIS_PER_DAY, Value, date_of, days_of, parse_date, parse_decimal, parse_time,
    parse_timestamp, power_of_ten,
};
pub use window::{Assignment, Window, Windowing};
