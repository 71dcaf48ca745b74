//! When a replica was verified, and when it is to be verified next: kept on the disk, so that a node that is started again every
//! few days verifies all the same.
//!
//! ```text
//!  0          8            16       24     28
//!  | AFTRVRFY | verified ms | due ms | crc |      big-endian; CRC-32C of what is before it
//! ```

use afterbay_blob_format::crc32c_of;

const MAGIC: &[u8; 8] = b"AFTRVRFY";

/// When a replica was verified. Times are in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Schedule {
    /// When all of it was read last; 0 is never.
    pub verified_ms: u64,
    /// When that is to begin next.
    pub due_ms: u64,
}

impl Schedule {
    /// Its stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.verified_ms.to_be_bytes());
        out.extend_from_slice(&self.due_ms.to_be_bytes());
        let crc = crc32c_of(&[&out]);
        out.extend_from_slice(&crc.to_be_bytes());
        out
    }

    /// Reads the stored form; `None` if it is none, or damaged: then it is as if there were none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (checked, crc) = bytes.split_last_chunk::<4>()?;
        if u32::from_be_bytes(*crc) != crc32c_of(&[checked]) {
            return None;
        }
        let (verified_ms, rest) = checked.strip_prefix(MAGIC)?.split_first_chunk()?;
        let due_ms = rest.try_into().ok()?;
        Some(Schedule {
            verified_ms: u64::from_be_bytes(*verified_ms),
            due_ms: u64::from_be_bytes(due_ms),
        })
    }

    /// As it can be at this time, with this interval: not verified later, and due after an interval at most. Another one was noted
    /// by a clock that was wrong, or with a longer interval.
    pub(crate) fn within(self, wall_ms: u64, interval_ms: u64) -> Self {
        Schedule {
            verified_ms: self.verified_ms.min(wall_ms),
            due_ms: self.due_ms.min(wall_ms.saturating_add(interval_ms)),
        }
    }

    /// So long from now on it is due, and no later than an interval, whatever clocks say.
    pub(crate) fn due_in_ms(&self, wall_ms: u64, interval_ms: u64) -> u64 {
        self.due_ms.saturating_sub(wall_ms).min(interval_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_read_and_nothing_else() {
        let schedule = Schedule { verified_ms: 1_700_000_000_000, due_ms: 1_701_000_000_000 };
        let bytes = schedule.encode();
        assert_eq!((bytes.len(), Schedule::parse(&bytes)), (28, Some(schedule)));
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(Schedule::parse(&other), None, "byte {at}");
            assert_eq!(Schedule::parse(&bytes[..at]), None);
        }
    }

    #[test]
    fn a_clock_that_was_wrong_delays_by_one_interval_at_most() {
        let schedule = Schedule { verified_ms: 1, due_ms: 1_000 };
        assert_eq!(schedule.due_in_ms(400, 700), 600);
        assert_eq!(schedule.due_in_ms(1_001, 700), 0);
        assert_eq!(schedule.due_in_ms(0, 700), 700);
    }

    #[test]
    fn what_was_noted_by_a_clock_that_was_ahead_is_as_if_it_were_now() {
        let schedule = Schedule { verified_ms: 900, due_ms: 1_600 };
        assert_eq!(schedule.within(900, 700), schedule);
        let now = Schedule { verified_ms: 100, due_ms: 800 };
        assert_eq!(schedule.within(100, 700), now);
    }
}
