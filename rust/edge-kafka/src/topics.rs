//! What a topic has to be, so that nothing is lost and nothing blocks for ever.

use std::collections::BTreeMap;

/// Bytes that a topic has to take in one message.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 1_000_000;

/// What a topic is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Records, of which the last one of each key counts.
    Progress,
    /// Rows, in so many partitions at least.
    Rows(u32),
}

impl Use {
    pub(crate) fn partitions(self) -> u32 {
        match self {
            Self::Progress => 1,
            Self::Rows(partitions) => partitions,
        }
    }

    /// How a new topic is made, in a cluster of so many brokers: copies, and its configuration.
    pub(crate) fn new_topic(self, brokers: usize) -> (i32, Vec<(&'static str, String)>) {
        let copies = brokers.clamp(1, 3);
        let mut config = vec![
            // A commit is acknowledged by two brokers at least, if one of three may be away.
            ("min.insync.replicas", if copies == 3 { "2" } else { "1" }.to_owned()),
            ("unclean.leader.election.enable", "false".to_owned()),
            ("max.message.bytes", "1048588".to_owned()),
        ];
        if self == Self::Progress {
            config.push(("cleanup.policy", "compact".to_owned()));
        }
        (copies as i32, config)
    }
}

/// A topic that is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) partitions: usize,
    /// The fewest copies of a partition.
    pub(crate) copies: usize,
    /// Empty if nobody could be asked.
    pub(crate) config: BTreeMap<String, String>,
}

impl Topic {
    /// Why it is of no use, and what to do.
    pub(crate) fn fault(&self, usage: Use, bootstrap: &str) -> Option<String> {
        let Self { name, partitions, copies, .. } = self;
        let alter = |setting: &str| {
            format!(
                "'kafka-configs.sh --bootstrap-server {bootstrap} --alter --entity-type topics --entity-name {name} --add-config {setting}' changes it"
            )
        };
        let needed = usage.partitions();
        match usage {
            Use::Progress if *partitions != 1 => {
                return Some(format!(
                    "it has {partitions} partitions, and one is needed, in which records have one order: give another --topic-prefix, or, if no gateway has ever written to it, delete it"
                ));
            }
            Use::Rows(_) if *partitions < needed as usize => {
                return Some(format!(
                    "it has {partitions} partitions, and --partitions says {needed}: 'kafka-topics.sh --bootstrap-server {bootstrap} --alter --topic {name} --partitions {needed}' makes more, or give fewer"
                ));
            }
            _ => {}
        }
        let text = |key: &str| self.config.get(key).map(String::as_str);
        let number = |key: &str| text(key).and_then(|text| text.parse::<u64>().ok());
        let policy = text("cleanup.policy");
        match (usage, policy) {
            (Use::Progress, Some(policy)) if policy != "compact" => {
                return Some(format!(
                    "its cleanup.policy is {policy}: after a while, Kafka would delete how far sites are, and rows would come again; {}",
                    alter("cleanup.policy=compact")
                ));
            }
            (Use::Rows(_), Some(policy)) if policy.contains("compact") => {
                return Some(format!(
                    "its cleanup.policy is {policy}, and rows have no keys: Kafka takes none of them; {}",
                    alter("cleanup.policy=delete")
                ));
            }
            _ => {}
        }
        let insync = number("min.insync.replicas");
        if let Some(insync) = insync.filter(|insync| *insync > *copies as u64) {
            return Some(format!(
                "its min.insync.replicas is {insync}, and it has {copies} copies: nothing can ever be written; {}",
                alter(&format!("min.insync.replicas={}", copies.saturating_sub(1).max(1)))
            ));
        }
        if text("unclean.leader.election.enable") == Some("true") {
            return Some(format!(
                "its unclean.leader.election.enable is true: a broker that has less may take over; {}",
                alter("unclean.leader.election.enable=false")
            ));
        }
        let bytes = number("max.message.bytes");
        if let Some(bytes) = bytes.filter(|bytes| *bytes < MESSAGE_BYTES_MAX) {
            return Some(format!(
                "its max.message.bytes is {bytes}, and a gateway writes {MESSAGE_BYTES_MAX}; {}",
                alter("max.message.bytes=1048588")
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(partitions: usize, copies: usize, config: &[(&str, &str)]) -> Topic {
        let config = config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Topic { name: "t".to_owned(), partitions, copies, config: config.collect() }
    }

    #[test]
    fn what_blocks_or_forgets_is_named_with_what_mends_it() {
        let compact = ("cleanup.policy", "compact");
        let cases = [
            (Use::Progress, topic(3, 1, &[]), "it has 3 partitions, and one is needed"),
            (
                Use::Progress,
                topic(1, 1, &[("cleanup.policy", "delete")]),
                "cleanup.policy=compact'",
            ),
            (
                Use::Progress,
                topic(1, 1, &[("cleanup.policy", "compact,delete")]),
                "its cleanup.policy is compact,delete",
            ),
            (
                Use::Progress,
                topic(1, 1, &[compact, ("min.insync.replicas", "2")]),
                "nothing can ever be written; 'kafka-configs.sh --bootstrap-server b:1",
            ),
            (
                Use::Rows(1),
                topic(1, 3, &[("unclean.leader.election.enable", "true")]),
                "unclean.leader.election.enable=false'",
            ),
            (Use::Rows(4), topic(3, 1, &[]), "--alter --topic t --partitions 4'"),
            (Use::Rows(1), topic(1, 1, &[compact]), "Kafka takes none of them"),
            (Use::Rows(1), topic(1, 1, &[("max.message.bytes", "999999")]), "writes 1000000"),
        ];
        for (usage, topic, what) in cases {
            let fault = topic.fault(usage, "b:1").unwrap_or_default();
            assert!(fault.contains(what), "{topic:?}: {fault}");
        }
        // Kafka's default; how many brokers have what is acknowledged is for its users to say.
        let usual = topic(1, 3, &[compact, ("min.insync.replicas", "1")]);
        assert_eq!(usual.fault(Use::Progress, "b:1"), None);
    }

    #[test]
    fn what_is_made_is_right() {
        for brokers in [0, 1, 2, 3, 9] {
            for usage in [Use::Progress, Use::Rows(4)] {
                let (copies, config) = usage.new_topic(brokers);
                let config: Vec<_> = config.iter().map(|(k, v)| (*k, v.as_str())).collect();
                let made = topic(usage.partitions() as usize, copies as usize, &config);
                assert_eq!(made.fault(usage, ""), None, "{brokers} brokers: {made:?}");
                assert_eq!(made.copies, brokers.clamp(1, 3));
            }
        }
    }
}
