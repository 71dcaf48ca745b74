//! Forks: parent and child have the same connections, whose state they share; all else of the library begins anew in the child.

#![allow(unsafe_code, reason = "handlers that the C library calls")]

use std::sync::atomic::Ordering::SeqCst;

use crate::{agent, epoll, lock, service, shared, slot};

/// Asks the C library to call the handlers. Once.
pub(crate) fn watch() {
    // SAFETY: the functions are there as long as the process.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

fn hold(is_held: bool) {
    service::lock_for_fork(is_held);
    agent::lock_for_fork(is_held);
    epoll::lock_for_fork(is_held);
    slot::lock_for_fork(is_held);
    shared::lock_for_fork(is_held);
}

extern "C" fn prepare() {
    slot::each_conn(|conn| {
        conn.processes.fetch_add(1, SeqCst);
    });
    hold(true);
}

extern "C" fn parent() {
    hold(false);
}

extern "C" fn child() {
    lock::forget_thread();
    hold(false);
    service::note_process();
    slot::forget_threads();
    shared::begin_anew();
    agent::begin_anew();
    epoll::begin_anew();
    service::begin_anew();
}
