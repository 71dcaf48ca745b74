//! Files and directories of a simulated disk, as one run of a process has them open.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::inode::{Change, Inode, SECTOR_BYTES};
use super::{Fault, NameChange, State, error, not_found};
use crate::directory::{Directory, StoreFile, Tree};
use crate::sync_point::SyncPoint;

#[derive(Debug)]
pub(super) struct SimDirectory {
    pub(super) disk: Arc<Mutex<State>>,
    pub(super) run: u64,
    pub(super) inode: usize,
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
        state.count_sync(point);
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
pub(super) struct SimFile {
    pub(super) disk: Arc<Mutex<State>>,
    pub(super) run: u64,
    pub(super) inode: usize,
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
            inode.resize(length as usize)?;
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
        let inode = &state.inodes[self.inode];
        let bytes = offset as usize..offset as usize + buffer.len();
        let read = inode.cached.get(bytes.clone()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(read);
        if !state.hides_bad {
            return inode.check_readable(&bytes);
        }
        let bad = |at: &usize| inode.bad.contains(&(at / SECTOR_BYTES));
        bytes.clone().filter(bad).for_each(|at| buffer[at - bytes.start] = 0);
        Ok(())
    }

    fn write_all_at(&self, parts: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut data = Vec::new();
        parts.iter().for_each(|part| data.extend_from_slice(part));
        let mut state = self.lock();
        let fault = state.begin(self.run)?;
        let bytes = offset as usize..offset as usize + data.len();
        state.inodes[self.inode].overwrite_bad(&bytes)?;
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
        state.count_sync(point);
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
