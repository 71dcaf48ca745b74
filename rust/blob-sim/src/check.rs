//! Looks into the replicas, past the nodes: whether they say the same, and whether that is what clients were told.

use std::collections::{BTreeMap, BTreeSet};

use afterbay_blob_cluster::{NodeStatus, ScrubStatus, ScrubStep};
use afterbay_blob_store::{
    BlobId, Change, Partition, PartitionId, Record, RecordKind, Result as StoreResult, Unpaced,
};
use bytes::Bytes;

use crate::clients::FAR_MS;
use crate::lives::Life;
use crate::machine::Machine;
use crate::network::Address;
use crate::story::{Expected, Story};
use crate::violation::{Law, Violation};
use crate::wall_clock::BEGIN_MS;
use crate::world::World;

/// Clocks are not further off than this while replicas are compared.
const MARGIN_MS: u64 = 60_000;
/// So long after it is due, a replica is being verified at the latest.
const LATE_MS: u64 = 1_000;

/// What a replica says of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
enum View {
    /// It can be read.
    Alive { body: Bytes, put_ms: u64, life: u32, expires_ms: u64 },
    /// It is deleted or expired; or nothing is known of it, any more or yet.
    Gone { was_deleted: bool },
    /// It should be here, and its content is not, or cannot be read.
    Missing,
}

impl View {
    fn of(replica: &Partition, id: BlobId, now_ms: u64) -> Self {
        let Ok(records) = replica.export(id) else {
            return match replica.known(id).map(|records| Facts::of(&records)) {
                Ok(facts) if facts.is_gone(now_ms) => {
                    View::Gone { was_deleted: facts.is_deleted() }
                }
                _ => View::Missing,
            };
        };
        let facts = Facts::of(&records);
        match facts.body {
            _ if facts.is_gone(now_ms) => View::Gone { was_deleted: facts.is_deleted() },
            Some(ref body) => View::Alive {
                body: body.clone(),
                put_ms: facts.put_ms,
                life: facts.alive.unwrap_or(0),
                expires_ms: facts.expires_ms(),
            },
            None if records.is_empty() => View::Gone { was_deleted: false },
            None => View::Missing,
        }
    }

    /// Whether both may stay as they are. A blob of which nobody has the content, and of which somebody says that it is there, is
    /// fetched for ever.
    fn is_same(&self, other: &View) -> bool {
        match (self, other) {
            (View::Missing, _) | (_, View::Missing) => false,
            (View::Gone { .. }, View::Gone { .. }) => true,
            _ => self == other,
        }
    }
}

impl std::fmt::Display for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            View::Alive { body, put_ms, life, expires_ms } => {
                let number = body.iter().fold(0_u32, |sum, &b| sum.wrapping_mul(31) + u32::from(b));
                let bytes = body.len();
                write!(
                    f,
                    "readable ({bytes} bytes {number:08x} of {put_ms}, life {life}, until {expires_ms})"
                )
            }
            View::Gone { was_deleted: true } => f.write_str("deleted"),
            View::Gone { was_deleted: false } => f.write_str("not there"),
            View::Missing => f.write_str("without readable content"),
        }
    }
}

/// The records of a blob, merged.
#[derive(Debug, Default)]
struct Facts {
    body: Option<Bytes>,
    put_ms: u64,
    alive: Option<u32>,
    deleted: Option<u32>,
    /// With the time of the change; never is the greatest.
    expiry: Option<(u64, u64)>,
}

impl Facts {
    fn of(records: &[Record]) -> Self {
        let mut facts = Facts::default();
        for record in records {
            let mut expiry = |time_ms| {
                let expires_ms = record.expires_ms.wrapping_sub(1);
                facts.expiry = facts.expiry.max(Some((time_ms, expires_ms)));
            };
            match record.kind {
                RecordKind::Put => {
                    expiry(0);
                    facts.alive = facts.alive.max(Some(record.life));
                    facts.put_ms = record.time_ms;
                    facts.body = record.content.as_ref().map(|content| content.body.clone());
                }
                RecordKind::Delete => facts.deleted = facts.deleted.max(Some(record.life)),
                RecordKind::Undelete => facts.alive = facts.alive.max(Some(record.life)),
                RecordKind::TtlUpdate => expiry(record.time_ms.max(1)),
            }
        }
        facts
    }

    fn is_deleted(&self) -> bool {
        self.deleted.is_some() && self.deleted >= self.alive
    }

