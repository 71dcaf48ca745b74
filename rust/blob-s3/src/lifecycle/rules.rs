//! When an object expires, and when an upload is given up.
//!
//! A time in days is counted from when the object was written, or the upload begun, and rounded up to the next midnight UTC. A time of
//! several rules is the earliest.

use afterbay_blob_meta::ObjectEntry;
use s3s::dto::{
    BucketLifecycleConfiguration, ExpirationStatus, LifecycleExpiration, LifecycleRule,
    LifecycleRuleFilter,
};

use super::check::seconds;

/// The enabled rules of a bucket.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    id: String,
    prefix: String,
    tags: Vec<(String, String)>,
    greater_than: Option<u64>,
    less_than: Option<u64>,
    expires: Option<When>,
    aborts: Option<When>,
}

#[derive(Debug, Clone, Copy)]
enum When {
    AfterDays(u64),
    /// Milliseconds since 1970.
    At(u64),
}

/// When the time has come, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due<'a> {
    /// Milliseconds since 1970.
    pub(crate) at_ms: u64,
    /// Its ID.
    pub(crate) rule: &'a str,
}

impl Rules {
    /// Those of a configuration that was checked.
    pub(crate) fn of(configuration: &BucketLifecycleConfiguration) -> Self {
        let enabled = |rule: &&LifecycleRule| rule.status.as_str() == ExpirationStatus::ENABLED;
        Rules { rules: configuration.rules.iter().filter(enabled).map(Rule::of).collect() }
    }

    /// When an object expires; `None`: never. A day has `day_ms`.
    pub(crate) fn expiry(&self, key: &str, entry: &ObjectEntry, day_ms: u64) -> Option<Due<'_>> {
        let of_object = self.rules.iter().filter(|rule| rule.is_of(key, entry));
        earliest(of_object, |rule| rule.expires, entry.modified_ms, day_ms)
    }

    /// When an upload is aborted; `None`: never. A day has `day_ms`.
    pub(crate) fn abort(&self, key: &str, begun_ms: u64, day_ms: u64) -> Option<Due<'_>> {
        let of_key = self.rules.iter().filter(|rule| key.starts_with(&rule.prefix));
        earliest(of_key, |rule| rule.aborts, begun_ms, day_ms)
    }

    /// Only what begins with one of them can expire. None begins with another one.
    pub(crate) fn prefixes_of_objects(&self) -> Vec<String> {
        shortest(self.rules.iter().filter(|rule| rule.expires.is_some()))
    }

    /// Only uploads of what begins with one of them can be aborted. None begins with another one.
    pub(crate) fn prefixes_of_uploads(&self) -> Vec<String> {
        shortest(self.rules.iter().filter(|rule| rule.aborts.is_some()))
    }
}

fn earliest<'a>(
    rules: impl Iterator<Item = &'a Rule>,
    when: impl Fn(&Rule) -> Option<When>,
    from_ms: u64,
    day_ms: u64,
) -> Option<Due<'a>> {
    let due = rules.filter_map(|rule| {
        Some(Due { at_ms: when(rule)?.counted_from(from_ms, day_ms), rule: &rule.id })
    });
    due.min_by_key(|due| due.at_ms)
}

fn shortest<'a>(rules: impl Iterator<Item = &'a Rule>) -> Vec<String> {
    let mut prefixes: Vec<_> = rules.map(|rule| rule.prefix.clone()).collect();
    prefixes.sort_unstable();
    // What begins with a prefix comes right behind it.
    prefixes.dedup_by(|next, kept| next.starts_with(&**kept));
    prefixes
}

impl When {
    fn counted_from(self, from_ms: u64, day_ms: u64) -> u64 {
        match self {
            When::At(at_ms) => at_ms,
            When::AfterDays(days) => {
                let day_ms = day_ms.max(1);
                let after = from_ms.saturating_add(days.saturating_mul(day_ms));
                after.div_ceil(day_ms).saturating_mul(day_ms)
            }
        }
    }

    fn of_expiration(expiration: &LifecycleExpiration) -> Option<Self> {
        match (&expiration.date, expiration.days) {
            (Some(date), _) => {
                // What lies before 1970 is past at any rate.
                let seconds = u64::try_from(seconds(date)?).unwrap_or(0);
                Some(When::At(seconds.saturating_mul(1000)))
            }
            (None, days) => When::of_days(days),
        }
    }

    fn of_days(days: Option<i32>) -> Option<Self> {
        Some(When::AfterDays(u64::try_from(days?).ok()?))
    }
}

impl Rule {
    fn of(rule: &LifecycleRule) -> Self {
        let mut selected = Rule {
            id: rule.id.clone().unwrap_or_default(),
            prefix: rule.prefix.clone().unwrap_or_default(),
            tags: Vec::new(),
            greater_than: None,
            less_than: None,
            expires: rule.expiration.as_ref().and_then(When::of_expiration),
            aborts: rule
                .abort_incomplete_multipart_upload
                .as_ref()
                .and_then(|abort| When::of_days(abort.days_after_initiation)),
        };
        if let Some(filter) = &rule.filter {
            selected.select(filter);
        }
        selected
    }

