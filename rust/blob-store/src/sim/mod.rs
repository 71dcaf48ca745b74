//! A simulated disk: it loses what was not synced, tears it, fails and stops at chosen operations.
//!
//! For tests, of this crate and of what is built on it. Pessimistic where POSIX leaves room: after a loss of power, each
//! change of a file or of a name that was not synced may be there or not, independently of the others, and each sector
//! of a write by itself. After a sync that failed, what it should have written is gone, and the next one succeeds. A sector
//! can go bad: it cannot be read, nor written in part, until it is written as a whole or gets well by itself.

mod handles;
mod inode;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::directory::{Directory, Tree};
use crate::sync_point::SyncPoint;

use handles::SimDirectory;
pub use inode::SECTOR_BYTES;
use inode::{Change, Inode, sectors, sectors_of};

/// What happens at a chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An I/O error. A write may have been done in part; a sync has lost what it should have written.
    Eio,
    /// No space left. A write may have been done in part.
    Enospc,
    /// Nothing happens any more: the process is killed, or the machine stops, in the middle of the operation.
    Stop,
    /// A write that seems to be done, and puts a wrong bit on the disk.
    WrongBit,
    /// The thread that asks panics, and nothing is done.
    Panic,
}

/// The disk of one machine: a directory, and others in it. Clones are the same disk.
#[derive(Debug, Clone)]
pub struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    random: u64,
    /// Handles of an earlier run of the process do nothing.
    run: u64,
    stopped: bool,
    operations: u64,
    fault: Option<(u64, Fault)>,
    /// The sync with this number, counted from 1 at its point, meets the fault.
    sync_fault: Option<(SyncPoint, u64, Fault)>,
    fault_met: bool,
    ignored: Option<SyncPoint>,
    hides_bad: bool,
    syncs: BTreeMap<SyncPoint, u64>,
    /// Files and directories; the first is the root.
    inodes: Vec<Inode>,
    names: Names,
    durable_names: Names,
    pending_names: Vec<(usize, NameChange)>,
}

/// By the directory and the name in it.
type Names = BTreeMap<(usize, String), usize>;

const ROOT: usize = 0;

#[derive(Debug, Clone)]
enum NameChange {
    Link(String, usize),
    Unlink(String),
    Rename(String, String, usize),
}

impl SimDisk {
    /// An empty disk. What is lost and torn depends on `seed` alone.
    pub fn new(seed: u64) -> Self {
        SimDisk(Arc::new(Mutex::new(State {
            random: seed,
            run: 0,
            stopped: false,
            operations: 0,
            fault: None,
            sync_fault: None,
            fault_met: false,
            ignored: None,
            hides_bad: false,
            syncs: BTreeMap::new(),
            inodes: vec![Inode { is_directory: true, ..Inode::default() }],
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: Vec::new(),
        })))
    }

    /// The directory, for a process that begins now.
    pub fn directory(&self) -> Arc<dyn Directory> {
        self.tree()
    }

    /// The same, with those in it.
    pub fn tree(&self) -> Arc<dyn Tree> {
        Arc::new(SimDirectory { disk: self.0.clone(), run: self.state().run, inode: ROOT })
    }

    /// The process is killed; the operating system goes on and keeps what was written.
    pub fn kill_process(&self) {
        self.state().next_run();
    }

    /// The power is lost, and comes back.
    pub fn lose_power(&self) {
        let mut state = self.state();
        state.lose_unsynced();
        state.next_run();
    }

    /// Syncs of this kind do nothing from now on: a control that must make tests fail.
    pub fn ignore(&self, point: SyncPoint) {
        self.state().ignored = Some(point);
    }

    /// The `after`-th change from now on, 0 being the next one, meets `fault`.
    pub fn fail_after(&self, after: u64, fault: Fault) {
        let mut state = self.state();
        state.fault = Some((state.operations + after, fault));
    }

    /// The `after`-th sync at this point from now on, 0 being the next one, meets `fault`, whatever else writes meanwhile (as upkeep
    /// does).
    pub fn fail_sync(&self, point: SyncPoint, after: u64, fault: Fault) {
        let number = self.syncs(point) + 1 + after;
        self.state().sync_fault = Some((point, number, fault));
    }

    /// No fault will happen that has not.
    pub fn mend(&self) {
        let mut state = self.state();
        (state.fault, state.sync_fault) = (None, None);
    }

    /// Whether this run of the process met a fault.
    pub fn fault_met(&self) -> bool {
        self.state().fault_met
    }

