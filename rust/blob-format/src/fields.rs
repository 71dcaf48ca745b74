//! Reads fields of fixed size one behind the other. Never panics: what is not there is an error.

use crate::error::{FormatError, Result};

pub(crate) struct Fields<'a> {
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Fields { what, rest: bytes }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(FormatError::TooShort {
            what: self.what,
            needed: count,
            found: self.rest.len(),
        })?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn magic(&mut self, expected: &[u8]) -> Result<()> {
        if self.bytes(expected.len())? == expected {
            Ok(())
        } else {
            Err(FormatError::Magic { what: self.what })
        }
    }

    pub(crate) fn version(&mut self, found: u32) -> Result<()> {
        if found == 1 { Ok(()) } else { Err(FormatError::Version { what: self.what, found }) }
    }

    /// The same of what has several formats that can be read, up to `newest`.
    pub(crate) fn version_to(&mut self, found: u32, newest: u32) -> Result<()> {
        if (1..=newest).contains(&found) {
            Ok(())
        } else {
            Err(FormatError::Version { what: self.what, found })
        }
    }

    /// A field whose only allowed value is 0 in this version.
    pub(crate) fn zero(&mut self, field: &'static str, found: u64) -> Result<()> {
        self.require(field, found, found == 0)
    }

    pub(crate) fn require(&self, field: &'static str, found: u64, allowed: bool) -> Result<()> {
        if allowed { Ok(()) } else { Err(FormatError::Field { what: self.what, field, found }) }
    }

    pub(crate) fn checksum(&self, stored: u32, computed: u32) -> Result<()> {
        if stored == computed { Ok(()) } else { Err(FormatError::Checksum { what: self.what }) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }
}
