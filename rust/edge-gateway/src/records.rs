//! What is committed beside rows: JSON, by a key each.
//!
//! | key | value |
//! |---|---|
//! | `STREAM` | its columns |
//! | `STREAM/site/SITE` | partition, epoch, next number, watermark, counts |
//! | `STREAM/partition/N` | its watermark |

use serde::{Deserialize, Serialize};

use crate::error::{GatewayError, Result};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamRecord {
    pub(crate) columns: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SiteRecord {
    pub(crate) partition: u32,
    pub(crate) epoch: u64,
    pub(crate) next: u64,
    pub(crate) watermark: i64,
    pub(crate) rows: u64,
    pub(crate) late: u64,
    pub(crate) gaps: u64,
    pub(crate) lost_rows: u64,
    /// Rows that the output does not take.
    #[serde(default)]
    pub(crate) large: u64,
    /// It has been away too long, and has not caught up.
    #[serde(default)]
    pub(crate) excluded: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartitionRecord {
    pub(crate) watermark: i64,
}

/// What a key is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    Stream(&'a str),
    Site(&'a str, &'a str),
    Partition(&'a str, u32),
}

impl<'a> Key<'a> {
    pub(crate) fn parse(key: &'a str) -> Option<Self> {
        let mut parts = key.split('/');
        let stream = parts.next()?;
        let key = match (parts.next(), parts.next()) {
            (None, _) => Self::Stream(stream),
            (Some("site"), Some(site)) => Self::Site(stream, site),
            (Some("partition"), Some(number)) => Self::Partition(stream, number.parse().ok()?),
            _ => return None,
        };
        parts.next().is_none().then_some(key)
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::Stream(stream) => stream.to_owned(),
            Self::Site(stream, site) => format!("{stream}/site/{site}"),
            Self::Partition(stream, number) => format!("{stream}/partition/{number}"),
        }
    }
}

pub(crate) fn read<T: for<'a> Deserialize<'a>>(key: &str, value: &str) -> Result<T> {
    serde_json::from_str(value)
        .map_err(|error| GatewayError::Record { key: key.to_owned(), reason: error.to_string() })
}

pub(crate) fn write(record: &impl Serialize) -> String {
    // Numbers and texts: there is nothing in them that JSON has not.
    serde_json::to_string(record).unwrap_or_default()
}
