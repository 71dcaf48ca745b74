//! A simulated disk: it loses what was not synced, tears it, fails and stops at chosen operations.
//!
//! For tests, of this crate and of what is built on it. Pessimistic where POSIX leaves room: after a loss of power, each
//! change of a file or of a name that was not synced may be there or not, independently of the others, and each sector
//! of a write by itself. After a sync that failed, what it should have written is gone, and the next one succeeds.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::directory::{Directory, StoreFile, SyncPoint, Tree};

/// Bytes that are written whole or not at all.
pub const SECTOR_BYTES: usize = 512;

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
    fault_met: bool,
    ignored: Option<SyncPoint>,
    syncs: BTreeMap<String, u64>,
    /// Files and directories; the first is the root.
    inodes: Vec<Inode>,
    names: Names,
    durable_names: Names,
    pending_names: Vec<(usize, NameChange)>,
}

/// By the directory and the name in it.
type Names = BTreeMap<(usize, String), usize>;

const ROOT: usize = 0;

#[derive(Debug, Default)]
struct Inode {
    is_directory: bool,
    /// What reads return: the page cache.
    cached: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
    /// Bytes whose lowest bit is wrong on the disk.
    wrong: Vec<usize>,
}

#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Resize(usize),
}

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
            fault_met: false,
            ignored: None,
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

    /// No fault will happen that has not.
    pub fn mend(&self) {
        self.state().fault = None;
    }

    /// Whether this run of the process met a fault.
    pub fn fault_met(&self) -> bool {
        self.state().fault_met
    }

    /// How many changes there were so far, syncs included.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// How many syncs of this kind there were so far.
    pub fn syncs(&self, point: SyncPoint) -> u64 {
        self.state().syncs.get(&format!("{point:?}")).copied().unwrap_or(0)
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

    /// What reads of a file return, if there is one.
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
        self.fault = None;
        self.fault_met = false;
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

/// The parts of a write that lie in different sectors.
fn sectors(offset: usize, data: &[u8]) -> Vec<(usize, &[u8])> {
    let mut parts = Vec::new();
    let (mut at, mut rest) = (offset, data);
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(rest.len().min(SECTOR_BYTES - at % SECTOR_BYTES));
        parts.push((at, part));
        (at, rest) = (at + part.len(), behind);
    }
    parts
}

impl Inode {
    fn change(&mut self, change: Change) {
        apply(&mut self.cached, &change);
        self.pending.push(change);
    }

    fn make_durable(&mut self, change: Change) {
        match change {
            Change::Write(offset, data) => self.write_durable(offset, &data),
            Change::Resize(_) => apply(&mut self.durable, &change),
        }
    }

    fn write_durable(&mut self, offset: usize, data: &[u8]) {
        apply(&mut self.durable, &Change::Write(offset, data.to_vec()));
        let written = offset..offset + data.len();
        let durable = &mut self.durable;
        self.wrong.retain(|at| {
            let hit = written.contains(at);
            if hit {
                durable[*at] ^= 1;
            }
            !hit
        });
    }

    fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            self.make_durable(change);
        }
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Resize(length) => content.resize(*length, 0),
        Change::Write(offset, data) => {
            let end = offset + data.len();
            content.resize(content.len().max(end), 0);
            content[*offset..end].copy_from_slice(data);
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
        Fault::Eio | Fault::WrongBit => io::Error::other("input/output error"),
    }
}

fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

#[derive(Debug)]
struct SimDirectory {
    disk: Arc<Mutex<State>>,
    run: u64,
    inode: usize,
}

impl SimDirectory {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, inode: usize) -> Arc<dyn StoreFile> {
        Arc::new(SimFile { disk: self.disk.clone(), run: self.run, inode })
    }

    fn find(&self, state: &State, name: &str) -> io::Result<usize> {
        state.names.get(&(self.inode, name.to_owned())).copied().ok_or_else(not_found)
    }

    fn change(&self, state: &mut State, change: NameChange) {
        change.clone().apply(self.inode, &mut state.names);
        state.pending_names.push((self.inode, change));
    }

    fn link(&self, name: &str, is_directory: bool) -> io::Result<usize> {
        let mut state = self.lock();
        state.begin_whole(self.run)?;
        if self.find(&state, name).is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        let inode = state.inodes.len();
        state.inodes.push(Inode { is_directory, ..Inode::default() });
        self.change(&mut state, NameChange::Link(name.to_owned(), inode));
        Ok(inode)
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        let mut state = self.lock();
        state.begin_whole(self.run)?;
        self.find(&state, name)?;
        self.change(&mut state, NameChange::Unlink(name.to_owned()));
        Ok(())
    }
}

