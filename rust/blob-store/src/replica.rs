//! What a partition does as one of several replicas: says what it knows, takes what others know, and is repaired from them.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use afterbay_blob_format::{BlobId, Manifest, RecordKind, ReplicaState};
use bytes::Bytes;
use uuid::Uuid;

use crate::blob_state::{BlobState, Condition, Place};
use crate::compaction::Pacer;
use crate::directory::Wait;
use crate::error::Result;
use crate::log_file::log_number;
use crate::manifest_file;
use crate::options::{Durability, Written};
use crate::partition::Partition;
use crate::record::{Content, Record};
use crate::repair::repair_index;
use crate::request::Request;
use crate::scrub::{Finding, Scrubbed};
use crate::sealed::{index_number, is_gapless};
use crate::writer::read_back;

/// What of a partition is not as it was written, and can be had from other replicas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    /// Blobs of which a record that counts is damaged or cannot be read: [`Partition::repair`] them.
    pub ids: Vec<BlobId>,
    /// Places of which nobody knows whose they are: what they said is found by comparing all blobs with another replica.
    pub unknown: usize,
    /// Files in which something is damaged that is stored a second time or can be computed again: [`Partition::mend`] them.
    pub spare: Vec<String>,
    /// What was looked at.
    pub scrubbed: Scrubbed,
}

/// What of some blobs is not as it was written, counted anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recount {
    /// Blobs of which a record that counts is damaged or cannot be read.
    pub damaged: Vec<BlobId>,
    /// So many others are deleted or expired, and nothing but their content is damaged: nobody reads it.
    pub garbage: usize,
}

impl Partition {
    /// Which life of this replica it is: made with it, and anew by [`Partition::renew_incarnation`]. Sequence numbers of another
    /// incarnation say nothing.
    pub fn incarnation(&self) -> Uuid {
        self.replica_state().incarnation
    }

    /// Begins another incarnation, for who has put the files of a backup in the place of the replica's: it may have told
    /// others of records since that are not here, under numbers that will be given to others. Returns when it is on the disk.
    pub fn renew_incarnation(&self) -> Result<Uuid> {
        let mut writer = self.writer();
        self.shared.check_writable()?;
        let incarnation = writer.identities.uuid();
        let replica = writer.manifest.replica.map(|state| ReplicaState { incarnation, ..state });
        let manifest = Manifest { replica, ..writer.manifest.clone() };
        writer.publish_manifest(&self.shared, manifest)?;
        Ok(incarnation)
    }

    /// Deletes, undeletes and TTL updates with a lower sequence number may have been compacted away. Who has not seen all
    /// changes before it cannot go on from where it was: what is not told of may be deleted, or never have been here.
    pub fn tombstone_horizon(&self) -> u64 {
        self.replica_state().tombstone_horizon
    }

    fn replica_state(&self) -> ReplicaState {
        // Set when it is opened.
        let none = ReplicaState { incarnation: Uuid::nil(), tombstone_horizon: u64::MAX };
        self.writer().manifest.replica.unwrap_or(none)
    }

    /// Which of `ids` another replica has to be asked for: those that are not deleted here, and whose content is not here.
    pub fn missing(&self, ids: &[BlobId]) -> Result<Vec<BlobId>> {
        self.missing_unless_expired(ids, 0)
    }

    /// The same, without those of which a TTL update says that they expired before a time, in milliseconds since 1970: other
    /// replicas whose [`crate::CompactionOptions::expired_before_ms`] is that have dropped their content, too.
    pub fn missing_unless_expired(
        &self,
        ids: &[BlobId],
        expired_before_ms: u64,
    ) -> Result<Vec<BlobId>> {
        let mut missing = Vec::new();
        for &id in ids {
            if self.state(id)?.is_missing(expired_before_ms) {
                missing.push(id);
            }
        }
        Ok(missing)
    }

    /// All that is known of a blob, for another replica: the put, if its content is here, read and verified; then the greatest
    /// TTL update, delete and undelete. Nothing of a blob that is not known. [`crate::Error::Damaged`] and
    /// [`crate::Error::Unreadable`] say that another replica has to be asked.
    pub fn export(&self, id: BlobId) -> Result<Vec<Record>> {
        let state = self.state(id)?;
        let mut records = Vec::new();
        if let Some(place) = &state.put {
            records.push(put_of(id, place)?);
        }
        records.extend(facts_of(id, &state));
        Ok(records)
    }

