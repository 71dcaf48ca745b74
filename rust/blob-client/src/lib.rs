//! A client of the blob store's native protocol.
//!
//! ```text
//!  Client --- Pool --- Connection (handshake: both sides prove that they know the secret)
//!    | put: frames of content with their checksums
//!    | get: blocks of content, each verified before it is handed on
//! ```
//!
//! # Invariants
//! - Content that is handed on was verified against the checksums that were computed when the blob was put.
//! - A connection goes back to the pool only when all of a request's answer was read.
//! - The secret is neither sent nor shown.

mod client;
mod connection;
mod content;
mod error;
mod options;
mod pool;
mod upload;

pub use afterbay_blob_proto::{
    BucketSettings, Code, CreatedKey, Entry, Failure, Grant, KeyEntry, ListRequest, Listing, Name,
    NewKey, PutHead, Target,
};
pub use client::{Client, Got};
pub use connection::Connection;
pub use content::Content;
pub use error::{ClientError, Result};
pub use options::{ClientOptions, Secret, TlsRoots};
