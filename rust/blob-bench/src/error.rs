//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};

/// The result of what this program does.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a request failed, or the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("{place}: {source}")]
    File { place: PathBuf, source: io::Error },
    #[error("{place}: line {line} is not an object's number and id")]
    Acknowledged { place: PathBuf, line: usize },
    #[error("{action}: {source}")]
    System { action: &'static str, source: io::Error },
    #[error("{address}: no answer in {seconds} s: {last}")]
    NotReady { address: String, seconds: u64, last: String },
    #[error("{address}: the server has closed the connection and not answered")]
    Closed { address: String },
    #[error("{method} answers {status}: {body}")]
    Status { method: &'static str, status: u16, body: String },
    #[error(transparent)]
    Http(#[from] hyper::Error),
    #[error(transparent)]
    Native(#[from] afterbay_blob_client::ClientError),
    #[error(transparent)]
    Store(#[from] afterbay_blob_store::Error),
    #[error("a thread ended by itself")]
    Thread,
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    #[error("the results cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("latencies: {0}")]
    Histogram(String),
}

/// Says which file it was.
pub(crate) fn in_file(place: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    |source| Error::File { place: place.to_owned(), source }
}

/// Says what was to be done.
pub(crate) fn in_system(action: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::System { action, source }
}
