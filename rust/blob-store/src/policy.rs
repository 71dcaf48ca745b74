//! How many replicas have to acknowledge.

use std::fmt;
use std::str::FromStr;

/// How many replicas of a partition have to acknowledge a request, each as its durability class says, before its client is
/// answered (Ambry, section 2.2.3). All that are reachable get it in any case.
///
/// | policy | of 3 replicas | an acknowledged blob survives the loss of |
/// |---|---|---|
/// | `one` | 1 | no disk, until replication has copied it |
/// | a number k (default 2) | k | k - 1 disks |
/// | `majority` | 2 | 1 disk |
/// | `all` | 3 | 2 disks; no put succeeds while a replica is away |
///
/// What happens to one replica is its class: see [`crate::Durability`]. A server alone has one replica of each blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// One.
    One,
    /// So many; a partition with fewer replicas does not do.
    K(u8),
    /// More than half of them.
    Majority,
    /// All of them.
    All,
}

impl Default for Policy {
    fn default() -> Self {
        Policy::K(2)
    }
}

impl Policy {
    /// How many of `replicas` have to acknowledge. More than there are: the partition does not do.
    pub fn acknowledgements(self, replicas: usize) -> usize {
        match self {
            Policy::One => 1,
            Policy::K(k) => usize::from(k.max(1)),
            Policy::Majority => majority(replicas),
            Policy::All => replicas.max(1),
        }
    }

    /// The same of deletes, undeletes and TTL updates: a majority at least, so that a later one which asks enough replicas first
    /// learns of it. Two that do not know of each other would both be the newest.
    pub fn lifecycle_acknowledgements(self, replicas: usize) -> usize {
        self.acknowledgements(replicas).max(majority(replicas))
    }
}

fn majority(replicas: usize) -> usize {
    replicas / 2 + 1
}

/// A text that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy {0:?}: `one`, `majority`, `all` or a number from 1 to 255 are allowed")]
pub struct InvalidPolicy(String);

impl FromStr for Policy {
    type Err = InvalidPolicy;

    fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
        match text {
            "one" => Ok(Policy::One),
            "majority" => Ok(Policy::Majority),
            "all" => Ok(Policy::All),
            number => match number.parse() {
                Ok(k) if k > 0 => Ok(Policy::K(k)),
                _ => Err(InvalidPolicy(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::One => f.write_str("one"),
            Policy::K(k) => write!(f, "{k}"),
            Policy::Majority => f.write_str("majority"),
            Policy::All => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements() {
        let of = |policy: Policy| [1, 2, 3, 4, 5].map(|n| policy.acknowledgements(n));
        assert_eq!(of(Policy::One), [1, 1, 1, 1, 1]);
        assert_eq!(of(Policy::default()), [2, 2, 2, 2, 2]);
        assert_eq!(of(Policy::Majority), [1, 2, 2, 3, 3]);
        assert_eq!(of(Policy::All), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn text_and_back() {
        for policy in [Policy::One, Policy::K(3), Policy::Majority, Policy::All] {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        for wrong in ["", "0", "256", "-1", "One", "quorum"] {
            let error = wrong.parse::<Policy>().unwrap_err().to_string();
            assert!(error.contains("`majority`"), "{error}");
        }
    }
}
