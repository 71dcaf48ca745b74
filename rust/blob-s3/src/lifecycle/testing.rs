//! For tests: rules, objects, and what the rules mean, read from the configuration as naively as can be.

use std::collections::BTreeMap;

use afterbay_blob_meta::{Attributes, ObjectEntry};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use s3s::dto::*;

use super::Rules;
use crate::convert::timestamp;
use crate::documents::from_xml;

pub(super) const DAY_MS: u64 = 24 * 3600 * 1000;

/// The rules of this XML.
pub(super) fn rules(xml: &str) -> Rules {
    Rules::of(&configuration(xml))
}

pub(super) fn configuration(rules: &str) -> BucketLifecycleConfiguration {
    let xml = format!("<LifecycleConfiguration>{rules}</LifecycleConfiguration>");
    from_xml(xml.as_bytes()).unwrap()
}

pub(super) fn object(modified_ms: u64, length: u64, tags: &[(&str, &str)]) -> ObjectEntry {
    let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let attributes = Some(Attributes { tags, ..Attributes::default() });
    ObjectEntry { modified_ms, length, attributes, ..ObjectEntry::default() }
}

/// Few letters, so that prefixes are those of keys.
pub(super) fn keys() -> impl Strategy<Value = String> {
    "[ab/]{1,4}"
}

fn tags() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map("[kl]", "[vw]", 0..=2)
}

pub(super) fn objects() -> impl Strategy<Value = ObjectEntry> {
    (0..20 * DAY_MS, 0..6u64, tags()).prop_map(|(modified_ms, length, tags)| {
        let attributes = Some(Attributes { tags, ..Attributes::default() });
        ObjectEntry { modified_ms, length, attributes, ..ObjectEntry::default() }
    })
}

fn filters() -> impl Strategy<Value = LifecycleRuleFilter> {
    let prefix = || option::of("[ab/]{0,2}");
    let greater = || option::of(0..4i64);
    let less = || option::of(4..6i64);
    let and = (prefix(), tags(), greater(), less()).prop_map(|(prefix, tags, greater, less)| {
        let tag = |(key, value)| Tag { key: Some(key), value: Some(value) };
        let tags: Vec<Tag> = tags.into_iter().map(tag).collect();
        LifecycleRuleAndOperator {
            // It must not be empty.
            prefix: prefix.or(Some(String::new())),
            tags: Some(tags).filter(|tags| !tags.is_empty()),
            object_size_greater_than: greater,
            object_size_less_than: less,
        }
    });
    prop_oneof![
        Just(LifecycleRuleFilter::default()),
        prefix().prop_map(|prefix| LifecycleRuleFilter { prefix, ..Default::default() }),
        ("[kl]", "[vw]").prop_map(|(key, value)| LifecycleRuleFilter {
            tag: Some(Tag { key: Some(key), value: Some(value) }),
            ..Default::default()
        }),
        greater().prop_map(|size| LifecycleRuleFilter {
            object_size_greater_than: size,
            ..Default::default()
        }),
        less().prop_map(|size| LifecycleRuleFilter {
            object_size_less_than: size,
            ..Default::default()
        }),
        and.prop_map(|and| LifecycleRuleFilter { and: Some(and), ..Default::default() }),
    ]
}

fn expirations() -> impl Strategy<Value = LifecycleExpiration> {
    prop_oneof![
        (1..6i32).prop_map(|days| LifecycleExpiration { days: Some(days), ..Default::default() }),
        (0..20u64).prop_map(|day| LifecycleExpiration {
            date: Some(timestamp(day * DAY_MS)),
            ..Default::default()
        }),
    ]
}

fn status(enabled: bool) -> ExpirationStatus {
    let name = if enabled { ExpirationStatus::ENABLED } else { ExpirationStatus::DISABLED };
    ExpirationStatus::from_static(name)
}

