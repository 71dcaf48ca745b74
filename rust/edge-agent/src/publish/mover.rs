//! Takes rows from the log to the publisher.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use afterbay_edge_mqtt::Publisher;
use serde_json::value::RawValue;

use super::Local;
use super::log::{Entry, Log, Permit};

/// How long it waits for the bell: then a place may be due.
const LOOK: Duration = Duration::from_millis(100);

/// See the module.
pub(crate) struct Mover {
    local: Arc<Local>,
    publisher: Publisher,
    /// Of columns, as they stand in an object.
    names: Vec<String>,
    /// Of the entry that was read last, with their numbers.
    rows: VecDeque<(u64, Vec<u8>)>,
}

impl Mover {
    pub(crate) fn new(local: Arc<Local>, publisher: Publisher, columns: &[String]) -> Self {
        let name = |column: &String| format!("{}:", serde_json::Value::from(column.as_str()));
        let names = columns.iter().map(name).collect();
        Self { local, publisher, names, rows: VecDeque::new() }
    }

    /// Begins to publish, until [`Local::stop`].
    pub(crate) fn start(self) -> JoinHandle<()> {
        std::thread::spawn(move || self.run())
    }

    fn run(mut self) {
        while !self.local.is_stopping() {
            let done = self.publisher.done();
            self.local.with(|log| log.done(done));
            self.feed();
            self.local.bell.wait(LOOK);
        }
        self.publisher.stop();
        let (done, may_be_there) = (self.publisher.done(), self.publisher.may_be_there());
        self.local.with(|log| {
            log.done(done);
            log.finish(may_be_there);
        });
    }

    /// Gives the publisher as much as it takes.
    fn feed(&mut self) {
        loop {
            let Some((number, row)) = self.rows.pop_front() else {
                let Some(entry) = self.local.with(Log::read) else { return };
                self.rows = self.rows_of(&entry);
                continue;
            };
            let permit = self.local.lock().permit(number);
            let back = match permit {
                Permit::Done => None,
                Permit::Wait => Some(row),
                Permit::Send { again } => self.publisher.put(number, row, again).err(),
            };
            if let Some(row) = back {
                self.rows.push_front((number, row));
                return;
            }
        }
    }

    fn rows_of(&self, entry: &Entry) -> VecDeque<(u64, Vec<u8>)> {
        let rows = (entry.number..).zip(entry.lines.lines());
        rows.filter_map(|(number, line)| Some((number, object(&self.names, line)?))).collect()
    }
}

/// A row as an object, from an array; none if it is no array of as many values, which nobody has written.
fn object(names: &[String], line: &str) -> Option<Vec<u8>> {
    let values: Vec<&RawValue> = serde_json::from_str(line).ok()?;
    if values.len() != names.len() {
        return None;
    }
    let mut json = String::with_capacity(line.len() + 32 * values.len());
    json.push('{');
    for (index, (name, value)) in names.iter().zip(values).enumerate() {
        if index > 0 {
            json.push(',');
        }
        json.push_str(name);
        json.push_str(value.get());
    }
    json.push('}');
    Some(json.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_an_object_with_every_digit() {
        let names = ["\"sum$0\":".to_owned(), "\"a \\\"b\\\"\":".to_owned()];
        let row = object(&names, "[1.50e3,\"x,\\n\"]").unwrap();
        let expected = "{\"sum$0\":1.50e3,\"a \\\"b\\\"\":\"x,\\n\"}";
        assert_eq!(String::from_utf8(row).unwrap(), expected);
        assert_eq!(object(&names, "[1]"), None);
        assert_eq!(object(&names, "{}"), None);
    }
}
