//! Coordinates writes: puts, deletes, undeletes and TTL updates.
//!
//! ```text
//!  put:             choose a partition -> stamp -> all replicas at once -> acknowledged by the policy
//!                        ^                                   |
//!                        +---- delete what may lie there <---+ fewer than needed can still acknowledge
//!  the others:      ask what is known -> stamp -> all replicas at once -> acknowledged by the policy
//! ```
//!
//! A write is stamped once, here, so that its replicas do not differ. What is known of a blob is asked from so many replicas
//! that one at least has acknowledged the last delete or undelete: a delete in an old life would be none.

use std::collections::BTreeMap;

use afterbay_blob_format::{BlobId, PartitionId, RecordKind};
use afterbay_blob_store::{Content, Durability, Record};

use crate::core::{ClientAnswer, ClientError, ClientRequest, Core, Owner, unavailable};
use crate::identity::NodeId;
use crate::message::{Refusal, Reply, Request};
use crate::policy::{Policy, reads_for};

#[derive(Debug, Default)]
pub(crate) struct Writes {
    under_way: BTreeMap<u64, Operation>,
}

#[derive(Debug)]
struct Operation {
    client: u64,
    what: What,
    class: Durability,
    policy: Policy,
    id: BlobId,
    /// By the monotonic clock.
    ends_ms: u64,
    /// By the time of day; goes with the records.
    deadline_ms: u64,
    reading: Option<Reading>,
    needed: usize,
    open: BTreeMap<u64, NodeId>,
    acknowledged: Vec<NodeId>,
    refused: BTreeMap<NodeId, Refusal>,
}

#[derive(Debug)]
enum What {
    Put {
        content: Content,
        expires_ms: u64,
        tried: Vec<PartitionId>,
    },
    /// Under the id that it has.
    PutAs {
        content: Content,
        expires_ms: u64,
    },
    Delete,
    Undelete,
    UpdateTtl {
        expires_ms: u64,
    },
}

#[derive(Debug, Default)]
struct Reading {
    needed: usize,
    answers: usize,
    known: Known,
}

/// What replicas say of a blob, together.
#[derive(Debug, Default)]
struct Known {
    is_known: bool,
    has_content: bool,
    alive: u32,
    deleted: Option<(u32, u64)>,
    /// When its expiry was last changed, and to what; never is the greatest.
    expiry: (u64, u64),
}

impl Known {
    fn add(&mut self, record: &Record) {
        self.is_known = true;
        let expires_ms = if record.expires_ms == 0 { u64::MAX } else { record.expires_ms };
        match record.kind {
            RecordKind::Put => {
                self.has_content = true;
                self.alive = self.alive.max(record.life);
                self.expiry = self.expiry.max((0, expires_ms));
            }
            RecordKind::Undelete => self.alive = self.alive.max(record.life),
            RecordKind::Delete => {
                self.deleted = self.deleted.max(Some((record.life, record.time_ms)));
            }
            RecordKind::TtlUpdate => {
                self.expiry = self.expiry.max((record.time_ms.max(1), expires_ms));
            }
        }
    }

    fn deletion(&self) -> Option<(u32, u64)> {
        self.deleted.filter(|(life, _)| *life >= self.alive)
    }

    fn is_expired(&self, now_ms: u64) -> bool {
        self.expiry.1 != 0 && self.expiry.1 <= now_ms
    }
}

impl Writes {
    pub(crate) fn len(&self) -> usize {
        self.under_way.len()
    }