    fn expires_ms(&self) -> u64 {
        self.expiry.map_or(0, |(_, expires_ms)| expires_ms.wrapping_add(1))
    }

    fn is_gone(&self, now_ms: u64) -> bool {
        let expires_ms = self.expires_ms();
        self.is_deleted() || (expires_ms != 0 && expires_ms <= now_ms)
    }
}

/// All blobs of which a replica has a record.
fn ids(replica: &Partition) -> StoreResult<BTreeSet<BlobId>> {
    let changes = replica.changes_since(0, usize::MAX)?;
    Ok(changes.changes.iter().map(|change| change.id).collect())
}

impl World {
    /// The replicas of a partition whose nodes are not gone: those of nodes that run, and how many others there are.
    fn replicas(&self, partition: PartitionId) -> (Vec<(Address, &Partition)>, usize) {
        let members = self.setup.map.replicas(partition);
        let machines = self.machines.iter().filter(|machine| members.contains(&machine.id));
        let (mut running, mut others) = (Vec::new(), 0);
        for machine in machines.filter(|machine| !machine.is_gone) {
            match machine.process().and_then(|process| process.store.partition(partition)) {
                Some(replica) => running.push((machine.address, replica)),
                None => others += 1,
            }
        }
        (running, others)
    }

    /// A node gets back logs that it had lost, from a backup of this life. If such a log has a blob by a record that no other
    /// replica has taken over from it, nobody can tell whether that was deleted since, or was never known to anybody else.
    pub(crate) fn forget_deletes(&mut self, node: Address, life: Life, replicas: &[Partition]) {
        let now_ms = self.expired_before_ms();
        let others = self.machines.iter().filter(|one| one.address != node && !one.is_gone);
        let others: Vec<_> = others.map(Machine::taken).collect();
        let mut forgotten = Vec::new();
        for replica in replicas {
            let partition = replica.id();
            let is_unheard_of = |change: &&Change| {
                let record = (partition, life, change.sequence);
                change.kind == RecordKind::Put
                    && !others.iter().any(|taken| self.lives.has(taken, record))
            };
            let changes = replica.changes_since(0, usize::MAX);
            let changes = changes.map(|changes| changes.changes).unwrap_or_default();
            for Change { id, .. } in changes.iter().filter(is_unheard_of) {
                if !matches!(View::of(replica, *id, now_ms), View::Gone { .. }) {
                    forgotten.push(*id);
                }
            }
        }
        for id in forgotten {
            if self.clients.forget_deletes(id) {
                self.note(format_args!("nobody can find out that {id} was deleted"));
            }
        }
    }

    fn partitions(&self) -> Vec<PartitionId> {
        self.setup.map.partitions.keys().copied().collect()
    }

    /// The time from which on nothing counts that expires before.
    fn expired_before_ms(&self) -> u64 {
        BEGIN_MS + self.now().as_millis() as u64 + MARGIN_MS
    }

    /// Whether all replicas are there, whole, say the same, and have heard all of each other: only then does the loss of one of
    /// them take nothing that no other one knows. What a log told others, and was put back behind, is such a thing.
    pub(crate) fn is_healed(&self) -> bool {
        let processes = self.machines.iter().filter_map(|machine| machine.process());
        processes.into_iter().all(|process| process.node.status().is_quiet()) && self.are_equal()
    }

    fn are_equal(&self) -> bool {
        self.partitions().into_iter().all(|partition| {
            let (replicas, others) = self.replicas(partition);
            others == 0
                && self.difference(partition).is_none()
                && replicas.iter().all(|(_, replica)| is_whole(replica))
        })
    }

    /// Where replicas of nodes that are not gone differ, or are not there.
    pub(crate) fn any_difference(&self) -> Option<Violation> {
        self.partitions().into_iter().find_map(|partition| match self.replicas(partition) {
            (_, 0) => self.difference(partition),
            (_, down) => {
                let found = format!("{down} replicas of partition {partition} are not there");
                Some(Violation::new(Law::Equal, None, found))
            }
        })
    }

