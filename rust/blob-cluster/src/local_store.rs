//! Carries out what a node asks of its disk, on real partitions.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{BlobId, PartitionId, RecordKind};
use afterbay_blob_store::{
    Changes, Clock, CompactionOptions, Directory, Durability, Error, Pacer, Partition, Record,
    SyncPoint, Unpaced, read_whole, write_whole,
};

use crate::message::{Found, Head, Piece, Refusal, record_bytes};
use crate::schedule::Schedule;
use crate::scrub_watch::{ScrubWatch, Unwatched};
use crate::store_call::{Damaged, Loaded, StoreAnswer, StoreOperation};
use crate::token::{LogPage, Tokens};

/// Segments with less garbage are not compacted.
const GARBAGE_PERCENT_MIN: u8 = 25;

/// The replicas of a node, and the directory of their tokens. All methods may be called by several threads at once; they wait
/// for the disk.
#[derive(Debug)]
pub struct LocalStore {
    clock: Arc<dyn Clock>,
    tokens: Arc<dyn Directory>,
    partitions: BTreeMap<PartitionId, Partition>,
    garbage_percent_min: u8,
    watch: Arc<dyn ScrubWatch>,
}

impl LocalStore {
    /// With these replicas. `tokens` is a directory of the node, which no partition has.
    pub fn new(
        clock: Arc<dyn Clock>,
        tokens: Arc<dyn Directory>,
        partitions: Vec<Partition>,
    ) -> Self {
        let partitions = partitions.into_iter().map(|p| (p.id(), p)).collect();
        let (garbage_percent_min, watch) = (GARBAGE_PERCENT_MIN, Arc::new(Unwatched));
        LocalStore { clock, tokens, partitions, garbage_percent_min, watch }
    }

    /// Scrubs are paced, and what they find is heard.
    pub fn with_watch(self, watch: Arc<dyn ScrubWatch>) -> Self {
        LocalStore { watch, ..self }
    }

    /// Compacts segments of which so many percent may go.
    pub fn with_garbage_percent_min(self, garbage_percent_min: u8) -> Self {
        LocalStore { garbage_percent_min, ..self }
    }

    /// One of the replicas.
    pub fn partition(&self, partition: PartitionId) -> Option<&Partition> {
        self.partitions.get(&partition)
    }

    /// All replicas.
    pub fn partitions(&self) -> impl Iterator<Item = &Partition> {
        self.partitions.values()
    }

    /// Carries out what [`crate::Action::Store`] says; the answer is for [`crate::Node::on_stored`].
    pub fn execute(&self, partition: PartitionId, operation: StoreOperation) -> StoreAnswer {
        let Some(partition) = self.partitions.get(&partition) else {
            return StoreAnswer::Failed(Refusal::NotHere);
        };
        match operation {
            StoreOperation::Load => StoreAnswer::Loaded(self.load(partition)),
            StoreOperation::Apply { records, durability, from_client, deadline_ms } => {
                let late = deadline_ms.is_some_and(|deadline| self.clock.now_ms() > deadline);
                StoreAnswer::Applied(match refusal_of(partition, &records, from_client, late) {
                    Some(refusal) => vec![Err(refusal)],
                    None => results(partition.apply(records, durability)),
                })
            }
            StoreOperation::Repair { records } => {
                StoreAnswer::Applied(results(partition.repair(records, Durability::Durable)))
            }
            StoreOperation::Known { id } => StoreAnswer::Known(known(partition, id)),
            StoreOperation::Read { id, range, also_deleted } => {
                StoreAnswer::Read(read(partition, id, range, also_deleted))
            }
            StoreOperation::Changes { from, limit } => {
                StoreAnswer::Changes(changes(partition, from, limit).map_err(Refusal::from))
            }
            StoreOperation::Missing { ids, expired_before_ms } => {
                let missing = partition.missing_unless_expired(&ids, expired_before_ms);
                StoreAnswer::Missing(missing.map_err(Refusal::from))
            }
            StoreOperation::Holds { lives } => StoreAnswer::Holds(holds(partition, lives)),
            StoreOperation::Export { ids, bytes_max } => {
                StoreAnswer::Exported(export(partition, ids, bytes_max))
            }
            StoreOperation::Expel { lives, time_ms } => {
                StoreAnswer::Applied(expel(partition, lives, time_ms))
            }
            StoreOperation::SaveTokens { tokens, sync } => {
                StoreAnswer::Saved(self.save(partition, tokens, sync))
            }
            StoreOperation::Flush => StoreAnswer::Flushed(partition.flush().map_err(Refusal::from)),
            StoreOperation::Compact { before_ms, tombstones_before, lost_is_repaired } => {
                let options = CompactionOptions {
                    deleted_before_ms: before_ms,
                    expired_before_ms: before_ms,
                    tombstones_before_sequence: tombstones_before,
                    garbage_percent_min: self.garbage_percent_min,
                    lost_is_repaired,
                };
                StoreAnswer::Compacted(compact(partition, &options).map_err(Refusal::from))
            }
            StoreOperation::Scrub { run, bytes_per_s } => StoreAnswer::Scrubbed(
                self.scrub(partition, run, bytes_per_s).map_err(Refusal::from),
            ),
            StoreOperation::Recount { run, bytes_per_s, ids } => {
                let pacer = self.pacer(run, bytes_per_s);
                let counted = partition.recount(&ids, &*pacer).map_err(Refusal::from);
                // Who has ended it does not listen.
                StoreAnswer::Recounted(counted.and_then(|counted| counted.ok_or(Refusal::NotReady)))
            }
            StoreOperation::SaveSchedule { schedule } => {
                StoreAnswer::Noted(self.save_schedule(partition.id(), schedule))
            }
        }
    }

