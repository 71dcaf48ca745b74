//! Tokens: how far a replica has taken over what another one wrote.
//!
//! A token is kept by the replica that pulls, is saved when what it stands for is on the disk, and is checked by its source: a
//! number alone would hold for any log. What the file has:
//!
//! ```text
//!  "AFTRBTKN" | version | own incarnation | own end | in doubt | own lineage | count | count x (name, sequence, lineage) | crc
//!
//!  lineage: count | count x (epoch, its first record)
//! ```
//!
//! Version 3 has behind the tokens, in the same form, those of logs that other replicas do not have any more: see
//! [`Tokens::former`]. It is written where there are any, else version 2.
//!
//! The file also names the log that it was saved beside, and how long that was: tokens that outlive their log, or are newer than
//! it, stand for records that are not there. It is written when a log is opened, before the log takes a record.

use std::collections::BTreeMap;

use afterbay_blob_format::{PartitionId, crc32c_of};
use afterbay_blob_store::Change;
use uuid::Uuid;

use crate::identity::NodeId;
use crate::lineage::Lineage;
use crate::message::{CompareReason, Epoch};
use crate::rules::Rules;

const MAGIC: &[u8; 8] = b"AFTRBTKN";
const VERSION: u32 = 2;
const VERSION_WITH_FORMER: u32 = 3;
/// So many former logs of each other replica are remembered, the newest.
const FORMER_MAX: usize = 8;
/// So many epochs of lost states of the own log, the newest.
const LOST_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 255;

/// How far a replica has taken over what another one wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What the log of the source was then.
    pub lineage: Lineage,
    /// The number of the next record there.
    pub sequence: u64,
}

/// A token as its source needs it to check it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Which log of the source: its first epoch.
    pub incarnation: Uuid,
    /// The epoch of the log when the token was given out.
    pub epoch: Uuid,
    /// The number of the next record there.
    pub sequence: u64,
}

/// What a source's log is, at the moment of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
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
    PutBack,
}

impl Token {
    /// What its source needs of it; `None` if it is of no log.
    pub fn position(&self) -> Option<Position> {
        let (incarnation, epoch) = (self.lineage.incarnation()?, self.lineage.current()?);
        Some(Position { incarnation, epoch, sequence: self.sequence })
    }

    /// Whether whoever has this token has taken over all that `other` stands for: it is of the same log, further on.
    fn goes_on_from(&self, other: &Token) -> bool {
        other.position().is_none_or(|position| self.lineage.has(&position, self.sequence))
    }
}

/// Remembers `old` beside `former` ones when `new` takes its place and is of another log, or of another past of it: the source got
/// another disk, or was put back. Should that log come back, from an older backup, `old` says what of it was known.
pub(crate) fn remember(former: &mut Vec<Token>, old: &Token, new: &Token) {
    if !new.goes_on_from(old) {
        former.retain(|one| !old.goes_on_from(one));
        former.push(old.clone());
        former.drain(..former.len().saturating_sub(FORMER_MAX));
    }
}

/// Notes that the log of this replica was put back, behind a part of an epoch: as a token that names no other one.
pub(crate) fn add_lost(lost: &mut Vec<Token>, epoch: Uuid) {
    let mut lineage = Lineage::default();
    lineage.begin(epoch, 0);
    lost.push(Token { lineage, sequence: 0 });
    lost.drain(..lost.len().saturating_sub(LOST_MAX));
}

impl Position {
    /// Judges it by the log that it is said to be of, and whose page that is.
    pub(crate) fn standing(&self, log: &Lineage, page: &LogPage, rules: &Rules) -> Standing {
        match self.standing_of_log(log, page.end, rules) {
            Standing::Valid if rules.horizon && self.sequence < page.horizon => {
                Standing::Compare(CompareReason::BelowHorizon)
            }
            standing => standing,
        }
    }

