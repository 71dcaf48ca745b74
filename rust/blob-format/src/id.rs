//! Names of blobs and of what they lie in.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The number of a partition in the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(pub u64);

impl fmt::Display for PartitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A blob's name: the partition it lies in, and a UUID that its frontend chose.
///
/// As text: `partition-uuid`, both in hexadecimal, 16 and 32 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId {
    /// Where its replicas are, by way of the cluster map.
    pub partition: PartitionId,
    /// Which blob of the partition.
    pub uuid: Uuid,
}

impl BlobId {
    /// A new name in `partition`, random (UUID version 4).
    pub fn random(partition: PartitionId) -> Self {
        BlobId { partition, uuid: Uuid::new_v4() }
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.partition, self.uuid.simple())
    }
}

/// A text that is not the name of a blob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a blob id: 16 hexadecimal digits, '-', 32 hexadecimal digits are one")]
pub struct InvalidBlobId;

impl FromStr for BlobId {
    type Err = InvalidBlobId;

    fn from_str(text: &str) -> Result<Self, InvalidBlobId> {
        let (partition, uuid) = text.split_once('-').ok_or(InvalidBlobId)?;
        if !is_hex(partition, 16) || !is_hex(uuid, 32) {
            return Err(InvalidBlobId);
        }
        let partition = u64::from_str_radix(partition, 16).map_err(|_| InvalidBlobId)?;
        let uuid = Uuid::try_parse(uuid).map_err(|_| InvalidBlobId)?;
        Ok(BlobId { partition: PartitionId(partition), uuid })
    }
}

/// One spelling for each name: no signs, no capitals.
fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let id = BlobId::random(PartitionId(0xab));
        let text = id.to_string();
        assert_eq!(text.len(), 49);
        assert!(text.starts_with("00000000000000ab-"));
        assert_eq!(text.parse(), Ok(id));
    }

    #[test]
    fn other_spellings_are_refused() {
        let text = BlobId::random(PartitionId(0xab)).to_string();
        for wrong in [
            String::new(),
            text.to_uppercase(),
            text.replacen('0', "+", 1),
            format!("{text}0"),
            text[1..].to_owned(),
            text.replace('-', ""),
        ] {
            assert_eq!(wrong.parse::<BlobId>(), Err(InvalidBlobId), "{wrong}");
        }
    }
}
