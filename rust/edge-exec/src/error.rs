//! What ends a run.

use thiserror::Error;

/// A row that cannot be computed: Flink's job would fail at it too.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EvalError {
    /// Of whole numbers.
    #[error("division by zero of whole numbers; NULLIF(x, 0) makes null of it")]
    DivisionByZero,
    /// `CAST` of a text.
    #[error("{text:?} is no {to}; TRY_CAST makes null of it")]
    Cast {
        /// What was to be converted.
        text: String,
        /// Into what.
        to: &'static str,
    },
    /// A number of more than 38 digits.
    #[error("a DECIMAL has 38 digits at most, and this has more")]
    DecimalOverflow,
    /// A row without a time.
    #[error("the time of events is null; filter such rows before they come here")]
    NoTime,
    /// A time whose windows have none.
    #[error(
        "the time of events is too far from 1970 for its windows; filter such rows before they come here"
    )]
    TimeRange,
    /// A row of which nothing says that its group is of this site alone.
    #[error(
        "{columns} is null, and was declared as local to a site: null is at every site. Leave such rows out (WHERE … IS NOT NULL), or do not declare the column"
    )]
    NoSite {
        /// Columns of the key that are local.
        columns: String,
    },
    /// Final results need all groups in memory.
    #[error(
        "{max} groups of key and slice, or sessions, are open, and there may be no more, since windows are final here: start with a larger --groups-max, or cut the plan without --local"
    )]
    Groups {
        /// As many as there may be.
        max: usize,
    },
    /// The plan's types do not hold what they promise: a fault of Afterbay's.
    #[error("a value of another type than the plan says")]
    Type,
}