    pub(crate) fn begin(&mut self, core: &mut Core, client: u64, request: ClientRequest) {
        let (what, id, class, policy) = match request {
            ClientRequest::Put { content, expires_ms, class, policy } => {
                let what = What::Put { content, expires_ms, tried: Vec::new() };
                let id = BlobId { partition: PartitionId(0), uuid: core.source.uuid() };
                (what, id, class, policy)
            }
            ClientRequest::PutAs { id, content, expires_ms, class, policy } => {
                (What::PutAs { content, expires_ms }, id, class, policy)
            }
            ClientRequest::Delete { id, class, policy } => (What::Delete, id, class, policy),
            ClientRequest::Undelete { id, class, policy } => (What::Undelete, id, class, policy),
            ClientRequest::UpdateTtl { id, expires_ms, class, policy } => {
                (What::UpdateTtl { expires_ms }, id, class, policy)
            }
            ClientRequest::Get { .. } | ClientRequest::GetDeleted { .. } => return,
        };
        let number = core.number();
        let mut operation = Operation {
            client,
            what,
            class,
            policy,
            id,
            ends_ms: core.now.mono_ms + core.options.write_deadline_ms,
            deadline_ms: core.now.wall_ms + core.options.write_deadline_ms,
            reading: None,
            needed: 0,
            open: BTreeMap::new(),
            acknowledged: Vec::new(),
            refused: BTreeMap::new(),
        };
        let ended = match operation.what {
            What::Put { .. } => operation.place(core, number),
            What::PutAs { .. } => operation.put_as(core, number),
            _ => operation.read(core, number),
        };
        match ended {
            Some(answer) => core.answer(client, answer),
            None => {
                self.under_way.insert(number, operation);
                self.settle(core, number);
            }
        }
    }

    pub(crate) fn on_reply(
        &mut self,
        core: &mut Core,
        number: u64,
        call: u64,
        from: &NodeId,
        reply: Reply,
    ) {
        let Some(operation) = self.under_way.get_mut(&number) else { return };
        if operation.open.remove(&call).is_none() {
            // It was for a partition that was given up.
            return;
        }
        match (reply, &mut operation.reading) {
            (Reply::Written(Ok(())), None) => operation.acknowledged.push(from.clone()),
            (Reply::Known(Ok(records)), Some(reading)) => {
                reading.answers += 1;
                records.iter().for_each(|record| reading.known.add(record));
            }
            (Reply::Written(Err(refusal)) | Reply::Known(Err(refusal)), _) => {
                operation.refused.insert(from.clone(), refusal);
            }
            _ => drop(operation.refused.insert(from.clone(), Refusal::NoAnswer)),
        }
        self.settle(core, number);
    }

    pub(crate) fn on_failed(&mut self, core: &mut Core, number: u64, call: u64, node: &NodeId) {
        let Some(operation) = self.under_way.get_mut(&number) else { return };
        if operation.open.remove(&call).is_some() {
            operation.refused.insert(node.clone(), Refusal::NoAnswer);
            self.settle(core, number);
        }
    }

    /// Gives up what is not done in time.
    pub(crate) fn on_tick(&mut self, core: &mut Core) {
        let now_ms = core.now.mono_ms;
        let over = self.under_way.iter().filter(|(_, operation)| operation.ends_ms <= now_ms);
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        for number in over {
            if let Some(operation) = self.under_way.remove(&number) {
                operation.clean_up(core);
                core.answer(operation.client, ClientAnswer::Failed(operation.failure()));
            }
        }
    }

    pub(crate) fn next_wake_ms(&self) -> Option<u64> {
        self.under_way.values().map(|operation| operation.ends_ms).min()
    }

    fn settle(&mut self, core: &mut Core, number: u64) {
        let Some(operation) = self.under_way.get_mut(&number) else { return };
        if let Some(answer) = operation.settle(core, number) {
            core.answer(operation.client, answer);
            self.under_way.remove(&number);
        }
    }
}

impl Operation {
    /// Goes on as far as is known; the answer when it has ended.
    fn settle(&mut self, core: &mut Core, number: u64) -> Option<ClientAnswer> {
        if self.reading.is_some() {
            if let Some(answer) = self.settle_reading(core, number) {
                return Some(answer);
            }
            if self.reading.is_some() {
                return None;
            }
        }
        if self.acknowledged.len() >= self.needed {
            let replicas = std::mem::take(&mut self.acknowledged);
            return Some(match self.what {
                What::Put { .. } | What::PutAs { .. } => {
                    ClientAnswer::Put { id: self.id, replicas }
                }
                _ => ClientAnswer::Done { replicas },
            });
        }
        if self.acknowledged.len() + self.open.len() >= self.needed {
            return None;
        }
        self.clean_up(core);
        match self.what {
            What::Put { .. } => self.place(core, number).or_else(|| self.settle(core, number)),
            _ => Some(ClientAnswer::Failed(self.failure())),
        }
    }

