//! How messages, operations and answers are written into logs and traces: ids as people know them, bytes as their number.

use std::fmt::{self, Debug, Formatter};

use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_store::{Change, Record};

use crate::core::{ClientAnswer, ClientRequest};
use crate::message::{Cursor, Found, Page, Piece, Refusal, Reply, Request, Since};
use crate::store_call::{Damaged, StoreAnswer, StoreOperation};
use crate::token::{LogPage, Position, Token};

/// Something with a short form.
struct Brief<T>(T);

fn all<T>(items: &[T]) -> Vec<Brief<&T>> {
    items.iter().map(Brief).collect()
}

impl Debug for Brief<&BlobId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Debug for Brief<&(BlobId, u32)> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (id, life) = self.0;
        write!(f, "{id} life {life}")
    }
}

impl Debug for Brief<&PartitionId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.0)
    }
}

impl Debug for Brief<&Record> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Record { id, kind, life, time_ms, expires_ms, content } = self.0;
        write!(f, "{kind:?} {id} life {life} at {time_ms}")?;
        if *expires_ms != 0 {
            write!(f, " expires {expires_ms}")?;
        }
        content.as_ref().map_or(Ok(()), |content| write!(f, " {} bytes", content.body.len()))
    }
}

impl Debug for Brief<&Change> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Change { sequence, id, kind, life, time_ms, .. } = self.0;
        write!(f, "{sequence}: {kind:?} {id} life {life} at {time_ms}")
    }
}

impl Debug for Brief<&Position> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.epoch.simple(), self.0.sequence)
    }
}

impl Debug for Brief<&Token> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.position().as_ref().map(Brief))
    }
}

impl Debug for Brief<&Cursor> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.epoch.simple(), self.0.sequence)
    }
}

impl Debug for Brief<&Piece> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Piece { head, offset, bytes } = self.0;
        let (of, life) = (head.body_bytes, head.life);
        write!(f, "{} bytes from {offset} on, of {of}, life {life}", bytes.len())
    }
}

impl Debug for Brief<&Since> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Since { partition, token, compare, own_end, .. } = self.0;
        write!(f, "{} since {:?}", partition.0, token.as_ref().map(Brief))?;
        if let Some(cursor) = compare {
            write!(f, ", comparing from {} on", cursor.sequence)?;
        }
        write!(f, ", own end {own_end}")
    }
}

impl Debug for Brief<&Page> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Page { changes, next, end, horizon, .. } = self.0;
        write!(f, "{:?}, next {:?}, end {end}, horizon {horizon}", all(changes), Brief(next))
    }
}

impl Debug for Brief<&LogPage> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let LogPage { horizon, end, changes, next_sequence } = self.0;
        write!(f, "{:?}, next {next_sequence}, end {end}, horizon {horizon}", all(changes))
    }
}

impl Debug for Brief<&Vec<Record>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(all(self.0)).finish()
    }
}

impl Debug for Brief<&Vec<BlobId>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(all(self.0)).finish()
    }
}

impl Debug for Brief<&Found> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.0.0, brief(&self.0.1))
    }
}

impl Debug for Brief<&Vec<Found>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(all(self.0)).finish()
    }
}

impl Debug for Brief<&(PartitionId, Result<Page, Refusal>)> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.0.0.0, brief(&self.0.1))
    }
}

fn brief<T>(result: &Result<T, Refusal>) -> Result<Brief<&T>, &Refusal> {
    result.as_ref().map(Brief)
}

impl Debug for Request {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Request::Write { records, durability, deadline_ms, .. } => {
                write!(f, "Write {:?} {durability:?} until {deadline_ms}", all(records))
            }
            Request::Known { id } => write!(f, "Known {id}"),
            Request::Read { id, range, .. } => write!(f, "Read {id} {range:?}"),
            Request::Changes(since) => write!(f, "Changes {:?}", all(since)),
            Request::Holds { lives, .. } => write!(f, "Holds {:?}", all(lives)),
            Request::Fetch { ids, .. } => write!(f, "Fetch {:?}", all(ids)),
        }
    }
}

impl Debug for Reply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Written(written) => write!(f, "Written {written:?}"),
            Reply::Known(known) => write!(f, "Known {:?}", brief(known)),
            Reply::Read(piece) => write!(f, "Read {:?}", brief(piece)),
            Reply::Changes(pages) => write!(f, "Changes {:?}", all(pages)),
            Reply::Holds(holds) => write!(f, "Holds {holds:?}"),
            Reply::Fetched(found) => write!(f, "Fetched {:?}", brief(found)),
        }
    }
}

