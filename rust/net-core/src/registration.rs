//! What a program has registered in its epolls, and what the kernel has been told of it (`epoll`).

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLET, EPOLLEXCLUSIVE, EPOLLIN, EPOLLONESHOT,
    EPOLLOUT, EPOLLRDNORM, EPOLLWRNORM, c_int, epoll_event,
};

use crate::conn::Conn;
use crate::slot;
use crate::sys::{self, Result};

/// No address of a program begins so, and no small number. A program whose own data begins so gets them back: they are kept here,
/// too.
pub(crate) const TOKEN: u64 = 0xAFBA << 48;
pub(crate) const TOKEN_MASK: u64 = 0xFFFF << 48;
const INDEX_MASK: u64 = 0xFFFF_FFFF;
const SERIAL_SHIFT: u32 = 34;
const SERIAL_MASK: u64 = 0x3FFF;
const KIND_SHIFT: u32 = 32;

const IN: u32 = (EPOLLIN | EPOLLRDNORM) as u32;
pub(crate) const OUT: u32 = (EPOLLOUT | EPOLLWRNORM) as u32;
pub(crate) const ONESHOT: u32 = EPOLLONESHOT as u32;
pub(crate) const EDGE: u32 = EPOLLET as u32;
pub(crate) const EXCLUSIVE: u32 = EPOLLEXCLUSIVE as u32;
/// What is told in any case.
const ENDS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// Registrations of connections.
pub(crate) static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// What fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp = 0,
    Reader = 1,
    Writer = 2,
}

#[derive(Debug)]
pub(crate) struct Sets {
    pub(crate) entries: Vec<Entry>,
    pub(crate) free: Vec<u32>,
    /// By descriptor and epoll.
    pub(crate) of: BTreeMap<(i32, i32), u32>,
    pub(crate) serial: u64,
}

/// A registration, as the program made it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) epoll: i32,
    pub(crate) fd: i32,
    /// Of a connection.
    pub(crate) slot: Option<u32>,
    pub(crate) events: u32,
    pub(crate) data: u64,
    pub(crate) serial: u64,
    /// What the kernel's epoll was told last of the socket, if it is known.
    pub(crate) told: Option<u32>,
    /// Which bells are in the kernel's epoll.
    pub(crate) reader: bool,
    pub(crate) writer: bool,
    /// And are waited for by edges.
    pub(crate) has_edges: bool,
    /// `EPOLLONESHOT`, and it has fired.
    pub(crate) is_spent: bool,
    /// The program has taken it out, and the kernel has not been told: it is put back often, and then the kernel knows.
    pub(crate) is_parked: bool,
    /// Of the process that this one comes from: the kernel's epoll is that one's too.
    pub(crate) is_inherited: bool,
}

impl Entry {
    pub(crate) fn is_exclusive(&self) -> bool {
        self.events & EXCLUSIVE != 0
    }
}

/// Neither by edges nor once, nor one of several alone.
pub(crate) fn waits_by_level(events: u32) -> bool {
    events & (EDGE | ONESHOT | EXCLUSIVE) == 0
}

pub(crate) fn parse(data: u64) -> Option<(u32, Kind, u64)> {
    if data & TOKEN_MASK != TOKEN {
        return None;
    }
    let kind = match data >> KIND_SHIFT & 3 {
        0 => Kind::Tcp,
        1 => Kind::Reader,
        2 => Kind::Writer,
        _ => return None,
    };
    Some(((data & INDEX_MASK) as u32, kind, data >> SERIAL_SHIFT & SERIAL_MASK))
}

impl Sets {
    pub(crate) fn insert(
        &mut self,
        epoll: i32,
        fd: i32,
        slot: Option<u32>,
        event: epoll_event,
    ) -> u32 {
        self.serial = (self.serial + 1) & SERIAL_MASK;
        let entry = Entry {
            epoll,
            fd,
            slot,
            events: event.events,
            data: event.u64,
            serial: self.serial,
            told: None,
            reader: false,
            writer: false,
            has_edges: false,
            is_spent: false,
            is_parked: false,
            is_inherited: false,
        };
        let index = self.free.pop().unwrap_or(self.entries.len() as u32);
        match self.entries.get_mut(index as usize) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
        self.of.insert((fd, epoll), index);
        IN_USE.fetch_add(slot.is_some().into(), SeqCst);
        index
    }

    pub(crate) fn remove(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        IN_USE.fetch_sub(entry.slot.take().is_some().into(), SeqCst);
        entry.serial = u64::MAX;
        self.of.remove(&(entry.fd, entry.epoll));
        self.free.push(index);
    }

    /// What was parked is taken out.
    pub(crate) fn end_parking(&mut self, index: u32, conn: &Conn) {
        let entry = &mut self.entries[index as usize];
        entry.take_bells(conn);
        let _ = sys::epoll_control(entry.epoll, EPOLL_CTL_DEL, entry.fd, 0, 0);
        self.remove(index);
    }

    pub(crate) fn of_descriptor(&self, fd: i32) -> Vec<u32> {
        self.of.range((fd, i32::MIN)..=(fd, i32::MAX)).map(|(_, &index)| index).collect()
    }
}

impl Entry {
    pub(crate) fn token(&self, index: u32, kind: Kind) -> u64 {
        TOKEN | self.serial << SERIAL_SHIFT | (kind as u64) << KIND_SHIFT | u64::from(index)
    }

    /// Tells the kernel what to wait for: the socket by `operation`, and its bells.
    pub(crate) fn put(&mut self, index: u32, conn: &Conn, operation: c_int) -> Result<()> {
        let events = self.of_tcp(slot::waits_for_ring(conn.slot));
        if operation != EPOLL_CTL_MOD || !self.knows(events) {
            self.tell(index, operation, events)?;
        }
        self.put_bells(index, conn);
        Ok(())
    }

