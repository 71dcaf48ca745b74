//! `agent`.

use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use afterbay_net_agent::{Agent, Destinations};
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use tracing_subscriber::EnvFilter;

use super::{Failed, print};
use crate::place::{Lock, Place};
use crate::start::{self, Started};
use crate::{metrics, support};

/// An agent that ends gives its place free within this time.
const END_OF_ANOTHER: Duration = Duration::from_secs(10);

/// Arguments of `agent`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay net agent\n  \
    afterbay net agent --dir /run/afterbay-net --foreground\n\
    It ends by SIGTERM or Ctrl-C. Connections that are in memory stay there; new ones are TCP's until there is an agent again.")]
pub(crate) struct AgentArgs {
    /// Its directory, which is made if there is none; by default one of this user's, below $XDG_RUNTIME_DIR or /tmp
    #[arg(long, value_name = "DIR", env = "AFTERBAY_NET_DIR")]
    dir: Option<PathBuf>,
    /// Stay in the foreground, as service managers want it, and log to the standard error
    #[arg(long)]
    foreground: bool,
    /// Match connections whose destination is rewritten (Services, sidecars); right only if no address of a group hides others
    /// behind it
    #[arg(long)]
    rewritten_destinations: bool,
    /// Serve metrics for Prometheus at this address, under /metrics, to whoever can reach it; by default nowhere
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<SocketAddr>,
    /// One that runs is as good
    #[arg(long, hide = true)]
    if_none: bool,
    /// Started by the process without '--foreground'
    #[arg(long, hide = true)]
    detached: bool,
}

impl AgentArgs {
    fn place(&self) -> Result<Place, Failed> {
        Ok(self.dir.as_deref().map_or_else(|| Ok(Place::of_user()), Place::at)?)
    }

    fn destinations(&self) -> Destinations {
        if self.rewritten_destinations { Destinations::Rewritten } else { Destinations::Exact }
    }
}

pub(crate) fn run(args: &AgentArgs) -> Result<(), Failed> {
    let place = args.place()?;
    if !args.foreground {
        return start(args, &place);
    }
    start_logs();
    if args.detached {
        start::leave_session();
    }
    let served = serve(args, &place);
    if let (true, Err(error)) = (args.detached, &served) {
        tracing::error!(%error, "not started");
        start::say(&error.to_string())?;
    }
    served
}

fn start(args: &AgentArgs, place: &Place) -> Result<(), Failed> {
    let metrics = args.metrics.map(|address| format!("--metrics={address}"));
    let rewritten = args.rewritten_destinations.then_some("--rewritten-destinations");
    let options: Vec<&str> = rewritten.into_iter().chain(metrics.as_deref()).collect();
    match start::start(place, &options)? {
        Started::Already(process) if !args.if_none => {
            Err(format!("an agent runs in {place} already: process {process}").into())
        }
        Started::Already(_) => Ok(()),
        Started::New(process) => print(&format!("agent {process} in {place}\n")),
    }
}

fn serve(args: &AgentArgs, place: &Place) -> Result<(), Failed> {
    support::check()?;
    let stop = signals()?;
    place.make()?;
    // Who started this process has it.
    let starting = if args.detached { None } else { Some(place.lock_start()?) };
    // Longer than the agent, which takes its socket away at its end.
    let _lock = lock(place)?;
    let mut agent = Agent::listen(&place.socket(), args.destinations())?;
    if let Some(address) = args.metrics {
        let failed = |error| format!("--metrics {address}: {error}; another address has room");
        let served = metrics::serve(address, place.socket(), agent.counters()).map_err(failed)?;
        tracing::info!(address = %served, "metrics");
    }
    drop(starting);
    if args.detached {
        start::say_ready()?;
    }
    tracing::info!(directory = %place, "listening");
    let served = agent.serve(stop);
    tracing::info!("ended");
    Ok(served?)
}

/// One agent at a place. One that was told to end takes a moment.
fn lock(place: &Place) -> Result<Lock, Failed> {
    let began = Instant::now();
    loop {
        if let Some(lock) = place.lock_agent()? {
            return Ok(lock);
        }
        if let Ok(process) = place.agent() {
            return Err(format!("an agent runs in {place} already: process {process}").into());
        }
        if began.elapsed() > END_OF_ANOTHER {
            return Err(format!(
                "an agent in {place} neither listens nor ends; agent.lock there has its process id"
            )
            .into());
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Can be read when this process is told to end.
fn signals() -> io::Result<UnixStream> {
    let (stop, told) = UnixStream::pair()?;
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        pipe::register(signal, told.try_clone()?)?;
    }
    Ok(stop)
}

fn start_logs() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let _ = logs.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init();
}
