//! The worker: input, run, commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use afterbay_edge_exec::{EvalError, Reader, Run};
use afterbay_edge_mqtt::{Monitor, Publisher, PublisherMonitor, Subscriber};
use afterbay_edge_plan::Pipeline;

use crate::error::{AgentError, Result};
use crate::gathered::{Gathered, Taken};
use crate::input::{Lines, Next};
use crate::options::{AgentOptions, Input};
use crate::publish::{Local, Mover};
use crate::sender::Sending;
use crate::sequence::{Seen, Sequence};
use crate::status::{AgentStatus, MessagesStatus};
use crate::store::{Progress, Store};
use crate::tally::Tally;

/// Without rows, what the run remembers is written so seldom that it takes a tenth of the time at most.
const SHARE: u32 = 10;
/// Input of a file that gives no rows is read again after a start: so much of it, at most.
const AGAIN: Duration = Duration::from_secs(10);
/// When all is done, a broker to which rows are published is waited for as long as it takes some within this time.
const LAST_ROWS: Duration = Duration::from_secs(5);

/// An agent.
#[derive(Debug)]
pub struct Agent {
    options: AgentOptions,
    store: Arc<Store>,
    /// Messages, if they are the input: they can be looked at before it runs.
    input: Option<Lines>,
    messages: Option<(Monitor, Arc<Tally>)>,
    /// To the site's broker, if rows are published.
    publisher: Option<Publisher>,
    /// Rows that were dropped as late, at the last commit.
    late_rows: Arc<AtomicU64>,
}

/// To look at an agent that runs, and to end it.
#[derive(Debug, Clone)]
pub struct Handle {
    store: Arc<Store>,
    messages: Option<(Monitor, Arc<Tally>)>,
    publisher: Option<PublisherMonitor>,
    late_rows: Arc<AtomicU64>,
}

impl Handle {
    /// How it is.
    pub fn status(&self) -> AgentStatus {
        let messages = self.messages.as_ref();
        let messages = messages.map(|(monitor, tally)| MessagesStatus {
            broker: monitor.status(),
            bad_rows: tally.bad_rows(),
            last_bad_row: tally.last_bad_row(),
            repeated_rows: tally.repeated_rows(),
        });
        let late_rows = self.late_rows.load(Ordering::Relaxed);
        let publisher = self.publisher.as_ref().map(PublisherMonitor::status);
        let publish = self.store.local().zip(publisher);
        let publish = publish.map(|(local, publisher)| local.status(publisher));
        AgentStatus { messages, publish, late_rows, ..self.store.status() }
    }

    /// Ends it; what is committed stays.
    pub fn stop(&self) {
        self.store.stop(None);
    }
}

impl Agent {
    /// Opens the data folder, and connects to a broker.
    ///
    /// # Errors
    /// See [`AgentError`].
    pub fn open(options: AgentOptions) -> Result<Self> {
        let store = Arc::new(Store::open(&options)?);
        let state = store.state();
        // What has ended with a message has ended; a file has a beginning, by which it is known.
        let was_messages = options.end_topic.is_some() && state.place.head.0 == 0;
        if state.finished && !was_messages && matches!(options.input, Input::Mqtt(_)) {
            let reason = "its input is at its end; give messages another data folder";
            return Err(AgentError::File {
                path: options.data.join("state"),
                reason: reason.to_owned(),
            });
        }
        let input = match &options.input {
            mqtt @ Input::Mqtt(_) => {
                let lines = Lines::open(mqtt, state.place)?;
                Some(lines.ending_at(options.end_topic.clone()))
            }
            _ => None,
        };
        let messages = input.as_ref().and_then(Lines::messages);
        let messages =
            messages.map(|subscriber| (subscriber.monitor(), Arc::new(Tally::default())));
        let publisher = publisher(&options, store.local())?;
        Ok(Self { options, store, input, messages, publisher, late_rows: Arc::default() })
    }

    /// To look at it from another thread.
    pub fn handle(&self) -> Handle {
        Handle {
            store: self.store.clone(),
            messages: self.messages.clone(),
            publisher: self.publisher.as_ref().map(Publisher::monitor),
            late_rows: self.late_rows.clone(),
        }
    }

