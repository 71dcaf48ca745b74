//! The replicator (Ambry, section 2.5): each replica pulls from each other one what it does not have.
//!
//! ```text
//!   idle -> asked -> applying -> looking -> fetching -> storing -+
//!    ^        |    deletes and      ^   |     content            |
//!    |        |    the like         +---|------------------------+
//!    |        |                         v nothing is missing
//!    |        |        more of it    (comparing: own records, which the peer may have forgotten)
//!    |        +---> compare all          |
//!    +---- saving <----------------------+
//!          sync, then the token
//! ```
//!
//! - A batch asks a node about several partitions at once; those that are far behind come first, and get half of the places at
//!   most, so that they do not hold up the others.
//! - A blob that several peers have is fetched from one; what waits for it does not save its token before.
//! - A token is saved when all that it stands for is synced. It goes with the next request, and so tells the source which
//!   tombstones this replica does not need any more.
//! - If the source does not take the token, all is compared: first what the source has, then which own records it does *not*
//!   have although it had taken them over once. Those are deleted: their tombstones are gone, and a merge would bring them back. Each
//!   life of a blob is looked at: a peer that was put back itself may know of an earlier one.

use std::collections::BTreeMap;

use afterbay_blob_format::{BlobId, PartitionId, RecordKind};
use afterbay_blob_store::{Change, Durability, Record};

use crate::core::{Core, Owner, StoreOwner};
use crate::identity::NodeId;
use crate::lineage::Lineage;
use crate::message::{Covers, Cursor, Found, Page, Refusal, Reply, Request};
use crate::replica::{Compare, Replica, Step, Verdict, ids_of};
use crate::store_call::{StoreAnswer, StoreOperation};
use crate::token::{LogPage, Token};

/// The ids that one request fetches, at most.
const FETCH_IDS_MAX: usize = 256;

/// Asks a node what is new in the partitions that are ready, in as many batches as may be under way.
pub(crate) fn ask_batches<'a>(
    core: &mut Core,
    node: &NodeId,
    mut batches: usize,
    replicas: impl Iterator<Item = &'a mut Replica>,
) -> usize {
    let now_ms = core.now.mono_ms;
    let is_ready = |replica: &&mut Replica| {
        replica.log.is_some()
            && replica
                .peers
                .get(node)
                .is_some_and(|peer| peer.step == Step::Idle && peer.ready_ms <= now_ms)
    };
    let mut ready: Vec<_> = replicas.filter(is_ready).collect();
    if ready.is_empty() {
        return batches;
    }
    let lag = |replica: &Replica| replica.peers.get(node).map_or(0, |peer| peer.lag);
    // Of those that are equally far behind, who waits for longest.
    let since_ms = |replica: &Replica| replica.peers.get(node).map_or(0, |peer| peer.ready_ms);
    ready.sort_by_key(|replica| (std::cmp::Reverse(lag(replica)), since_ms(replica)));
    let behind = |replica: &Replica| lag(replica) > core.options.page_records as u64;
    let split = ready.partition_point(|replica| behind(replica));
    let mut near = ready.split_off(split).into_iter();
    let mut far = ready.into_iter();
    while batches < core.options.batches_max {
        let places = core.options.batch_partitions;
        let mut batch: Vec<_> = far.by_ref().take(places.div_ceil(2)).collect();
        batch.extend(near.by_ref().take(places - batch.len()));
        let rest = places - batch.len();
        batch.extend(far.by_ref().take(rest));
        if batch.is_empty() || !core.detector.ask(node, now_ms) {
            break;
        }
        batches += 1;
        ask(core, node, batch);
    }
    batches
}

fn ask(core: &mut Core, node: &NodeId, batch: Vec<&mut Replica>) {
    let limit = core.options.page_records;
    let mut since = Vec::new();
    for replica in batch {
        since.extend(replica.since(node, limit));
        if let Some(peer) = replica.peers.get_mut(node) {
            peer.step = Step::Asked;
        }
    }
    let partitions = since.iter().map(|since| since.partition).collect();
    core.ask(node, Request::Changes(since), Owner::Batch(partitions));
}

