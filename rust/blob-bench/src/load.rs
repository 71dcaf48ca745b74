//! Load: clients that put or get, one request after the other (closed loop), and count what ends in the counted time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::acknowledged::{self, Stored};
use crate::content::{Check, Content, Depth, HEAD_BYTES, Random};
use crate::error::{Error, Result};
use crate::measured::{Counts, Mark, Measured, Passed};
use crate::session::{Connect, Session, Sessions};
use crate::threads;

/// A client that only meets errors gives up.
const ERRORS_MAX: u64 = 100;

const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    Put,
    Get,
}

/// Which objects.
#[derive(Debug, Clone, Args)]
pub(crate) struct Objects {
    /// Bytes of each, at least 16.
    #[arg(long)]
    size: usize,

    /// Other objects with another number.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// File with those that the server has acknowledged: a put writes it, a get and a verification read it.
    #[arg(long)]
    acknowledged: PathBuf,
}

impl Objects {
    pub(crate) fn content(&self) -> Result<Content> {
        if self.size < HEAD_BYTES {
            return Err(Error::Usage(format!("--size {}: use {HEAD_BYTES} or more", self.size)));
        }
        Ok(Content::new(self.seed, self.size))
    }

    pub(crate) fn read(&self) -> Result<Vec<Stored>> {
        acknowledged::read(&self.acknowledged)
    }

    pub(crate) fn acknowledged(&self) -> &Path {
        &self.acknowledged
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }
}

#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    #[command(flatten)]
    connect: Connect,

    #[command(flatten)]
    objects: Objects,

    #[arg(long)]
    operation: Operation,

    /// Connections, each with one request at a time.
    #[arg(long, default_value_t = 1)]
    clients: usize,

    /// End after so many requests, whatever the time; all of them count. A get reads each object once, and every byte of it is compared;
    /// without, which object it is, and how long.
    #[arg(long)]
    count: Option<u64>,

    /// Time before requests count.
    #[arg(long, default_value_t = 0.0)]
    warmup_s: f64,

    /// Counted time.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,

    /// One byte of this object is put as another one: the negative control of a verification.
    #[arg(long)]
    differs: Option<u64>,

    /// Process whose use of processors and disks is told, too; of a cluster, those of all nodes, with commas.
    #[arg(long, value_delimiter = ',')]
    server_pid: Vec<u32>,
}

/// What clients share.
struct Shared {
    sessions: Sessions,
    operation: Operation,
    content: Content,
    stored: Vec<Stored>,
    order: Vec<usize>,
    requests_max: u64,
    depth: Depth,
    next: AtomicU64,
    counting: AtomicBool,
    ended: AtomicBool,
}

/// What one client found.
struct Found {
    counts: Counts,
    stored: Vec<Stored>,
}

/// Carries out the load and prints the figures.
pub(crate) fn run(arguments: &LoadArguments) -> Result<()> {
    let shared = Arc::new(shared(arguments)?);
    threads::block_on(shared.sessions.wait_until_ready())?;
    let start = Mark::now(&arguments.server_pid);
    let clients = threads::start(arguments.clients, || {
        let shared = shared.clone();
        move || threads::block_on(Client::run(shared))
    });
    let counted = arguments.count.is_none().then(|| count_for_a_time(&shared, arguments));
    let mut counts = Counts::new()?;
    let mut stored = Vec::new();
    for client in clients {
        let found = threads::join(client)?;
        counts.add(found.counts)?;
        stored.extend(found.stored);
    }
    let passed = counted.unwrap_or_else(|| start.elapsed());
    if arguments.operation == Operation::Put {
        acknowledged::write(&arguments.objects.acknowledged, &stored)?;
    }
    Measured::new(&counts, passed).print()
}

/// What was used while requests were counted.
fn count_for_a_time(shared: &Arc<Shared>, arguments: &LoadArguments) -> Passed {
    wait(shared, arguments.warmup_s);
    let mark = Mark::now(&arguments.server_pid);
    shared.counting.store(true, Ordering::Relaxed);
    wait(shared, arguments.seconds);
    shared.counting.store(false, Ordering::Relaxed);
    let passed = mark.elapsed();
    shared.ended.store(true, Ordering::Relaxed);
    passed
}

/// Until the time is over, or all clients gave up.
fn wait(shared: &Arc<Shared>, seconds: f64) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end && Arc::strong_count(shared) > 1 {
        thread::sleep(PAUSE.min(end.saturating_duration_since(Instant::now())));
    }
}

fn shared(arguments: &LoadArguments) -> Result<Shared> {
    let stored = match arguments.operation {
        Operation::Put => Vec::new(),
        Operation::Get => arguments.objects.read()?,
    };
    if arguments.operation == Operation::Get && stored.is_empty() {
        return Err(Error::Usage("--acknowledged has no objects; put some".to_owned()));
    }
    let all = if arguments.operation == Operation::Get { stored.len() as u64 } else { u64::MAX };
    Ok(Shared {
        sessions: Sessions::new(&arguments.connect),
        operation: arguments.operation,
        content: arguments.objects.content()?.differing(arguments.differs),
        order: Random(arguments.objects.seed).order(stored.len()),
        stored,
        requests_max: arguments.count.map_or(u64::MAX, |count| count.min(all)),
        // Who reads for a time does so from memory: comparing would take a share of the processors that is not small.
        depth: if arguments.count.is_some() { Depth::All } else { Depth::Head },
        next: AtomicU64::new(0),
        counting: AtomicBool::new(arguments.count.is_some()),
        ended: AtomicBool::new(false),
    })
}

struct Client {
    shared: Arc<Shared>,
    session: Option<Session>,
    found: Found,
}

impl Client {
    async fn run(shared: Arc<Shared>) -> Result<Found> {
        let found = Found { counts: Counts::new()?, stored: Vec::new() };
        let mut client = Client { shared, session: None, found };
        while let Some(number) = client.next() {
            let begin = Instant::now();
            match client.request(number).await {
                Ok(bytes) if client.shared.counting.load(Ordering::Relaxed) => {
                    client.found.counts.request(bytes, begin.elapsed());
                }
                Ok(_) => {}
                Err(problem) => {
                    client.found.counts.error(&problem);
                    client.session = None;
                }
            }
        }
        Ok(client.found)
    }

    fn next(&self) -> Option<u64> {
        let over =
            self.shared.ended.load(Ordering::Relaxed) || self.found.counts.errors >= ERRORS_MAX;
        if over {
            return None;
        }
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        (number < self.shared.requests_max).then_some(number)
    }

    /// The bytes of its object.
    async fn request(&mut self, number: u64) -> Result<u64> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.shared.sessions.open().await?,
        };
        let bytes = match self.shared.operation {
            Operation::Put => self.put(&mut session, number).await?,
            Operation::Get => self.get(&mut session, number).await?,
        };
        self.session = Some(session);
        Ok(bytes)
    }

    async fn put(&mut self, session: &mut Session, index: u64) -> Result<u64> {
        let stored = session.put(index, self.shared.content.object(index)).await?;
        self.found.stored.push(stored);
        Ok(self.shared.content.size() as u64)
    }

    async fn get(&mut self, session: &mut Session, number: u64) -> Result<u64> {
        let at = (number % self.shared.order.len() as u64) as usize;
        let stored = self.shared.stored[self.shared.order[at]];
        let mut check = Check::new(self.shared.content.object(stored.index), self.shared.depth);
        session.get(stored, &mut check).await?;
        if !check.is_right() {
            self.found.counts.wrong(stored.index);
        }
        Ok(check.bytes())
    }
}
