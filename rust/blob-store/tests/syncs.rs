//! Each place that syncs has a name of its own. Those of a partition that is made or closed are left out here, one after the
//! other; see [`SyncScope`] for the others.

use std::path::Path;
use std::sync::Arc;

use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_blob_store::{Durability, Error, Partition, Put, SyncPoint, SyncScope};

use crate::common::{PARTITION, TestClock, blob_id, small_options};

const FIRST_LOG: &str = "0000000000000001.log";
/// In the header of the first record.
const IN_HEADER: usize = 68 + 20;

fn of(scope: SyncScope) -> impl Iterator<Item = SyncPoint> {
    SyncPoint::ALL.iter().copied().filter(move |point| point.scope() == scope)
}

fn disk(seed: u64, ignored: Option<SyncPoint>) -> SimDisk {
    let disk = SimDisk::new(seed);
    ignored.into_iter().for_each(|point| disk.ignore(point));
    disk
}

fn open(disk: &SimDisk) -> Result<Partition, Error> {
    Partition::open(disk.directory(), small_options(), Arc::new(TestClock::default()))
}

/// The power goes at operation `after` of making a partition. It is there if that was acknowledged, and can be opened if it
/// is there.
fn made_is_wrong(seed: u64, after: u64, ignored: Option<SyncPoint>) -> bool {
    let disk = disk(seed, ignored);
    disk.fail_after(after, Fault::Stop);
    let made = Partition::create(&*disk.directory(), PARTITION, &small_options());
    disk.lose_power();
    if disk.content("MANIFEST").is_some() { open(&disk).is_err() } else { made.is_ok() }
}

fn any_made_is_wrong(ignored: Option<SyncPoint>) -> bool {
    (0..30).any(|seed| (0..20).any(|after| made_is_wrong(seed, after, ignored)))
}

#[test]
fn a_partition_that_was_made_is_there_for_good() {
    assert!(!any_made_is_wrong(None));
    for point in of(SyncScope::NewPartition) {
        assert!(any_made_is_wrong(Some(point)), "nobody noticed that {point:?} was left out");
    }
}

/// A partition with a blob that was written without a sync, closed, after a loss of power.
fn closed(seed: u64, ignored: Option<SyncPoint>) -> SimDisk {
    let disk = disk(seed, ignored);
    Partition::create(&*disk.directory(), PARTITION, &small_options()).unwrap();
    let partition = open(&disk).unwrap();
    partition.put(Put::new(blob_id(1), vec![1; 1000]), Durability::Fast).unwrap();
    partition.close().unwrap();
    disk.lose_power();
    disk
}

/// What was written is there, and damage in it is told from a torn end.
fn closed_is_wrong(seed: u64, ignored: Option<SyncPoint>) -> bool {
    let partition = open(&closed(seed, ignored)).unwrap();
    if partition.get(blob_id(1)).and_then(|reader| reader.read()).is_err() {
        return true;
    }
    let damaged = closed(seed, ignored);
    damaged.turn_bit(FIRST_LOG, IN_HEADER);
    open(&damaged).unwrap().recovery().damaged.is_empty()
}

fn any_closed_is_wrong(ignored: Option<SyncPoint>) -> bool {
    (0..30).any(|seed| closed_is_wrong(seed, ignored))
}

#[test]
fn what_a_closed_partition_has_is_on_the_disk_and_marked() {
    assert!(!any_closed_is_wrong(None));
    for point in of(SyncScope::ClosedPartition) {
        assert!(any_closed_is_wrong(Some(point)), "nobody noticed that {point:?} was left out");
    }
}

/// Another incarnation was begun, and the power went.
fn renewed_is_wrong(seed: u64, ignored: Option<SyncPoint>) -> bool {
    let disk = disk(seed, ignored);
    Partition::create(&*disk.directory(), PARTITION, &small_options()).unwrap();
    let renewed = open(&disk).unwrap().renew_incarnation().unwrap();
    disk.lose_power();
    !open(&disk).is_ok_and(|partition| partition.incarnation() == renewed)
}

#[test]
fn who_is_told_of_an_incarnation_finds_it_again() {
    assert!(!(0..30).any(|seed| renewed_is_wrong(seed, None)));
    for point in of(SyncScope::Replica) {
        let noticed = (0..30).any(|seed| renewed_is_wrong(seed, Some(point)));
        assert!(noticed, "nobody noticed that {point:?} was left out");
    }
}

/// All that is not a test of the files below `folder`.
fn code_below(folder: &Path, code: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code_below(&path, code);
        } else if !path.ends_with("sync_point.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            code.push_str(text.split("#[cfg(test)]").next().unwrap());
        }
    }
}

/// Two places under one name would hide each other: one that is left out may be noticed by the work of the other.
#[test]
fn each_place_has_a_name_of_its_own() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut code = String::new();
    code_below(&crates.join("blob-store/src"), &mut code);
    code_below(&crates.join("blob-cluster/src"), &mut code);
    code_below(&crates.join("blob-node/src"), &mut code);
    code_below(&crates.join("blob-server/src"), &mut code);
    let uses = |point: &SyncPoint| {
        let name = format!("SyncPoint::{point:?}");
        let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
        code.split(&name).skip(1).filter(|rest| is_end(rest)).count()
    };
    let wrong: Vec<_> = SyncPoint::ALL.iter().filter(|point| uses(point) != 1).collect();
    assert_eq!(wrong, [] as [&SyncPoint; 0], "not used in one place");
}
