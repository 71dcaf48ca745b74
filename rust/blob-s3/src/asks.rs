//! What a request may ask for: one list of the operations that are answered, each with the parameters and the headers of Amazon's that it
//! understands. Whatever else a request has is refused before it has any effect.
//!
//! s3s finds the operation by the parameters that it knows, and passes over all others. So `PUT /bucket/key?renameObject` would be a put of
//! an empty object to it, and a lock that a header asks for would not be kept.

use http::{HeaderMap, HeaderName, Uri};
use s3s::{S3Error, S3Result, s3_error};

use crate::checksums::Algorithm;
use crate::errors::not_implemented;
use crate::signed;

/// An operation, by S3's name.
struct Asks {
    operation: &'static str,
    parameters: &'static [&'static str],
    /// Those that begin with [`AMAZONS`]; the ones that end with it have any number of names.
    headers: &'static [&'static str],
}

const AMAZONS: &str = "x-amz-";

/// The prefix of the user's own metadata.
const METADATA: &str = "x-amz-meta-";

/// Parameters of all requests: the name of the operation, which clients tell for logs, and signatures of version 2.
const PARAMETERS: [&str; 4] = ["x-id", "AWSAccessKeyId", "Expires", "Signature"];

/// Headers of all requests, beside the five checksums: those of signatures, those that are checked for all buckets, and those that mean
/// nothing here.
const HEADERS: [&str; 8] = [
    "x-amz-cf-id",
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-expected-bucket-owner",
    "x-amz-request-payer",
    "x-amz-sdk-checksum-algorithm",
    "x-amz-te",
    "x-amz-user-agent",
];

macro_rules! asks {
    ($($operation:literal: [$($parameter:literal),*], [$($header:expr),*];)*) => {
        const OPERATIONS: &[Asks] = &[
            $(Asks {
                operation: $operation,
                parameters: &[$($parameter),*],
                headers: &[$($header),*],
            },)*
        ];
    };
}

#[rustfmt::skip]
asks! {
    "AbortMultipartUpload": ["uploadId"], [];
    "CompleteMultipartUpload": ["uploadId"], ["x-amz-checksum-type", "x-amz-mp-object-size"];
    "CopyObject": [], [
        METADATA, "x-amz-acl", "x-amz-checksum-algorithm", "x-amz-copy-source", "x-amz-copy-source-if-match",
        "x-amz-copy-source-if-modified-since", "x-amz-copy-source-if-none-match", "x-amz-copy-source-if-unmodified-since",
        "x-amz-metadata-directive", "x-amz-source-expected-bucket-owner", "x-amz-storage-class", "x-amz-tagging",
        "x-amz-tagging-directive", "x-amz-website-redirect-location"
    ];
    "CreateBucket": [], ["x-amz-acl", "x-amz-bucket-object-lock-enabled"];
    "CreateMultipartUpload": ["uploads"], [
        METADATA, "x-amz-acl", "x-amz-checksum-algorithm", "x-amz-checksum-type", "x-amz-storage-class", "x-amz-tagging",
        "x-amz-website-redirect-location"
    ];
    "DeleteBucket": [], [];
    "DeleteBucketCors": ["cors"], [];
    "DeleteBucketLifecycle": ["lifecycle"], [];
    "DeleteBucketTagging": ["tagging"], [];
    "DeleteObject": ["versionId"], ["x-amz-bypass-governance-retention", "x-amz-if-match-last-modified-time", "x-amz-if-match-size"];
    "DeleteObjectTagging": ["tagging", "versionId"], [];
    "DeleteObjects": ["delete"], ["x-amz-bypass-governance-retention"];
    "GetBucketAccelerateConfiguration": ["accelerate"], [];
    "GetBucketAcl": ["acl"], [];
    "GetBucketCors": ["cors"], [];
    "GetBucketEncryption": ["encryption"], [];
    "GetBucketLifecycleConfiguration": ["lifecycle"], [];
    "GetBucketLocation": ["location"], [];
    "GetBucketLogging": ["logging"], [];
    "GetBucketNotificationConfiguration": ["notification"], [];
    "GetBucketOwnershipControls": ["ownershipControls"], [];
    "GetBucketPolicy": ["policy"], [];
    "GetBucketPolicyStatus": ["policyStatus"], [];
    "GetBucketReplication": ["replication"], [];
    "GetBucketRequestPayment": ["requestPayment"], [];
    "GetBucketTagging": ["tagging"], [];
    "GetBucketVersioning": ["versioning"], [];
    "GetBucketWebsite": ["website"], [];
    "GetObject": [
        "partNumber", "response-cache-control", "response-content-disposition", "response-content-encoding",
        "response-content-language", "response-content-type", "response-expires", "versionId"
    ], ["x-amz-checksum-mode"];
    "GetObjectAcl": ["acl", "versionId"], [];
    "GetObjectAttributes": ["attributes", "versionId"], ["x-amz-max-parts", "x-amz-object-attributes", "x-amz-part-number-marker"];
    "GetObjectLockConfiguration": ["object-lock"], [];
    "GetObjectTagging": ["tagging", "versionId"], [];
    "GetPublicAccessBlock": ["publicAccessBlock"], [];
    "HeadBucket": [], [];
    "HeadObject": [
        "partNumber", "response-cache-control", "response-content-disposition", "response-content-encoding",
        "response-content-language", "response-content-type", "response-expires", "versionId"
    ], ["x-amz-checksum-mode"];
    "ListBuckets": ["continuation-token", "max-buckets", "prefix"], [];
    "ListMultipartUploads": ["delimiter", "encoding-type", "key-marker", "max-uploads", "prefix", "upload-id-marker", "uploads"], [];
    "ListObjectVersions": ["delimiter", "encoding-type", "key-marker", "max-keys", "prefix", "version-id-marker", "versions"],
        ["x-amz-optional-object-attributes"];
    "ListObjects": ["delimiter", "encoding-type", "marker", "max-keys", "prefix"], ["x-amz-optional-object-attributes"];
    "ListObjectsV2": [
        "continuation-token", "delimiter", "encoding-type", "fetch-owner", "list-type", "max-keys", "prefix", "start-after"
    ], ["x-amz-optional-object-attributes"];
    "ListParts": ["encoding-type", "max-parts", "part-number-marker", "uploadId"], [];
    "PutBucketAcl": ["acl"], ["x-amz-acl"];
    "PutBucketCors": ["cors"], [];
    "PutBucketLifecycleConfiguration": ["lifecycle"], ["x-amz-transition-default-minimum-object-size"];
    "PutBucketTagging": ["tagging"], [];
    "PutBucketVersioning": ["versioning"], [];
    "PutObject": [], [
        METADATA, "x-amz-acl", "x-amz-decoded-content-length", "x-amz-storage-class", "x-amz-tagging", "x-amz-trailer",
        "x-amz-website-redirect-location"
    ];
    "PutObjectAcl": ["acl", "versionId"], ["x-amz-acl"];
    "PutObjectTagging": ["tagging", "versionId"], [];
    "UploadPart": ["partNumber", "uploadId"], ["x-amz-decoded-content-length", "x-amz-trailer"];
    "UploadPartCopy": ["partNumber", "uploadId"], [
        "x-amz-copy-source", "x-amz-copy-source-if-match", "x-amz-copy-source-if-modified-since", "x-amz-copy-source-if-none-match",
        "x-amz-copy-source-if-unmodified-since", "x-amz-copy-source-range", "x-amz-source-expected-bucket-owner"
    ];
}

