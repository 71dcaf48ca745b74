//! Which configurations are kept. The codes are those of S3.

use std::collections::HashSet;

use s3s::dto::{
    AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, ExpirationStatus,
    LifecycleExpiration, LifecycleRule, LifecycleRuleFilter, Tag, Timestamp, TimestampFormat,
};
use s3s::{S3Result, s3_error};

use super::refused;
use crate::convert::check_tags;

const RULES_MAX: usize = 1000;
const ID_MAX: usize = 255;
const DAY_S: i64 = 24 * 3600;

/// The configuration as it is kept: each rule has an ID.
pub(crate) fn checked(
    configuration: Option<BucketLifecycleConfiguration>,
) -> S3Result<BucketLifecycleConfiguration> {
    let mut configuration = configuration.unwrap_or_default();
    let rules = &mut configuration.rules;
    if rules.is_empty() || rules.len() > RULES_MAX {
        return Err(s3_error!(
            MalformedXML,
            "a lifecycle configuration has 1 to {RULES_MAX} rules, not {}",
            rules.len()
        ));
    }
    for rule in rules.iter_mut() {
        check_rule(rule)?;
    }
    if rules.iter().any(|r| r.prefix.is_some()) && rules.iter().any(|r| r.filter.is_some()) {
        return Err(s3_error!(
            InvalidRequest,
            "Base level prefix cannot be used in Lifecycle V2, prefixes are only supported in the Filter."
        ));
    }
    check_ids(rules)?;
    Ok(configuration)
}

fn check_ids(rules: &mut [LifecycleRule]) -> S3Result<()> {
    let mut ids = HashSet::new();
    for rule in rules {
        let id = rule.id.take().filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string());
        if id.chars().count() > ID_MAX {
            return Err(s3_error!(
                InvalidArgument,
                "ID length should not exceed allowed limit of {ID_MAX}"
            ));
        }
        if !ids.insert(id.clone()) {
            return Err(s3_error!(
                InvalidArgument,
                "Rule ID must be unique. Found same ID for more than one rule: '{id}'"
            ));
        }
        rule.id = Some(id);
    }
    Ok(())
}

fn check_rule(rule: &mut LifecycleRule) -> S3Result<()> {
    if ![ExpirationStatus::ENABLED, ExpirationStatus::DISABLED].contains(&rule.status.as_str()) {
        return Err(s3_error!(MalformedXML, "Status is neither Enabled nor Disabled"));
    }
    check_actions_that_are_not(rule)?;
    if let Some(expiration) = &mut rule.expiration {
        check_expiration(expiration)?;
    }
    if let Some(abort) = &rule.abort_incomplete_multipart_upload {
        check_abort(abort)?;
    }
    if rule.expiration.is_none() && rule.abort_incomplete_multipart_upload.is_none() {
        return Err(s3_error!(
            InvalidRequest,
            "At least one action needs to be specified in a rule"
        ));
    }
    check_selection(rule)
}

/// Those of versions and of storage classes.
fn check_actions_that_are_not(rule: &LifecycleRule) -> S3Result<()> {
    let marker = rule.expiration.as_ref().and_then(|e| e.expired_object_delete_marker);
    let there = [
        ("Transition", rule.transitions.is_some()),
        ("NoncurrentVersionExpiration", rule.noncurrent_version_expiration.is_some()),
        ("NoncurrentVersionTransition", rule.noncurrent_version_transitions.is_some()),
        ("ExpiredObjectDeleteMarker", marker == Some(true)),
    ];
    match there.iter().find(|(_, there)| *there) {
        Some((action, _)) => Err(refused(action)),
        None => Ok(()),
    }
}

