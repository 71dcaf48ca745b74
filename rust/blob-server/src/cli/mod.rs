//! The command line: `afterbay-blob`, or `./afterbay blob`.

mod bucket;
mod client;
mod cluster;
mod cluster_certificate;
mod cluster_scrub;
mod cluster_status;
mod delete;
mod files;
mod get;
mod get_tree;
mod key;
mod list;
mod many;
mod output;
mod pages;
mod progress;
mod put;
mod put_tree;
mod scrub;
mod serve;
mod status;
mod tree;
pub(crate) mod values;

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

pub use serve::ServeArgs;

/// Arguments, as `clap` reads them.
#[derive(Debug, Parser)]
#[command(
    name = "afterbay blob",
    bin_name = "afterbay blob",
    version,
    about = "Keeps immutable blobs on the disks of this machine, and serves them",
    after_help = "Examples:\n  \
        afterbay blob serve --data /var/lib/afterbay\n  \
        export AFTERBAY_BLOB_KEY_FILE=/var/lib/afterbay/root-key\n  \
        afterbay blob put report.pdf papers/report.pdf\n  \
        tar c photos | afterbay blob put - --no-name\n  \
        afterbay blob get papers/report.pdf - > copy.pdf\n  \
        afterbay blob ls papers/\n  \
        afterbay blob put photos papers/photos/ --recursive\n  \
        afterbay blob cluster init demo --nodes 3\n  \
        afterbay blob scrub --cluster demo/map.toml\n  \
        afterbay blob key create flink --bucket checkpoints=read,write --out flink.key\n\
        Exit codes: 0 done; 1 not done, the reason is on the standard error; 2 wrong usage; 130 and 143 ended by Ctrl-C and SIGTERM.\n\
        The guide is docs/blob.md, that of a cluster docs/blob-cluster.md."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts a server, until it gets SIGTERM or Ctrl-C
    Serve(Box<ServeArgs>),
    /// Stores a file, the standard input, or the files of a directory
    Put(put::PutArgs),
    /// Reads a blob, or all names below a prefix
    Get(get::GetArgs),
    /// Deletes names with their blobs, blobs by their ids, or a bucket
    Delete(delete::DeleteArgs),
    /// Takes back the delete of a blob, by its id
    Undelete(delete::UndeleteArgs),
    /// Lists buckets, or names in a bucket
    Ls(list::ListArgs),
    /// Shows what is known about a blob
    Stat(list::StatArgs),
    /// Shows disks, partitions, space and request rates
    Status(status::StatusArgs),
    /// Verifies everything that is stored, and says what is damaged; nodes of a cluster repair it from each other
    Scrub(scrub::ScrubArgs),
    /// Sets the durability class of a bucket, which is made if there is none
    Bucket(bucket::BucketArgs),
    /// Makes a cluster of nodes, and shows the state of its replicas
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// Makes, lists and deletes keys for users; needs the root key
    #[command(subcommand)]
    Key(key::KeyCommand),
}

/// How to reach the server.
#[derive(Debug, Args)]
struct Common {
    #[command(flatten)]
    server: client::ServerArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

/// What went wrong, for people.
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Runs what the arguments of this process say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Threads that wait for disks; each of them holds a piece of content at most.
        .max_blocking_threads(128)
        .build();
    let done = match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(run_to_the_end(cli.command));
            // Else the end waits for threads that wait for a disk or a terminal.
            runtime.shutdown_background();
            done
        }
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "afterbay blob: {error}");
            ExitCode::from(code_of(&error))
        }
    }
}

/// A signal ended the command.
#[derive(Debug, thiserror::Error)]
#[error("interrupted{left}")]
struct Interrupted {
    signal: SignalKind,
    /// What goes on without it.
    left: &'static str,
}

fn code_of(error: &Failed) -> u8 {
    match error.downcast_ref::<Interrupted>() {
        // As shells say it.
        Some(Interrupted { signal, .. }) => u8::try_from(128 + signal.as_raw_value()).unwrap_or(1),
        None if error.is::<client::Usage>() => 2,
        None => 1,
    }
}

async fn run_to_the_end(command: Command) -> Result<(), Failed> {
    if let Command::Serve(args) = command {
        return serve::run(*args).await;
    }
    let left = match &command {
        Command::Scrub(args) => args.left(),
        _ => "",
    };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let signal = tokio::select! {
        done = run(command) => return done,
        _ = interrupt.recv() => SignalKind::interrupt(),
        _ = terminate.recv() => SignalKind::terminate(),
    };
    output::remove_parts();
    Err(Interrupted { signal, left }.into())
}

async fn run(command: Command) -> Result<(), Failed> {
    match command {
        Command::Serve(args) => serve::run(*args).await,
        Command::Put(args) => put::run(args).await,
        Command::Get(args) => get::run(args).await,
        Command::Delete(args) => delete::delete(args).await,
        Command::Undelete(args) => delete::undelete(args).await,
        Command::Ls(args) => list::list(args).await,
        Command::Stat(args) => list::stat(args).await,
        Command::Status(args) => status::run(args).await,
        Command::Scrub(args) => scrub::run(args).await,
        Command::Bucket(args) => bucket::run(args).await,
        Command::Cluster(command) => cluster::run(command).await,
        Command::Key(command) => key::run(command).await,
    }
}

/// Writes to the standard output. That nobody reads it any more is no error.
fn print(text: &str) -> Result<(), Failed> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn print_json(value: &serde_json::Value) -> Result<(), Failed> {
    print(&format!("{value}\n"))
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
        assert!(looked_at > 40, "{looked_at}");
    }
}
