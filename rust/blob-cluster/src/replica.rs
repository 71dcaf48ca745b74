//! One replica of this node: what is known of its log, and of each other replica of the partition.
//!
//! # What a replica may say
//! - *open*: before, it answers nothing. Then it may be read.
//! - *loaded*: the epoch of its log is on the disk. Before, as on a full disk, it takes nothing, and others do not pull from it.
//! - *filled*: it has compared itself with the others once. Before, that it does not have a blob means nothing.
//! - *suspect*: its log was put back to an older state (a backup, a disk image). It may have blobs that were deleted since, and
//!   whose tombstones are gone everywhere else: nobody may read or pull from it until it was compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::{Core, StoreOwner};
use crate::identity::NodeId;
use crate::lineage::Lineage;
use crate::message::{Covers, Cursor, Page, Refusal, Since};
use crate::repair::Repairs;
use crate::scrub::Scrub;
use crate::store_call::{Loaded, StoreOperation};
use crate::token::{Position, Token, Tokens, add_lost, remember};
use crate::unsynced::Unsynced;
use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_store::Change;
use uuid::Uuid;

/// The first record of a log has this number.
const FIRST_SEQUENCE: u64 = 1;

#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) partition: PartitionId,
    pub(crate) log: Option<OwnLog>,
    /// A log whose new epoch is not on the disk yet.
    opening: Option<OwnLog>,
    pub(crate) is_open: bool,
    /// Why the epoch could not be written; it is tried again.
    pub(crate) not_loaded: Option<Refusal>,
    pub(crate) lineage: Lineage,
    /// Saved ones.
    pub(crate) tokens: BTreeMap<NodeId, Token>,
    /// Of logs that the others do not have any more, saved with them. Under the own name: of states of this log that are lost.
    former: BTreeMap<NodeId, Vec<Token>>,
    /// To be saved next.
    pub(crate) advanced: BTreeMap<NodeId, Token>,
    /// Being saved. One at a time: two could come to the disk in the wrong order.
    pub(crate) saving: Option<BTreeMap<NodeId, Token>>,
    pub(crate) suspect: bool,
    /// It was in doubt since it was opened, and is not any more: who has a token of a later state has to compare all.
    pub(crate) settled: bool,
    /// There is something to be saved beside tokens.
    unsaved: bool,
    pub(crate) peers: BTreeMap<NodeId, Peer>,
    /// Blobs that are being fetched, and from whom: one source for each.
    pub(crate) fetching: BTreeMap<BlobId, NodeId>,
    pub(crate) repairs: Repairs,
    pub(crate) unsynced: Unsynced,
    /// When to load it again and to compact it; `u64::MAX` while that is under way, or never.
    pub(crate) load_ms: u64,
    pub(crate) compact_ms: u64,
    pub(crate) scrub: Scrub,
}

/// The log of this replica.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnLog {
    /// The number of the next record when it was last synced.
    pub(crate) end: u64,
    /// The same when it was opened.
    pub(crate) opened_at: u64,
}

/// Another replica, as this one knows it.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    pub(crate) step: Step,
    /// When idle or waiting: when to go on.
    pub(crate) ready_ms: u64,
    pub(crate) page: Option<Page>,
    /// Blobs of the page that were asked for: once each.
    pub(crate) asked: BTreeSet<BlobId>,
    pub(crate) compare: Option<Compare>,
    /// The token is not to be relied on for what is fetched next.
    pub(crate) compare_anew: bool,
    /// Records of the peer that are not looked at.
    pub(crate) lag: u64,
    pub(crate) verdict: Verdict,
    /// The token of this log that it showed last.
    pub(crate) shown: u64,
    passed: Passed,
}

/// What a pull from a peer does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Step {
    #[default]
    Idle,
    /// Asked what is new.
    Asked,
    /// The store takes deletes and the like.
    Applying,
    /// The store is asked what is missing.
    Looking,
    /// Others fetch what is missing, or enough is being fetched from the node.
    Waiting,
    /// Asked for what is missing.
    Fetching(Vec<BlobId>),
    /// The store takes what was missing.
    Storing(Vec<BlobId>),
    /// The token is being saved.
    Saving,
    /// The store is asked for its own records, to compare them.
    Own,
    /// The peer is asked which of them it knows, in that life or a later one.
    Holding(Vec<(BlobId, u32)>),
    /// The store deletes those that the peer has known and forgotten.
    Expelling,
}

/// A comparison with all that a peer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compare {
    /// What of the peer's log comes next.
    pub(crate) cursor: Cursor,
    pub(crate) lineage: Lineage,
    /// The peer's horizon when it began: if it moves, tombstones may have gone that were not seen.
    pub(crate) horizon: Option<u64>,
    /// Own records before this one the peer has known.
    pub(crate) covered: u64,
    /// What of the own log comes next; `None` as long as the peer's is not through.
    pub(crate) own_next: Option<u64>,
}

