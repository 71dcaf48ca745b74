//! Canned ACLs, as far as they are kept: `private`, and, where the operator allows them, the three that open a bucket or an
//! object to others. Grants to single users are not kept: rights belong to keys here.

use afterbay_blob_meta::{Bucket, ObjectEntry};
use s3s::S3Result;
use s3s::dto::{Grant, Grantee, Owner, Permission, Type};

use crate::errors;
use crate::options::S3Options;

/// The document of a bucket, and the stored header of an object.
pub(crate) const NAME: &str = "x-amz-acl";

const PUBLIC: [&str; 3] = ["public-read", "public-read-write", "authenticated-read"];

/// What is stored for the ACL of a request; `None`: private.
pub(crate) fn stored(options: &S3Options, canned: Option<&str>) -> S3Result<Option<String>> {
    match canned {
        None | Some("private" | "bucket-owner-full-control" | "bucket-owner-read") => Ok(None),
        Some(name) if options.public_acls && PUBLIC.contains(&name) => Ok(Some(name.to_owned())),
        Some(_) => Err(errors::not_implemented("an ACL other than private")),
    }
}

pub(crate) fn of_bucket(bucket: &Bucket) -> String {
    let stored = bucket.documents.get(NAME);
    stored.map(|acl| String::from_utf8_lossy(acl).into_owned()).unwrap_or_default()
}

pub(crate) fn of_object(entry: &ObjectEntry) -> String {
    entry.attributes().headers.remove(NAME).unwrap_or_default()
}

pub(crate) fn may_read(acl: &str, signed: bool) -> bool {
    match acl {
        "public-read" | "public-read-write" => true,
        "authenticated-read" => signed,
        _ => false,
    }
}

pub(crate) fn may_write(acl: &str) -> bool {
    acl == "public-read-write"
}

/// An ACL as clients read it.
pub(crate) fn grants(acl: &str, owner: &Owner) -> Vec<Grant> {
    let owners = Grantee {
        display_name: owner.display_name.clone(),
        email_address: None,
        id: owner.id.clone(),
        type_: Type::from_static(Type::CANONICAL_USER),
        uri: None,
    };
    let mut grants = vec![grant(owners, Permission::FULL_CONTROL)];
    let group = |name: &str| Grantee {
        display_name: None,
        email_address: None,
        id: None,
        type_: Type::from_static(Type::GROUP),
        uri: Some(format!("http://acs.amazonaws.com/groups/global/{name}")),
    };
    if may_read(acl, false) {
        grants.push(grant(group("AllUsers"), Permission::READ));
    } else if may_read(acl, true) {
        grants.push(grant(group("AuthenticatedUsers"), Permission::READ));
    }
    if may_write(acl) {
        grants.push(grant(group("AllUsers"), Permission::WRITE));
    }
    grants
}

fn grant(grantee: Grantee, permission: &'static str) -> Grant {
    Grant { grantee: Some(grantee), permission: Some(Permission::from_static(permission)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_public_unless_the_operator_allows_it() {
        let closed = S3Options::default();
        let open = S3Options { public_acls: true, ..S3Options::default() };
        assert_eq!(stored(&closed, Some("private")).unwrap(), None);
        assert!(stored(&closed, Some("public-read")).is_err());
        assert_eq!(stored(&open, Some("public-read")).unwrap().as_deref(), Some("public-read"));
        assert!(stored(&open, Some("log-delivery-write")).is_err());
    }

    #[test]
    fn what_acls_allow() {
        assert!(!may_read("", true) && !may_write(""));
        assert!(may_read("public-read", false) && !may_write("public-read"));
        assert!(may_read("authenticated-read", true) && !may_read("authenticated-read", false));
        assert!(may_write("public-read-write"));
    }
}