    /// Puts into a partition that was not tried yet; the answer if there is none.
    fn place(&mut self, core: &mut Core, number: u64) -> Option<ClientAnswer> {
        let What::Put { content, expires_ms, tried } = &mut self.what else { return None };
        let (now_ms, policy) = (core.now.mono_ms, self.policy);
        let reachable = |node: &NodeId| core.detector.is_available(node, now_ms);
        let fits = |replicas: &[NodeId]| {
            let count = replicas.iter().filter(|node| reachable(node)).count();
            count >= policy.acknowledgements(replicas.len())
        };
        let candidates: Vec<PartitionId> = core
            .map
            .partitions
            .iter()
            .filter(|(id, placement)| !placement.read_only && !tried.contains(id))
            .filter(|(_, placement)| fits(&placement.replicas))
            .map(|(id, _)| *id)
            .collect();
        if candidates.is_empty() || tried.len() >= core.options.put_attempts {
            return Some(ClientAnswer::Failed(self.failure()));
        }
        let partition = candidates[core.source.below(candidates.len() as u64) as usize];
        tried.push(partition);
        // Another id, also in another partition: what comes late of the one before is not this blob.
        self.id = BlobId { partition, uuid: core.source.uuid() };
        let (content, expires_ms) = (content.clone(), *expires_ms);
        self.put(core, number, content, expires_ms);
        None
    }

    /// Puts under the id that was asked for; the answer if that cannot be.
    fn put_as(&mut self, core: &mut Core, number: u64) -> Option<ClientAnswer> {
        let What::PutAs { content, expires_ms } = &self.what else { return None };
        let (content, expires_ms, partition) = (content.clone(), *expires_ms, self.id.partition);
        let replicas = core.map.replicas(partition);
        let needed = self.policy.acknowledgements(replicas.len());
        let now_ms = core.now.mono_ms;
        let available = |node: &&NodeId| core.detector.is_available(node, now_ms);
        let reachable = replicas.iter().filter(available).count();
        if reachable < needed {
            let error = ClientError::Unreachable { partition, reachable, needed };
            return Some(ClientAnswer::Failed(error));
        }
        self.put(core, number, content, expires_ms);
        None
    }

    fn put(&mut self, core: &mut Core, number: u64, content: Content, expires_ms: u64) {
        let (id, kind, time_ms) = (self.id, RecordKind::Put, core.now.wall_ms);
        let record = Record { id, kind, life: 0, time_ms, expires_ms, content: Some(content) };
        self.needed = self.policy.acknowledgements(core.map.replicas(id.partition).len());
        self.write(core, number, vec![record]);
    }

    /// Asks what is known of the blob.
    fn read(&mut self, core: &mut Core, number: u64) -> Option<ClientAnswer> {
        let replicas = core.map.replicas(self.id.partition).len();
        if replicas == 0 {
            return Some(ClientAnswer::Failed(ClientError::NotFound));
        }
        self.needed = self.policy.lifecycle_acknowledgements(replicas);
        let needed = reads_for(replicas);
        self.reading = Some(Reading { needed, ..Reading::default() });
        self.send(core, number, &Request::Known { id: self.id });
        None
    }

    fn settle_reading(&mut self, core: &mut Core, number: u64) -> Option<ClientAnswer> {
        let reading = self.reading.as_ref()?;
        let enough = reading.answers >= reading.needed;
        // What is undeleted has to be somewhere.
        let undeletes = matches!(self.what, What::Undelete) && reading.known.deletion().is_some();
        let known = reading.known.is_known && (reading.known.has_content || !undeletes);
        if enough && known {
            return self.stamp(core, number);
        }
        if !self.open.is_empty() && (enough || reading.answers + self.open.len() >= reading.needed)
        {
            return None;
        }
        // That nobody knows it is sure only when all were asked.
        let all = reading.answers == core.map.replicas(self.id.partition).len();
        let error = if all { ClientError::NotFound } else { self.failure() };
        Some(ClientAnswer::Failed(error))
    }

