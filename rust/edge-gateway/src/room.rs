//! Room for frames that are decoded and not merged yet: what a site sends may be small, and large when it is decoded.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many bytes. Cheap to clone; for any number of threads.
#[derive(Debug, Clone)]
pub(crate) struct Room(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bytes_max: usize,
    taken: Mutex<usize>,
    changed: Condvar,
}

/// A part of it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    room: Room,
    bytes: usize,
}

impl Room {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Shared { bytes_max, taken: Mutex::default(), changed: Condvar::new() }))
    }

    /// Waits for so much of it. Who wants more than there is gets it when nobody else has any.
    pub(crate) fn take(&self, bytes: usize) -> Taken {
        let mut taken = self.lock();
        while *taken > 0 && *taken + bytes > self.0.bytes_max {
            taken = self.0.changed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        Taken { room: self.clone(), bytes }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Gives back what is more than this.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let more = self.bytes.saturating_sub(bytes);
        self.bytes -= more;
        *self.room.lock() -= more;
        self.room.0.changed.notify_all();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_wants_room_waits_for_it() {
        let room = Room::new(100);
        let mut first = room.take(80);
        first.shrink(60);
        let second = room.take(40);
        let (sender, taken) = channel();
        let mine = room.clone();
        let third = std::thread::spawn(move || sender.send(mine.take(150)).unwrap());
        drop(second);
        assert!(taken.try_recv().is_err());
        assert_eq!(*room.lock(), 60);
        drop(first);
        let third_taken = taken.recv().unwrap();
        assert_eq!(*room.lock(), 150);
        drop(third_taken);
        third.join().unwrap();
        assert_eq!(*room.lock(), 0);
    }
}