fn check_expiration(expiration: &mut LifecycleExpiration) -> S3Result<()> {
    // `false` asks for nothing, and some clients write it.
    expiration.expired_object_delete_marker = None;
    match (expiration.days, &expiration.date) {
        (Some(days), None) if days > 0 => Ok(()),
        (Some(_), None) => Err(s3_error!(
            InvalidArgument,
            "'Days' for Expiration action must be a positive integer"
        )),
        (None, Some(date)) if is_midnight(date) => Ok(()),
        (None, Some(_)) => Err(s3_error!(InvalidArgument, "'Date' must be at midnight GMT")),
        (Some(_), Some(_)) | (None, None) => {
            Err(s3_error!(MalformedXML, "Expiration has to have one of Days and Date"))
        }
    }
}

fn check_abort(abort: &AbortIncompleteMultipartUpload) -> S3Result<()> {
    match abort.days_after_initiation {
        Some(days) if days > 0 => Ok(()),
        Some(_) => Err(s3_error!(
            InvalidArgument,
            "'DaysAfterInitiation' for AbortIncompleteMultipartUpload action must be a positive integer"
        )),
        None => Err(s3_error!(
            MalformedXML,
            "AbortIncompleteMultipartUpload has no DaysAfterInitiation"
        )),
    }
}

/// Of which objects a rule is.
fn check_selection(rule: &LifecycleRule) -> S3Result<()> {
    match (&rule.prefix, &rule.filter) {
        (Some(prefix), None) => check_prefix(prefix),
        (None, Some(filter)) => {
            let aborts = rule.abort_incomplete_multipart_upload.is_some();
            check_filter(filter, aborts)
        }
        _ => Err(s3_error!(MalformedXML, "a rule has to have one of Filter and Prefix")),
    }
}

fn check_filter(filter: &LifecycleRuleFilter, aborts: bool) -> S3Result<()> {
    let LifecycleRuleFilter { and, object_size_greater_than, object_size_less_than, prefix, tag } =
        filter;
    let sizes = [object_size_greater_than, object_size_less_than];
    let beside = sizes.iter().filter(|size| size.is_some()).count()
        + [and.is_some(), prefix.is_some(), tag.is_some()].iter().filter(|there| **there).count();
    if beside > 1 {
        return Err(s3_error!(MalformedXML, "what is beside each other in a Filter goes into And"));
    }
    let (mut tags, mut sizes) = (tag.iter().collect::<Vec<_>>(), sizes.map(|size| *size));
    check_prefix(prefix.as_deref().unwrap_or_default())?;
    if let Some(and) = and {
        check_prefix(and.prefix.as_deref().unwrap_or_default())?;
        tags = and.tags.iter().flatten().collect();
        sizes = [and.object_size_greater_than, and.object_size_less_than];
        if and.prefix.is_none() && tags.is_empty() && sizes == [None, None] {
            return Err(s3_error!(MalformedXML, "And is empty"));
        }
    }
    if aborts && !(tags.is_empty() && sizes == [None, None]) {
        return Err(s3_error!(
            InvalidRequest,
            "AbortIncompleteMultipartUpload cannot be specified with Tags or sizes"
        ));
    }
    check_sizes(sizes)?;
    check_filter_tags(&tags)
}

fn check_prefix(prefix: &str) -> S3Result<()> {
    let max = afterbay_blob_meta::MAX_KEY_BYTES;
    if prefix.len() > max {
        return Err(s3_error!(InvalidRequest, "The maximum size of a prefix is {max}."));
    }
    Ok(())
}

fn check_sizes([greater, less]: [Option<i64>; 2]) -> S3Result<()> {
    if greater.is_some_and(|size| size < 0) || less.is_some_and(|size| size <= 0) {
        return Err(s3_error!(
            InvalidRequest,
            "ObjectSizeGreaterThan must not be negative, and ObjectSizeLessThan be positive"
        ));
    }
    match (greater, less) {
        (Some(greater), Some(less)) if greater >= less => Err(s3_error!(
            InvalidRequest,
            "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'"
        )),
        _ => Ok(()),
    }
}

fn check_filter_tags(tags: &[&Tag]) -> S3Result<()> {
    let pairs = tags.iter().map(|tag| match (&tag.key, &tag.value) {
        (Some(key), Some(value)) => Ok((key.clone(), value.clone())),
        _ => Err(s3_error!(MalformedXML, "a Tag has to have a Key and a Value")),
    });
    check_tags(pairs.collect::<S3Result<_>>()?)?;
    Ok(())
}

