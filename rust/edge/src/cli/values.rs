//! What is of sites on the command line, as people write it.

use std::ops::Range;

/// `0..417`.
pub(crate) fn range(text: &str) -> Result<Range<u64>, String> {
    let ends = text.split_once("..").and_then(|(from, to)| {
        let (from, to) = (from.parse::<u64>().ok()?, to.parse::<u64>().ok()?);
        (from < to).then_some(from..to)
    });
    ends.ok_or_else(|| format!("'{text}' is not like 0..417"))
}
