//! What happened, line by line.

use std::collections::VecDeque;
use std::fmt::{Arguments, Write as _};
use std::time::Duration;

/// How many lines about what is looked for are kept.
const KEPT_LINES: usize = 60;

/// Lines of what happened: counted and hashed, so that two runs can be compared; and kept or printed, if somebody wants that.
/// A silent one costs nothing: a run that fails is run again with one that is not.
#[derive(Debug, Default)]
pub struct Trace {
    is_silent: bool,
    prints: bool,
    /// Lines with one of these texts are kept.
    wanted: Vec<String>,
    kept: VecDeque<String>,
    hash: u64,
    lines: u64,
    line: String,
}

impl Trace {
    /// Nothing is noted.
    pub fn silent() -> Self {
        Trace { is_silent: true, ..Trace::default() }
    }

    /// Lines are counted and hashed.
    pub fn hashed() -> Self {
        Trace { hash: 0xcbf2_9ce4_8422_2325, ..Trace::default() }
    }

    /// They are printed, too, to the standard output.
    pub fn printed() -> Self {
        Trace { prints: true, ..Trace::hashed() }
    }

    /// The last lines with one of these texts are kept.
    pub fn about(texts: Vec<String>) -> Self {
        Trace { wanted: texts, ..Trace::hashed() }
    }

    /// Something happened at this time.
    pub fn note(&mut self, at: Duration, what: Arguments<'_>) {
        if self.is_silent {
            return;
        }
        self.line.clear();
        let (seconds, micros) = (at.as_secs(), at.subsec_micros());
        // Writing to a string never fails.
        let _ = write!(self.line, "{seconds:>4}.{micros:06} {what}");
        self.lines += 1;
        for byte in self.line.bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if self.prints {
            println!("{}", self.line);
        }
        if self.wanted.iter().any(|wanted| self.line.contains(wanted.as_str())) {
            if self.kept.len() == KEPT_LINES {
                self.kept.pop_front();
            }
            self.kept.push_back(self.line.clone());
        }
    }

    /// The hash of all lines.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// How many there were.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Those that were kept.
    pub fn into_kept(self) -> Vec<String> {
        self.kept.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_have_another_hash_and_the_last_wanted_ones_are_kept() {
        let noted = |mut trace: Trace, last: u64| {
            for number in 0..=last {
                trace.note(Duration::from_micros(number), format_args!("blob {}", number % 7));
            }
            trace
        };
        let hashed = |last| noted(Trace::hashed(), last).hash();
        assert_eq!(hashed(1000), hashed(1000));
        assert_ne!(hashed(1000), hashed(1001));
        assert_eq!(noted(Trace::hashed(), 1000).lines(), 1001);
        let kept = noted(Trace::about(vec!["blob 3".to_owned()]), 1000).into_kept();
        assert_eq!((kept.len(), kept[59].as_str()), (KEPT_LINES, "   0.000997 blob 3"));
        assert_eq!(noted(Trace::silent(), 9).lines(), 0);
    }
}