    /// The same for who compares all, whatever its token is worth.
    pub(crate) fn standing_of_log(&self, log: &Lineage, end: u64, rules: &Rules) -> Standing {
        if rules.incarnation && log.incarnation() != Some(self.incarnation) {
            Standing::Compare(CompareReason::UnknownIncarnation)
        } else if rules.incarnation && rules.epoch && !log.has(self, end) {
            Standing::PutBack
        } else {
            Standing::Valid
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
    /// The log was put back to an older state, and the others are not heard yet.
    pub is_suspect: bool,
    /// The epochs of the log.
    pub lineage: Lineage,
    /// By their source.
    pub of: BTreeMap<NodeId, Token>,
    /// Of logs that a source had before, and of states of its log behind which it was put back: the newest last. Under the
    /// replica's own node: of states of its own log behind which that was put back, each by an epoch.
    pub former: BTreeMap<NodeId, Vec<Token>>,
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
        let former: Vec<_> =
            self.former.iter().flat_map(|(n, all)| all.iter().map(move |t| (n, t))).collect();
        let version = if former.is_empty() { VERSION } else { VERSION_WITH_FORMER };
        out.extend_from_slice(&version.to_be_bytes());
        out.extend_from_slice(self.own_incarnation.as_bytes());
        out.extend_from_slice(&self.own_end.to_be_bytes());
        out.push(self.is_suspect.into());
        put_lineage(&mut out, &self.lineage);
        put_tokens(&mut out, self.of.iter().collect());
        if version == VERSION_WITH_FORMER {
            put_tokens(&mut out, former);
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
    let version = rest.u32()?;
    if ![VERSION, VERSION_WITH_FORMER].contains(&version) {
        return Err("a version that is not known");
    }
    let own_incarnation = rest.uuid()?;
    let own_end = rest.u64()?;
    let [doubt] = rest.array()?;
    let (is_suspect, lineage) = (doubt != 0, rest.lineage()?);
    let of = rest.tokens()?.into_iter().collect();
    let mut former: BTreeMap<NodeId, Vec<Token>> = BTreeMap::new();
    if version == VERSION_WITH_FORMER {
        for (node, token) in rest.tokens()? {
            former.entry(node).or_default().push(token);
        }
    }
    if rest.0.is_empty() {
        Ok(Tokens { own_incarnation, own_end, is_suspect, lineage, of, former })
    } else {
        Err("bytes behind its end")
    }
}

fn put_tokens(out: &mut Vec<u8>, mut tokens: Vec<(&NodeId, &Token)>) {
    tokens.retain(|(node, _)| node.as_str().len() <= NAME_BYTES_MAX);
    out.extend_from_slice(&(tokens.len() as u32).to_be_bytes());
    for (node, token) in tokens {
        out.push(node.as_str().len() as u8);
        out.extend_from_slice(node.as_str().as_bytes());
        out.extend_from_slice(&token.sequence.to_be_bytes());
        put_lineage(out, &token.lineage);
    }
}

fn put_lineage(out: &mut Vec<u8>, lineage: &Lineage) {
    out.extend_from_slice(&(lineage.epochs().len() as u32).to_be_bytes());
    for Epoch { id, start } in lineage.epochs() {
        out.extend_from_slice(id.as_bytes());
        out.extend_from_slice(&start.to_be_bytes());
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

    fn tokens(&mut self) -> Result<Vec<(NodeId, Token)>, &'static str> {
        let mut tokens = Vec::new();
        for _ in 0..self.u32()? {
            let [length] = self.array()?;
            let name = std::str::from_utf8(self.bytes(length.into())?);
            let node = NodeId::new(name.map_err(|_| "a name that is not UTF-8")?);
            let (sequence, lineage) = (self.u64()?, self.lineage()?);
            tokens.push((node, Token { lineage, sequence }));
        }
        Ok(tokens)
    }

    fn lineage(&mut self) -> Result<Lineage, &'static str> {
        let mut epochs = Vec::new();
        for _ in 0..self.u32()? {
            epochs.push(Epoch { id: self.uuid()?, start: self.u64()? });
        }
        Lineage::new(epochs)
    }
}

#[cfg(test)]
mod tests {
    use crate::lineage::lineage;

    use super::*;

    fn page(horizon: u64, end: u64) -> LogPage {
        LogPage { horizon, end, changes: Vec::new(), next_sequence: end }
    }

    fn standing_without(
        rule: Option<&str>,
        token: (&[(u128, u64)], u64),
        page: &LogPage,
    ) -> Standing {
        let rules = rule.map_or_else(Rules::default, |rule| Rules::without(rule).unwrap());
        let (of, sequence) = token;
        let position = Token { lineage: lineage(of), sequence }.position().unwrap();
        position.standing(&lineage(&[(1, 1), (2, 5)]), page, &rules)
    }

    #[test]
    fn a_token_is_checked_by_its_source() {
        let standing =
            |of: &[(u128, u64)], sequence, page| standing_without(None, (of, sequence), &page);
        let same = &[(1, 1), (2, 5)];
        assert_eq!(standing(same, 6, page(6, 9)), Standing::Valid);
        let below = Standing::Compare(CompareReason::BelowHorizon);
        assert_eq!(standing(same, 6, page(7, 9)), below);
        assert_eq!(standing(same, 10, page(0, 9)), Standing::PutBack, "it is too short");
        assert_eq!(standing(&[(1, 1)], 6, page(0, 9)), Standing::PutBack, "it has grown again");
        assert_eq!(standing(&[(1, 1), (3, 4)], 6, page(0, 9)), Standing::PutBack);
        let unknown = Standing::Compare(CompareReason::UnknownIncarnation);
        assert_eq!(standing(&[(7, 1), (8, 5)], 6, page(0, 9)), unknown);
        assert_eq!(Token { lineage: Lineage::default(), sequence: 0 }.position(), None);
    }

    #[test]
    fn each_rule_is_one_of_the_checks() {
        let other: &[(u128, u64)] = &[(7, 1)];
        let put_back: &[(u128, u64)] = &[(1, 1), (3, 4)];
        let standing = |rule, of, horizon| standing_without(Some(rule), (of, 6), &page(horizon, 9));
        assert_eq!(standing("incarnation", other, 0), Standing::Valid);
        assert_eq!(standing("epoch", put_back, 0), Standing::Valid);
        assert_eq!(standing("horizon", &[(1, 1), (2, 5)], 8), Standing::Valid);
    }

    fn tokens() -> Tokens {
        let of = BTreeMap::from([
            (NodeId::new("n1"), Token { lineage: lineage(&[(4, 1), (5, 3)]), sequence: 6 }),
            (NodeId::new("n2"), Token { lineage: lineage(&[(6, 1)]), sequence: 0 }),
        ]);
        let lineage = lineage(&[(1, 1), (2, 5)]);
        let own_incarnation = Uuid::from_u128(1);
        let former = BTreeMap::new();
        Tokens { own_incarnation, own_end: 12, is_suspect: true, lineage, of, former }
    }

    #[test]
    fn stored_and_back_and_each_bit_counts() {
        stored_and_back(&tokens(), 2);
        let token = |id, sequence| Token { lineage: lineage(&[(id, 1)]), sequence };
        let former = BTreeMap::from([
            (NodeId::new("n1"), vec![token(8, 4), token(9, 2)]),
            (NodeId::new("n3"), vec![token(7, 5)]),
        ]);
        stored_and_back(&Tokens { former, ..tokens() }, 3);
    }

    fn stored_and_back(tokens: &Tokens, version: u8) {
        let stored = tokens.encode();
        assert_eq!(stored[MAGIC.len() + 3], version);
        assert_eq!(Tokens::parse(PartitionId(1), &stored), Ok(tokens.clone()));
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
    fn a_token_of_a_log_that_its_source_has_no_more_is_remembered() {
        let token = |epochs: &[(u128, u64)], sequence| Token { lineage: lineage(epochs), sequence };
        let mut former = Vec::new();
        let first = token(&[(1, 1), (2, 5)], 9);
        remember(&mut former, &token(&[(1, 1)], 4), &first);
        remember(&mut former, &first, &first);
        assert_eq!(former, [], "it went on");
        let put_back = token(&[(1, 1), (2, 5), (3, 7)], 20);
        remember(&mut former, &first, &put_back);
        let other = token(&[(6, 1)], 3);
        remember(&mut former, &put_back, &other);
        assert_eq!(former, [first.clone(), put_back.clone()]);
        let further = token(&[(1, 1), (2, 5), (3, 7), (4, 25)], 30);
        remember(&mut former, &further, &other);
        assert_eq!(former, [first.clone(), further], "what it has taken over is not named twice");
        for id in 10..40 {
            remember(&mut former, &token(&[(id, 1)], 2), &other);
        }
        assert_eq!((former.len(), &former[7]), (FORMER_MAX, &token(&[(39, 1)], 2)));
    }

    #[test]
    fn the_newest_lost_epochs_are_noted() {
        let mut lost = Vec::new();
        (0..100).for_each(|id| add_lost(&mut lost, Uuid::from_u128(id)));
        let epochs: Vec<_> = lost.iter().filter_map(|token| token.lineage.current()).collect();
        assert_eq!(epochs, (36..100).map(Uuid::from_u128).collect::<Vec<_>>());
        stored_and_back(&Tokens { former: [(NodeId::new("n3"), lost)].into(), ..tokens() }, 3);
    }

    #[test]
    fn tokens_do_not_outlive_their_log() {
        let (rules, tokens, log) = (Rules::default(), tokens(), Uuid::from_u128(1));
        assert!(tokens.are_beside(log, 12, &rules) && tokens.are_beside(log, 13, &rules));
        assert!(!tokens.are_beside(log, 11, &rules), "the log was put back");
        assert!(!tokens.are_beside(Uuid::from_u128(9), 12, &rules), "another log");
    }
}
