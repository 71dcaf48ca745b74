//! What is of sockets on the command line, as people write it.

use afterbay_net_ring::Capacity;
use afterbay_values::size;

/// A page: less cannot be mapped.
const RING_BYTES_MIN: u64 = 4096;

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
    fn a_ring_is_a_power_of_two() {
        assert_eq!(ring("64k"), Ok(1 << 16));
        assert_eq!(ring("1g"), Ok(1 << 30));
        for refused in ["0", "2k", "100k", "2g"] {
            assert!(ring(refused).is_err_and(|error| error.contains("power of two")), "{refused}");
        }
    }
}
