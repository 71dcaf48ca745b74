//! Whole requests of S3: the bytes of a connection, through HTTP, signatures, XML and operations.
//!
//! An input is a letter and a request:
//!
//! ```text
//!   u  bytes as they come, of somebody without a key
//!   w  a request that is signed by the owner of the bucket
//!   c  the same in chunks that are signed; the first byte of the body says whether one has a wrong signature
//!   r  a request that is signed with a key that may only read
//!   f  a request whose signature is wrong in one digit
//! ```
//!
//! No change of the bytes would find a signature, so those of `w`, `c` and `r` are made here. Requests of `u`, `r` and `f` go to an
//! endpoint that panics when anything is changed in it.

mod backend;
mod request;
mod seeds;

use std::cell::RefCell;

use backend::Endpoint;
use request::Request;
pub(crate) use seeds::seeds;

/// Made anew after so many requests: they leave objects.
const REQUESTS_MAX: u32 = 500;

thread_local! {
    static OPEN: RefCell<Option<Endpoint>> = const { RefCell::new(None) };
    static FROZEN: RefCell<Option<Endpoint>> = const { RefCell::new(None) };
}

/// The answer to what `bytes` are.
pub(crate) fn run(bytes: &[u8]) -> String {
    let Some((mode, bytes)) = bytes.split_first() else {
        return "nothing".to_owned();
    };
    let answer = match mode {
        b'w' => asked(&OPEN, false, &Request::parse(bytes).signed(&backend::OWNER)),
        b'c' => {
            let (sent, wrong) = Request::parse(bytes).chunked(&backend::OWNER);
            let answer = asked(&OPEN, false, &sent);
            assert!(
                !wrong || !answer.is_ok(),
                "a chunk with a wrong signature was taken: {answer:?}"
            );
            answer
        }
        b'r' => asked(&FROZEN, true, &Request::parse(bytes).signed(&backend::READER)),
        b'f' => refused(&Request::parse(bytes).forged(&backend::OWNER)),
        _ => refused(&request::with_time(bytes)),
    };
    format!("{}, mode {}", answer.kind(), char::from(*mode))
}

fn asked(
    endpoint: &'static std::thread::LocalKey<RefCell<Option<Endpoint>>>,
    freeze: bool,
    sent: &[u8],
) -> Answer {
    endpoint.with_borrow_mut(|kept| {
        // After a panic there is none: it is not put back.
        let mut endpoint = kept.take().unwrap_or_else(|| Endpoint::new(freeze));
        let answer = Answer(endpoint.ask(sent));
        assert!(answer.code() != "InternalError", "{answer:?}");
        *kept = Some(endpoint).filter(|endpoint| endpoint.asked < REQUESTS_MAX);
        answer
    })
}

/// Nothing is told, and nothing is changed (`Endpoint` sees to that).
fn refused(sent: &[u8]) -> Answer {
    let answer = asked(&FROZEN, true, sent);
    assert!(!answer.is_ok(), "{answer:?}");
    assert!(!answer.text().contains(backend::CONTENT), "{answer:?}");
    answer
}

/// What came back on the connection.
struct Answer(Vec<u8>);

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: String = self.text().chars().take(500).collect();
        f.write_str(&text)
    }
}

impl Answer {
    fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Whether the first request was done.
    fn is_ok(&self) -> bool {
        let first = self.0.strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&self.0);
        first.starts_with(b"HTTP/1.1 2") || first.starts_with(b"HTTP/1.1 3")
    }

    /// The code of an error.
    fn code(&self) -> String {
        self.between("<Code>", "</Code>")
    }

    fn between(&self, begin: &str, end: &str) -> String {
        let text = self.text();
        let found = text.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
        found.map(|(found, _)| found.to_owned()).unwrap_or_default()
    }

    /// In short.
    fn kind(&self) -> String {
        if self.is_ok() {
            let root: String =
                self.between("?><", ">").chars().take_while(char::is_ascii_alphanumeric).collect();
            return format!("ok {root}");
        }
        if self.0.is_empty() {
            return "closed".to_owned();
        }
        // What follows is the request's own, mostly.
        let message: String = self.between("<Message>", "</Message>").chars().take(24).collect();
        format!("{} {message}", self.code())
    }
}
