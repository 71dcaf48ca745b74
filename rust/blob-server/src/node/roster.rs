//! Which directories are which disks of this node. Decided before anything is made in them: an empty directory may be a new
//! disk, or the place where one should be mounted.
//!
//! ```text
//!  look at each     nothing there | a disk without DISK, as older versions left it | a disk of this node | of another one | an error
//!  the first one    says which node it is, and which disks it has (DISKS)
//!  the others       are used if they are of this node, or new and no disk is missing; else they are left out, with the reason
//!  open, write      DISK and DISKS where they are not so already
//! ```
//!
//! What is left out is reported, and does not keep the others from being served; only without the first disk, which has the
//! names and the root key, there is no start. ADR 0049 says why.

use std::sync::Arc;

use afterbay_blob_store::{SyncPoint, Tree, write_whole};
use uuid::Uuid;

use super::identity::{DiskIdentity, DiskList, KnownDisk};
use super::layout::{DISK_FILE, DISKS_FILE, Look, look};
use super::volume::{OpenError, Volume};

/// A directory that was given, and may be a disk.
pub trait Site: Send + Sync {
    /// What to call it in messages.
    fn place(&self) -> String;

    /// What is in it. Changes nothing.
    fn look(&self) -> Result<Look, OpenError>;

    /// Opens it, and makes what is missing.
    fn open(&self) -> Result<OpenSite, OpenError>;
}

/// A directory that is open.
#[derive(Debug)]
pub struct OpenSite {
    /// The disk.
    pub volume: Arc<dyn Volume>,
    /// The directory.
    pub root: Arc<dyn Tree>,
}

/// What an operator says about the disks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskOptions {
    /// Disks that are lost for good.
    pub lost: Vec<Uuid>,
    /// No store is made, and no disk added.
    pub existing: bool,
}

/// The disks of a node.
#[derive(Debug, Default)]
pub struct Roster {
    /// Those that can be used, the first one first.
    pub volumes: Vec<Arc<dyn Volume>>,
    /// Those that cannot.
    pub absent: Vec<AbsentDisk>,
    /// Some disk was given up: what was on it is gone.
    pub gave_up: bool,
}

/// A disk, or a directory, that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentDisk {
    /// Which disk, as far as that is known.
    pub id: Option<Uuid>,
    /// Where it should be.
    pub place: String,
    /// Why it is not used, and the way out.
    pub reason: String,
}

impl AbsentDisk {
    /// What to call it in messages.
    pub(crate) fn name(&self) -> String {
        match self.id {
            Some(id) if self.place.is_empty() => format!("disk {id}"),
            Some(id) => format!("{} (disk {id})", self.place),
            None => self.place.clone(),
        }
    }
}

/// What to do with a directory.
#[derive(Debug)]
enum Part {
    Use,
    Leave(String),
}

/// Opens the disks of a node. An error says why there is no start without more.
pub fn assemble(sites: &[&dyn Site], options: &DiskOptions) -> Result<Roster, String> {
    let looks: Vec<_> = sites.iter().map(|site| site.look()).collect();
    let Plan { parts, list, missing } = Plan::of(sites, &looks, options)?;
    let known: Vec<Uuid> = list.disks.iter().map(|disk| disk.id).collect();
    let is_new = |opened: &Opened| !known.contains(&opened.disk);
    let mut open = open_parts(sites, parts)?;
    let list = with_open(list, sites, &open);
    if let Err(error) = record(&list, looks.first(), &open) {
        // Blobs must not go where nobody would look for them.
        for other in open.iter_mut().skip(1).filter(|other| other.as_ref().is_ok_and(is_new)) {
            *other = Err(format!("it is new, and cannot be added to the list of disks: {error}"));
        }
    }
    let gave_up = list.disks.iter().any(|disk| disk.lost);
    let mut roster = Roster { gave_up, ..Roster::default() };
    for ((site, look), opened) in sites.iter().zip(&looks).zip(open) {
        let place = site.place();
        match opened {
            Ok(opened) => {
                if is_new(&opened) {
                    tracing::info!(place, disk = %opened.disk, "a new disk");
                }
                roster.volumes.push(opened.site.volume);
            }
            Err(reason) => {
                let id = look.as_ref().ok().and_then(|look| look.disk);
                roster.absent.push(AbsentDisk { id, place, reason });
            }
        }
    }
    roster.note_missing(missing);
    roster.say();
    Ok(roster)
}