    fn pacer(&self, run: u64, bytes_per_s: u64) -> Box<dyn Pacer + '_> {
        let all_bytes = self.partitions().map(Partition::scrub_bytes).sum();
        self.watch.pacer(run, bytes_per_s, all_bytes)
    }

    fn scrub(&self, partition: &Partition, run: u64, bytes_per_s: u64) -> Result<Damaged, Error> {
        let (id, pacer) = (partition.id(), self.pacer(run, bytes_per_s));
        let found = partition
            .damage_and_tell(&*pacer, &mut |finding| self.watch.found(run, id, finding))?;
        let mended = partition.mend(&found.spare).unwrap_or_else(|error| {
            tracing::warn!(partition = %id, %error, "what is stored twice could not be written again");
            0
        });
        Ok(Damaged {
            ids: found.ids,
            unknown: found.unknown,
            spare: found.spare.len(),
            mended,
            stopped: found.scrubbed.stopped,
        })
    }

    fn schedule(&self, id: PartitionId) -> Option<Schedule> {
        match read_whole(&*self.tokens, &schedule_name(id)) {
            Ok(bytes) => Schedule::parse(&bytes),
            Err(_) => None,
        }
    }

    fn save_schedule(&self, id: PartitionId, schedule: Schedule) -> Result<(), Refusal> {
        let name = schedule_name(id);
        self.write(&name, &schedule.encode())
    }

    /// A file of the node: it is there as a whole, or as if there were none.
    fn write(&self, name: &str, content: &[u8]) -> Result<(), Refusal> {
        let points = [SyncPoint::TokensData, SyncPoint::TokensEntry];
        write_whole(&*self.tokens, name, content, points)
            .map_err(|e| Refusal::Store(format!("{name}: {e}")))
    }

    fn load(&self, partition: &Partition) -> Result<Loaded, Refusal> {
        let id = partition.id();
        // What recovery found whole may not be synced yet by all that can be read.
        partition.flush()?;
        let tokens = match read_whole(&*self.tokens, &tokens_name(id)) {
            Ok(bytes) => match Tokens::parse(id, &bytes) {
                Ok(tokens) => Some(tokens),
                Err(error) => {
                    tracing::warn!(%error, "no tokens");
                    None
                }
            },
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => {
                tracing::warn!(partition = %id, error = %e, "tokens cannot be read");
                None
            }
        };
        Ok(Loaded {
            incarnation: partition.incarnation(),
            end: partition.status().next_sequence,
            tokens,
            unknown: partition.recovery().damaged.len(),
            schedule: self.schedule(id),
        })
    }

    /// Data first: what a token stands for is on the disk before it is.
    fn save(&self, partition: &Partition, tokens: Tokens, sync: bool) -> Result<u64, Refusal> {
        let own_end = partition.status().next_sequence;
        if sync {
            partition.flush()?;
        }
        let tokens = Tokens { own_incarnation: partition.incarnation(), own_end, ..tokens };
        let name = tokens_name(partition.id());
        self.write(&name, &tokens.encode())?;
        Ok(own_end)
    }
}

fn tokens_name(partition: PartitionId) -> String {
    format!("{partition}.tokens")
}

fn schedule_name(partition: PartitionId) -> String {
    format!("{partition}.verified")
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound(_) => Refusal::NotFound,
            // Whose reader needs it asks for the life.
            Error::Deleted(_) => Refusal::Deleted { life: 0 },
            Error::Expired(_) => Refusal::Expired,
            Error::Collision(_) => Refusal::Collision,
            Error::ReadOnly { .. } | Error::Full(_) | Error::DiskFull { .. } => Refusal::ReadOnly,
            error if error.is_damage() => Refusal::Damaged,
            error => Refusal::Store(error.to_string()),
        }
    }
}

fn results<T>(results: Vec<Result<T, Error>>) -> Vec<Result<(), Refusal>> {
    results.into_iter().map(|result| result.map(drop).map_err(Refusal::from)).collect()
}

/// Why records of a client are not taken.
fn refusal_of(
    partition: &Partition,
    records: &[Record],
    from_client: bool,
    late: bool,
) -> Option<Refusal> {
    if late {
        return Some(Refusal::Late);
    }
    let puts = records.iter().filter(|record| record.kind == RecordKind::Put);
    let bytes: usize = puts.map(record_bytes).sum();
    let (used, read_only) = partition.usage();
    let full = read_only || used + bytes as u64 > partition.threshold_bytes();
    (from_client && bytes > 0 && full).then_some(Refusal::ReadOnly)
}