    /// What fires once, fires by one of several: it is this library's to count.
    pub(crate) fn of_tcp(&self, waits_for_ring: bool) -> u32 {
        let not_told = EXCLUSIVE | ONESHOT | if waits_for_ring { OUT } else { 0 };
        self.events & !not_told
    }

    pub(crate) fn tell(&mut self, index: u32, operation: c_int, events: u32) -> Result<()> {
        self.told = None;
        let token = self.token(index, Kind::Tcp);
        sys::epoll_control(self.epoll, operation, self.fd, events, token)?;
        self.told = Some(events);
        Ok(())
    }

    /// Whether the kernel has been told this, and at most to wait for bytes as well, which may not come soon.
    pub(crate) fn knows(&self, events: u32) -> bool {
        let is_so = |told: u32| told & events == events && told & !events & !IN == 0;
        self.may_keep() && self.told.is_some_and(is_so)
    }

    /// Whether the kernel may wait for more than the program does. By edges, it says what is so once more when it is told again; and
    /// of another process's epoll it may have heard something else.
    pub(crate) fn may_keep(&self) -> bool {
        waits_by_level(self.events) && !self.has_edges && !self.is_inherited
    }

    pub(crate) fn may_park(&self, conn: &Conn) -> bool {
        self.may_keep()
            && self.told.is_some_and(|told| told & OUT == 0)
            && !conn.is_plain.load(SeqCst)
    }

    /// The program has taken it out. Room, which there mostly is, would fire at once.
    pub(crate) fn park(&mut self, conn: &Conn) {
        (self.is_parked, self.events) = (true, 0);
        self.take_writer(conn);
    }

    /// And puts it in again.
    pub(crate) fn come_back(&mut self, index: u32, conn: &Conn, event: epoll_event) -> Result<()> {
        (self.is_parked, self.events, self.data) = (false, event.events, event.u64);
        self.put(index, conn, EPOLL_CTL_MOD)
    }

    /// The kernel waits for what the program waits for, and for nothing else.
    pub(crate) fn trim(&mut self, index: u32, conn: &Conn) {
        if !self.may_keep() {
            return;
        }
        let events = self.of_tcp(slot::waits_for_ring(conn.slot));
        if self.told != Some(events) {
            let _ = self.tell(index, EPOLL_CTL_MOD, events);
        }
        if self.events & IN == 0 && std::mem::take(&mut self.reader) {
            let _ = sys::epoll_control(self.epoll, EPOLL_CTL_DEL, conn.read_bell.fd(), 0, 0);
        }
    }

    pub(crate) fn take_writer(&mut self, conn: &Conn) {
        if std::mem::take(&mut self.writer) {
            let _ = sys::epoll_control(self.epoll, EPOLL_CTL_DEL, conn.write_bell.fd(), 0, 0);
        }
    }

    pub(crate) fn put_bells(&mut self, index: u32, conn: &Conn) {
        let waits_for_ring = slot::waits_for_ring(conn.slot);
        let modes = self.events & EDGE;
        let is_by_level = self.may_keep();
        self.has_edges = modes != 0;
        let wanted = [
            (self.events & IN != 0, Kind::Reader, conn.read_bell.fd()),
            (self.events & OUT != 0 && waits_for_ring, Kind::Writer, conn.write_bell.fd()),
        ];
        // Without rings there are none.
        for (is_wanted, kind, bell) in wanted.into_iter().filter(|(_, _, bell)| *bell >= 0) {
            let token = self.token(index, kind);
            let is_there = if kind == Kind::Reader { &mut self.reader } else { &mut self.writer };
            let operation = match (is_wanted, *is_there) {
                (true, false) => EPOLL_CTL_ADD,
                // It is there as it was.
                (true, true) if is_by_level => continue,
                (true, true) => EPOLL_CTL_MOD,
                // It fires when bytes come, which may not be soon.
                (false, true) if is_by_level && kind == Kind::Reader => continue,
                (false, true) => EPOLL_CTL_DEL,
                (false, false) => continue,
            };
            *is_there = is_wanted;
            let _ = sys::epoll_control(self.epoll, operation, bell, EPOLLIN as u32 | modes, token);
        }
    }

    pub(crate) fn take_bells(&mut self, conn: &Conn) {
        for (is_there, bell) in
            [(&mut self.reader, conn.read_bell.fd()), (&mut self.writer, conn.write_bell.fd())]
        {
            if std::mem::take(is_there) {
                let _ = sys::epoll_control(self.epoll, EPOLL_CTL_DEL, bell, 0, 0);
            }
        }
    }

    /// What the program is told.
    pub(crate) fn happened(&self, conn: &Conn, kind: Kind, events: u32) -> u32 {
        let writable = || {
            let is_so =
                self.events & OUT != 0 && conn.writes_to_ring.load(SeqCst) && conn.is_writable();
            if is_so { self.events & OUT } else { 0 }
        };
        let readable = || {
            let is_so = self.events & IN != 0 && conn.is_readable();
            if is_so { self.events & IN } else { 0 }
        };
        let happened = match kind {
            Kind::Tcp if self.is_parked => 0,
            Kind::Tcp => events & (self.events | ENDS),
            Kind::Writer => writable(),
            Kind::Reader => readable(),
        };
        // What is said once, or by edges, says all that is so.
        if happened != 0 && self.events & (EDGE | ONESHOT) != 0 {
            return happened | readable() | writable();
        }
        happened
    }
}
