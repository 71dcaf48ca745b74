//! Coordinates gets: one replica at a time, by load and detector; a second one if it takes longer than nearly all answers
//! before; the next one goes on at the byte where the one before stopped.
//!
//! One replica's word is enough for bytes, not for their absence: it may never have got the blob, or not know yet that a delete
//! was taken back. So a get ends with *deleted* only when so many replicas say nothing else that one of them has acknowledged
//! the last undelete, if there was one, and with *not found* when all say so. The others are asked all the same if they answer
//! soon, since they may know of an undelete that was not acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use afterbay_blob_format::BlobId;
use bytes::BytesMut;

use crate::core::{ClientAnswer, ClientError, Core, Owner, unavailable};
use crate::identity::NodeId;
use crate::message::{Head, Piece, Refusal, Reply, Request};
use crate::policy::reads_for;

#[derive(Debug, Default)]
pub(crate) struct Gets {
    under_way: BTreeMap<u64, Get>,
}

#[derive(Debug)]
struct Get {
    client: u64,
    id: BlobId,
    range: Range<u32>,
    also_deleted: bool,
    ends_ms: u64,
    head: Option<Head>,
    bytes: BytesMut,
    /// Requests for the bytes that come next.
    open: BTreeMap<u64, NodeId>,
    /// Whom the last piece came from.
    last: Option<NodeId>,
    /// When the one that was asked last takes long; `u64::MAX` once it does.
    hedge_ms: u64,
    refused: BTreeMap<NodeId, Refusal>,
}

impl Gets {
    pub(crate) fn len(&self) -> usize {
        self.under_way.len()
    }

    pub(crate) fn begin(
        &mut self,
        core: &mut Core,
        client: u64,
        id: BlobId,
        range: Range<u32>,
        also_deleted: bool,
    ) {
        let number = core.number();
        let get = Get {
            client,
            id,
            range,
            also_deleted,
            ends_ms: core.now.mono_ms + core.options.write_deadline_ms,
            head: None,
            bytes: BytesMut::new(),
            open: BTreeMap::new(),
            last: None,
            hedge_ms: u64::MAX,
            refused: BTreeMap::new(),
        };
        self.under_way.insert(number, get);
        self.go_on(core, number);
    }

    pub(crate) fn on_reply(
        &mut self,
        core: &mut Core,
        number: u64,
        call: u64,
        from: &NodeId,
        reply: Reply,
    ) {
        let Some(get) = self.under_way.get_mut(&number) else { return };
        if get.open.remove(&call).is_none() {
            // Another replica was faster.
            return;
        }
        match reply {
            Reply::Read(Ok(piece)) => get.take(from, piece),
            Reply::Read(Err(refusal)) => get.refuse(from, refusal),
            _ => get.refuse(from, Refusal::NoAnswer),
        }
        self.go_on(core, number);
    }

    pub(crate) fn on_failed(&mut self, core: &mut Core, number: u64, call: u64, node: &NodeId) {
        let Some(get) = self.under_way.get_mut(&number) else { return };
        if get.open.remove(&call).is_some() {
            get.refuse(node, Refusal::NoAnswer);
            self.go_on(core, number);
        }
    }

    pub(crate) fn on_tick(&mut self, core: &mut Core) {
        let now_ms = core.now.mono_ms;
        let due = self.under_way.iter().filter(|(_, get)| get.wake_ms() <= now_ms);
        let due: Vec<u64> = due.map(|(number, _)| *number).collect();
        for number in due {
            let Some(get) = self.under_way.get_mut(&number) else { continue };
            if get.ends_ms <= now_ms {
                let error = unavailable(0, 1, get.refused.iter());
                core.answer(get.client, ClientAnswer::Failed(error));
                self.under_way.remove(&number);
            } else if get.is_said(core) {
                core.answer(get.client, ClientAnswer::Failed(get.failure(core)));
                self.under_way.remove(&number);
            } else {
                get.hedge_ms = u64::MAX;
                get.ask_next(core, number);
            }
        }
    }

    pub(crate) fn next_wake_ms(&self) -> Option<u64> {
        self.under_way.values().map(Get::wake_ms).min()
    }

    fn go_on(&mut self, core: &mut Core, number: u64) {
        let Some(get) = self.under_way.get_mut(&number) else { return };
        if let Some(answer) = get.go_on(core, number) {
            core.answer(get.client, answer);
            self.under_way.remove(&number);
        }
    }
}

impl Get {
    fn wake_ms(&self) -> u64 {
        self.ends_ms.min(self.hedge_ms)
    }

    fn next_byte(&self) -> u32 {
        self.range.start.saturating_add(self.bytes.len() as u32)
    }

    /// The end of what is wanted, once it is known how long the blob is.
    fn end(&self) -> Option<u32> {
        let head = self.head.as_ref()?;
        Some(self.range.end.min(head.body_bytes).max(self.range.start))
    }

    fn take(&mut self, from: &NodeId, piece: Piece) {
        let wrong = piece.offset != self.next_byte() || self.is_other(&piece.head);
        // The life of a blob that others say is deleted decides which of them is behind.
        if wrong || self.deleted_life().is_some_and(|life| piece.head.life <= life) {
            self.refused.entry(from.clone()).or_insert(Refusal::NotFound);
            return;
        }
        let head = self.head.get_or_insert(piece.head);
        let room = self.range.end.min(head.body_bytes).saturating_sub(piece.offset) as usize;
        if piece.bytes.is_empty() && room > 0 {
            self.refused.insert(from.clone(), Refusal::Damaged);
            return;
        }
        self.bytes.extend_from_slice(&piece.bytes[..piece.bytes.len().min(room)]);
        self.last = Some(from.clone());
        self.open.clear();
    }

