//! Memory for connections that a process shares with its children.

#![allow(unsafe_code, reason = "memory that processes share")]

use std::collections::VecDeque;
use std::mem::size_of;

use crate::conn::Conn;
use crate::lock::Lock;
use crate::{family, sys};

/// Connections of a process at once.
const PLACES: usize = 1 << 15;
/// Places that are looked at when one is needed: more than one, so that they do not become ever more.
const LOOKS: usize = 4;

static PLACE: Lock<Places> =
    Lock::new(Places { base: 0, next: 0, free: Vec::new(), left_behind: VecDeque::new() });

#[derive(Debug)]
struct Places {
    /// Address of the memory of this process; its children have others, for what is new.
    base: usize,
    next: usize,
    free: Vec<usize>,
    /// Places that this process has left and a child may have; those first that were left first.
    left_behind: VecDeque<usize>,
}

/// Makes a connection, which is told where it will be, and which children will share.
pub(crate) fn place(make: impl FnOnce(*const Conn) -> Conn) -> Option<*mut Conn> {
    let place = PLACE.lock().ok()?.take()? as *mut Conn;
    // SAFETY: the place is this process's, large enough, and nobody's.
    unsafe { place.write(make(place)) };
    Some(place)
}

/// This process does not use it any more.
pub(crate) fn leave(conn: *mut Conn) {
    // SAFETY: the memory is never unmapped, and was a connection's.
    let is_last = unsafe { (*conn).owners.leave(family::own()) };
    let Ok(mut places) = PLACE.lock() else { return };
    let at = conn as usize;
    let is_mine = places.base != 0 && (at - places.base.min(at)) < PLACES * stride();
    if is_mine && at >= places.base {
        if is_last {
            places.free.push(at);
        } else {
            places.left_behind.push_back(at);
        }
    }
}

/// In a child: places of its own, for what is new.
pub(crate) fn begin_anew() {
    if let Ok(mut places) = PLACE.lock() {
        *places = Places { base: 0, next: 0, free: Vec::new(), left_behind: VecDeque::new() };
    }
}

/// During a fork, nobody changes it.
pub(crate) fn lock_for_fork() {
    PLACE.hold(|_| {});
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    PLACE.let_go(parents_thread);
}

fn stride() -> usize {
    size_of::<Conn>().next_multiple_of(128)
}

impl Places {
    fn take(&mut self) -> Option<usize> {
        if self.base == 0 {
            self.base = sys::map_shared(PLACES * stride())? as usize;
        }
        self.look_after();
        if let Some(place) = self.free.pop() {
            return Some(place);
        }
        if self.next < PLACES {
            self.next += 1;
            return Some(self.base + (self.next - 1) * stride());
        }
        None
    }

    /// Looks at the oldest places that were left behind. So that all children of a program that lives long, and closes what it has
    /// handed to them, have about as many as there are children.
    fn look_after(&mut self) {
        for _ in 0..LOOKS.min(self.left_behind.len()) {
            let Some(at) = self.left_behind.pop_front() else { return };
            // SAFETY: it was a connection, and its memory is never unmapped.
            if unsafe { (*(at as *const Conn)).owners.is_empty() } {
                self.free.push(at);
            } else {
                self.left_behind.push_back(at);
            }
        }
    }
}