impl Directory for SimDirectory {
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(self.file(self.link(name, false)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoreFile>> {
        Ok(self.file(self.find(&self.lock(), name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.lock();
        state.begin_whole(self.run)?;
        let inode = self.find(&state, from)?;
        self.change(&mut state, NameChange::Rename(from.to_owned(), to.to_owned(), inode));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.unlink(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.lock().names_in(self.inode))
    }

    fn sync(&self, point: SyncPoint) -> io::Result<()> {
        let mut state = self.lock();
        *state.syncs.entry(format!("{point:?}")).or_default() += 1;
        state.begin_whole(self.run)?;
        if state.ignored != Some(point) {
            for (directory, change) in std::mem::take(&mut state.pending_names) {
                if directory == self.inode {
                    change.apply(directory, &mut state.durable_names);
                } else {
                    state.pending_names.push((directory, change));
                }
            }
        }
        Ok(())
    }

    fn place(&self) -> String {
        "simulated disk".to_owned()
    }
}

impl Tree for SimDirectory {
    fn create_tree(&self, name: &str) -> io::Result<()> {
        self.link(name, true).map(|_| ())
    }

    fn open_tree(&self, name: &str) -> io::Result<Arc<dyn Tree>> {
        let state = self.lock();
        let inode = self.find(&state, name)?;
        if !state.inodes[inode].is_directory {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        Ok(Arc::new(SimDirectory { disk: self.disk.clone(), run: self.run, inode }))
    }

    /// What is in it goes with its name: nobody can reach it any more.
    fn remove_tree(&self, name: &str) -> io::Result<()> {
        self.unlink(name)
    }
}

#[derive(Debug)]
struct SimFile {
    disk: Arc<Mutex<State>>,
    run: u64,
    inode: usize,
}

impl SimFile {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resize(&self, length: u64, shrink: bool) -> io::Result<()> {
        let mut state = self.lock();
        state.begin_whole(self.run)?;
        let inode = &mut state.inodes[self.inode];
        if shrink || length as usize > inode.cached.len() {
            inode.change(Change::Resize(length as usize));
        }
        Ok(())
    }

    fn write(&self, state: &mut State, offset: usize, data: Vec<u8>) {
        state.inodes[self.inode].change(Change::Write(offset, data));
    }
}

impl StoreFile for SimFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.lock().inodes[self.inode].cached.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let state = self.lock();
        let content = &state.inodes[self.inode].cached;
        let begin = offset as usize;
        let read = content.get(begin..begin + buffer.len());
        buffer.copy_from_slice(read.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut data: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let mut state = self.lock();
        let fault = state.begin(self.run)?;
        match fault {
            None => {}
            Some(Fault::WrongBit) => {
                let at = offset as usize + state.random(data.len() as u64) as usize;
                state.inodes[self.inode].wrong.push(at);
            }
            Some(fault) => {
                let done = state.random(data.len() as u64 + 1) as usize;
                data.truncate(done);
                self.write(&mut state, offset as usize, data);
                return Err(error(fault));
            }
        }
        self.write(&mut state, offset as usize, data);
        Ok(())
    }

    fn preallocate(&self, length: u64) -> io::Result<()> {
        self.resize(length, false)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.resize(length, true)
    }

    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        let mut state = self.lock();
        *state.syncs.entry(format!("{point:?}")).or_default() += 1;
        let fault = state.begin(self.run)?.filter(|&fault| fault != Fault::WrongBit);
        if fault.is_some_and(|fault| fault != Fault::Stop) {
            let mode = 2 + state.random(2);
            for change in std::mem::take(&mut state.inodes[self.inode].pending) {
                state.perhaps_apply(self.inode, change, mode);
            }
        } else if fault.is_none() && state.ignored != Some(point) {
            state.inodes[self.inode].sync();
        }
        fault.map_or(Ok(()), |fault| Err(error(fault)))
    }

    fn drop_cached(&self, offset: u64, length: u64) -> io::Result<()> {
        let mut state = self.lock();
        let inode = &mut state.inodes[self.inode];
        // As the kernel does, only what is clean.
        if inode.pending.is_empty() {
            let end = inode.durable.len().min((offset + length) as usize);
            let begin = (offset as usize).min(end);
            inode.cached[begin..end].copy_from_slice(&inode.durable[begin..end]);
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::{read_whole, write_whole};

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
    fn a_file_is_lost_with_the_directory_that_nobody_synced() {
        let survived = (0..40).filter(|&seed| {
            let disk = SimDisk::new(seed);
            let root = disk.tree();
            root.create_tree("folder").unwrap();
            let folder = root.open_tree("folder").unwrap();
            write_whole(&*folder, "a", b"content").unwrap();
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
