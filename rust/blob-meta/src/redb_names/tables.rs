//! The tables of the file.

use redb::{ReadableTable, Table, TableDefinition, WriteTransaction};

use crate::error::{NamesError, Result};

/// By name: `Bucket`.
pub(super) const BUCKETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("buckets");
/// By bucket id and key: `ObjectEntry`.
pub(super) const OBJECTS: TableDefinition<'_, (u64, &[u8]), &[u8]> =
    TableDefinition::new("objects");
/// By bucket id, key and upload id: `Upload`.
pub(super) const UPLOADS: TableDefinition<'_, (u64, &[u8], &str), &[u8]> =
    TableDefinition::new("uploads");
/// By upload id and number: `Part`. They stay when the upload is complete: the object refers to the upload.
pub(super) const PARTS: TableDefinition<'_, (&str, u16), &[u8]> = TableDefinition::new("parts");
/// By the name of the blob: the session that reserved it.
pub(super) const INTENTS: TableDefinition<'_, &[u8; 24], (&str, u64)> =
    TableDefinition::new("intents");
/// By number: `StoredGarbage`.
pub(super) const GARBAGE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("garbage");
/// By id: `AccessKey`.
pub(super) const KEYS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("keys");
/// By frontend: its session.
pub(super) const SESSIONS: TableDefinition<'_, &str, u64> = TableDefinition::new("sessions");
/// Numbers that only grow, and the version of the layout.
pub(super) const COUNTERS: TableDefinition<'_, &str, u64> = TableDefinition::new("counters");

/// The version of this layout.
const VERSION: u64 = 1;

/// All tables, open in one transaction.
pub(super) struct Tables<'t> {
    pub(super) buckets: Table<'t, &'static str, &'static [u8]>,
    pub(super) objects: Table<'t, (u64, &'static [u8]), &'static [u8]>,
    pub(super) uploads: Table<'t, (u64, &'static [u8], &'static str), &'static [u8]>,
    pub(super) parts: Table<'t, (&'static str, u16), &'static [u8]>,
    pub(super) intents: Table<'t, &'static [u8; 24], (&'static str, u64)>,
    pub(super) garbage: Table<'t, u64, &'static [u8]>,
    pub(super) keys: Table<'t, &'static str, &'static [u8]>,
    pub(super) sessions: Table<'t, &'static str, u64>,
    pub(super) counters: Table<'t, &'static str, u64>,
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self> {
        let storage = |e: redb::TableError| NamesError::storage(e);
        Ok(Tables {
            buckets: transaction.open_table(BUCKETS).map_err(storage)?,
            objects: transaction.open_table(OBJECTS).map_err(storage)?,
            uploads: transaction.open_table(UPLOADS).map_err(storage)?,
            parts: transaction.open_table(PARTS).map_err(storage)?,
            intents: transaction.open_table(INTENTS).map_err(storage)?,
            garbage: transaction.open_table(GARBAGE).map_err(storage)?,
            keys: transaction.open_table(KEYS).map_err(storage)?,
            sessions: transaction.open_table(SESSIONS).map_err(storage)?,
            counters: transaction.open_table(COUNTERS).map_err(storage)?,
        })
    }

    /// Writes the version into a new file; an error if the file has another one.
    pub(super) fn check_version(&mut self) -> Result<()> {
        let found = self.counter("version")?;
        match found {
            0 => self.set_counter("version", VERSION),
            VERSION => Ok(()),
            _ => Err(NamesError::Damaged {
                what: "version",
                reason: format!("{found} was written by a newer release; this one reads {VERSION}"),
            }),
        }
    }

    /// The next number of a counter; the first is 1.
    pub(super) fn count(&mut self, name: &'static str) -> Result<u64> {
        let next = self.counter(name)? + 1;
        self.set_counter(name, next)?;
        Ok(next)
    }

    fn counter(&self, name: &str) -> Result<u64> {
        let stored = self.counters.get(name).map_err(NamesError::storage)?;
        Ok(stored.map_or(0, |value| value.value()))
    }

    fn set_counter(&mut self, name: &str, value: u64) -> Result<()> {
        self.counters.insert(name, value).map_err(NamesError::storage)?;
        Ok(())
    }
}

/// Reads a stored message.
pub(super) fn decode<M: prost::Message + Default>(what: &'static str, bytes: &[u8]) -> Result<M> {
    M::decode(bytes).map_err(|e| NamesError::Damaged { what, reason: e.to_string() })
}
