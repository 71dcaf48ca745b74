//! Messages that the broker has not been told about yet, by their packet identifiers.
//!
//! # Invariants
//! - An identifier is acknowledged once for each time that it came, on the connection on which it came.
//! - A message that came again while it was here is the one that is here: the broker may use its identifier for nothing else
//!   before it is acknowledged (MQTT 3.1.1, 2.3.1), and says with DUP that it sends it again (3.3.1.1). What it contains is
//!   compared too, for brokers that send again without a new connection: such a message may cross its acknowledgement, and the
//!   identifier may have gone to another one since.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A message as the broker sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Its identifier in the session; 0 with QoS 0, which is never acknowledged.
    pub(crate) packet: u16,
    /// Whether the broker says that it sends it again.
    pub(crate) again: bool,
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Unacknowledged {
    /// By their numbers here, which say in which order they came.
    messages: BTreeMap<u64, Sent>,
    numbers: HashMap<u16, u64>,
    connection: u64,
}

#[derive(Debug)]
struct Sent {
    packet: u16,
    content: u64,
    /// The last connection on which it came.
    connection: u64,
}

impl Unacknowledged {
    /// Another connection begins; the broker says whether it still knows the session.
    pub(crate) fn connected(&mut self, is_same_session: bool) {
        self.connection += 1;
        if !is_same_session {
            // Identifiers begin anew: those that are here belong to nothing any more.
            self.messages.clear();
            self.numbers.clear();
        }
    }

    /// Notes what came, under this number. False if it is here already.
    pub(crate) fn is_new(&mut self, delivery: &Delivery, number: u64) -> bool {
        if delivery.packet == 0 {
            return true;
        }
        let (content, connection) = (content_of(delivery), self.connection);
        if let Some(known) = self.numbers.get(&delivery.packet).copied() {
            match self.messages.get_mut(&known) {
                Some(sent) if delivery.again && sent.content == content => {
                    sent.connection = connection;
                    return false;
                }
                _ => {
                    self.messages.remove(&known);
                }
            }
        }
        self.numbers.insert(delivery.packet, number);
        self.messages.insert(number, Sent { packet: delivery.packet, content, connection });
        true
    }

    /// Identifiers that may be acknowledged if everything up to this number is safe, in the order of their messages (MQTT 3.1.1,
    /// 4.6). Each is given once.
    pub(crate) fn due(&mut self, safe: u64) -> Vec<u16> {
        let here = self.messages.range(..=safe).filter(|(_, sent)| {
            // The others come again.
            sent.connection == self.connection
        });
        let due: Vec<(u64, u16)> = here.map(|(number, sent)| (*number, sent.packet)).collect();
        for (number, packet) in &due {
            self.messages.remove(number);
            self.numbers.remove(packet);
        }
        due.into_iter().map(|(_, packet)| packet).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }
}

fn content_of(delivery: &Delivery) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&delivery.topic, &delivery.payload).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(packet: u16, again: bool, payload: &str) -> Delivery {
        Delivery { packet, again, topic: "t".to_owned(), payload: payload.into() }
    }

    #[test]
    fn what_is_safe_is_acknowledged_once_and_in_order() {
        let mut sent = Unacknowledged::default();
        sent.connected(false);
        for (number, packet) in [(1, 7), (2, 3), (4, 9)] {
            assert!(sent.is_new(&message(packet, false, "x"), number));
        }
        assert!(sent.is_new(&message(0, false, "x"), 3));
        assert_eq!(sent.due(0), []);
        assert_eq!(sent.due(3), [7, 3]);
        assert_eq!((sent.due(3), sent.len()), (vec![], 1));
        assert_eq!(sent.due(9), [9]);
    }

    #[test]
    fn a_message_that_comes_again_is_not_another_one() {
        let mut sent = Unacknowledged::default();
        sent.connected(false);
        assert!(sent.is_new(&message(1, false, "a"), 1));
        assert!(sent.is_new(&message(2, false, "b"), 2));
        sent.connected(true);
        assert_eq!(sent.due(2), [], "before the broker has sent it again");
        assert!(!sent.is_new(&message(1, true, "a"), 3));
        assert_eq!(sent.due(2), [1]);
        // The broker got that: the identifier is free, and the next message has it.
        assert!(sent.is_new(&message(1, false, "a"), 4));
        assert_eq!(sent.due(3), []);
        assert_eq!(sent.due(4), [1]);
    }

    #[test]
    fn an_identifier_of_another_session_is_nobody_s() {
        let mut sent = Unacknowledged::default();
        sent.connected(false);
        assert!(sent.is_new(&message(1, false, "a"), 1));
        sent.connected(false);
        assert_eq!((sent.due(1), sent.len()), (vec![], 0));
        assert!(sent.is_new(&message(1, false, "b"), 2));
        assert_eq!(sent.due(1), [], "the first one is safe, not this one");
        assert_eq!(sent.due(2), [1]);
    }

    /// A broker that sends again by the clock: the copy crosses the acknowledgement, then the identifier is another message's.
    #[test]
    fn an_identifier_that_has_another_message_is_that_one_s() {
        let mut sent = Unacknowledged::default();
        sent.connected(false);
        assert!(sent.is_new(&message(1, false, "a"), 1));
        assert_eq!(sent.due(1), [1]);
        assert!(sent.is_new(&message(1, true, "a"), 2), "which cannot be known any more");
        assert!(sent.is_new(&message(1, false, "b"), 3));
        assert_eq!(sent.due(2), [], "the copy's is gone");
        sent.connected(true);
        assert!(sent.is_new(&message(1, true, "c"), 4), "as is that of what was never read");
        assert_eq!(sent.due(3), []);
        assert_eq!(sent.due(4), [1]);
    }
}
