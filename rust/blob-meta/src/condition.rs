//! Conditions of writes, decided in the transaction that writes.

use crate::error::{NamesError, Result};
use crate::model::ObjectEntry;

/// What an object must be like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// Anything: `*`.
    Any,
    /// It has one of these tags, without quotes.
    Etags(Vec<String>),
}

impl Match {
    fn holds(&self, entry: Option<&ObjectEntry>) -> bool {
        match (self, entry) {
            (_, None) => false,
            (Match::Any, Some(_)) => true,
            (Match::Etags(tags), Some(entry)) => tags.contains(&entry.etag),
        }
    }
}

/// When a write is to be done. The default: always.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Condition {
    /// Only if there is an object that matches.
    pub if_match: Option<Match>,
    /// Only if there is none that matches.
    pub if_none_match: Option<Match>,
    /// Only if the object is so long.
    pub if_length: Option<u64>,
    /// Only if the object was modified in this second since 1970.
    pub if_modified_s: Option<u64>,
    /// Only if the object is this one, with its headers, metadata and tags: neither overwritten nor changed.
    pub if_seen: Option<Box<ObjectEntry>>,
}

impl Condition {
    /// An error that names what does not hold. A condition that needs an object fails with
    /// [`NamesError::NoSuchKey`] where there is none.
    pub fn check(&self, key: &str, entry: Option<&ObjectEntry>) -> Result<()> {
        let failed = |condition| match entry {
            None => Err(NamesError::NoSuchKey { key: key.to_owned() }),
            Some(_) => Err(NamesError::PreconditionFailed { key: key.to_owned(), condition }),
        };
        if self.if_match.as_ref().is_some_and(|m| !m.holds(entry)) {
            return failed("If-Match");
        }
        if self.if_length.is_some_and(|wanted| entry.is_none_or(|e| e.length != wanted)) {
            return failed("x-amz-if-match-size");
        }
        let second = |e: &ObjectEntry| e.modified_ms / 1000;
        if self.if_modified_s.is_some_and(|wanted| entry.is_none_or(|e| second(e) != wanted)) {
            return failed("x-amz-if-match-last-modified-time");
        }
        if self.if_none_match.as_ref().is_some_and(|m| m.holds(entry)) {
            return failed("If-None-Match");
        }
        if self.if_seen.as_deref().is_some_and(|seen| entry != Some(seen)) {
            return failed("the object that was seen");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Attributes;

    fn entry(etag: &str) -> ObjectEntry {
        ObjectEntry { etag: etag.into(), length: 3, modified_ms: 5_999, ..Default::default() }
    }

    fn etag(tag: &str) -> Option<Match> {
        Some(Match::Etags(vec![tag.into()]))
    }

    #[test]
    fn conditions_by_object() {
        let (present, none) = (entry("a"), Condition::default());
        let with =
            |c: Condition| (c.check("k", Some(&present)).is_ok(), c.check("k", None).is_ok());
        assert_eq!(with(none.clone()), (true, true));
        assert_eq!(with(Condition { if_match: etag("a"), ..none.clone() }), (true, false));
        assert_eq!(with(Condition { if_match: etag("b"), ..none.clone() }), (false, false));
        assert_eq!(with(Condition { if_match: Some(Match::Any), ..none.clone() }), (true, false));
        assert_eq!(with(Condition { if_none_match: etag("a"), ..none.clone() }), (false, true));
        assert_eq!(with(Condition { if_none_match: etag("b"), ..none.clone() }), (true, true));
        assert_eq!(
            with(Condition { if_none_match: Some(Match::Any), ..none.clone() }),
            (false, true)
        );
        assert_eq!(with(Condition { if_length: Some(3), ..none.clone() }), (true, false));
        assert_eq!(with(Condition { if_length: Some(4), ..none.clone() }), (false, false));
        assert_eq!(with(Condition { if_modified_s: Some(5), ..none.clone() }), (true, false));
        assert_eq!(with(Condition { if_modified_s: Some(6), ..none.clone() }), (false, false));
        let seen = |entry| Some(Box::new(entry));
        assert_eq!(with(Condition { if_seen: seen(entry("a")), ..none.clone() }), (true, false));
        let tags = [("a".to_owned(), "b".to_owned())].into();
        let tagged = Some(Attributes { tags, ..Attributes::default() });
        let other = ObjectEntry { attributes: tagged, ..entry("a") };
        assert_eq!(with(Condition { if_seen: seen(other), ..none }), (false, false));
    }

    #[test]
    fn an_object_that_is_not_there_is_named_so() {
        let condition = Condition { if_match: etag("a"), ..Default::default() };
        assert!(matches!(condition.check("k", None), Err(NamesError::NoSuchKey { .. })));
        assert!(matches!(
            condition.check("k", Some(&entry("b"))),
            Err(NamesError::PreconditionFailed { condition: "If-Match", .. })
        ));
    }
}
