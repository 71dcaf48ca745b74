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
    /// A sum of more than 38 digits.
    #[error("a DECIMAL has 38 digits at most, and this has more")]
    DecimalOverflow,
    /// A row without a time.
    #[error("the time of events is null; filter such rows before they come here")]
    NoTime,
    /// The plan's types do not hold what they promise: a fault of Afterbay's.
    #[error("a value of another type than the plan says")]
    Type,
}
