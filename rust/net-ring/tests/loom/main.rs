//! All interleavings of small programs, with all that weak memory allows in them; and controls: without one fence or one
//! ordering, each of these has to fail.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod controls;
mod memory;
mod moves;
mod stream;

use memory::Weakened;

/// Runs a program in all its interleavings, with so many preemptions.
fn check(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions + afterbay_test_form::more_preemptions());
    model.check(program);
}

const WHOLE: Weakened = Weakened::Nothing;