impl Debug for StoreOperation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StoreOperation::Load => write!(f, "Load"),
            StoreOperation::Apply { records, durability, from_client, .. } => {
                let who = if *from_client { "client" } else { "replica" };
                write!(f, "Apply {:?} {durability:?} of a {who}", all(records))
            }
            StoreOperation::Repair { records } => write!(f, "Repair {:?}", all(records)),
            StoreOperation::Known { id } => write!(f, "Known {id}"),
            StoreOperation::Read { id, range, .. } => write!(f, "Read {id} {range:?}"),
            StoreOperation::Changes { from, limit } => write!(f, "Changes {limit} from {from} on"),
            StoreOperation::Missing { ids, .. } => write!(f, "Missing {:?}", all(ids)),
            StoreOperation::Holds { lives } => write!(f, "Holds {:?}", all(lives)),
            StoreOperation::Export { ids, .. } => write!(f, "Export {:?}", all(ids)),
            StoreOperation::Expel { lives, time_ms } => {
                write!(f, "Expel {:?} at {time_ms}", all(lives))
            }
            StoreOperation::SaveTokens { tokens, sync } => {
                let of = tokens.of.iter().map(|(node, token)| (node.as_str(), Brief(token)));
                write!(f, "SaveTokens sync {sync} ")?;
                f.debug_map().entries(of).finish()
            }
            StoreOperation::Compact { before_ms, tombstones_before, lost_is_repaired } => write!(
                f,
                "Compact before {before_ms}, tombstones before {tombstones_before}, lost is repaired {lost_is_repaired}"
            ),
            StoreOperation::Flush => write!(f, "Flush"),
            StoreOperation::Scrub { run, .. } => write!(f, "Scrub {run}"),
            StoreOperation::Recount { run, ids, .. } => {
                write!(f, "Recount {run} {:?}", all(ids))
            }
            StoreOperation::SaveSchedule { schedule } => {
                write!(f, "SaveSchedule {} due {}", schedule.verified_ms, schedule.due_ms)
            }
        }
    }
}

impl Debug for StoreAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StoreAnswer::Loaded(Ok(loaded)) => {
                let tokens = loaded.tokens.as_ref().map(|tokens| tokens.of.len());
                let (incarnation, end) = (loaded.incarnation.simple(), loaded.end);
                write!(f, "Loaded {incarnation} end {end} tokens {tokens:?}")
            }
            StoreAnswer::Loaded(Err(refusal)) => write!(f, "Loaded {refusal:?}"),
            StoreAnswer::Applied(results) => write!(f, "Applied {results:?}"),
            StoreAnswer::Known(known) => write!(f, "Known {:?}", brief(known)),
            StoreAnswer::Read(piece) => write!(f, "Read {:?}", brief(piece)),
            StoreAnswer::Changes(page) => write!(f, "Changes {:?}", brief(page)),
            StoreAnswer::Missing(ids) => write!(f, "Missing {:?}", brief(ids)),
            StoreAnswer::Holds(holds) => write!(f, "Holds {holds:?}"),
            StoreAnswer::Exported(found) => write!(f, "Exported {:?}", all(found)),
            StoreAnswer::Saved(end) => write!(f, "Saved {end:?}"),
            StoreAnswer::Flushed(flushed) => write!(f, "Flushed {flushed:?}"),
            StoreAnswer::Compacted(compacted) => write!(f, "Compacted {compacted:?}"),
            StoreAnswer::Scrubbed(Ok(damaged)) => {
                let Damaged { ids, unknown, spare, mended, stopped } = damaged;
                write!(
                    f,
                    "Scrubbed {:?}, {unknown} unknown, {mended} of {spare} spare mended",
                    all(ids)
                )?;
                if *stopped { write!(f, ", stopped") } else { Ok(()) }
            }
            StoreAnswer::Scrubbed(Err(refusal)) => write!(f, "Scrubbed {refusal:?}"),
            StoreAnswer::Recounted(Ok(recount)) => {
                write!(f, "Recounted {:?}, {} garbage", all(&recount.damaged), recount.garbage)
            }
            StoreAnswer::Recounted(Err(refusal)) => write!(f, "Recounted {refusal:?}"),
            StoreAnswer::Noted(noted) => write!(f, "Noted {noted:?}"),
            StoreAnswer::Failed(refusal) => write!(f, "Failed {refusal:?}"),
        }
    }
}

impl Debug for ClientRequest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ClientRequest::Put { content, expires_ms, class, policy } => {
                let bytes = content.body.len();
                write!(f, "Put {bytes} bytes expires {expires_ms} {class:?} {policy}")
            }
            ClientRequest::PutAs { id, content, expires_ms, class, policy } => {
                let bytes = content.body.len();
                write!(f, "PutAs {id} {bytes} bytes expires {expires_ms} {class:?} {policy}")
            }
            ClientRequest::Get { id, range } => write!(f, "Get {id} {range:?}"),
            ClientRequest::GetDeleted { id, range } => write!(f, "GetDeleted {id} {range:?}"),
            ClientRequest::Delete { id, class, policy } => {
                write!(f, "Delete {id} {class:?} {policy}")
            }
            ClientRequest::Undelete { id, class, policy } => {
                write!(f, "Undelete {id} {class:?} {policy}")
            }
            ClientRequest::UpdateTtl { id, expires_ms, class, policy } => {
                write!(f, "UpdateTtl {id} to {expires_ms} {class:?} {policy}")
            }
        }
    }
}

impl Debug for ClientAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = |replicas: &[crate::NodeId]| {
            replicas.iter().map(|node| node.as_str().to_owned()).collect::<Vec<_>>()
        };
        match self {
            ClientAnswer::Put { id, replicas } => write!(f, "Put {id} by {:?}", names(replicas)),
            ClientAnswer::Got { head, bytes } => {
                write!(f, "Got {} bytes of {}", bytes.len(), head.body_bytes)
            }
            ClientAnswer::Done { replicas } => write!(f, "Done by {:?}", names(replicas)),
            ClientAnswer::Failed(error) => write!(f, "Failed: {error}"),
        }
    }
}