    /// Runs until the input is at its end and the gateway has everything (true), or somebody ends it (false).
    ///
    /// # Errors
    /// See [`AgentError`].
    pub fn run(self, pipeline: &Pipeline, reader: &Reader) -> Result<bool> {
        let columns: Vec<String> =
            pipeline.output().iter().map(|field| field.name.clone()).collect();
        let local = self.store.local().cloned();
        let mover = local.clone().zip(self.publisher);
        let mover = mover.map(|(local, publisher)| Mover::new(local, publisher, &columns).start());
        let sending = Sending {
            site: self.options.site.clone(),
            stream: self.options.stream.clone(),
            columns,
            link: self.options.link.clone(),
            folder: self.options.data.clone(),
            accept_gap: self.options.accept_gap.clone(),
        };
        let sender = sending.start(self.store.clone());
        let tally = self.messages.map(|(_, tally)| tally);
        let worker = Worker::open(&self.options, &self.store, pipeline, reader, self.input, tally);
        let worked = worker
            .map(|worker| worker.telling(self.late_rows))
            .and_then(Worker::work)
            .map(|()| self.store.wait_until_sent());
        if let (Ok(true), Some(local)) = (&worked, &local) {
            local.wait_until_published(LAST_ROWS, || self.store.is_stopping());
        }
        self.store.stop(None);
        local.iter().for_each(|local| local.stop());
        // It ends with that.
        let _ = mover.map(JoinHandle::join);
        // It ends with the store.
        let _ = sender.join();
        self.store.remember();
        let done = worked?;
        self.store.failed().map_or(Ok(done), Err)
    }
}

/// Connects to the broker to which rows are published, if they are.
fn publisher(options: &AgentOptions, local: Option<&Arc<Local>>) -> Result<Option<Publisher>> {
    let Some((publish, local)) = options.publish.as_ref().zip(local) else { return Ok(None) };
    let rings = local.clone();
    let publisher = Publisher::start(publish.to.clone(), move || rings.bell.ring());
    let failed = |error: std::io::Error| AgentError::File {
        path: publish.to.access.broker.to_string().into(),
        reason: error.to_string(),
    };
    publisher.map(Some).map_err(failed)
}

struct Worker<'a> {
    store: &'a Store,
    linger: Duration,
    reader: &'a Reader,
    input: Lines,
    /// Of messages: bad ones do not end it, since their broker would send them again for ever.
    tally: Option<Arc<Tally>>,
    sequence: Option<Sequence>,
    run: Run,
    late_rows: Arc<AtomicU64>,
    gathered: Gathered,
    /// Whether rows wait in the state for others.
    keeps: bool,
    finished: bool,
    /// When the first of what is not committed came, and when input was read that is not.
    waits_since: Option<Instant>,
    read_since: Option<Instant>,
    /// The last one, without what it was held for: else a source that was held for an hour would not be safe for ten.
    commit_took: Duration,
}

impl<'a> Worker<'a> {
    fn open(
        options: &AgentOptions,
        store: &'a Store,
        pipeline: &Pipeline,
        reader: &'a Reader,
        input: Option<Lines>,
        tally: Option<Arc<Tally>>,
    ) -> Result<Self> {
        let state = store.state();
        let mut run = Run::new(pipeline, options.settings);
        let failed = |reason| AgentError::File { path: options.data.join("state"), reason };
        if !state.run.is_empty() {
            run.load(&state.run).map_err(|error| failed(error.to_string()))?;
        }
        let sequence = match options.sequence.clone() {
            Some(columns) => Sequence::load(columns, &state.input).map(Some),
            None => Sequence::none(&state.input).map(|()| None),
        };
        let gathered = Gathered::open(store, pipeline, &state, &failed)?;
        let waits = !state.kept.bytes.is_empty();
        Ok(Self {
            store,
            linger: options.linger,
            reader,
            input: input.map_or_else(|| Lines::open(&options.input, state.place), Ok)?,
            tally,
            sequence: sequence.map_err(failed)?,
            run,
            late_rows: Arc::default(),
            keeps: gathered.has_waiting(),
            gathered,
            finished: state.finished,
            waits_since: waits.then(Instant::now),
            read_since: None,
            commit_took: Duration::ZERO,
        })
    }

