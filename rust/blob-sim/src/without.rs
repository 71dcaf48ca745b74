//! Controls: what is left out must be found out.

use afterbay_blob_cluster::{Rules, UnknownRule};
use afterbay_blob_store::SyncPoint;

/// Syncs that are left out, by the name of the rule.
const SYNCS: &[(&str, SyncPoint)] = &[("sync_before_acknowledgement", SyncPoint::Commit)];

/// What nodes hold to.
#[derive(Debug, Clone)]
pub struct Without {
    name: Option<String>,
    pub(crate) rules: Rules,
    pub(crate) ignored: Option<SyncPoint>,
}

impl Without {
    /// Nothing is left out.
    pub fn nothing() -> Self {
        Without { name: None, rules: Rules::default(), ignored: None }
    }

    /// A rule is left out.
    pub fn rule(name: &str) -> Result<Self, UnknownRule> {
        let (name, plain) = (Some(name.to_owned()), name.replace('-', "_"));
        match SYNCS.iter().find(|(sync, _)| *sync == plain) {
            Some(&(_, point)) => {
                Ok(Without { name, rules: Rules::default(), ignored: Some(point) })
            }
            None => Ok(Without { name, rules: Rules::without(&plain)?, ignored: None }),
        }
    }

    /// The names of all rules.
    pub fn names() -> Vec<&'static str> {
        Rules::NAMES.iter().copied().chain(SYNCS.iter().map(|(name, _)| *name)).collect()
    }

    /// The rule that is left out.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}