/// Whether a peer's word on what was deleted was heard since there was doubt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Verdict {
    #[default]
    Unknown,
    /// All that it had was taken over.
    Heard,
    /// It is in doubt itself.
    Suspect,
}

/// Which of our records a peer has taken over and saved.
#[derive(Debug, Clone, Copy, Default)]
struct Passed {
    /// Before this one, and we have taken over its log as it was then.
    confirmed: u64,
    /// Before this one; and what its log was then.
    pending: Option<(u64, Cursor)>,
}

/// How far a comparison has come: of the peer's log, of the own one, and how many blobs of a page were fetched.
pub(crate) type Compared = (u64, u64, usize);

impl Peer {
    pub(crate) fn compared(&self) -> Compared {
        let Some(compare) = &self.compare else { return Compared::default() };
        (compare.cursor.sequence, compare.own_next.unwrap_or(0), self.asked.len())
    }

    /// Whether it is a matter of time alone when it goes on.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.step, Step::Idle | Step::Waiting)
    }
}

impl Replica {
    pub(crate) fn new(partition: PartitionId, core: &mut Core) -> Self {
        // Not all of them at once.
        let mut below =
            |interval| if interval == 0 { u64::MAX } else { core.source.below(interval) };
        let compact_interval_ms = core.options.compact_interval_ms;
        let compact_ms = below(compact_interval_ms).saturating_add(compact_interval_ms / 2);
        // No later than what a schedule may say: else the next start would take it for that of a clock that was wrong.
        let scrub_after_ms = below(core.options.scrub_interval_ms);
        let compact_ms = core.now.mono_ms.saturating_add(compact_ms);
        Replica {
            partition,
            log: None,
            opening: None,
            is_open: false,
            not_loaded: None,
            lineage: Lineage::default(),
            tokens: BTreeMap::new(),
            former: BTreeMap::new(),
            advanced: BTreeMap::new(),
            saving: None,
            suspect: false,
            settled: false,
            unsaved: false,
            peers: BTreeMap::new(),
            fetching: BTreeMap::new(),
            repairs: Repairs::default(),
            unsynced: Unsynced::default(),
            load_ms: 0,
            compact_ms,
            scrub: Scrub::new(scrub_after_ms),
        }
    }

    /// Follows the map.
    pub(crate) fn set_peers(&mut self, core: &Core) {
        let names = core.peers(self.partition);
        self.peers.retain(|name, _| names.contains(name));
        self.tokens.retain(|name, _| names.contains(name));
        self.former.retain(|name, _| names.contains(name) || *name == core.id);
        for name in names {
            self.peers.entry(name).or_default();
        }
    }

    pub(crate) fn on_loaded(&mut self, core: &mut Core, loaded: Loaded) {
        let Loaded { incarnation, end, tokens, unknown, schedule } = loaded;
        let are_beside =
            tokens.as_ref().is_some_and(|t| t.are_beside(incarnation, end, &core.rules));
        let Tokens { own_incarnation, is_suspect, lineage, of, former, .. } =
            tokens.unwrap_or_default();
        let is_new = end == FIRST_SEQUENCE && own_incarnation != incarnation;
        self.lineage = if is_new { Lineage::default() } else { lineage };
        self.lineage.begin(core.source.uuid(), end);
        // What is known of others does not hold for another log. What is known of the log's own past goes with its lineage.
        let own = |node: &NodeId| *node == core.id && !is_new;
        self.former = former.into_iter().filter(|(node, _)| are_beside || own(node)).collect();
        self.tokens = if are_beside { of } else { BTreeMap::new() };
        self.opening = Some(OwnLog { end, opened_at: end });
        self.is_open = true;
        self.load_ms = u64::MAX;
        self.set_peers(core);
        if is_suspect || (!are_beside && end > FIRST_SEQUENCE) {
            self.doubt(core);
        }
        if unknown > 0 {
            self.compare_all(core);
        }
        self.unsaved = true;
        self.save(core);
        self.schedule_scrub(core, schedule);
    }

    /// The epoch is on the disk, or could not be written.
    pub(crate) fn on_epoch_saved(&mut self, core: &Core, refusal: Option<&Refusal>) {
        let Some(log) = self.opening.take() else { return };
        self.not_loaded = refusal.cloned();
        if refusal.is_none() {
            self.log = Some(log);
        } else {
            self.load_ms = core.now.mono_ms + core.options.pull_backoff_ms;
        }
    }

