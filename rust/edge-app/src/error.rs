//! What is wrong with an app file.

use std::fmt;

use thiserror::Error;

/// One error, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}: {what}")]
pub struct AppError {
    /// Line of the file, from 1.
    pub line: usize,
    /// What is wrong, and what is right.
    pub what: String,
}

/// All errors that were found: one at least, by their lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errors(pub Vec<AppError>);

impl std::error::Error for Errors {}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "line {error}")?;
        }
        Ok(())
    }
}
