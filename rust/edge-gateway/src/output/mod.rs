//! Where rows go, together with the records that say how far they are.

mod disk;
mod files;

use std::collections::BTreeMap;

pub use disk::{Disk, RealDisk, SyncPoint};
pub use files::FileOutput;

use crate::error::Result;
use crate::merge::{Refused, Row};

/// An output. Used by one thread.
pub trait Output: Send {
    /// Goes back to the last commit, and returns all records of it. Called first, and after a commit that failed.
    ///
    /// # Errors
    /// It cannot be read or written.
    fn recover(&mut self) -> Result<BTreeMap<String, String>>;

    /// Bytes of a row that it takes. What is larger goes to `TOPIC.large` as a note, so that the stream goes on.
    fn row_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Why rows of a stream cannot be written, if they cannot. Asked whenever a site opens it: so that site alone is refused, and
    /// no commit fails, of which all sites would have a part.
    fn refuses(&mut self, stream: &str) -> Option<Refused> {
        let _ = stream;
        None
    }

    /// Makes rows and records safe: all of them or none.
    ///
    /// # Errors
    /// Nobody knows whether it was done: [`recover`](Self::recover) says so. [`GatewayError::Stream`](crate::GatewayError::Stream)
    /// if it is one stream that is not taken.
    fn commit(&mut self, rows: &[Row], records: &[(String, String)]) -> Result<()>;
}

/// The topic of a row: its stream's name behind a prefix, and `.late` behind it if it is.
pub fn topic(prefix: &str, row: &Row) -> String {
    format!("{prefix}{}{}", row.stream, if row.late { ".late" } else { "" })
}
