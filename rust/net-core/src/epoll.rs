//! `epoll` of connections. Beside the socket, the bells of its rings are in the program's epoll, if it has any, under names of ours;
//! what comes of them is put together into what TCP would have said.
//!
//! ```text
//!   program:  fd, events, data
//!   kernel:   fd    events (without EPOLLOUT while writes go into the ring)    token
//!             bell of the reader    EPOLLIN, if the program wants EPOLLIN      token
//!             bell of the writer    EPOLLIN, if the program wants EPOLLOUT     token
//! ```
//!
//! Programs change their minds often: a client that asks and hears waits for room, then for bytes, with each request. By level, the
//! kernel may wait for bytes that the program does not wait for, also of a socket that the program has taken out (it is parked): they
//! may not come before it does again, and then three system calls are spared. If they come, the kernel is told.
//!
//! Other descriptors stay as the program wants them; they are noted, since a socket may be there before it connects.

#![allow(unsafe_code, reason = "events are packed structures of C")]

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::SeqCst;

use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLIN, EPOLLOUT, c_int, epoll_event, sigset_t,
};
use rustix::io::Errno;

use crate::conn::Conn;
use crate::lock::Lock;
use crate::registration::{
    EDGE, EXCLUSIVE, Entry, IN_USE, Kind, ONESHOT, OUT, Sets, TOKEN, TOKEN_MASK, parse,
    waits_by_level,
};
use crate::service;
use crate::slot::{self, Ref};
use crate::sys::{self, Result};

/// What the kernel takes together with `EPOLLEXCLUSIVE`.
const WITH_EXCLUSIVE: u32 =
    (EPOLLIN | EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLWAKEUP) as u32
        | EDGE
        | EXCLUSIVE;

/// Waits in a row that end with nothing to say, as when a bell rang too early. After more, what the kernel says again and again is for
/// another process, which has the epoll since a fork and has registered something there: this one does not know what, and looks only
/// now and then.
const IN_VAIN_MAX: u32 = 8;
const NAP_NS: u64 = 1_000_000;

/// Who has it drops no [`Ref`]: who is last empties a slot, by a lock that comes before this one (see `fork`).
static SETS: Lock<Sets> =
    Lock::new(Sets { entries: Vec::new(), free: Vec::new(), of: BTreeMap::new(), serial: 0 });
/// Whether any connection is in an epoll.
pub fn is_used() -> bool {
    IN_USE.load(SeqCst) > 0
}

/// During a fork, nobody changes it. What is parked is taken out first: neither process could know when the other one does that.
pub(crate) fn lock_for_fork() {
    SETS.hold(|sets| {
        for index in 0..sets.entries.len() {
            let entry = &sets.entries[index];
            if entry.is_parked
                && entry.serial != u64::MAX
                && let Some(conn) = entry.slot.and_then(slot::conn_during_fork)
            {
                sets.end_parking(index as u32, conn);
            }
        }
    });
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    SETS.let_go(parents_thread);
}

/// In a child: the kernel's registrations are its parent's too.
pub(crate) fn begin_anew() {
    if let Ok(mut sets) = SETS.lock() {
        sets.entries.iter_mut().for_each(|entry| entry.is_inherited = true);
    }
}