    /// The same without the put.
    pub fn known(&self, id: BlobId) -> Result<Vec<Record>> {
        Ok(facts_of(id, &self.state(id)?).collect())
    }

    /// As far as the indexes say.
    fn state(&self, id: BlobId) -> Result<BlobState> {
        self.check_partition(id)?;
        self.repairing(|| self.shared.find(id.uuid, &[], Wait::ForDisk))
    }

    /// Takes records that other replicas or a coordinator have stamped, in one group: they are synced together. One result for
    /// each. [`Written::Before`] says that it was known. The same records lead to the same state in whatever order, and however
    /// often, they come.
    ///
    /// A put whose content is here and damaged takes the place of what is here. Not refused above the threshold.
    pub fn apply(&self, records: Vec<Record>, durability: Durability) -> Vec<Result<Written>> {
        self.carry_out(records.into_iter().map(|record| self.prepare_record(record, durability)))
    }

    fn prepare_record(&self, record: Record, durability: Durability) -> Result<Request> {
        self.check_partition(record.id)?;
        Request::of_record(record, durability)
    }

    /// The same; and what this replica knows of these blobs by records that are damaged or cannot be read is written again.
    /// `records` are what another replica says by [`Partition::export`].
    pub fn repair(&self, records: Vec<Record>, durability: Durability) -> Vec<Result<Written>> {
        let kinds: Vec<_> = records.iter().map(|record| (record.id, record.kind)).collect();
        let mut results = self.apply(records, durability);
        let ids: BTreeSet<BlobId> = kinds.iter().map(|(id, _)| *id).collect();
        for id in ids {
            let rewritten = self.write_damaged_again(id, durability);
            for (of, result) in kinds.iter().zip(&mut results).filter(|((of, _), _)| *of == id) {
                match &rewritten {
                    Ok(kinds) if result.is_ok() && kinds.contains(&of.1) => {
                        *result = Ok(Written::Now);
                    }
                    Err(error) if result.is_ok() => *result = Err(error.clone()),
                    _ => {}
                }
            }
        }
        results
    }

    /// Records without content are in the index as a whole. Of which kinds there were damaged ones.
    fn write_damaged_again(&self, id: BlobId, durability: Durability) -> Result<Vec<RecordKind>> {
        let state = self.state(id)?;
        let mut requests = Vec::new();
        for place in state.facts() {
            if is_damaged(place)? {
                let record = Record::of(id, &place.entry);
                requests.push(Request { again: true, ..Request::of_record(record, durability)? });
            }
        }
        let kinds = state.facts().map(|place| place.entry.kind);
        let again: Vec<_> = requests.iter().map(Request::kind).collect();
        let kinds = kinds.filter(|kind| again.contains(kind)).collect();
        self.carry_out(requests.into_iter().map(Ok)).into_iter().collect::<Result<Vec<_>>>()?;
        self.note_repaired(&again);
        Ok(kinds)
    }

    fn note_repaired(&self, kinds: &[RecordKind]) {
        if !kinds.is_empty() {
            self.repaired.store(true, Ordering::Relaxed);
        }
    }

    /// Verifies everything that is stored, as [`Partition::scrub`] does, and says what to ask other replicas for. Damage in
    /// records that another one has replaced is none.
    pub fn damage(&self, pacer: &dyn Pacer) -> Result<Damage> {
        self.damage_and_tell(pacer, &mut |_| ())
    }

    /// The same, and gives each place that is not as it was written to `tell`.
    pub fn damage_and_tell(
        &self,
        pacer: &dyn Pacer,
        tell: &mut dyn FnMut(&Finding),
    ) -> Result<Damage> {
        let (mut ids, mut unknown, mut spare) = (BTreeSet::new(), 0, BTreeSet::new());
        let scrubbed = self.scrub(pacer, &mut |finding| {
            tell(&finding);
            match finding.blob {
                Some(id) => {
                    ids.insert(id);
                }
                None if finding.is_of_unknown() && is_log(&finding.file) => unknown += 1,
                // The manifest is in memory, too.
                None => {
                    spare.insert(finding.file);
                }
            }
        })?;
        let mut damaged = Vec::new();
        for id in ids {
            if self.counts_on_damage(id)? {
                damaged.push(id);
            }
        }
        Ok(Damage { ids: damaged, unknown, spare: spare.into_iter().collect(), scrubbed })
    }