impl Asks {
    fn of(operation: &str) -> S3Result<&'static Asks> {
        let found = OPERATIONS.iter().find(|asks| asks.operation == operation);
        found.ok_or_else(|| not_implemented(operation))
    }

    fn check_parameter(&self, name: &str) -> S3Result<()> {
        if self.parameters.contains(&name) || PARAMETERS.contains(&name) {
            return Ok(());
        }
        Err(self.refusal("parameter", name))
    }

    fn check_header(&self, name: &str) -> S3Result<()> {
        let is_metadata = name.starts_with(METADATA) && self.headers.contains(&METADATA);
        if is_metadata || self.headers.contains(&name) || HEADERS.contains(&name) {
            return Ok(());
        }
        if name == "x-amz-security-token" {
            return Err(s3_error!(
                InvalidToken,
                "keys of this endpoint have no sessions: send no {name}"
            ));
        }
        if name.starts_with("x-amz-checksum-") {
            return match Algorithm::of_header(name) {
                Some(_) => Ok(()),
                None => {
                    Err(s3_error!(InvalidRequest, "{name} is a checksum of no known algorithm"))
                }
            };
        }
        Err(self.refusal("header", name))
    }

    fn refusal(&self, what: &str, name: &str) -> S3Error {
        not_implemented(&format!("{} with the {what} '{name}'", self.operation))
    }
}

