//! A place in an outbox from which somebody reads on.

use std::collections::VecDeque;

use crate::error::{OutboxError, Result};
use crate::segment::{Entries, Segment};

/// Where somebody reads. It keeps a file open, so that reading on costs no search.
#[derive(Debug)]
pub struct Cursor {
    position: u64,
    /// The file that has the position, by its first one.
    open: Option<(u64, Entries)>,
}

impl Cursor {
    /// In front of the entry of this position.
    pub fn new(position: u64) -> Self {
        Self { position, open: None }
    }

    /// Position of the entry that comes next.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Closes its file if that has gone: as long as it is open, its bytes are not free.
    pub(crate) fn release(&mut self, segments: &VecDeque<Segment>) {
        if self
            .open
            .as_ref()
            .is_some_and(|(first, _)| segments.iter().all(|one| one.first != *first))
        {
            self.open = None;
        }
    }

    pub(crate) fn next(
        &mut self,
        segments: &VecDeque<Segment>,
        end: u64,
    ) -> Result<Option<(u64, Vec<u8>)>> {
        let first = segments.front().map_or(0, |segment| segment.first);
        self.position = self.position.max(first);
        if self.position >= end {
            return Ok(None);
        }
        let segment = segments.iter().find(|segment| segment.end > self.position);
        let Some(segment) = segment else { return Ok(None) };
        let entries = match &mut self.open {
            Some((first, entries)) if *first == segment.first => entries,
            open => {
                let mut entries = Entries::unbuffered(&segment.path, segment.first)?;
                for _ in segment.first..self.position {
                    entries.next()?;
                }
                &mut open.insert((segment.first, entries)).1
            }
        };
        match entries.next()? {
            Some((position, payload)) if position == self.position => {
                self.position += 1;
                Ok(Some((position, payload)))
            }
            _ => Err(OutboxError::Damaged { path: segment.path.clone(), at: entries.read }),
        }
    }
}
