//! Load by a schedule (open loop): puts and gets in turns, each due at its time whatever became of those before, so that who waits for a
//! server is in the figures. The latency of a request counts from when it was due.
//!
//! Whoever started the program names the phases, a line of standard input for each; its end ends the load. Meanwhile standard output has
//! a line of JSON every so often that says how far the load is, and at last one with the figures.

use std::io::{self, BufRead};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::acknowledged::{self, Stored};
use crate::content::{Check, Content, Depth, Random};
use crate::error::{Error, Result};
use crate::load::Objects;
use crate::measured::{Counts, Latencies, print};
use crate::session::{Connect, Session, Sessions};
use crate::threads;

/// The phase before the first one that is named.
const WARM_UP: &str = "warm-up";

const TOLD_EVERY: Duration = Duration::from_millis(100);

/// Who waits for a time looks so often whether the load has ended.
const SLEEP_MAX: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(crate) struct OpenLoopArguments {
    #[command(flatten)]
    connect: Connect,

    #[command(flatten)]
    objects: Objects,

    /// Requests under way at most, each of a client of its own. Others that are due wait, and that counts.
    #[arg(long, default_value_t = 16)]
    clients: usize,

    /// Requests that are due in a second.
    #[arg(long)]
    rate: f64,

    /// One byte of this object is put as another one: the negative control of a verification.
    #[arg(long)]
    differs: Option<u64>,
}

/// Since when, and what it is called.
#[derive(Debug)]
struct Phase {
    name: String,
    begin: Instant,
}

/// Those that have begun, at least one.
#[derive(Debug)]
struct Phases(Mutex<Vec<Phase>>);

impl Phases {
    fn new(begin: Instant) -> Self {
        Phases(Mutex::new(vec![Phase { name: WARM_UP.to_owned(), begin }]))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Phase>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, name: String, begin: Instant) {
        self.lock().push(Phase { name, begin });
    }

    /// Those in which a request was under way: it counts in each of them.
    fn spanned(&self, due: Instant, end: Instant) -> Range<usize> {
        let phases = self.lock();
        let begun = |at: Instant| phases.partition_point(|phase| phase.begin <= at);
        let first = begun(due).saturating_sub(1);
        first..begun(end).max(first + 1)
    }
}

/// What clients share.
struct Shared {
    sessions: Sessions,
    content: Content,
    seed: u64,
    begin: Instant,
    rate: f64,
    phases: Phases,
    next: AtomicU64,
    ended: AtomicBool,
    requests: AtomicU64,
    errors: AtomicU64,
}

/// What one client found.
struct Found {
    all: Counts,
    phases: Vec<Counts>,
    stored: Vec<Stored>,
}

/// How far the load is.
#[derive(Debug, Serialize)]
struct Told {
    /// Phases that were named so far.
    named: usize,
    requests: u64,
    errors: u64,
}

impl Told {
    /// What ends later than that is in the last of these phases.
    fn now(shared: &Shared) -> Self {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let named = shared.phases.lock().len() - 1;
        Told { named, requests: count(&shared.requests), errors: count(&shared.errors) }
    }
}

#[derive(Debug, Serialize)]
struct Figures {
    requests: u64,
    errors: u64,
    wrong: u64,
    first_wrong: Option<u64>,
    first_error: Option<String>,
    stored: usize,
    phases: Vec<PhaseFigures>,
}

#[derive(Debug, Serialize)]
struct PhaseFigures {
    name: String,
    seconds: f64,
    requests: u64,
    errors: u64,
    #[serde(flatten)]
    latencies: Latencies,
}

/// Carries out the load and prints the figures.
pub(crate) fn run(arguments: &OpenLoopArguments) -> Result<()> {
    if !(arguments.rate > 0.0 && arguments.rate.is_finite()) {
        return Err(Error::Usage(format!("--rate {}: use a positive number", arguments.rate)));
    }
    let content = arguments.objects.content()?.differing(arguments.differs);
    let sessions = Sessions::new(&arguments.connect);
    threads::block_on(sessions.wait_until_ready())?;
    let begin = Instant::now();
    let shared = Arc::new(Shared {
        sessions,
        content,
        seed: arguments.objects.seed(),
        begin,
        rate: arguments.rate,
        phases: Phases::new(begin),
        next: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        requests: AtomicU64::new(0),
        errors: AtomicU64::new(0),
    });
    let clients = threads::start(arguments.clients, || {
        let shared = shared.clone();
        move || threads::block_on(Client::run(shared))
    });
    follow(&shared);
    while !shared.ended.load(Ordering::Relaxed) {
        thread::sleep(TOLD_EVERY);
        print(&Told::now(&shared))?;
    }
    let end = Instant::now();
    let mut found = Found::new()?;
    for client in clients {
        found.add(threads::join(client)?)?;
    }
    acknowledged::write(arguments.objects.acknowledged(), &found.stored)?;
    print(&figures(&shared, &found, end))
}

/// Reads the names of phases on a thread of its own, until there are no more. Nobody waits for the thread: its last word ends the load.
fn follow(shared: &Arc<Shared>) {
    let shared = shared.clone();
    thread::spawn(move || {
        for name in io::stdin().lock().lines().map_while(io::Result::ok) {
            shared.phases.next(name, Instant::now());
        }
        shared.ended.store(true, Ordering::Relaxed);
    });
}

