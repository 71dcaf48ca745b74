//! What becomes of rows that are none.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts rows of messages that are not taken. The worker counts, others look.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    bad_rows: u64,
    last_bad_row: Option<String>,
    repeated_rows: u64,
}

impl Tally {
    /// A line is no row, or cannot be computed.
    pub(crate) fn bad_row(&self, what: &impl ToString) {
        let mut counts = self.lock();
        counts.bad_rows += 1;
        counts.last_bad_row = Some(what.to_string());
    }

    /// A row was here before.
    pub(crate) fn repeated_row(&self) {
        self.lock().repeated_rows += 1;
    }

    pub(crate) fn repeated_rows(&self) -> u64 {
        self.lock().repeated_rows
    }

    pub(crate) fn bad_rows(&self) -> u64 {
        self.lock().bad_rows
    }

    pub(crate) fn last_bad_row(&self) -> Option<String> {
        self.lock().last_bad_row.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