    /// Decides which record is written, from what is known.
    fn stamp(&mut self, core: &mut Core, number: u64) -> Option<ClientAnswer> {
        let known = self.reading.take()?.known;
        let now_ms = core.now.wall_ms;
        let refuse = |error| Some(ClientAnswer::Failed(error));
        let (kind, life, time_ms, expires_ms) = match (&self.what, known.deletion()) {
            // Again, so that it is acknowledged as was asked for.
            (What::Delete, Some((life, time_ms))) => (RecordKind::Delete, life, time_ms, 0),
            (What::Delete, None) => (RecordKind::Delete, known.alive, now_ms, 0),
            (What::Undelete, None) => return refuse(ClientError::NotDeleted),
            (What::Undelete, Some(_)) if known.is_expired(now_ms) => {
                return refuse(ClientError::Expired);
            }
            // A replica may compact it away while the undelete is on its way.
            (What::Undelete, Some((_, time_ms)))
                if now_ms > core.options.undelete_until(time_ms) =>
            {
                return refuse(ClientError::NotFound);
            }
            (What::Undelete, Some((life, _))) => {
                (RecordKind::Undelete, life.saturating_add(1), now_ms, 0)
            }
            (What::UpdateTtl { .. }, Some(_)) => return refuse(ClientError::Deleted),
            (What::UpdateTtl { .. }, None) if known.is_expired(now_ms) => {
                return refuse(ClientError::Expired);
            }
            (What::UpdateTtl { expires_ms }, None) => {
                // The newest one holds: it must be newer than what is known, whatever the clock says.
                let time_ms = now_ms.max(known.expiry.0.saturating_add(1));
                (RecordKind::TtlUpdate, known.alive, time_ms, *expires_ms)
            }
            (What::Put { .. } | What::PutAs { .. }, _) => return None,
        };
        let record = Record { id: self.id, kind, life, time_ms, expires_ms, content: None };
        self.write(core, number, vec![record]);
        None
    }

    fn write(&mut self, core: &mut Core, number: u64, records: Vec<Record>) {
        let request = Request::Write {
            id: self.id,
            records,
            durability: self.class,
            deadline_ms: self.deadline_ms,
        };
        self.send(core, number, &request);
    }

    /// Sends a request to all replicas that are not taken for down.
    fn send(&mut self, core: &mut Core, number: u64, request: &Request) {
        self.open.clear();
        self.acknowledged.clear();
        self.refused.clear();
        for node in core.map.clone().replicas(self.id.partition) {
            if core.detector.ask(node, core.now.mono_ms) {
                let call = core.ask(node, request.clone(), Owner::Write(number));
                self.open.insert(call, node.clone());
            } else {
                self.refused.insert(node.clone(), Refusal::NoAnswer);
            }
        }
    }

    /// Deletes what may lie somewhere of a put that is given up.
    fn clean_up(&self, core: &mut Core) {
        if !matches!(self.what, What::Put { .. } | What::PutAs { .. }) {
            return;
        }
        let (id, now) = (self.id, core.now);
        let (kind, time_ms) = (RecordKind::Delete, now.wall_ms);
        let record = Record { id, kind, life: 0, time_ms, expires_ms: 0, content: None };
        let deadline_ms = now.wall_ms + core.options.write_deadline_ms;
        let (records, durability) = (vec![record], self.class);
        let request = Request::Write { id, records, durability, deadline_ms };
        for node in core.map.clone().replicas(id.partition) {
            if core.detector.ask(node, now.mono_ms) {
                core.ask(node, request.clone(), Owner::Nobody);
            }
        }
    }

    fn failure(&self) -> ClientError {
        let full = |refusal: &Refusal| *refusal == Refusal::ReadOnly;
        if !self.refused.is_empty() && self.refused.values().all(full) {
            return ClientError::OutOfSpace;
        }
        let (answered, needed) = match &self.reading {
            Some(reading) => (reading.answers, reading.needed),
            None => (self.acknowledged.len(), self.needed),
        };
        unavailable(answered, needed, self.refused.iter())
    }
}