/// What is opened, or why it is not; an error if that is the first one.
fn open_parts(
    sites: &[&dyn Site],
    parts: Vec<Part>,
) -> Result<Vec<Result<Opened, String>>, String> {
    let mut open = Vec::new();
    for (number, (site, part)) in sites.iter().zip(parts).enumerate() {
        open.push(match part {
            Part::Leave(reason) => Err(reason),
            Part::Use => match site.open() {
                Err(error) if number == 0 => return Err(of_first(&error)),
                opened => opened.map(Opened::of).map_err(|error| error.to_string()),
            },
        });
    }
    Ok(open)
}

struct Opened {
    site: OpenSite,
    disk: Uuid,
    found: Option<DiskIdentity>,
}

impl Opened {
    fn of(site: OpenSite) -> Self {
        let look = look(&*site.root).unwrap_or_default();
        // Older versions wrote it, too; should it not be readable, a new one does as well.
        let disk = look.disk.unwrap_or_else(Uuid::new_v4);
        Opened { site, disk, found: look.identity }
    }
}

/// The list with what is open: where it is, and what is new.
fn with_open(mut list: DiskList, sites: &[&dyn Site], open: &[Result<Opened, String>]) -> DiskList {
    let mut here = Vec::new();
    for (site, opened) in sites.iter().zip(open) {
        if let Ok(opened) = opened {
            list.disks.retain(|disk| disk.id != opened.disk);
            here.push(KnownDisk { id: opened.disk, lost: false, place: site.place() });
        }
    }
    here.append(&mut list.disks);
    DiskList { disks: here, ..list }
}

/// Writes the files of identity, first those of the first disk. An error is that of the list.
fn record(
    list: &DiskList,
    first: Option<&Result<Look, OpenError>>,
    open: &[Result<Opened, String>],
) -> Result<(), String> {
    let before = first.and_then(|look| look.as_ref().ok()).and_then(|look| look.list.as_ref());
    let first_disk = list.disks.first().map(|disk| disk.id).unwrap_or_default();
    for (number, opened) in open.iter().enumerate() {
        let Ok(Opened { site, disk, found }) = opened else { continue };
        let identity = DiskIdentity { node: list.node, disk: *disk, first: first_disk };
        if *found != Some(identity) {
            let written = write(site, DISK_FILE, &identity.encode());
            // No disk says that it belongs to a node whose first disk does not know that.
            if number == 0 {
                written?;
            }
        }
        if number == 0 && before != Some(list) {
            write(site, DISKS_FILE, &list.encode())?;
        }
    }
    Ok(())
}

fn write(site: &OpenSite, name: &str, text: &str) -> Result<(), String> {
    if site.volume.is_read_only() {
        return Err("the file system is read-only".to_owned());
    }
    let points = [SyncPoint::DiskData, SyncPoint::DiskEntry];
    write_whole(&*site.root, name, text.as_bytes(), points).map_err(|error| {
        tracing::warn!(place = site.volume.place(), name, %error, "cannot be written; tried again at the next start");
        error.to_string()
    })
}

impl Roster {
    /// Disks that no directory has. One whose place was given is that directory.
    fn note_missing(&mut self, missing: Vec<KnownDisk>) {
        for KnownDisk { id, place, .. } in missing {
            if self.absent.iter().any(|absent| absent.id == Some(id)) {
                continue;
            }
            let same = |absent: &&mut AbsentDisk| absent.id.is_none() && absent.place == place;
            match self.absent.iter_mut().find(same) {
                Some(absent) => absent.id = Some(id),
                None => {
                    let reason = "no directory that was given by --data has it".to_owned();
                    self.absent.push(AbsentDisk { id: Some(id), place, reason });
                }
            }
        }
    }

    fn say(&self) {
        for absent in &self.absent {
            let (disk, reason) = (absent.name(), &absent.reason);
            tracing::error!(disk, reason, "a disk is not used; what is on it cannot be read");
        }
    }
}

struct Plan {
    parts: Vec<Part>,
    /// As it was, without what was given up now.
    list: DiskList,
    /// Disks of the list that no directory has.
    missing: Vec<KnownDisk>,
}

