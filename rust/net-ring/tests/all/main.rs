//! Everything but the models of loom.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod hostile;
mod layout;
mod model;
mod moves;
mod threads;
mod vectors;

use afterbay_net_ring::testing::{HeapRing, ThreadBell};
use afterbay_net_ring::{Bell, Capacity, Consumer, Incoming, Outgoing, Producer};

/// One direction: its ring, and the bells of who reads and who writes.
struct Direction {
    ring: HeapRing,
    reader: ThreadBell,
    writer: ThreadBell,
}

type Out<'d> = Outgoing<&'d HeapRing, &'d ThreadBell>;
type In<'d> = Incoming<&'d HeapRing, &'d ThreadBell>;

impl Direction {
    fn new(capacity: u64) -> Self {
        Self::growing(capacity, capacity)
    }

    fn growing(first: u64, capacity: u64) -> Self {
        let [first, capacity] = [first, capacity].map(|bytes| Capacity::new(bytes).unwrap());
        let ring = HeapRing::growing(first, capacity);
        let (reader, writer) = (ThreadBell::default(), ThreadBell::default());
        // There is room.
        writer.ring();
        Direction { ring, reader, writer }
    }

    fn producer(&self) -> Producer<&HeapRing, &ThreadBell> {
        Producer::new(&self.ring, &self.writer, &self.reader)
    }

    fn consumer(&self) -> Consumer<&HeapRing, &ThreadBell> {
        Consumer::new(&self.ring, &self.reader, &self.writer)
    }

    fn ends(&self) -> (Out<'_>, In<'_>) {
        (Outgoing::new(self.producer()), Incoming::new(self.consumer()))
    }
}
