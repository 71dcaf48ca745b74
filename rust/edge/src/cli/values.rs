//! Sizes and durations as people write them.

use std::time::Duration;

const SIZES: [(&str, u64); 9] = [
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

const DURATIONS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

fn number(text: &str, units: &[(&str, u64)], example: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = text.split_at(digits);
    let count: u64 = count.parse().map_err(|_| format!("'{text}' is not like {example}"))?;
    let factor = units.iter().find(|(name, _)| *name == unit.trim_start());
    let names: Vec<_> = units.iter().map(|(name, _)| *name).filter(|n| !n.is_empty()).collect();
    let (_, factor) =
        factor.ok_or_else(|| format!("unit '{unit}' is none of {}", names.join(", ")))?;
    count.checked_mul(*factor).ok_or_else(|| format!("'{text}' is too much"))
}

/// `64MiB`, `1 GiB`, `4096`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    number(text, &SIZES, "64MiB")
}

/// `90s`, `24h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    number(text, &DURATIONS, "90s or 24h").map(Duration::from_millis)
}
