//! Messages of ours that the broker does not have yet, in their order.
//!
//! ```text
//!   front [ named: with an identifier on this connection | handed to the client | waits ] back
//! ```
//!
//! # Invariants
//! - A message goes when the broker has it, or will never take it; whatever ends, it stays until then.
//! - Messages are handed over in their order on each connection, from the first one that is here.
//! - Identifiers are of one connection: the client says them in the order in which it sends.

use std::collections::VecDeque;

use crate::client::SENT_MAX;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    number: u64,
    payload: Vec<u8>,
    /// On this connection; 0 if it has none.
    packet: u16,
    /// Whether the broker may have it.
    was_sent: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Unpublished {
    messages: VecDeque<Message>,
    bytes: usize,
    /// Of them, from the front: given to the client of this connection.
    handed: usize,
    /// Of those, from the front: sent.
    named: usize,
    /// The number behind the last message that was put.
    end: u64,
}

impl Unpublished {
    /// Messages, and their bytes.
    pub(crate) fn len(&self) -> (usize, usize) {
        (self.messages.len(), self.bytes)
    }

    /// Behind all others; numbers grow.
    pub(crate) fn put(&mut self, number: u64, payload: Vec<u8>, was_sent: bool) {
        self.bytes += payload.len();
        self.end = number + 1;
        self.messages.push_back(Message { number, payload, packet: 0, was_sent });
    }

    /// Every message in front of this number is done with.
    pub(crate) fn done(&self) -> u64 {
        self.messages.front().map_or(self.end, |first| first.number)
    }

    /// Messages that the client has, and the broker has not acknowledged.
    pub(crate) fn handed(&self) -> usize {
        self.handed
    }

    /// Whether the broker may have one of them.
    pub(crate) fn may_be_there(&self) -> bool {
        self.handed > 0 || self.messages.iter().any(|message| message.was_sent)
    }

    /// The next one for the client, if it may have more.
    pub(crate) fn next(&self) -> Option<&[u8]> {
        if self.handed >= SENT_MAX {
            return None;
        }
        self.messages.get(self.handed).map(|message| message.payload.as_slice())
    }

    /// The client has it.
    pub(crate) fn hand(&mut self) {
        self.handed += 1;
    }

    /// The client has sent the next one of those that it has, with this identifier. True if the broker may have it already.
    pub(crate) fn sent(&mut self, packet: u16) -> bool {
        if self.named >= self.handed {
            return false;
        }
        let Some(message) = self.messages.get_mut(self.named) else { return false };
        message.packet = packet;
        self.named += 1;
        std::mem::replace(&mut message.was_sent, true)
    }

    /// The one with this identifier is done with. False if there is none.
    pub(crate) fn take(&mut self, packet: u16) -> bool {
        let mut named = self.messages.iter().take(self.named);
        let Some(place) = named.position(|message| message.packet == packet) else { return false };
        self.named -= 1;
        self.remove(place);
        true
    }

    /// The one that the client was to send next is done with, and the client sends no others.
    pub(crate) fn take_next(&mut self) -> bool {
        if self.named >= self.handed {
            return false;
        }
        self.remove(self.named);
        self.handed = self.named;
        true
    }

    fn remove(&mut self, place: usize) {
        self.handed -= 1;
        if let Some(message) = self.messages.remove(place) {
            self.bytes -= message.payload.len();
        }
    }

    /// The connection is over: everything that is here has to be sent on the next one.
    pub(crate) fn lost(&mut self) {
        if self.handed > self.named
            && let Some(message) = self.messages.get_mut(self.named)
        {
            // The client may have been about to send it.
            message.was_sent = true;
        }
        self.messages.iter_mut().take(self.named).for_each(|message| message.packet = 0);
        (self.handed, self.named) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand(unpublished: &mut Unpublished) -> Vec<u8> {
        let mut given = Vec::new();
        while let Some(payload) = unpublished.next() {
            given.extend_from_slice(payload);
            unpublished.hand();
        }
        given
    }

    fn with(count: u8) -> Unpublished {
        let mut unpublished = Unpublished::default();
        (0..count).for_each(|number| unpublished.put(number.into(), vec![number], false));
        unpublished
    }

    #[test]
    fn what_is_acknowledged_is_done_with_in_order() {
        let mut unpublished = with(4);
        assert_eq!(hand(&mut unpublished), [0, 1, 2, 3]);
        assert!((1..=3).all(|packet| !unpublished.sent(packet)));
        assert!(!unpublished.take(4), "the client has not sent it");
        assert!(unpublished.take(2));
        assert_eq!((unpublished.done(), unpublished.len()), (0, (3, 3)), "not before the first");
        assert!(!unpublished.take(2), "once");
        assert!(unpublished.take(1));
        assert_eq!((unpublished.done(), unpublished.handed()), (2, 2));
        assert!(!unpublished.sent(4) && unpublished.take(4) && unpublished.take(3));
        assert_eq!((unpublished.done(), unpublished.len()), (4, (0, 0)));
        assert!(!unpublished.may_be_there());
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again_and_counted() {
        let mut unpublished = with(5);
        hand(&mut unpublished);
        assert!((1..=3).all(|packet| !unpublished.sent(packet)));
        assert!(unpublished.take(2));
        unpublished.lost();
        assert!(!unpublished.take(1), "an identifier of before is nobody's");
        assert_eq!(hand(&mut unpublished), [0, 2, 3, 4]);
        let again: Vec<bool> = (1..=4).map(|packet| unpublished.sent(packet)).collect();
        assert_eq!(again, [true, true, true, false], "the third one was about to be sent");
    }

    #[test]
    fn what_a_broker_never_takes_goes() {
        let mut unpublished = with(3);
        hand(&mut unpublished);
        unpublished.sent(1);
        assert!(unpublished.take_next(), "the second one");
        unpublished.lost();
        assert_eq!(hand(&mut unpublished), [0, 2]);
        assert!(unpublished.sent(1) && !unpublished.sent(2));
        assert!(!unpublished.take_next());
    }

    #[test]
    fn not_too_many_are_on_their_way() {
        let mut unpublished = with(u8::MAX);
        assert_eq!(hand(&mut unpublished).len(), SENT_MAX);
        unpublished.sent(1);
        unpublished.take(1);
        assert_eq!(hand(&mut unpublished), [SENT_MAX as u8]);
    }

    #[test]
    fn numbers_may_have_gaps() {
        let mut unpublished = Unpublished::default();
        unpublished.put(7, vec![7], true);
        unpublished.put(9, vec![9], false);
        assert_eq!(unpublished.done(), 7);
        hand(&mut unpublished);
        assert!(unpublished.sent(1) && !unpublished.sent(2));
        unpublished.take(1);
        assert_eq!(unpublished.done(), 9);
        unpublished.take(2);
        assert_eq!(unpublished.done(), 10);
    }
}
