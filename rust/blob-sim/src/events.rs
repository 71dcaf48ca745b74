//! What is to happen, in the order of simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Events by the time at which they happen, counted from the begin of the simulation; those of one moment in the order in
/// which they were added. Time passes when an event is taken, and only then.
#[derive(Debug)]
pub(crate) struct Events<E> {
    now: Duration,
    added: u64,
    queue: BinaryHeap<Reverse<Entry<E>>>,
}

#[derive(Debug)]
struct Entry<E> {
    at: Duration,
    number: u64,
    event: E,
}

impl<E> Events<E> {
    /// None, at the begin.
    pub(crate) fn new() -> Self {
        Events { now: Duration::ZERO, added: 0, queue: BinaryHeap::new() }
    }

    /// The time.
    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// Adds what happens `after` from now on.
    pub(crate) fn add(&mut self, after: Duration, event: E) {
        self.add_at(self.now.saturating_add(after), event);
    }

    /// Adds what happens at this time, or now if that is over.
    pub(crate) fn add_at(&mut self, at: Duration, event: E) {
        let number = self.added;
        self.added += 1;
        self.queue.push(Reverse(Entry { at: at.max(self.now), number, event }));
    }

    /// Takes the next event; it is its time then.
    pub(crate) fn next(&mut self) -> Option<E> {
        let Reverse(entry) = self.queue.pop()?;
        self.now = entry.at;
        Some(entry.event)
    }
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Events::new()
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_the_order_in_which_they_were_added() {
        let ms = Duration::from_millis;
        let mut events = Events::new();
        events.add(ms(5), 'b');
        events.add(ms(1), 'a');
        events.add(ms(5), 'c');
        assert_eq!((events.next(), events.now()), (Some('a'), ms(1)));
        events.add(ms(4), 'd');
        events.add_at(ms(0), 'e');
        let rest: String = std::iter::from_fn(|| events.next()).collect();
        assert_eq!(rest, "ebcd");
        assert_eq!(events.now(), ms(5));
    }
}