    /// Bytes of two blobs do not make one.
    fn is_other(&self, found: &Head) -> bool {
        self.head.as_ref().is_some_and(|head| {
            (head.body_bytes, head.created_ms) != (found.body_bytes, found.created_ms)
                || head.properties != found.properties
        })
    }

    fn refuse(&mut self, from: &NodeId, refusal: Refusal) {
        self.refused.insert(from.clone(), refusal);
    }

    fn deleted_life(&self) -> Option<u32> {
        let life = |refusal: &Refusal| match refusal {
            Refusal::Deleted { life } => Some(*life),
            _ => None,
        };
        self.refused.values().filter_map(life).max()
    }

    fn go_on(&mut self, core: &mut Core, number: u64) -> Option<ClientAnswer> {
        if let (Some(end), Some(head)) = (self.end(), &self.head)
            && self.next_byte() >= end
        {
            let (head, bytes) = (head.clone(), std::mem::take(&mut self.bytes).freeze());
            return Some(ClientAnswer::Got { head, bytes });
        }
        // For one that takes long already, or was down and is asked again to see, others are asked meanwhile.
        let is_up = self.open.values().any(|node| !core.detector.is_down(node));
        if is_up && self.hedge_ms != u64::MAX {
            return None;
        }
        if self.ask_next(core, number) {
            let wait_ms = core.latencies.p95_ms().unwrap_or(0).max(core.options.hedge_ms_min);
            self.hedge_ms = core.now.mono_ms + wait_ms;
            return None;
        }
        let is_enough = if is_up { self.is_said(core) } else { self.is_sure(core) };
        let waits = !self.open.is_empty() && !is_enough;
        (!waits).then(|| ClientAnswer::Failed(self.failure(core)))
    }

    /// Asks one more replica for the bytes that come next; false if there is none.
    fn ask_next(&mut self, core: &mut Core, number: u64) -> bool {
        let Some(node) = self.choose(core) else { return false };
        // One that is taken for down is asked all the same if no other one is left: it may have the only copy.
        core.detector.ask(&node, core.now.mono_ms);
        let begin = self.next_byte();
        let end = begin.saturating_add(core.options.piece_bytes).min(self.range.end).max(begin);
        let (id, also_deleted) = (self.id, self.also_deleted);
        let request = Request::Read { id, range: begin..end, also_deleted };
        let call = core.ask(&node, request, Owner::Get(number));
        self.open.insert(call, node);
        true
    }

    /// Among the replicas that may have it: first those that are not down, then whom the last piece came from, then this node,
    /// then the one with the fewest requests under way, then by chance.
    fn choose(&self, core: &mut Core) -> Option<NodeId> {
        let asked: BTreeSet<&NodeId> = self.open.values().collect();
        let map = core.map.clone();
        let left = map
            .replicas(self.id.partition)
            .iter()
            .filter(|node| !self.refused.contains_key(*node) && !asked.contains(node));
        let is_sure = self.is_sure(core);
        let mut best = None;
        for node in left {
            let down = !core.detector.is_available(node, core.now.mono_ms);
            if (down && !self.open.is_empty()) || (is_sure && core.detector.is_down(node)) {
                continue;
            }
            let (other, remote) = (self.last.as_ref() != Some(node), *node != core.id);
            let rank = (down, other, remote, core.load(node), core.source.below(1 << 32));
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, node.clone()));
            }
        }
        best.map(|(_, node)| node)
    }

    /// Whether so many say that it is deleted or expired that nobody is waited for who is down.
    fn is_sure(&self, core: &Core) -> bool {
        let failure = || self.failure(core);
        self.head.is_none() && matches!(failure(), ClientError::Deleted | ClientError::Expired)
    }

    /// Whether so many say so themselves that nobody is waited for who takes long. What one says that does not know the blob may be
    /// wrong: it has heard of an undelete, and has no content yet.
    fn is_said(&self, core: &Core) -> bool {
        let says = |r: &&Refusal| matches!(r, Refusal::Deleted { .. } | Refusal::Expired);
        let said = self.refused.values().filter(says).count();
        self.head.is_none() && said >= reads_for(core.map.replicas(self.id.partition).len())
    }

    fn failure(&self, core: &Core) -> ClientError {
        let replicas = core.map.replicas(self.id.partition).len();
        let count = |is: fn(&Refusal) -> bool| self.refused.values().filter(|r| is(r)).count();
        let absent = count(|r| *r == Refusal::NotFound);
        let deleted = count(|r| matches!(r, Refusal::Deleted { .. }));
        let expired = count(|r| *r == Refusal::Expired);
        let damaged = count(|r| *r == Refusal::Damaged);
        let sure = reads_for(replicas);
        let answered = absent + deleted + expired;
        if absent == replicas {
            ClientError::NotFound
        } else if deleted > 0 && answered >= sure {
            ClientError::Deleted
        } else if expired > 0 && answered >= sure {
            ClientError::Expired
        } else if damaged > 0 && damaged + answered == replicas {
            ClientError::Damaged
        } else {
            unavailable(answered, replicas, self.refused.iter())
        }
    }
}
