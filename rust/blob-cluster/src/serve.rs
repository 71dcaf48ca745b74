//! Answers other nodes, and this one: what they ask for is asked of the store.

use std::collections::BTreeMap;

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_store::Durability;

use crate::core::{Core, Served, StoreOwner};
use crate::identity::NodeId;
use crate::lineage::Lineage;
use crate::message::{Call, CompareReason, Cursor, Page, Refusal, Reply, Request, Since};
use crate::replica::Replica;
use crate::store_call::{StoreAnswer, StoreOperation};
use crate::token::{LogPage, Standing};

pub(crate) type Replicas = BTreeMap<PartitionId, Replica>;

/// Answers about several partitions, of which some are not known yet.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    under_way: BTreeMap<u64, Gather>,
}

#[derive(Debug)]
struct Gather {
    to: NodeId,
    call: Call,
    since: Vec<Since>,
    pages: Vec<Option<Result<Page, Refusal>>>,
}

pub(crate) fn serve(
    core: &mut Core,
    replicas: &mut Replicas,
    gathered: &mut Gathered,
    from: &NodeId,
    call: Call,
    request: Request,
) {
    if core.stores_under_way() >= core.options.serving_max {
        refuse(core, from, call, &request, Refusal::Busy);
        return;
    }
    let (id, of) = match &request {
        Request::Changes(_) => {
            let Request::Changes(since) = request else { return };
            gathered.begin(core, replicas, from, call, since);
            return;
        }
        Request::Write { id, .. } => (id.partition, Of::Log),
        Request::Known { id } | Request::Read { id, .. } => (id.partition, Of::Blobs),
        Request::Holds { partition, .. } | Request::Fetch { partition, .. } => {
            (*partition, Of::Blobs)
        }
    };
    if let Err(refusal) = may_answer(replicas.get(&id), of) {
        refuse(core, from, call, &request, refusal);
        return;
    }
    if let Request::Holds { epoch, .. } = &request
        && core.rules.same_log
        && replicas.get(&id).and_then(|replica| replica.lineage.current()) != Some(*epoch)
    {
        // It compares with a log that is not this one any more, and begins anew.
        refuse(core, from, call, &request, Refusal::NotReady);
        return;
    }
    let (operation, served) = match request {
        Request::Write { records, durability, deadline_ms, .. } => {
            if core.rules.deadline && core.now.wall_ms > deadline_ms {
                core.reply(from, call, Reply::Written(Err(Refusal::Late)));
                return;
            }
            let deadline_ms = core.rules.deadline.then_some(deadline_ms);
            let mut records = records;
            if !core.rules.stamp {
                records.iter_mut().for_each(|record| record.time_ms = core.now.wall_ms);
            }
            (
                StoreOperation::Apply { records, durability, from_client: true, deadline_ms },
                Served::Write(durability),
            )
        }
        Request::Known { id } => (StoreOperation::Known { id }, Served::Known),
        Request::Read { id, range, also_deleted } => {
            // Who asks for more goes on where this ends.
            let end = range.start.saturating_add(core.options.piece_bytes).min(range.end);
            let range = range.start..end;
            (StoreOperation::Read { id, range, also_deleted }, Served::Read(id))
        }
        Request::Holds { lives, .. } => (StoreOperation::Holds { lives }, Served::Holds),
        Request::Fetch { ids, bytes_max, .. } => {
            let bytes_max = bytes_max.min(core.options.fetch_bytes_max);
            (StoreOperation::Export { ids, bytes_max }, Served::Fetch)
        }
        Request::Changes(_) => return,
    };
    core.store(id, operation, StoreOwner::Serve(from.clone(), call, served));
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// What the replica has: not while that is in doubt.
    Blobs,
    /// What it takes, and has taken when: not before its epoch is on the disk. What is written now is no matter of doubt; and that
    /// it is in doubt it learns from the tokens of others.
    Log,
}

fn may_answer(replica: Option<&Replica>, of: Of) -> Result<(), Refusal> {
    let replica = replica.ok_or(Refusal::NotHere)?;
    match of {
        Of::Blobs if !replica.is_open => Err(Refusal::NotReady),
        Of::Blobs if replica.suspect => Err(Refusal::Suspect),
        Of::Log if replica.log.is_none() => {
            Err(replica.not_loaded.clone().unwrap_or(Refusal::NotReady))
        }
        Of::Blobs | Of::Log => Ok(()),
    }
}

