//! Every answer has an id that the log has too, in a header and in the XML of errors.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use s3s::{Body, HttpResponse};

const HEADER: HeaderName = HeaderName::from_static("x-amz-request-id");
const HOST_HEADER: HeaderName = HeaderName::from_static("x-amz-id-2");

pub(crate) fn new() -> String {
    uuid::Uuid::new_v4().simple().to_string()[..16].to_uppercase()
}

pub(crate) fn add(mut response: HttpResponse, id: &str) -> HttpResponse {
    if let Ok(value) = HeaderValue::from_str(id) {
        response.headers_mut().insert(HEADER, value.clone());
        response.headers_mut().insert(HOST_HEADER, value);
    }
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let Some(with_id) = response.body().bytes().and_then(|xml| insert(&xml, id)) else {
        return response;
    };
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(with_id);
    response
}

fn insert(xml: &Bytes, id: &str) -> Option<Bytes> {
    let text = std::str::from_utf8(xml).ok()?;
    let at = text.rfind("</Error>")?;
    if text.contains("<RequestId>") {
        return None;
    }
    let (before, behind) = text.split_at(at);
    Some(format!("{before}<RequestId>{id}</RequestId>{behind}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_get_it() {
        let xml = Bytes::from_static(b"<?xml?><Error><Code>X</Code></Error>");
        let with = insert(&xml, "7").unwrap();
        assert_eq!(with, "<?xml?><Error><Code>X</Code><RequestId>7</RequestId></Error>");
        assert_eq!(insert(&with, "8"), None);
        assert_eq!(insert(&Bytes::from_static(b""), "8"), None);
    }
}
