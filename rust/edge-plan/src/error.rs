//! What is refused, and where.

use thiserror::Error;

/// Why a part of a plan does not run at a site: what, and where in the plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {what}")]
pub struct Refusal {
    /// Path in the plan, such as `node 4: aggCalls[0].internalName`.
    pub place: String,
    /// What stands there, and what may stand there.
    pub what: String,
}

impl Refusal {
    pub(crate) fn new(place: &str, what: impl Into<String>) -> Self {
        Self { place: place.to_owned(), what: what.into() }
    }
}

/// What comes of a part of a plan.
pub(crate) type Result<T> = std::result::Result<T, Refusal>;

/// Why a file is no plan that can be cut.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Not JSON.
    #[error("not a plan, since not JSON: {0}; COMPILE PLAN 'FILE' FOR INSERT … writes one")]
    NotJson(String),
    /// Of another Flink.
    #[error(
        "flinkVersion is {found}: plans of Flink {} are understood, and of no other version; compile the statement anew with it",
        crate::FLINK_VERSION
    )]
    Version {
        /// What the plan says.
        found: String,
    },
    /// A column that was declared as local to a site is none, or one of several.
    #[error("local columns: {0}")]
    Local(String),
    /// Its frame is none that is known.
    #[error(transparent)]
    Refused(#[from] Refusal),
}