fn refuse(core: &mut Core, from: &NodeId, call: Call, request: &Request, refusal: Refusal) {
    let reply = match request {
        Request::Write { .. } => Reply::Written(Err(refusal)),
        Request::Known { .. } => Reply::Known(Err(refusal)),
        Request::Read { .. } => Reply::Read(Err(refusal)),
        Request::Changes(since) => Reply::Changes(
            since.iter().map(|since| (since.partition, Err(refusal.clone()))).collect(),
        ),
        Request::Holds { .. } => Reply::Holds(Err(refusal)),
        Request::Fetch { .. } => Reply::Fetched(Err(refusal)),
    };
    core.reply(from, call, reply);
}

/// The store has answered.
pub(crate) fn on_stored(
    core: &mut Core,
    replicas: &mut Replicas,
    gathered: &mut Gathered,
    partition: PartitionId,
    (to, call, served): (NodeId, Call, Served),
    answer: StoreAnswer,
) {
    let Some(replica) = replicas.get_mut(&partition) else { return };
    let failed = match &answer {
        StoreAnswer::Failed(refusal) => refusal.clone(),
        _ => Refusal::Store("the store has answered something else".to_owned()),
    };
    let reply = match (served, answer) {
        (Served::Write(durability), StoreAnswer::Applied(results)) => {
            if durability == Durability::Fast {
                replica.unsynced.add(core);
            }
            Reply::Written(results.into_iter().find(Result::is_err).unwrap_or(Ok(())))
        }
        (Served::Write(_), _) => Reply::Written(Err(failed)),
        (Served::Known, StoreAnswer::Known(known)) => {
            let filled = replica.is_filled(core);
            Reply::Known(match known {
                Ok(records) if records.is_empty() && !filled => Err(Refusal::NotReady),
                known => known,
            })
        }
        (Served::Known, _) => Reply::Known(Err(failed)),
        (Served::Read(id), StoreAnswer::Read(read)) => {
            note_damage(core, replica, id, read.as_ref().err());
            Reply::Read(match read {
                Err(Refusal::NotFound) if !replica.is_filled(core) => Err(Refusal::NotReady),
                read => read,
            })
        }
        (Served::Read(_), _) => Reply::Read(Err(failed)),
        (Served::Holds, StoreAnswer::Holds(holds)) => Reply::Holds(holds),
        (Served::Holds, _) => Reply::Holds(Err(failed)),
        (Served::Fetch, StoreAnswer::Exported(found)) => {
            for (id, records) in &found {
                note_damage(core, replica, *id, records.as_ref().err());
            }
            Reply::Fetched(Ok(found))
        }
        (Served::Fetch, _) => Reply::Fetched(Err(failed)),
        (Served::Changes(gather, at), answer) => {
            let page = match answer {
                StoreAnswer::Changes(page) => page,
                _ => Err(failed),
            };
            gathered.add(core, replica, gather, at, page);
            return;
        }
    };
    core.reply(&to, call, reply);
}

/// What a reader meets is repaired without waiting for a scrub.
fn note_damage(core: &Core, replica: &mut Replica, id: BlobId, refusal: Option<&Refusal>) {
    if refusal == Some(&Refusal::Damaged) {
        replica.repairs.damaged(core, id);
    }
}

impl Gathered {
    fn begin(
        &mut self,
        core: &mut Core,
        replicas: &mut Replicas,
        from: &NodeId,
        call: Call,
        since: Vec<Since>,
    ) {
        let number = core.number();
        let pages = vec![None; since.len()];
        let gather = Gather { to: from.clone(), call, since, pages };
        let asked: Vec<_> = gather.since.iter().map(|since| read_from(core, since)).collect();
        let partitions: Vec<_> = gather.since.iter().map(|since| since.partition).collect();
        self.under_way.insert(number, gather);
        for (at, (partition, (from_sequence, limit))) in
            partitions.into_iter().zip(asked).enumerate()
        {
            match may_answer(replicas.get(&partition), Of::Log) {
                Ok(()) => {
                    let operation = StoreOperation::Changes { from: from_sequence, limit };
                    let served = Served::Changes(number, at);
                    core.store(partition, operation, StoreOwner::Serve(from.clone(), call, served));
                }
                Err(refusal) => self.set(number, at, Err(refusal)),
            }
        }
        self.finish(core, number);
    }

