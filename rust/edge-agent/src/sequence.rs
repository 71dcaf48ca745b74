//! Rows that were here before: each has a number that grows, within its key if there is one.
//!
//! With QoS 1 a message may come twice. The last number of each key is saved with the run, by the same commit as the rows: a row
//! whose number is not above it has been here, whatever was killed in between.
//!
//! ```text
//!  0          4          8
//!  +----------+----------+---------+----------------------+
//!  | bytes of | number   | columns | key bytes u32, key,  |      big-endian
//!  | columns  | of keys  |         | last i64    …again   |
//!  +----------+----------+---------+----------------------+
//! ```

use std::collections::HashMap;

use afterbay_edge_exec::write_row;
use afterbay_edge_plan::{Field, Scan, Value};

/// Keys whose numbers are remembered: they are written with each commit.
const KEYS_MAX: usize = 100_000;

/// Where the number of a row is, and its key.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceColumns {
    /// What was asked for, for a later run to compare.
    said: String,
    number: usize,
    by: Option<(usize, Field)>,
    /// Columns that the run takes; others stand behind them.
    width: usize,
}

impl SequenceColumns {
    /// Of a table's columns, also those that the job does not read. Lines have to be read as what is returned says.
    ///
    /// # Errors
    /// There is no such column, or it has no whole numbers.
    pub fn of(scan: &Scan, number: &str, by: Option<&str>) -> Result<(Scan, Self), String> {
        let mut scan = scan.clone();
        let width = scan.projection.len();
        let at = index_of(&mut scan, number)?;
        let of = scan.output()[at].of;
        if !of.kind.is_whole_number() {
            return Err(format!(
                "column {number} is no TINYINT, SMALLINT, INT or BIGINT: numbers that grow from row to row are needed"
            ));
        }
        let key = match by {
            None => None,
            Some(by) => {
                let at = index_of(&mut scan, by)?;
                Some((at, scan.output()[at].clone()))
            }
        };
        let said = format!("{number} by {}", by.unwrap_or("nothing"));
        Ok((scan, Self { said, number: at, by: key, width }))
    }
}

/// Where a column is in rows that are read; it is read from now on.
fn index_of(scan: &mut Scan, name: &str) -> Result<usize, String> {
    let Some(column) = scan.columns.iter().position(|column| column.name == name) else {
        let names: Vec<&str> = scan.columns.iter().map(|column| column.name.as_str()).collect();
        return Err(format!(
            "the table {} has no column {name}, but {}",
            scan.table,
            names.join(", ")
        ));
    };
    if let Some(at) = scan.projection.iter().position(|read| *read == column) {
        return Ok(at);
    }
    scan.projection.push(column);
    Ok(scan.projection.len() - 1)
}

/// What becomes of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It is new.
    No,
    /// It was here.
    Yes,
    /// It has no number.
    Unknown,
    /// There are too many keys.
    Full(String),
}

/// The last numbers.
#[derive(Debug)]
pub(crate) struct Sequence {
    columns: SequenceColumns,
    last: HashMap<Box<str>, i64>,
    keys_max: usize,
}

impl Sequence {
    /// Remembers what was saved.
    pub(crate) fn load(columns: SequenceColumns, saved: &[u8]) -> Result<Self, String> {
        let mut sequence = Self { columns, last: HashMap::new(), keys_max: KEYS_MAX };
        if !saved.is_empty() {
            let (said, last) = decode(saved).ok_or(DAMAGED)?;
            if said != sequence.columns.said {
                return Err(other(&said));
            }
            sequence.last = last;
        }
        Ok(sequence)
    }

    /// There are to be no numbers: what was saved would be forgotten by the next commit.
    pub(crate) fn none(saved: &[u8]) -> Result<(), String> {
        if saved.is_empty() {
            return Ok(());
        }
        let (said, _) = decode(saved).ok_or(DAMAGED)?;
        Err(other(&said))
    }

    /// Looks at a row, and takes from it what is not for the run.
    pub(crate) fn see(&mut self, row: &mut Vec<Value>) -> Seen {
        let Value::Whole(number) = row[self.columns.number] else { return Seen::Unknown };
        let mut key = String::new();
        if let Some((at, field)) = &self.columns.by {
            write_row(std::slice::from_ref(field), &row[*at..=*at], &mut key);
        }
        row.truncate(self.columns.width);
        if let Some(last) = self.last.get_mut(key.as_str()) {
            if number <= *last {
                return Seen::Yes;
            }
            *last = number;
            return Seen::No;
        }
        if self.last.len() >= self.keys_max {
            return Seen::Full(format!(
                "--sequence {}: there are more than {} keys; --by is to be what counts its rows, such as a sensor",
                self.columns.said, self.keys_max
            ));
        }
        self.last.insert(key.into(), number);
        Seen::No
    }