/// `epoll_ctl`.
pub fn control(epoll: i32, operation: c_int, fd: i32, event: Option<epoll_event>) -> Result<()> {
    let Some(at) = slot::get(fd) else { return control_plain(epoll, operation, fd, event) };
    let mut sets = SETS.lock().map_err(|_| Errno::AGAIN)?;
    catch_up(&mut sets, at.conn());
    let mut found = sets.of.get(&(fd, epoll)).copied();
    if let Some(index) = found
        && sets.entries[index as usize].is_parked
    {
        match (operation, event) {
            (EPOLL_CTL_ADD, Some(event)) if waits_by_level(event.events) => {
                return sets.entries[index as usize].come_back(index, at.conn(), event);
            }
            (EPOLL_CTL_ADD, Some(_)) => sets.end_parking(index, at.conn()),
            // As if it were not there.
            _ => return Err(Errno::NOENT),
        }
        found = None;
    }
    let was_exclusive = found.is_some_and(|index| sets.entries[index as usize].is_exclusive());
    check_exclusive(operation, event.map_or(0, |event| event.events), was_exclusive)?;
    match (operation, found, event) {
        (EPOLL_CTL_ADD, None, Some(event)) => {
            let index = sets.insert(epoll, fd, Some(at.slot()), event);
            at.conn().is_in_epoll.store(true, SeqCst);
            let added = sets.entries[index as usize].put(index, at.conn(), EPOLL_CTL_ADD);
            added.inspect_err(|_| sets.remove(index))
        }
        (EPOLL_CTL_MOD, Some(index), Some(event)) => {
            let entry = &mut sets.entries[index as usize];
            (entry.events, entry.data, entry.is_spent) = (event.events, event.u64, false);
            entry.put(index, at.conn(), EPOLL_CTL_MOD)
        }
        (EPOLL_CTL_DEL, Some(index), _) if sets.entries[index as usize].may_park(at.conn()) => {
            sets.entries[index as usize].park(at.conn());
            Ok(())
        }
        (EPOLL_CTL_DEL, Some(index), _) => {
            sets.entries[index as usize].take_bells(at.conn());
            sets.remove(index);
            sys::epoll_control(epoll, EPOLL_CTL_DEL, fd, 0, 0).map(drop)
        }
        // The kernel says what is wrong.
        _ => {
            let (events, data) = event.map_or((0, 0), |event| (event.events, event.u64));
            sys::epoll_control(epoll, operation, fd, events, data).map(drop)
        }
    }
}

/// `EPOLLEXCLUSIVE` is for what is added, with few others, and for good.
fn check_exclusive(operation: c_int, events: u32, was_exclusive: bool) -> Result<()> {
    let is_exclusive = events & EXCLUSIVE != 0;
    let is_wrong = match operation {
        EPOLL_CTL_ADD => is_exclusive && events & !WITH_EXCLUSIVE != 0,
        EPOLL_CTL_MOD => is_exclusive || was_exclusive,
        _ => false,
    };
    if is_wrong { Err(Errno::INVAL) } else { Ok(()) }
}

fn control_plain(epoll: i32, operation: c_int, fd: i32, event: Option<epoll_event>) -> Result<()> {
    let (events, data) = event.map_or((0, 0), |event| (event.events, event.u64));
    if data & TOKEN_MASK == TOKEN && operation != EPOLL_CTL_DEL {
        return control_by_token(epoll, operation, fd, epoll_event { events, u64: data });
    }
    sys::epoll_control(epoll, operation, fd, events, data)?;
    let Ok(mut sets) = SETS.lock() else { return Ok(()) };
    let found = sets.of.get(&(fd, epoll)).copied();
    match (operation, found, event) {
        (EPOLL_CTL_DEL, Some(index), _) => sets.remove(index),
        (EPOLL_CTL_DEL, None, _) | (_, _, None) => {}
        (_, Some(index), Some(event)) => {
            let entry = &mut sets.entries[index as usize];
            (entry.events, entry.data) = (event.events, event.u64);
        }
        (_, None, Some(event)) => drop(sets.insert(epoll, fd, None, event)),
    }
    Ok(())
}

/// As [`control_plain`], of data that look like a name of ours: the kernel gets a name, which leads to them.
fn control_by_token(epoll: i32, operation: c_int, fd: i32, event: epoll_event) -> Result<()> {
    let Ok(mut sets) = SETS.lock() else { return Err(Errno::AGAIN) };
    let found = sets.of.get(&(fd, epoll)).copied();
    let index = found.unwrap_or_else(|| sets.insert(epoll, fd, None, event));
    let token = sets.entries[index as usize].token(index, Kind::Tcp);
    let done = sys::epoll_control(epoll, operation, fd, event.events, token);
    match (done, found) {
        (Ok(_), _) => {
            let entry = &mut sets.entries[index as usize];
            (entry.events, entry.data) = (event.events, event.u64);
            Ok(())
        }
        (Err(error), found) => {
            if found.is_none() {
                sets.remove(index);
            }
            Err(error)
        }
    }
}

/// A socket that may be in an epoll already is a connection from now on.
pub(crate) fn adopt(at: &Ref, fd: i32) {
    let Ok(mut sets) = SETS.lock() else { return };
    for index in sets.of_descriptor(fd) {
        let entry = &mut sets.entries[index as usize];
        entry.slot = Some(at.slot());
        at.conn().is_in_epoll.store(true, SeqCst);
        IN_USE.fetch_add(1, SeqCst);
        let _ = entry.put(index, at.conn(), EPOLL_CTL_MOD);
    }
}