    /// Writes again what is stored a second time or can be computed again: the indexes and the manifest among these files. How many
    /// of them are whole then, read from the disk once more. The damaged header of a segment stays until the segment is compacted.
    pub fn mend(&self, files: &[String]) -> Result<usize> {
        let mut mended = 0;
        for file in files {
            if self.write_spare_again(file)? {
                mended += usize::from(self.is_spare_whole(file)?);
            }
        }
        Ok(mended)
    }

    fn write_spare_again(&self, file: &str) -> Result<bool> {
        if let Some(number) = index_number(file) {
            let writer = self.writer();
            repair_index(&*writer.directory, &self.shared, number)?;
            return Ok(true);
        }
        if file != manifest_file::NAME {
            return Ok(false);
        }
        let mut writer = self.writer();
        self.shared.check_writable()?;
        let manifest = writer.manifest.clone();
        writer.publish_manifest(&self.shared, manifest)?;
        Ok(true)
    }

    /// Reads what counts of these blobs once more, from the disk, as if nothing were known of an earlier reading; `None` if the
    /// pacer has ended that.
    pub fn recount(&self, ids: &[BlobId], pacer: &dyn Pacer) -> Result<Option<Recount>> {
        let now_ms = self.writer().clock.now_ms();
        let mut recount = Recount::default();
        for &id in ids {
            let state = self.state(id)?;
            let places = state.put.iter().chain(state.facts());
            let bytes: u64 = places.map(|place| u64::from(place.entry.length)).sum();
            if pacer.pace(bytes).is_break() {
                return Ok(None);
            }
            let is_put_damaged = any_damaged(state.put.iter())?;
            let is_alive = state.condition(now_ms) == Condition::Alive;
            if any_damaged(state.facts())? || (is_put_damaged && is_alive) {
                recount.damaged.push(id);
            } else {
                recount.garbage += usize::from(is_put_damaged);
            }
        }
        Ok(Some(recount))
    }

    /// Segments in which records are lost or cannot be read, of which nobody here knows what they said. As long as there are any,
    /// that a blob is not known here says nothing about it: who compares all blobs with this replica must not take it for deleted.
    /// Reads all indexes.
    pub fn lossy_segments(&self) -> Result<usize> {
        self.repairing(|| {
            let (view, tail, mut recent) = {
                let visible = self.shared.read();
                let recent: Vec<_> = visible.recent.values().copied().collect();
                (visible.view.clone(), visible.tail, recent)
            };
            recent.sort_unstable_by_key(|entry| entry.offset);
            let mut lossy = usize::from(!is_gapless(&recent, tail));
            for segment in &view.sealed {
                lossy += usize::from(!segment.is_whole(&segment.index.by_offset()?));
            }
            Ok(lossy)
        })
    }

    fn counts_on_damage(&self, id: BlobId) -> Result<bool> {
        let state = self.state(id)?;
        any_damaged(state.put.iter().chain(state.facts()))
    }
}

fn any_damaged<'a>(places: impl Iterator<Item = &'a Place>) -> Result<bool> {
    for place in places {
        if is_damaged(place)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_log(file: &str) -> bool {
    log_number(file).is_some()
}

/// Whether a record is not on the disk as the index has it.
fn is_damaged(place: &Place) -> Result<bool> {
    match read_back(place) {
        Ok(_) => Ok(false),
        Err(error) if error.is_damage() => Ok(true),
        Err(other) => Err(other),
    }
}

fn facts_of(id: BlobId, state: &BlobState) -> impl Iterator<Item = Record> {
    state.facts().map(move |place| Record::of(id, &place.entry))
}

fn put_of(id: BlobId, place: &Place) -> Result<Record> {
    let (header, bytes) = place.log.verified_record(place.entry.offset)?;
    if header.id != id {
        let (what, field) = ("record header", "blob");
        let found = header.id.uuid.as_u64_pair().0;
        let source = afterbay_blob_format::FormatError::Field { what, field, found };
        return Err(place.log.damaged(place.entry.offset.into(), source));
    }
    let layout = header.layout();
    let bytes = Bytes::from(bytes);
    let content = Content {
        container: header.container,
        properties: bytes.slice(layout.properties),
        body: bytes.slice(layout.body),
    };
    Ok(Record { content: Some(content), ..Record::of(id, &place.entry) })
}
