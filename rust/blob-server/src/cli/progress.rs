//! How far a transfer is, for people who watch.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::values::show_bytes;

const PERIOD: Duration = Duration::from_millis(200);

/// A line on the standard error, if that is a terminal. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Progress(Option<Arc<Mutex<Line>>>);

#[derive(Debug)]
struct Line {
    what: String,
    total: Option<u64>,
    done: u64,
    began: Instant,
    shown: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(what: &str, total: Option<u64>, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let (what, began) = (what.to_owned(), Instant::now());
        Progress(Some(Arc::new(Mutex::new(Line { what, total, done: 0, began, shown: None }))))
    }

    /// Of what nobody watches.
    pub(crate) fn none() -> Self {
        Progress(None)
    }

    pub(crate) fn add(&self, bytes: u64) {
        let Some(line) = &self.0 else {
            return;
        };
        let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
        line.done += bytes;
        if line.shown.is_none_or(|shown| shown.elapsed() >= PERIOD) {
            line.shown = Some(Instant::now());
            line.show();
        }
    }

    /// There is more to do than was said before.
    pub(crate) fn expect(&self, bytes: u64) {
        if let Some(line) = &self.0 {
            let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
            line.total = Some(line.total.unwrap_or(0) + bytes);
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if self.0.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Line {
    fn show(&self) {
        // Who does not see it misses nothing.
        let _ = write!(std::io::stderr(), "\r\x1b[K{}", self.text(self.began.elapsed()));
    }

    fn text(&self, elapsed: Duration) -> String {
        let rate = self.done as f64 / elapsed.as_secs_f64().max(0.001);
        let rate = show_bytes(rate as u64);
        match self.total {
            Some(total) if total > 0 => {
                let percent = self.done.saturating_mul(100) / total;
                let bar = (percent / 5).min(20) as usize;
                format!(
                    "{} [{}{}] {percent:3} %  {} of {}  {rate}/s",
                    self.what,
                    "=".repeat(bar),
                    " ".repeat(20 - bar),
                    show_bytes(self.done),
                    show_bytes(total)
                )
            }
            _ => format!("{} {}  {rate}/s", self.what, show_bytes(self.done)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let mut line = Line {
            what: "photo".to_owned(),
            total: Some(4 << 20),
            done: 1 << 20,
            began: Instant::now(),
            shown: None,
        };
        let text = line.text(Duration::from_secs(2));
        assert_eq!(text, "photo [=====               ]  25 %  1.0 MiB of 4.0 MiB  512.0 KiB/s");
        line.total = None;
        assert_eq!(line.text(Duration::from_secs(1)), "photo 1.0 MiB  1.0 MiB/s");
    }
}
