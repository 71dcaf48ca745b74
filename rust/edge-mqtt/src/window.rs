//! How many messages a broker sends before it waits for acknowledgements: its own settings say so, and MQTT 3.1.1 does not tell.
//!
//! Acknowledgements follow commits, and commits wait for more rows to be written with. A broker that waits sends no more rows. So
//! it is learned: **if nothing had come for a while, with as many messages unacknowledged as there have ever been, and the next
//! one comes at once when they are acknowledged, then the broker waits with so many.** Being wrong means some commits more, or
//! some messages fewer in a second; nothing else depends on it.

use std::time::{Duration, Instant};

/// What is silence.
const SILENCE: Duration = Duration::from_millis(200);
/// What is at once.
const AT_ONCE: Duration = Duration::from_millis(50);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Window {
    most: usize,
    is_known: bool,
    last: Option<Instant>,
    /// When all that there ever were at once were acknowledged, after a silence.
    released: Option<Instant>,
}

impl Window {
    /// A message came at this time, and as many wait now.
    pub(crate) fn came(&mut self, now: Instant, waiting: usize) {
        if let Some(released) = self.released.take() {
            self.is_known |= now.duration_since(released) <= AT_ONCE;
        }
        if waiting > self.most {
            (self.most, self.is_known) = (waiting, false);
        }
        self.last = Some(now);
    }

    /// So many are acknowledged at this time.
    pub(crate) fn acknowledged(&mut self, now: Instant, count: usize) {
        let silence = self.last.map(|last| now.duration_since(last));
        let is_all = count > 0 && count == self.most;
        self.released = (is_all && silence >= Some(SILENCE)).then_some(now);
    }

    /// Whether the broker waits, with so many.
    pub(crate) fn is_full(&self, waiting: usize) -> bool {
        self.is_known && waiting >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_broker_that_waits_is_known_by_what_comes_then() {
        let (mut window, start) = (Window::default(), Instant::now());
        (1..=20).for_each(|waiting| window.came(start, waiting));
        assert!(!window.is_full(20));
        window.acknowledged(start + 1000 * MS, 20);
        window.came(start + 1001 * MS, 1);
        assert!(window.is_full(20) && !window.is_full(19));
        // It has sent more without: it did not wait.
        (2..=21).for_each(|waiting| window.came(start + 1002 * MS, waiting));
        assert!(!window.is_full(21));
    }

    #[test]
    fn a_sensor_that_is_slow_is_no_broker_that_waits() {
        let (mut window, start) = (Window::default(), Instant::now());
        for second in 0..9 {
            window.came(start + second * 1000 * MS, 1);
            window.acknowledged(start + (second * 1000 + 500) * MS, 1);
            assert!(!window.is_full(1));
        }
        // Nor one that sends without a pause.
        let start = start + 9000 * MS;
        for step in 0..9 {
            window.came(start + step * 10 * MS, 2);
            window.acknowledged(start + (step * 10 + 5) * MS, 2);
            assert!(!window.is_full(2));
        }
    }
}
