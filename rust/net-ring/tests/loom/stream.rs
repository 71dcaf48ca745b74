//! A stream through one ring, with its bells.

use afterbay_net_ring::{Bell, Consumer, Producer};
use loom::sync::Arc;
use loom::thread;

use crate::memory::{WatchedBell, WatchedRing, Weakened};
use crate::{WHOLE, check};

const PREEMPTIONS: usize = 3;

/// The writer waits when the ring is full, the reader when it is empty. All bytes arrive, in order.
pub(crate) fn run(capacity: u64, bytes: u8, weakened: Weakened) {
    check(PREEMPTIONS, move || {
        let ring = Arc::new(WatchedRing::new(capacity, weakened));
        let bells = Arc::new((WatchedBell::new(), WatchedBell::new()));
        // There is room.
        bells.1.ring();
        let writer = {
            let (ring, bells) = (ring.clone(), bells.clone());
            thread::spawn(move || {
                let mut producer = Producer::new(&*ring, &bells.1, &bells.0);
                for byte in 1..=bytes {
                    while producer.write(&[byte]).unwrap() == 0 {
                        // It rings, or will, also if there is room already.
                        producer.settle().unwrap();
                        bells.1.wait();
                    }
                }
            })
        };
        let mut consumer = Consumer::new(&*ring, &bells.0, &bells.1);
        let mut next = 1;
        while next <= bytes {
            let mut out = [0; 2];
            let length = consumer.read(&mut out).unwrap();
            for &byte in &out[..length] {
                assert_eq!(byte, next, "another byte than was written");
                next += 1;
            }
            if length == 0 {
                consumer.settle().unwrap();
                bells.0.wait();
            }
        }
        writer.join().unwrap();
    });
}

#[test]
fn all_bytes_arrive_in_order() {
    run(1, 2, WHOLE);
    run(2, 3, WHOLE);
}
