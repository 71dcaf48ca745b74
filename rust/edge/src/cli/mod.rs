//! The verbs.

mod agent;
mod app;
mod certificate;
mod cut;
mod exec;
mod gateway;
mod key;
mod mqtt;
mod select;
mod status;
mod topics;
mod values;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use afterbay_edge_plan::{Cut, Plan, Rows, cut_with_local, writes_final_rows};
use clap::{Parser, Subcommand};
use thiserror::Error;

/// Arguments, as `clap` reads them.
#[derive(Debug, Parser)]
#[command(
    name = "afterbay edge",
    bin_name = "afterbay edge",
    version,
    about = "Runs the lower half of a Flink SQL job where its data is made",
    after_help = "Examples:\n  \
        afterbay edge app traffic.toml\n  \
        afterbay edge cut --plan job.json\n  \
        afterbay edge cut --plan job.json --lower lower.json --upper upper.json\n  \
        afterbay edge cut --plan job.json --local device --lower lower.json --upper upper.json\n  \
        afterbay edge exec --plan job.json --site dev1 --input readings.ndjson\n  \
        mosquitto_sub -t readings | afterbay edge exec --plan job.json --site dev1 --input -\n  \
        afterbay edge certificate --name gateway.example.org --cert server.pem --key server-key.pem\n  \
        afterbay edge key create dev1 --out keys/dev1.key\n  \
        afterbay edge gateway --tls-cert server.pem --tls-key server-key.pem --keys keys --output rows\n  \
        afterbay edge agent --site dev1 --plan job.json --input readings.ndjson --follow \\\n      \
        --data /var/lib/edge --gateway gateway.example.org:7490 --key-file dev1.key \\\n      \
        --tls-roots server.pem\n  \
        afterbay edge agent --site dev1 --plan job.json --mqtt mqtt://localhost:1883 \\\n      \
        --topic 'sensors/+/temp' --data /var/lib/edge --gateway gateway.example.org:7490 \\\n      \
        --key-file dev1.key --tls-roots server.pem\n\n\
        A plan is what COMPILE PLAN 'job.json' FOR INSERT INTO … writes, in Flink 2.3, with \
        SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE'.\n\
        Exit codes: 0 done; 1 not done, the reason is on the standard error; 2 wrong usage.\n\
        The guide is docs/edge.md."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says whether an app file is right, and what it says
    App(app::AppArgs),
    /// Says of each node of a plan whether it runs at the sites, and why not; writes both halves
    Cut(cut::CutArgs),
    /// Runs what a plan has for the sites, on a file
    Exec(exec::ExecArgs),
    /// Runs it at a site for good, and sends what comes of it to the gateway
    Agent(Box<agent::AgentArgs>),
    /// Takes what sites send, and writes it where Flink reads it
    Gateway(gateway::GatewayArgs),
    /// Says how an agent or a gateway is
    Status(status::StatusArgs),
    /// Makes the key of a site
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Makes a certificate for a gateway, signed by itself
    Certificate(certificate::CertificateArgs),
    /// Makes and removes topics of Kafka
    #[command(subcommand, hide = true)]
    Topics(topics::TopicsCommand),
}

/// What went wrong, for people.
#[derive(Debug, Error)]
enum Failed {
    #[error("{0}")]
    Done(String),
    /// What the user has written is wrong.
    #[error("{0}")]
    Usage(String),
    /// Who reads the output has gone: nobody is to be told.
    #[error("the output is closed")]
    Closed,
}

type Result<T> = std::result::Result<T, Failed>;

/// Runs what the arguments of this process say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::App(args) => app::run(&args),
        Command::Cut(args) => cut::run(&args),
        Command::Exec(args) => exec::run(&args),
        Command::Agent(args) => agent::run(*args),
        Command::Gateway(args) => gateway::run(args),
        Command::Status(args) => status::run(&args),
        Command::Key(command) => key::run(&command),
        Command::Certificate(args) => certificate::run(&args),
        Command::Topics(command) => topics::run(&command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Closed) => ExitCode::FAILURE,
        Err(failed) => {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "afterbay edge: {failed}");
            if matches!(failed, Failed::Usage(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// Ends a process: what it is told to end by sets the flag. So does the end of the standard input, if somebody holds that open for
/// as long as the process is wanted: whoever has started it may be killed, and tells nobody.
fn on_end(while_stdin_open: bool) -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    if while_stdin_open {
        let flag = flag.clone();
        std::thread::spawn(move || {
            // What it says means nothing, and an input that fails is at its end.
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            flag.store(true, Ordering::Release);
        });
    }
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        let set = signal_hook::flag::register(signal, flag.clone());
        set.map_err(|error| Failed::Done(format!("signals: {error}")))?;
    }
    Ok(flag)
}

/// Writes a line for who has started this, and does not keep it.
fn say(line: &serde_json::Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(unwritten)
}

/// A name of a site or a stream.
fn name(text: &str) -> std::result::Result<String, String> {
    if !afterbay_edge_wire::is_name(text) {
        const LENGTH_MAX: usize = afterbay_edge_wire::NAME_BYTES_MAX;
        return Err(format!("1 to {LENGTH_MAX} letters, digits, - and _ are allowed"));
    }
    Ok(text.to_owned())
}

fn failed(place: &Path, what: impl std::fmt::Display) -> Failed {
    Failed::Done(format!("{}: {what}", place.display()))
}

/// The standard output did not take it.
fn unwritten(error: std::io::Error) -> Failed {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        Failed::Closed
    } else {
        Failed::Done(format!("standard output: {error}"))
    }
}

/// Reads a plan, and cuts it; these columns are local to a site.
fn read_plan(path: &Path, local: &[String]) -> Result<(Plan, Cut)> {
    let text = std::fs::read_to_string(path).map_err(|error| failed(path, error))?;
    let plan = Plan::parse(&text).map_err(|error| failed(path, error))?;
    let cut = cut_with_local(&plan, local).map_err(|error| failed(path, error))?;
    let is_final = cut.pipelines.iter().any(|pipeline| pipeline.rows() == Rows::Final);
    if writes_final_rows(&plan) && !is_final {
        let what = "a lower half whose rows are final at a site: --local has to say which columns are local to one, as it did when the plan was cut";
        return Err(failed(path, what));
    }
    Ok((plan, cut))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Wider lines are broken by clap, wherever that is: an example could not be copied any more.
    const WIDTH: usize = 100;

    fn look_at(command: &clap::Command, looked_at: &mut usize) {
        let name = command.get_name();
        let help = command.clone().term_width(WIDTH).render_long_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= WIDTH, "{name}: {line}");
        }
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in after.lines().filter(|line| !line.is_empty()) {
            if line.starts_with(' ') {
                assert!(help.lines().any(|shown| shown == line), "{name} breaks: {line}");
                *looked_at += 1;
            } else {
                // A line of text is a paragraph, which clap breaks where it has to: half a sentence would be broken twice.
                assert!(line.ends_with(['.', ':']), "{name} has a line that goes on: {line}");
            }
        }
        command.get_subcommands().for_each(|verb| look_at(verb, looked_at));
    }

    #[test]
    fn examples_are_shown_as_they_are_written() {
        let mut command = Cli::command();
        command.build();
        let mut looked_at = 0;
        look_at(&command, &mut looked_at);
        assert!(looked_at > 20, "{looked_at}");
    }
}
