//! What was asked for and what was answered: what the server may have, and what it must.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use afterbay_blob_router::BlobId;
use bytes::{Bytes, BytesMut};

use crate::common::content;

pub const BUCKET: &str = "cycles";
/// Blobs without names are in this container, so that they can be told from those with names.
pub const NAMELESS: u32 = 7;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Nothing,
    /// The content of this number.
    Whole(u64),
    /// The contents of these numbers, one behind the other: parts.
    Parts(Vec<u64>),
}

impl Value {
    pub fn bytes(&self) -> Option<Bytes> {
        match self {
            Value::Nothing => None,
            Value::Whole(number) => Some(body(*number)),
            Value::Parts(numbers) => {
                let mut all = BytesMut::new();
                numbers.iter().for_each(|number| all.extend_from_slice(&body(*number)));
                Some(all.freeze())
            }
        }
    }
}

/// The content of a number. Most are one record, some have chunks; those from [`LARGE`] on can be a part before others.
pub fn body(number: u64) -> Bytes {
    let length = match number {
        LARGE.. => (5 << 20) + number % 1000,
        _ if number.is_multiple_of(7) => 40_000 + number % 9000,
        _ => number * 997 % 9000,
    };
    let mut bytes = BytesMut::from(&number.to_be_bytes()[..]);
    bytes.extend_from_slice(&content(number, length as usize));
    bytes.freeze()
}

pub const LARGE: u64 = 1 << 40;

/// Whether these are one content after the other, each whole.
pub fn is_whole(mut bytes: &[u8]) -> bool {
    while let Some(number) = bytes.first_chunk() {
        let Some(rest) = bytes.strip_prefix(&body(u64::from_be_bytes(*number))[..]) else {
            return false;
        };
        bytes = rest;
    }
    bytes.is_empty()
}

/// What was said about a blob without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Stored,
    /// A delete was asked for, and not answered.
    Deletes,
    Deleted,
}

/// How an upload was to end, without an answer yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Completes,
    Aborts,
}

#[derive(Debug, Clone)]
pub struct Upload {
    pub key: String,
    pub id: String,
    /// What each part may be; `None`: it may not be there.
    pub parts: BTreeMap<u16, Vec<Option<u64>>>,
    pub ending: Option<Ending>,
    /// What a complete chose that was not answered.
    pub completing: Vec<(u16, u64)>,
}

#[derive(Debug, Default)]
pub struct Ledger {
    state: Mutex<State>,
    numbers: AtomicU64,
    /// Kinds of answers that have come, and how often.
    pub tally: Mutex<BTreeMap<&'static str, u64>>,
}

#[derive(Debug, Default)]
pub struct State {
    /// What each name may stand for. One possibility: it must.
    pub keys: BTreeMap<String, Vec<Value>>,
    pub uploads: Vec<Upload>,
    /// Completed or aborted: key and id.
    pub ended: Vec<(String, String)>,
    /// Keys for which an upload may have begun that nobody knows.
    pub begun: BTreeSet<String>,
    pub blobs: BTreeMap<BlobId, (u64, Said)>,
}

impl Ledger {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that no content has had.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub fn count(&self, what: &'static str) {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += 1;
    }

    pub fn counted(&self, what: &str) -> u64 {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.get(what).copied().unwrap_or(0)
    }

    /// All answers that have come.
    pub fn answers(&self) -> u64 {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// What a name stands for, if that is certain.
    pub fn value(&self, key: &str) -> Value {
        self.state().keys.get(key).and_then(|v| v.first().cloned()).unwrap_or(Value::Nothing)
    }

    /// It may become this.
    pub fn begin(&self, key: &str, value: Value) {
        let mut state = self.state();
        let possible = state.keys.entry(key.to_owned()).or_insert_with(|| vec![Value::Nothing]);
        possible.push(value);
    }

    /// It is this.
    pub fn settle(&self, key: &str, value: Value) {
        self.state().keys.insert(key.to_owned(), vec![value]);
    }

    /// It has not become this.
    pub fn refused(&self, key: &str) {
        if let Some(possible) = self.state().keys.get_mut(key) {
            possible.pop();
        }
    }

    pub fn upload<T>(&self, id: &str, change: impl FnOnce(&mut Upload) -> T) -> Option<T> {
        self.state().uploads.iter_mut().find(|upload| upload.id == id).map(change)
    }

    pub fn end_upload(&self, id: &str) {
        let mut state = self.state();
        if let Some(at) = state.uploads.iter().position(|upload| upload.id == id) {
            let upload = state.uploads.swap_remove(at);
            state.ended.push((upload.key, upload.id));
        }
    }
}
