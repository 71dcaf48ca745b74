//! Seats for connections: those of clients that have proved that they have a key are counted apart from the others, which are anybody's.
//!
//! ```text
//!   accepted ──▶ unknown ──a request with a key──▶ known
//!                  │                                 └── none is free: that request is refused (503)
//!                  └── none is free: the one that is there for longest is cut off, first of all one without a request
//! ```
//!
//! So whoever opens connections without a key takes them from others without one, and each has the time to send a request that it takes to
//! open as many as there are seats.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::options::S3Options;

/// The seats of an endpoint.
#[derive(Debug)]
pub(crate) struct Seats {
    known_max: usize,
    unknown_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    known: usize,
    /// In the order in which they came.
    unknown: BTreeMap<u64, Arc<Guest>>,
    came: u64,
}

#[derive(Debug, Default)]
struct Guest {
    /// Requests in work: the answer to one may be given up after the next one has come.
    in_work: AtomicU32,
    is_known: AtomicBool,
    cut_off: Notify,
}

/// The seat of a connection, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    guest: Arc<Guest>,
}

impl Seats {
    pub(crate) fn new(options: &S3Options) -> Arc<Self> {
        Arc::new(Seats {
            known_max: options.connections_max,
            unknown_max: options.unknown_connections_max.max(1),
            taken: Mutex::default(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For a connection that has just come.
    pub(crate) fn take(self: &Arc<Self>) -> Seat {
        let mut taken = self.taken();
        if taken.unknown.len() >= self.unknown_max {
            taken.make_room();
        }
        taken.came += 1;
        let (number, guest) = (taken.came, Arc::<Guest>::default());
        taken.unknown.insert(number, guest.clone());
        Seat { seats: self.clone(), number, guest }
    }
}

impl Taken {
    fn make_room(&mut self) {
        let without_request = |(_, guest): &(&u64, &Arc<Guest>)| !guest.is_busy();
        let chosen = self.unknown.iter().find(without_request).or(self.unknown.iter().next());
        let number = chosen.map(|(number, _)| *number);
        if let Some(guest) = number.and_then(|number| self.unknown.remove(&number)) {
            metrics::counter!("afterbay_blob_s3_cut_off_total", "reason" => "crowded").increment(1);
            tracing::debug!("too many connections without a key: the oldest is cut off");
            guest.cut_off.notify_one();
        }
    }
}

impl Guest {
    fn is_busy(&self) -> bool {
        self.in_work.load(Ordering::Relaxed) > 0
    }
}

impl Seat {
    /// The client has proved that it has a key. False if all seats of such clients are taken.
    pub(crate) fn know(&self) -> bool {
        let mut taken = self.seats.taken();
        if self.is_known() {
            return true;
        }
        if taken.known >= self.seats.known_max {
            return false;
        }
        taken.unknown.remove(&self.number);
        taken.known += 1;
        self.guest.is_known.store(true, Ordering::Relaxed);
        true
    }

    pub(crate) fn is_known(&self) -> bool {
        self.guest.is_known.load(Ordering::Relaxed)
    }

    pub(crate) fn begin(&self) {
        self.guest.in_work.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.guest.in_work.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a request is in work.
    pub(crate) fn is_busy(&self) -> bool {
        self.guest.is_busy()
    }

    /// Returns when the seat was given to somebody else.
    pub(crate) async fn lost(&self) {
        self.guest.cut_off.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
        if self.is_known() {
            taken.known -= 1;
        } else {
            taken.unknown.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn seats(known: usize, unknown: usize) -> Arc<Seats> {
        let limits = S3Options::default();
        Seats::new(&S3Options {
            connections_max: known,
            unknown_connections_max: unknown,
            ..limits
        })
    }

    fn lost(of: &[&Seat]) -> Vec<usize> {
        let is_lost = |(number, seat): (usize, &&Seat)| seat.lost().now_or_never().map(|()| number);
        of.iter().enumerate().filter_map(is_lost).collect()
    }

    #[test]
    fn those_without_a_key_take_seats_from_each_other() {
        let seats = seats(1, 2);
        let known = seats.take();
        assert!(known.know() && known.know());
        let (a, b) = (seats.take(), seats.take());
        assert!(lost(&[&known, &a, &b]).is_empty());
        let c = seats.take();
        assert_eq!(lost(&[&known, &a, &b, &c]), [1]);
        drop(b);
        let d = seats.take();
        assert!(lost(&[&known, &a, &c, &d]).is_empty(), "a seat was free");
    }

    #[test]
    fn a_request_is_cut_off_last() {
        let seats = seats(1, 2);
        let (busy, idle) = (seats.take(), seats.take());
        busy.begin();
        let next = seats.take();
        assert_eq!(lost(&[&busy, &idle, &next]), [1]);
        next.begin();
        let last = seats.take();
        assert_eq!(lost(&[&busy, &next, &last]), [0], "the one that is there for longest");
    }

    #[test]
    fn keys_have_as_many_as_there_are() {
        let seats = seats(2, 1);
        let (a, b) = (seats.take(), seats.take());
        assert!(a.know() && b.know());
        let c = seats.take();
        assert!(!c.know() && !c.is_known());
        drop(a);
        assert!(c.know());
        drop((b, c));
        assert!(seats.taken().unknown.is_empty() && seats.taken().known == 0);
    }
}