    /// Tells here how many rows were dropped as late.
    fn telling(mut self, late_rows: Arc<AtomicU64>) -> Self {
        late_rows.store(self.run.late_rows(), Ordering::Relaxed);
        self.late_rows = late_rows;
        self
    }

    fn work(mut self) -> Result<()> {
        while !self.finished && !self.store.is_stopping() {
            match self.input.next(self.linger.min(Duration::from_millis(200)))? {
                Next::Line => self.take()?,
                Next::Nothing => self.store.drop_old()?,
                Next::End => {
                    let finished = self.run.finish(&mut self.gathered);
                    finished.map_err(|error| self.input.wrong(error))?;
                    self.finished = true;
                }
            }
            if self.is_due() {
                self.commit()?;
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<()> {
        match (self.push(), &self.tally) {
            (Err(error @ AgentError::Line { .. }), Some(tally)) => tally.bad_row(&error),
            (pushed, _) => pushed?,
        }
        let now = Instant::now();
        self.read_since.get_or_insert(now);
        if !self.gathered.is_empty() {
            self.waits_since.get_or_insert(now);
        }
        Ok(())
    }

    fn push(&mut self) -> Result<()> {
        let row = self.reader.read(self.input.line()?).map_err(|error| self.input.wrong(error))?;
        let Some(mut row) = row else { return Ok(()) };
        match self.sequence.as_mut().map_or(Seen::No, |sequence| sequence.see(&mut row)) {
            Seen::No => {}
            Seen::Yes => {
                self.tally.iter().for_each(|tally| tally.repeated_row());
                return Ok(());
            }
            Seen::Unknown => {
                return Err(self
                    .input
                    .wrong("the column of --sequence is null, and rows are known by it"));
            }
            Seen::Full(what) => return Err(AgentError::Keys(what)),
        }
        self.run.push(&row, &mut self.gathered).map_err(|error| match error {
            // No matter of this row: without it, the next one would have the same.
            EvalError::Groups { .. } => AgentError::Keys(error.to_string()),
            error => self.input.wrong(error),
        })
    }

    /// Rows wait for others for a while; a watermark alone waits longer if a commit takes long. A broker that waits for a commit
    /// sends none.
    fn is_due(&self) -> bool {
        if !self.input.is_between() {
            return false;
        }
        let longer = self.linger.max(SHARE * self.commit_took);
        let again = if self.input.is_file() { longer.max(AGAIN) } else { longer };
        // What waits in the state is written by each commit.
        let patience = if self.gathered.rows() > 0 && !self.keeps { self.linger } else { longer };
        self.finished
            || self.gathered.is_large()
            || (self.keeps && !self.store.is_behind())
            || self.waits_since.is_some_and(|since| since.elapsed() >= patience)
            || self.read_since.is_some_and(|since| since.elapsed() >= again)
            || self.input.messages().is_some_and(Subscriber::is_waited_for)
    }

    fn commit(&mut self) -> Result<()> {
        let began = Instant::now();
        let keeps = !self.finished && self.store.is_behind();
        let Taken { parts, published, rows, watermark, kept, merged } = self.gathered.take(keeps);
        self.keeps = self.gathered.has_waiting();
        let progress = Progress {
            parts,
            published,
            kept,
            merged,
            rows,
            watermark,
            finished: self.finished,
            place: self.input.place()?,
            input: self.sequence.as_ref().map(Sequence::save).unwrap_or_default(),
            run: self.run.save(),
        };
        self.store.drop_old()?;
        let prepared = began.elapsed();
        let written = self.store.commit(&progress)?;
        if let Some(messages) = self.input.messages()
            && written.is_some()
        {
            messages.acknowledge();
        }
        self.late_rows.store(self.run.late_rows(), Ordering::Relaxed);
        self.commit_took = prepared + written.unwrap_or_default();
        (self.waits_since, self.read_since) = (None, None);
        Ok(())
    }
}
