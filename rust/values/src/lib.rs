//! Sizes, durations and counts as people write and read them, alike in every program.

use std::time::Duration;

const SIZES: [(&str, u64); 13] = [
    ("", 1),
    ("B", 1),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
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

/// Bytes: `64MiB`, `1 GiB`, `256k` (KiB), `4096`.
///
/// # Errors
/// What is wrong, for who has typed it.
pub fn size(text: &str) -> Result<u64, String> {
    number(text, &SIZES, "64MiB or 256k")
}

/// `90s`, `24h`.
///
/// # Errors
/// What is wrong, for who has typed it.
pub fn duration(text: &str) -> Result<Duration, String> {
    number(text, &DURATIONS, "90s or 24h").map(Duration::from_millis)
}

/// `1 name`, `2 names`.
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `1023 B`, `1.5 GiB`.
#[must_use]
pub fn show_bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut shown = bytes as f64 / 1024.0;
    let mut unit = 0;
    // What would be rounded to 1024.0 is one of the next unit.
    while shown >= 1023.95 && unit + 1 < units.len() {
        shown /= 1024.0;
        unit += 1;
    }
    format!("{shown:.1} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("1 GiB"), Ok(1 << 30));
        assert_eq!(size("256k"), Ok(256 << 10));
        assert_eq!(size("2MB"), Ok(2_000_000));
        assert!(size("GiB").is_err_and(|error| error.contains("64MiB")));
        assert!(size("1XB").is_err_and(|error| error.contains("KiB, MiB, GiB")));
        assert!(size("99999999999TiB").is_err_and(|error| error.contains("too much")));
        assert!(size("99999999999999999999").is_err());
    }

    #[test]
    fn durations() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1d"), Ok(Duration::from_secs(86_400)));
        assert_eq!(duration("250 ms"), Ok(Duration::from_millis(250)));
        assert!(duration("90").is_err() && duration("-1s").is_err() && duration("").is_err());
    }

    #[test]
    fn what_is_shown() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "key")), ["0 keys", "1 key", "2 keys"]);
        for (bytes, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (3 << 29, "1.5 GiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(show_bytes(bytes), shown);
        }
    }
}
