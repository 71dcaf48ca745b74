//! Whether a broker is surely there still, after a time in which nothing was read from it.
//!
//! While nothing is read, the client sends no pings either, and the broker gives it up when it has heard nothing for one and a half
//! times the keep-alive (MQTT 3.1.1, 3.1.2.10). What had come before is read first; who only writes does not learn of the end. An
//! acknowledgement that is written then is lost, and its message comes again as a new one. So **after a long pause, nothing is
//! acknowledged before the broker has answered a ping that was sent since.** If it does not, the connection ends, and what comes
//! again on the next one is known.

use std::time::{Duration, Instant};

use crate::client::KEEP_ALIVE;

/// The last ping is one keep-alive old at most: with half of one more, the broker may have given up.
const LONG: Duration = Duration::from_secs(KEEP_ALIVE.as_secs() / 2);

/// See the module. Of one connection.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    since: Option<Instant>,
    /// There was a long one, and no answer since.
    is_doubtful: bool,
    is_asked: bool,
}

impl Pause {
    /// Whether something is read from now on.
    pub(crate) fn reads(&mut self, now: Instant, reads: bool) {
        if !reads {
            self.since.get_or_insert(now);
        } else if self.is_long(now) {
            (self.is_doubtful, self.is_asked) = (true, false);
        }
        if reads {
            self.since = None;
        }
    }

    /// A ping was sent.
    pub(crate) fn asked(&mut self) {
        self.is_asked = true;
    }

    /// The broker has answered one.
    pub(crate) fn answered(&mut self) {
        // Not that of before, which had been on its way.
        self.is_doubtful &= !self.is_asked;
    }

    /// Since when nothing is read.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Whether the broker may have given the connection up.
    pub(crate) fn is_doubtful(&self, now: Instant) -> bool {
        self.is_doubtful || self.is_long(now)
    }

    fn is_long(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| now.duration_since(since) >= LONG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pause_makes_doubts_until_a_new_ping_is_answered() {
        let (mut pause, start) = (Pause::default(), Instant::now());
        pause.reads(start, false);
        pause.reads(start + LONG / 2, false);
        assert!(!pause.is_doubtful(start + LONG / 2));
        pause.reads(start + LONG / 2, true);
        assert!(!pause.is_doubtful(start + 2 * LONG), "a short one makes none");
        pause.asked();
        pause.reads(start, false);
        assert!(pause.is_doubtful(start + LONG), "while it lasts");
        pause.reads(start + LONG, true);
        assert_eq!(pause.since(), None);
        // To the ping of before.
        pause.answered();
        assert!(pause.is_doubtful(start + LONG));
        pause.asked();
        assert!(pause.is_doubtful(start + LONG));
        pause.answered();
        assert!(!pause.is_doubtful(start + LONG));
    }
}
