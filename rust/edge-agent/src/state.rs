//! The file `state`: everything that a site remembers at a commit.
//!
//! ```text
//!  0        4      5        9
//!  +--------+------+--------+--------------------------------------------------------+
//!  | "ABES" | 2..4 | CRC32C | numbers, and what the run remembers                       |      big-endian
//!  +--------+------+--------+--------------------------------------------------------+
//! ```
//! 3 has the last numbers of rows between them, with their length (u32) in front; 2 is written if there are none. 4 has, behind
//! those, rows that were merged and that wait for it; it is written if there are or were some. 1, of older agents, is read.
//!
//! It is replaced as a whole: written beside, synced, renamed, and the folder synced.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::error::{AgentError, Result};

const MAGIC: [u8; 5] = *b"ABES\x02";
/// Without the input's last bytes, what was acknowledged, and whether the gateway says the epoch.
const MAGIC_1: [u8; 5] = *b"ABES\x01";
/// With the last numbers of rows.
const MAGIC_3: [u8; 5] = *b"ABES\x03";
/// With rows that wait, and how many were merged.
const MAGIC_4: [u8; 5] = *b"ABES\x04";
const FILE: &str = "state";
const HEAD_BYTES: usize = 9;

/// Where the input is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Place {
    /// Bytes that are done with.
    pub(crate) offset: u64,
    /// Lines that are done with.
    pub(crate) lines: u64,
    /// The first bytes of the input, whether it is still the same: how many, and their checksum.
    pub(crate) head: (u32, u32),
    /// The same of the last bytes in front of the place.
    pub(crate) tail: (u32, u32),
}

/// What was dropped and the gateway may not know yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) rows: u64,
}

/// Rows that came out of the run and are in no frame yet, since parts of them may still come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    /// How many.
    pub(crate) rows: u64,
    /// As `edge-exec` saves them; empty if nothing waits.
    pub(crate) bytes: Vec<u8>,
}

/// What a site remembers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// Of plan and settings.
    pub(crate) fingerprint: u32,
    /// 0 until the gateway has said it, if it is the gateway's.
    pub(crate) epoch: u64,
    /// Whether the gateway says the epoch; older agents took the time.
    pub(crate) asks_epoch: bool,
    /// The gateway has said that it has everything in front of this. It has more, if it said so after the last commit.
    pub(crate) acknowledged: u64,
    /// Entries of the outbox that count; the next sequence.
    pub(crate) position: u64,
    pub(crate) watermark: i64,
    pub(crate) rows: u64,
    pub(crate) finished: bool,
    pub(crate) place: Place,
    pub(crate) gap: Option<Gap>,
    pub(crate) gaps: u64,
    pub(crate) dropped_rows: u64,
    /// Rows that were merged into others, and are in no frame.
    pub(crate) merged_rows: u64,
    /// Rows that wait for others.
    pub(crate) kept: Kept,
    /// The last numbers of rows, if they have some.
    pub(crate) input: Vec<u8>,
    /// What the run remembers.
    pub(crate) run: Vec<u8>,
}

