//! Which streams of the C library (`FILE`) are made of the library's functions, by their addresses.

use crate::lock::Lock;

static STREAMS: Lock<Vec<usize>> = Lock::new(Vec::new());

/// A stream is one of these from now on.
pub fn add(stream: usize) {
    if let Ok(mut streams) = STREAMS.lock() {
        streams.push(stream);
    }
}

/// It is about to be closed.
pub fn forget(stream: usize) {
    if let Ok(mut streams) = STREAMS.lock() {
        streams.retain(|&other| other != stream);
    }
}

/// Whether a stream is one of these.
pub fn is_ours(stream: usize) -> bool {
    STREAMS.lock().is_ok_and(|streams| streams.contains(&stream))
}

/// During a fork, nobody changes it.
pub(crate) fn lock_for_fork() {
    STREAMS.hold(|_| {});
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    STREAMS.let_go(parents_thread);
}