    /// Whether both are the same disk.
    pub fn is_same(&self, other: &SimDisk) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether this run of the process was stopped by a fault.
    pub fn has_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Another disk, with what was written to this one and not lost, all of it durable: a backup that was made while nothing
    /// was running. Faults that are to come, bad sectors and syncs that are left out are this one's.
    pub fn copy(&self) -> SimDisk {
        let state = self.state();
        let copy = SimDisk::new(state.random);
        {
            let mut new = copy.state();
            new.inodes = state.inodes.iter().map(Inode::copy).collect();
            new.names = state.names.clone();
            new.durable_names = state.names.clone();
        }
        copy
    }

    /// How many changes there were so far, syncs included.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// How many syncs of this kind there were so far.
    pub fn syncs(&self, point: SyncPoint) -> u64 {
        self.state().syncs.get(&point).copied().unwrap_or(0)
    }

    /// Turns one bit of a file, in the cache and on the disk. Panics if the file has no such byte.
    pub fn turn_bit(&self, name: &str, offset: usize) {
        let mut state = self.state();
        let inode = state.names[&(ROOT, name.to_owned())];
        let inode = &mut state.inodes[inode];
        inode.cached[offset] ^= 1;
        if let Some(byte) = inode.durable.get_mut(offset) {
            *byte ^= 1;
        }
    }

    /// The sectors of a file in which these bytes lie go bad. Panics if there is no such file.
    pub fn fail_reads(&self, name: &str, bytes: Range<usize>) {
        let mut state = self.state();
        let inode = state.names[&(ROOT, name.to_owned())];
        state.inodes[inode].bad.extend(sectors_of(&bytes));
    }

    /// All sectors can be read again, with what was in them.
    pub fn heal_reads(&self) {
        self.state().inodes.iter_mut().for_each(|inode| inode.bad.clear());
    }

    /// Bad sectors read as 0 from now on, without an error: a control that must make tests fail.
    pub fn hide_bad_sectors(&self) {
        self.state().hides_bad = true;
    }

    /// What was written to a file and not lost, whether it can be read or not, if there is one.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let inode = state.names.get(&(ROOT, name.to_owned()));
        inode.map(|&inode| state.inodes[inode].cached.clone())
    }

    /// Removes a file, from the disk too.
    pub fn remove(&self, name: &str) {
        let mut state = self.state();
        let place = (ROOT, name.to_owned());
        state.names.remove(&place);
        state.durable_names.remove(&place);
    }

    /// Names of all files.
    pub fn names(&self) -> Vec<String> {
        self.state().names_in(ROOT)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn names_in(&self, directory: usize) -> Vec<String> {
        let names = self.names.range((directory, String::new())..(directory + 1, String::new()));
        names.map(|((_, name), _)| name.clone()).collect()
    }

    fn next_run(&mut self) {
        self.run += 1;
        self.stopped = false;
        (self.fault, self.sync_fault) = (None, None);
        self.fault_met = false;
    }

    fn count_sync(&mut self, point: SyncPoint) {
        let count = self.syncs.entry(point).or_default();
        *count += 1;
        if let Some((at, number, fault)) = self.sync_fault
            && (at, number) == (point, *count)
        {
            self.fault = Some((self.operations, fault));
        }
    }

    /// SplitMix64.
    fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % below
    }

    /// Counts a change; the fault that it meets.
    fn begin(&mut self, run: u64) -> io::Result<Option<Fault>> {
        if self.stopped || run != self.run {
            return Err(io::Error::other("the machine has stopped"));
        }
        let number = self.operations;
        self.operations += 1;
        let met = self.fault.filter(|&(at, _)| at == number).map(|(_, fault)| fault);
        self.stopped |= met == Some(Fault::Stop);
        self.fault_met |= met.is_some();
        if met == Some(Fault::Panic) {
            // Without a message on the standard error, for each of thousands.
            std::panic::resume_unwind(Box::new("a fault of the simulated disk"));
        }
        Ok(met)
    }

    /// A change of names, which happens or does not.
    fn begin_whole(&mut self, run: u64) -> io::Result<()> {
        match self.begin(run)? {
            None | Some(Fault::WrongBit) => Ok(()),
            Some(Fault::Stop) if self.random(2) == 0 => Ok(()),
            Some(fault) => Err(error(fault)),
        }
    }

    fn lose_unsynced(&mut self) {
        // Everything, nothing, or some: the extremes would seldom come by chance.
        let mode = self.random(4);
        for i in 0..self.inodes.len() {
            for change in std::mem::take(&mut self.inodes[i].pending) {
                self.perhaps_apply(i, change, mode);
            }
            let inode = &mut self.inodes[i];
            inode.cached = inode.durable.clone();
        }
        for (directory, change) in std::mem::take(&mut self.pending_names) {
            if self.survives(mode) {
                change.apply(directory, &mut self.durable_names);
            }
        }
        self.names = self.durable_names.clone();
    }

    fn survives(&mut self, mode: u64) -> bool {
        match mode {
            0 => false,
            1 => true,
            _ => self.random(2) == 0,
        }
    }

    fn perhaps_apply(&mut self, inode: usize, change: Change, mode: u64) {
        match change {
            Change::Write(offset, data) if mode >= 2 && self.random(2) == 0 => {
                for (at, sector) in sectors(offset, &data) {
                    if self.random(2) == 0 {
                        self.inodes[inode].write_durable(at, sector);
                    }
                }
            }
            change => {
                if self.survives(mode) {
                    self.inodes[inode].make_durable(change);
                }
            }
        }
    }
}