impl Replica {
    /// Begins anew, later: something did not work.
    pub(crate) fn pull_failed(&mut self, core: &Core, node: &NodeId) {
        self.fetching.retain(|_, source| source != node);
        self.advanced.remove(node);
        let Some(peer) = self.peers.get_mut(node) else { return };
        peer.step = Step::Idle;
        peer.page = None;
        peer.asked.clear();
        peer.ready_ms = core.now.mono_ms + core.options.pull_backoff_ms;
        if let Some(compare) = &mut peer.compare {
            compare.own_next = None;
        }
    }

    /// The first phase: what is new.
    pub(crate) fn on_page(&mut self, core: &mut Core, node: &NodeId, page: Result<Page, Refusal>) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        if peer.step != Step::Asked {
            return;
        }
        let page = match page {
            Ok(page) => page,
            Err(Refusal::Compare { reason, epoch, end, covers }) => {
                tracing::info!(partition = %self.partition, %node, ?reason, "compares all");
                self.begin_compare(core, node, Cursor { epoch, sequence: 0 }, end, &covers);
                return;
            }
            Err(refusal) => {
                if refusal == Refusal::Suspect {
                    peer.verdict = Verdict::Suspect;
                }
                self.pull_failed(core, node);
                return;
            }
        };
        if self.is_former_log(node, &page.lineage) {
            tracing::warn!(partition = %self.partition, %node, "was put back to a log that another one had replaced: it is told");
            self.pull_failed(core, node);
            return;
        }
        let Some(peer) = self.peers.get_mut(node) else { return };
        if let Some(compare) = &mut peer.compare {
            if !page.lineage.epochs().is_empty() {
                compare.lineage = page.lineage.clone();
            }
            let horizon = *compare.horizon.get_or_insert(page.horizon);
            if core.rules.horizon && page.horizon > horizon {
                compare.cursor.sequence = 0;
                compare.horizon = Some(page.horizon);
            }
        }
        // Until it is here, all of the page is missing.
        let from = page.changes.iter().map(|change| change.sequence).min();
        peer.lag = page.end.saturating_sub(from.unwrap_or(page.next.sequence));
        let records: Vec<Record> =
            page.changes.iter().filter_map(afterbay_blob_store::Change::record).collect();
        peer.page = Some(page);
        peer.asked.clear();
        if records.is_empty() {
            self.look(core, node);
        } else {
            self.apply(core, node, records, Step::Applying);
        }
    }

    fn begin_compare(
        &mut self,
        core: &Core,
        node: &NodeId,
        cursor: Cursor,
        end: u64,
        covers: &Covers,
    ) {
        let covered = self.covered(core, covers);
        let lineage = self.lineage_of(node, Lineage::default());
        let Some(peer) = self.peers.get_mut(node) else { return };
        // Twice in a row: its log has changed under us, or is not to be had.
        let again = peer.compare.is_some();
        peer.compare = Some(Compare { cursor, lineage, horizon: None, covered, own_next: None });
        peer.compare_anew = false;
        peer.lag = end;
        peer.step = Step::Idle;
        let wait_ms = if again { core.options.pull_backoff_ms } else { 0 };
        peer.ready_ms = core.now.mono_ms + wait_ms;
    }

    /// That of a page, or what is known of the peer's log if the page says that it is still so.
    fn lineage_of(&self, node: &NodeId, page: Lineage) -> Lineage {
        if page.epochs().is_empty() {
            self.tokens.get(node).map(|token| token.lineage.clone()).unwrap_or_default()
        } else {
            page
        }
    }

    /// Synced when the token is saved, together with all else.
    fn apply(&mut self, core: &mut Core, node: &NodeId, records: Vec<Record>, step: Step) {
        let durability = Durability::Fast;
        let operation =
            StoreOperation::Apply { records, durability, from_client: false, deadline_ms: None };
        self.ask_store(core, node, operation, step);
    }

    fn ask_store(&mut self, core: &mut Core, node: &NodeId, operation: StoreOperation, step: Step) {
        if let Some(peer) = self.peers.get_mut(node) {
            peer.step = step;
        }
        core.store(self.partition, operation, StoreOwner::Pull(node.clone()));
    }

    /// Sees what of the page is missing.
    pub(crate) fn look(&mut self, core: &mut Core, node: &NodeId) {
        let Some(page) = self.peers.get(node).and_then(|peer| peer.page.as_ref()) else { return };
        let ids = ids_of(page.changes.iter());
        if ids.is_empty() {
            self.finish_page(core, node);
        } else {
            let expired_before_ms = core.options.old_before_ms(core.now);
            self.ask_store(
                core,
                node,
                StoreOperation::Missing { ids, expired_before_ms },
                Step::Looking,
            );
        }
    }

    pub(crate) fn on_stored(&mut self, core: &mut Core, node: &NodeId, answer: StoreAnswer) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        match (std::mem::take(&mut peer.step), answer) {
            (Step::Applying, StoreAnswer::Applied(results)) => {
                match results.into_iter().find_map(Result::err) {
                    None => self.look(core, node),
                    Some(refusal) => self.store_failed(core, node, &refusal),
                }
            }
            (Step::Looking, StoreAnswer::Missing(Ok(missing))) => self.fetch(core, node, missing),
            (Step::Storing(ids), StoreAnswer::Applied(results)) => {
                self.on_content_stored(core, node, &ids, &results);
            }
            (Step::Own, StoreAnswer::Changes(Ok(page))) => self.on_own_page(core, node, &page),
            (Step::Expelling, StoreAnswer::Applied(results)) => {
                match results.into_iter().find_map(Result::err) {
                    None => self.compare_own(core, node),
                    Some(refusal) => self.store_failed(core, node, &refusal),
                }
            }
            (step, answer) => {
                tracing::debug!(partition = %self.partition, ?step, ?answer, "pull begins anew");
                self.pull_failed(core, node);
            }
        }
    }

    fn store_failed(&mut self, core: &Core, node: &NodeId, refusal: &Refusal) {
        tracing::warn!(partition = %self.partition, %node, %refusal, "what was pulled is not stored");
        self.pull_failed(core, node);
    }

    /// The second phase: what is missing.
    fn fetch(&mut self, core: &mut Core, node: &NodeId, missing: Vec<BlobId>) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        // As if it were looking: it is one of those that share.
        peer.step = Step::Looking;
        let (in_vain, mut missing): (Vec<_>, Vec<_>) =
            missing.into_iter().partition(|id| peer.asked.contains(id));
        if missing.is_empty() {
            // It tells of them and does not have them: it is damaged there, or has not come there yet. Others are asked. If
            // there are too many, the token must not go past them.
            if in_vain.into_iter().all(|id| self.repairs.want(core, id)) {
                self.finish_page(core, node);
            } else {
                self.pull_failed(core, node);
            }
            return;
        }
        let all = missing.len();
        missing.retain(|id| !self.fetching.contains_key(id));
        // Peers that are at it share what there is.
        let busy = self.peers.values().filter(|peer| peer.step != Step::Idle).count().max(1);
        let share = all.div_ceil(busy).min(FETCH_IDS_MAX);
        missing.truncate(share);
        let Some(peer) = self.peers.get_mut(node) else { return };
        if missing.is_empty() || !core.may_fetch(node) {
            peer.step = Step::Waiting;
            peer.ready_ms = core.now.mono_ms + core.options.pull_interval_ms;
            return;
        }
        if !core.detector.ask(node, core.now.mono_ms) {
            self.pull_failed(core, node);
            return;
        }
        for id in &missing {
            self.fetching.insert(*id, node.clone());
        }
        let (partition, bytes_max) = (self.partition, core.options.fetch_bytes_max);
        peer.step = Step::Fetching(missing.clone());
        let request = Request::Fetch { partition, ids: missing, bytes_max };
        core.ask(node, request, Owner::Pull(partition));
    }

    pub(crate) fn on_reply(&mut self, core: &mut Core, node: &NodeId, reply: Reply) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        match (std::mem::take(&mut peer.step), reply) {
            (Step::Fetching(ids), Reply::Fetched(Ok(fetched))) => {
                self.on_fetched(core, node, ids, fetched);
            }
            (Step::Holding(lives), Reply::Holds(Ok(holds))) if holds.len() == lives.len() => {
                let forgotten = lives.into_iter().zip(holds).filter(|(_, holds)| !holds);
                self.expel(core, node, forgotten.map(|(life, _)| life).collect());
            }
            _ => self.pull_failed(core, node),
        }
    }

    fn on_fetched(
        &mut self,
        core: &mut Core,
        node: &NodeId,
        ids: Vec<BlobId>,
        fetched: Vec<Found>,
    ) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        let mut records = Vec::new();
        let mut got = 0;
        for (id, found) in fetched {
            if !ids.contains(&id) {
                continue;
            }
            got += 1;
            peer.asked.insert(id);
            match found {
                Ok(found) => records.extend(found),
                // Others are asked when all else is here.
                Err(refusal) => {
                    tracing::debug!(partition = %self.partition, %node, %id, %refusal, "not to be had");
                }
            }
        }
        if got == 0 {
            self.pull_failed(core, node);
        } else if records.is_empty() {
            self.release(&ids);
            self.look(core, node);
        } else {
            self.apply(core, node, records, Step::Storing(ids));
        }
    }

    fn release(&mut self, ids: &[BlobId]) {
        for id in ids {
            self.fetching.remove(id);
        }
    }

    fn on_content_stored(
        &mut self,
        core: &mut Core,
        node: &NodeId,
        ids: &[BlobId],
        results: &[Result<(), Refusal>],
    ) {
        self.release(ids);
        for peer in self.peers.values_mut().filter(|peer| peer.step == Step::Waiting) {
            peer.ready_ms = core.now.mono_ms;
        }
        self.wake_waiting(core);
        let fatal = |refusal: &&Refusal| **refusal != Refusal::Collision;
        match results.iter().filter_map(|result| result.as_ref().err()).find(fatal) {
            None => self.look(core, node),
            Some(refusal) => self.store_failed(core, node, &refusal.clone()),
        }
    }

    /// All of the page is here.
    fn finish_page(&mut self, core: &mut Core, node: &NodeId) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        let Some(page) = &peer.page else { return };
        let more = !page.changes.is_empty() && page.next.sequence < page.end;
        let Some(compare) = &mut peer.compare else {
            let (page, sequence) = (page.lineage.clone(), page.next.sequence);
            let next = Token { lineage: self.lineage_of(node, page), sequence };
            if self.tokens.get(node) == Some(&next) {
                self.pulled(core, node);
            } else {
                self.advance(core, node, next);
            }
            return;
        };
        compare.cursor.sequence = page.next.sequence;
        if more {
            self.pulled(core, node);
        } else {
            compare.own_next = Some(0);
            self.compare_own(core, node);
        }
    }

    /// Looks at the next own records that the peer has known.
    fn compare_own(&mut self, core: &mut Core, node: &NodeId) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        let Some(compare) = &peer.compare else { return };
        let from = compare.own_next.unwrap_or(0);
        if from < compare.covered {
            let limit = core.options.page_records;
            self.ask_store(core, node, StoreOperation::Changes { from, limit }, Step::Own);
            return;
        }
        let next = Token { lineage: compare.lineage.clone(), sequence: compare.cursor.sequence };
        peer.compare = None;
        // One that began before it was wanted anew may have passed what is lost.
        if !peer.compare_anew {
            self.repairs.compared(node);
        }
        self.advance(core, node, next);
    }

    fn on_own_page(&mut self, core: &mut Core, node: &NodeId, page: &LogPage) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        let Some(compare) = &mut peer.compare else { return };
        let (covered, epoch) = (compare.covered, compare.cursor.epoch);
        let end = if page.changes.is_empty() { covered } else { page.next_sequence };
        compare.own_next = Some(end);
        // A put begins a life, and so does an undelete: a peer that has known the first one only has forgotten the second.
        let mut lives = BTreeMap::new();
        let begins = |change: &&Change| {
            change.sequence < covered
                && matches!(change.kind, RecordKind::Put | RecordKind::Undelete)
        };
        for change in page.changes.iter().filter(begins) {
            let last = lives.entry(change.id).or_insert(change.life);
            *last = change.life.max(*last);
        }
        let lives: Vec<_> = lives.into_iter().collect();
        if lives.is_empty() {
            self.compare_own(core, node);
        } else if core.detector.ask(node, core.now.mono_ms) {
            peer.step = Step::Holding(lives.clone());
            let request = Request::Holds { partition: self.partition, epoch, lives };
            core.ask(node, request, Owner::Pull(self.partition));
        } else {
            self.pull_failed(core, node);
        }
    }

    fn expel(&mut self, core: &mut Core, node: &NodeId, lives: Vec<(BlobId, u32)>) {
        if lives.is_empty() {
            self.compare_own(core, node);
            return;
        }
        tracing::warn!(
            partition = %self.partition, %node, blobs = lives.len(), "deleted here: deleted while this replica was away"
        );
        let operation = StoreOperation::Expel { lives, time_ms: core.now.wall_ms };
        self.ask_store(core, node, operation, Step::Expelling);
    }

    fn advance(&mut self, core: &mut Core, node: &NodeId, token: Token) {
        if let Some(peer) = self.peers.get_mut(node) {
            peer.step = Step::Saving;
        }
        self.advanced.insert(node.clone(), token);
        self.save(core);
    }

    /// The tokens are on the disk; the number of the next record says how much is synced with them.
    pub(crate) fn on_saved(&mut self, core: &mut Core, saved: Result<u64, Refusal>) {
        let Some(tokens) = self.saving.take() else { return };
        let nodes: Vec<NodeId> = tokens.keys().cloned().collect();
        match saved {
            Ok(end) => {
                self.on_epoch_saved(core, None);
                if let Some(log) = &mut self.log {
                    log.end = end;
                }
                self.take_tokens(core, tokens);
                nodes.iter().for_each(|node| self.pulled(core, node));
            }
            Err(refusal) => {
                tracing::warn!(partition = %self.partition, %refusal, "tokens are not saved");
                self.on_epoch_saved(core, Some(&refusal));
                nodes.iter().for_each(|node| self.pull_failed(core, node));
            }
        }
        self.save(core);
    }

    /// A page is done: the next one at once if there is more.
    fn pulled(&mut self, core: &mut Core, node: &NodeId) {
        let Some(peer) = self.peers.get_mut(node) else { return };
        let page = peer.page.take();
        if let Some(page) = &page {
            peer.lag = page.end.saturating_sub(page.next.sequence);
        }
        let more = page.is_some_and(|p| !p.changes.is_empty() && p.next.sequence < p.end);
        let at_once = more || peer.compare_anew;
        let wait_ms = if at_once { 0 } else { core.options.pull_interval_ms };
        peer.step = Step::Idle;
        peer.asked.clear();
        peer.ready_ms = core.now.mono_ms + wait_ms;
        if !more && peer.compare.is_none() && !peer.compare_anew {
            peer.verdict = Verdict::Heard;
        }
        self.clear_doubt(core);
    }

    /// Looks again for what others were to fetch.
    pub(crate) fn wake_waiting(&mut self, core: &mut Core) {
        let now_ms = core.now.mono_ms;
        let due: Vec<NodeId> = self
            .peers
            .iter()
            .filter(|(_, peer)| peer.step == Step::Waiting && peer.ready_ms <= now_ms)
            .map(|(node, _)| node.clone())
            .collect();
        due.iter().for_each(|node| self.look(core, node));
    }

    /// The partition, for messages.
    pub(crate) fn id(&self) -> PartitionId {
        self.partition
    }
}
