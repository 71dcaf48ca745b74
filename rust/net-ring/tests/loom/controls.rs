//! What loom has to find: a ring without one of its fences or orderings.

use std::process::Command;

use afterbay_net_ring::{FenceSite, Field};

use crate::memory::Weakened;
use crate::moves;
use crate::stream;

/// The control that this process is.
const CONTROL: &str = "AFTERBAY_LOOM_CONTROL";
/// Nobody can go on, as loom says it.
const SLEEPS: &str = "deadlock";
/// An access to a byte that is not ordered after the last one, as loom says it.
const RACES: &str = "Causality violation";

struct Control {
    name: &'static str,
    run: fn(),
    /// What has to be said.
    says: &'static str,
}

const CONTROLS: [Control; 10] = [
    Control {
        name: "the reader sleeps without the fence behind publishing",
        run: || stream::run(2, 2, Weakened::Fence(FenceSite::Published)),
        says: SLEEPS,
    },
    Control {
        name: "the reader sleeps without the fence before its last look",
        run: || stream::run(2, 2, Weakened::Fence(FenceSite::ReaderWaits)),
        says: SLEEPS,
    },
    Control {
        name: "the writer sleeps without the fence behind freeing",
        run: || stream::run(1, 2, Weakened::Fence(FenceSite::Freed)),
        says: SLEEPS,
    },
    Control {
        name: "the writer sleeps without the fence before its last look",
        run: || stream::run(1, 2, Weakened::Fence(FenceSite::WriterWaits)),
        says: SLEEPS,
    },
    Control {
        name: "bytes are read before they are written: the head releases nothing",
        run: || stream::run(2, 2, Weakened::Release(Field::Head)),
        says: RACES,
    },
    Control {
        name: "bytes are read before they are written: the head acquires nothing",
        run: || stream::run(2, 2, Weakened::Acquire(Field::Head)),
        says: RACES,
    },
    Control {
        name: "bytes are overwritten before they are read: the tail releases nothing",
        run: || stream::run(1, 2, Weakened::Release(Field::Tail)),
        says: RACES,
    },
    Control {
        name: "bytes are overwritten before they are read: the tail acquires nothing",
        run: || stream::run(1, 2, Weakened::Acquire(Field::Tail)),
        says: RACES,
    },
    Control {
        name: "both leave the ring at once: the word is not exchanged",
        run: || moves::run(moves::BOTH_LEAVE, Weakened::Exchange),
        says: "panicked",
    },
    Control {
        name: "the writer goes back before the reader has heard of the ring",
        run: || moves::run(moves::HASTY, Weakened::Nothing),
        says: "panicked",
    },
];

/// In a process of its own each: a thread of loom that cannot go on ends the process.
#[test]
fn each_fence_and_each_ordering_is_needed() {
    if let Ok(name) = std::env::var(CONTROL) {
        let control = CONTROLS.iter().find(|control| control.name == name).unwrap();
        return (control.run)();
    }
    for Control { name, says, .. } in &CONTROLS {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "controls::each_fence_and_each_ordering_is_needed", "--nocapture"])
            .env(CONTROL, name)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{name}: loom does not see what is missing");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(says), "{name}: failed, but not by '{says}': {said}");
    }
}