    /// All that it remembers.
    pub(crate) fn save(&self) -> Vec<u8> {
        let said = self.columns.said.as_bytes();
        let mut out = Vec::new();
        out.extend_from_slice(&(said.len() as u32).to_be_bytes());
        out.extend_from_slice(&(self.last.len() as u32).to_be_bytes());
        out.extend_from_slice(said);
        for (key, last) in &self.last {
            out.extend_from_slice(&(key.len() as u32).to_be_bytes());
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(&last.to_be_bytes());
        }
        out
    }
}

const DAMAGED: &str = "the last numbers of its rows are damaged";

fn other(said: &str) -> String {
    format!(
        "the last numbers of its rows are those of --sequence {said}; give that again, or another data folder"
    )
}

fn decode(mut bytes: &[u8]) -> Option<(String, HashMap<Box<str>, i64>)> {
    let said_bytes = number(&mut bytes)?;
    let keys = number(&mut bytes)?;
    let said = text(&mut bytes, said_bytes)?;
    let mut last = HashMap::new();
    for _ in 0..keys {
        let key_bytes = number(&mut bytes)?;
        let key = text(&mut bytes, key_bytes)?;
        let (number, rest) = bytes.split_first_chunk::<8>()?;
        bytes = rest;
        last.insert(key.into_boxed_str(), i64::from_be_bytes(*number));
    }
    bytes.is_empty().then_some((said, last))
}

fn number(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*number) as usize)
}

fn text(bytes: &mut &[u8], length: usize) -> Option<String> {
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(by: bool) -> SequenceColumns {
        let json = include_str!("../../edge-plan/tests/plans/project.json");
        let cut = afterbay_edge_plan::cut(&afterbay_edge_plan::Plan::parse(json).unwrap());
        let scan = match &cut.pipelines[0].nodes[0].operator {
            afterbay_edge_plan::Operator::Scan(scan) => scan,
            other => panic!("{other:?}"),
        };
        assert!(SequenceColumns::of(scan, "co2", None).unwrap_err().contains("is no TINYINT"));
        let error = SequenceColumns::of(scan, "seq", None).unwrap_err();
        assert!(error.contains("has no column seq, but device, room"), "{error}");
        let (wide, columns) = SequenceColumns::of(scan, "n", by.then_some("device")).unwrap();
        // The job reads device, room, temperature and ts.
        assert_eq!(wide.projection, [0, 1, 2, 14, 5]);
        columns
    }

    fn row(device: &str, number: Value) -> Vec<Value> {
        vec![Value::text(device), Value::Null, Value::Null, Value::Null, number]
    }

    #[test]
    fn a_number_that_is_not_above_the_last_one_of_its_key_was_here() {
        let mut sequence = Sequence::load(columns(true), &[]).unwrap();
        let mut see = |device: &str, number| {
            let mut row = row(device, Value::Whole(number));
            let seen = sequence.see(&mut row);
            assert_eq!(row.len(), 4);
            seen
        };
        assert_eq!(
            [see("a", 5), see("a", 5), see("a", 4), see("b", 4)],
            [Seen::No, Seen::Yes, Seen::Yes, Seen::No]
        );
        assert_eq!(see("a", 7), Seen::No);
        assert_eq!(sequence.see(&mut row("a", Value::Null)), Seen::Unknown);
        let saved = sequence.save();
        let mut again = Sequence::load(columns(true), &saved).unwrap();
        assert_eq!(again.see(&mut row("a", Value::Whole(7))), Seen::Yes);
        assert_eq!(again.see(&mut row("b", Value::Whole(5))), Seen::No);
        let error = Sequence::load(columns(false), &saved).unwrap_err();
        assert!(error.contains("--sequence n by device; give that again"), "{error}");
        assert_eq!(Sequence::none(&saved), Err(error));
        assert_eq!(Sequence::none(&[]), Ok(()));
        for length in 1..saved.len() {
            assert!(Sequence::load(columns(true), &saved[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn keys_are_bounded() {
        let mut sequence = Sequence::load(columns(true), &[]).unwrap();
        sequence.keys_max = 1;
        assert_eq!(sequence.see(&mut row("a", Value::Whole(1))), Seen::No);
        assert!(matches!(sequence.see(&mut row("b", Value::Whole(1))), Seen::Full(_)));
        assert_eq!(sequence.see(&mut row("a", Value::Whole(2))), Seen::No);
    }
}
