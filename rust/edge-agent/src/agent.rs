//! The worker: input, run, commits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use afterbay_edge_exec::{Reader, Run};
use afterbay_edge_plan::Pipeline;

use crate::batch::Batch;
use crate::error::{AgentError, Result};
use crate::input::{Lines, Next};
use crate::options::AgentOptions;
use crate::sender::Sending;
use crate::status::AgentStatus;
use crate::store::{Progress, Store};

/// Without rows, what the run remembers is written so seldom that it takes a tenth of the time at most.
const SHARE: u32 = 10;
/// Input of a file that gives no rows is read again after a start: so much of it, at most.
const AGAIN: Duration = Duration::from_secs(10);

/// An agent.
#[derive(Debug)]
pub struct Agent {
    options: AgentOptions,
    store: Arc<Store>,
}

/// To look at an agent that runs, and to end it.
#[derive(Debug, Clone)]
pub struct Handle(Arc<Store>);

impl Handle {
    /// How it is.
    pub fn status(&self) -> AgentStatus {
        self.0.status()
    }

    /// Ends it; what is committed stays.
    pub fn stop(&self) {
        self.0.stop(None);
    }
}

impl Agent {
    /// Opens the data folder.
    ///
    /// # Errors
    /// See [`AgentError`].
    pub fn open(options: AgentOptions) -> Result<Self> {
        let store = Arc::new(Store::open(&options)?);
        Ok(Self { options, store })
    }

    /// To look at it from another thread.
    pub fn handle(&self) -> Handle {
        Handle(self.store.clone())
    }

    /// Runs until the input is at its end and the gateway has everything (true), or somebody ends it (false).
    ///
    /// # Errors
    /// See [`AgentError`].
    pub fn run(self, pipeline: &Pipeline, reader: &Reader) -> Result<bool> {
        let columns = pipeline.output().iter().map(|field| field.name.clone()).collect();
        let sending = Sending {
            site: self.options.site.clone(),
            stream: self.options.stream.clone(),
            columns,
            link: self.options.link.clone(),
            folder: self.options.data.clone(),
        };
        let sender = sending.start(self.store.clone());
        let worked = Worker::open(&self.options, &self.store, pipeline, reader)
            .and_then(Worker::work)
            .map(|()| self.store.wait_until_sent());
        self.store.stop(None);
        // It ends with the store.
        let _ = sender.join();
        let done = worked?;
        self.store.failed().map_or(Ok(done), Err)
    }
}

struct Worker<'a> {
    store: &'a Store,
    linger: Duration,
    reader: &'a Reader,
    input: Lines,
    run: Run,
    batch: Batch,
    finished: bool,
    /// When the first of what is not committed came, and when input was read that is not.
    waits_since: Option<Instant>,
    read_since: Option<Instant>,
    commit_took: Duration,
}

impl<'a> Worker<'a> {
    fn open(
        options: &AgentOptions,
        store: &'a Store,
        pipeline: &Pipeline,
        reader: &'a Reader,
    ) -> Result<Self> {
        let state = store.state();
        let mut run = Run::new(pipeline, options.settings);
        if !state.run.is_empty() {
            run.load(&state.run).map_err(|error| AgentError::File {
                path: options.data.join("state"),
                reason: error.to_string(),
            })?;
        }
        Ok(Self {
            store,
            linger: options.linger,
            reader,
            input: Lines::open(&options.input, state.place)?,
            run,
            batch: Batch::new(pipeline.output().to_vec(), state.watermark),
            finished: state.finished,
            waits_since: None,
            read_since: None,
            commit_took: Duration::ZERO,
        })
    }

    fn work(mut self) -> Result<()> {
        while !self.finished && !self.store.is_stopping() {
            match self.input.next(self.linger.min(Duration::from_millis(200)))? {
                Next::Line => self.take()?,
                Next::Nothing => self.store.drop_old()?,
                Next::End => {
                    self.run.finish(&mut self.batch);
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
        let row = self.reader.read(self.input.line()?).map_err(|error| self.input.wrong(error))?;
        if let Some(row) = row {
            self.run.push(&row, &mut self.batch).map_err(|error| self.input.wrong(error))?;
        }
        let now = Instant::now();
        self.read_since.get_or_insert(now);
        if !self.batch.is_empty() {
            self.waits_since.get_or_insert(now);
        }
        Ok(())
    }

    /// Rows wait for others for a while; a watermark alone waits longer if a commit takes long.
    fn is_due(&self) -> bool {
        let longer = self.linger.max(SHARE * self.commit_took);
        let again = if self.input.is_pipe() { longer } else { longer.max(AGAIN) };
        let patience = if self.batch.rows() > 0 { self.linger } else { longer };
        self.finished
            || self.batch.is_large()
            || self.waits_since.is_some_and(|since| since.elapsed() >= patience)
            || self.read_since.is_some_and(|since| since.elapsed() >= again)
    }

    fn commit(&mut self) -> Result<()> {
        let began = Instant::now();
        let (rows, watermark) = (self.batch.rows(), self.batch.watermark());
        let progress = Progress {
            parts: self.batch.take(),
            rows,
            watermark,
            finished: self.finished,
            place: self.input.place()?,
            run: self.run.save(),
        };
        self.store.drop_old()?;
        self.store.commit(&progress)?;
        self.commit_took = began.elapsed();
        (self.waits_since, self.read_since) = (None, None);
        Ok(())
    }
}
