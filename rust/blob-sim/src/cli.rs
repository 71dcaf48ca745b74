//! The command line: `afterbay-blob-sim`, or `./afterbay blob sim`.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use serde_json::{Value, json};

use crate::faults::{FaultCounts, FaultKind};
use crate::report::{command, report};
use crate::run::{Outcome, simulate};
use crate::sweep::{Sweep, sweep};
use crate::trace::Trace;
use crate::without::Without;

/// Arguments, as `clap` reads them.
#[derive(Debug, Parser)]
#[command(
    name = "afterbay blob sim",
    bin_name = "afterbay blob sim",
    version,
    about = "Simulates the blob store on 3 to 9 nodes, with everything that can go wrong drawn from a seed",
    after_help = "Examples:\n  \
        afterbay blob sim --seeds 1000\n  \
        afterbay blob sim --seed 7\n  \
        afterbay blob sim --seed 7 --trace | less\n  \
        afterbay blob sim --seeds 500 --without stamp\n\
        Exit codes: 0 nothing was broken; 1 something was: the seed, what, and the last events of the blob are on the standard error; 2 wrong usage.\n\
        The guide is docs/blob.md."
)]
pub struct Cli {
    /// Simulate this seed, and print its settings
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Simulate so many seeds
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "seed")]
    first: u64,
    /// Print all events, and their hash
    #[arg(long, requires = "seed", conflicts_with = "json")]
    trace: bool,
    /// Leave a rule out, which must be found out: the exit code is 1 then
    #[arg(long, value_name = "RULE", value_parser = rule)]
    without: Option<Without>,
    /// Seeds that are simulated at once; by default one for each processor
    #[arg(long, value_name = "N", conflicts_with = "seed")]
    jobs: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

fn rule(name: &str) -> Result<Without, String> {
    Without::rule(name).map_err(|_| format!("there are {}", Without::names().join(", ")))
}

/// Runs what the arguments of this process say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let without = cli.without.clone().unwrap_or_else(Without::nothing);
    match cli.seed {
        Some(seed) => one(&cli, seed, &without),
        None => many(&cli, &without),
    }
}

fn one(cli: &Cli, seed: u64, without: &Without) -> ExitCode {
    let trace = if cli.trace { Trace::printed() } else { Trace::hashed() };
    let outcome = simulate(seed, without, trace);
    if cli.trace {
        print(&format!("hash {:016x} of {} events", outcome.trace.hash(), outcome.trace.lines()));
    } else if cli.json {
        print(&of_seed(&outcome, without).to_string());
    } else {
        print(&format!("{}\n\n{}", outcome.settings, summary(&outcome)));
    }
    end(outcome.violation.is_some().then_some(&outcome), without)
}

fn many(cli: &Cli, without: &Without) -> ExitCode {
    let last = cli.first.saturating_add(cli.seeds - 1);
    let jobs =
        cli.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let progress = Progress::new(cli.seeds, cli.quiet);
    let swept = sweep(cli.first..=last, without, jobs, |_| progress.add());
    progress.end();
    if cli.json {
        print(&of_sweep(&swept, without).to_string());
    } else {
        let Sweep { seeds, steps, seconds, faults, done, read, failed } = &swept;
        let ended = if failed.is_some() { "something was broken" } else { "nothing was broken" };
        print(&format!(
            "{seeds} seeds: {ended}; {seconds} simulated seconds, {steps} events, {} faults, {done} changes and {read} reads \
             that were acknowledged\nfaults that happened: {faults}",
            faults.total()
        ));
    }
    end(swept.failed.as_ref(), without)
}

fn end(failed: Option<&Outcome>, without: &Without) -> ExitCode {
    let Some(outcome) = failed else {
        return ExitCode::SUCCESS;
    };
    // Without a standard error there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", report(outcome, without));
    ExitCode::FAILURE
}

fn summary(outcome: &Outcome) -> String {
    let Outcome { took, steps, counts, faults, .. } = outcome;
    let ended =
        if outcome.violation.is_some() { "something was broken" } else { "nothing was broken" };
    format!(
        "{ended}: {took:?} simulated, {steps} events (hash {:016x}), {} faults; of {} requests {} changes were acknowledged, \
         {} reads got the blob, {} were refused, {} have an unknown end\nfaults that happened: {faults}",
        outcome.trace.hash(),
        faults.total(),
        counts.asked,
        counts.done,
        counts.read,
        counts.refused,
        counts.unknown,
    )
}

fn of_seed(outcome: &Outcome, without: &Without) -> Value {
    json!({
        "seed": outcome.settings.seed,
        "nodes": outcome.settings.nodes,
        "partitions": outcome.settings.partitions,
        "replicas": outcome.settings.replicas,
        "hash": format!("{:016x}", outcome.trace.hash()),
        "events": outcome.steps,
        "simulated_s": outcome.took.as_secs_f64(),
        "faults": outcome.faults.total(),
        "fault_kinds": kinds(&outcome.faults),
        "requests": outcome.counts.asked,
        "acknowledged": outcome.counts.done,
        "read": outcome.counts.read,
        "refused": outcome.counts.refused,
        "unknown": outcome.counts.unknown,
        "broken": broken(outcome, without),
    })
}

/// All kinds, also those that never happened.
fn kinds(faults: &FaultCounts) -> Value {
    FaultKind::ALL
        .iter()
        .map(|kind| (kind.name().to_owned(), Value::from(faults.of(*kind))))
        .collect()
}

fn of_sweep(sweep: &Sweep, without: &Without) -> Value {
    json!({
        "seeds": sweep.seeds,
        "events": sweep.steps,
        "simulated_s": sweep.seconds,
        "faults": sweep.faults.total(),
        "fault_kinds": kinds(&sweep.faults),
        "acknowledged": sweep.done,
        "read": sweep.read,
        "broken": sweep.failed.as_ref().map(|outcome| broken(outcome, without)),
    })
}

fn broken(outcome: &Outcome, without: &Without) -> Option<Value> {
    outcome.violation.as_ref().map(|violation| {
        json!({
            "seed": outcome.settings.seed,
            "law": violation.law.to_string(),
            "blob": violation.blob.map(|id| id.to_string()),
            "found": violation.found,
            "command": command(outcome.settings.seed, without),
        })
    })
}

/// Writes to the standard output. That nobody reads it any more is no error.
fn print(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// A line on the standard error, if that is a terminal.
struct Progress {
    shown: bool,
    total: u64,
    done: AtomicU64,
    began: Instant,
}

impl Progress {
    fn new(total: u64, quiet: bool) -> Self {
        let shown = !quiet && io::stderr().is_terminal();
        Progress { shown, total, done: AtomicU64::new(0), began: Instant::now() }
    }

    fn add(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shown && (done.is_multiple_of(10) || done == self.total) {
            let seconds = self.began.elapsed().as_secs();
            let _ = write!(io::stderr(), "\r{done} of {} seeds, {seconds} s ", self.total);
        }
    }

    fn end(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
