//! One thing done with many names: some at once, a failure of one is not that of the others, and an account at the end.

use futures_util::{Stream, StreamExt};
use serde_json::{Map, Value};

use super::values::{counted, printable};
use super::{Failed, print, print_json};

/// So many reasons are told; the rest is counted.
const REASONS: usize = 5;

/// How it ended for one of them.
pub(crate) struct Ended {
    /// What to call it in messages.
    pub(crate) name: String,
    /// What JSON says about it.
    pub(crate) fields: Map<String, Value>,
    /// Bytes of its content, or why it was not done.
    pub(crate) result: Result<u64, Failed>,
}

impl Ended {
    /// The end of `name`; `fields` are those of a JSON object.
    pub(crate) fn new(name: String, fields: Value, result: Result<u64, Failed>) -> Self {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Ended { name, fields, result }
    }
}

/// What was done, and what was not.
pub(crate) struct Account {
    done: &'static str,
    what: &'static str,
    json: bool,
    count: u64,
    bytes: u64,
    failed: u64,
    reasons: Vec<String>,
}

impl Account {
    /// `what` (one of them) is `done` (`stored`).
    pub(crate) fn new(done: &'static str, what: &'static str, json: bool) -> Self {
        Account { done, what, json, count: 0, bytes: 0, failed: 0, reasons: Vec::new() }
    }

    /// Does `work` with each, with `jobs` of them at once.
    pub(crate) async fn each<T, F>(
        &mut self,
        items: impl Stream<Item = T>,
        jobs: usize,
        work: impl Fn(T) -> F,
    ) -> Result<(), Failed>
    where
        F: Future<Output = Ended> + Send + 'static,
    {
        let mut ends =
            std::pin::pin!(items.map(|item| tokio::spawn(work(item))).buffer_unordered(jobs));
        while let Some(ended) = ends.next().await {
            self.take(ended?)?;
        }
        Ok(())
    }

    /// Notes how one ended.
    pub(crate) fn take(&mut self, ended: Ended) -> Result<(), Failed> {
        let Ended { name, mut fields, result } = ended;
        match result {
            Ok(bytes) => {
                self.count += 1;
                self.bytes += bytes;
                fields.insert("done".to_owned(), self.done.into());
            }
            Err(error) => {
                self.failed += 1;
                fields.insert("error".to_owned(), error.to_string().into());
                if self.reasons.len() < REASONS {
                    self.reasons.push(printable(&format!("{name}: {error}")));
                }
            }
        }
        if self.json { print_json(&Value::Object(fields)) } else { Ok(()) }
    }

    /// How many there were.
    pub(crate) fn total(&self) -> u64 {
        self.count + self.failed
    }

    /// The last words; `more` is what else is to be said of those that were done. An error if some failed.
    pub(crate) fn end(self, more: impl FnOnce(u64) -> String) -> Result<(), Failed> {
        if !self.json {
            let count = counted(self.count, self.what);
            print(&format!("{count} {}{}\n", self.done, more(self.bytes)))?;
        }
        if self.failed == 0 {
            return Ok(());
        }
        let mut text = format!("{} of {} failed:", self.failed, counted(self.total(), self.what));
        let untold = self.failed - self.reasons.len() as u64;
        for reason in &self.reasons {
            text.push_str(&format!("\n  {reason}"));
        }
        if untold > 0 {
            text.push_str(&format!("\n  and {untold} more (--json shows all of them)"));
        }
        Err(text.into())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn failing(count: u32) -> String {
        let mut account = Account::new("stored", "file", false);
        let work = async |i: u32| -> Ended {
            let result = if i == 0 { Ok(7) } else { Err(Failed::from("no")) };
            Ended::new(format!("f{i}"), Value::Null, result)
        };
        for i in 0..=count {
            account.take(work(i).await).unwrap();
        }
        account.end(|_| String::new()).unwrap_err().to_string()
    }

    #[tokio::test]
    async fn failures_are_counted_and_the_first_ones_told() {
        assert_eq!(failing(1).await, "1 of 2 files failed:\n  f1: no");
        let many = failing(7).await;
        assert!(many.starts_with("7 of 8 files failed:\n  f1: no\n  f2: no"), "{many}");
        assert!(many.ends_with("f5: no\n  and 2 more (--json shows all of them)"), "{many}");
    }

    #[tokio::test]
    async fn no_more_at_once_than_were_asked_for() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU32, Ordering};
        let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let mut account = Account::new("stored", "file", true);
        let (now_of, most_of) = (now.clone(), most.clone());
        let work = move |i: u32| {
            let (now, most) = (now_of.clone(), most_of.clone());
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
                Ended::new(format!("f{i}"), Value::Null, Err("no".into()))
            }
        };
        account.each(stream::iter(0..40), 3, work).await.unwrap();
        assert_eq!((account.total(), most.load(Ordering::SeqCst)), (40, 3));
    }
}
