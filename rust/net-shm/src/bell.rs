//! A bell that is an eventfd: readable while it rings, so that `epoll`, `poll` and `select` wait on it by level.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use afterbay_net_ring::Bell;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{CWD, readlinkat};
use rustix::io::{ReadWriteFlags, preadv2, write};

use crate::error::{Result, ShmError, system};

/// Where the descriptor is read and written, not at an offset.
const NO_OFFSET: u64 = u64::MAX;

/// A bell that is an eventfd.
#[derive(Debug)]
pub struct EventBell(OwnedFd);

impl EventBell {
    /// A new one, which rings or is silent.
    pub fn create(rings: bool) -> Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let event = eventfd(rings.into(), flags).map_err(system("make an eventfd"))?;
        Ok(EventBell(event))
    }

    /// One that another process made.
    pub fn open(event: OwnedFd) -> Result<Self> {
        let path = format!("/proc/self/fd/{}", event.as_raw_fd());
        let kind = readlinkat(CWD, path, Vec::new()).map_err(system("look at /proc/self/fd"))?;
        if kind.as_bytes() != b"anon_inode:[eventfd]" {
            return Err(ShmError::NotEvent);
        }
        Ok(EventBell(event))
    }

    /// Another descriptor of the same bell.
    pub fn try_clone(&self) -> Result<Self> {
        let flags = rustix::io::fcntl_dupfd_cloexec(&self.0, 0);
        flags.map(EventBell).map_err(system("duplicate an eventfd"))
    }
}

impl AsFd for EventBell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Bell for EventBell {
    /// Full, it rings already.
    fn ring(&self) {
        let _ = write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Does not wait, whatever the peer, who has the same file, made of its flags. Silent, there is nothing to read.
    fn silence(&self) {
        let mut count = [0; 8];
        let mut buffers = [std::io::IoSliceMut::new(&mut count)];
        let _ = preadv2(&self.0, &mut buffers, NO_OFFSET, ReadWriteFlags::NOWAIT);
    }
}
