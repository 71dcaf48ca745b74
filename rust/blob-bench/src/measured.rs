//! What a run found, as one line of JSON.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::process::{Usage, Used};

const LATENCY_US_MAX: u64 = 120_000_000;
const LATENCY_DIGITS: u8 = 3;

/// What clients did. Latencies are those of requests that succeeded.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    /// Requests that failed, counted whenever they did.
    pub(crate) errors: u64,
    /// Answers that were not the object, counted whenever they came.
    pub(crate) wrong: u64,
    pub(crate) first_wrong: Option<u64>,
    pub(crate) first_error: Option<String>,
    latency_us: Histogram<u64>,
}

impl Counts {
    pub(crate) fn new() -> Result<Self> {
        let latency_us = Histogram::new_with_bounds(1, LATENCY_US_MAX, LATENCY_DIGITS)
            .map_err(|e| Error::Histogram(e.to_string()))?;
        Ok(Counts {
            requests: 0,
            bytes: 0,
            errors: 0,
            wrong: 0,
            first_wrong: None,
            first_error: None,
            latency_us,
        })
    }

    pub(crate) fn request(&mut self, bytes: u64, latency: Duration) {
        self.requests += 1;
        self.bytes += bytes;
        self.latency_us.saturating_record(latency.as_micros() as u64);
    }

    pub(crate) fn error(&mut self, error: &dyn std::fmt::Display) {
        self.errors += 1;
        self.first_error.get_or_insert_with(|| error.to_string());
    }

    pub(crate) fn wrong(&mut self, index: u64) {
        self.wrong += 1;
        self.first_wrong.get_or_insert(index);
    }

    pub(crate) fn latencies(&self) -> Latencies {
        let at = |quantile| self.latency_us.value_at_quantile(quantile);
        Latencies {
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: self.latency_us.max(),
        }
    }

    pub(crate) fn add(&mut self, other: Counts) -> Result<()> {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.wrong += other.wrong;
        self.first_wrong = self.first_wrong.or(other.first_wrong);
        self.first_error = self.first_error.take().or(other.first_error);
        self.latency_us.add(other.latency_us).map_err(|e| Error::Histogram(e.to_string()))
    }
}

/// Of requests that succeeded; 0 without any.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Latencies {
    p50_us: u64,
    p90_us: u64,
    p99_us: u64,
    p999_us: u64,
    max_us: u64,
}

/// A moment, and what processes had used until then.
#[derive(Debug)]
pub(crate) struct Mark {
    at: Instant,
    own: Usage,
    /// Of a cluster, a process for each node.
    servers: Vec<(u32, Usage)>,
}

impl Mark {
    pub(crate) fn now(servers: &[u32]) -> Self {
        Mark {
            own: Usage::of(std::process::id()),
            servers: servers.iter().map(|&pid| (pid, Usage::of(pid))).collect(),
            at: Instant::now(),
        }
    }

    /// What passed since.
    pub(crate) fn elapsed(&self) -> Passed {
        Passed {
            seconds: self.at.elapsed().as_secs_f64(),
            client: self.own.until_now(std::process::id()),
            server: self
                .servers
                .iter()
                .map(|&(pid, usage)| usage.until_now(pid))
                .reduce(Used::plus),
        }
    }
}

/// Time, and what processes used in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    pub(crate) seconds: f64,
    client: Used,
    /// Of all servers together.
    server: Option<Used>,
}

/// The figures of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    requests: u64,
    bytes: u64,
    errors: u64,
    wrong: u64,
    first_wrong: Option<u64>,
    first_error: Option<String>,
    seconds: f64,
    #[serde(flatten)]
    latencies: Latencies,
    /// This process.
    client: Used,
    server: Option<Used>,
}

impl Measured {
    pub(crate) fn new(counts: &Counts, passed: Passed) -> Self {
        Measured {
            requests: counts.requests,
            bytes: counts.bytes,
            errors: counts.errors,
            wrong: counts.wrong,
            first_wrong: counts.first_wrong,
            first_error: counts.first_error.clone(),
            seconds: passed.seconds,
            latencies: counts.latencies(),
            client: passed.client,
            server: passed.server,
        }
    }

    pub(crate) fn print(&self) -> Result<()> {
        print(self)
    }
}

/// One line to standard output.
pub(crate) fn print(what: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string(what)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added() {
        let mut all = Counts::new().unwrap();
        for ms in [1, 2, 300_000] {
            let mut one = Counts::new().unwrap();
            one.request(10, Duration::from_millis(ms));
            one.error(&ms);
            one.wrong(ms);
            all.add(one).unwrap();
        }
        let pid = std::process::id();
        let measured = Measured::new(&all, Mark::now(&[pid, pid]).elapsed());
        assert_eq!((measured.requests, measured.bytes), (3, 30));
        assert_eq!((measured.errors, measured.wrong, measured.first_wrong), (3, 3, Some(1)));
        assert_eq!(measured.first_error.as_deref(), Some("1"));
        assert!((2000..=2001).contains(&measured.latencies.p50_us));
        assert!(measured.latencies.max_us >= LATENCY_US_MAX - LATENCY_US_MAX / 1000);
        // Two processes have twice the memory of one.
        let (own, both) = (measured.client.rss_max_bytes, measured.server.unwrap().rss_max_bytes);
        assert!(own > 0 && both >= 2 * own, "{own}, {both}");
        assert!(Measured::new(&all, Mark::now(&[]).elapsed()).server.is_none());
    }
}
