//! Requests of browsers for other sites (CORS): which a bucket's rules allow, and what an answer says of it.
//!
//! ```text
//!   OPTIONS ───────────────▶ Cors ──▶ the first rule that allows it: 200 and its headers, or 403
//!   others, with Origin ──▶ s3s … ──▶ the same headers, if a rule allows it; the answer is the same without one
//! ```
//!
//! A browser has no key when it asks whether it may send a request, so anybody may ask: what is answered comes from memory, and tells
//! nothing of a bucket without rules, not even whether it is there.

mod check;
mod rules;

use std::sync::Arc;

use afterbay_blob_meta::Names;
use http::header::{
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HOST, HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, Method, Request, StatusCode};
use s3s::host::{S3Host, SingleDomain};
use s3s::{S3Error, S3Result};

pub(crate) use check::checked;
use rules::{Question, Rules};

use crate::documents::{Documents, from_xml};
use crate::errors::with_status;

/// The document of a bucket that has its rules, as S3's XML.
pub(crate) const NAME: &str = "cors";

/// Bytes of that document.
pub(crate) const BYTES_MAX: usize = 64 << 10;

/// Headers that a browser may ask for: anybody may ask, and each is compared with all that are allowed.
const REQUESTED_MAX: usize = 100;

const VARIES: HeaderValue = HeaderValue::from_static(
    "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
);

/// The rules of all buckets.
pub(crate) struct Cors {
    names: Arc<dyn Names>,
    /// Below which a bucket can be part of the host's name.
    domain: Option<SingleDomain>,
    rules: Documents<Rules>,
}

/// What the rules of its bucket say to a request.
#[derive(Debug, Default)]
pub(crate) struct Crossing {
    /// Of the answer, whatever that is.
    pub(crate) headers: HeaderMap,
    /// The answer to a preflight.
    pub(crate) preflight: Option<S3Result<()>>,
}

impl Cors {
    pub(crate) fn new(names: Arc<dyn Names>, domain: Option<SingleDomain>) -> Self {
        let rules = Documents::new(NAME, |stored| Some(Rules::of(from_xml(stored)?)));
        Cors { names, domain, rules }
    }

    /// Reads nothing from a disk.
    pub(crate) fn crossing<B>(&self, request: &Request<B>) -> Crossing {
        let rules = self.rules_for(request);
        let allowed = rules.as_ref().and_then(|rules| allowed(rules, request));
        let is_preflight = request.method() == Method::OPTIONS;
        let answer = || preflight(request.headers(), rules.is_some(), allowed.is_some());
        let preflight = is_preflight.then(answer);
        let mut headers = allowed.unwrap_or_default();
        if rules.is_some() {
            // Also without an Origin: a cache could have the answer for another one.
            headers.insert(VARY, VARIES);
        }
        Crossing { headers, preflight }
    }

    fn rules_for<B>(&self, request: &Request<B>) -> Option<Arc<Rules>> {
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let host = self.domain.as_ref().zip(host);
        let host = host.and_then(|(domain, host)| domain.parse_host_header(host).ok());
        let path = request.uri().path().strip_prefix('/')?;
        let in_path = || path.split('/').next().unwrap_or_default();
        let name = host.as_ref().and_then(|host| host.bucket()).unwrap_or_else(in_path);
        self.rules.of(name, &self.names.bucket(name)?)
    }
}

fn allowed<B>(rules: &Rules, request: &Request<B>) -> Option<HeaderMap> {
    let headers = request.headers();
    let origin = headers.get(ORIGIN)?;
    let asked = headers.get(ACCESS_CONTROL_REQUEST_METHOD);
    // S3 decides by what is asked for, also where it is done at once.
    let method = asked.map_or(Some(request.method().as_str()), |method| method.to_str().ok())?;
    rules.allowed(&Question { origin, method, headers: &requested(headers)? })
}

fn preflight(headers: &HeaderMap, has_rules: bool, is_allowed: bool) -> S3Result<()> {
    if !headers.contains_key(ORIGIN) {
        return Err(bad("Insufficient information. Origin request header needed."));
    }
    if !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return Err(bad("Invalid Access-Control-Request-Method: null"));
    }
    if !has_rules {
        return Err(forbidden("CORSResponse: CORS is not enabled for this bucket."));
    }
    if !is_allowed {
        return Err(forbidden(
            "CORSResponse: This CORS request is not allowed. This is usually because the evaluation of Origin, request method / \
             Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
        ));
    }
    Ok(())
}

/// The headers that a browser wants to send, in lower case; `None` if they are no text, or too many.
fn requested(headers: &HeaderMap) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for value in headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS) {
        let names = value.to_str().ok()?.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty()).map(str::to_ascii_lowercase);
        all.extend(names.take(REQUESTED_MAX + 1));
    }
    (all.len() <= REQUESTED_MAX).then_some(all)
}

fn bad(message: &str) -> S3Error {
    with_status("BadRequest", StatusCode::BAD_REQUEST, message.to_owned())
}

fn forbidden(message: &str) -> S3Error {
    with_status("AccessForbidden", StatusCode::FORBIDDEN, message.to_owned())
}