    /// The log was put back to an older state.
    pub(crate) fn doubt(&mut self, core: &Core) {
        if self.suspect || self.peers.is_empty() || !core.rules.incarnation {
            return;
        }
        tracing::warn!(partition = %self.partition, "put back to an older state: compared with the other replicas first");
        (self.suspect, self.unsaved) = (true, true);
        for peer in self.peers.values_mut() {
            peer.verdict = Verdict::Unknown;
            peer.ready_ms = core.now.mono_ms;
        }
    }

    /// Another replica has a token of a state of this log that is lost. There is doubt, if that was not known: once the others were
    /// heard, it is no news, whoever shows it and when.
    pub(crate) fn hear_of_lost(&mut self, core: &Core, shown: &Position) {
        let is_known = self.note_lost(core, shown.epoch);
        if !(self.settled || is_known && core.rules.settled) {
            self.doubt(core);
        }
    }

    /// Notes that what was once behind this log's part of an epoch is lost. Whether that was noted before.
    fn note_lost(&mut self, core: &Core, epoch: Uuid) -> bool {
        let lost = self.former.entry(core.id.clone()).or_default();
        let is_noted = lost.iter().any(|token| token.lineage.current() == Some(epoch));
        if !is_noted {
            add_lost(lost, epoch);
            self.unsaved = true;
        }
        is_noted
    }

    /// The others were heard: of epochs that have ended, all that is lost was lost before.
    fn settle(&mut self, core: &Core) {
        (self.suspect, self.settled, self.unsaved) = (false, true, true);
        let epochs: Vec<Uuid> = self.lineage.epochs().iter().map(|epoch| epoch.id).collect();
        for epoch in epochs.iter().take(epochs.len().saturating_sub(1)) {
            self.note_lost(core, *epoch);
        }
    }

    /// Nobody knows what was in some place: all that the others have is looked at.
    pub(crate) fn compare_all(&mut self, core: &Core) {
        for peer in self.peers.values_mut() {
            peer.compare_anew = true;
            peer.ready_ms = peer.ready_ms.min(core.now.mono_ms);
        }
        self.repairs.lost(self.peers.keys());
    }

    /// Whether what it does not have is nowhere, as far as it could know.
    pub(crate) fn is_filled(&self, core: &Core) -> bool {
        let all = self
            .peers
            .keys()
            .all(|peer| self.tokens.contains_key(peer) || core.detector.is_down(peer));
        self.peers.is_empty() || (all && !self.tokens.is_empty())
    }

    /// Own records before this one a peer has known, going by its tokens: the present one first.
    pub(crate) fn covered(&self, core: &Core, covers: &Covers) -> u64 {
        let (Some(token), Some(log)) = (covers.0.first(), self.log) else { return 0 };
        if core.rules.epoch && core.rules.incarnation {
            covers.0.iter().map(|token| self.lineage.covered(token)).max().unwrap_or(0)
        } else {
            token.sequence.min(log.opened_at)
        }
    }

    /// What of the logs of a peer, the present one and former ones, was taken over here.
    pub(crate) fn known_of(&self, node: &NodeId) -> Covers {
        let former = self.former.get(node).into_iter().flatten();
        Covers(self.tokens.get(node).into_iter().chain(former).cloned().collect())
    }

    /// Whether a peer has a log again that another one had replaced: it was put back to a backup from before it lost its disk, and
    /// does not know. From now on it is shown a token by which it learns: of this log, which went on as the other one.
    pub(crate) fn is_former_log(&mut self, node: &NodeId, lineage: &Lineage) -> bool {
        let (Some(token), Some(former)) = (self.tokens.get(node), self.former.get_mut(node)) else {
            return false;
        };
        let is_it = |token: &Token| token.lineage.incarnation() == lineage.incarnation();
        if lineage.incarnation().is_none() || is_it(token) {
            return false;
        }
        let (Some(at), Some(epoch)) = (former.iter().rposition(is_it), token.lineage.current())
        else {
            return false;
        };
        let Token { lineage: mut shown, sequence } = former.remove(at);
        shown.begin(epoch, sequence);
        former.push(token.clone());
        self.tokens.insert(node.clone(), Token { lineage: shown, sequence });
        self.unsaved = true;
        true
    }

    /// These tokens are on the disk.
    pub(crate) fn take_tokens(&mut self, core: &Core, saved: BTreeMap<NodeId, Token>) {
        remember_all(core, &mut self.former, &self.tokens, &saved);
        let known = |node: &NodeId| self.peers.contains_key(node);
        self.tokens.extend(saved.into_iter().filter(|(node, _)| known(node)));
    }

    /// What to ask a peer.
    pub(crate) fn since(&self, node: &NodeId, limit: usize) -> Option<Since> {
        let (log, peer) = (self.log?, self.peers.get(node)?);
        Some(Since {
            partition: self.partition,
            // Also when all is compared: by it, a source learns that its log was put back to an older state.
            token: self.tokens.get(node).and_then(Token::position),
            compare: match &peer.compare {
                Some(compare) => Some(compare.cursor),
                None => peer.compare_anew.then_some(Cursor::ANEW),
            },
            own_epoch: self.lineage.current()?,
            own_end: log.end,
            limit,
        })
    }