/// Refuses operations, parameters and headers of Amazon's that are not understood, by name.
pub(crate) fn check(operation: &str, uri: &Uri, headers: &HeaderMap) -> S3Result<()> {
    let asks = Asks::of(operation)?;
    let query = uri.query().unwrap_or_default();
    let is_presigned = signed::is_presigned(query);
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        // Of a presigned request these are the signature's own, and headers that were taken out of the query.
        if !(is_presigned && signed::is_amazons(&name)) {
            asks.check_parameter(&name)?;
        }
    }
    let amazons = headers.keys().map(HeaderName::as_str).filter(|name| name.starts_with(AMAZONS));
    for name in amazons {
        asks.check_header(name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use http::HeaderValue;

    use super::*;
    use crate::ops;

    fn headers(names: &[&str]) -> HeaderMap {
        let header = |name: &&str| (name.parse().unwrap(), HeaderValue::from_static("x"));
        names.iter().map(header).collect()
    }

    fn code(operation: &str, query: &str, names: &[&str]) -> String {
        let uri = format!("/b/k?{query}").parse().unwrap();
        let checked = check(operation, &uri, &headers(names));
        checked.err().map_or_else(|| "ok".to_owned(), |error| error.code().as_str().to_owned())
    }

    /// Whatever one operation understands is refused by those that do not.
    #[test]
    fn each_operation_by_each_parameter_and_header() {
        let parameters: BTreeSet<_> = OPERATIONS.iter().flat_map(|a| a.parameters).collect();
        let names: BTreeSet<_> = OPERATIONS.iter().flat_map(|a| a.headers).collect();
        for asks in OPERATIONS {
            for parameter in &parameters {
                let wanted =
                    if asks.parameters.contains(parameter) { "ok" } else { "NotImplemented" };
                assert_eq!(
                    code(asks.operation, parameter, &[]),
                    wanted,
                    "{} {parameter}",
                    asks.operation
                );
            }
            for name in &names {
                let wanted = if asks.headers.contains(name) {
                    "ok"
                } else if name.starts_with("x-amz-checksum-") {
                    "InvalidRequest"
                } else {
                    "NotImplemented"
                };
                let sent = if **name == METADATA { "x-amz-meta-colour" } else { name };
                assert_eq!(code(asks.operation, "", &[sent]), wanted, "{} {sent}", asks.operation);
            }
        }
    }

    /// What no operation understands, by each of them.
    #[test]
    fn unknown_ones_are_refused_by_all() {
        for asks in OPERATIONS {
            for parameter in [
                "renameObject",
                "annotation",
                "metadataConfiguration",
                "metadataTable",
                "intelligent-tiering",
                "inventory",
                "analytics",
                "metrics",
                "select",
                "restore",
                "torrent",
                "legal-hold",
                "retention",
                "events",
                "ACL",
                "x-amz-acl",
                "X-Amz-Copy-Source",
            ] {
                assert_eq!(code(asks.operation, parameter, &[]), "NotImplemented", "{parameter}");
            }
            for name in [
                "x-amz-object-lock-mode",
                "x-amz-object-lock-retain-until-date",
                "x-amz-object-lock-legal-hold",
                "x-amz-grant-read",
                "x-amz-grant-write",
                "x-amz-grant-read-acp",
                "x-amz-grant-write-acp",
                "x-amz-grant-full-control",
                "x-amz-server-side-encryption",
                "x-amz-server-side-encryption-aws-kms-key-id",
                "x-amz-server-side-encryption-context",
                "x-amz-server-side-encryption-bucket-key-enabled",
                "x-amz-server-side-encryption-customer-algorithm",
                "x-amz-server-side-encryption-customer-key",
                "x-amz-copy-source-server-side-encryption-customer-algorithm",
                "x-amz-rename-source",
                "x-amz-write-offset-bytes",
                "x-amz-object-ownership",
                "x-amz-mfa",
                "x-amz-anything-new",
            ] {
                assert_eq!(
                    code(asks.operation, "", &[name]),
                    "NotImplemented",
                    "{} {name}",
                    asks.operation
                );
            }
            for name in ["x-amz-checksum-sha512", "x-amz-checksum-foo"] {
                assert_eq!(
                    code(asks.operation, "", &[name]),
                    "InvalidRequest",
                    "{} {name}",
                    asks.operation
                );
            }
            assert_eq!(code(asks.operation, "", &["x-amz-security-token"]), "InvalidToken");
        }
        assert_eq!(code("RenameObject", "", &[]), "NotImplemented");
    }

    #[test]
    fn these_are_the_operations_that_there_are() {
        let snake = |name: &str| {
            let word = |c: char| match c.is_ascii_uppercase() {
                true => format!("_{}", c.to_ascii_lowercase()),
                false => c.to_string(),
            };
            name.chars().map(word).collect::<String>()
        };
        let listed: BTreeSet<_> = OPERATIONS.iter().map(|asks| snake(asks.operation)).collect();
        let there: BTreeSet<_> = ops::NAMES.iter().map(|name| format!("_{name}")).collect();
        assert_eq!(listed, there);
    }

    #[test]
    fn what_all_may_have() {
        let signature = "X-Amz-Algorithm=a&X-Amz-Signature=0&x-amz-meta-colour=red&x-id=PutObject";
        for asks in OPERATIONS {
            assert_eq!(
                code(asks.operation, "x-id=x&AWSAccessKeyId=a&Expires=1&Signature=s", &HEADERS),
                "ok"
            );
            assert_eq!(code(asks.operation, signature, &[]), "ok");
            assert_eq!(code(asks.operation, "X-Amz-Algorithm=a", &[]), "NotImplemented");
            for algorithm in Algorithm::ALL {
                assert_eq!(code(asks.operation, "", &[algorithm.header()]), "ok");
            }
        }
    }
}
