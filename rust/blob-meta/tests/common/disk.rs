//! A disk that loses what was not synced when the power goes.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

/// Bytes that reach the disk as a whole or not at all.
const SECTOR: usize = 512;

/// A disk in memory. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What the operating system would read.
    seen: Vec<u8>,
    /// What is on the medium.
    synced: Vec<u8>,
    /// Sectors written since, by number. After a sync that failed, the operating system takes them for written.
    dirty: BTreeMap<usize, ()>,
    /// Operations until the power goes.
    left: Option<u64>,
    off: bool,
    /// The control: syncs are lies.
    ignore_sync: bool,
    /// Writes until it takes no more, and what it says then.
    refuse: Option<(u64, io::ErrorKind)>,
    /// The next read fails.
    fail_read: bool,
    /// Writes and syncs until the thread that asks for one panics.
    panic: Option<u64>,
}

/// Numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// A disk that is held.
pub struct Held<'a>(#[expect(dead_code, reason = "it is held")] MutexGuard<'a, State>);

impl Disk {
    pub fn lying() -> Self {
        let disk = Disk::default();
        disk.0.lock().unwrap().ignore_sync = true;
        disk
    }

    /// Nothing of the disk goes on until what this returns is dropped.
    pub fn hold(&self) -> Held<'_> {
        Held(self.0.lock().unwrap())
    }

    /// The power goes after so many operations.
    pub fn power_off_after(&self, operations: u64) {
        self.0.lock().unwrap().left = Some(operations);
    }

    /// After so many writes and syncs it takes no more.
    pub fn refuse_after(&self, operations: u64, kind: io::ErrorKind) {
        self.0.lock().unwrap().refuse = Some((operations, kind));
    }

    /// The thread that asks for the next write or sync but so many panics.
    pub fn panic_after(&self, operations: u64) {
        self.0.lock().unwrap().panic = Some(operations);
    }

    /// Whether that is still to come.
    pub fn will_panic(&self) -> bool {
        self.0.lock().unwrap().panic.is_some()
    }

    /// The state before a write or sync, and whether it fails.
    fn begin(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.0.lock().unwrap();
        match state.panic {
            Some(0) => {
                state.panic = None;
                drop(state);
                std::panic::resume_unwind(Box::new("a bug of the disk"));
            }
            Some(left) => state.panic = Some(left - 1),
            None => {}
        }
        state.operation()?;
        Ok(state)
    }

    /// It takes writes again.
    pub fn mend(&self) {
        let mut state = self.0.lock().unwrap();
        (state.refuse, state.panic) = (None, None);
    }

    /// The next read fails.
    pub fn fail_read(&self) {
        self.0.lock().unwrap().fail_read = true;
    }

    /// Whether that is still to come.
    pub fn will_fail_read(&self) -> bool {
        self.0.lock().unwrap().fail_read
    }

    /// Whether it takes none.
    pub fn refuses(&self) -> bool {
        matches!(self.0.lock().unwrap().refuse, Some((0, _)))
    }

    /// What a machine finds that starts again: of what was not synced, some sectors, in no order.
    pub fn restart(&self, random: &mut Random) -> Disk {
        let state = self.0.lock().unwrap();
        let mut bytes = state.synced.clone();
        if random.next(2) == 0 {
            bytes.resize(state.seen.len(), 0);
        }
        for sector in state.dirty.keys() {
            let range = sector * SECTOR..((sector + 1) * SECTOR).min(state.seen.len());
            if random.next(2) == 0 && range.end <= bytes.len() && range.start < range.end {
                bytes[range.clone()].copy_from_slice(&state.seen[range]);
            }
        }
        Disk(Arc::new(Mutex::new(State {
            seen: bytes.clone(),
            synced: bytes,
            ignore_sync: state.ignore_sync,
            ..Default::default()
        })))
    }
}

impl State {
    fn write_dirty(&mut self) {
        self.synced.resize(self.seen.len(), 0);
        for (sector, ()) in std::mem::take(&mut self.dirty) {
            let range = sector * SECTOR..((sector + 1) * SECTOR).min(self.seen.len());
            if range.start < range.end {
                self.synced[range.clone()].copy_from_slice(&self.seen[range]);
            }
        }
    }

    fn operation(&mut self) -> io::Result<()> {
        if let Some(left) = &mut self.left {
            if *left == 0 {
                self.off = true;
            } else {
                *left -= 1;
            }
        }
        match &mut self.refuse {
            _ if self.off => Err(io::Error::other("the power is off")),
            Some((0, kind)) => Err((*kind).into()),
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if std::mem::take(&mut state.fail_read) {
            return Err(io::Error::other("a bad sector"));
        }
        let begin = offset as usize;
        let found = state.seen.get(begin..begin + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.begin()?;
        state.seen.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        match self.begin() {
            Ok(mut state) => {
                if !state.ignore_sync {
                    state.write_dirty();
                }
                Ok(())
            }
            Err(error) => {
                self.0.lock().unwrap().dirty.clear();
                Err(error)
            }
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.begin()?;
        let begin = offset as usize;
        let end = begin + data.len();
        if end > state.seen.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        state.seen[begin..end].copy_from_slice(data);
        for sector in begin / SECTOR..=(end - 1) / SECTOR {
            state.dirty.insert(sector, ());
        }
        Ok(())
    }
}