/// Seconds since 1970.
pub(super) fn seconds(date: &Timestamp) -> Option<i64> {
    let mut text = Vec::new();
    date.format(TimestampFormat::EpochSeconds, &mut text).ok()?;
    // A fraction is no whole number.
    String::from_utf8(text).ok()?.parse().ok()
}

fn is_midnight(date: &Timestamp) -> bool {
    seconds(date).is_some_and(|seconds| seconds.rem_euclid(DAY_S) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::from_xml;

    /// The code for the XML of one rule, or of several.
    fn code(rules: &str) -> String {
        let xml = format!("<LifecycleConfiguration>{rules}</LifecycleConfiguration>");
        let Some(configuration) = from_xml(xml.as_bytes()) else { return "unread".to_owned() };
        let checked = checked(Some(configuration)).err();
        checked.map_or_else(|| "ok".to_owned(), |error| error.code().as_str().to_owned())
    }

    fn rule(content: &str) -> String {
        format!("<Rule><Status>Enabled</Status>{content}</Rule>")
    }

    const DAYS: &str = "<Expiration><Days>1</Days></Expiration>";
    const ABORT: &str = "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>";
    const ALL: &str = "<Filter></Filter>";
    const TAG: &str = "<Tag><Key>a</Key><Value>b</Value></Tag>";

    #[test]
    fn selections() {
        for (selection, wanted) in [
            ("", "MalformedXML"),
            ("<Prefix></Prefix>", "ok"),
            ("<Prefix>a</Prefix>", "ok"),
            ("<Prefix>a</Prefix><Filter></Filter>", "MalformedXML"),
            (ALL, "ok"),
            ("<Filter><Prefix>a</Prefix></Filter>", "ok"),
            (&format!("<Filter>{TAG}</Filter>"), "ok"),
            (&format!("<Filter><Prefix>a</Prefix>{TAG}</Filter>"), "MalformedXML"),
            (&format!("<Filter><And><Prefix>a</Prefix>{TAG}</And></Filter>"), "ok"),
            (&format!("<Filter><And>{TAG}{TAG}</And></Filter>"), "InvalidTag"),
            (&format!("<Filter><And>{TAG}</And>{TAG}</Filter>"), "MalformedXML"),
            ("<Filter><And></And></Filter>", "MalformedXML"),
            ("<Filter><Tag><Key>a</Key></Tag></Filter>", "MalformedXML"),
            ("<Filter><Tag><Key></Key><Value>b</Value></Tag></Filter>", "InvalidTag"),
            ("<Filter><ObjectSizeGreaterThan>0</ObjectSizeGreaterThan></Filter>", "ok"),
            (
                "<Filter><ObjectSizeGreaterThan>-1</ObjectSizeGreaterThan></Filter>",
                "InvalidRequest",
            ),
            ("<Filter><ObjectSizeLessThan>0</ObjectSizeLessThan></Filter>", "InvalidRequest"),
            (
                "<Filter><And><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>6</ObjectSizeLessThan></And></Filter>",
                "ok",
            ),
            (
                "<Filter><And><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>5</ObjectSizeLessThan></And></Filter>",
                "InvalidRequest",
            ),
            (&format!("<Filter><Prefix>{}</Prefix></Filter>", "a".repeat(1025)), "InvalidRequest"),
            (&format!("<Prefix>{}</Prefix>", "a".repeat(1025)), "InvalidRequest"),
        ] {
            assert_eq!(code(&rule(&format!("{selection}{DAYS}"))), wanted, "{selection}");
        }
        let tagged = format!("<Filter>{TAG}</Filter>");
        let large = "<Filter><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></Filter>";
        for (selection, wanted) in
            [(ALL, "ok"), (&*tagged, "InvalidRequest"), (large, "InvalidRequest")]
        {
            assert_eq!(code(&rule(&format!("{selection}{ABORT}"))), wanted, "{selection}");
        }
    }

    #[test]
    fn actions() {
        let expiration = |content: &str| format!("<Expiration>{content}</Expiration>");
        for (action, wanted) in [
            (String::new(), "InvalidRequest"),
            (format!("{DAYS}{ABORT}"), "ok"),
            (expiration(""), "MalformedXML"),
            (expiration("<Days>0</Days>"), "InvalidArgument"),
            (expiration("<Days>-1</Days>"), "InvalidArgument"),
            (expiration("<Days>2147483647</Days>"), "ok"),
            (expiration("<Days>2147483648</Days>"), "unread"),
            (expiration("<Date>2030-01-01T00:00:00Z</Date>"), "ok"),
            (expiration("<Date>2030-01-01T00:00:00.000Z</Date>"), "ok"),
            (expiration("<Date>2030-01-01T02:00:00+02:00</Date>"), "ok"),
            (expiration("<Date>1969-12-31T00:00:00Z</Date>"), "ok"),
            (expiration("<Date>2030-01-01T00:00:00.001Z</Date>"), "InvalidArgument"),
            (expiration("<Date>2030-01-01T12:00:00Z</Date>"), "InvalidArgument"),
            (expiration("<Date>2030-01-01T00:00:00+02:00</Date>"), "InvalidArgument"),
            (expiration("<Date>tomorrow</Date>"), "unread"),
            (expiration("<Days>1</Days><Date>2030-01-01T00:00:00Z</Date>"), "MalformedXML"),
            (expiration("<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>"), "NotImplemented"),
            (expiration("<ExpiredObjectDeleteMarker>false</ExpiredObjectDeleteMarker>"), "MalformedXML"),
            (expiration("<Days>1</Days><ExpiredObjectDeleteMarker>false</ExpiredObjectDeleteMarker>"), "ok"),
            ("<AbortIncompleteMultipartUpload></AbortIncompleteMultipartUpload>".to_owned(), "MalformedXML"),
            (ABORT.replace('1', "0"), "InvalidArgument"),
            (format!("{DAYS}<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>"), "NotImplemented"),
            ("<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>".to_owned(), "NotImplemented"),
            (format!("{DAYS}<NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionTransition>"), "NotImplemented"),
            (format!("{DAYS}<SomethingNew></SomethingNew>"), "unread"),
        ] {
            assert_eq!(code(&rule(&format!("{ALL}{action}"))), wanted, "{action}");
        }
        assert_eq!(
            code(&rule(&format!("{ALL}{DAYS}")).replace("Enabled", "enabled")),
            "MalformedXML"
        );
    }

    #[test]
    fn rules_together() {
        let named =
            |id: &str| rule(&format!("<ID>{id}</ID><Filter><Prefix>p</Prefix></Filter>{DAYS}"));
        assert_eq!(code(""), "unread");
        assert!(checked(None).is_err());
        assert_eq!(code(&named("a").repeat(2)), "InvalidArgument");
        assert_eq!(code(&format!("{}{}", named("a"), named("b"))), "ok");
        assert_eq!(code(&named(&"ä".repeat(255))), "ok");
        assert_eq!(code(&named(&"a".repeat(256))), "InvalidArgument");
        assert_eq!(code(&named("").repeat(1000)), "ok", "each gets an ID of its own");
        assert_eq!(code(&named("").repeat(1001)), "MalformedXML");
        let old = rule(&format!("<Prefix>p</Prefix>{DAYS}"));
        assert_eq!(code(&old.repeat(2)), "ok");
        assert_eq!(code(&format!("{old}{}", named(""))), "InvalidRequest");
    }

    #[test]
    fn rules_without_an_id_get_one() {
        let xml = format!(
            "<LifecycleConfiguration>{}</LifecycleConfiguration>",
            rule(&format!("{ALL}{DAYS}"))
        );
        let checked = checked(from_xml(xml.as_bytes())).unwrap();
        assert!(checked.rules[0].id.as_ref().is_some_and(|id| !id.is_empty()));
    }
}
