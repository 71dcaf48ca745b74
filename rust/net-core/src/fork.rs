//! Forks: parent and child have the same connections, whose state they share; all else of the library begins anew in the child.

#![allow(unsafe_code, reason = "handlers that the C library calls")]

use crate::{agent, epoll, lock, service, shared, slot, sys};

/// Asks the C library to call the handlers. Once.
pub(crate) fn watch() {
    // SAFETY: the functions are there as long as the process.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

fn hold() {
    service::lock_for_fork();
    agent::lock_for_fork();
    epoll::lock_for_fork();
    slot::lock_for_fork();
    shared::lock_for_fork();
}

fn let_go(parents_thread: Option<u32>) {
    shared::unlock_after_fork(parents_thread);
    slot::unlock_after_fork(parents_thread);
    epoll::unlock_after_fork(parents_thread);
    agent::unlock_after_fork(parents_thread);
    service::unlock_after_fork(parents_thread);
}

extern "C" fn prepare() {
    slot::each_conn(|conn| conn.owners.reserve());
    hold();
}

extern "C" fn parent() {
    let_go(None);
}

extern "C" fn child() {
    let parents_thread = lock::forget_thread();
    let_go(Some(parents_thread));
    service::note_process();
    slot::forget_threads();
    slot::each_conn(|conn| conn.owners.enter(sys::process_id()));
    shared::begin_anew();
    agent::begin_anew();
    epoll::begin_anew();
    service::begin_anew();
}
