//! Tokens: how far a replica has taken over what another one wrote.
//!
//! A token is kept by the replica that pulls, is saved when what it stands for is on the disk, and is checked by its source: a
//! number alone would hold for any log. What the file has:
//!
//! ```text
//!  "AFTRBTKN" | version | own incarnation | own end | former log and its end | count | count x (name, incarnation, sequence,
//!  last record) | crc
//! ```
//!
//! The file also names the log that it was saved beside, and how long that was: tokens that outlive their log, or are newer than
//! it, stand for records that are not there.

use std::collections::BTreeMap;

use afterbay_blob_format::{BlobId, PartitionId, RecordKind, crc32c_of};
use afterbay_blob_store::Change;
use uuid::Uuid;

use crate::identity::NodeId;
use crate::message::{CompareReason, Cursor};
use crate::rules::Rules;

const MAGIC: &[u8; 8] = b"AFTRBTKN";
const VERSION: u32 = 1;
const NAME_BYTES_MAX: usize = 255;

/// How far a replica has taken over what another one wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Which log of the source.
    pub incarnation: Uuid,
    /// The number of the next record there.
    pub sequence: u64,
    /// The last record there that was taken over: a log that has another one in its place is not the same.
    pub last: Option<LastRecord>,
}

/// What a token says about the last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastRecord {
    /// Its number in the log.
    pub sequence: u64,
    /// Its blob.
    pub uuid: Uuid,
    /// Its kind.
    pub kind: RecordKind,
    /// Its life.
    pub life: u32,
    /// Its time.
    pub time_ms: u64,
}

impl From<&Change> for LastRecord {
    fn from(change: &Change) -> Self {
        let &Change { sequence, id: BlobId { uuid, .. }, kind, life, time_ms, .. } = change;
        LastRecord { sequence, uuid, kind, life, time_ms }
    }
}

/// What a source's log is, at the moment of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// Which log.
    pub incarnation: Uuid,
    /// Deletes with a lower number may be compacted away.
    pub horizon: u64,
    /// The number of the record that is written next.
    pub end: u64,
    /// Records that are on the disk.
    pub changes: Vec<Change>,
    /// What to ask for next.
    pub next_sequence: u64,
}

/// What a token is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Valid,
    Compare(CompareReason),
    /// It was given out for this log, which has forgotten that: the log was put back to an older state.
    RolledBack,
}

impl Token {
    /// From which number on a source has to look in order to check it.
    pub(crate) fn check_from(&self) -> u64 {
        self.last.map_or(self.sequence, |last| last.sequence.min(self.sequence))
    }

    /// Judges it by a page from [`Token::check_from`] on.
    pub(crate) fn standing(&self, page: &LogPage, rules: &Rules) -> Standing {
        if rules.incarnation {
            if self.incarnation != page.incarnation {
                return Standing::Compare(CompareReason::UnknownIncarnation);
            }
            if rules.last_record && !self.is_of(page) {
                return Standing::RolledBack;
            }
        }
        if rules.horizon && self.sequence < page.horizon {
            return Standing::Compare(CompareReason::BelowHorizon);
        }
        Standing::Valid
    }

    /// The same as far as any page tells.
    pub(crate) fn standing_by_end(&self, page: &LogPage, rules: &Rules) -> Standing {
        let is_other = !rules.incarnation || self.incarnation != page.incarnation;
        if is_other || !rules.last_record || self.sequence <= page.end {
            Standing::Valid
        } else {
            Standing::RolledBack
        }
    }

    fn is_of(&self, page: &LogPage) -> bool {
        if self.sequence > page.end {
            return false;
        }
        match (self.last, page.changes.first()) {
            (Some(last), Some(found)) if found.sequence == last.sequence => {
                LastRecord::from(found) == last
            }
            // Compacted away.
            _ => true,
        }
    }
}

/// The tokens of a replica, with the log that they were saved beside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tokens {
    /// The replica's own log.
    pub own_incarnation: Uuid,
    /// The number of its next record.
    pub own_end: u64,
    /// What the log was before it was put back to an older state, and its end then, as long as not all was compared: what other
    /// replicas say of that log holds for its records.
    pub former: Option<Cursor>,
    /// By their source.
    pub of: BTreeMap<NodeId, Token>,
}

