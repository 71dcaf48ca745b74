//! Which names buckets may have.

use s3s::validation::{AwsNameValidation, NameValidation};

/// The rules of S3, and those of host names: a bucket can be part of one.
pub(crate) struct BucketNames;

impl NameValidation for BucketNames {
    fn validate_bucket_name(&self, name: &str) -> bool {
        let label = |label: &str| !label.starts_with('-') && !label.ends_with('-');
        AwsNameValidation::new().validate_bucket_name(name) && name.split('.').all(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let valid = |name: &str| BucketNames.validate_bucket_name(name);
        assert!(valid("a-b.c1") && valid("123"));
        for wrong in
            ["ab", "A-b", "a_b", "a..b", "a-.b", "a.-b", "1.2.3.4", "-ab", "ab-", &"a".repeat(64)]
        {
            assert!(!valid(wrong), "{wrong}");
        }
    }
}
