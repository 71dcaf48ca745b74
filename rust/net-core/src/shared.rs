//! Memory for connections that a process shares with its children.

#![allow(unsafe_code, reason = "memory that processes share")]

use std::mem::size_of;
use std::sync::atomic::Ordering::AcqRel;

use crate::conn::Conn;
use crate::lock::Lock;
use crate::sys;

/// Connections of a process at once.
const PLACES: usize = 1 << 15;

static PLACE: Lock<Places> =
    Lock::new(Places { base: 0, next: 0, free: Vec::new(), left_behind: Vec::new() });

#[derive(Debug)]
struct Places {
    /// Address of the memory of this process; its children have others, for what is new.
    base: usize,
    next: usize,
    free: Vec<usize>,
    /// Places that this process has left and a child may have.
    left_behind: Vec<usize>,
}

/// Puts a connection where children will share it.
pub(crate) fn place(conn: Conn) -> Option<*mut Conn> {
    let mut places = PLACE.lock().ok()?;
    let place = places.take()? as *mut Conn;
    // SAFETY: the place is this process's, large enough, and nobody's.
    unsafe { place.write(conn) };
    Some(place)
}

/// This process does not use it any more.
pub(crate) fn leave(conn: *mut Conn) {
    // SAFETY: the memory is never unmapped, and was a connection's.
    let is_last = unsafe { (*conn).processes.fetch_sub(1, AcqRel) } == 1;
    let Ok(mut places) = PLACE.lock() else { return };
    let at = conn as usize;
    let is_mine = places.base != 0 && (at - places.base.min(at)) < PLACES * stride();
    if is_mine && at >= places.base {
        let list = if is_last { &mut places.free } else { &mut places.left_behind };
        list.push(at);
    }
}

/// In a child: places of its own, for what is new.
pub(crate) fn begin_anew() {
    if let Ok(mut places) = PLACE.lock() {
        *places = Places { base: 0, next: 0, free: Vec::new(), left_behind: Vec::new() };
    }
}

/// During a fork, nobody changes it.
pub(crate) fn lock_for_fork(is_held: bool) {
    if is_held { PLACE.hold() } else { PLACE.let_go() }
}

fn stride() -> usize {
    size_of::<Conn>().next_multiple_of(128)
}

impl Places {
    fn take(&mut self) -> Option<usize> {
        if self.base == 0 {
            self.base = sys::map_shared(PLACES * stride())? as usize;
        }
        if let Some(place) = self.free.pop() {
            return Some(place);
        }
        if self.next < PLACES {
            self.next += 1;
            return Some(self.base + (self.next - 1) * stride());
        }
        // SAFETY: these were connections, and their memory is never unmapped.
        let is_free = |&at: &usize| unsafe {
            (*(at as *const Conn)).processes.load(std::sync::atomic::Ordering::Acquire) == 0
        };
        let found = self.left_behind.iter().position(is_free)?;
        Some(self.left_behind.swap_remove(found))
    }
}
