//! A server and its clients on one way, measured.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use tempfile::TempDir;

use crate::error::{Error, Result, doing};
use crate::network::{Network, Side, Way, first_line};
use crate::redis;
use crate::sockmap::{self, Sockmap};
use crate::work::Work;

const AGENT_WAIT: Duration = Duration::from_secs(20);
/// How many seconds an agent may take to answer.
const PATIENCE: &str = "AFTERBAY_NET_PATIENCE=60";
const LIBRARY: &str = "libafterbay_net.so";

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// How the two programs talk.
    #[arg(long, value_enum)]
    way: Way,

    #[arg(long, value_enum)]
    pub(crate) work: Work,

    /// Bytes of a message or a block.
    #[arg(long, default_value_t = 64)]
    size: usize,

    #[arg(long, default_value_t = 1)]
    pub(crate) connections: usize,

    /// How long it runs before it counts, in seconds; longer if a client has not got going by then.
    #[arg(long, default_value_t = 1.0)]
    warmup_s: f64,

    /// How long it counts, and longer if it has counted hardly anything by then; with redis, how many hundred thousand commands come.
    #[arg(long, default_value_t = 5.0)]
    pub(crate) seconds: f64,

    /// As in `afterbay net run`.
    #[arg(long, default_value = "auto")]
    spin: String,

    /// Threads that do nothing but work, beside it.
    #[arg(long, default_value_t = 0)]
    busy: usize,

    /// Where redis-server and redis-benchmark are, if not in PATH.
    #[arg(long)]
    pub(crate) redis: Option<PathBuf>,
}

/// What runs it: the network, the agent, and how programs are started on it.
#[derive(Debug)]
pub(crate) struct Ground {
    way: Way,
    network: Network,
    folder: TempDir,
    own: String,
    /// Of `afterbay net`, beside this one.
    net: PathBuf,
    spin: String,
    agent: Option<Ended>,
    sockmap: Option<Sockmap>,
}

/// A process that is ended with this.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn run(arguments: &RunArguments) -> Result<()> {
    let ground = Ground::lay(arguments)?;
    let counted = beside_busy_threads(arguments.busy, || match arguments.work {
        Work::Redis => redis::run(&ground, arguments),
        Work::Ping | Work::Stream | Work::Connect => own(&ground, arguments),
    })?;
    println!("{counted}");
    Ok(())
}

fn beside_busy_threads<T>(count: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let done = work();
        ends.store(true, Ordering::Relaxed);
        done
    })
}

fn own(ground: &Ground, arguments: &RunArguments) -> Result<String> {
    let listen = match ground.socket() {
        Some(path) => format!("unix:{path}"),
        None => format!("{}:0", ground.address()),
    };
    let mut server =
        ground.start(Side::A, &[&ground.own, "serve", "--listen", &listen], Stdio::piped())?;
    let (address, _output) = first_line(&mut server.0)?;
    let work = format!("{:?}", arguments.work).to_lowercase();
    let figures = [
        ("--work", work),
        ("--size", arguments.size.to_string()),
        ("--connections", arguments.connections.to_string()),
        ("--warmup-s", arguments.warmup_s.to_string()),
        ("--seconds", arguments.seconds.to_string()),
        ("--server-pid", server.0.id().to_string()),
        ("--to", address),
    ];
    let mut words = vec![ground.own.as_str(), "load"];
    for (name, value) in &figures {
        words.extend([*name, value.as_str()]);
    }
    ground.finish(Side::B, &words, Stdio::null())
}

impl Ground {
    fn lay(arguments: &RunArguments) -> Result<Self> {
        let own = env::current_exe().map_err(doing("find this program"))?;
        let mut ground = Ground {
            way: arguments.way,
            network: Network::of(arguments.way)?,
            folder: tempfile::tempdir().map_err(doing("make a folder for the run"))?,
            net: own.with_file_name("afterbay-net"),
            own: own.display().to_string(),
            spin: arguments.spin.clone(),
            agent: None,
            sockmap: None,
        };
        if ground.way == Way::Sockmap {
            if arguments.work == Work::Redis {
                let what =
                    "way sockmap has no redis: both ends have to put their sockets into a map";
                return Err(Error::Said(what.to_owned()));
            }
            ground.sockmap = Some(Sockmap::new()?);
        }
        if matches!(ground.way, Way::Memory | Way::NoAgent) && !ground.net.exists() {
            return Err(Error::Said(format!(
                "{} is not built: cargo build --release -p afterbay-net -p afterbay-net-preload",
                ground.net.display()
            )));
        }
        if ground.way == Way::Memory {
            ground.agent = Some(ground.start_agent()?);
        }
        Ok(ground)
    }

