//! Which requests are allowed: the first rule that names the origin, the method and all headers.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderMap, HeaderValue};
use s3s::dto::{CORSConfiguration, CORSRule};

/// The rules of a bucket, in their order.
#[derive(Debug)]
pub(crate) struct Rules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    origins: Vec<String>,
    methods: Vec<String>,
    /// In lower case.
    headers: Vec<String>,
    exposed: Vec<String>,
    max_age_s: Option<i32>,
}

/// What a browser wants to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) origin: &'a HeaderValue,
    pub(crate) method: &'a str,
    /// In lower case.
    pub(crate) headers: &'a [String],
}

impl Rules {
    pub(crate) fn of(configuration: CORSConfiguration) -> Self {
        Rules(configuration.cors_rules.into_iter().map(Rule::of).collect())
    }

    /// The headers that say so; `None`: it is not allowed.
    pub(crate) fn allowed(&self, question: &Question<'_>) -> Option<HeaderMap> {
        self.0.iter().find_map(|rule| rule.allowed(question))
    }
}

impl Rule {
    fn of(rule: CORSRule) -> Self {
        let headers = rule.allowed_headers.unwrap_or_default();
        Rule {
            origins: rule.allowed_origins,
            methods: rule.allowed_methods,
            headers: headers.iter().map(|header| header.to_ascii_lowercase()).collect(),
            exposed: rule.expose_headers.unwrap_or_default(),
            max_age_s: rule.max_age_seconds,
        }
    }

    fn allowed(&self, question: &Question<'_>) -> Option<HeaderMap> {
        let origin = question.origin.to_str().ok()?;
        let allowed = self.origins.iter().find(|pattern| is_like(pattern, origin))?;
        self.methods.iter().find(|method| *method == question.method)?;
        let is_allowed = |header: &String| self.headers.iter().any(|p| is_like(p, header));
        question.headers.iter().all(is_allowed).then(|| self.headers(question, allowed))
    }

    fn headers(&self, question: &Question<'_>, allowed: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if allowed == "*" {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        } else {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, question.origin.clone());
            // To all origins at once, browsers send none.
            headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        let lists = [
            (ACCESS_CONTROL_ALLOW_METHODS, &*self.methods),
            (ACCESS_CONTROL_ALLOW_HEADERS, question.headers),
            (ACCESS_CONTROL_EXPOSE_HEADERS, &*self.exposed),
        ];
        for (name, list) in lists {
            // What was checked is text of one line.
            if let Ok(value) = HeaderValue::from_str(&list.join(", "))
                && !list.is_empty()
            {
                headers.insert(name, value);
            }
        }
        if let Some(seconds) = self.max_age_s {
            headers.insert(ACCESS_CONTROL_MAX_AGE, seconds.into());
        }
        headers
    }
}

/// Whether a text is like a pattern, whose first `*` stands for anything, also for nothing.
fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, end)) => {
            text.len() >= begin.len() + end.len() && text.starts_with(begin) && text.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::documents::from_xml;

    fn rules(rules: &[&str]) -> Rules {
        let rules: String =
            rules.iter().map(|rule| format!("<CORSRule>{rule}</CORSRule>")).collect();
        let xml = format!("<CORSConfiguration>{rules}</CORSConfiguration>");
        Rules::of(from_xml(xml.as_bytes()).unwrap())
    }

    fn ask(rules: &Rules, origin: &str, method: &str, headers: &[&str]) -> Option<HeaderMap> {
        let headers: Vec<_> = headers.iter().map(|header| (*header).to_owned()).collect();
        let origin = origin.parse().unwrap();
        rules.allowed(&Question { origin: &origin, method, headers: &headers })
    }

    const GET: &str = "<AllowedMethod>GET</AllowedMethod>";

    #[test]
    fn patterns() {
        for (pattern, like, unlike) in [
            (
                "http://a.org",
                &["http://a.org"][..],
                &["http://a.org:80", "https://a.org", "HTTP://a.org"][..],
            ),
            ("*", &["http://a.org", "null", ""], &[]),
            ("http://*.org", &["http://a.org", "http://.org"], &["http://org", "http://a.com"]),
            ("ab*bc", &["abbc", "abxbc"], &["abc"]),
            ("*suffix", &["suffix", "a.suffix"], &["suffix.a"]),
            ("prefix*", &["prefix", "prefix.a"], &["a.prefix"]),
        ] {
            assert!(like.iter().all(|text| is_like(pattern, text)), "{pattern}");
            assert!(!unlike.iter().any(|text| is_like(pattern, text)), "{pattern}");
        }
    }

    #[test]
    fn the_first_rule_that_allows_all_of_it() {
        let rules = rules(&[
            "<AllowedMethod>PUT</AllowedMethod><AllowedOrigin>http://a.org</AllowedOrigin><MaxAgeSeconds>1</MaxAgeSeconds>",
            "<AllowedMethod>PUT</AllowedMethod><AllowedMethod>GET</AllowedMethod><AllowedOrigin>http://a.*</AllowedOrigin>\
             <AllowedHeader>X-Amz-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><ExposeHeader>x-a</ExposeHeader><MaxAgeSeconds>2</MaxAgeSeconds>",
            &format!("{GET}<AllowedOrigin>*</AllowedOrigin>"),
        ]);
        let text = |headers: &HeaderMap, name: &str| {
            headers.get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let put = ask(&rules, "http://a.org", "PUT", &[]).unwrap();
        assert_eq!(text(&put, "access-control-max-age").unwrap(), "1");
        let put = ask(&rules, "http://a.org", "PUT", &["x-amz-date", "x-amz-meta-a"]).unwrap();
        for (name, wanted) in [
            ("access-control-allow-origin", Some("http://a.org")),
            ("access-control-allow-credentials", Some("true")),
            ("access-control-allow-methods", Some("PUT, GET")),
            ("access-control-allow-headers", Some("x-amz-date, x-amz-meta-a")),
            ("access-control-expose-headers", Some("ETag, x-a")),
            ("access-control-max-age", Some("2")),
        ] {
            assert_eq!(text(&put, name).as_deref(), wanted, "{name}");
        }
        assert!(ask(&rules, "http://a.org", "PUT", &["x-amz-date", "x-other"]).is_none());
        assert!(ask(&rules, "http://b.org", "PUT", &[]).is_none());
        assert!(ask(&rules, "http://a.org", "DELETE", &[]).is_none());
        let any = ask(&rules, "http://b.org", "GET", &[]).unwrap();
        assert_eq!(text(&any, "access-control-allow-origin").unwrap(), "*");
        assert_eq!(any.len(), 2, "{any:?}");
    }

    proptest! {
        /// Against a reference that tries every text for the `*`.
        #[test]
        fn patterns_as_the_reference_says(pattern in "[ab]{0,3}\\*?[ab]{0,3}", text in "[ab]{0,6}") {
            let wanted = match pattern.split_once('*') {
                None => pattern == text,
                Some((begin, end)) => (0..=text.len()).any(|from| {
                    (from..=text.len()).any(|to| format!("{begin}{}{end}", &text[from..to]) == text)
                }),
            };
            prop_assert_eq!(is_like(&pattern, &text), wanted);
        }
    }
}