impl State {
    /// Reads the state of a folder, if there is one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let failed = |reason: String| AgentError::File { path: path.clone(), reason };
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        let is_known =
            [MAGIC_1, MAGIC, MAGIC_3, MAGIC_4].iter().any(|magic| bytes.starts_with(magic));
        if bytes.starts_with(&MAGIC[..4]) && !is_known {
            let found = bytes.get(4).copied().unwrap_or(0);
            let versions = format!("{} to {}", MAGIC[4], MAGIC_4[4]);
            return Err(failed(format!(
                "it is of version {found}, and this agent writes {versions}; go on with the agent that wrote it, or move the data folder away: a new epoch begins, and the input is read anew"
            )));
        }
        let damaged =
            "damaged; move the data folder away: a new epoch begins, and the input is read anew";
        let state = Self::decode(&bytes).ok_or_else(|| failed(damaged.to_owned()))?;
        Ok(Some(state))
    }

    /// Replaces the state of a folder.
    pub(crate) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let (path, new) = (folder.join(FILE), folder.join("state.new"));
        let mut file = File::create(&new)?;
        file.write_all(&self.encode())?;
        file.sync_all()?;
        std::fs::rename(&new, &path)?;
        File::open(folder)?.sync_all()
    }

    fn encode(&self) -> Vec<u8> {
        let merges = self.merged_rows > 0 || !self.kept.bytes.is_empty();
        let has_numbers = merges || !self.input.is_empty();
        let magic = match (merges, has_numbers) {
            (true, _) => MAGIC_4,
            (false, true) => MAGIC_3,
            (false, false) => MAGIC,
        };
        let mut out = magic.to_vec();
        out.extend_from_slice(&[0; 4]);
        let (head, tail) = (self.place.head, self.place.tail);
        for number in [self.fingerprint, head.0, head.1, tail.0, tail.1] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        let gap = self.gap.unwrap_or(Gap { from: 0, to: 0, rows: 0 });
        for number in [
            self.epoch,
            self.position,
            self.watermark.cast_unsigned(),
            self.rows,
            u64::from(self.finished),
            self.place.offset,
            self.place.lines,
            gap.from,
            gap.to,
            gap.rows,
            self.gaps,
            self.dropped_rows,
            self.acknowledged,
            u64::from(self.asks_epoch),
        ] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        if has_numbers {
            out.extend_from_slice(&(self.input.len() as u32).to_be_bytes());
            out.extend_from_slice(&self.input);
        }
        if merges {
            out.extend_from_slice(&self.merged_rows.to_be_bytes());
            out.extend_from_slice(&self.kept.rows.to_be_bytes());
            out.extend_from_slice(&(self.kept.bytes.len() as u32).to_be_bytes());
            out.extend_from_slice(&self.kept.bytes);
        }
        out.extend_from_slice(&self.run);
        let checksum = checksum(out[4], &out[HEAD_BYTES..]).to_be_bytes();
        out[MAGIC.len()..HEAD_BYTES].copy_from_slice(&checksum);
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<5>()?;
        let (checksum, mut rest) = rest.split_first_chunk::<4>()?;
        let is_first = *magic == MAGIC_1;
        let is_known = [MAGIC_1, MAGIC, MAGIC_3, MAGIC_4].contains(magic);
        if !is_known || self::checksum(magic[4], rest).to_be_bytes() != *checksum {
            return None;
        }
        let (mut words, mut numbers) = ([0; 5], [0; 14]);
        // What version 1 has not, is 0.
        let left_out = if is_first { 2 } else { 0 };
        for word in words.iter_mut().rev().skip(left_out).rev() {
            let (bytes, behind) = rest.split_first_chunk::<4>()?;
            (*word, rest) = (u32::from_be_bytes(*bytes), behind);
        }
        for number in numbers.iter_mut().rev().skip(left_out).rev() {
            let (bytes, behind) = rest.split_first_chunk::<8>()?;
            (*number, rest) = (u64::from_be_bytes(*bytes), behind);
        }
        let mut input: &[u8] = &[];
        if *magic == MAGIC_3 || *magic == MAGIC_4 {
            (input, rest) = with_length(rest)?;
        }
        let (mut merged_rows, mut kept) = (0, Kept::default());
        if *magic == MAGIC_4 {
            let (merged, behind) = rest.split_first_chunk::<8>()?;
            let (rows, behind) = behind.split_first_chunk::<8>()?;
            let (bytes, behind) = with_length(behind)?;
            merged_rows = u64::from_be_bytes(*merged);
            kept = Kept { rows: u64::from_be_bytes(*rows), bytes: bytes.to_vec() };
            rest = behind;
        }
        let [fingerprint, head_bytes, head_checksum, tail_bytes, tail_checksum] = words;
        let [
            epoch,
            position,
            watermark,
            rows,
            finished,
            offset,
            lines,
            from,
            to,
            gap_rows,
            gaps,
            dropped_rows,
            acknowledged,
            asks_epoch,
        ] = numbers;
        Some(Self {
            fingerprint,
            epoch,
            asks_epoch: asks_epoch != 0,
            acknowledged,
            position,
            watermark: watermark.cast_signed(),
            rows,
            finished: finished != 0,
            place: Place {
                offset,
                lines,
                head: (head_bytes, head_checksum),
                tail: (tail_bytes, tail_checksum),
            },
            gap: (to > from).then_some(Gap { from, to, rows: gap_rows }),
            gaps,
            dropped_rows,
            merged_rows,
            kept,
            input: input.to_vec(),
            run: rest.to_vec(),
        })
    }
}