    fn select(&mut self, filter: &LifecycleRuleFilter) {
        let size = |size: Option<i64>| size.map(|size| u64::try_from(size).unwrap_or(0));
        let (prefix, tags, sizes) = match &filter.and {
            Some(and) => (
                &and.prefix,
                and.tags.iter().flatten().collect(),
                [and.object_size_greater_than, and.object_size_less_than],
            ),
            None => (
                &filter.prefix,
                filter.tag.iter().collect::<Vec<_>>(),
                [filter.object_size_greater_than, filter.object_size_less_than],
            ),
        };
        self.prefix = prefix.clone().unwrap_or_default();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        self.tags = tags.into_iter().map(|tag| (text(&tag.key), text(&tag.value))).collect();
        [self.greater_than, self.less_than] = sizes.map(size);
    }

    fn is_of(&self, key: &str, entry: &ObjectEntry) -> bool {
        let has = |(key, value): &(String, String)| {
            entry.attributes.as_ref().and_then(|a| a.tags.get(key)) == Some(value)
        };
        key.starts_with(&self.prefix)
            && self.greater_than.is_none_or(|size| entry.length > size)
            && self.less_than.is_none_or(|size| entry.length < size)
            && self.tags.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lifecycle::testing::{self, DAY_MS, object, rules};

    const HOUR_MS: u64 = 3600 * 1000;

    #[test]
    fn days_end_at_midnight() {
        let after = |days, from_ms| When::AfterDays(days).counted_from(from_ms, DAY_MS);
        // Written at half past ten, for three days: the fourth midnight.
        assert_eq!(after(3, 10 * HOUR_MS + HOUR_MS / 2), 4 * DAY_MS);
        assert_eq!(after(1, 1), 2 * DAY_MS);
        assert_eq!(after(1, 5 * DAY_MS), 6 * DAY_MS, "it was there for a day");
        assert_eq!(after(1, 6 * DAY_MS - 1), 7 * DAY_MS);
        assert!(after(i32::MAX as u64, u64::MAX - 1) >= u64::MAX - DAY_MS, "no overflow");
    }

    #[test]
    fn days_can_be_shorter() {
        assert_eq!(When::AfterDays(2).counted_from(1234, 1000), 4000);
        assert_eq!(When::At(5).counted_from(1234, 1000), 5, "a date is one");
        assert_eq!(When::AfterDays(2).counted_from(7, 0), 9);
    }

    #[test]
    fn the_earliest_of_several_rules() {
        let rules = rules(
            "<Rule><ID>all</ID><Status>Enabled</Status><Filter/><Expiration><Days>9</Days></Expiration></Rule>\
             <Rule><ID>logs</ID><Status>Enabled</Status><Filter><Prefix>logs/</Prefix></Filter><Expiration><Days>2</Days></Expiration></Rule>\
             <Rule><ID>off</ID><Status>Disabled</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule>",
        );
        let entry = object(0, 1, &[]);
        let due = |key| rules.expiry(key, &entry, DAY_MS).unwrap();
        assert_eq!(due("logs/a"), Due { at_ms: 2 * DAY_MS, rule: "logs" });
        assert_eq!(due("log"), Due { at_ms: 9 * DAY_MS, rule: "all" });
        assert_eq!(rules.abort("logs/a", 0, DAY_MS), None, "no rule says so");
        assert_eq!(rules.prefixes_of_objects(), [""]);
        assert!(rules.prefixes_of_uploads().is_empty());
    }

    #[test]
    fn prefixes_without_those_below_others() {
        let rule = |prefix: &str| {
            format!(
                "<Rule><ID>{prefix}</ID><Status>Enabled</Status><Prefix>{prefix}</Prefix>\
                 <AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>"
            )
        };
        let all: String = ["b/c", "a/", "b", "a/x/", "c", "b", "ab"].map(rule).concat();
        assert_eq!(rules(&all).prefixes_of_uploads(), ["a/", "ab", "b", "c"]);
    }

    proptest! {
        /// Against a reference that reads the configuration as it is written, and counts midnights one by one.
        #[test]
        fn as_the_reference_says(
            configuration in testing::configurations(),
            key in testing::keys(),
            entry in testing::objects(),
            begun_ms in 0..20 * DAY_MS,
        ) {
            let rules = Rules::of(&configuration);
            let at = |due: Option<Due<'_>>| due.map(|due| due.at_ms);
            let found = rules.expiry(&key, &entry, DAY_MS);
            prop_assert_eq!(at(found), testing::expiry(&configuration, &key, &entry));
            if let Some(due) = found {
                let mut alone = configuration.clone();
                alone.rules.retain(|rule| rule.id.as_deref() == Some(due.rule));
                prop_assert_eq!(testing::expiry(&alone, &key, &entry), Some(due.at_ms));
                let below = rules.prefixes_of_objects().into_iter().filter(|p| key.starts_with(p));
                prop_assert_eq!(below.count(), 1);
            }
            let found = rules.abort(&key, begun_ms, DAY_MS);
            prop_assert_eq!(at(found), testing::abort(&configuration, &key, begun_ms));
            if found.is_some() {
                let below = rules.prefixes_of_uploads().into_iter().filter(|p| key.starts_with(p));
                prop_assert_eq!(below.count(), 1);
            }
        }

        /// What is checked and stored comes back, with the same effect.
        #[test]
        fn stored_and_back(configuration in testing::configurations()) {
            let checked = crate::lifecycle::checked(Some(configuration)).unwrap();
            let xml = crate::documents::to_xml(&checked, usize::MAX).unwrap();
            prop_assert!(crate::documents::from_xml(&xml) == Some(checked));
        }
    }
}