fn figures(shared: &Shared, found: &Found, end: Instant) -> Figures {
    let phases = shared.phases.lock();
    let ends = phases.iter().skip(1).map(|phase| phase.begin).chain([end]);
    let figures =
        phases.iter().zip(ends).zip(&found.phases).map(|((phase, end), counts)| PhaseFigures {
            name: phase.name.clone(),
            seconds: end.saturating_duration_since(phase.begin).as_secs_f64(),
            requests: counts.requests,
            errors: counts.errors,
            latencies: counts.latencies(),
        });
    Figures {
        requests: found.all.requests,
        errors: found.all.errors,
        wrong: found.all.wrong,
        first_wrong: found.all.first_wrong,
        first_error: found.all.first_error.clone(),
        stored: found.stored.len(),
        phases: figures.collect(),
    }
}

impl Found {
    fn new() -> Result<Self> {
        Ok(Found { all: Counts::new()?, phases: Vec::new(), stored: Vec::new() })
    }

    fn reach(&mut self, phases: usize) -> Result<()> {
        while self.phases.len() < phases {
            self.phases.push(Counts::new()?);
        }
        Ok(())
    }

    fn add(&mut self, other: Found) -> Result<()> {
        self.all.add(other.all)?;
        self.reach(other.phases.len())?;
        for (all, one) in self.phases.iter_mut().zip(other.phases) {
            all.add(one)?;
        }
        self.stored.extend(other.stored);
        Ok(())
    }
}

/// A thread of its own, so that it may sleep.
struct Client {
    shared: Arc<Shared>,
    session: Option<Session>,
    random: Random,
    found: Found,
}

impl Client {
    async fn run(shared: Arc<Shared>) -> Result<Found> {
        let mut client =
            Client { random: Random(shared.seed), shared, session: None, found: Found::new()? };
        while let Some((number, due)) = client.next() {
            let answer = client.request(number).await;
            client.count(due, Instant::now(), answer)?;
        }
        // Of phases that begin when nothing is asked for any more, too.
        let phases = client.shared.phases.lock().len();
        client.found.reach(phases)?;
        Ok(client.found)
    }

    /// The next request, when it is due; none at the end.
    fn next(&self) -> Option<(u64, Instant)> {
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let due = self.shared.begin + Duration::from_secs_f64(number as f64 / self.shared.rate);
        while !self.shared.ended.load(Ordering::Relaxed) {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some((number, due));
            }
            // The event loop's clock has milliseconds only, and it has nothing else to do.
            thread::sleep(left.min(SLEEP_MAX));
        }
        None
    }

    fn count(&mut self, due: Instant, end: Instant, answer: Result<u64>) -> Result<()> {
        let spanned = self.shared.phases.spanned(due, end);
        self.found.reach(spanned.end)?;
        let Found { all, phases, .. } = &mut self.found;
        let counts = phases[spanned].iter_mut().chain([all]);
        match answer {
            Ok(bytes) => {
                counts.for_each(|counts| counts.request(bytes, end - due));
                self.shared.requests.fetch_add(1, Ordering::Relaxed);
            }
            Err(problem) => {
                counts.for_each(|counts| counts.error(&problem));
                self.shared.errors.fetch_add(1, Ordering::Relaxed);
                self.session = None;
            }
        }
        Ok(())
    }

    /// The bytes of its object. A client reads what it has put itself.
    async fn request(&mut self, number: u64) -> Result<u64> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.shared.sessions.open().await?,
        };
        let there = self.found.stored.len() as u64;
        let bytes = if number.is_multiple_of(2) || there == 0 {
            self.put(&mut session, number).await?
        } else {
            let at = (self.random.next() % there) as usize;
            let stored = self.found.stored[at];
            self.get(&mut session, stored).await?
        };
        self.session = Some(session);
        Ok(bytes)
    }

    async fn put(&mut self, session: &mut Session, index: u64) -> Result<u64> {
        let stored = session.put(index, self.shared.content.object(index)).await?;
        self.found.stored.push(stored);
        Ok(self.shared.content.size() as u64)
    }

    async fn get(&mut self, session: &mut Session, stored: Stored) -> Result<u64> {
        let mut check = Check::new(self.shared.content.object(stored.index), Depth::All);
        session.get(stored, &mut check).await?;
        if !check.is_right() {
            self.found.all.wrong(stored.index);
        }
        Ok(check.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_in_each_phase_that_it_was_under_way_in() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let phases = Phases::new(begin);
        phases.next("calm".to_owned(), at(10));
        phases.next("away".to_owned(), at(20));
        assert_eq!(phases.spanned(at(0), at(9)), 0..1);
        assert_eq!(phases.spanned(at(10), at(19)), 1..2);
        assert_eq!(phases.spanned(at(15), at(20)), 1..3);
        assert_eq!(phases.spanned(at(5), at(30)), 0..3);
        assert_eq!(phases.spanned(at(25), at(25)), 2..3);
    }
}
