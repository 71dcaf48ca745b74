//! Which configurations are kept. The codes and messages are those of S3.

use http::HeaderName;
use s3s::dto::{CORSConfiguration, CORSRule};
use s3s::{S3Result, s3_error};

const RULES_MAX: usize = 100;
const ID_MAX: usize = 255;
const METHODS: [&str; 5] = ["GET", "PUT", "HEAD", "POST", "DELETE"];

/// The configuration, if S3 would take it.
pub(crate) fn checked(configuration: CORSConfiguration) -> S3Result<CORSConfiguration> {
    let rules = &configuration.cors_rules;
    if rules.is_empty() || rules.len() > RULES_MAX {
        return Err(s3_error!(
            MalformedXML,
            "a CORS configuration has 1 to {RULES_MAX} rules, not {}",
            rules.len()
        ));
    }
    rules.iter().try_for_each(check_rule)?;
    Ok(configuration)
}

fn check_rule(rule: &CORSRule) -> S3Result<()> {
    if rule.id.as_ref().is_some_and(|id| id.chars().count() > ID_MAX) {
        return Err(s3_error!(
            InvalidRequest,
            "ID length should not exceed allowed limit of {ID_MAX}"
        ));
    }
    if let Some(method) = rule.allowed_methods.iter().find(|m| !METHODS.contains(&m.as_str())) {
        return Err(s3_error!(
            InvalidRequest,
            "Found unsupported HTTP method in CORS config. Unsupported method is {method}"
        ));
    }
    check_patterns("AllowedOrigin", &rule.allowed_origins)?;
    check_patterns("AllowedHeader", rule.allowed_headers.as_deref().unwrap_or_default())?;
    for header in rule.expose_headers.iter().flatten() {
        if header.contains('*') {
            return Err(s3_error!(
                InvalidRequest,
                "ExposeHeader \"{header}\" contains wildcard. We currently do not support wildcard for ExposeHeader."
            ));
        }
        if header.parse::<HeaderName>().is_err() {
            return Err(s3_error!(InvalidRequest, "ExposeHeader \"{header}\" is no header's name"));
        }
    }
    if rule.max_age_seconds.is_some_and(|seconds| seconds < 0) {
        return Err(s3_error!(InvalidRequest, "MaxAgeSeconds must not be negative"));
    }
    Ok(())
}

fn check_patterns(what: &str, patterns: &[String]) -> S3Result<()> {
    for pattern in patterns {
        if pattern.is_empty() {
            return Err(s3_error!(InvalidRequest, "{what} must not be empty"));
        }
        if pattern.matches('*').count() > 1 {
            return Err(s3_error!(
                InvalidRequest,
                "{what} \"{pattern}\" can not have more than one wildcard."
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::from_xml;

    fn code(rules: &str) -> String {
        let xml = format!("<CORSConfiguration>{rules}</CORSConfiguration>");
        let Some(configuration) = from_xml(xml.as_bytes()) else { return "unread".to_owned() };
        let checked = checked(configuration).err();
        checked.map_or_else(|| "ok".to_owned(), |error| error.code().as_str().to_owned())
    }

    const METHOD: &str = "<AllowedMethod>GET</AllowedMethod>";
    const ORIGIN: &str = "<AllowedOrigin>*</AllowedOrigin>";

    fn rule(content: &str) -> String {
        format!("<CORSRule>{METHOD}{ORIGIN}{content}</CORSRule>")
    }

    #[test]
    fn configurations() {
        for (content, wanted) in [
            ("", "ok"),
            ("<AllowedMethod>DELETE</AllowedMethod>", "ok"),
            ("<AllowedMethod>PATCH</AllowedMethod>", "InvalidRequest"),
            ("<AllowedMethod>get</AllowedMethod>", "InvalidRequest"),
            ("<AllowedOrigin>http://*.a.org</AllowedOrigin>", "ok"),
            ("<AllowedOrigin>http://*.*.org</AllowedOrigin>", "InvalidRequest"),
            ("<AllowedOrigin></AllowedOrigin>", "InvalidRequest"),
            ("<AllowedHeader>x-amz-*</AllowedHeader>", "ok"),
            ("<AllowedHeader>*-*</AllowedHeader>", "InvalidRequest"),
            ("<ExposeHeader>ETag</ExposeHeader>", "ok"),
            ("<ExposeHeader>*</ExposeHeader>", "InvalidRequest"),
            ("<ExposeHeader>a: b</ExposeHeader>", "InvalidRequest"),
            ("<MaxAgeSeconds>0</MaxAgeSeconds>", "ok"),
            ("<MaxAgeSeconds>-1</MaxAgeSeconds>", "InvalidRequest"),
            ("<MaxAgeSeconds>soon</MaxAgeSeconds>", "unread"),
            (&format!("<ID>{}</ID>", "a".repeat(255)), "ok"),
            (&format!("<ID>{}</ID>", "a".repeat(256)), "InvalidRequest"),
            ("<SomethingNew></SomethingNew>", "unread"),
        ] {
            assert_eq!(code(&rule(content)), wanted, "{content}");
        }
        assert_eq!(code(&rule("").repeat(100)), "ok");
        assert_eq!(code(&rule("").repeat(101)), "MalformedXML");
        for missing in [
            "",
            &format!("<CORSRule>{METHOD}</CORSRule>"),
            &format!("<CORSRule>{ORIGIN}</CORSRule>"),
        ] {
            assert_eq!(code(missing), "unread", "{missing}");
        }
    }
}
