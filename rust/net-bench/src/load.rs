//! The clients: a thread for each connection, with one message at a time or a stream.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::content;
use crate::error::{Error, Result};
use crate::process::{cpu_s, network_bytes};
use crate::socket::Connection;
use crate::work::{Greeting, Work};

#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    /// HOST:PORT or unix:PATH.
    #[arg(long)]
    to: String,

    #[arg(long, value_enum)]
    work: Work,

    /// Bytes of a message or a block, at least 8.
    #[arg(long)]
    size: usize,

    #[arg(long, default_value_t = 1)]
    connections: usize,

    /// How long it runs before it counts, in seconds from when each client has done an operation; longer if one has not got going
    /// by then.
    #[arg(long, default_value_t = 1.0)]
    warmup_s: f64,

    /// How long it counts; longer if it has counted hardly anything by then.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,

    /// Whose processor time counts as the server's.
    #[arg(long)]
    server_pid: u32,
}

/// What clients and their server did in the counted time.
#[derive(Debug, Serialize)]
pub(crate) struct Counted {
    /// Messages there and back, connections, blocks, or commands.
    pub(crate) operations: u64,
    /// Of messages and blocks, one way; of redis, commands and answers.
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    /// Messages or stamps that were not what was sent, and streams of another length; of redis, values that were not what was written
    /// before the load and read back, then and after it.
    pub(crate) wrong: u64,
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
    pub(crate) p999_us: Option<f64>,
    pub(crate) max_us: Option<f64>,
    pub(crate) mean_us: Option<f64>,
    pub(crate) client_cpu_s: f64,
    pub(crate) server_cpu_s: f64,
    /// What the interfaces of the client's namespace carried, both ways, with the headers: from the begin of the counted time until
    /// the server has all of it. What was counted last is in a send buffer when the time is over.
    pub(crate) network_bytes: u64,
}

/// What all threads look at.
#[derive(Debug, Default)]
struct Stage {
    /// 0 while it warms up, then [`COUNTS`], then [`ENDS`].
    phase: AtomicU8,
    operations: AtomicU64,
    wrong: AtomicU64,
    /// Clients that have done an operation.
    began: AtomicUsize,
    /// And those that have got going.
    goes: AtomicUsize,
}

const COUNTS: u8 = 1;
const ENDS: u8 = 2;
/// Operations for each connection, at least: beside them, what its end takes is nothing.
const COUNTED_MIN: u64 = 1000;
/// A client has got going after so many messages, or so many bytes of a stream: more than sockets hold, so that what follows goes
/// the way that the connection has moved to.
const MESSAGES_FIRST: u64 = 100;
const BYTES_FIRST: u64 = 16 << 20;
/// How often it is looked whether it is so.
const LOOK: Duration = Duration::from_millis(1);

/// Operations after which a client has got going, and how many are counted for each at least.
fn at_least(work: Work, size: usize) -> (u64, u64) {
    match work {
        Work::Ping => (MESSAGES_FIRST, COUNTED_MIN),
        Work::Stream | Work::Redis => (BYTES_FIRST.div_ceil(size as u64), COUNTED_MIN),
        // Each is another connection.
        Work::Connect => (1, 1),
    }
}

impl Stage {
    fn is(&self, phase: u8) -> bool {
        self.phase.load(Ordering::Relaxed) == phase
    }

    fn enter(&self, phase: u8) {
        self.phase.store(phase, Ordering::Relaxed);
    }
}

struct Client<'a> {
    arguments: &'a LoadArguments,
    stage: &'a Stage,
    times: Histogram<u64>,
    done: u64,
    /// Operations after which it has got going.
    first: u64,
}

pub(crate) fn run(arguments: &LoadArguments) -> Result<()> {
    let counted = load(arguments)?;
    println!("{}", serde_json::json!(counted));
    Ok(())
}