/// Whether a socket is in an epoll that is another process's too, where nobody else would know of its bells.
pub(crate) fn is_shared(at: &Ref) -> bool {
    let is = |entry: &Entry| entry.slot == Some(at.slot()) && entry.is_inherited;
    SETS.lock().map_or(true, |sets| sets.entries.iter().any(is))
}

/// A socket that is in an epoll has got rings.
pub(crate) fn equip(at: &Ref) {
    let Ok(mut sets) = SETS.lock() else { return };
    for (index, entry) in sets.entries.iter_mut().enumerate() {
        if entry.slot == Some(at.slot()) && !entry.is_spent && !entry.is_inherited {
            entry.put_bells(index as u32, at.conn());
        }
    }
}

/// A socket is no connection of the table any more, and stays in its epolls.
pub(crate) fn release(at: &Ref, fd: i32) {
    let Ok(mut sets) = SETS.lock() else { return };
    for index in sets.of_descriptor(fd) {
        if sets.entries[index as usize].is_parked {
            sets.end_parking(index, at.conn());
            continue;
        }
        let entry = &mut sets.entries[index as usize];
        if entry.slot.take().is_some() {
            IN_USE.fetch_sub(1, SeqCst);
            entry.take_bells(at.conn());
            entry.told = None;
            let Entry { epoll, events, data, .. } = *entry;
            let is_like_ours = data & TOKEN_MASK == TOKEN;
            let data = if is_like_ours { entry.token(index, Kind::Tcp) } else { data };
            let _ = sys::epoll_control(epoll, EPOLL_CTL_MOD, fd, events, data);
        }
    }
}

/// A descriptor is about to be that of another connection. What it is registered for, in which epoll; it is not any more.
pub(crate) fn take_out(at: &Ref, fd: i32) -> Vec<(i32, epoll_event)> {
    let registered = SETS.lock().map_or(Vec::new(), |sets| {
        let of = |index: u32| {
            let Entry { epoll, events, data, .. } = sets.entries[index as usize];
            (epoll, epoll_event { events, u64: data })
        };
        let is_in = |index: &u32| !sets.entries[*index as usize].is_parked;
        sets.of_descriptor(fd).into_iter().filter(is_in).map(of).collect()
    });
    close(at, fd);
    registered
}

/// A descriptor of a connection is about to be closed. The other end has the same bells: the kernel would keep them, so they are taken
/// out. Where there are none, a socket that another process has too stays in the epoll, which may be that one's as well.
pub(crate) fn close(at: &Ref, fd: i32) {
    let conn = at.conn();
    let (is_only, is_plain) = (conn.is_only(), conn.is_plain.load(SeqCst));
    let Ok(mut sets) = SETS.lock() else { return };
    for index in sets.of_descriptor(fd) {
        let entry = &mut sets.entries[index as usize];
        if is_only || !is_plain && !entry.is_inherited {
            entry.take_bells(conn);
            let _ = sys::epoll_control(entry.epoll, EPOLL_CTL_DEL, fd, 0, 0);
        }
        sets.remove(index);
    }
}

/// Another descriptor is about to be closed: an epoll, or what may be in one.
pub(crate) fn forget(fd: i32) {
    let Ok(mut sets) = SETS.lock() else { return };
    if sets.of.is_empty() {
        return;
    }
    for index in sets.of_descriptor(fd) {
        sets.remove(index);
    }
    let of_epoll: Vec<_> =
        sets.of.iter().filter(|((_, epoll), _)| *epoll == fd).map(|(_, &index)| index).collect();
    of_epoll.into_iter().for_each(|index| sets.remove(index));
}

/// Writes go elsewhere than before.
pub(crate) fn follow(slot: u32) {
    let Some(at) = slot::at(slot) else { return };
    let Ok(mut sets) = SETS.lock() else { return };
    wait_anew(&mut sets, at.conn());
}

fn wait_anew(sets: &mut Sets, conn: &Conn) {
    for (index, entry) in sets.entries.iter_mut().enumerate() {
        // Who waits only for what can be read waits as before: what is told anew is an edge.
        if entry.slot == Some(conn.slot) && !entry.is_spent && entry.events & OUT != 0 {
            let _ = entry.put(index as u32, conn, EPOLL_CTL_MOD);
        }
    }
}

