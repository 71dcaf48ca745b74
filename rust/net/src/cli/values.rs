//! Sizes as people write them.

use afterbay_net_ring::Capacity;

const UNITS: [(&str, u64); 8] = [
    ("", 1),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("b", 1),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];
/// A page: less cannot be mapped.
const RING_BYTES_MIN: u64 = 4096;

/// `256k`, `512m`, `1GiB`, `4096`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = text.split_at(digits);
    let unit = unit.trim_start().to_ascii_lowercase();
    let count: u64 = count.parse().map_err(|_| format!("'{text}' is not like 256k or 512m"))?;
    let factor = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, factor) = factor.ok_or_else(|| format!("unit '{unit}' is none of k, m, g"))?;
    count.checked_mul(*factor).ok_or_else(|| format!("'{text}' is too much"))
}

/// What a ring can hold.
pub(crate) fn ring(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    match Capacity::new(bytes) {
        Ok(_) if bytes >= RING_BYTES_MIN => Ok(bytes),
        _ => Err(format!("'{text}' is no power of two from 4k to 1g")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_as_people_write_them() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("256k"), Ok(256 << 10));
        assert_eq!(size("512 MiB"), Ok(512 << 20));
        assert_eq!(size("1G"), Ok(1 << 30));
        assert!(size("k").is_err_and(|error| error.contains("256k")));
        assert!(size("1t").is_err_and(|error| error.contains("k, m, g")));
        assert!(size("99999999999999999999").is_err());
        assert!(size("99999999999g").is_err_and(|error| error.contains("too much")));
    }

    #[test]
    fn a_ring_is_a_power_of_two() {
        assert_eq!(ring("64k"), Ok(1 << 16));
        assert_eq!(ring("1g"), Ok(1 << 30));
        for refused in ["0", "2k", "100k", "2g"] {
            assert!(ring(refused).is_err_and(|error| error.contains("power of two")), "{refused}");
        }
    }
}