fn load(arguments: &LoadArguments) -> Result<Counted> {
    if arguments.size < content::STAMP || arguments.work == Work::Redis {
        return Err(Error::Said(format!("load: use blocks of {} bytes or more", content::STAMP)));
    }
    let stage = Stage::default();
    thread::scope(|scope| {
        let clients: Vec<_> = (0..arguments.connections)
            .map(|_| scope.spawn(|| Client::new(arguments, &stage)?.work()))
            .collect();
        // One that ends has failed, and says so below.
        let is = |done: &dyn Fn() -> bool| {
            while !done() && !clients.iter().any(thread::ScopedJoinHandle::is_finished) {
                thread::sleep(LOOK);
            }
        };
        is(&|| stage.began.load(Ordering::Relaxed) == arguments.connections);
        thread::sleep(Duration::from_secs_f64(arguments.warmup_s));
        is(&|| stage.goes.load(Ordering::Relaxed) == arguments.connections);
        let own = std::process::id();
        let before = (cpu_s(own), cpu_s(arguments.server_pid), network_bytes());
        let began = Instant::now();
        stage.enter(COUNTS);
        thread::sleep(Duration::from_secs_f64(arguments.seconds));
        let counted = at_least(arguments.work, arguments.size).1 * arguments.connections as u64;
        is(&|| stage.operations.load(Ordering::Relaxed) >= counted);
        let (seconds, operations) =
            (began.elapsed().as_secs_f64(), stage.operations.load(Ordering::Relaxed));
        let after = (cpu_s(own), cpu_s(arguments.server_pid));
        stage.enter(ENDS);
        let mut times = histogram()?;
        for client in clients {
            let ended = client.join().map_err(|_| Error::Said("a client panicked".to_owned()))?;
            times.add(ended?).map_err(|e| Error::Said(format!("latencies: {e}")))?;
        }
        let network_bytes = network_bytes() - before.2;
        let us =
            |quantile| (!times.is_empty()).then(|| times.value_at_quantile(quantile) as f64 / 1e3);
        Ok(Counted {
            operations,
            bytes: operations * arguments.size as u64,
            seconds,
            wrong: stage.wrong.load(Ordering::Relaxed),
            p50_us: us(0.5),
            p99_us: us(0.99),
            p999_us: us(0.999),
            max_us: us(1.0),
            mean_us: (!times.is_empty()).then(|| times.mean() / 1e3),
            client_cpu_s: after.0 - before.0,
            server_cpu_s: after.1 - before.1,
            network_bytes,
        })
    })
}

/// Of nanoseconds, up to a minute.
fn histogram() -> Result<Histogram<u64>> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3)
        .map_err(|e| Error::Said(format!("latencies: {e}")))
}

impl<'a> Client<'a> {
    fn new(arguments: &'a LoadArguments, stage: &'a Stage) -> Result<Self> {
        let (first, _) = at_least(arguments.work, arguments.size);
        Ok(Client { arguments, stage, times: histogram()?, done: 0, first })
    }

    /// Its latencies.
    fn work(mut self) -> Result<Histogram<u64>> {
        let done = match self.arguments.work {
            Work::Ping => self.ping(),
            Work::Connect => self.connect(),
            Work::Stream | Work::Redis => self.stream(),
        };
        match done {
            Ok(()) => Ok(self.times),
            Err(cause) => {
                Err(Error::System { what: format!("talk to {}", self.arguments.to), cause })
            }
        }
    }

    fn open(&self) -> io::Result<Connection> {
        let mut connection = Connection::open(&self.arguments.to)?;
        Greeting::of(self.arguments.work, self.arguments.size).send(&mut connection)?;
        Ok(connection)
    }

    fn ping(&mut self) -> io::Result<()> {
        let mut connection = self.open()?;
        let mut message = content::block(self.arguments.size);
        let mut answer = vec![0; message.len()];
        let mut number = 0;
        while !self.stage.is(ENDS) {
            content::stamp(&mut message, number);
            number += 1;
            let began = Instant::now();
            connection.write_all(&message)?;
            connection.read_exact(&mut answer)?;
            self.count(began, answer == message);
        }
        Ok(())
    }

    fn connect(&mut self) -> io::Result<()> {
        let message = content::block(self.arguments.size);
        let mut answer = vec![0; message.len()];
        while !self.stage.is(ENDS) {
            let began = Instant::now();
            let mut connection = self.open()?;
            connection.write_all(&message)?;
            connection.read_exact(&mut answer)?;
            drop(connection);
            self.count(began, answer == message);
        }
        Ok(())
    }

    fn count(&mut self, began: Instant, is_right: bool) {
        if self.stage.is(COUNTS) {
            self.times.saturating_record(began.elapsed().as_nanos() as u64);
            self.stage.operations.fetch_add(1, Ordering::Relaxed);
        }
        if !is_right {
            self.stage.wrong.fetch_add(1, Ordering::Relaxed);
        }
        self.note();
    }

    /// It has done an operation.
    fn note(&mut self) {
        self.done += 1;
        if self.done == 1 {
            self.stage.began.fetch_add(1, Ordering::Relaxed);
        }
        if self.done == self.first {
            self.stage.goes.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn stream(&mut self) -> io::Result<()> {
        let mut connection = self.open()?;
        let mut block = content::block(self.arguments.size);
        let mut number = 0;
        while !self.stage.is(ENDS) {
            content::stamp(&mut block, number);
            connection.write_all(&block)?;
            number += 1;
            if self.stage.is(COUNTS) {
                self.stage.operations.fetch_add(1, Ordering::Relaxed);
            }
            self.note();
        }
        connection.end()?;
        let (mut bytes, mut wrong) = ([0; 8], [0; 8]);
        connection.read_exact(&mut bytes)?;
        connection.read_exact(&mut wrong)?;
        let is_whole = u64::from_le_bytes(bytes) == number * block.len() as u64;
        let wrong = u64::from_le_bytes(wrong) + u64::from(!is_whole);
        self.stage.wrong.fetch_add(wrong, Ordering::Relaxed);
        Ok(())
    }
}
