//! What a blob carries besides its body: properties of the store and of the user.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::error::{FormatError, Result};
use crate::fields::Fields;

/// The most bytes that the properties of one blob may take.
pub const MAX_PROPERTIES_BYTES: usize = 64 * 1024;

const WHAT: &str = "properties of a blob";
const ENTRY_BYTES: usize = 7;

/// Whose property it is. The two have name spaces of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PropertyClass {
    /// Known to the store's servers, such as `content-type`.
    System = 1,
    /// Given back to the user as it came.
    User = 2,
}

impl PropertyClass {
    fn parse(fields: &Fields<'_>, found: u8) -> Result<Self> {
        match found {
            1 => Ok(PropertyClass::System),
            2 => Ok(PropertyClass::User),
            _ => fields.require("class", found.into(), false).map(|()| PropertyClass::User),
        }
    }
}

/// The properties of one blob, ordered by class and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<(PropertyClass, String), Bytes>);

impl Properties {
    /// Sets a property and returns `self`.
    pub fn with(mut self, class: PropertyClass, name: &str, value: impl Into<Bytes>) -> Self {
        self.0.insert((class, name.to_owned()), value.into());
        self
    }

    /// The value of a property.
    pub fn get(&self, class: PropertyClass, name: &str) -> Option<&Bytes> {
        self.0.get(&(class, name.to_owned()))
    }

    /// All properties, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (PropertyClass, &str, &Bytes)> {
        self.0.iter().map(|((class, name), value)| (*class, name.as_str(), value))
    }

    /// The stored form; an error if it would be longer than [`MAX_PROPERTIES_BYTES`] or a name is
    /// empty or longer than 65535 bytes.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for (class, name, value) in self.iter() {
            let name_bytes = u16::try_from(name.len()).ok().filter(|&bytes| bytes > 0).ok_or(
                FormatError::Field {
                    what: WHAT,
                    field: "length of a name",
                    found: name.len() as u64,
                },
            )?;
            // Checked before it is converted: what is longer than the limit need not fit.
            check_length(out.len() + ENTRY_BYTES + name.len() + value.len())?;
            out.push(class as u8);
            out.extend_from_slice(&name_bytes.to_be_bytes());
            out.extend_from_slice(&(value.len() as u32).to_be_bytes());
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(value);
        }
        Ok(out)
    }

    /// Reads the stored form. Values share the memory of `stored`.
    pub fn parse(stored: &Bytes) -> Result<Self> {
        check_length(stored.len())?;
        let mut properties = BTreeMap::new();
        let mut fields = Fields::new(WHAT, stored);
        while !fields.is_empty() {
            let class = fields.u8()?;
            let class = PropertyClass::parse(&fields, class)?;
            let name_bytes = usize::from(fields.u16()?);
            let value_bytes = fields.u32()? as usize;
            fields.require("length of a name", 0, name_bytes > 0)?;
            let name = std::str::from_utf8(fields.bytes(name_bytes)?)
                .map_err(|e| FormatError::Field {
                    what: WHAT,
                    field: "UTF-8 up to byte",
                    found: e.valid_up_to() as u64,
                })?
                .to_owned();
            let value = stored.slice_ref(fields.bytes(value_bytes)?);
            let in_order =
                properties.last_key_value().is_none_or(|(last, _)| *last < (class, name.clone()));
            fields.require("order", 0, in_order)?;
            properties.insert((class, name), value);
        }
        Ok(Properties(properties))
    }
}

fn check_length(found: usize) -> Result<()> {
    if found <= MAX_PROPERTIES_BYTES {
        Ok(())
    } else {
        Err(FormatError::Field { what: WHAT, field: "length", found: found as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PropertyClass::{System, User};

    #[test]
    fn stored_and_back() {
        let properties = Properties::default()
            .with(User, "colour", "red")
            .with(System, "content-type", "image/png")
            .with(User, "empty", "");
        let stored = Bytes::from(properties.encode().unwrap());
        let parsed = Properties::parse(&stored).unwrap();
        assert_eq!(parsed, properties);
        assert_eq!(parsed.get(System, "content-type").unwrap(), "image/png");
        assert_eq!(parsed.get(System, "colour"), None);
        assert_eq!(
            parsed.iter().map(|(_, name, _)| name).collect::<Vec<_>>(),
            ["content-type", "colour", "empty"]
        );
    }

    #[test]
    fn too_many_bytes_are_refused() {
        let fits = MAX_PROPERTIES_BYTES - ENTRY_BYTES - 1;
        assert!(Properties::default().with(User, "a", vec![0; fits]).encode().is_ok());
        assert!(Properties::default().with(User, "a", vec![0; fits + 1]).encode().is_err());
        assert!(Properties::default().with(User, "", "x").encode().is_err());
        assert!(Properties::parse(&Bytes::from(vec![0; MAX_PROPERTIES_BYTES + 1])).is_err());
    }

    #[test]
    fn doubles_and_other_orders_are_refused() {
        let one = Properties::default().with(User, "a", "1").encode().unwrap();
        let twice = Bytes::from([one.clone(), one.clone()].concat());
        assert!(Properties::parse(&twice).is_err());
        let other = Properties::default().with(System, "z", "1").encode().unwrap();
        assert!(Properties::parse(&Bytes::from([one, other].concat())).is_err());
    }
}