    fn difference(&self, partition: PartitionId) -> Option<Violation> {
        let (replicas, _) = self.replicas(partition);
        let now_ms = self.expired_before_ms();
        let mut all = BTreeSet::new();
        for (address, replica) in &replicas {
            match ids(replica) {
                Ok(ids) => all.extend(ids),
                Err(error) => {
                    let found = format!("n{address} cannot say what it has: {error}");
                    return Some(Violation::new(Law::Equal, None, found));
                }
            }
        }
        all.into_iter().find_map(|id| {
            let views: BTreeMap<_, _> = replicas
                .iter()
                .map(|(address, replica)| (address, View::of(replica, id, now_ms)))
                .collect();
            let first = views.values().next()?;
            let is_equal = views.values().all(|view| view.is_same(first));
            (!is_equal).then(|| {
                let said: Vec<_> = views.iter().map(|(a, view)| format!("n{a} {view}")).collect();
                Violation::new(Law::Equal, id, said.join("; "))
            })
        })
    }

    /// An error if a replica that is open is late to be verified, or due later than after an interval.
    pub(crate) fn check_schedules(&self) -> Result<(), Violation> {
        let now_ms = BEGIN_MS + self.now().as_millis() as u64;
        let options = &self.setup.node_options;
        // A clock may have been wrong when it was noted.
        let latest_ms = now_ms + options.scrub_interval_ms + options.clock_skew_max_ms;
        for process in self.machines.iter().filter_map(|machine| machine.process()) {
            let NodeStatus { node, replicas, .. } = process.node.status();
            for replica in replicas.iter().filter(|replica| replica.is_loaded) {
                let ScrubStatus { step, schedule, .. } = &replica.scrub;
                let is_late = schedule.due_ms + LATE_MS < now_ms && *step == ScrubStep::Idle;
                if is_late || schedule.due_ms > latest_ms {
                    let found = format!("{node} at {now_ms}: {step:?}, {schedule:?}");
                    return Err(Violation::new(Law::Verified, None, found));
                }
            }
        }
        Ok(())
    }

    /// An error if a replica does not have what clients were told. All replicas have the same.
    pub(crate) fn check_stories(&self) -> Result<(), Violation> {
        let now_ms = self.expired_before_ms();
        for partition in self.partitions() {
            let (replicas, _) = self.replicas(partition);
            for (address, replica) in replicas {
                let of_here = |story: &&Story| story.id.partition == partition;
                for story in self.clients.stories.iter().filter(of_here) {
                    let view = View::of(replica, story.id, now_ms);
                    check(story, &view).map_err(|(law, wrong)| {
                        Violation::new(law, story.id, format!("n{address} says {view}: {wrong}"))
                    })?;
                }
                self.check_strangers(address, replica)?;
            }
        }
        Ok(())
    }

    /// Blobs whose put was not acknowledged may be there, as they were put.
    fn check_strangers(&self, address: Address, replica: &Partition) -> Result<(), Violation> {
        let now_ms = self.expired_before_ms();
        for id in ids(replica).unwrap_or_default() {
            if self.clients.story_of(id).is_none()
                && let View::Alive { body, .. } = View::of(replica, id, now_ms)
                && !self.clients.was_put(&body)
            {
                let found = format!("n{address} has {} bytes that nobody put", body.len());
                return Err(Violation::new(Law::Content, id, found));
            }
        }
        Ok(())
    }
}

/// Whether nothing on its disk is damaged.
fn is_whole(replica: &Partition) -> bool {
    replica.damage(&Unpaced).is_ok_and(|damage| damage.ids.is_empty() && damage.unknown == 0)
}

fn check(story: &Story, view: &View) -> Result<(), (Law, &'static str)> {
    let is_deleted = story.is_deleted();
    match view {
        View::Alive { body, .. } if *body != story.body => {
            Err((Law::Content, "that is not what was put"))
        }
        View::Alive { .. } if is_deleted == Expected::Yes => Err((Law::Deleted, "it was deleted")),
        View::Alive { expires_ms, .. } if !story.expiries().contains(expires_ms) => {
            Err((Law::Expiry, "it expires at another time than was acknowledged"))
        }
        View::Alive { .. } => Ok(()),
        // What is expired is deleted where others have dropped it already.
        View::Gone { was_deleted: true }
            if is_deleted == Expected::No && !story.ever_expires_before(FAR_MS) =>
        {
            Err((Law::Deleted, "nobody deleted it, or that was taken back"))
        }
        _ if story.must_exist()
            && is_deleted == Expected::No
            && !story.ever_expires_before(FAR_MS) =>
        {
            Err((Law::Acknowledged, "it was acknowledged"))
        }
        _ => Ok(()),
    }
}