/// A file that has no tokens, or has none that can be relied on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "tokens of partition {partition}: {what}; the replica is compared with the others as a whole"
)]
pub struct TokensError {
    /// The partition.
    pub partition: PartitionId,
    /// What was found.
    pub what: &'static str,
}

impl Tokens {
    /// Whether they hold beside a log: not if it is another one, or shorter than it was.
    pub(crate) fn are_beside(&self, incarnation: Uuid, end: u64, rules: &Rules) -> bool {
        let is_there = self.own_end <= end || !rules.sync_before_token;
        let is_same = self.own_incarnation == incarnation || !rules.incarnation;
        is_there && is_same
    }

    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.extend_from_slice(self.own_incarnation.as_bytes());
        out.extend_from_slice(&self.own_end.to_be_bytes());
        out.push(self.former.is_some().into());
        if let Some(former) = self.former {
            out.extend_from_slice(former.incarnation.as_bytes());
            out.extend_from_slice(&former.sequence.to_be_bytes());
        }
        let named = |name: &NodeId| name.as_str().len() <= NAME_BYTES_MAX;
        let of: Vec<_> = self.of.iter().filter(|(node, _)| named(node)).collect();
        out.extend_from_slice(&(of.len() as u32).to_be_bytes());
        for (node, token) in of {
            out.push(node.as_str().len() as u8);
            out.extend_from_slice(node.as_str().as_bytes());
            out.extend_from_slice(token.incarnation.as_bytes());
            out.extend_from_slice(&token.sequence.to_be_bytes());
            out.push(token.last.map_or(0, |last| last.kind as u8));
            if let Some(last) = token.last {
                out.extend_from_slice(&last.sequence.to_be_bytes());
                out.extend_from_slice(last.uuid.as_bytes());
                out.extend_from_slice(&last.life.to_be_bytes());
                out.extend_from_slice(&last.time_ms.to_be_bytes());
            }
        }
        let crc = crc32c_of(&[&out]);
        out.extend_from_slice(&crc.to_be_bytes());
        out
    }

    /// Reads the stored form.
    pub fn parse(partition: PartitionId, bytes: &[u8]) -> Result<Self, TokensError> {
        parse(bytes).map_err(|what| TokensError { partition, what })
    }
}

