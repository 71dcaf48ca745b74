//! Looks blobs up in their order: each page of an index is read once, and not once for each blob on it.

use std::collections::HashMap;
use std::sync::Arc;

use afterbay_blob_format::{IndexEntry, PAGE_BYTES};
use uuid::Uuid;

use crate::blob_state::BlobState;
use crate::compaction::Pacer;
use crate::error::Result;
use crate::partition::Partition;
use crate::sealed::SealedSegment;

/// The last page that was read of each segment's index.
pub(crate) struct LookUp<'a> {
    partition: &'a Partition,
    pacer: &'a dyn Pacer,
    pages: HashMap<u64, Page>,
    stopped: bool,
}

struct Page {
    /// Another one of the same number has another index: it was repaired.
    segment: Arc<SealedSegment>,
    number: u32,
    entries: Vec<IndexEntry>,
}

impl<'a> LookUp<'a> {
    /// `pacer` is asked before each page.
    pub(crate) fn new(partition: &'a Partition, pacer: &'a dyn Pacer) -> Self {
        LookUp { partition, pacer, pages: HashMap::new(), stopped: false }
    }

    /// Whether the pacer said to stop. What is found from then on may be incomplete.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// What the records of a blob say.
    pub(crate) fn state(&mut self, uuid: Uuid) -> Result<BlobState> {
        self.state_and(uuid, |_, _| ())
    }

    /// The same; and `tell` is given those of each sealed segment that has some.
    pub(crate) fn state_and(
        &mut self,
        uuid: Uuid,
        mut tell: impl FnMut(&Arc<SealedSegment>, &[IndexEntry]),
    ) -> Result<BlobState> {
        let partition = self.partition;
        partition.shared.find_by(uuid, &[], |segment| {
            let found = self.find(segment, uuid)?;
            if !found.is_empty() {
                tell(segment, &found);
            }
            Ok(found)
        })
    }

    fn find(&mut self, segment: &Arc<SealedSegment>, uuid: Uuid) -> Result<Vec<IndexEntry>> {
        let mut found = Vec::new();
        if segment.index.directory().may_contain(uuid) {
            for number in segment.index.directory().pages_of(uuid) {
                let entries = self.page(segment, number)?;
                let begin = entries.partition_point(|entry| entry.uuid < uuid);
                found.extend(entries[begin..].iter().take_while(|entry| entry.uuid == uuid));
            }
        }
        Ok(found)
    }

    /// The records on a page.
    pub(crate) fn page(
        &mut self,
        segment: &Arc<SealedSegment>,
        number: u32,
    ) -> Result<&[IndexEntry]> {
        let key = segment.log.header.number;
        let is_here = |page: &Page| page.number == number && Arc::ptr_eq(&page.segment, segment);
        if !self.pages.get(&key).is_some_and(is_here) {
            self.stopped |= self.pacer.pace(PAGE_BYTES as u64).is_break();
            let entries = segment.index.page_entries(number)?;
            self.pages.insert(key, Page { segment: segment.clone(), number, entries });
        }
        Ok(self.pages.get(&key).map_or(&[], |page| &page.entries))
    }
}