impl NameChange {
    fn apply(self, directory: usize, names: &mut Names) {
        let place = |name| (directory, name);
        match self {
            NameChange::Link(name, inode) => {
                names.insert(place(name), inode);
            }
            NameChange::Unlink(name) => {
                names.remove(&place(name));
            }
            NameChange::Rename(from, to, inode) => {
                let from = place(from);
                if names.get(&from) == Some(&inode) {
                    names.remove(&from);
                }
                names.insert(place(to), inode);
            }
        }
    }
}

fn error(fault: Fault) -> io::Error {
    match fault {
        Fault::Enospc => io::Error::from(io::ErrorKind::StorageFull),
        Fault::Stop => io::Error::other("the machine has stopped"),
        Fault::Eio | Fault::WrongBit | Fault::Panic => Errno::IO.into(),
    }
}

fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use super::*;
    use crate::directory::{StoreFile, read_whole, write_whole};

    fn write(file: &Arc<dyn StoreFile>, data: &[u8]) -> io::Result<()> {
        file.write_all_at(&[IoSlice::new(data)], 0)
    }

    #[test]
    fn what_is_synced_survives_and_the_rest_may_not() {
        let mut lost = 0;
        for seed in 0..40 {
            let disk = SimDisk::new(seed);
            let directory = disk.directory();
            let file = directory.create("a").unwrap();
            write(&file, b"old").unwrap();
            file.sync_data(SyncPoint::Commit).unwrap();
            directory.sync(SyncPoint::SegmentEntry).unwrap();
            write(&file, b"new").unwrap();
            directory.create("b").unwrap();
            disk.lose_power();
            let content = disk.content("a").unwrap();
            assert!(content == b"old" || content == b"new", "one sector");
            lost += u32::from(content == b"old") + u32::from(disk.content("b").is_none());
            assert!(write(&file, b"x").is_err(), "a handle of a process that is no more");
        }
        assert!((20..60).contains(&lost), "{lost} of 80");
    }

    #[test]
    fn a_killed_process_loses_nothing_that_it_wrote() {
        let disk = SimDisk::new(1);
        write(&disk.directory().create("a").unwrap(), b"new").unwrap();
        disk.kill_process();
        assert_eq!(disk.content("a").unwrap(), b"new");
    }

    #[test]
    fn a_copy_has_what_was_written_and_goes_its_own_way() {
        let disk = SimDisk::new(1);
        let file = disk.directory().create("a").unwrap();
        write(&file, b"new").unwrap();
        disk.fail_reads("a", 0..1);
        let copy = disk.copy();
        copy.lose_power();
        assert_eq!(copy.content("a").unwrap(), b"new", "it is durable");
        let of_copy = copy.directory().open("a").unwrap();
        let mut read = [0; 3];
        of_copy.read_exact_at(&mut read, 0).unwrap();
        write(&of_copy, b"old").unwrap();
        assert_eq!((&read, disk.content("a").unwrap().as_slice()), (b"new", &b"new"[..]));
    }

    #[test]
    fn a_fault_of_a_sync_waits_for_that_sync() {
        let disk = SimDisk::new(1);
        let file = disk.directory().create("a").unwrap();
        disk.fail_sync(SyncPoint::Commit, 1, Fault::Eio);
        write(&file, b"new").unwrap();
        file.sync_data(SyncPoint::Flush).unwrap();
        file.sync_data(SyncPoint::Commit).unwrap();
        assert!(!disk.fault_met());
        assert!(file.sync_data(SyncPoint::Commit).is_err());
        file.sync_data(SyncPoint::Commit).unwrap();
    }

    #[test]
    fn after_a_failed_sync_the_next_one_succeeds_and_the_data_is_gone() {
        let lost = (0..20).filter(|&seed| {
            let disk = SimDisk::new(seed);
            let directory = disk.directory();
            let file = directory.create("a").unwrap();
            directory.sync(SyncPoint::SegmentEntry).unwrap();
            write(&file, b"new").unwrap();
            disk.fail_after(0, Fault::Eio);
            assert!(file.sync_data(SyncPoint::Commit).is_err());
            file.sync_data(SyncPoint::Commit).unwrap();
            assert_eq!(disk.content("a").unwrap(), b"new", "the cache has it");
            disk.lose_power();
            disk.content("a").unwrap() != b"new"
        });
        assert!(lost.count() > 0);
    }

    #[test]
    fn a_wrong_bit_shows_when_the_cache_is_dropped() {
        let disk = SimDisk::new(3);
        let file = disk.directory().create("a").unwrap();
        disk.fail_after(0, Fault::WrongBit);
        write(&file, b"new").unwrap();
        file.sync_data(SyncPoint::Commit).unwrap();
        assert_eq!(disk.content("a").unwrap(), b"new");
        file.drop_cached(0, 3).unwrap();
        assert_ne!(disk.content("a").unwrap(), b"new");
    }

    #[test]
    fn a_bad_sector_cannot_be_read_until_it_is_written_as_a_whole() {
        let disk = SimDisk::new(1);
        let file = disk.directory().create("a").unwrap();
        write(&file, &[7; 2048]).unwrap();
        disk.fail_reads("a", 600..601);
        let read = |offset, length| {
            let mut buffer = vec![0; length];
            let read = file.read_exact_at(&mut buffer, offset);
            read.map(|()| buffer).map_err(|e| e.raw_os_error())
        };
        let eio = Some(Errno::IO.raw_os_error());
        assert_eq!(read(0, 512).unwrap(), [7; 512]);
        assert_eq!(read(1024, 1024).unwrap(), [7; 1024]);
        assert_eq!((read(511, 2), read(1023, 1)), (Err(eio), Err(eio)));
        disk.heal_reads();
        assert_eq!(read(511, 2).unwrap(), [7; 2], "what was there is there again");
        disk.fail_reads("a", 600..601);
        let part = file.write_all_at(&[IoSlice::new(&[8; 100])], 600);
        assert_eq!(part.unwrap_err().raw_os_error(), eio);
        assert_eq!(file.truncate(700).unwrap_err().raw_os_error(), eio);
        file.write_all_at(&[IoSlice::new(&[8; 512])], 512).unwrap();
        assert_eq!(read(512, 512).unwrap(), [8; 512]);
        disk.fail_reads("a", 600..601);
        file.truncate(512).unwrap();
        file.preallocate(2048).unwrap();
        assert_eq!(read(512, 512).unwrap(), [0; 512], "another sector has its place");
    }

    #[test]
    fn a_file_is_lost_with_the_directory_that_nobody_synced() {
        let survived = (0..40).filter(|&seed| {
            let disk = SimDisk::new(seed);
            let root = disk.tree();
            root.create_tree("folder").unwrap();
            let folder = root.open_tree("folder").unwrap();
            let points = [SyncPoint::KeyData, SyncPoint::KeyEntry];
            write_whole(&*folder, "a", b"content", points).unwrap();
            disk.lose_power();
            let found = disk.tree().open_tree("folder");
            found.is_ok_and(|folder| read_whole(&*folder, "a").unwrap() == b"content")
        });
        assert!((5..35).contains(&survived.count()));
    }

    #[test]
    fn a_sync_that_is_left_out_is_none() {
        let survived = (0..40).filter(|&seed| {
            let disk = SimDisk::new(seed);
            disk.ignore(SyncPoint::SegmentEntry);
            let directory = disk.directory();
            directory.create("a").unwrap();
            directory.sync(SyncPoint::SegmentEntry).unwrap();
            disk.lose_power();
            disk.content("a").is_some()
        });
        assert!((5..35).contains(&survived.count()));
    }
}
