//! Requests as text, and their signatures.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::{digest, hmac};

use super::backend::Signer;

const HOST: &str = "localhost";
/// What a body is signed as: as it is, in chunks, or as this says, by its hash.
const HASHED: &str = "HASHED";
/// Headers that are made here.
const OWN: [&str; 4] = ["authorization", "host", "x-amz-date", "x-amz-content-sha256"];

/// Now, as `20130524T000000Z`.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ms = u64::try_from(since.as_millis()).unwrap_or_default();
    afterbay_blob_server::fuzzing::time(ms).replace(['-', ':'], "")
}

/// `TIME` and `DATE` in a request become those of now; else old seeds would all end in the same way.
pub(super) fn with_time(bytes: &[u8]) -> Vec<u8> {
    let now = now();
    let mut text = bytes.to_vec();
    for (name, value) in [(&b"@TIME@"[..], &now[..]), (b"@DATE@", &now[..8])] {
        while let Some(at) = text.windows(name.len()).position(|window| window == name) {
            drop(text.splice(at..at + name.len(), value.bytes()));
        }
    }
    text
}

/// A request: `METHOD TARGET`, lines of headers, an empty line, the body.
pub(super) struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    payload: String,
    body: Vec<u8>,
    time: String,
}

fn names(headers: &BTreeMap<String, &str>) -> String {
    headers.keys().map(String::as_str).collect::<Vec<_>>().join(";")
}

impl Request {
    /// Whatever the bytes are. Paths and queries are encoded, so that their signature is known.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n");
        let (head, body) = match end {
            Some(at) => (&bytes[..at], &bytes[at + 2..]),
            None => (bytes, &[][..]),
        };
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines();
        let (method, target) =
            lines.next().and_then(|line| line.split_once(' ')).unwrap_or_default();
        let method: String = method.chars().filter(char::is_ascii_uppercase).take(20).collect();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut pairs: Vec<(String, String)> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (encoded(&decoded(name), ""), encoded(&decoded(value), "")))
            .collect();
        pairs.sort();
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut payload = "UNSIGNED-PAYLOAD".to_owned();
        let mut headers = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let name: String = name.chars().filter(|c| is_token(*c)).collect();
            let value: String = value.trim().chars().filter(|c| !c.is_control()).collect();
            match name.to_ascii_lowercase() {
                name if name == "x-amz-content-sha256" => payload = value,
                name if name.is_empty() || OWN.contains(&&*name) => {}
                name => headers.push((name, value)),
            }
        }
        let body = body.to_vec();
        if payload == HASHED {
            payload = hash(&body);
        }
        let method = if method.is_empty() { "GET".to_owned() } else { method };
        let path = format!("/{}", encoded(&decoded(path.trim_start_matches('/')), "/"));
        let (query, time) = (pairs.join("&"), now());
        Request { method, path, query, headers, payload, body, time }
    }

    fn scope(&self) -> String {
        format!("{}/us-east-1/s3/aws4_request", &self.time[..8])
    }

    fn key(&self, signer: &Signer) -> Vec<u8> {
        let start = format!("AWS4{}", signer.secret).into_bytes();
        let parts = [&self.time[..8], "us-east-1", "s3", "aws4_request"];
        parts.into_iter().fold(start, |key, part| mac(&key, part.as_bytes()))
    }

    fn signature(&self, signer: &Signer) -> String {
        let headers = self.signed_headers();
        let values: String =
            headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let canonical = format!(
            "{}\n{}\n{}\n{values}\n{}\n{}",
            self.method,
            self.path,
            self.query,
            names(&headers),
            self.payload
        );
        let (time, scope, hash) = (&self.time, self.scope(), hash(canonical.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}");
        hex(&mac(&self.key(signer), to_sign.as_bytes()))
    }

    /// All that have to be, in their order.
    fn signed_headers(&self) -> BTreeMap<String, &str> {
        let own =
            [("host", HOST), ("x-amz-content-sha256", &self.payload), ("x-amz-date", &self.time)];
        let mut signed = BTreeMap::from(own.map(|(name, value)| (name.to_owned(), value)));
        for (name, value) in &self.headers {
            let name = name.to_ascii_lowercase();
            if name.starts_with("x-amz-") {
                signed.entry(name).or_insert(value.trim());
            }
        }
        signed
    }

    fn bytes(&self, signer: &Signer, signature: &str) -> Vec<u8> {
        let question = if self.query.is_empty() { "" } else { "?" };
        let mut head = format!(
            "{} {}{question}{} HTTP/1.1\r\nhost: {HOST}\r\nx-amz-date: {}\r\nx-amz-content-sha256: {}\r\n\
             authorization: AWS4-HMAC-SHA256 Credential={}/{}, \
             SignedHeaders={}, Signature={signature}\r\n",
            self.method,
            self.path,
            self.query,
            self.time,
            self.payload,
            signer.id,
            self.scope(),
            names(&self.signed_headers()),
        );
        let mut has_length = false;
        for (name, value) in &self.headers {
            has_length |= ["content-length", "transfer-encoding"].contains(&&**name);
            // Writing to a string does not fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !has_length {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }

    pub(super) fn signed(&self, signer: &Signer) -> Vec<u8> {
        self.bytes(signer, &self.signature(signer))
    }

    /// One digit of the signature is another one.
    pub(super) fn forged(&self, signer: &Signer) -> Vec<u8> {
        let mut signature = self.signature(signer).into_bytes();
        let at = self.body.first().map_or(0, |byte| usize::from(*byte)) % signature.len();
        signature[at] = if signature[at] == b'0' { b'1' } else { b'0' };
        self.bytes(signer, &String::from_utf8_lossy(&signature))
    }

    /// The body in three chunks and a last one, each with its signature; whether one of these is wrong and the request stores
    /// the body.
    pub(super) fn chunked(mut self, signer: &Signer) -> (Vec<u8>, bool) {
        self.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD".to_owned();
        let body = std::mem::take(&mut self.body);
        let wrong = body.first().map(|byte| usize::from(*byte) % 8).filter(|wrong| *wrong < 4);
        self.headers.push(("x-amz-decoded-content-length".to_owned(), body.len().to_string()));
        let seed = self.signature(signer);
        let (key, mut before, mut sent) = (self.key(signer), seed.clone(), Vec::new());
        let mut chunks: Vec<&[u8]> = body.chunks(body.len().div_ceil(3).max(1)).collect();
        chunks.push(&[]);
        for (number, chunk) in chunks.iter().enumerate() {
            let to_sign = format!(
                "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{before}\n{}\n{}",
                self.time,
                self.scope(),
                hash(b""),
                hash(chunk)
            );
            before = hex(&mac(&key, to_sign.as_bytes()));
            let shown = if wrong == Some(number) { seed.clone() } else { before.clone() };
            let head = format!("{:x};chunk-signature={shown}\r\n", chunk.len());
            sent.extend_from_slice(head.as_bytes());
            sent.extend_from_slice(chunk);
            sent.extend_from_slice(b"\r\n");
        }
        let stores = self.method == "PUT" && self.query.is_empty() && self.headers.len() == 1;
        let stores =
            stores && self.path.strip_prefix("/bucket/").is_some_and(|key| !key.is_empty());
        let wrong = stores && wrong.is_some_and(|wrong| wrong < chunks.len());
        self.body = sent;
        (self.bytes(signer, &seed), wrong)
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str, kept: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || kept.contains(c) {
            encoded.push(c);
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec()
}

fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
