//! `poll` and `select` of connections: the bells of those that have rings are waited on beside them.

use std::sync::atomic::Ordering::SeqCst;

use libc::{POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, c_short, pollfd, sigset_t};

use crate::slot::{self, Ref};
use crate::sys::{self, Result};

const IN: c_short = POLLIN | POLLRDNORM;
const OUT: c_short = POLLOUT | POLLWRNORM;

/// Whether any of them is a connection.
pub fn concerns(fds: &[pollfd]) -> bool {
    fds.iter().any(|fd| slot::is_ours(fd.fd))
}

/// `ppoll`, in nanoseconds or for ever.
pub fn poll(fds: &mut [pollfd], timeout: Option<u64>, mask: Option<&sigset_t>) -> Result<usize> {
    crate::service::ensure();
    let end = timeout.map(|timeout| sys::now().saturating_add(timeout));
    let ours: Vec<(usize, Ref)> = fds
        .iter()
        .enumerate()
        .filter_map(|(place, fd)| slot::get(fd.fd).map(|at| (place, at)))
        .collect();
    loop {
        let mut waited: Vec<pollfd> = fds.to_vec();
        let mut is_ready = false;
        let mut blind = Blind(Vec::new());
        for (place, at) in &ours {
            is_ready |= ask(&mut waited, *place, at, &mut blind);
        }
        let left = match end {
            _ if is_ready => Some(0),
            Some(end) => Some(end.saturating_sub(sys::now())),
            None => None,
        };
        let count = sys::poll(&mut waited, left, mask)?;
        drop(blind);
        for (fd, waited) in fds.iter_mut().zip(&waited) {
            fd.revents = waited.revents;
        }
        let mut has_moved = false;
        for (place, at) in &ours {
            let fd = &mut fds[*place];
            fd.revents |= ready(at, fd.events);
            // Somebody brought it back meanwhile: TCP was not asked for room.
            let asked_tcp = waited[*place].events & OUT != 0;
            let is_ring = at.conn().writes_to_ring.load(SeqCst);
            has_moved |= fd.events & OUT != 0 && !asked_tcp && !is_ring;
        }
        if has_moved {
            continue;
        }
        let said = fds.iter().filter(|fd| fd.revents != 0).count();
        if said > 0 || count == 0 && !is_ready || timeout == Some(0) {
            return Ok(said);
        }
    }
}

/// Connections without rings that a thread waits for, counted as such.
struct Blind<'a>(Vec<&'a Ref>);

impl Drop for Blind<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|at| at.conn().end_blind(0));
    }
}

/// Waits for a socket by TCP, and for its bells. Whether there is nothing to wait for.
fn ask<'a>(waited: &mut Vec<pollfd>, place: usize, at: &'a Ref, blind: &mut Blind<'a>) -> bool {
    let conn = at.conn();
    let events = waited[place].events;
    if events & IN != 0 {
        match conn.begin_wait() {
            Some(bell) => waited.push(pollfd { fd: bell, events: POLLIN, revents: 0 }),
            None => blind.0.push(at),
        }
    }
    if events & OUT != 0 && conn.writes_to_ring.load(SeqCst) {
        waited[place].events &= !OUT;
        waited.push(pollfd { fd: conn.write_bell.fd(), events: POLLIN, revents: 0 });
    }
    ready(at, events) != 0
}

/// What the rings have. Their bells are silent otherwise.
fn ready(at: &Ref, events: c_short) -> c_short {
    let conn = at.conn();
    let mut ready = 0;
    if events & IN != 0 && conn.is_readable() {
        ready |= events & IN;
    }
    if events & OUT != 0 && conn.writes_to_ring.load(SeqCst) && conn.is_writable() {
        ready |= events & OUT;
    }
    ready
}