/// With filters, and expiration; or by prefix, with an abort, in the old form or the new one.
pub(super) fn configurations() -> impl Strategy<Value = BucketLifecycleConfiguration> {
    let empty = |id: usize, enabled| LifecycleRule {
        abort_incomplete_multipart_upload: None,
        expiration: None,
        filter: None,
        id: Some(format!("rule {id}")),
        noncurrent_version_expiration: None,
        noncurrent_version_transitions: None,
        prefix: None,
        status: status(enabled),
        transitions: None,
    };
    let aborts = |days| AbortIncompleteMultipartUpload { days_after_initiation: Some(days) };
    let rule = (filters(), expirations(), option::of(1..6i32), "[ab/]{0,2}", 0..4);
    (any::<bool>(), vec(rule, 1..5)).prop_map(move |(old, rules)| {
        let rules = rules.into_iter().enumerate().map(|(id, rule)| {
            let (filter, expiration, abort, prefix, kind) = rule;
            let mut rule = empty(id, kind != 0);
            match abort {
                Some(days) => rule.abort_incomplete_multipart_upload = Some(aborts(days)),
                None => rule.expiration = Some(expiration.clone()),
            }
            if old {
                rule.prefix = Some(prefix);
                rule.expiration = rule.expiration.or((kind == 1).then_some(expiration));
            } else if abort.is_some() {
                let prefix = Some(prefix);
                rule.filter = Some(LifecycleRuleFilter { prefix, ..Default::default() });
            } else {
                rule.filter = Some(filter);
            }
            rule
        });
        BucketLifecycleConfiguration { rules: rules.collect() }
    })
}

/// When an object expires.
pub(super) fn expiry(
    configuration: &BucketLifecycleConfiguration,
    key: &str,
    entry: &ObjectEntry,
) -> Option<u64> {
    let holding = configuration.rules.iter().filter(|rule| holds(rule, key, Some(entry)));
    let due = holding.filter_map(|rule| {
        let expiration = rule.expiration.as_ref()?;
        match &expiration.date {
            Some(date) => (0..).map(|day| day * DAY_MS).find(|ms| timestamp(*ms) == *date),
            None => Some(midnight(entry.modified_ms, expiration.days?)),
        }
    });
    due.min()
}

/// When an upload is aborted.
pub(super) fn abort(
    configuration: &BucketLifecycleConfiguration,
    key: &str,
    begun_ms: u64,
) -> Option<u64> {
    let holding = configuration.rules.iter().filter(|rule| holds(rule, key, None));
    let due = holding.filter_map(|rule| {
        let abort = rule.abort_incomplete_multipart_upload.as_ref()?;
        Some(midnight(begun_ms, abort.days_after_initiation?))
    });
    due.min()
}

/// The first midnight that is so many whole days later.
fn midnight(from_ms: u64, days: i32) -> u64 {
    (0..).map(|day| day * DAY_MS).find(|ms| *ms >= from_ms + days as u64 * DAY_MS).unwrap()
}

/// `None`: an upload.
fn holds(rule: &LifecycleRule, key: &str, entry: Option<&ObjectEntry>) -> bool {
    let begins = |prefix: &Option<String>| prefix.as_ref().is_none_or(|p| key.starts_with(p));
    let tagged = |tag: &Tag| {
        entry.is_some_and(|entry| {
            let tags = entry.attributes().tags;
            tags.iter().any(|(k, v)| Some(k) == tag.key.as_ref() && Some(v) == tag.value.as_ref())
        })
    };
    let length = entry.map_or(0, |entry| entry.length as i64);
    let enabled = rule.status.as_str() == "Enabled";
    enabled
        && begins(&rule.prefix)
        && rule.filter.as_ref().is_none_or(|filter| {
            begins(&filter.prefix)
                && filter.tag.iter().all(tagged)
                && filter.object_size_greater_than.is_none_or(|size| length > size)
                && filter.object_size_less_than.is_none_or(|size| length < size)
                && filter.and.as_ref().is_none_or(|and| {
                    begins(&and.prefix)
                        && and.tags.iter().flatten().all(tagged)
                        && and.object_size_greater_than.is_none_or(|size| length > size)
                        && and.object_size_less_than.is_none_or(|size| length < size)
                })
        })
}