/// Another process may have noticed that writes go elsewhere, and this one not yet. By who has `SETS`: what is noticed later leads to
/// [`follow`].
fn catch_up(sets: &mut Sets, conn: &Conn) {
    while slot::follows(conn.slot, conn.writes_to_ring.load(SeqCst)) {
        wait_anew(sets, conn);
    }
}

/// `epoll_pwait`, in milliseconds.
pub fn wait(
    epoll: i32,
    events: &mut [epoll_event],
    timeout_ms: c_int,
    mask: Option<&sigset_t>,
) -> Result<usize> {
    // A process that has never read nor written may wait here.
    service::ensure();
    let end = (timeout_ms > 0).then(|| sys::now() + timeout_ms as u64 * 1_000_000);
    let mut left = timeout_ms;
    let mut in_vain = 0;
    loop {
        let count = sys::epoll_wait(epoll, events, left, mask)?;
        let said = translate(&mut events[..count]);
        if said > 0 || count == 0 || left == 0 {
            return Ok(said);
        }
        in_vain += 1;
        if in_vain > IN_VAIN_MAX {
            // A signal ends it as it ends the wait.
            sys::poll(&mut [], Some(NAP_NS), mask)?;
        }
        if let Some(end) = end {
            left = end.saturating_sub(sys::now()).div_ceil(1_000_000) as c_int;
        }
    }
}

/// Puts together what TCP would have said. How many events there are then. Whoever waited needs it, also if there were no
/// connections when the wait began.
pub fn translate(events: &mut [epoll_event]) -> usize {
    let mut said = 0;
    // Where the event of a registration is.
    let mut places: Vec<(u32, usize)> = Vec::new();
    for from in 0..events.len() {
        let event = events[from];
        let Some((index, kind, serial)) = parse(event.u64) else {
            events[said] = event;
            said += 1;
            continue;
        };
        let place = places.iter().find(|(of, _)| *of == index).map(|(_, place)| *place);
        let Some((entry, at)) = entry_of(index, serial) else { continue };
        let Some(at) = at else {
            events[said] = epoll_event { events: event.events, u64: entry.data };
            said += 1;
            continue;
        };
        // What fires once says all that is so.
        if entry.is_spent && place.is_none() {
            continue;
        }
        let happened = entry.happened(at.conn(), kind, event.events);
        if happened == 0 {
            trim(index, serial, at.conn());
            continue;
        }
        match place {
            Some(place) => {
                let so_far = events[place].events;
                events[place].events = so_far | happened;
            }
            None => {
                if entry.events & ONESHOT != 0 && !spend(index, serial, at.conn()) {
                    continue;
                }
                places.push((index, said));
                events[said] = epoll_event { events: happened, u64: entry.data };
                said += 1;
            }
        }
    }
    said
}

/// Something fired that the program does not wait for. What the kernel waits for in vain, it does not any more.
fn trim(index: u32, serial: u64, conn: &Conn) {
    let Ok(mut sets) = SETS.lock() else { return };
    catch_up(&mut sets, conn);
    match sets.entries.get_mut(index as usize).filter(|entry| entry.serial == serial) {
        Some(entry) if entry.is_parked => sets.end_parking(index, conn),
        Some(entry) => entry.trim(index, conn),
        None => {}
    }
}

/// A registration of this name, and its connection if it is one's.
fn entry_of(index: u32, serial: u64) -> Option<(Entry, Option<Ref>)> {
    let sets = SETS.lock().ok()?;
    let entry = *sets.entries.get(index as usize)?;
    if entry.serial != serial {
        return None;
    }
    match entry.slot {
        Some(slot) => Some((entry, Some(slot::at(slot)?))),
        None => Some((entry, None)),
    }
}

/// `EPOLLONESHOT` has fired. Whether here.
fn spend(index: u32, serial: u64, conn: &Conn) -> bool {
    let Ok(mut sets) = SETS.lock() else { return false };
    let Some(entry) = sets.entries.get_mut(index as usize) else { return false };
    if entry.serial != serial || entry.is_spent {
        return false;
    }
    (entry.is_spent, entry.told) = (true, None);
    entry.take_bells(conn);
    let token = entry.token(index, Kind::Tcp);
    let _ = sys::epoll_control(entry.epoll, EPOLL_CTL_MOD, entry.fd, ONESHOT, token);
    true
}