    fn start_agent(&self) -> Result<Ended> {
        let folder = self.agent_folder();
        let net = self.net.display().to_string();
        let words = ["agent", "--foreground", "--dir", &folder].map(ToOwned::to_owned);
        let mut command = Command::new(&self.own);
        command.args(["become", &net]).args(words).stdin(Stdio::null()).stderr(Stdio::null());
        let mut agent =
            Ended(command.stdout(Stdio::null()).spawn().map_err(doing("start the agent"))?);
        let end = Instant::now() + AGENT_WAIT;
        while !Path::new(&folder).join("agent.sock").exists() {
            let ended = agent.0.try_wait().map_err(doing("look after the agent"))?;
            if ended.is_some() || Instant::now() > end {
                return Err(Error::Said(format!("the agent of {folder} does not come up")));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(agent)
    }

    fn agent_folder(&self) -> String {
        self.folder.path().join("agent").display().to_string()
    }

    /// Where a server listens that does not choose.
    pub(crate) fn address(&self) -> String {
        self.network.address().to_string()
    }

    /// The path of the server's Unix socket, on that way.
    pub(crate) fn socket(&self) -> Option<String> {
        let path = self.folder.path().join("socket");
        (self.way == Way::Unix).then(|| path.display().to_string())
    }

    /// A program at one side, on this way; it ends with this process.
    pub(crate) fn command(&self, side: Side, words: &[impl AsRef<str>]) -> Result<Command> {
        let mut all = vec![self.own.clone(), "become".to_owned()];
        match self.way {
            Way::Loopback | Way::Unix | Way::Veth | Way::Vxlan => {}
            Way::Sockmap => {
                let map = self.sockmap.as_ref().map(Sockmap::descriptor).unwrap_or_default();
                all.extend(["env".to_owned(), format!("{}={map}", sockmap::VARIABLE)]);
            }
            Way::Memory => {
                let net = self.net.display().to_string();
                let run =
                    ["run", "--quiet", "--spin", &self.spin, "--agent"].map(ToOwned::to_owned);
                // One that is held up on a busy machine is waited for: what is measured goes through memory.
                all.extend(["env".to_owned(), PATIENCE.to_owned(), net]);
                all.extend(run);
                all.extend([self.agent_folder(), "--".to_owned()]);
            }
            Way::NoAgent => {
                let library = self.net.with_file_name(LIBRARY).display().to_string();
                all.extend([
                    "env".to_owned(),
                    format!("LD_PRELOAD={library}"),
                    format!("AFTERBAY_NET_AGENT={}/agent.sock", self.agent_folder()),
                ]);
            }
        }
        all.extend(words.iter().map(|word| word.as_ref().to_owned()));
        self.network.at(side, &all)
    }

    /// Starts it.
    pub(crate) fn start(
        &self,
        side: Side,
        words: &[impl AsRef<str>],
        input: Stdio,
    ) -> Result<Ended> {
        let started = self.command(side, words)?.stdin(input).stdout(Stdio::piped()).spawn();
        started.map(Ended).map_err(doing("start a program"))
    }

    /// Runs a program at one side to its end, and returns what it says.
    pub(crate) fn finish(
        &self,
        side: Side,
        words: &[impl AsRef<str>],
        input: Stdio,
    ) -> Result<String> {
        let mut process = self.start(side, words, input)?;
        let mut said = String::new();
        if let Some(mut output) = process.0.stdout.take() {
            std::io::Read::read_to_string(&mut output, &mut said)
                .map_err(doing("hear a program"))?;
        }
        let ended = process.0.wait().map_err(doing("wait for a program"))?;
        if ended.success() {
            Ok(said.trim_end().to_owned())
        } else {
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            Err(Error::Said(format!("{} ended with {ended}", words.join(" "))))
        }
    }

    /// What the interfaces of a side have carried.
    pub(crate) fn network_bytes(&self, side: Side) -> Result<u64> {
        let said =
            self.network.at(side, &["cat".to_owned(), "/proc/self/net/dev".to_owned()])?.output();
        let table = said.map_err(doing("read the counters of interfaces"))?.stdout;
        Ok(crate::process::interface_bytes(&String::from_utf8_lossy(&table)))
    }
}
