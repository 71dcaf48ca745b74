//! Computes the index of a segment again when a page of it turns out to be damaged, or cannot be read.

use std::collections::HashSet;
use std::sync::Arc;

use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::recovery::rebuild;
use crate::sealed::{SealedSegment, index_number};
use crate::shared::{Shared, View};

/// Does `work`; if it meets damaged indexes, again, when `repair` has repaired them.
pub(crate) fn repairing<T>(
    work: impl Fn() -> Result<T>,
    repair: impl Fn(u64) -> Result<()>,
) -> Result<T> {
    let mut repaired = HashSet::new();
    loop {
        let done = work();
        match done.as_ref().err().and_then(damaged_index) {
            // Once each: if that does not help, nothing will.
            Some(number) if repaired.insert(number) => repair(number)?,
            _ => return done,
        }
    }
}

/// The number of the segment whose index is damaged, if that is what the error says.
fn damaged_index(error: &Error) -> Option<u64> {
    match error {
        Error::Damaged { file, .. } | Error::Unreadable { file, .. } => index_number(file),
        _ => None,
    }
}

/// Replaces the index of segment `number`. The caller holds the writer's lock: nobody else changes the view.
pub(crate) fn repair_index(directory: &dyn Directory, shared: &Shared, number: u64) -> Result<()> {
    let view = shared.read().view.clone();
    let Some(at) = view.sealed.iter().position(|segment| segment.log.header.number == number)
    else {
        // Compacted meanwhile.
        return Ok(());
    };
    let old = &view.sealed[at];
    // Of records that cannot be read, the old one may know.
    let known = old.index.readable_entries();
    let (index, _) = rebuild(directory, &old.log, old.length, old.compacted, &known)?;
    let SealedSegment { log, length, next_sequence, compacted, .. } = &**old;
    let repaired = SealedSegment {
        log: log.clone(),
        length: *length,
        next_sequence: *next_sequence,
        compacted: *compacted,
        index,
    };
    let mut sealed = view.sealed.clone();
    sealed[at] = Arc::new(repaired);
    let active = view.active.clone();
    shared.write().view = Arc::new(View { sealed, active });
    Ok(())
}
