//! The rules that keep blobs safe. A server keeps all of them; a simulation leaves out one to see that it finds what then
//! goes wrong.

macro_rules! rules {
    ($($(#[$comment:meta])* $rule:ident,)*) => {
        /// Which rules are kept. All are, by default.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Rules {
            $($(#[$comment])* pub $rule: bool,)*
        }

        impl Default for Rules {
            fn default() -> Self {
                Rules { $($rule: true,)* }
            }
        }

        impl Rules {
            /// Their names, for [`Rules::without`].
            pub const NAMES: &[&str] = &[$(stringify!($rule),)*];

            /// All but the one with this name. Words may be joined by `-` or by `_`.
            pub fn without(name: &str) -> Result<Self, UnknownRule> {
                let mut rules = Rules::default();
                match name.replace('-', "_").as_str() {
                    $(stringify!($rule) => rules.$rule = false,)*
                    _ => return Err(UnknownRule(name.to_owned())),
                }
                Ok(rules)
            }
        }
    };
}

rules! {
    /// What a token stands for is synced before the token is saved. Without: a loss of power takes records which nobody will
    /// ask for again.
    sync_before_token,
    /// A token below the horizon of its source's tombstones is answered with a full comparison. Without: what was deleted
    /// while a replica was away comes back.
    horizon,
    /// The coordinator stamps time and life of a write, once. Without: replicas do, and differ.
    stamp,
    /// Tokens name the log that they are of, and the last record. Without: they are bare numbers, and hold for another log,
    /// too: that of a disk which was replaced.
    incarnation,
    /// Tokens name the epoch of the log that they are of, and each opening of a log begins another one. Without: a log that was
    /// put back to an older state and has grown again is taken for the same.
    epoch,
    /// Tokens of logs that a node had before it lost its disk, or behind which it was put back, are kept. Without: of a backup from
    /// before that, all counts as new, and what was deleted since comes back.
    former,
    /// A replica that was put back notes which states of its log are lost, and is not in doubt because of them again when the others
    /// were heard. Without: it is, at its next start; and when all are in doubt at once, nobody knows what was deleted.
    settled,
    /// What another replica has forgotten is answered by the log that was compared, and by no other one. Without: an empty disk
    /// that has taken its place meanwhile knows of nothing, and blobs that nobody deleted are.
    same_log,
    /// Damaged blobs are fetched from peers and written again. Without: they stay as they are until the last copy is gone.
    supersede,
    /// A write that comes after its deadline is refused. Without: a put that was on its way for longer than its tombstone
    /// lived brings the blob back.
    deadline,
    /// What was acknowledged at `fast` is synced within a bounded time. Without: it is when something else is, and a loss of power
    /// takes whatever was written before, however long ago.
    flush,
    /// Tombstones stay until every replica has passed them. Without: they go as soon as they are old, and a replica that
    /// was away for longer keeps the blob.
    passed,
}

/// A name that no rule has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {0:?}: there are {names}", names = Rules::NAMES.join(", "))]
pub struct UnknownRule(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_can_be_left_out_by_its_name() {
        for name in Rules::NAMES {
            assert_ne!(Rules::without(name).unwrap(), Rules::default(), "{name}");
        }
        assert!(!Rules::without("sync-before-token").unwrap().sync_before_token);
        let error = Rules::without("none").unwrap_err().to_string();
        assert!(error.contains("horizon"), "{error}");
    }
}
