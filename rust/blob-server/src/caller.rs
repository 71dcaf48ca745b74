//! Who asks by the native protocol, and what they may do.
//!
//! The root key may do everything. A user's key may use names, by its rights; a blob's id says nothing about whose blob it
//! is, so ids are the root key's.

use std::sync::Arc;

use afterbay_blob_meta::{AccessKey, Rights};
use afterbay_blob_proto::{Code, Failure};

/// Who owns what the root key makes.
pub(crate) const ROOT: &str = "root";

/// Who asks.
#[derive(Debug, Clone)]
pub struct Caller(Option<Arc<AccessKey>>);

impl Caller {
    /// The root key.
    pub fn root() -> Self {
        Caller(None)
    }

    /// A user's key.
    pub fn user(key: Arc<AccessKey>) -> Self {
        Caller(Some(key))
    }

    /// The key; `None`: the root key.
    pub fn key(&self) -> Option<&Arc<AccessKey>> {
        self.0.as_ref()
    }

    /// The owner of what this caller makes.
    pub fn name(&self) -> &str {
        self.0.as_ref().map_or(ROOT, |key| &key.user)
    }

    /// What it may do in a bucket that `owner` owns.
    pub fn rights_in(&self, bucket: &str, owner: &str) -> Rights {
        self.0.as_ref().map_or(Rights::ALL, |key| key.rights_in(bucket, owner))
    }

    /// Whether it may make buckets.
    pub fn may_create_buckets(&self) -> bool {
        self.0.as_ref().is_none_or(|key| key.may_create_buckets)
    }

    /// An error if it is not the root key.
    pub fn require_root(&self, what: &str) -> Result<(), Failure> {
        if self.0.is_none() {
            return Ok(());
        }
        Err(forbidden(format!(
            "{what} needs the root key; users' keys have rights to names (bucket/key)"
        )))
    }
}

/// The answer to who must not.
pub(crate) fn forbidden(text: impl Into<String>) -> Failure {
    Failure::new(Code::Forbidden, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_users() {
        let key = AccessKey {
            user: "ann".to_owned(),
            rights: [("logs".to_owned(), Rights::READ.0)].into(),
            ..AccessKey::default()
        };
        let (root, ann) = (Caller::root(), Caller::user(Arc::new(key)));
        assert!(root.require_root("x").is_ok() && root.may_create_buckets());
        assert_eq!((root.name(), root.rights_in("logs", "bob")), ("root", Rights::ALL));
        assert_eq!(ann.require_root("x").unwrap_err().code, Code::Forbidden);
        assert!(!ann.may_create_buckets());
        assert_eq!((ann.name(), ann.rights_in("logs", "bob")), ("ann", Rights::READ));
        assert_eq!(ann.rights_in("hers", "ann"), Rights::ALL);
    }
}
