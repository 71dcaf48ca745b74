//! Looking for a short while before a thread sleeps: a wake-up takes longer than what comes soon. Where there are more than two
//! processors, and only as long as it has been worth it.

use std::cell::Cell;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::sys;

/// About a wake-up across processors, twice.
const LONGEST_NS: u64 = 20_000;
const SHORTEST_NS: u64 = 500;
/// With fewer processors, who is waited for may need this one.
const PROCESSORS_MIN: u32 = 3;

/// 0: not known yet, 1: not at all, 2: yes.
static ALLOWED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static BUDGET_NS: Cell<u64> = const { Cell::new(LONGEST_NS) };
}

/// Looks for a while whether `is` so.
pub(crate) fn until(mut is: impl FnMut() -> bool) -> bool {
    if ALLOWED.load(Relaxed) != 2 && !is_allowed() {
        return false;
    }
    BUDGET_NS.with(|budget| {
        let end = sys::now() + budget.get();
        while sys::now() < end {
            if is() {
                budget.set((budget.get() * 2).min(LONGEST_NS));
                return true;
            }
            (0..20).for_each(|_| std::hint::spin_loop());
        }
        budget.set((budget.get() / 2).max(SHORTEST_NS));
        false
    })
}

fn is_allowed() -> bool {
    if ALLOWED.load(Relaxed) == 0 {
        let wanted = crate::config().is_some_and(|config| config.spin);
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let is_allowed = wanted && processors >= PROCESSORS_MIN;
        ALLOWED.store(if is_allowed { 2 } else { 1 }, Relaxed);
    }
    ALLOWED.load(Relaxed) == 2
}