    /// Notes what of this log a peer has saved.
    pub(crate) fn note_passed(&mut self, node: &NodeId, since: &Since, end: u64) {
        let token = since.token.as_ref().filter(|token| self.lineage.has(token, end));
        let sequence = token.map_or(0, |token| token.sequence);
        let own = self.tokens.get(node);
        let Some(peer) = self.peers.get_mut(node) else { return };
        peer.shown = sequence;
        let passed = &mut peer.passed;
        passed.confirmed = passed.confirmed.min(sequence);
        if let Some((pending, cursor)) = passed.pending {
            if pending > sequence || cursor.epoch != since.own_epoch {
                passed.pending = None;
            } else if own.is_some_and(|own| {
                own.lineage.current() == Some(cursor.epoch) && own.sequence >= cursor.sequence
            }) {
                passed.confirmed = pending;
                passed.pending = None;
            }
        }
        if passed.pending.is_none() && sequence > passed.confirmed {
            let (epoch, end) = (since.own_epoch, since.own_end);
            passed.pending = Some((sequence, Cursor { epoch, sequence: end }));
        }
    }

    /// Tombstones with a lower number are known to all replicas, and all that was written before they were: a put that one of
    /// them would bring back is known here.
    pub(crate) fn tombstones_before(&self, core: &Core) -> u64 {
        if !core.rules.passed {
            return u64::MAX;
        }
        self.peers.values().map(|peer| peer.passed.confirmed).min().unwrap_or(u64::MAX)
    }

    /// Saves what was taken over, if nothing is being saved.
    pub(crate) fn save(&mut self, core: &mut Core) {
        let Some(log) = self.log.or(self.opening) else { return };
        if self.saving.is_some() || (self.advanced.is_empty() && !self.unsaved) {
            return;
        }
        self.unsaved = false;
        let advanced = std::mem::take(&mut self.advanced);
        let (mut of, mut former) = (self.tokens.clone(), self.former.clone());
        remember_all(core, &mut former, &of, &advanced);
        of.extend(advanced.clone());
        self.saving = Some(advanced);
        let tokens = Tokens {
            // Who carries it out says beside what.
            own_incarnation: Uuid::nil(),
            own_end: log.end,
            is_suspect: self.suspect,
            lineage: self.lineage.clone(),
            of,
            former,
        };
        let operation = StoreOperation::SaveTokens { tokens, sync: core.rules.sync_before_token };
        core.store(self.partition, operation, StoreOwner::Tokens);
    }

    /// Ends the doubt when the others were heard.
    pub(crate) fn clear_doubt(&mut self, core: &mut Core) {
        if !self.suspect || self.log.is_none() {
            return;
        }
        let verdicts: Vec<_> = self
            .peers
            .iter()
            .map(|(node, peer)| (peer.verdict, core.detector.is_down(node)))
            .collect();
        let heard = verdicts.iter().any(|(verdict, _)| *verdict == Verdict::Heard);
        let settled =
            verdicts.iter().all(|(verdict, down)| *verdict != Verdict::Unknown || (heard && *down));
        // When all are in doubt, nobody knows better.
        if settled {
            tracing::info!(partition = %self.partition, "compared: not in doubt any more");
            self.settle(core);
        }
    }

    /// The compaction that may be done now.
    pub(crate) fn compact(&mut self, core: &mut Core) {
        self.compact_ms = u64::MAX;
        let before_ms = core.options.old_before_ms(core.now);
        // In doubt, and while lost records are fetched, nothing goes.
        let wait = self.suspect || self.log.is_none();
        let tombstones_before = if wait { 0 } else { self.tombstones_before(core) };
        let lost_is_repaired = !wait && self.repairs.is_lost_repaired();
        let operation = StoreOperation::Compact { before_ms, tombstones_before, lost_is_repaired };
        core.store(self.partition, operation, StoreOwner::Compact);
    }
}

fn remember_all(
    core: &Core,
    former: &mut BTreeMap<NodeId, Vec<Token>>,
    tokens: &BTreeMap<NodeId, Token>,
    next: &BTreeMap<NodeId, Token>,
) {
    for (node, next) in next.iter().filter(|_| core.rules.former) {
        if let Some(token) = tokens.get(node) {
            remember(former.entry(node.clone()).or_default(), token, next);
        }
    }
}

/// The blobs of some changes, each once, in their order.
pub(crate) fn ids_of<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<BlobId> {
    let mut seen = BTreeSet::new();
    changes.map(|change| change.id).filter(|id| seen.insert(*id)).collect()
}