    fn add(
        &mut self,
        core: &mut Core,
        replica: &mut Replica,
        number: u64,
        at: usize,
        page: Result<LogPage, Refusal>,
    ) {
        let Some(gather) = self.under_way.get(&number) else { return };
        let Some(since) = gather.since.get(at) else { return };
        let page = page.and_then(|page| answer(core, replica, &gather.to, since, page));
        self.set(number, at, page);
        self.finish(core, number);
    }

    fn set(&mut self, number: u64, at: usize, page: Result<Page, Refusal>) {
        if let Some(slot) = self.under_way.get_mut(&number).and_then(|g| g.pages.get_mut(at)) {
            *slot = Some(page);
        }
    }

    fn finish(&mut self, core: &mut Core, number: u64) {
        let is_whole = |gather: &Gather| gather.pages.iter().all(Option::is_some);
        if !self.under_way.get(&number).is_some_and(is_whole) {
            return;
        }
        if let Some(Gather { to, call, since, pages }) = self.under_way.remove(&number) {
            let partitions = since.iter().map(|since| since.partition);
            let pages = partitions.zip(pages.into_iter().flatten()).collect();
            core.reply(&to, call, Reply::Changes(pages));
        }
    }
}

/// Which records of its log a replica has to look at for an answer.
fn read_from(core: &Core, since: &Since) -> (u64, usize) {
    let limit = since.limit.clamp(1, core.options.page_records);
    match (&since.compare, &since.token) {
        (Some(cursor), _) if *cursor != Cursor::ANEW => (cursor.sequence, limit),
        (_, Some(token)) => (token.sequence, limit),
        (_, None) => (u64::MAX, 1),
    }
}

/// Judges where a peer says that it is, and answers.
fn answer(
    core: &Core,
    replica: &mut Replica,
    to: &NodeId,
    since: &Since,
    page: LogPage,
) -> Result<Page, Refusal> {
    let (log, rules) = (&replica.lineage, &core.rules);
    let standing = match &since.token {
        None => Standing::Compare(CompareReason::NoToken),
        Some(token) if since.compare.is_some_and(|cursor| cursor != Cursor::ANEW) => {
            token.standing_of_log(log, page.end, rules)
        }
        Some(token) => token.standing(log, &page, rules),
    };
    if let (Standing::PutBack, Some(token)) = (standing, &since.token) {
        replica.hear_of_lost(core, token);
    }
    let epoch = replica.lineage.current().ok_or(Refusal::NotReady)?;
    if replica.suspect {
        return Err(Refusal::Suspect);
    }
    replica.note_passed(to, since, page.end);
    let compare =
        |reason| Refusal::Compare { reason, epoch, end: page.end, covers: replica.known_of(to) };
    let from = match (&since.compare, standing, &since.token) {
        (Some(cursor), ..) if cursor.epoch != epoch => {
            return Err(compare(CompareReason::UnknownIncarnation));
        }
        (Some(cursor), ..) => cursor.sequence,
        (None, Standing::Compare(reason), _) => return Err(compare(reason)),
        (None, Standing::PutBack, _) => return Err(compare(CompareReason::PutBack)),
        (None, Standing::Valid, Some(token)) => token.sequence,
        (None, Standing::Valid, None) => return Err(compare(CompareReason::NoToken)),
    };
    let LogPage { horizon, end, mut changes, next_sequence } = page;
    changes.retain(|change| change.sequence >= from);
    let next = Cursor { epoch, sequence: next_sequence.max(from) };
    let is_known = since.token.is_some_and(|token| token.epoch == epoch);
    let lineage = if is_known { Lineage::default() } else { replica.lineage.clone() };
    Ok(Page { changes, next, lineage, end, horizon })
}