impl Plan {
    fn of(
        sites: &[&dyn Site],
        looks: &[Result<Look, OpenError>],
        options: &DiskOptions,
    ) -> Result<Self, String> {
        let Some((first, others)) = looks.split_first() else {
            return Err("no data directory; give one by --data".to_owned());
        };
        let first = first.as_ref().map_err(of_first)?;
        let places: Vec<_> = sites.iter().map(|site| site.place()).collect();
        let of_others = others.iter().zip(&places[1..]);
        let mut list = First {
            place: &places[0],
            look: first,
            others: of_others
                .filter_map(|(look, place)| Some((&**place, look.as_ref().ok()?)))
                .collect(),
            dead: others.iter().find_map(|look| look.as_ref().err()),
            options,
        }
        .node()?;
        give_up(&mut list, looks, &places, &options.lost)?;
        let mut taken: Vec<Uuid> = first.disk.into_iter().collect();
        let mut parts = vec![Part::Use];
        for look in others {
            parts.push(match look {
                Err(error) => Part::Leave(error.to_string()),
                Ok(look) => part_of(look, &list, &mut taken),
            });
        }
        let is_here = |disk: &KnownDisk| disk.lost || taken.contains(&disk.id);
        let missing: Vec<_> = list.disks.iter().filter(|disk| !is_here(disk)).cloned().collect();
        for (part, look) in parts.iter_mut().skip(1).zip(others) {
            if look.as_ref().is_ok_and(|look| look.is_fresh)
                && let Some(reason) = why_not_new(&missing, options)
            {
                *part = Part::Leave(reason);
            }
        }
        Ok(Plan { parts, list, missing })
    }
}

/// The first directory, and what the others say about it.
struct First<'a> {
    place: &'a str,
    look: &'a Look,
    others: Vec<(&'a str, &'a Look)>,
    /// Why nobody knows what another one says.
    dead: Option<&'a OpenError>,
    options: &'a DiskOptions,
}

impl First<'_> {
    /// The node, and the disks that it is known to have.
    fn node(&self) -> Result<DiskList, String> {
        let First { place, look, .. } = self;
        if look.is_fresh && self.options.existing {
            return Err(format!(
                "{place} is empty, and --existing makes no new store; mount the disk that should be there"
            ));
        }
        let said = self.others.iter().find_map(|(other, look)| Some((*other, look.identity?)));
        match (&look.list, look.identity, said) {
            (Some(list), own, _) => self.listed(list, own),
            (None, Some(own), _) => self.unlisted(own),
            (None, None, Some((other, identity))) => self.of_others(other, identity),
            (None, None, None) => self.new_or_older(),
        }
    }

    fn listed(&self, list: &DiskList, own: Option<DiskIdentity>) -> Result<DiskList, String> {
        if own.is_none_or(|own| own.node == list.node) {
            return Ok(list.clone());
        }
        Err(format!(
            "{}: {DISK_FILE} and {DISKS_FILE} are of different nodes; restore the directory from a backup",
            self.place
        ))
    }

    /// It is a disk of a node, and has no list.
    fn unlisted(&self, own: DiskIdentity) -> Result<DiskList, String> {
        if own.first == own.disk {
            let place = self.place;
            tracing::warn!(place, "the list of disks is gone; it is made again of what is here");
            return Ok(DiskList { node: own.node, disks: Vec::new() });
        }
        self.in_the_place_of_the_first(own.node, own.first).ok_or_else(|| {
            format!(
                "{} is not the first disk of its node: the names and the root key are on disk {}. Give its directory first; {}",
                self.place,
                own.first,
                first_is_lost(own.first)
            )
        })
    }

    /// It says nothing, and another one says that it belongs to a node.
    fn of_others(&self, other: &str, identity: DiskIdentity) -> Result<DiskList, String> {
        let DiskIdentity { node, first, .. } = identity;
        if self.look.disk == Some(first) {
            return Ok(DiskList { node, disks: Vec::new() });
        }
        self.in_the_place_of_the_first(node, first).ok_or_else(|| {
            let what = if self.look.is_fresh { "is empty" } else { "is a disk of its own" };
            format!(
                "{} {what}, and {other} belongs to a node whose names and root key are on disk {first}. Mount that disk, or give its directory first; {}",
                self.place,
                first_is_lost(first)
            )
        })
    }

    fn in_the_place_of_the_first(&self, node: Uuid, first: Uuid) -> Option<DiskList> {
        let lost = || KnownDisk { id: first, lost: true, place: String::new() };
        self.options.lost.contains(&first).then(|| DiskList { node, disks: vec![lost()] })
    }

    /// Nobody has written which disks there are.
    fn new_or_older(&self) -> Result<DiskList, String> {
        let First { place, look, .. } = self;
        if let Some(dead) = self.dead.filter(|_| look.is_fresh) {
            return Err(format!(
                "{place} is empty, and whether it should be cannot be told, since another directory cannot be read: {dead}. Mount or \
                 repair what is missing; a new store begins without that directory"
            ));
        }
        let was_first =
            |other: &Look| !other.is_fresh && (look.is_fresh || other.has_names && !look.has_names);
        match self.others.iter().find(|(_, other)| was_first(other)) {
            None => Ok(DiskList { node: Uuid::new_v4(), disks: Vec::new() }),
            Some((other, _)) => Err(format!(
                "{place} has no names and no root key, and {other} is a data directory already; give the directory first that was first before"
            )),
        }
    }
}

