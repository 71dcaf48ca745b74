//! The objects that a server has acknowledged: a file with a line for each, its number and, where the server gives
//! names, its id.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use afterbay_blob_format::BlobId;

use crate::error::{Error, Result, in_file};

/// An object that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) index: u64,
    /// Of the native protocol.
    pub(crate) id: Option<BlobId>,
}

impl Stored {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let index = fields.next()?.parse().ok()?;
        let id = fields.next().map(str::parse).transpose().ok()?;
        Some(Stored { index, id })
    }
}

/// Replaces the file.
pub(crate) fn write(place: &Path, all: &[Stored]) -> Result<()> {
    let mut text = String::new();
    for one in all {
        // Writing to a string does not fail.
        let _ = match one.id {
            Some(id) => writeln!(text, "{} {id}", one.index),
            None => writeln!(text, "{}", one.index),
        };
    }
    fs::write(place, text).map_err(in_file(place))
}

pub(crate) fn read(place: &Path) -> Result<Vec<Stored>> {
    let text = fs::read_to_string(place).map_err(in_file(place))?;
    let wrong = |line| Error::Acknowledged { place: place.to_owned(), line };
    text.lines()
        .enumerate()
        .map(|(at, line)| Stored::parse(line).ok_or_else(|| wrong(at + 1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use afterbay_blob_format::PartitionId;

    #[test]
    fn is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("acknowledged");
        let id = Some(BlobId::random(PartitionId(3)));
        let all = [Stored { index: 0, id: None }, Stored { index: u64::MAX, id }];
        write(&place, &all).unwrap();
        assert_eq!(read(&place).unwrap(), all);
    }

    #[test]
    fn what_is_none_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("acknowledged");
        fs::write(&place, "1\nx\n").unwrap();
        assert!(
            read(&place)
                .unwrap_err()
                .to_string()
                .ends_with("line 2 is not an object's number and id")
        );
        assert!(read(&directory.path().join("none")).is_err());
    }
}
