//! Forks: parent and child have the same connections, whose state they share; all else of the library begins anew in the child.
//!
//! # Order of locks
//! A fork takes all locks of the process, so that nobody is amid a change that the child would find half done. Who has one of them
//! takes only those behind it:
//!
//! ```text
//!   streams  status  open  [a connection's input, then out]  service  agent  slot  epoll  shared
//! ```
//!
//! The locks of a connection lie in memory that the child shares, and no fork takes them. `slot` comes before `epoll`: who empties a
//! slot closes bells, and each close looks whether the descriptor is in an epoll.

#![allow(unsafe_code, reason = "handlers that the C library calls")]

use std::cell::Cell;

use crate::{agent, epoll, family, lock, open, process, service, shared, slot, status, streams};

/// Asks the C library to call the handlers. Once.
pub(crate) fn watch() {
    // SAFETY: the functions are there as long as the process.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

/// In the order above.
fn hold() {
    streams::lock_for_fork();
    status::lock_for_fork();
    open::lock_for_fork();
    service::lock_for_fork();
    agent::lock_for_fork();
    slot::lock_for_fork();
    epoll::lock_for_fork();
    shared::lock_for_fork();
}

fn let_go(parents_thread: Option<u64>) {
    shared::unlock_after_fork(parents_thread);
    epoll::unlock_after_fork(parents_thread);
    slot::unlock_after_fork(parents_thread);
    agent::unlock_after_fork(parents_thread);
    service::unlock_after_fork(parents_thread);
    open::unlock_after_fork(parents_thread);
    status::unlock_after_fork(parents_thread);
    streams::unlock_after_fork(parents_thread);
}

thread_local! {
    /// The fork that this thread has begun.
    static BEGUN: Cell<u64> = const { Cell::new(0) };
}

extern "C" fn prepare() {
    hold();
    BEGUN.set(slot::reserve());
}

/// Also if there is no child: who has called `fork` knows ([`failed`]).
extern "C" fn parent() {
    let_go(None);
}

/// This thread's last fork was none: there is no child that has the connections.
pub fn failed() {
    slot::unreserve(BEGUN.get());
}

extern "C" fn child() {
    let parents_thread = lock::forget_thread();
    let number = family::enter();
    let_go(Some(parents_thread));
    process::note();
    slot::forget_threads();
    if let Some(number) = number {
        slot::enter(number);
    }
    shared::begin_anew();
    status::begin_anew();
    agent::begin_anew();
    open::begin_anew();
    epoll::begin_anew();
    service::begin_anew();
}
