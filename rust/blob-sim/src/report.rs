//! What people are told of a simulation that broke something.

use std::fmt::Write;

use crate::run::{Outcome, simulate};
use crate::trace::Trace;
use crate::without::Without;

/// Of lines about what happens to machines.
const WORLD: [&str; 5] = [" fault ", " power", " starts", " damaged ", " gone "];

/// The seed, its settings, what was broken, the last events of the blob concerned, and how to see it again. The seed is simulated once
/// more for that.
pub(crate) fn report(outcome: &Outcome, without: &Without) -> String {
    let mut text = format!("{}\n", outcome.settings);
    let Some(violation) = &outcome.violation else {
        return text;
    };
    // Writing to a string never fails.
    let _ = write!(text, "\nbroken after {:?}: {}\n", outcome.took, violation.law);
    if let Some(blob) = violation.blob {
        let _ = writeln!(text, "blob   {blob}");
    }
    let _ = writeln!(text, "found  {}", violation.found);
    let wanted = match violation.blob {
        Some(blob) => vec![blob.uuid.simple().to_string(), blob.uuid.hyphenated().to_string()],
        None => Vec::new(),
    };
    let wanted = wanted.into_iter().chain(WORLD.map(str::to_owned)).collect();
    let again = simulate(outcome.settings.seed, without, Trace::about(wanted));
    let is_same = again.violation == outcome.violation;
    let lines = again.trace.into_kept();
    let _ = writeln!(text, "\nlast events of it, and faults:\n  {}", lines.join("\n  "));
    if !is_same {
        text.push_str("\nIt ended otherwise when it was simulated once more: something is not deterministic.\n");
    }
    let _ = write!(text, "\nsee it again:  {}", command(outcome.settings.seed, without));
    text
}

/// How to simulate a seed again.
pub(crate) fn command(seed: u64, without: &Without) -> String {
    let without = without.name().map(|name| format!(" --without {name}")).unwrap_or_default();
    format!("./afterbay blob sim --seed {seed}{without} --trace")
}