fn parse(bytes: &[u8]) -> Result<Tokens, &'static str> {
    let (checked, crc) = bytes.split_last_chunk::<4>().ok_or("the file is too short")?;
    if u32::from_be_bytes(*crc) != crc32c_of(&[checked]) {
        return Err("checksum mismatch");
    }
    let mut rest = Fields(checked);
    if rest.array()? != *MAGIC {
        return Err("not a file of tokens (wrong magic)");
    }
    if rest.u32()? != VERSION {
        return Err("a version that is not known");
    }
    let own_incarnation = rest.uuid()?;
    let own_end = rest.u64()?;
    let former = match rest.array()? {
        [0] => None,
        [_] => Some(Cursor { incarnation: rest.uuid()?, sequence: rest.u64()? }),
    };
    let count = rest.u32()?;
    let mut of = BTreeMap::new();
    for _ in 0..count {
        let [length] = rest.array()?;
        let name = std::str::from_utf8(rest.bytes(length.into())?);
        let node = NodeId::new(name.map_err(|_| "a name that is not UTF-8")?);
        let (incarnation, sequence) = (rest.uuid()?, rest.u64()?);
        let last = match rest.array()? {
            [0] => None,
            [kind] => Some(LastRecord {
                kind: RecordKind::from_number(kind).ok_or("a kind of record that is not known")?,
                sequence: rest.u64()?,
                uuid: rest.uuid()?,
                life: rest.u32()?,
                time_ms: rest.u64()?,
            }),
        };
        of.insert(node, Token { incarnation, sequence, last });
    }
    if rest.0.is_empty() {
        Ok(Tokens { own_incarnation, own_end, former, of })
    } else {
        Err("bytes behind its end")
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or("the file is too short")?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        self.bytes(N)?.try_into().map_err(|_| "the file is too short")
    }

    fn u32(&mut self) -> Result<u32, &'static str> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, &'static str> {
        self.array().map(u64::from_be_bytes)
    }

    fn uuid(&mut self) -> Result<Uuid, &'static str> {
        self.array().map(Uuid::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: Uuid = Uuid::from_u128(1);

    fn change(sequence: u64, uuid: u128) -> Change {
        let id = BlobId { partition: PartitionId(1), uuid: Uuid::from_u128(uuid) };
        let (kind, life, time_ms) = (RecordKind::Put, 0, 1000 + sequence);
        Change { sequence, id, kind, life, time_ms, expires_ms: 0, length: 100 }
    }

    fn page(changes: Vec<Change>, horizon: u64, end: u64) -> LogPage {
        LogPage { incarnation: LOG, horizon, end, changes, next_sequence: end }
    }

    fn token(sequence: u64, last: Option<&Change>) -> Token {
        Token { incarnation: LOG, sequence, last: last.map(LastRecord::from) }
    }

    #[test]
    fn a_token_is_checked_by_its_source() {
        let rules = Rules::default();
        let (fifth, other) = (change(5, 50), change(5, 51));
        let good = token(6, Some(&fifth));
        assert_eq!(good.check_from(), 5);
        let standing = |token: &Token, page: &LogPage| token.standing(page, &rules);
        assert_eq!(standing(&good, &page(vec![fifth], 0, 9)), Standing::Valid);
        assert_eq!(standing(&good, &page(vec![fifth], 6, 9)), Standing::Valid);
        assert_eq!(
            standing(&good, &page(vec![fifth], 7, 9)),
            Standing::Compare(CompareReason::BelowHorizon)
        );
        assert_eq!(standing(&good, &page(vec![other], 0, 9)), Standing::RolledBack);
        assert_eq!(standing(&good, &page(vec![], 0, 5)), Standing::RolledBack);
        assert_eq!(standing(&good, &page(vec![change(7, 70)], 0, 9)), Standing::Valid, "compacted");
        let new_log = LogPage { incarnation: Uuid::from_u128(2), ..page(vec![fifth], 0, 9) };
        let unknown = Standing::Compare(CompareReason::UnknownIncarnation);
        assert_eq!(standing(&good, &new_log), unknown);
        assert_eq!(standing(&token(0, None), &page(vec![], 0, 0)), Standing::Valid);
    }

    #[test]
    fn each_rule_is_one_of_the_checks() {
        let without = |name: &str, token: &Token, page: &LogPage| {
            token.standing(page, &Rules::without(name).unwrap())
        };
        let fifth = change(5, 50);
        let good = token(6, Some(&fifth));
        let new_log = LogPage { incarnation: Uuid::from_u128(2), ..page(vec![], 0, 2) };
        assert_eq!(without("incarnation", &good, &new_log), Standing::Valid);
        assert_eq!(
            without("last_record", &good, &page(vec![change(5, 51)], 0, 9)),
            Standing::Valid
        );
        assert_eq!(without("horizon", &good, &page(vec![fifth], 8, 9)), Standing::Valid);
    }

    #[test]
    fn stored_and_back_and_each_bit_counts() {
        let of = BTreeMap::from([
            (NodeId::new("n1"), token(6, Some(&change(5, 50)))),
            (NodeId::new("n2"), token(0, None)),
        ]);
        let former = Some(Cursor { incarnation: Uuid::from_u128(8), sequence: 3 });
        let tokens = Tokens { own_incarnation: LOG, own_end: 12, former, of };
        let stored = tokens.encode();
        assert_eq!(Tokens::parse(PartitionId(1), &stored), Ok(tokens));
        for bit in 0..8 * stored.len() {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Tokens::parse(PartitionId(1), &damaged).is_err(), "bit {bit}");
        }
        for length in 0..stored.len() {
            assert!(Tokens::parse(PartitionId(1), &stored[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn tokens_do_not_outlive_their_log() {
        let of = BTreeMap::from([(NodeId::new("n1"), token(0, None))]);
        let tokens = Tokens { own_incarnation: LOG, own_end: 12, former: None, of };
        let rules = Rules::default();
        assert!(tokens.are_beside(LOG, 12, &rules) && tokens.are_beside(LOG, 13, &rules));
        assert!(!tokens.are_beside(LOG, 11, &rules), "the log was put back");
        assert!(!tokens.are_beside(Uuid::from_u128(9), 12, &rules), "another log");
    }
}
