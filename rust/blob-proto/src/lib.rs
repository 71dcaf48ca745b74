//! The native protocol: how clients and servers of the blob store talk over a stream of bytes.
//!
//! ```text
//!  client                                          server
//!         <------------------------------- Hello (nonce)
//!  Authenticate (key, nonce, proof) ------------>
//!         <-------------------------------- Welcome (proof)
//!  Put (how) -------------------------------------->            requests of a connection are
//!  Data Data Data(last) --------------------------->            carried out at the same time;
//!  Get (what) ------------------------------------->            answers come in any order, each
//!         <--------------------------- Stored (of the put)      as a whole
//!         <--------------------------- Found, Data, Data(last)
//! ```
//!
//! A frame is a fixed header, a *head* of fields, and a *body* of raw bytes. Bodies are content: the server sends them
//! from the file to the socket without looking at them, with the checksums that are stored with them, and the client
//! verifies. The normative description is `spec/blob-protocol.md`, with test vectors beside it.
//!
//! # Invariants
//! - Whatever the bytes, a parser returns an error or a value; it does not panic, and takes no more memory than a small
//!   multiple of the bytes that it was given.
//! - A frame's lengths are checked against the limits before memory is taken for them.
//! - No content is handed on before its checksum was verified.

mod auth;
mod buckets;
mod data;
mod error;
mod failure;
mod fields;
mod frame;
mod io;
mod keys;
mod message;
mod target;

pub use auth::{Binding, Nonce, Proof, client_proof, prove, server_proof};
pub use buckets::{BucketSettings, Entry, ListRequest, Listing};
pub use data::{DataHead, Verified, encode_data, verify_data};
pub use error::{ProtocolError, Result};
pub use failure::{Code, Failure};
pub use frame::{
    FRAME_HEADER_BYTES, Frame, FrameHeader, Kind, MAX_BODY_BYTES, MAX_DATA_BYTES, MAX_HEAD_BYTES,
    encode_frame,
};
pub use io::{Connected, FrameReader};
pub use keys::{CreatedKey, Grant, KeyEntry, NewKey, encode_keys, parse_keys};
pub use message::{Hello, Message, PutHead, Request, Response, parse_request};
pub use target::{MAX_BUCKET_BYTES, MAX_KEY_BYTES, Name, Target};
