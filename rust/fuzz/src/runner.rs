//! Runs a target without the help of a compiler: changes inputs that led to different outcomes.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Target;
use crate::mutate::{Random, mutate};

/// Inputs that are kept; the oldest of those that were found go first.
const CORPUS_MAX: usize = 2000;

/// An input for which a target panics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The input.
    pub input: Vec<u8>,
    /// What the panic said.
    pub message: String,
}

/// Runs one target.
#[derive(Debug)]
pub struct Runner {
    target: Target,
    random: Random,
    seeds: Vec<Vec<u8>>,
    found: VecDeque<Vec<u8>>,
    outcomes: HashSet<String>,
    /// Inputs that were run.
    pub runs: u64,
}

impl Runner {
    /// The same `seed` makes the same inputs, in the same order.
    pub fn new(target: Target, seed: u64) -> Self {
        Runner {
            target,
            random: Random(seed),
            seeds: (target.seeds)(),
            found: VecDeque::new(),
            outcomes: HashSet::new(),
            runs: 0,
        }
    }

    /// Different outcomes so far.
    pub fn outcomes(&self) -> usize {
        self.outcomes.len()
    }

    /// Runs all files of a folder, as they are, and keeps them to begin with. How many there were.
    pub fn replay(&mut self, folder: &Path) -> Result<usize, Finding> {
        let Ok(files) = std::fs::read_dir(folder) else {
            return Ok(0);
        };
        let mut count = 0;
        for file in files.flatten() {
            if let Ok(input) = std::fs::read(file.path()) {
                self.run(&input)?;
                self.seeds.push(input);
                count += 1;
            }
        }
        Ok(count)
    }

    /// Runs the seeds, then changed inputs for so long.
    pub fn run_for(&mut self, duration: Duration) -> Result<(), Finding> {
        for seed in self.seeds.clone() {
            self.run(&seed)?;
        }
        let began = Instant::now();
        while began.elapsed() < duration {
            for _ in 0..64 {
                self.step()?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Finding> {
        let mut input = self.pick();
        let other = self.pick();
        mutate(&mut input, &other, &mut self.random);
        if self.run(&input)? {
            self.found.push_back(input);
            if self.found.len() > CORPUS_MAX {
                self.found.pop_front();
            }
        }
        Ok(())
    }

    fn pick(&mut self) -> Vec<u8> {
        let at = self.random.below(self.seeds.len() + self.found.len());
        let found = at.checked_sub(self.seeds.len()).and_then(|at| self.found.get(at));
        found.or(self.seeds.get(at)).cloned().unwrap_or_default()
    }

    /// Whether the outcome is new.
    fn run(&mut self, input: &[u8]) -> Result<bool, Finding> {
        self.runs += 1;
        match catch_unwind(AssertUnwindSafe(|| (self.target.run)(input))) {
            Ok(outcome) => Ok(self.outcomes.len() < CORPUS_MAX && self.is_new(&outcome)),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied());
                let message = text.unwrap_or("a panic without a text").to_owned();
                Err(Finding { input: self.shrunk(input), message })
            }
        }
    }

    /// Numbers differ from input to input and say nothing.
    fn is_new(&mut self, outcome: &str) -> bool {
        let kind: String = outcome.chars().filter(|c| !c.is_ascii_digit()).take(80).collect();
        self.outcomes.insert(kind)
    }

    /// The input without pieces that the panic does not need.
    fn shrunk(&self, input: &[u8]) -> Vec<u8> {
        let panics =
            |input: &[u8]| catch_unwind(AssertUnwindSafe(|| (self.target.run)(input))).is_err();
        let mut input = input.to_vec();
        let mut piece = input.len() / 2;
        while piece > 0 {
            let mut at = 0;
            while at < input.len() {
                let mut less = input.clone();
                less.drain(at..(at + piece).min(less.len()));
                if panics(&less) {
                    input = less;
                } else {
                    at += piece;
                }
            }
            piece /= 2;
        }
        input
    }
}

/// Does `work` without the reports of panics, which are expected there. Of all threads: call it once for all.
pub fn quiet<T>(work: impl FnOnce() -> T) -> T {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = work();
    std::panic::set_hook(before);
    done
}