/// Bytes that have their length in front, and what is behind them.
fn with_length(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, behind) = bytes.split_first_chunk::<4>()?;
    behind.split_at_checked(u32::from_be_bytes(*length) as usize)
}

/// Of the version too, since 3.
fn checksum(version: u8, content: &[u8]) -> u32 {
    let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
    if version >= MAGIC_3[4] {
        digest.update(&[version]);
    }
    digest.update(content);
    // It has 32 bits.
    digest.finalize() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_damaged_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(State::read(folder.path()).unwrap(), None);
        let state = State {
            fingerprint: 1,
            epoch: 2,
            asks_epoch: true,
            acknowledged: 18,
            position: 3,
            watermark: -4,
            rows: 5,
            finished: true,
            place: Place { offset: 6, lines: 7, head: (8, 9), tail: (19, 20) },
            gap: Some(Gap { from: 10, to: 12, rows: 13 }),
            gaps: 14,
            dropped_rows: 15,
            merged_rows: 0,
            kept: Kept::default(),
            input: Vec::new(),
            run: vec![16, 17],
        };
        assert_eq!(State::decode(&state.encode()).as_ref(), Some(&state));
        let state = State { input: vec![21, 22, 23], ..state };
        state.write(folder.path()).unwrap();
        assert_eq!(State::read(folder.path()).unwrap(), Some(state.clone()));
        let kept = Kept { rows: 24, bytes: vec![25, 26] };
        let merging = [
            State { merged_rows: 27, kept, ..state.clone() },
            State { merged_rows: 28, input: Vec::new(), ..state.clone() },
        ];
        for state in merging.iter().chain([&state]) {
            let bytes = state.encode();
            assert_eq!(State::decode(&bytes).as_ref(), Some(state));
            for index in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[index] ^= 1;
                assert_eq!(State::decode(&changed), None, "byte {index}");
                assert_eq!(State::decode(&bytes[..index]), None, "{index} bytes");
            }
        }
        std::fs::write(folder.path().join(FILE), b"ABES\x05").unwrap();
        let error = State::read(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("state: it is of version 5, and this agent writes 2 to 4;"),
            "{error}"
        );
        // An agent of version 1 had no last bytes of the input, nothing acknowledged, and an epoch of its own.
        let state = State { input: Vec::new(), ..state };
        let mut first = state.encode()[HEAD_BYTES..].to_vec();
        first.drain(20 + 12 * 8..20 + 14 * 8);
        first.drain(12..20);
        let checksum = checksum(MAGIC_1[4], &first).to_be_bytes();
        let first = [&MAGIC_1[..], &checksum, &first].concat();
        std::fs::write(folder.path().join(FILE), first).unwrap();
        let place = Place { tail: (0, 0), ..state.place };
        let known = State { asks_epoch: false, acknowledged: 0, place, ..state };
        assert_eq!(State::read(folder.path()).unwrap(), Some(known));
        std::fs::write(folder.path().join(FILE), MAGIC).unwrap();
        let error = State::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("state: damaged; move"), "{error}");
    }
}