/// Marks disks as lost for good.
fn give_up(
    list: &mut DiskList,
    looks: &[Result<Look, OpenError>],
    places: &[String],
    lost: &[Uuid],
) -> Result<(), String> {
    for id in lost {
        let here = looks
            .iter()
            .zip(places)
            .find(|(look, _)| look.as_ref().is_ok_and(|look| look.disk == Some(*id)));
        if let Some((_, place)) = here {
            return Err(format!(
                "--lost-disk {id}: it is in {place}; only a disk that is gone is given up"
            ));
        }
        let all =
            || list.disks.iter().map(|disk| disk.id.to_string()).collect::<Vec<_>>().join(", ");
        match list.disks.iter().position(|disk| disk.id == *id) {
            Some(at) => list.disks[at].lost = true,
            // Nobody has written yet which disks there are.
            None if list.disks.is_empty() => {
                list.disks.push(KnownDisk { id: *id, lost: true, place: String::new() });
            }
            None => {
                return Err(format!(
                    "--lost-disk {id}: there was no such disk; known are {}",
                    all()
                ));
            }
        }
    }
    Ok(())
}

/// What to do with another disk than the first one; what is empty comes later.
fn part_of(look: &Look, list: &DiskList, taken: &mut Vec<Uuid>) -> Part {
    if look.is_fresh {
        return Part::Use;
    }
    let Some(id) = look.disk else {
        return Part::Use;
    };
    if let Some(identity) = look.identity.filter(|identity| identity.node != list.node) {
        return Part::Leave(format!(
            "it belongs to another node ({}); give directories of one node, or empty it",
            identity.node
        ));
    }
    let is_lost = |id: Uuid| list.disks.iter().any(|disk| disk.id == id && disk.lost);
    let names = look.identity.map(|identity| identity.first);
    if let Some(names) = names.filter(|names| !is_lost(*names) && taken.first() != Some(names)) {
        return Part::Leave(format!(
            "it says that the names of this node are on disk {names}, and not on the first one that was given; give that disk first"
        ));
    }
    if is_lost(id) {
        return Part::Leave(
            "it was given up by --lost-disk, and what should have been deleted on it is not known any more; to use the disk, empty the directory"
                .to_owned(),
        );
    }
    if taken.contains(&id) {
        return Part::Leave(
            "it is a copy of another directory that was given, or the same one; leave it out"
                .to_owned(),
        );
    }
    taken.push(id);
    Part::Use
}

/// Why an empty directory is not taken for a new disk.
fn why_not_new(missing: &[KnownDisk], options: &DiskOptions) -> Option<String> {
    if options.existing {
        return Some(
            "it is empty, and --existing adds no disks; mount the disk that should be there"
                .to_owned(),
        );
    }
    let KnownDisk { id, place, .. } = missing.first()?;
    Some(format!(
        "it is empty, and disk {id}, last in {place}, is not here: mount it; or, if it is lost for good, start once with --lost-disk {id}"
    ))
}

fn first_is_lost(id: Uuid) -> String {
    format!(
        "if that disk is lost for good, restore its directory from a backup; without one, --lost-disk {id} starts with no names: blobs \
         can be read by their ids alone"
    )
}

/// Why there is no start without the first disk.
fn of_first(error: &OpenError) -> String {
    let way_out = "names and the root key are in the first directory: repair or mount its disk, or restore the directory from a \
                   backup (docs/blob.md, \"Disks\")";
    match error {
        OpenError::Io { .. } => format!("{error}; {way_out}"),
        OpenError::Locked { .. } | OpenError::NotOurs { .. } => error.to_string(),
    }
}