/// All that is known of a blob; a put without its content.
fn known(partition: &Partition, id: BlobId) -> Result<Vec<Record>, Refusal> {
    let mut records = partition.known(id)?;
    let put = |time_ms, expires_ms| {
        let kind = RecordKind::Put;
        Record { id, kind, life: 0, time_ms, expires_ms, content: None }
    };
    match partition.get_deleted(id) {
        Ok((reader, _)) => records.insert(0, put(reader.created_ms(), reader.expires_ms())),
        Err(Error::NotFound(_)) => {}
        // It is here, and must be fetched.
        Err(error) if error.is_damage() => records.insert(0, put(0, 0)),
        Err(error) => return Err(error.into()),
    }
    Ok(records)
}

/// Which blobs are known, in that life or a later one. As long as records are lost here, nobody knows what they said: it may be any of these.
fn holds(partition: &Partition, lives: Vec<(BlobId, u32)>) -> Result<Vec<bool>, Refusal> {
    let mut holds = Vec::new();
    for (id, life) in lives {
        let records = known(partition, id)?;
        holds.push(!records.is_empty() && life_of(&records).0 >= life);
    }
    if holds.contains(&false) && partition.lossy_segments()? > 0 {
        holds.fill(true);
    }
    Ok(holds)
}

/// The life that records say a blob has, and whether it is deleted.
fn life_of(records: &[Record]) -> (u32, bool) {
    let greatest = |deletes: bool| {
        let is = |record: &&Record| (record.kind == RecordKind::Delete) == deletes;
        let lives = records.iter().filter(|record| record.kind != RecordKind::TtlUpdate);
        lives.filter(is).map(|record| record.life).max()
    };
    let (alive, deleted) = (greatest(false).unwrap_or(0), greatest(true));
    (alive.max(deleted.unwrap_or(0)), deleted.is_some_and(|deleted| deleted >= alive))
}

fn read(
    partition: &Partition,
    id: BlobId,
    range: Range<u32>,
    also_deleted: bool,
) -> Result<Piece, Refusal> {
    let opened = if also_deleted {
        partition.get_deleted(id).map(|(reader, _)| reader)
    } else {
        partition.get(id)
    };
    let reader = match opened {
        Err(Error::Deleted(_)) => {
            let (life, _) = life_of(&partition.known(id)?);
            return Err(Refusal::Deleted { life });
        }
        reader => reader?,
    };
    let (life, _) = life_of(&partition.known(id)?);
    let head = Head {
        body_bytes: reader.body_bytes(),
        created_ms: reader.created_ms(),
        expires_ms: reader.expires_ms(),
        life,
        container: reader.container(),
        properties: reader.stored_properties().clone(),
    };
    let bytes = reader.read_range(range.clone())?;
    Ok(Piece { head, offset: range.start, bytes })
}

fn changes(partition: &Partition, from: u64, limit: usize) -> Result<LogPage, Error> {
    // Before the changes: tombstones that go meanwhile are not missed.
    let before = partition.status().next_sequence;
    let mut changes = Changes { changes: Vec::new(), next_sequence: from };
    if from < before {
        changes = partition.changes_since(from, limit)?;
        if changes.changes.is_empty() && changes.next_sequence < before {
            // Written at `fast`: others are told of what is on the disk.
            partition.flush()?;
            changes = partition.changes_since(from, limit)?;
        }
    }
    let horizon = partition.tombstone_horizon();
    let end = partition.status().next_sequence;
    let next_sequence = changes.next_sequence.min(end.max(from));
    Ok(LogPage { horizon, end, changes: changes.changes, next_sequence })
}

fn export(partition: &Partition, ids: Vec<BlobId>, bytes_max: usize) -> Vec<Found> {
    let mut found = Vec::new();
    let mut bytes = 0;
    for id in ids {
        if bytes >= bytes_max {
            break;
        }
        let records = match partition.export(id) {
            Ok(records) if records.is_empty() => Err(Refusal::NotFound),
            other => other.map_err(Refusal::from),
        };
        bytes += records.as_deref().map_or(0, |r| r.iter().map(record_bytes).sum());
        found.push((id, records));
    }
    found
}

fn expel(
    partition: &Partition,
    lives: Vec<(BlobId, u32)>,
    time_ms: u64,
) -> Vec<Result<(), Refusal>> {
    let mut deletes = Vec::new();
    for (id, forgotten) in lives {
        match known(partition, id) {
            Ok(records) => {
                let (life, is_deleted) = life_of(&records);
                let kind = RecordKind::Delete;
                if !is_deleted && life <= forgotten {
                    deletes.push(Record { id, kind, life, time_ms, expires_ms: 0, content: None });
                }
            }
            Err(refusal) => return vec![Err(refusal)],
        }
    }
    results(partition.apply(deletes, Durability::Durable))
}

/// As long as there is something that may go.
fn compact(partition: &Partition, options: &CompactionOptions) -> Result<(), Error> {
    loop {
        let report = partition.compact(options, &Unpaced)?;
        if report.segments_before == 0 || report.given_up {
            return Ok(());
        }
    }
}
